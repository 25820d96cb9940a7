"""Types of arguments, for type checkers: a tensor gives tensors, an array gives arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

from pysaccade.lattice._words import ArrayT as ArrayT  # noqa: PLC0414
from pysaccade.lattice._words import Preset, Snap, Unit

Odd = Literal["floor", "edge"]
Filtering = Literal["exact", "hybrid", "hardware"]
Padding = Literal["border", "zeros", "wrap", "mirror"]
Mode = Literal["bilinear", "nearest"]
Normalize = Literal["none", "clip", "imagenet", "siglip"] | tuple[Sequence[float], Sequence[float]]


class SampleOptions(TypedDict, total=False):
    """Of sample()."""

    uv_da: Any
    unit: Literal["uv", "px"]
    padding: Padding
    mode: Mode
    max_anisotropy: int
    dtype: Any


class PatchOptions(TypedDict, total=False):
    """Of sample_patches() and sample_at_level()."""

    dtype: Any
    normalize: Normalize | None
    padding: Padding
    mode: Mode
    out: Any


class AnisotropicOptions(PatchOptions, total=False):
    """Of sample_anisotropic()."""

    max_anisotropy: int
    rotate: bool


class FoveatedOptions(PatchOptions, total=False):
    """Of sample_foveated()."""

    num_patches: int | None
    M0: float | None
    tokens: int | None
    fovea: float | str | None
    e0: float | None
    m0: float | None
    preset: Preset | None
    unit: Unit | None
    patch_size: int | None
    fov_deg: float | None
    sar: float | None
    snap: Snap | None
