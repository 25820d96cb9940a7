"""Frames with the boxes where they differ: what is given is that of a whole comparison, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import skip_or_fail

SIZE = 96, 144  # rows, columns
Box = tuple[int, int, int, int]


def drawn(count: int, seed: int) -> Iterator[tuple[np.ndarray, list[Box]]]:
    """Pictures [H, W, 3], each with the boxes that were drawn since the one before; some boxes reach out of it."""
    rng = np.random.default_rng(seed)
    picture = rng.integers(0, 256, (*SIZE, 3), np.uint8)
    yield picture.copy(), []
    for _ in range(count - 1):
        boxes: list[Box] = []
        for _ in range(rng.integers(0, 4)):
            left, top = int(rng.integers(-20, SIZE[1])), int(rng.integers(-20, SIZE[0]))
            box = left, top, left + int(rng.integers(1, 50)), top + int(rng.integers(1, 50))
            part = picture[max(box[1], 0) : max(box[3], 0), max(box[0], 0) : max(box[2], 0)]
            part[:] = rng.integers(0, 256, part.shape, np.uint8) if rng.integers(2) else part
            boxes.append(box)
        yield picture.copy(), boxes


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "hwc": lambda frame: frame,
    "chw": lambda frame: np.ascontiguousarray(frame.transpose(2, 0, 1)),
    "rgba": lambda frame: np.dstack([frame, np.full(SIZE, 255, np.uint8)]),
    "gray": lambda frame: np.ascontiguousarray(frame[..., 0]),
}
SAMPLERS: dict[str, dict[str, Any]] = {
    "uniform": {"lattice": "uniform", "lod": 0, "tokens": 54},
    "adaptive": {"lattice": "adaptive", "tokens": 12},
    "novelty": {"lattice": "nested", "tokens": 40},
}


@pytest.mark.parametrize("backend", ["cpu", "gl"])
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_boxes_change_nothing_that_is_given(layout: str, sampler: str, backend: str) -> None:
    convert = LAYOUTS[layout]
    frames = [(convert(frame), boxes) for frame, boxes in drawn(12, 7)]
    settings: dict[str, Any] = {"array": "numpy", "every": "frame", "backend": backend, **SAMPLERS[sampler]}
    try:
        known, whole = (sc.Stream(some, **settings) for some in (frames, [frame for frame, _ in frames]))
    except sc.UnavailableError as error:
        skip_or_fail("gl", str(error))
    for one, other in zip(known, whole, strict=True):
        np.testing.assert_array_equal(one.patches, other.patches)
        np.testing.assert_array_equal(one.changed, other.changed)
        np.testing.assert_array_equal(one.geometry, other.geometry)
        assert one.damaged_tiles == other.damaged_tiles
        assert one.fixation == other.fixation
        for level in range(known.texture.levels):
            np.testing.assert_array_equal(known.texture.level(level), whole.texture.level(level))


TILES: dict[str, Any] = {
    "device": "cpu",
    "array": "numpy",
    "lattice": "uniform",
    "lod": 0,
    "tokens": 54,
    "every": "frame",
}


def test_what_changes_outside_is_missed_until_a_frame_without_boxes() -> None:
    first, second = np.zeros((*SIZE, 3), np.uint8), np.full((*SIZE, 3), 200, np.uint8)
    frames = [first, (second, []), (second, 0.2, np.array([[16, 0, 32, 16]])), (second, 0.3, None), (second, 0.4)]
    stream = sc.Stream([(frame, n / 10) if n == 0 else frame for n, frame in enumerate([first, *frames[2:]])], **TILES)
    levels = [stream.texture.level(0)[..., 0].copy() for _ in stream]
    assert levels[1][8, 24] == 200
    assert levels[1][90, 90] == 0
    assert (levels[2] == 200).all()
    counted = [emission.damaged_tiles for emission in sc.Stream(frames[:2], **TILES)]
    assert counted == [54, 0]


def test_other_things_beside_a_frame_are_refused() -> None:
    frame = np.zeros((*SIZE, 3), np.uint8)
    for beside in ([1, 2, 3, 4], [[0.0, 0.0, 1.0, 1.0]], np.zeros((2, 5), int), frame):
        with pytest.raises(ValueError, match=r"boxes that differ, \[n, 4\] whole numbers"):
            list(sc.Stream([frame, (frame, beside)], **TILES))
