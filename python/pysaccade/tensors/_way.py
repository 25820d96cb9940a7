"""The shortest way of sampling a plan: what was checked and packed for one call serves all of the same shapes.

A way is made by a call that went the long way, and is found by shapes, strides, types and devices (Known.ways).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pysaccade._native._held import is_freed
from pysaccade._operators import _tensor_abi
from pysaccade._operators._place import place_of
from pysaccade.tensors._known import Known
from pysaccade.tensors._storage import REST, Storage, layout_for, pack_at

DENSE = torch.contiguous_format
_NOTHING = _tensor_abi._NOTHING
_call_sample = _tensor_abi.call_sample
_empty_like: Any = torch.empty_like


def model(shape: Any, like: Tensor) -> Tensor:
    """A tensor of this shape in the memory of one element: empty_like() of it is faster than empty() of a shape."""
    return torch.empty(1, dtype=like.dtype, device=like.device).expand(shape)


def _rest(shape: Any, stride: Any, code: int) -> bytes:
    missing = (0,) * (5 - len(shape))
    return REST.pack(*shape, *missing, *stride, *missing, code, 0)


class Way:
    """How the library is told of plans of one shape for images of one shape."""

    __slots__ = (
        *("base", "centers", "count", "dtype", "flat", "floating", "known", "lod", "options", "out"),
        *("packed", "patches", "repeats", "scale", "sizes", "stride", "sums"),
    )

    def __init__(self, known: Known, image: Tensor, arranged: Any, patches: Tensor, whole: Any, scale: float) -> None:
        """Pack what is common.

        Args:
            known: Of the image.
            image: [B,C,H,W].
            arranged: Centers [B,M,2] and lod [B,M], as arranged() gives them.
            patches: [B,M,C,S,S], how the library writes them.
            whole: Their shape for the caller.
            scale: What samples are multiplied by.
        """
        abi = _tensor_abi
        code = abi.dtype_code(image)
        (centers, lod), flat = arranged, patches.shape
        self.scale, self.dtype = scale, patches.dtype
        self.options = abi.packed_options(scale, False, 1, True)
        self.known, self.count = known, known.layout.levels
        self.packed: dict[tuple[int, int], _tensor_abi.Places] = {}
        self.patches = model(whole, patches)
        self.flat = tuple(flat)
        self.stride = torch.empty(whole, device="meta").stride()
        self.out = _rest(flat, torch.empty(flat, device="meta").stride(), abi.dtype_code(patches))
        self.centers = _rest(centers.shape, centers.stride(), abi.dtype_code(centers))
        self.lod = _rest(lod.shape, lod.stride(), abi.dtype_code(lod))
        self.sizes = centers.element_size(), lod.element_size()
        self.repeats = not (centers.is_contiguous() and lod.is_contiguous())
        # of the backward: the image's gradient, and the sums of its levels, in elements of the image
        channels, height, width = image.shape[1:]
        self.base = _rest(image.shape, (channels * height * width, height * width, width, 1), code)
        self.floating = image.is_floating_point()
        size = image.element_size()
        wide = 8 if size == 8 else 4  # the image's gradient takes level 0's sums itself where it is wide enough
        elements = known.layout.dense + (0 if size == wide else image.numel())
        self.sums = elements * (wide // size) if self.floating else 0

    def places_of(self, centers: Tensor, lod: Tensor) -> _tensor_abi.Places | None:
        """Pack centers and lod where they lie; None: C can't read them there."""
        at = centers.data_ptr(), lod.data_ptr()
        found = self.packed.get(at)
        if found is None:
            for place, address, size in zip((centers, lod), at, self.sizes, strict=True):
                if not address or address % size or is_freed(place, address):
                    return None
            if len(self.packed) >= 64:
                self.packed.clear()
            found = self.packed[at] = pack_at(at[0], self.centers), pack_at(at[1], self.lod), _NOTHING
        return found

    def sample(self, image: Tensor, storage: Storage, places: _tensor_abi.Places) -> Tensor:
        """Patches, in the caller's shape."""
        patches: Tensor = _empty_like(self.patches, memory_format=DENSE)
        target = pack_at(patches.data_ptr(), self.out)
        _call_sample(place_of(image), storage.packed, self.count, places, self.options, target)
        return patches


def keep(
    storage: Storage,
    key: Any,
    places: Any,
    image: Tensor,
    arranged: Any,
    patches: Tensor,
    whole: Any,
    scale: float,
) -> None:
    """Remember the way of a call: `patches` [B,M,C,S,S] came of `places`, the plan's, as they were `arranged`."""
    known = storage.known
    if known is None or not patches.numel() or image.shape[0] != patches.shape[0]:
        return
    for place, flat in zip(places, arranged, strict=True):
        if place.data_ptr() != flat.data_ptr():  # a copy: it would have to be made each time
            return
    if len(known.ways) >= 64:
        known.ways.clear()
    known.ways[key] = Way(known, image, arranged, patches, whole, scale)


# ---- Levels, each in memory of its own -------------------------------------------------------------------------------


def known_of(image: Tensor, levels: int, odd: int, head: Any = None) -> Known:
    """What made_apart() needs of a tensor [B,C,H,W]; `head`: the leading axes of the levels, if not B and C."""
    _tensor_abi._open()
    known = Known(layout_for(image, levels, odd), levels, odd, head is None, image.element_size())
    known.likes = [model((*(head or shape[:2]), *shape[2:]), image) for shape in known.layout.shapes]
    return known


def made_apart(image: Tensor, known: Known, base: int | None = None) -> list[Tensor]:
    """Levels 1.. of a tensor that lies at `base`."""
    abi = _tensor_abi
    layout = known.layout
    made: list[Tensor] = [_empty_like(like, memory_format=DENSE) for like in known.likes]
    packed = layout.pack_apart([base or image.data_ptr(), *[level.data_ptr() for level in made]])
    if not layout.workspace:
        status = abi.raw_reduce(place_of(image), packed, layout.levels, known.odd, None, abi.NO_BYTES)
    else:
        size = abi.reduce_workspace_bytes(image.reshape(-1, *image.shape[-3:]), layout.levels)
        workspace = torch.empty(size, dtype=torch.uint8, device=image.device)
        library: Any = abi._library
        status = library.saccade_reduce(place_of(image), packed, layout.levels, known.odd, workspace.data_ptr(), size)
    if status != 0:
        abi._fail(abi._open(), status)
    return made
