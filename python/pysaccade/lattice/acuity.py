"""The acuity of an eye: eccentricity, and the level of detail there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, overload

import numpy as np

from pysaccade._native import _abi, _calls
from pysaccade._operators import _checks
from pysaccade.lattice._words import ArrayT, Unit

Array = Any

UNITS = ("deg", "uv")
Preset = tuple[float, float, str]  # e0, m0, unit


@lru_cache(maxsize=1)
def _read() -> dict[str, Preset]:
    rows = _calls.rows("saccade_fovea_preset_describe", _abi.saccade_fovea_preset)
    return {name: (row.e0, row.m0, UNITS[row.uv]) for name, row in rows.items()}


def presets() -> dict[str, Preset]:
    """Published half-resolution eccentricities, which the library has, by their names."""
    return _read()


# torch.compile takes the result for a constant: torch.compiler.assume_constant_result.
presets._dynamo_marked_constant = True  # type: ignore[attr-defined]


class _Presets(Mapping[str, Preset]):
    """presets(), which opens the library when it is first read."""

    def __getitem__(self, name: str) -> Preset:
        return presets()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(presets())

    def __len__(self) -> int:
        return len(presets())


PRESETS: Mapping[str, Preset] = _Presets()


def length(x: Array, y: Array) -> Array:
    """sqrt(x^2 + y^2), whose gradient at 0 is 0."""
    squared = x * x + y * y
    if not _checks.is_tensor(squared):
        return np.sqrt(squared)
    import torch

    if not squared.requires_grad:
        return torch.sqrt(squared)
    apart = squared > 0
    root = torch.sqrt(torch.where(apart, squared, torch.ones_like(squared)))
    return torch.where(apart, root, torch.zeros_like(root))


@overload
def level_of_detail(e: float, *, m0: float, e0: float, levels: int) -> float: ...
@overload
def level_of_detail(e: ArrayT, *, m0: float, e0: float, levels: int) -> ArrayT: ...
def level_of_detail(e: Any, *, m0: float, e0: float, levels: int) -> Any:
    """Level of detail at an eccentricity: clamp(log2((e + e0) / m0), 0, levels - 1).

        >>> sc.level_of_detail(2.3, m0=2.3, e0=2.3, levels=7)  # half the resolution at e0
        1.0

    Args:
        e: A tensor, a NumPy array or a number, in the unit of m0 and e0.
        m0: Magnification's numerator, > 0.
        e0: Eccentricity at which resolution halves (m0 = e0), > 0.
        levels: Of the pyramid.

    Raises:
        ValueError: m0 or e0 is not above 0.

    Convention: 0 is full resolution. Source: M(e) = m0 / (e + e0) (Geisler and Perry 1998), lod = -log2 M.
    """
    if not (m0 > 0 and e0 > 0):
        raise ValueError(f"level_of_detail: m0 is {m0}, e0 is {e0}; both must be above 0")
    if _checks.is_tensor(e):
        import torch

        return torch.log2((e + e0) / m0).clamp(0, levels - 1)
    found = np.clip(np.log2((np.asarray(e) + e0) / m0), 0, levels - 1)
    return float(found) if isinstance(e, (int, float)) else found


def eccentricity(
    uv: ArrayT, fixation: Any, *, size: tuple[int, int], unit: Unit = "deg", fov_deg: float = 40.0, sar: float = 1.0
) -> ArrayT:
    """How far places are from a fixation.

        >>> sc.eccentricity(torch.tensor([[0.75, 0.5]]), (0.5, 0.5), size=(512, 640))  # a quarter of 40 degrees
        tensor([10.])

    Args:
        uv: [.., 2], for example [B, N, 2].
        fixation: (u, v), [2], or [B, 2] for uv [B, N, 2]; else what broadcasts with uv.
        size: (H, W) of the image in pixels.
        unit: "deg": degrees, the image being fov_deg wide; "uv": the distance in uv.
        fov_deg: Horizontal field of view.
        sar: Width of a pixel over its height.

    Returns:
        [..]. Its gradient at the fixation itself is 0.

    Raises:
        TypeError, ValueError: An argument is wrong. The text names it and what to pass.

    Convention: uv = (x, y) in [0, 1], origin at the top left. Degrees are those of the frame: linear in pixels.
    """
    who = "eccentricity"
    _checks.require_coordinates(uv, who, "uv", 2)
    _checks.choice(unit, UNITS, who, "unit")
    height, width = _checks.fixed_size(size, who)
    if _checks.is_tensor(uv):
        import torch

        fixation = torch.as_tensor(fixation, dtype=uv.dtype, device=uv.device)
    else:
        fixation = np.asarray(fixation, _checks.dtype_name(uv))
    if fixation.ndim == uv.ndim - 1 and fixation.ndim > 1:
        fixation = fixation[..., None, :]
    delta: Array = uv - fixation
    across, down = (1.0, 1.0) if unit == "uv" else (fov_deg, fov_deg * height / (width * sar))
    apart: ArrayT = length(delta[..., 0] * across, delta[..., 1] * down)
    return apart
