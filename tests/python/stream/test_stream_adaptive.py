"""Lattice `adaptive`: what is sent, against the receiver's picture and the best squares as NumPy works them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import skip_or_fail
from stream_support import assert_same_as_dump

S, LEVELS = 16, 5
SIZE = (160, 272)  # rows, columns: whole tiles, but no whole squares of 64 pixels and more


def picture(seed: int, size: tuple[int, int] = SIZE) -> np.ndarray:
    """A grey picture of many scales, [H, W] u8."""
    rng = np.random.default_rng(seed)
    image = np.zeros(size)
    for step, weight in ((1, 10), (4, 15), (16, 30), (64, 40)):
        coarse = rng.uniform(-1, 1, (-(-size[0] // step), -(-size[1] // step)))
        image += weight * coarse.repeat(step, 0).repeat(step, 1)[: size[0], : size[1]]
    return (128 + image).clip(0, 255).astype(np.uint8)


def changing(count: int) -> list[np.ndarray]:
    """Grey pictures of which the next has another block, and every third a corner that changes each time."""
    rng, frames = np.random.default_rng(1), [picture(0)]
    for n in range(1, count):
        frame = frames[-1].copy()
        y, x = rng.integers(0, SIZE[0] - 40), rng.integers(0, SIZE[1] - 70)
        frame[y : y + 40, x : x + 70] = picture(n)[y : y + 40, x : x + 70]
        frame[:20, :90] = picture(100 + n)[:20, :90]
        frames.append(frame)
    return frames


def adaptive(frames: list[np.ndarray], rate: float = 4.0, **options: Any) -> sc.Stream:
    """An emission for each grey frame, `rate` of them a second."""
    given = [(np.repeat(frame[..., None], 3, axis=2), n / rate) for n, frame in enumerate(frames)]
    return sc.Stream(
        given, array="numpy", device="cpu", lattice="adaptive", every="frame", fixation="center", **options
    )


def sent(emission: sc.Emission) -> list[tuple[int, int, int]]:
    """Level, column and row of each square."""
    height, width = emission.size
    out = []
    for u, v, lod, _ in emission.geometry[emission.visible]:
        side = S * 2 ** int(lod)
        x, y = u * width / side - 0.5, v * height / side - 0.5
        assert lod == int(lod)
        assert max(abs(x - round(x)), abs(y - round(y))) < 1e-3
        out.append((int(lod), round(x), round(y)))
    return out


def means(frame: np.ndarray, level: int) -> np.ndarray:
    """True means, rounded once, enlarged again; beyond the frame its edge is repeated."""
    height, width = frame.shape
    k = 1 << level
    padded = np.pad(frame, ((0, -height % 64), (0, -width % 64)), mode="edge").astype(np.int64)
    small = (padded.reshape(padded.shape[0] // k, k, -1, k).sum((1, 3)) + k * k // 2) // (k * k)
    return small.repeat(k, 0).repeat(k, 1)[:height, :width]


def tile_errors(frame: np.ndarray, held: np.ndarray, power: int, noise: int) -> np.ndarray:
    difference = np.abs(frame.astype(np.int64) - held)
    difference[difference <= noise] = 0
    return (difference**power).reshape(frame.shape[0] // S, S, -1, S).sum((1, 3))


def squares_of(tiles: np.ndarray, level: int) -> np.ndarray:
    """Sums over the tiles of each square."""
    k = 1 << level
    rows, cols = tiles.shape
    padded = np.pad(tiles, ((0, -rows % 16), (0, -cols % 16)))
    return padded.reshape(padded.shape[0] // k, k, -1, k).sum((1, 3))


def worth_at(gains: list[np.ndarray], price: int) -> int:
    """What the best set of squares gains after each has paid the price."""
    best = np.maximum(gains[0] - price, 0)
    for gain in gains[1:]:
        parts = best.reshape(best.shape[0] // 2, 2, -1, 2).sum((1, 3))
        best = np.maximum(gain - price, parts)
    return int(best.sum())


def most_of(gains: list[np.ndarray], count: int) -> int:
    """What `count` squares can gain at most: for each price, what the best set gains and the price of so many."""
    low, high = 0, int(max(gain.max() for gain in gains)) + 1
    while high - low > 2:  # convex in the price
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if worth_at(gains, left) + left * count <= worth_at(gains, right) + right * count:
            high = right
        else:
            low = left
    return min(worth_at(gains, price) + price * count for price in range(low, high + 1))


@pytest.mark.parametrize(("options", "power", "noise"), [({}, 3, 1), ({"target_psnr": 99}, 2, 0)])
@pytest.mark.parametrize("tokens", [5, 40])
def test_each_look_gains_as_much_as_so_many_squares_can(options: dict, power: int, noise: int, tokens: int):
    frames = changing(12)
    held = np.full(SIZE, 128, np.int64)
    log: list[tuple[float, int, int, int]] = []
    changed = np.full((SIZE[0] // S, SIZE[1] // S), -np.inf)  # when each tile did
    for n, (frame, emission) in enumerate(zip(frames, adaptive(frames, tokens=tokens, **options), strict=True)):
        assert len(emission.patches) == tokens
        np.testing.assert_array_equal(emission.changed, emission.visible)
        times = np.zeros((SIZE[0] // S, SIZE[1] // S), np.int64)
        for t, level, x, y in log:
            if t >= n / 4 - 2:
                times[y << level : (y + 1) << level, x << level : (x + 1) << level] += 1
        if n > 0:
            differs = tile_errors(frame, frames[n - 1].astype(np.int64), 2, 0) > 0
            changed[differs & ~differs.all()] = n / 4
        squares, now = sent(emission), tile_errors(frame, held, power, noise)
        left = [tile_errors(frame, means(frame, level), power, noise) for level in range(LEVELS)]
        gained = sum(int(squares_of(now - left[level], level)[y, x]) for level, x, y in squares)
        # A PSNR within reach is reached by the fewest squares, whatever they weigh.
        weights = 65536 // (1 + times) * np.where(n / 4 - changed > 1, 16384, 65536) >> 16
        if options and gained == now.sum():
            weights = np.ones_like(times)
        scale = 0 if weights.max() == 1 else 16
        gains = [squares_of((now - left[level]) * weights >> scale, level) for level in range(LEVELS)]
        gained = sum(int(gains[level][y, x]) for level, x, y in squares)
        assert gained + len(squares) >= most_of(gains, len(squares))
        assert len(squares) > tokens - 16 or gained - len(squares) == worth_at(gains, 1)  # nothing more is worth it
        covered = np.zeros(SIZE, np.int64)
        for level, x, y in squares:
            side = S << level
            at = np.s_[y * side : (y + 1) * side, x * side : (x + 1) * side]
            held[at] = means(frame, level)[at]
            covered[at] += 1
            log.append((n / 4, level, x, y))
        assert covered.max(initial=0) <= 1


def test_picture_that_stands_still_is_sent_once():
    frames = [picture(3)] * 12
    emissions = list(adaptive(frames, tokens=60))
    counts = [int(emission.visible.sum()) for emission in emissions]
    assert 55 <= counts[0] <= 60
    assert counts[-1] == 0
    shown = sc.paint(emissions, memory=True)[..., 0].astype(int)
    assert np.abs(shown - frames[0]).max() <= 1


def test_painted_picture_is_what_was_sent():
    """Small changes in one place leave the rest of the picture as it was."""
    frames = [picture(3)] * 8
    for n in range(6, 8):
        frames[n] = frames[n].copy()
        frames[n][32:48, 64:80] = 255 - frames[n][32:48, 64:80]
    memory, last = sc.PictureMemory(), None
    for emission in adaptive(frames, tokens=100):
        last = sc.paint(emission, memory=memory)
    assert last is not None
    assert np.abs(last[..., 0].astype(int) - frames[-1]).max() <= 1


@pytest.mark.parametrize("psnr", [33, 38])
def test_target_psnr_is_reached_and_not_passed(psnr: float):
    size = (480, 848)
    frame, held = picture(5, size), np.full(size, 128.0)
    emissions = list(adaptive([frame] * 3, tokens=2000, target_psnr=psnr))
    for level, x, y in sent(emissions[0]):
        at = np.s_[y * S << level : (y + 1) * S << level, x * S << level : (x + 1) * S << level]
        held[at] = means(frame, level)[at]
    reached = 10 * np.log10(255**2 / np.mean((held - frame) ** 2))
    assert psnr <= reached <= psnr + 0.3
    np.testing.assert_array_equal(sc.paint(emissions, memory=True, interpolate=False)[..., 0], held)
    assert not any(emission.visible.any() for emission in emissions[1:])


def test_target_psnr_is_of_the_luma_that_is_displayed(clip: Path):
    """Of BT.709 video with luma codes from 16 to 235."""
    options: dict[str, Any] = {"array": "numpy", "device": "cpu", "every": "frame", "fixation": "center"}
    truth = sc.paint(next(sc.Stream(clip, lattice="uniform", lod=0, tokens=3600, **options)))
    adaptive = next(sc.Stream(clip, lattice="adaptive", tokens=10000, target_psnr=32, **options))
    shown = sc.paint(adaptive, interpolate=False)
    difference = (truth.astype(float) - shown) @ (0.2126, 0.7152, 0.0722)
    assert 10 * np.log10(255**2 / np.mean(difference**2)) == pytest.approx(32, abs=0.3)


def test_what_fell_out_of_the_context_is_sent_again():
    frames = [picture(6)] * 6
    whole = SIZE[0] // S * (SIZE[1] // S)
    kept = [int(e.visible.sum()) for e in adaptive(frames, tokens=whole, target_psnr=99, context=whole)]
    short = [int(e.visible.sum()) for e in adaptive(frames, tokens=whole // 2, target_psnr=99, context=whole - 10)]
    assert kept == [whole, 0, 0, 0, 0, 0]
    assert min(short) >= 10, "of the tokens that the whole picture takes ten do not fit"
    timed = [int(e.visible.sum()) for e in adaptive(frames, tokens=whole, target_psnr=99, context="0.6s")]
    assert timed == [whole, 0, 0, whole, 0, 0]


def test_rate_saves_up_for_what_comes():
    """Of 40 tokens a second each of four looks gets 10; a look's worth is saved up while the picture stands still."""
    frames = [picture(6)] * 40 + [picture(7)] * 3
    counts = [int(e.visible.sum()) for e in adaptive(frames, tokens=60, tokens_per_second=40, target_psnr=99)]
    assert all(total <= 10 * (n + 1) for n, total in enumerate(np.cumsum(counts)))
    assert 130 <= sum(counts[:20]) <= 200
    assert counts[34:40] == [0] * 6
    assert 50 <= counts[40] <= 60
    assert max(counts[41:]) <= 20


