"""Mip levels of tensors and arrays: `generate_mipmaps`."""

from __future__ import annotations

import sys
from typing import Any

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade.tensors._call.storage import Storage
from pysaccade.tensors._types import ArrayT, Odd

Array = Any

_FIVE = _checks.Most.FIVE


def _flat(image: Array) -> Array:
    """[.., C,H,W] as [B,C,H,W]."""
    return image if image.ndim == 4 else image.reshape(-1, *image.shape[-3:])


def generate_mipmaps(image: ArrayT, levels: int | None = _FIVE, *, odd: Odd = "floor") -> list[ArrayT]:
    """Make the mip levels of an image: each is the mean of 2 x 2 texels of the one before.

        >>> levels = sc.generate_mipmaps(torch.rand(3, 64, 48), 3)
        >>> [tuple(level.shape) for level in levels]
        [(3, 64, 48), (3, 32, 24), (3, 16, 12)]

    Args:
        image: [.., C, H, W], tensor or NumPy array; u8, u16, f16, bf16, f32 or f64. Any strides.
        levels: How many, the image included; None: down to the smallest. Left out: 5, or as many as there are.
        odd: What becomes of an odd row or column: "floor" drops it, as `avg_pool2d` does; "edge" repeats it, so that
            level l has ceil(size / 2^l) texels.

    Returns:
        [the image itself, level 1, ...], each [.., C, h, w] of the image's type. Differentiable.

    Convention: floats are ((a + b) + c) + d, then a quarter of it: with odd="floor" the very bits of repeated
    `avg_pool2d(x, 2)` in f32 and f64. f16 and bf16 are added in f32 and rounded once a level. Integers are the true
    mean of 4^l texels of the image, halves up.

    Raises:
        TypeError, ValueError: The image has no such levels.
    """
    who = "generate_mipmaps"
    _checks.require_texture(image, who)
    code = _checks.ODD[_checks.choice(odd, _checks.ODD, who, "odd")]
    count = _checks.level_count(levels, (image.shape[-2], image.shape[-1]), code, who)
    made: list[Any] = levels_above(image if image.ndim == 3 else _flat(image), count, code)
    if image.ndim <= 4:
        return [image, *made]
    return [image, *[level.reshape(*image.shape[:-2], *level.shape[-2:]) for level in made]]


def levels_above(image: Array, count: int, odd: int) -> list[Array]:
    """Levels 1.. of [B,C,H,W] or [C,H,W], recorded by autograd where it records."""
    if not _checks.is_tensor(image):
        return Storage(readable(image), count, odd).levels[1:]
    recording = _checks.recording()
    is_native, is_traced = recording.is_native(image), recording.is_traced(image)
    if image.ndim == 3 and (is_traced or not is_native):
        return [level[0] for level in levels_above(image[None], count, odd)]
    if not is_native:
        from pysaccade.tensors import reference  # needs torch

        return reference.generate_mipmaps(image, count, odd="edge" if odd == _checks.EDGE else "floor")[1:]
    if is_traced:
        recording.refuse_transforms("generate_mipmaps", image)
        return list(sys.modules["torch"].ops.saccade.mipmaps(image, count, odd))
    return list(_checks.module("pysaccade.tensors._call.gradients").mipmaps(image, count, odd))
