"""Which patches of a clip must be encoded, and where the tokens of the others lie."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def plan_tokens(geometry: Array, changed: Array, *, only_changed: bool) -> tuple[Array, Array]:
    """Choose the patches of a clip that become tokens.

    A patch that did not change has the bytes that were last emitted at its place (u, v, lod, to the bit): in the clip,
    that emission's token serves again. Patches wholly outside the frame become no token.

    Args:
        geometry: [T, N, 4] f32: u, v, lod, coverage.
        changed: [T, N] bool.
        only_changed: False: each visible patch is a token of its own.

    Returns:
        (tokens [K] i64: T x N indices of the patches to encode, in their order;
        reuse [T, N] i64: the token of each patch, -1 where it has none).
    """
    shape = changed.shape
    seen = np.flatnonzero(geometry[..., 3] > 0)
    reuse = np.full(changed.size, -1, np.int64)
    if not only_changed:
        reuse[seen] = np.arange(len(seen))
        return seen, reuse.reshape(shape)
    places = np.ascontiguousarray(geometry[..., :3], np.float32).view(np.uint32).reshape(-1, 3)[seen]
    order = np.lexsort((places[:, 2], places[:, 1], places[:, 0]))  # stable: by place, then by time
    by_place = places[order]
    encode = changed.reshape(-1)[seen][order]
    encode[:1] = True
    encode[1:] |= (by_place[1:] != by_place[:-1]).any(axis=1)  # the first of a place in this clip
    last = np.maximum.accumulate(np.where(encode, np.arange(len(seen)), 0))  # in `order`: whose token serves
    is_token = np.zeros(len(seen), bool)
    is_token[order[encode]] = True
    number = np.cumsum(is_token) - 1
    reuse[seen[order]] = number[order[last]]
    return seen[is_token], reuse.reshape(shape)
