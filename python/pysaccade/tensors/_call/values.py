"""The type of sampled values, and what is done to them: codes as fractions, means and deviations."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native._arguments import quoted
from pysaccade._native._normalize import published
from pysaccade._operators import _checks

Array = Any

_CODE_RANGE = {"uint8": 255.0, "uint16": 65535.0}


class Values(NamedTuple):
    """What becomes of a sample: a factor, the type, and then (x - mean) / std."""

    scale: float
    dtype: Any
    mean: Any = None
    std: Any = None


def values_of(base: Array, dtype: Any, normalize: Any, out: Array | None, who: str) -> Values:
    if dtype is None and normalize is None and out is None:
        return Values(1.0, base.dtype)
    facts = _checks.is_tensor(base), _checks.dtype_name(base), base.shape[-3], None if out is None else out.dtype
    is_word = isinstance(normalize, str) and (dtype is None or dtype.__class__ is base.dtype.__class__)
    found: Values = (_kept if is_word and not _checks.is_compiling() else _worked_out)(*facts, dtype, normalize, who)
    return found


def _worked_out(
    torch_like: bool, texture: str, channels: int, of_out: Any, dtype: Any, normalize: Any, who: str
) -> Values:
    """Values of a texture of this type and of an `out` of that one."""
    if dtype is None:
        dtype = _dtype_like(torch_like, texture) if of_out is None else of_out
        if normalize is not None and of_out is None and texture in _CODE_RANGE:
            dtype = _dtype_like(torch_like, "float32")
    dtype = _as_dtype(dtype, torch_like, who)
    name = str(dtype).removeprefix("torch.")
    codes = name in _CODE_RANGE
    if codes and name != texture:
        word = "torch.float32" if torch_like else "numpy.float32"
        raise ValueError(f"{who}: dtype is {name}, the pyramid's is {texture}; pass dtype={word}")
    scale = 1.0 / _CODE_RANGE[texture] if texture in _CODE_RANGE and not codes else 1.0
    if normalize is None:
        return Values(scale, dtype)
    if codes:
        raise ValueError(f"{who}: normalize needs samples that can be negative; pass dtype=torch.float32")
    mean, std = _mean_and_std(normalize, int(channels), who)
    return Values(scale, dtype, mean, std)


_kept = lru_cache(maxsize=64)(_worked_out)


def _dtype_like(torch_like: bool, name: str) -> Any:
    if torch_like:
        import torch

        return getattr(torch, name)
    return np.dtype(name)


def _as_dtype(dtype: Any, torch_like: bool, who: str) -> Any:
    """A type in the array's own library, from either's or from a word."""
    if not torch_like:
        try:
            found: Any = np.dtype(str(dtype).removeprefix("torch.") if not isinstance(dtype, type) else dtype)
        except TypeError:
            raise TypeError(f"{who}: dtype takes a type of samples, not {quoted(dtype)}") from None
        name = found.name
    else:
        import torch

        found = dtype
        if not isinstance(dtype, torch.dtype):
            try:
                found = getattr(torch, np.dtype(dtype).name)
            except (TypeError, AttributeError):
                raise TypeError(f"{who}: dtype takes a type of samples, not {quoted(dtype)}") from None
        name = str(found).removeprefix("torch.")
    if name not in _checks.DTYPES:
        raise ValueError(f"{who}: dtype is {name}; patches come as {', '.join(_checks.DTYPES)}")
    return found


def _published(word: str) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The mean and deviation that a word stands for."""
    found = published().get(word)
    return None if found is None else (found.mean, found.std)


_published._dynamo_marked_constant = True  # type: ignore[attr-defined]  # as facts_of() in _lattice_abi.py


def _mean_and_std(normalize: Any, channels: int, who: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    if isinstance(normalize, str):
        found = _published(normalize)
        if found is None:
            raise ValueError(f"{who}: normalize: '{normalize}' is not {', '.join(published())}, or (mean, std)")
        mean, std = found
        if normalize == "none":
            mean, std = (0.0,) * channels, (1.0,) * channels
    else:
        try:
            mean, std = (tuple(float(number) for number in numbers) for numbers in normalize)
        except (TypeError, ValueError):
            names = ", ".join(map(repr, published()))
            raise TypeError(f"{who}: normalize takes None, {names} or (mean, std), not {quoted(normalize)}") from None
    if len(mean) != channels or len(std) != channels:
        raise ValueError(
            f"{who}: normalize has {len(mean)} means and {len(std)} deviations, the pyramid {channels} channels"
        )
    if not all(abs(each) < math.inf for each in (*mean, *std)) or not all(each > 0 for each in std):
        raise ValueError(f"{who}: normalize: every std must be above 0 and every number finite")
    return mean, std


@lru_cache(maxsize=64)
def _constants(numbers: tuple[float, ...], dtype: Any, device: Any) -> Any:
    import torch

    with _checks.recording().normal_mode():
        return torch.tensor(numbers, dtype=dtype, device=device)[:, None, None]


def normalized(patches: Array, values: Values, in_place: bool) -> Array:
    """Patches [..,C,S,S] as (x - mean) / std."""
    if values.mean is None:
        return patches
    if not _checks.is_tensor(patches):
        shape = (-1, 1, 1)
        patches -= np.asarray(values.mean, patches.dtype).reshape(shape)
        patches /= np.asarray(values.std, patches.dtype).reshape(shape)
        return patches
    import torch

    if torch.compiler.is_compiling():
        mean, std = (
            torch.tensor(each, dtype=patches.dtype, device=patches.device)[:, None, None]
            for each in (values.mean, values.std)
        )
    else:
        mean, std = (_constants(each, patches.dtype, patches.device) for each in (values.mean, values.std))
    return patches.sub_(mean).div_(std) if in_place else (patches - mean) / std