@pytest.mark.parametrize("region", [None, (0.25, 0.2, 0.5, 0.6)])
def test_what_is_forgotten_is_sent_again(region: tuple[float, float, float, float] | None):
    frames, counts = [picture(6)] * 6, []
    stream = adaptive(frames, tokens=1000, target_psnr=99)
    for n, emission in enumerate(stream):
        counts.append(int(emission.visible.sum()))
        if n == 2:
            stream.forget(region)
        if n == 3 and region is not None:  # the tiles that the region touches
            assert {(x, y) for _, x, y in sent(emission)} == {(x, y) for x in range(4, 9) for y in range(2, 6)}
    assert counts == [170, 0, 0, 170 if region is None else 20, 0, 0]


def test_other_lattices_and_boxes_have_nothing_to_forget():
    with pytest.raises(ValueError, match="lattice=nested: remembers nothing of the receiver; adaptive does"):
        sc.Stream("test://box", array="numpy", device="cpu", lattice="nested").forget()
    stream = sc.Stream("test://box", array="numpy", device="cpu", lattice="adaptive")
    for box in ((0, 0, 0, 1), (0, 0, 1, 1.5), (float("nan"), 0, 1, 1)):
        with pytest.raises(ValueError, match="a box lies between 0 and 1"):
            stream.forget(box)


