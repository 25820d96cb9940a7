"""`paint`: what patches hold, as a picture. The same pixels as `saccade reconstruct`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pysaccade._native._arguments import number, require_dense, shown, whole
from pysaccade.dumps._dump import Dump
from pysaccade.emission._emission import Emission
from pysaccade.picture._painter import Array, Image, Painter, Triple, draw_fixation


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
    interpolate: bool = True,
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
        interpolate: Linearly between the samples of a patch. False: each sample is a square of one colour, which is how
            `lattice="adaptive"` and `target_psnr` count.

    Returns:
        [H, W, 3] u8 R'G'B', grey where no patch is or, with memory, ever was.

    Raises:
        TypeError, ValueError: Shapes do not fit, or `plan` or `size` is missing; memory of samples between texels.
    """
    _check_memory(patches, memory)
    if memory is True:
        return _paint_last(patches, width, mark, interpolate, plan=plan, size=size, sar=sar, mean=mean, std=std)
    if isinstance(patches, Emission):
        _say_nothing_twice(plan=plan, size=size, sar=sar, mean=mean, std=std)
        emission = patches.numpy() if not _is_bfloat16(patches.patches) else patches.to("cpu", _float32()).numpy()
        if memory:
            memory._begin(emission)
        painter = _painter(emission.patches, emission.size, emission.sar, width, memory, interpolate)
        image = painter.paint(emission.patches, np.asarray(emission.geometry), emission.mean, emission.std)
        if mark:
            draw_fixation(image, emission.fixation, emission.in_flight)
        return image
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
    painter = _painter(samples, _size(size), ratio, width, memory, interpolate)
    return painter.paint(samples, geometry, (0, 0, 0) if mean is None else mean, (1, 1, 1) if std is None else std)


class PictureMemory:
    """What was painted with it, until it changes: `paint(emission, memory=it)`, one after the other.

    It forgets all where most of what can be compared has changed, a live stream had a gap, the time goes back, or
    the frame's size changes. It is of one stream, and of pictures of one size.
    """

    def __init__(self) -> None:
        self._painter: Painter | None = None
        self._key: Any = None  # of what it paints
        self._last: tuple[int, int] | None = None  # pts_ns and gaps

    def forget(self) -> None:
        """Restart with nothing."""
        self._painter = self._last = None

    def _begin(self, emission: Emission) -> None:
        if self._last is not None and (emission.pts_ns < self._last[0] or emission.gaps != self._last[1]):
            self.forget()
        self._last = (emission.pts_ns, emission.gaps)

    def _painter_of(
        self, size: tuple[int, int], sar: float, side: int, width: int | None, interpolate: bool
    ) -> Painter:
        """The painter that holds what was painted; a new one for frames of another size."""
        key, held = (size, sar, side, width, interpolate), self._painter
        if held is None or size != held.size:
            self._painter, self._key = Painter(size, sar, side, width, memory=True, interpolate=interpolate), key
            return self._painter
        if key == self._key:
            return held
        if interpolate != self._key[-1]:
            raise ValueError(
                f"paint: memory holds a picture of interpolate={not interpolate}; use a PictureMemory for each"
            )
        now = Painter(size, sar, side, width, memory=False, interpolate=interpolate)
        for what, before, after in (("a picture", held.shape[1::-1], now.shape[1::-1]),
                                    ("patches", (held.side,) * 2, (side,) * 2)):  # fmt: skip
            if before != after:
                raise ValueError(
                    f"paint: memory holds {what} of {before[0]}x{before[1]}, not {after[0]}x{after[1]}; "
                    "use a PictureMemory for each"
                )
        return held


def _painter(
    patches: Array,
    size: tuple[int, int],
    sar: float,
    width: int | None,
    memory: bool | PictureMemory,
    interpolate: bool,
) -> Painter:
    if width is not None:
        width = whole(width, "paint", "width", 1, 1 << 16)
    if isinstance(memory, PictureMemory):
        return memory._painter_of(size, sar, patches.shape[-1], width, interpolate)
    return Painter(size, sar, patches.shape[-1], width, memory=False, interpolate=interpolate)


def _check_memory(patches: Any, memory: Any) -> None:
    if not isinstance(memory, (bool, PictureMemory)):
        raise TypeError(f"paint: memory takes True, False or a PictureMemory, not {shown(memory)}")
    is_one = isinstance(patches, Emission) or hasattr(patches, "shape")
    if memory is True and is_one:
        raise TypeError("paint: memory=True needs a Dump or emissions in a row; give single ones with a PictureMemory")
    if memory is not True and isinstance(patches, Dump):
        raise TypeError("paint: give one Emission, such as dump[3], or a Dump with memory=True")


def _paint_last(emissions: Any, width: int | None, mark: bool, interpolate: bool, **given: Any) -> Image:
    if not isinstance(emissions, (Dump, Iterable)):
        raise TypeError(f"paint: memory=True needs a Dump or emissions in a row, not {shown(emissions)}")
    _say_nothing_twice(**given)
    memory, image = PictureMemory(), None
    for emission in emissions:
        if not isinstance(emission, Emission):
            raise TypeError(f"paint: memory=True needs emissions, and one of them is of type {type(emission).__name__}")
        image = paint(emission, width=width, mark=mark, memory=memory, interpolate=interpolate)
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
    return whole(rows, "paint", "size[0]", 1, 1 << 16), whole(cols, "paint", "size[1]", 1, 1 << 16)


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


def _to_u8(values: Array) -> Image:
    codes: Image = np.clip(values + np.float32(0.5), 0, 255).astype(np.uint8)
    return codes


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
