"""What the tensor functions ask of their arguments, in one voice: the function, the argument, what came, what to write.

An array here is a torch tensor or a NumPy array. torch is loaded by the first tensor that is seen, never by an array.
"""

from __future__ import annotations

import enum
import importlib
import sys
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from pysaccade._native import _arguments

Array = Any  # torch.Tensor or numpy.ndarray

FLOOR, EDGE = 0, 1
MOST_LEVELS = 16
ODD = {"floor": FLOOR, "edge": EDGE}
DTYPES = ("uint8", "uint16", "float16", "bfloat16", "float32", "float64")
_COORDINATES = ("float32", "float64")


class Most(enum.IntEnum):
    """Default numbers of levels: an image that has fewer gets those that it has. torch.compile knows enumerations."""

    FIVE = 5
    SEVEN = 7


is_tensor = _arguments.is_tensor
dtype_name = _arguments.dtype_name
shown = _arguments.shown
whole = _arguments.whole
number = _arguments.number
warn = _arguments.warn


_recording: Any = None


def recording() -> Any:
    """Give the module that knows what torch records and intercepts; loads torch."""
    global _recording  # noqa: PLW0603 (an import statement costs half a microsecond each time)
    if _recording is None:
        from pysaccade._operators import _recording as loaded

        _recording = loaded
    return _recording


@lru_cache(maxsize=64)
def module(name: str) -> Any:
    """Import a module that needs torch: an import statement in a function costs half a microsecond each time."""
    return importlib.import_module(name)


def is_compiling() -> bool:
    """Whether torch.compile traces this; loads nothing."""
    return sys.modules.get("torch") is not None and bool(recording()._is_compiling())


def require_array(value: Any, who: str, name: str) -> None:
    """Raise TypeError unless `value` is a tensor or a NumPy array."""
    if is_tensor(value):
        _arguments.require_dense(value, who, name)
    elif not isinstance(value, np.ndarray):
        raise TypeError(f"{who}: {name} takes a torch tensor or a NumPy array, not {shown(value)}")


def require_texture(image: Any, who: str, name: str = "image") -> None:
    """Raise TypeError or ValueError unless `image` is [.., C, H, W] of a type that levels can have."""
    require_array(image, who, name)
    if not isinstance(image, np.ndarray):
        recording().refuse_script(who)
    shape = image.shape
    if len(shape) < 3:
        advice = f"; pass {name}[None] for one channel" if len(shape) == 2 else ""
        raise ValueError(f"{who}: {name} is {list(shape)}, it must be [C, H, W] or [B, C, H, W]{advice}")
    if dtype_name(image) not in DTYPES:
        advice = f"{name}.to(torch.float32)" if is_tensor(image) else f"{name}.astype(numpy.float32)"
        raise TypeError(f"{who}: {name} is {dtype_name(image)}, not one of {', '.join(DTYPES)}; pass {advice}")
    if shape[-1] == 0 or shape[-2] == 0:
        raise ValueError(f"{who}: {name} is {list(shape)}, an image without a pixel")


def require_coordinates(value: Any, who: str, name: str, axes: int | None = None) -> None:
    """Raise unless `value` is an array of f32 or f64 whose last axis, where `axes` is given, has that length."""
    require_array(value, who, name)
    kind = dtype_name(value)
    if kind in {"float16", "bfloat16"}:
        raise TypeError(
            f"{who}: {name} is {kind}, which can't tell the pixels of an image apart; pass {name}.float() "
            "(autocast leaves coordinates alone)"
        )
    if kind not in _COORDINATES:
        raise TypeError(f"{who}: {name} is {kind}; pass float32 or float64")
    if axes is not None and (value.ndim < 1 or value.shape[-1] != axes):
        raise ValueError(f"{who}: {name} is {list(value.shape)}; its last axis must have length {axes}")


def require_finite(values: Array, who: str, name: str) -> None:
    """Raise ValueError where a number is none. What lies on a GPU, or is traced, passes: nobody waits for it."""
    if is_tensor(values) and (values.device.type != "cpu" or recording().is_traced(values)):
        return
    numbers = (
        values.detach().resolve_neg().numpy() if is_tensor(values) else values
    )  # a third of the time of torch's way
    if not np.isfinite(numbers).all():
        raise ValueError(f"{who}: {name} is not finite: {shown(values)}")


_FEW = 64  # numbers, which Python looks at faster than NumPy
_HALF = 0.501  # of an image, and what places may be off by rounding