@pytest.mark.parametrize("size", [(132, 260), (257, 48), (200, 1284)])
def test_no_square_is_lost_at_the_frames_edge(size: tuple[int, int]):
    """A wide square that has fewer pixels than half a sample there has no sample in the frame."""
    frame = np.full(size, 200, np.uint8)
    emission = next(adaptive([frame], tokens=400))
    sent_at = emission.geometry[:, 2] > 0
    assert emission.visible[sent_at].all()
    np.testing.assert_array_equal(sc.paint(emission)[..., 0], frame)


def test_ignored_regions_are_sent_only_with_what_is_around_them():
    frames = changing(8)
    for emission in adaptive(frames, tokens=300, ignore="0,0,96,32"):
        for level, x, y in sent(emission):
            assert level > 0 or x >= 6 or y >= 2


def test_ignored_regions_do_not_count_in_a_psnr():
    """Noise at the right would keep the picture from 33 dB. The left needs a few squares."""
    size, psnr = (480, 848), 33
    frame, held = picture(5, size), np.full(size, 128.0)
    frame[:, 432:] = np.random.default_rng(1).integers(0, 256, (480, 416))
    for level, x, y in sent(next(adaptive([frame], tokens=2000, target_psnr=psnr, ignore="432,0,416,480"))):
        at = np.s_[y * S << level : (y + 1) * S << level, x * S << level : (x + 1) * S << level]
        held[at] = means(frame, level)[at]
    reached = 10 * np.log10(255**2 / np.mean((held - frame)[:, :432] ** 2))
    assert psnr <= reached <= psnr + 0.3


