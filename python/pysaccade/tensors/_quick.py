"""Patches of a pyramid as they mostly are sampled, without options: the shortest way on the host.

What was checked and packed for a plan once is used again when it is sampled again.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pysaccade._operators import _recording, _tensor_abi
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._gradients import Call, ImagePatches
from pysaccade.tensors._sample_call import arranged
from pysaccade.tensors._storage import REST, Storage
from pysaccade.tensors.pyramid import TexturePyramid

PLAIN = _recording._PLAIN
NATIVE = ("cpu", "cuda")
_OUT = struct.Struct(f"=Q{REST.size}s")
_PLAIN_OPTIONS = _tensor_abi.packed_options(1.0, False, 1, True)


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


def sample_plain(pyramid: TexturePyramid, plan: PatchPlan) -> Tensor | None:
    """Patches of a plan, without options; None: someone looks on, or something is wrong, which the long way says."""
    patches = sample_again(pyramid, plan) if plan._packed else None
    if patches is not None:
        return patches
    storage, centers, lod = pyramid._storage, plan.centers, plan.lod
    image: Any = pyramid._image
    if (
        storage is None
        or image.__class__ not in PLAIN
        or centers.__class__ not in PLAIN
        or lod.__class__ not in PLAIN
        or _recording.is_watched()
        or centers.device != image.device
        or image.device.type not in NATIVE
    ):
        return None
    learns = _recording.needs_gradient(image, centers, lod)
    if learns and pyramid._persistent:
        return None
    centers, lod, shape = arranged(centers, lod, image, pyramid._batched, "sample_patches")
    size, dtype = plan.patch_size, image.dtype
    if learns:
        call = Call(pyramid._odd, storage.layout.levels, size, dtype, 1.0, False, 1, True)
        patches = ImagePatches.apply(image, centers, lod, None, storage, call)
    else:
        patches = sampled_plainly(image, centers, lod, storage, size)
    whole = (*shape, *patches.shape[2:])
    if not learns:
        keep(pyramid, plan, (centers, lod), patches, whole)
    return patches if patches.shape == whole else patches.reshape(whole)


def sampled_plainly(image: Any, centers: Tensor, lod: Tensor, storage: Storage, size: int) -> Tensor:
    """Patches [B,M,C,S,S], which nobody looks at."""
    batch, many = lod.shape
    patches = torch.empty((batch, many, image.shape[1], size, size), dtype=image.dtype, device=image.device)
    if not patches.numel():
        return patches
    abi = _tensor_abi
    pack = abi._pack
    library = abi._library or abi._open()
    status = library.saccade_sample(
        abi.place_of(image),
        storage.packed,
        storage.layout.levels,
        pack(centers, 3),
        pack(lod, 2),
        abi._NOTHING,
        _PLAIN_OPTIONS,
        pack(patches, 5),
    )
    if status != 0:
        abi._fail(library, status)
    return patches


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