def require_uv(values: Array, who: str, name: str) -> None:
    """Raise ValueError where a place [.., 2] lies outside of the image by more than rounding. As require_finite()."""
    if is_tensor(values) and (values.device.type != "cpu" or recording().is_traced(values)):
        return
    numbers = values.detach().resolve_neg().numpy() if is_tensor(values) else values
    if numbers.size > _FEW:
        if (np.abs(numbers - 0.5) <= _HALF).all():
            return
    else:
        for each in numbers.ravel().tolist():
            if not 0.5 - _HALF <= each <= 0.5 + _HALF:
                break
        else:
            return
    require_finite(values, who, name)
    places = numbers.reshape(-1, 2)
    outside = places[(np.abs(places - 0.5) > _HALF).any(-1)][0].tolist()
    raise ValueError(f"{who}: {name} is {outside}; it must be (u, v) from 0 to 1, not pixels")


def deprecated(who: str, name: str, instead: str) -> None:
    """Warn of an argument that leaves with the next version."""
    if not is_compiling():
        _arguments.deprecated(who, name, f"use {instead}")


def require_together(who: str, first: tuple[str, Array], others: Iterable[tuple[str, Array | None]]) -> None:
    """Raise TypeError or ValueError unless the arrays are of one kind and on one device."""
    name, array = first
    is_first = is_tensor(array)
    device = array.device if is_first else None
    for other_name, other in others:
        if other is None or (is_first and getattr(other, "device", None) == device):  # an array's is none of torch
            continue
        if is_first != is_tensor(other):
            kinds = ("a torch tensor", "a NumPy array")
            mine, its = kinds if is_first else kinds[::-1]
            advice = f"torch.from_numpy({other_name})" if is_first else f"{other_name}.numpy()"
            raise TypeError(f"{who}: {name} is {mine}, {other_name} is {its}; pass {advice}")
        if is_first:
            raise ValueError(
                f"{who}: {name} is on {device}, {other_name} on {other.device}; pass {other_name}.to('{device}')"
            )


def require_places(value: Any, who: str, name: str, beside: tuple[str, Array], axes: int | None = None) -> None:
    """Raise unless `value` is an array of coordinates of the kind and on the device of another, named one."""
    require_array(value, who, name)
    require_together(who, beside, [(name, value)])
    require_coordinates(value, who, name, axes)


def choice(value: Any, allowed: Collection[str], who: str, name: str) -> str:
    """Return one of the words that are allowed; raise ValueError for another."""
    if value.__class__ is str and value in allowed:
        return str(value)
    raise ValueError(f"{who}: {name} is {value!r}; it must be {' or '.join(map(repr, allowed))}")


def level_count(levels: int | None, size: tuple[int, int], odd: int, who: str) -> int:
    """Return how many levels an image of (H, W) gets; None: down to the smallest.

    Raises:
        ValueError: It can't have so many.
    """
    height, width = size
    # By comparisons alone: sizes that a compiler has as symbols then keep a range.
    if levels is None and odd == EDGE:
        return 1 + sum(max(height, width) > 1 << level for level in range(MOST_LEVELS - 1))
    is_most = levels is None or levels.__class__ is Most
    count = (levels or MOST_LEVELS) if is_most else whole(levels, who, "levels", 1, MOST_LEVELS)
    if odd == EDGE:  # 1 x 1 repeats
        return count
    shorter = min(height, width)
    if shorter >= 1 << (count - 1):
        return count
    possible = sum([shorter >= 1 << level for level in range(count)])
    if count > possible and not is_most:
        raise ValueError(
            f"{who}: levels is {count}, but {height}x{width} has {possible} with odd='floor'; "
            f"pass levels={possible}, levels=None or odd='edge'"
        )
    return possible


def fixed_number(value: float) -> float:
    """Return a float that torch.compile has as a symbol as a constant, by the one way that fixes it: as a text."""
    return float(f"{value}")


def fixed_size(size: Any, who: str, name: str = "size", order: str = "(H, W)") -> tuple[int, int]:
    """(H, W) from what a caller writes for it, or the two of another `order`."""
    try:
        height, width = size
    except (TypeError, ValueError):
        raise TypeError(f"{who}: {name} is {order}, not {shown(size)}") from None
    return whole(height, who, f"{name}[0]", 1, 1 << 24), whole(width, who, f"{name}[1]", 1, 1 << 24)
