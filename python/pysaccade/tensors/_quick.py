"""A plan that is sampled again: what was checked and packed once is used again. Halves the cost on the host."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pysaccade._operators import _recording, _tensor_abi
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._storage import REST
from pysaccade.tensors.pyramid import TexturePyramid

_OUT = struct.Struct(f"=Q{REST.size}s")
_PLAIN_OPTIONS = _tensor_abi._options(1.0, False, 1, True)


class Ready(NamedTuple):
    """How the library is told of a plan for images of one shape, and what must still be so when it is used again."""

    shape: torch.Size  # of level 0
    dtype: torch.dtype
    device: torch.device
    batched: bool
    centers: Tensor  # the plan's, with where they lay
    lod: Tensor
    centers_at: int
    lod_at: int
    arranged: tuple[Tensor, Tensor]  # owners of what is packed
    packed: tuple[bytes, bytes]
    flat: tuple[int, ...]  # shape of the result as the library writes it
    out: bytes  # the library's struct of the result without its address
    whole: tuple[int, ...] | None  # its shape for the caller; None: as it is


def sample_again(pyramid: TexturePyramid, plan: PatchPlan) -> Tensor | None:
    """Patches of a plan that was sampled before with the same shapes; None: it wasn't, or someone looks on."""
    ready, storage = plan._packed, pyramid._storage
    if not ready or storage is None or _recording.is_watched():
        return None
    image, centers, lod = pyramid._image, plan.centers, plan.lod
    if (
        centers is not ready.centers
        or lod is not ready.lod
        or image.shape != ready.shape  # type: ignore[union-attr]
        or image.dtype != ready.dtype  # type: ignore[union-attr]
        or pyramid._batched != ready.batched
        or image.device != ready.device  # type: ignore[union-attr]
        or centers.data_ptr() != ready.centers_at
        or lod.data_ptr() != ready.lod_at
        or _recording.needs_gradient(image, centers, lod)
    ):
        return None
    patches = torch.empty(ready.flat, dtype=ready.dtype, device=ready.device)
    library = _tensor_abi._library
    status = library.saccade_sample(  # type: ignore[union-attr]
        _tensor_abi.place_of(image),
        storage.packed,
        storage.layout.levels,
        *ready.packed,
        _tensor_abi._NOTHING,
        _PLAIN_OPTIONS,
        _OUT.pack(patches.data_ptr(), ready.out),
    )
    if status != 0:
        _tensor_abi._fail(library, status)  # type: ignore[arg-type]
    return patches if ready.whole is None else patches.view(ready.whole)


def keep(pyramid: Any, plan: PatchPlan, arranged: tuple[Tensor, Tensor], patches: Tensor, whole: Any) -> None:
    """Remember how `plan` was sampled; `patches` [B,M,C,S,S] is what came of it."""
    if plan._packed is None:  # most plans are sampled once
        plan._packed = False
        return
    if pyramid._storage is None or _recording.is_watched() or not patches.numel():
        return
    image = pyramid._image
    if _recording.is_traced(image, plan.centers, plan.lod):
        return
    plan._packed = Ready(
        image.shape,
        image.dtype,
        image.device,
        pyramid._batched,
        plan.centers,
        plan.lod,
        plan.centers.data_ptr(),
        plan.lod.data_ptr(),
        arranged,
        (_tensor_abi._pack(arranged[0], 3), _tensor_abi._pack(arranged[1], 2)),
        tuple(patches.shape),
        REST.pack(*patches.shape, *patches.stride(), _tensor_abi.dtype_code(patches), 0),
        None if tuple(patches.shape) == tuple(whole) else tuple(whole),
    )
