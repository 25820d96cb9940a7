"""Frames of the caller's, read where they lie: tensors on either device and arrays, in the usual layouts."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from pysaccade._native import _abi, _arrays
from pysaccade._native._arguments import require_dense

_BYTES_OF_PIXEL = {_abi.SACCADE_PIXELS_RGB8: 3, _abi.SACCADE_PIXELS_RGBA8: 4, _abi.SACCADE_PIXELS_GRAY8: 1}


def split(item: Any) -> tuple[Any, Any, Any]:
    """(frame, seconds or None, boxes or None) of what an iterable gives; torchcodec's Frame has a time."""
    if isinstance(item, (tuple, list)) and len(item) == 3 and (item[1] is None or _is_number(item[1])):
        return item[0], None if item[1] is None else _seconds(item[1]), item[2]
    if isinstance(item, (tuple, list)) and len(item) == 2:
        return (item[0], _seconds(item[1]), None) if _is_number(item[1]) else (item[0], None, item[1])
    if hasattr(item, "pts_seconds") and hasattr(item, "data"):
        return item.data, _seconds(item.pts_seconds), None
    return item, None, None


def boxes_of(boxes: Any, number: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The boxes outside of which a frame equals the one before, [n, 4].

    Raises:
        ValueError: They are something else.
    """
    found = np.asarray(_arrays.as_host_array(boxes, "Stream: boxes") if hasattr(boxes, "dtype") else boxes)
    if found.size == 0:
        return np.zeros((0, 4), np.int32)
    if found.ndim != 2 or found.shape[1] != 4 or found.dtype.kind not in "iu":
        raise ValueError(
            f"Stream: frame {number} comes with {list(found.shape)} {found.dtype}; beside a frame stands its time, or "
            "the boxes that differ, [n, 4] whole numbers: left, top, right, bottom in pixels"
        )
    return np.ascontiguousarray(found.clip(-(2**31), 2**31 - 1), np.int32)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) or (hasattr(value, "item") and getattr(value, "ndim", None) == 0)


def _seconds(value: Any) -> Any:
    """A time as a number that multiplies without loss where it can."""
    value = value.item() if hasattr(value, "item") else value
    if not np.isfinite(float(value)):
        raise ValueError(f"Stream: a frame's time is {value}; it must be a number of seconds")
    return value


class Layout:
    """How frames of a stream lie in memory: all as the first one."""

    def __init__(self, shape: tuple[int, ...], pixels: int, size: tuple[int, int], channels_first: bool) -> None:
        self.shape = shape
        self.pixels = pixels
        self.size = size
        self._channels_first = channels_first

    def fill_format(self, form: _abi.saccade_frame_format) -> None:
        """What the library asks for once."""
        form.pixels = self.pixels
        form.height_px, form.width_px = self.size

    def fill_frame(self, frame: _abi.saccade_frame, image: Any, number: int, on_device: bool) -> Any:
        """Where this frame's planes lie. Returns what must live until the library has read them.

        Raises:
            TypeError, ValueError: It isn't as the first one was.
        """
        _check(image, number)
        if tuple(image.shape) != self.shape:
            raise ValueError(
                f"Stream: frame {number} is {list(image.shape)}, the first one was {list(self.shape)}; frames of one "
                "stream have one size: resize them, or reopen() with those that follow"
            )
        if hasattr(image, "detach"):
            image = image.detach()
            if image.device.type != "cpu" and not (on_device and image.device.type == "cuda"):
                image = image.cpu()
        planes = self._planes(image)
        for index, (address, pitch) in enumerate(planes[1]):
            frame.planes[index] = address
            frame.pitches_bytes[index] = pitch
        if hasattr(image, "device") and str(image.device).startswith("cuda"):
            frame.memory = _abi.SACCADE_CUDA
            frame.device = image.device.index
            frame.cuda_stream = _arrays.current_cuda_stream(image.device.index) or None
        return planes[0]

    def _planes(self, image: Any) -> tuple[Any, list[tuple[int, int]]]:
        """(what owns the memory, (address, bytes from row to row) of each plane); copies only what lies scattered."""
        if self._channels_first and self.pixels != _abi.SACCADE_PIXELS_RGB8_PLANAR:
            image = image.permute(1, 2, 0) if hasattr(image, "permute") else image.transpose(1, 2, 0)
        steps = _steps(image)
        if self.pixels == _abi.SACCADE_PIXELS_RGB8_PLANAR:
            if steps[2] != 1:
                image = _packed(image)
                steps = _steps(image)
            begin = _arrays.address(image)
            return image, [(begin + channel * steps[0], steps[1]) for channel in range(3)]
        wanted = (_BYTES_OF_PIXEL[self.pixels], 1)
        if image.ndim == 2:
            steps, wanted = (*steps, 1), (1, 1)
        if steps[1:] != wanted:
            image = _packed(image)
            steps = _steps(image)
        return image, [(_arrays.address(image), steps[0])]


def layout_of(image: Any) -> Layout:
    """Read the first frame's layout off its shape.

    Raises:
        TypeError: It is no tensor or array of u8.
        ValueError: Its shape is none of a frame.
    """
    _check(image, 0)
    shape = tuple(image.shape)
    if len(shape) == 2:
        return Layout(shape, _abi.SACCADE_PIXELS_GRAY8, (shape[0], shape[1]), False)
    if len(shape) == 3 and shape[0] == 3:
        if _steps(image)[0] == 1 and _steps(image)[2] == 3:  # channels last in memory
            return Layout(shape, _abi.SACCADE_PIXELS_RGB8, (shape[1], shape[2]), True)
        return Layout(shape, _abi.SACCADE_PIXELS_RGB8_PLANAR, (shape[1], shape[2]), True)
    pixels = {1: _abi.SACCADE_PIXELS_GRAY8, 3: _abi.SACCADE_PIXELS_RGB8, 4: _abi.SACCADE_PIXELS_RGBA8}
    if len(shape) == 3 and shape[2] in pixels:
        return Layout(shape, pixels[shape[2]], (shape[0], shape[1]), False)
    if len(shape) == 3 and shape[0] in pixels:
        return Layout(shape, pixels[shape[0]], (shape[1], shape[2]), True)
    advice = "; iterate over its first axis" if len(shape) == 4 else ""
    raise ValueError(f"Stream: a frame is [3, H, W], [H, W, 3], [H, W, 4] or [H, W], not {list(shape)}{advice}")


def _check(image: Any, number: int) -> None:
    if not isinstance(image, np.ndarray) and not hasattr(image, "data_ptr"):
        raise TypeError(
            f"Stream: frame {number} is a {type(image).__name__}; frames are tensors or arrays, or (frame, seconds)"
        )
    if not isinstance(image, np.ndarray):
        require_dense(image, "Stream", f"frame {number}")
        if image.device.type == "meta":
            raise TypeError(f"Stream: frame {number} is a meta tensor, which holds no pixels")
    if str(image.dtype) not in {"uint8", "torch.uint8"}:
        advice = "; pass (frame * 255).round() as uint8" if "float" in str(image.dtype) else ""
        raise TypeError(f"Stream: frame {number} is {image.dtype}; frames are uint8{advice}")


def _steps(image: Any) -> tuple[int, ...]:
    """Bytes from an element to the next one, each axis."""
    return tuple(image.strides) if isinstance(image, np.ndarray) else tuple(image.stride())


def _packed(image: Any) -> Any:
    return np.ascontiguousarray(image) if isinstance(image, np.ndarray) else image.contiguous()
