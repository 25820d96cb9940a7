"""Mip levels of tensors and arrays: `generate_mipmaps`."""

from __future__ import annotations

from typing import Any

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade.tensors._known import Table
from pysaccade.tensors._storage import Storage

Array = Any

_FIVE = _checks.Most.FIVE

_mipmaps = Table()
_ways: Any = None  # modules that need torch, once they were used
_gradients: Any = None


def _flat(image: Array) -> Array:
    """[.., C,H,W] as [B,C,H,W]."""
    if image.ndim == 4:
        return image
    if image.ndim == 3:
        return image[None]
    return image.reshape(-1, *image.shape[-3:])


def generate_mipmaps(image: Array, levels: int | None = _FIVE, *, odd: str = "floor") -> list[Array]:
    """Make the mip levels of an image: each is the mean of 2 x 2 texels of the one before.

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
    found = _mipmaps.get(image, levels, odd)
    if found is not None:
        known, base = found
        if not image.requires_grad or not _checks.recording().needs_gradient(image):
            return [image, *_ways.made_apart(image, known, base)]
        if known.batched:
            return [image, *_gradients.Mipmaps.apply(image, known)]
    who = "generate_mipmaps"
    _checks.require_texture(image, who)
    code = _checks.ODD[_checks.choice(odd, _checks.ODD, who, "odd")]
    count = _checks.level_count(levels, image.shape[-2:], code, who)
    batched = _flat(image)
    made = levels_above(batched, count, code)
    _remember_mipmaps(image, batched, levels, odd, count)
    if image.ndim == 4:
        return [image, *made]
    return [image, *[level.reshape(*image.shape[:-2], *level.shape[-2:]) for level in made]]


def levels_above(image: Array, count: int, odd: int) -> list[Array]:
    """Levels 1.. of [B,C,H,W], recorded by autograd where it records."""
    if not _checks.is_tensor(image):
        return Storage(readable(image), count, odd).levels[1:]
    _recording = _checks.recording()
    from pysaccade._operators import _operators

    if not _recording.is_native(image):
        from pysaccade.tensors import reference

        word = "edge" if odd == _checks.EDGE else "floor"
        return reference.generate_mipmaps(image, count, odd=word)[1:]
    if _recording.is_traced(image):
        import torch

        _recording.refuse_transforms("generate_mipmaps", image)

        return list(torch.ops.saccade.mipmaps(image, count, odd))
    if count == 1 or image.numel() == 0:
        return _operators._empty_levels(image, count, odd)
    _load()
    image = readable(image)
    known = _ways.known_of(image, count, odd)
    if _recording.needs_gradient(image):
        return list(_gradients.Mipmaps.apply(image, known))
    made: list[Array] = _ways.made_apart(image, known)
    return made


def _load() -> None:
    """Load what needs torch; import statements in hot places cost half a microsecond each time."""
    global _ways, _gradients
    if _ways is None:
        from pysaccade.tensors import _gradients as gradients
        from pysaccade.tensors import _way as ways

        _ways, _gradients = ways, gradients


def _remember_mipmaps(image: Array, batched: Array, levels: Any, odd: str, count: int) -> None:
    """Keep what was checked of a tensor for the next one of its shape."""
    if _ways is None or not _checks.is_tensor(image) or count == 1 or image.numel() == 0:
        return
    if _checks.recording().is_traced(image) or image.data_ptr() != batched.data_ptr() or readable(image) is not image:
        return
    head = None if image.ndim == 4 else image.shape[:-2]
    known = _ways.known_of(batched, count, _checks.ODD[odd], head)
    _mipmaps.add(image, levels, odd, known)
