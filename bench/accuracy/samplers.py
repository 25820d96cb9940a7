"""What a model gets to see of a clip: emissions of patches, each with its place, by sampler and budget."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyramids import ChangedSquares, by_change, ring_patches
from scenes import Scene

import pysaccade as sc

RATE = 4.0  # fixations a second


@dataclass
class Look:
    """One emission: patches [n, 3, S, S] u8 inside the frame, and their geometry [n, 4] (u, v, lod, coverage)."""

    seconds: float
    patches: np.ndarray
    geometry: np.ndarray
    new: np.ndarray  # [n] bool: must be encoded again
    fixation: tuple[float, float]
    size: tuple[int, int]  # (H, W)

    @property
    def tokens(self) -> int:
        return len(self.patches)


def tokens_of(looks: list[Look], seconds: float) -> dict[str, Any]:
    """Tokens inside the frame: a look's mean and most, all of a second, and those of it that must be encoded."""
    inside = [look.tokens for look in looks]
    return {
        "tokens": float(np.mean(inside)),
        "tokens_most": max(inside),
        "inside_s": float(sum(inside) / seconds),
        "tokens_s": float(sum(int(look.new.sum()) for look in looks) / seconds),
    }


Sampler = Callable[[Scene, pathlib.Path, int], Iterator[Look]]


def stream(path: pathlib.Path, **options: object) -> Iterator[Look]:
    """saccade's emissions, without the patches outside the frame."""
    with sc.Stream(str(path), device="cpu", array="numpy", threads=1, **options) as emissions:
        for emission in emissions:
            inside = emission.visible
            yield Look(emission.pts_seconds, emission.patches[inside].copy(), emission.geometry[inside].copy(),
                       emission.changed[inside].copy(), emission.fixation, emission.size)  # fmt: skip


def frames(path: pathlib.Path, at: Collection[float] | None = None) -> Iterator[tuple[float, np.ndarray]]:
    """The frames at these times, or those of the eye that never moves, [H, W, 3] u8, exact.

    Uniform patches at full resolution, put together; a frame that they don't divide is padded first.
    """
    height, width = sc_size(path)
    rows, cols = -(-height // 16), -(-width // 16)
    options: dict[str, object] = {"lattice": "uniform", "lod": 0, "tokens": rows * cols, "fixation": "center"}
    if (rows * 16, cols * 16) != (height, width):
        options["vf"] = f"pad={cols * 16}:{rows * 16}"
    if at is not None:
        options["every"] = "frame"
    for look in stream(path, **options):
        if at is None or look.seconds in at:
            tiles = look.patches.reshape(rows, cols, 3, 16, 16).transpose(0, 3, 1, 4, 2)
            yield look.seconds, tiles.reshape(rows * 16, cols * 16, 3)[:height, :width]


def full(scene: Scene | None, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """Every pixel, at each fixation."""
    info = sc_size(path)
    count = -(-info[0] // 16) * -(-info[1] // 16)
    return stream(path, lattice="uniform", lod=0, tokens=count, fixation="center")


def sc_size(path: pathlib.Path) -> tuple[int, int]:
    with sc.Stream(str(path), device="cpu", array="numpy", frames=1) as probe:
        height, width = probe.info.size
    return height, width


def uniform(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    return stream(path, lattice="uniform", tokens=tokens, fixation="center")


def grid(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    return stream(path, lattice="grid", tokens=tokens)


def nested(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    return stream(path, lattice="nested", tokens=tokens)


def saliency(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """The new lattice with the old policy."""
    return stream(path, lattice="nested", tokens=tokens, fixation="saliency")


def random(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    return stream(path, lattice="nested", tokens=tokens, fixation="random")


def center(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    return stream(path, lattice="nested", tokens=tokens, fixation="center")


def oracle(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """The eye knows where each thing will be: what fixations could give at best. Four looks go along a long line."""
    rows = []
    for item in scene.items:
        for k in range(int((item.t1 - item.t0) * RATE)):
            t = item.t0 + k / RATE
            left, top, right, bottom = item.box(t + 0.5 / RATE)
            share = 0.5 if right - left < 120 else (k + 0.5) * RATE / RATE / max(int((item.t1 - item.t0) * RATE), 1)
            rows.append((t, (left + share * (right - left)) / scene.size[0], (top + bottom) / 2 / scene.size[1]))
    path_rows = np.clip(np.array(rows, np.float64), [0, 0, 0], [1e9, 1, 1])
    path_rows = path_rows[np.unique(path_rows[:, 0], return_index=True)[1]]
    return stream(path, lattice="nested", tokens=tokens, fixation=path_rows)


def rings(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """The rings published with Segment This Thing, 172 patches, where the novelty policy looks."""
    looks = stream(path, lattice="nested", tokens=max(tokens, 140))
    return _at_frames(path, looks, lambda frame, look: ring_patches(frame, look.fixation))


def change(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """Multi-scale patches where the picture changed, and else where it is detailed: no eye, only a budget."""
    before: list[np.ndarray] = []

    def pick(frame: np.ndarray, look: Look) -> tuple[np.ndarray, np.ndarray]:
        picked = by_change(frame, before[-1] if before else None, tokens)
        before[:] = [frame]
        return picked

    return _at_frames(path, None, pick)


def adaptive(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """The squares that bring the receiver's picture nearest to the frame."""
    return stream(path, lattice="adaptive", tokens=tokens)


def changed(scene: Scene, path: pathlib.Path, tokens: int) -> Iterator[Look]:
    """A thumbnail, and squares of two sizes where the picture differs most from what was last sent."""
    squares = ChangedSquares()
    return _at_frames(path, None, lambda frame, look: squares.pick(frame, look.seconds, tokens))


def _at_frames(
    path: pathlib.Path, looks: Iterator[Look] | None, pick: Callable[[np.ndarray, Look], tuple[np.ndarray, np.ndarray]]
) -> Iterator[Look]:
    for seconds, frame in frames(path):
        look = next(looks, None) if looks is not None else None
        if look is None:
            look = Look(seconds, np.empty(0), np.empty(0), np.empty(0), (0.5, 0.5), frame.shape[:2])
        patches, geometry = pick(frame, look)
        yield Look(seconds, patches, geometry, np.ones(len(patches), bool), look.fixation, frame.shape[:2])


SAMPLERS: dict[str, Sampler] = {
    "nested": nested,
    "saliency": saliency,
    "grid": grid,
    "uniform": uniform,
    "random": random,
    "center": center,
    "oracle": oracle,
    "rings": rings,
    "change": change,
    "adaptive": adaptive,
    "changed": changed,
    "full": full,
}


def sampler_of(name: str) -> Sampler:
    """Of SAMPLERS, or "nested+OPTION=VALUE+..." or "adaptive+...": with options of the stream."""
    if name in SAMPLERS:
        return SAMPLERS[name]
    base, *options = name.split("+")
    if base not in ("nested", "adaptive"):
        raise KeyError(name)
    given: dict[str, object] = {"lattice": base, **dict(option.split("=", 1) for option in options)}
    return lambda scene, path, tokens: stream(path, tokens=tokens, **given)
