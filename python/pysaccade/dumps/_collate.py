"""`collate`: items of different lengths as one batch, padded or packed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from pysaccade._native._arguments import quoted, shown
from pysaccade.emission._emission import Emission

try:
    import torch
    from torch import Tensor
    from torch.nn.utils.rnn import pad_sequence
    from torch.utils.data import get_worker_info
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("collate needs torch: pip install 'pysaccade[torch]'", name="torch") from error

_LAYOUTS = ("padded", "packed")
_OF_TOKENS = ("patches", "geometry", "positions", "emission")  # [K, ...]
_OF_EMISSIONS = ("reuse", "frame", "pts_seconds", "fixation")  # [T, ...]


def collate(items: Iterable[Mapping[str, Any] | Emission], layout: str = "padded") -> dict[str, Any]:
    """Batch B items of a `DumpDataset`, or emissions, that have different numbers of tokens.

    Use it as a DataLoader's `collate_fn`; for the other layout `functools.partial(collate, layout="packed")`.

    Args:
        items: B items. An emission is taken as a clip of one, all patches that show some of the frame as its tokens.
        layout: "padded" or "packed".

    Returns:
        The items' keys. L and T are the longest item's tokens and emissions, N the most patches.

        "padded": patches [B, L, C, S, S] and the other tokens' keys likewise, zeros behind an item's own; `mask`
        [B, L] bool, True at tokens. Emissions' keys are [B, T, ...], `emission_mask` [B, T]; reuse is -1 there.

        "packed": patches [K, C, S, S], the items' tokens one after the other; `cu_seqlens` [B + 1] i32: item b has
        tokens cu_seqlens[b] to cu_seqlens[b + 1]; `max_seqlen`, an int. Emissions' keys are [sum of T, ...] with
        `cu_emissions` [B + 1] i32, and `reuse` counts tokens of the whole batch: encode(patches)[reuse] holds.

        Other keys are stacked where they are tensors of one shape, else lists.

    Raises:
        ValueError: No item, an unknown layout, or items whose patches have different types or shapes.
    """
    if layout not in _LAYOUTS:
        raise ValueError(f"collate: layout is {quoted(layout)}; it must be one of {_LAYOUTS}")
    if not isinstance(items, Iterable) or isinstance(items, (str, bytes, Mapping)):
        raise TypeError(f"collate: items takes a list of items, not {shown(items)}")
    rows = [_item_of(item) if isinstance(item, Emission) else _dict_of(item, i) for i, item in enumerate(items)]
    _check(rows)
    batch: dict[str, Any] = {}
    most = max(row["reuse"].shape[1] for row in rows) if "reuse" in rows[0] else 0
    for key in rows[0]:
        values = [row[key] for row in rows]
        if key == "reuse":
            values = [torch.nn.functional.pad(value, (0, most - value.shape[1]), value=-1) for value in values]
        if key not in _OF_TOKENS + _OF_EMISSIONS:
            batch[key] = _stack(values)
        elif layout == "padded":
            batch[key] = _pad(values, -1 if key == "reuse" else 0)
        else:
            batch[key] = torch.cat(values, out=_shared(values[0], sum(map(len, values))))
    tokens = [len(row["patches"]) for row in rows]
    emissions = [len(row["reuse"]) for row in rows] if "reuse" in rows[0] else []
    device = batch["patches"].device
    if layout == "padded":
        batch["mask"] = _mask(tokens, device)
        if emissions:
            batch["emission_mask"] = _mask(emissions, device)
        return batch
    batch["cu_seqlens"], batch["max_seqlen"] = _ends(tokens, device), max(tokens)
    if emissions:
        batch["cu_emissions"] = _ends(emissions, device)
        shift = torch.repeat_interleave(batch["cu_seqlens"][:-1].long(), torch.tensor(emissions, device=device))
        batch["reuse"] = torch.where(batch["reuse"] >= 0, batch["reuse"] + shift[:, None], batch["reuse"])
    return batch


def _dict_of(item: Any, number: int) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise TypeError(f"collate: item {number} is no item of a DumpDataset and no Emission, but {shown(item)}")
    if not isinstance(item.get("patches"), Tensor):
        raise ValueError(f"collate: item {number} has no tensor 'patches'")
    return dict(item)


def _item_of(emission: Emission) -> dict[str, Any]:
    """An emission as a clip of one."""
    e = emission.to()
    tokens = e.visible.nonzero()[:, 0]
    reuse = torch.full((1, len(e)), -1, dtype=torch.int64, device=tokens.device)
    reuse[0, tokens] = torch.arange(len(tokens), device=tokens.device)
    return {
        "patches": e.patches[tokens],
        "geometry": e.geometry[tokens],
        "positions": e.positions()[tokens],
        "emission": torch.zeros_like(tokens),
        "reuse": reuse,
        "frame": torch.tensor([e.frame], device=tokens.device),
        "pts_seconds": torch.tensor([e.pts_seconds], dtype=torch.float64, device=tokens.device),
        "fixation": torch.tensor([e.fixation], dtype=torch.float32, device=tokens.device),
    }


def _check(rows: list[dict[str, Any]]) -> None:
    if not rows:
        raise ValueError("collate: there is no item")
    first = rows[0]
    for i, row in enumerate(rows):
        if row.keys() != first.keys():
            raise ValueError(f"collate: items 0 and {i} differ in their keys: {sorted(row.keys() ^ first.keys())}")
        for key in set(_OF_TOKENS + _OF_EMISSIONS).intersection(row):
            have, want = row[key], first[key]
            same = key == "reuse" or have.shape[1:] == want.shape[1:]
            if have.dtype != want.dtype or not same:
                what = [f"{list(value.shape[1:])} {value.dtype}" for value in (want, have)]
                raise ValueError(
                    f"collate: {key} of items 0 and {i} differ: {what[0]} and {what[1]}; batch dumps of one kind"
                )


def _shared(like: Tensor, rows: int) -> Tensor | None:
    """In a DataLoader's worker, memory for [rows, ...] that the main process shares: saves copying the batch again."""
    if get_worker_info() is None or like.is_cuda:
        return None
    shape = (rows, *like.shape[1:])
    storage: Any = like.untyped_storage()
    memory: Any = torch.empty(0, dtype=like.dtype)
    shared: Tensor = memory.set_(storage._new_shared(math.prod(shape) * like.element_size(), device="cpu"), 0, shape)
    return shared


def _pad(values: list[Tensor], padding: int) -> Tensor:
    """[K, ...] each as one [B, L, ...]."""
    most = max(map(len, values))
    memory = _shared(values[0], len(values) * most)
    if memory is None:
        return pad_sequence(values, batch_first=True, padding_value=padding)
    padded = memory.view(len(values), most, *values[0].shape[1:])
    for row, value in zip(padded, values, strict=True):
        row[: len(value)] = value
        row[len(value) :] = padding
    return padded


def _stack(values: list[Any]) -> Any:
    tensors = all(isinstance(value, Tensor) and value.shape == values[0].shape for value in values)
    return torch.stack(values) if tensors else values


def _mask(lengths: list[int], device: torch.device) -> Tensor:
    return torch.arange(max(lengths), device=device) < torch.tensor(lengths, device=device)[:, None]


def _ends(lengths: list[int], device: torch.device) -> Tensor:
    return torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)
