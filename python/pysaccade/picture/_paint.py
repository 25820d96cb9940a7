"""`paint`: what patches hold, as a picture. The same pixels as `saccade reconstruct`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from pysaccade._native._arguments import number, require_dense, shown, whole
from pysaccade.dumps._dump import Dump
from pysaccade.emission._emission import Emission, Triple
from pysaccade.picture._memory import UNCOVERED, Held

Array = np.ndarray[Any, Any]
Image = np.ndarray[Any, np.dtype[np.uint8]]

_UNSEEN = 128  # where no patch is


def paint(
    patches: Any,
    plan: Any = None,
    size: tuple[int, int] | None = None,
    *,
    width: int | None = None,
    mark: bool = False,
    sar: float | None = None,
    mean: Triple | None = None,
    std: Triple | None = None,
    memory: bool | PictureMemory = False,
) -> Image:
    """Paint patches back where the eye would see them: coarse ones first, fine ones over them.

        paint(emission)
        paint(patches, plan, size)
        paint(dump, memory=True)

    Args:
        patches: An `Emission`, which says all that follows but `width` and `mark`, and takes none of it twice; or
            samples [N, 3, S, S], NumPy's or torch's on any device: u8, or floats that were normalised. With
            `memory=True` a `Dump` or emissions in the order of their times, of which the last one is painted.
        plan: Where they lie: an array [N, 4] of u, v, lod, coverage, or a plan with `centers` [N, 2], `lod` [N] and
            `coverage` [N].
        size: (H, W) of the frame in pixels.
        width: Of the picture in pixels; by default that of the frame as displayed.
        mark: Draw where the eye looks; of an emission.
        sar: The width of a pixel over its height; by default 1.
        mean: What floats were normalised with: (x - mean) / std of x in [0, 1]; by default 0 and 1.
        std: The same.
        memory: What earlier emissions showed finer stays in the picture until it changes. True: of
            those before the last one in `patches`; a `PictureMemory`: of all that were painted with it.

    Returns:
        [H, W, 3] u8 R'G'B', grey where no patch is.

    Raises:
        TypeError, ValueError: Shapes do not fit, or `plan` or `size` is missing; memory of samples between texels.
    """
    _check_memory(patches, memory)
    if memory is True:
        return _paint_last(patches, width, mark, plan=plan, size=size, sar=sar, mean=mean, std=std)
    if isinstance(patches, Emission):
        _say_nothing_twice(plan=plan, size=size, sar=sar, mean=mean, std=std)
        emission = patches.numpy() if not _is_bfloat16(patches.patches) else patches.to("cpu", _float32()).numpy()
        colors, places = _colors(emission.patches, emission.mean, emission.std), np.asarray(emission.geometry)
        if memory:
            memory._begin(emission)
            canvas = memory._add(colors, places, emission.size, emission.sar, width)
        else:
            canvas = _Canvas(emission.size, emission.sar, width)
            canvas.paint(colors, places)
        if mark:
            canvas.mark(emission.fixation, emission.in_flight)
        return canvas.image
    if plan is None or size is None:
        raise TypeError("paint: give an Emission, or patches with their plan and the frame's size (H, W)")
    if mark:
        raise ValueError("paint: mark=True needs an Emission, which says where the eye looks")
    samples, geometry = _numpy(patches), _geometry(plan)
    if samples.ndim != 4 or samples.shape[1] != 3 or samples.shape[2] != samples.shape[3]:
        raise ValueError(f"paint: patches are {list(samples.shape)}; they must be [N, 3, S, S]")
    if geometry.shape != (len(samples), 4):
        raise ValueError(f"paint: the plan is {list(geometry.shape)} for {len(samples)} patches; it must be [N, 4]")
    ratio = 1.0 if sar is None else number(sar, "paint", "sar")
    colors = _colors(samples, (0, 0, 0) if mean is None else mean, (1, 1, 1) if std is None else std)
    if memory:
        return memory._add(colors, geometry, _size(size), ratio, width).image
    canvas = _Canvas(_size(size), ratio, width)
    canvas.paint(colors, geometry)
    return canvas.image


class PictureMemory:
    """What was painted with it, until it changes: `paint(emission, memory=it)`, one after the other.

    It forgets all where most of what can be compared has changed, a live stream had a gap, the time goes back, or
    the frame's size changes. It is of one stream, and of pictures of one size.
    """

    def __init__(self) -> None:
        self._held: Held | None = None
        self._image: Image | None = None
        self._last: tuple[int, int] | None = None  # pts_ns and gaps

    def forget(self) -> None:
        """Restart with nothing."""
        self._held = self._image = self._last = None

    def _begin(self, emission: Emission) -> None:
        if self._last is not None and (emission.pts_ns < self._last[0] or emission.gaps != self._last[1]):
            self.forget()
        self._last = (emission.pts_ns, emission.gaps)

    def _add(self, colors: Array, geometry: Array, size: tuple[int, int], sar: float, width: int | None) -> _Canvas:
        """A canvas of its own with the picture after these patches."""
        canvas = _Canvas(size, sar, width)
        if self._held is None or self._held.size != size:
            self._held, self._image = Held(size), None
        if self._image is not None:
            if self._image.shape != canvas.image.shape:
                before, now = (f"{image.shape[1]}x{image.shape[0]}" for image in (self._image, canvas.image))
                raise ValueError(f"paint: memory holds a picture of {before}, not {now}; use a PictureMemory for each")
            canvas.image = self._image
        canvas.paint(colors, geometry, self._held.add(colors, geometry))
        self._image = canvas.image
        canvas.image = canvas.image.copy()
        return canvas


def _check_memory(patches: Any, memory: Any) -> None:
    if not isinstance(memory, (bool, PictureMemory)):
        raise TypeError(f"paint: memory takes True, False or a PictureMemory, not {shown(memory)}")
    is_one = isinstance(patches, Emission) or hasattr(patches, "shape")
    if memory is True and is_one:
        raise TypeError("paint: memory=True needs a Dump or emissions in a row; give single ones with a PictureMemory")
    if memory is not True and isinstance(patches, Dump):
        raise TypeError("paint: give one Emission, such as dump[3], or a Dump with memory=True")


def _paint_last(emissions: Any, width: int | None, mark: bool, **given: Any) -> Image:
    if not isinstance(emissions, (Dump, Iterable)):
        raise TypeError(f"paint: memory=True needs a Dump or emissions in a row, not {shown(emissions)}")
    _say_nothing_twice(**given)
    memory, image = PictureMemory(), None
    for emission in emissions:
        if not isinstance(emission, Emission):
            raise TypeError(f"paint: memory=True needs emissions, and one of them is of type {type(emission).__name__}")
        image = paint(emission, width=width, mark=mark, memory=memory)
    if image is None:
        raise ValueError("paint: there is no emission")
    return image


def _say_nothing_twice(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise TypeError(
                f"paint: an Emission says its own {name}; leave it out, or pass emission.patches, emission.geometry "
                "and the frame's size (width= is the picture's)"
            )


def _size(size: Any) -> tuple[int, int]:
    try:
        rows, cols = size
    except (TypeError, ValueError):
        raise TypeError(f"paint: size is the frame's (H, W), not {shown(size)}") from None
    return whole(rows, "paint", "size[0]", 1, 1 << 24), whole(cols, "paint", "size[1]", 1, 1 << 24)


def fit(picture: Any, height: int) -> Image:
    """A picture [H, W, 3] or [3, H, W], u8 or floats in [0, 1], as u8 of this height.

    Each pixel is the mean of what it covers, or, enlarged, its nearest.
    """
    array = _numpy(picture)
    if array.ndim != 3 or 3 not in (array.shape[0], array.shape[2]):
        raise ValueError(f"a frame is {list(array.shape)}; it must be [H, W, 3] or [3, H, W]")
    if array.shape[2] != 3:
        array = array.transpose(1, 2, 0)
    values: Array = array.astype(np.float32) * (1 if array.dtype == np.uint8 else 255)
    width = max(round(array.shape[1] * height / array.shape[0]), 1)
    for axis, length in enumerate((height, width)):
        edges = np.arange(length) * values.shape[axis] // length
        if length < values.shape[axis]:
            counts = np.diff(np.append(edges, values.shape[axis]))
            values = np.add.reduceat(values, edges, axis=axis) / counts.reshape(
                [-1 if i == axis else 1 for i in range(3)]
            )
        else:
            values = values.take(edges, axis=axis)
    return _to_u8(values)


class _Canvas:
    """A picture in the making, in f32 and f64 as kernels/picture/paint.cpp has it."""

    def __init__(self, size: tuple[int, int], sar: float, width: int | None) -> None:
        self.size = size
        rows, cols = size
        scale_x, scale_y = (sar, 1.0) if sar >= 1 else (1.0, 1 / sar)
        shown = (_extent(cols * scale_x), _extent(rows * scale_y))
        if width is not None:
            width = whole(width, "paint", "width", 1, 1 << 16)
            shown = (_extent(width), _extent(shown[1] * width / shown[0]))
        self.scale = (shown[0] / cols, shown[1] / rows)
        self.image: Image = np.full((shown[1], shown[0], 3), _UNSEEN, np.uint8)

    def paint(self, colors: Array, geometry: Array, owner: Array | None = None) -> None:
        """Coarse patches first. `owner`: of each pixel of the frame, which patch is painted there, as `Held.add`."""
        rows, cols = self.size
        if owner is not None:
            owner = self._shown(owner)
            self.image[owner == UNCOVERED] = _UNSEEN
        x_px = geometry[:, 0].astype(np.float32) * np.float32(cols)
        y_px = geometry[:, 1].astype(np.float32) * np.float32(rows)
        pitch = np.exp2(geometry[:, 2].astype(np.float32))
        for n in np.argsort(-geometry[:, 2], kind="stable"):
            if geometry[n, 3] > 0:
                self._patch(colors[n], float(x_px[n]), float(y_px[n]), float(pitch[n]), owner, n)

    def _shown(self, of_frame: Array) -> Array:
        """Pixels of the frame as those of the picture: each takes the one that its centre lies in."""
        if self.image.shape[:2] == self.size:
            return of_frame
        rows, cols = (
            np.minimum(((np.arange(extent) + 0.5) / scale + 1e-3).astype(np.intp), most - 1)
            for extent, scale, most in zip(self.image.shape, self.scale[::-1], self.size, strict=False)
        )
        return of_frame[rows[:, None], cols]

    def _patch(
        self, colors: Array, x_px: float, y_px: float, pitch_px: float, owner: Array | None, number: int
    ) -> None:
        size = colors.shape[-1]
        across = _taps(x_px, pitch_px, self.scale[0], self.image.shape[1], size)
        down = _taps(y_px, pitch_px, self.scale[1], self.image.shape[0], size)
        begin, end, sample, after, weight = down
        mine = None if owner is None else owner[begin:end, across[0] : across[1]] == number
        if mine is not None and not mine.any():
            return
        lines = colors[:, sample] + (colors[:, after] - colors[:, sample]) * weight[:, None]
        left, right, sample, after, weight = across
        lines = lines[:, :, sample] + (lines[:, :, after] - lines[:, :, sample]) * weight
        pixels = _to_u8(lines.transpose(1, 2, 0))
        if mine is None or mine.all():
            self.image[begin:end, left:right] = pixels
        else:
            self.image[begin:end, left:right][mine] = pixels[mine]

    def mark(self, fixation: tuple[float, float], in_flight: bool) -> None:
        """A ring with a cross at the fixation; eight dashes of the ring in a saccade."""
        rows, cols = self.image.shape[:2]
        x = np.arange(cols, dtype=np.float32) + np.float32(0.5) - np.float32(fixation[0]) * np.float32(cols)
        y = np.arange(rows, dtype=np.float32)[:, None] + np.float32(0.5) - np.float32(fixation[1]) * np.float32(rows)
        radius = np.float32(max(0.02 * min(cols, rows), 7.0))
        near = np.hypot(x, y) <= radius * 1.5 + 4
        distance = np.abs(np.hypot(x, y) - radius)
        if in_flight:
            phase = (0.5 + np.arctan2(y, x) / (2 * np.pi)) * 8 % 1
            distance = np.where(phase < 0.5, distance, np.inf)
        else:  # the cross leaves the centre free
            along = np.maximum(np.abs(x), np.abs(y))
            across = np.minimum(np.abs(x), np.abs(y))
            beyond = np.maximum(np.maximum(radius * np.float32(0.6) - along, along - radius * np.float32(1.5)), 0)
            distance = np.minimum(distance, np.hypot(across, beyond))
        self.image[near & (distance <= 2.5)] = 0
        self.image[near & (distance <= 1)] = 255


def _taps(
    centre_px: float, pitch_px: float, scale: float, extent: int, size: int
) -> tuple[int, int, Array, Array, Array]:
    """Pixels begin to end that a patch covers; of each the two samples beside it, and the second's weight."""
    half_px, last = 0.5 * size * pitch_px, size - 1

    def first_at(position_px: float) -> int:  # a pixel belongs to the patch when its centre does
        return min(max(math.ceil(position_px * scale - 0.5 - 1e-3), 0), extent)

    begin, end = first_at(centre_px - half_px), first_at(centre_px + half_px)
    position_px = (np.arange(begin, end) + 0.5) / scale
    at = np.clip((position_px - centre_px) / pitch_px + 0.5 * last, 0, last)
    sample = at.astype(np.intp)
    return begin, end, sample, np.minimum(sample + 1, last), (at - sample).astype(np.float32)


