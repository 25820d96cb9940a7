"""Frames of the caller's as the source: read where they lie, in every layout; NumPy says what patches must hold."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pysaccade as sc

SIZE = 48, 64  # rows, columns: 3 x 4 patches of 16
TILES: dict[str, Any] = {"lattice": "uniform", "lod": 0, "tokens": 12, "every": "frame"}


def frames_stream(source: Any, /, **options: Any) -> sc.Stream:
    return sc.Stream(source, device="cpu", **{"array": "numpy", **TILES, **options})


def pictures(count: int, seed: int = 0) -> list[np.ndarray]:
    """Random pictures [H, W, 3]."""
    return list(np.random.default_rng(seed).integers(0, 256, (count, *SIZE, 3), np.uint8))


def tiles(picture: np.ndarray) -> np.ndarray:
    """[12, 3, 16, 16]: the blocks of a picture [H, W, 3], row by row."""
    return picture.reshape(3, 16, 4, 16, 3).transpose(0, 2, 4, 1, 3).reshape(12, 3, 16, 16)


def test_patches_at_full_resolution_are_the_blocks_of_the_frames():
    frames = pictures(5)
    for emission, frame in zip(frames_stream(frames), frames, strict=True):
        np.testing.assert_array_equal(emission.patches, tiles(frame))
        assert emission.size == SIZE


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "hwc": lambda frame: frame,
    "chw": lambda frame: np.ascontiguousarray(frame.transpose(2, 0, 1)),
    "chw over channels last": lambda frame: frame.transpose(2, 0, 1),
    "rgba": lambda frame: np.dstack([frame, np.full(SIZE, 9, np.uint8)]),
    "rgba chw": lambda frame: np.ascontiguousarray(np.dstack([frame, np.full(SIZE, 9, np.uint8)]).transpose(2, 0, 1)),
    "rows of a wider picture": lambda frame: np.pad(frame, ((2, 3), (5, 7), (0, 0)))[2:-3, 5:-7],
    "planes of a wider one": lambda frame: np.pad(frame.transpose(2, 0, 1), ((0, 0), (2, 3), (5, 7)))[:, 2:-3, 5:-7],
    "upside down in memory": lambda frame: np.ascontiguousarray(frame[::-1])[::-1],
    "mirrored in memory": lambda frame: np.ascontiguousarray(frame[:, ::-1])[:, ::-1],
    "bgr in memory": lambda frame: np.ascontiguousarray(frame[..., ::-1])[..., ::-1],
    "fortran order": np.asfortranarray,
    "every other column": lambda frame: np.repeat(frame, 2, axis=1)[:, ::2],
    "read only": lambda frame: np.frombuffer(frame.tobytes(), np.uint8).reshape(frame.shape),
    "with a time": lambda frame: (frame, 0.5),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_patches(layout: str):
    """Non-contiguous memory refused: CV-CUDA 13."""
    frame = pictures(1)[0]
    given = LAYOUTS[layout](frame)
    np.testing.assert_array_equal(next(frames_stream([given])).patches, tiles(frame))


@pytest.mark.torch
@pytest.mark.parametrize(
    "layout", ["chw", "channels last", "hwc", "slice", "expanded", "stack", "requires no grad", "rgba", "parameter"]
)
def test_every_layout_of_tensors_gives_the_same_patches(layout: str):
    import torch

    frame = torch.from_numpy(pictures(1)[0])
    chw = frame.permute(2, 0, 1).contiguous()
    given = {
        "chw": [chw],
        "channels last": [chw[None].contiguous(memory_format=torch.channels_last)[0]],
        "hwc": [frame],
        "slice": [torch.nn.functional.pad(chw, (3, 5, 1, 2))[:, 1:-2, 3:-5]],
        "expanded": [chw],
        "stack": torch.stack([chw, chw]),
        "requires no grad": [chw.detach()],
        "rgba": [torch.cat([chw, chw[:1]])],
        "parameter": [torch.nn.Parameter(chw, requires_grad=False)],
    }[layout]
    for emission in frames_stream(given, array="torch"):
        np.testing.assert_array_equal(emission.patches.numpy(), tiles(frame.numpy()))


@pytest.mark.parametrize("shape", [SIZE, (1, *SIZE), (*SIZE, 1)])
def test_gray_frames_give_three_equal_channels(shape: tuple[int, ...]):
    gray = np.random.default_rng(3).integers(0, 256, SIZE, np.uint8)
    emission = next(frames_stream([gray.reshape(shape)]))
    np.testing.assert_array_equal(emission.patches, tiles(np.dstack([gray] * 3)))


def test_frames_without_times_come_at_25_a_second_or_at_input_rate():
    frames = pictures(4)
    assert [emission.pts_ns for emission in frames_stream(frames)] == [0, 40_000_000, 80_000_000, 120_000_000]
    for rate in (50, "30000/1001", Fraction(30000, 1001), 12.5):
        exact = [round(index * 10**9 / Fraction(rate)) for index in range(4)]
        assert [emission.pts_ns for emission in frames_stream(frames, input_rate=rate)] == exact


def test_times_come_with_the_frames():
    frames = pictures(3)
    times = [Fraction(1, 3), 2.25, np.float64(7)]
    wanted = [333_333_333, 2_250_000_000, 7_000_000_000]
    assert [emission.pts_ns for emission in frames_stream(list(zip(frames, times, strict=True)))] == wanted
    decoded = [SimpleNamespace(data=frame, pts_seconds=time) for frame, time in zip(frames, times, strict=True)]
    assert [emission.pts_ns for emission in frames_stream(decoded)] == wanted


def test_changes_are_found_between_frames():
    base = pictures(1)[0]
    other = base.copy()
    other[20, 37, 1] ^= 1  # tile 1, 2; patch 6
    emissions = list(frames_stream([base, base.copy(), other, other]))
    assert [emission.damaged_tiles for emission in emissions] == [12, 0, 1, 0]
    assert [np.flatnonzero(emission.changed).tolist() for emission in emissions] == [list(range(12)), [], [6], []]


def test_frame_may_be_overwritten_after_its_emission():
    frame, wanted, found = np.zeros((*SIZE, 3), np.uint8), [], []

    def frames():
        for picture in pictures(4):
            frame[:] = picture
            wanted.append(tiles(picture))
            yield frame

    for emission in frames_stream(frames()):
        found.append(emission.patches)
        frame[:] = 0
    np.testing.assert_array_equal(found, wanted)


def test_fixations_follow_the_frames_own_time():
    frames = [(picture, 10 + 0.1 * index) for index, picture in enumerate(pictures(21))]
    emissions = list(frames_stream(frames, every="fixation", fixation="center", rate=2, lattice="grid", lod=None))
    assert [round(emission.pts_seconds, 1) for emission in emissions] == [10.0, 10.6, 11.1, 11.6]  # landed


def test_batches_and_normalised_floats_of_frames():
    frames = pictures(5)
    stream = frames_stream(frames, dtype="f32", normalize=((0.1, 0.2, 0.3), (0.5, 0.6, 0.7)))
    batches = list(stream.batched(2))
    assert [len(batch) for batch in batches] == [2, 2, 1]
    mean, std = (np.array(values).reshape(3, 1, 1) for values in ((0.1, 0.2, 0.3), (0.5, 0.6, 0.7)))
    wanted = [(tiles(frame) / 255 - mean) / std for frame in frames]
    np.testing.assert_allclose(np.concatenate([batch.patches for batch in batches]), wanted, atol=1e-5)
    assert batches[0][0].mean == (0.1, 0.2, 0.3)


def test_list_may_be_iterated_twice_and_pickled_and_an_iterator_once():
    frames = pictures(3)
    stream = frames_stream(frames)
    assert [len(list(stream)) for _ in range(2)] == [3, 3]
    assert len(list(pickle.loads(pickle.dumps(stream)))) == 3
    once = frames_stream(iter(frames))
    assert len(list(once)) == 3
    with pytest.raises(ValueError, match="was an iterator, which is used up; pass a list"):
        iter(once)
    assert len(list(once.reopen(frames))) == 3


def test_frames_of_any_size_after_reopen():
    stream = frames_stream(pictures(1), tokens=None, lod=None, lattice="nested", levels=3)
    assert next(stream).size == SIZE
    assert next(stream.reopen([np.zeros((101, 203, 3), np.uint8)])).size == (101, 203)


@pytest.mark.parametrize(
    ("frames", "kind", "text"),
    [
        ([], sc.InputError, "its source holds no frame"),
        ([np.zeros((4, 4), np.float32)], TypeError, r"frame 0 is float32; frames are uint8; pass \(frame \* 255\)"),
        ([np.zeros((2, 3, 48, 64), np.uint8)], ValueError, "iterate over its first axis"),
        ([np.zeros((48, 64, 2), np.uint8)], ValueError, r"a frame is \[3, H, W\]"),
        ([np.zeros(5, np.uint8)], ValueError, r"not \[5\]"),
        (["a.png"], TypeError, "frame 0 is a str; frames are tensors or arrays"),
        ([np.zeros((0, 0, 3), np.uint8)], ValueError, "Stream"),
        ([None], TypeError, "frame 0 is a NoneType"),
        (np.zeros((48, 64, 3), np.uint8), ValueError, r"\[48, 64, 3\].* is an image .*; pass \[image\]"),
        (np.zeros((3, 48, 64), np.uint8), ValueError, r"pass \[image\], or list\(frames\)"),
        (np.zeros((48, 64, 4), np.float32), ValueError, r"pass \[image\]"),
        (np.zeros((48, 64, 1), np.uint8), ValueError, r"pass \[image\]"),
        (np.zeros((48, 64), np.uint8), ValueError, r"pass \[image\]$"),
        ({"a": 1}, TypeError, "source takes a path, a URL or an iterable"),
        ([(np.zeros((48, 64, 3), np.uint8), float("nan"))], ValueError, "a frame's time is nan"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_frames_are_refused(frames: Any, kind: type, text: str):
    with pytest.raises(kind, match=text) as caught:
        next(frames_stream(frames))
    assert "\n" not in str(caught.value)


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(3, 48, 64), (48, 64, 3), (4, 48, 64), (1, 48, 64), (48, 64)])
def test_one_image_as_a_tensor_is_no_film(shape: tuple[int, ...]):
    import torch

    with pytest.raises(ValueError, match=r"pass \[image\]"):
        frames_stream(torch.zeros(shape, dtype=torch.uint8))


def test_one_array_of_frames_is_a_film():
    frames = np.stack(pictures(5))
    assert len(list(frames_stream(frames))) == 5
    assert len(list(frames_stream(frames[..., 0]))) == 5  # gray
    assert len(list(frames_stream(list(frames[:3, ..., 0])))) == 3


def test_frame_unlike_the_first_is_refused_by_its_number():
    with pytest.raises(ValueError, match=r"frame 2 is \[24, 64, 3\], the first one was \[48, 64, 3\]"):
        list(frames_stream([*pictures(2), np.zeros((24, 64, 3), np.uint8)]))
    with pytest.raises(TypeError, match="frame 1 is int16"):
        list(frames_stream([*pictures(1), np.zeros((48, 64, 3), np.int16)]))


@pytest.mark.parametrize("option", [{"start": 2}, {"vf": "hflip"}, {"loop": True}, {"vf": ["a"]}, {"frames": 3}])
def test_options_of_videos_are_refused_with_frames(option: dict):
    with pytest.raises(ValueError, match="is for videos that the library opens, not for frames; leave it out"):
        frames_stream(pictures(1), **option)


@pytest.mark.parametrize("begin", [1e10, -1e10, 1.7e12, 1_700_000_000_123_456_789, np.float64(1e18), Fraction(10**10)])
def test_times_that_no_nanoseconds_hold_are_refused_with_their_unit(begin: Any):
    frames = [(frame, begin + number) for number, frame in enumerate(pictures(2))]
    with pytest.raises(
        ValueError, match=r"frame 0: its time is .* s, .*times are seconds .* not milliseconds"
    ) as caught:
        list(frames_stream(frames))
    assert "\n" not in str(caught.value)


def test_times_since_1970_in_seconds_are_kept():
    frames = [(frame, Fraction(17_000_000_001, 10) + number) for number, frame in enumerate(pictures(3))]
    wanted = [1_700_000_000_100_000_000 + number * 10**9 for number in range(3)]
    assert [emission.pts_ns for emission in frames_stream(frames)] == wanted


def test_input_rate_that_leaves_the_range_is_refused():
    with pytest.raises(ValueError, match="frame 1: its time at input_rate=1e-12 is"):
        list(frames_stream(pictures(2), input_rate=1e-12))


def test_what_the_iterable_raises_goes_through():
    def frames():
        yield from pictures(2)
        raise LookupError("no more")

    stream = frames_stream(frames())
    with pytest.raises(LookupError, match="no more"):
        list(stream)


def test_a_source_that_closes_its_stream_ends_the_loop() -> None:
    frame = np.zeros((48, 64, 3), np.uint8)

    def frames() -> Iterator[np.ndarray[Any, Any]]:
        for number in range(20):
            if number == 5:
                stream.close()
            yield frame

    stream = sc.Stream(frames(), every=1, device="cpu")
    assert len(list(stream)) == 5
    assert stream.closed


def test_a_callable_that_raises_stop_iteration_is_an_error() -> None:
    stream = sc.Stream("test://box?size=64x64&frames=3", device="cpu", fixation=lambda _: next(iter([])))
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(stream)


@pytest.mark.parametrize("times", [[1.0, 0.9], [0.5, 0.5], [5.0, None], [0.0, 1e300]])
def test_times_that_do_not_rise_are_an_error(times: list[float | None]) -> None:
    frame = np.zeros((48, 64, 3), np.uint8)
    source = [frame if seconds is None else (frame, seconds) for seconds in times]
    with pytest.raises(ValueError, match="frame 1: its time"):
        list(sc.Stream(source, device="cpu", every=1))
