"""Sampling by a GPU's texture unit: filtering="hardware" and "hybrid" of pyramids."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, NoReturn

import torch
from torch import Tensor

from pysaccade._native._errors import UnavailableError
from pysaccade._operators import _checks
from pysaccade._operators import _tensor_abi as abi
from pysaccade._operators._gate import readable

Array = Any

DTYPES = ("uint8", "uint16", "float16", "float32")


def refuse_image(image: Array, who: str) -> None:
    """Raise UnavailableError for a level 0 that no texture unit can sample."""
    if _checks.is_tensor(image) and image.is_cuda and _checks.dtype_name(image) in DTYPES:
        return
    kind = "a tensor" if _checks.is_tensor(image) else "an array"
    raise UnavailableError(
        f"{who}: filtering='hardware' takes tensors on a CUDA device, of {', '.join(DTYPES)}; the image is {kind}, "
        f"{_checks.shown(image)}; pass filtering='exact' or 'hybrid'"
    )


def texture_for(pyramid: Any, traced: bool, learns: bool) -> Texture | None:
    """The texture to sample by; None: this call is exact.

    Raises:
        ValueError, UnavailableError: filtering="hardware" can't do this call.
    """
    base = pyramid._image
    if pyramid.filtering == "hardware":
        if learns or traced:
            _refuse_call(learns)
        refuse_image(base, "TexturePyramid")
    elif traced or learns or torch.is_grad_enabled() or not base.is_cuda or _checks.dtype_name(base) not in DTYPES:
        return None
    if base.numel() == 0:
        return None
    if pyramid._hardware is None:
        try:
            pyramid._hardware = Texture(pyramid._levels_now())
        except UnavailableError as why:
            if pyramid.filtering == "hardware":
                raise
            pyramid._hardware = False  # too large for the device's textures: as long as it has this image
            _checks.warn(f"pysaccade: filtering='hybrid' samples exactly, without the texture unit: {why}")
            return None
    if pyramid._hardware is False:
        return None
    texture: Texture = pyramid._hardware
    return texture


def _refuse_call(learns: bool) -> NoReturn:
    if learns:
        raise ValueError(
            "pysaccade: filtering='hardware' gives no gradient; sample under torch.no_grad(), or pass "
            "filtering='exact', or 'hybrid', which is exact where gradients are enabled"
        )
    raise ValueError("pysaccade: filtering='hardware' can't be traced or mapped; pass filtering='exact' or 'hybrid'")


def _versions(levels: list[Tensor]) -> tuple[Any, ...] | None:
    """What changes when a level is written in place; None: inference tensors don't tell."""
    if any(level.is_inference() for level in levels):
        return None
    return tuple((level.data_ptr(), level._version) for level in levels)


class Texture:
    """A copy of a pyramid's levels where the texture unit reads them; made again from them when they changed."""

    def __init__(self, levels: list[Tensor]) -> None:
        """Copy the levels [B,C,h,w]."""
        self._packed = b""
        self._count = len(levels)
        self._seen: tuple[Any, ...] | None = None
        self.is_stale = False
        handle = ctypes.c_void_p()
        library = abi._open()
        dense = self._pack(levels)
        status = library.saccade_hardware_texture_new(
            abi.place_of(dense[0]), self._packed, self._count, ctypes.byref(handle)
        )
        if status != 0:
            abi._fail(library, status)
        self._handle = handle.value
        self._seen = _versions(levels)
        weakref.finalize(self, library.saccade_hardware_texture_free, self._handle)

    def _pack(self, levels: list[Tensor]) -> list[Tensor]:
        dense = [readable(readable(level.detach()).contiguous()) for level in levels]
        self._packed = abi.packed_levels(dense)
        return dense

    def refresh(self, levels: list[Tensor]) -> None:
        """Copy the levels again, where they changed."""
        seen = _versions(levels)
        if not self.is_stale and seen is not None and seen == self._seen:
            return
        library = abi._open()
        dense = self._pack(levels)
        status = library.saccade_hardware_texture_fill(self._handle, abi.place_of(dense[0]), self._packed, self._count)
        if status != 0:
            abi._fail(library, status)
        self.is_stale, self._seen = False, seen

    def sample(
        self, centers: Tensor, lod: Tensor, direction: Tensor | None, patches: Tensor, scale: float, settings: Any
    ) -> None:
        """Write patches [B,N,C,S,S]."""
        library = abi._open()
        status = library.saccade_hardware_texture_sample(
            self._handle,
            abi.place_of(patches),
            self._packed,
            self._count,
            *abi.packed_places(centers, lod, direction),
            abi.packed_options(scale, *settings),
            abi._pack(patches, 5),
        )
        if status != 0:
            abi._fail(library, status)


def sampled(
    pyramid: Any,
    texture: Texture,
    centers: Tensor,
    lod: Tensor,
    direction: Tensor | None,
    target: Tensor,
    scale: float,
    settings: Any,
) -> Tensor:
    """Write `target` by the texture, after what changed was copied."""
    texture.refresh(pyramid._levels_now())
    if target.numel():
        texture.sample(centers, lod, direction, target, scale, settings)
    return target