def test_eye_draws_squares_to_where_it_looks():
    frame = np.repeat(picture(7)[..., None], 3, axis=2)

    def near(eye: float) -> int:
        stream = sc.Stream([(frame, 0.0)], array="numpy", device="cpu", lattice="adaptive", every="frame",
                           fixation=(0.1, 0.1), tokens=30, eye=eye, fov_deg=90)  # fmt: skip
        geometry = next(stream).geometry
        return int((np.abs(geometry[:, :2] - 0.1).max(1) < 0.25).sum())

    assert near(1.0) > near(0.5) > near(0.0)


@pytest.mark.parametrize("backend", ["cpu", "gl", "cuda"])
def test_program_dumps_the_same_bytes_by_each_backend(clip: Path, run_program, tmp_path: Path, backend: str):
    try:
        sc.Stream("test://box", array="numpy", backend=backend)
    except sc.UnavailableError as error:
        skip_or_fail(backend, str(error))
    for number, options in enumerate(({"tokens": 90}, {"tokens": 200, "target_psnr": 30, "context": 500, "eye": 0.5})):
        words = [word for name, value in options.items() for word in ("--set", f"{name.replace('_', '-')}={value}")]
        run_program("dump", clip, "-o", tmp_path / f"{number}", "--backend", backend, "--lattice", "adaptive",
                    "--duration", 3, "--log-level", "error", *words)  # fmt: skip
        stream = sc.Stream(clip, array="numpy", device="cpu", lattice="adaptive", duration=3, **options)
        assert_same_as_dump(list(stream), tmp_path / f"{number}")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lattice": "adaptive", "preset": "uv"}, "preset: needs lattice nested or grid"),
        ({"lattice": "adaptive", "e0": 2}, "e0: needs lattice nested or grid"),
        ({"lattice": "adaptive", "fovea": 64}, "fovea: needs lattice nested"),
        (
            {"lattice": "adaptive", "patch_size": 8},
            "patch_size=8: squares of lattice adaptive have 16 x 16 samples; lattice nested takes",
        ),
        ({"lattice": "nested", "target_psnr": 30}, "target_psnr: needs lattice adaptive"),
        ({"lattice": "grid", "context": 30}, "context: needs lattice adaptive"),
        ({"lattice": "grid", "tokens_per_second": 30}, "tokens_per_second: needs lattice adaptive"),
        ({"context": "0s"}, "context"),
        (
            {"context": "30sec"},
            "context: '30sec' is neither a number of tokens, such as 4000, nor seconds, such as 30s",
        ),
        ({"lattice": "uniform", "eye": 1}, "eye: needs lattice adaptive"),
    ],
)
def test_options_that_do_nothing_are_refused(options: dict, words: str):
    with pytest.raises(ValueError, match=words):
        sc.Stream("test://box", array="numpy", device="cpu", **options)