def _extent(pixels: float) -> int:
    return max(math.floor(pixels + 0.5), 1)


def _to_u8(values: Array) -> Image:
    codes: Image = np.clip(values + np.float32(0.5), 0, 255).astype(np.uint8)
    return codes


def _colors(samples: Array, mean: Triple, std: Triple) -> Array:
    """Samples as f32 in 0 to 255."""
    if samples.dtype == np.uint8:
        return samples.astype(np.float32)
    inverse = (1 / np.asarray(std, np.float32)).reshape(3, 1, 1)
    unit: Array = samples.astype(np.float32) / inverse + np.asarray(mean, np.float32).reshape(3, 1, 1)
    unit *= np.float32(255)
    return unit


def _geometry(plan: Any) -> Array:
    if hasattr(plan, "centers"):
        parts = [_numpy(plan.centers), _numpy(plan.lod)[..., None], _numpy(plan.coverage)[..., None]]
        return np.concatenate([part.astype(np.float32) for part in parts], axis=-1)
    return _numpy(plan).astype(np.float32)


def _numpy(array: Any) -> Array:
    if hasattr(array, "detach"):
        require_dense(array, "paint", "a tensor")
        tensor = array.detach().cpu()
        return np.asarray((tensor.float() if _is_bfloat16(tensor) else tensor).numpy())
    return np.asarray(array)


def _is_bfloat16(array: Any) -> bool:
    return str(array.dtype) == "torch.bfloat16"


def _float32() -> Any:
    import torch

    return torch.float32
