"""What a model gets to see of a clip: emissions of patches, each with its place, by sampler and budget."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyramids import Change, ChangedSquares, OverviewAndCrops, by_change, ring_patches
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


Sampler = Callable[..., Iterator[Look]]  # (scene, path, tokens, **options of the stream)


def stream(path: pathlib.Path, **options: object) -> Iterator[Look]:
    """saccade's emissions, without the patches outside the frame."""
    with sc.Stream(str(path), device="cpu", array="numpy", threads=1, **options) as emissions:
        for emission in emissions:
            inside = emission.visible
            yield Look(emission.pts_seconds, emission.patches[inside].copy(), emission.geometry[inside].copy(),
                       emission.changed[inside].copy(), emission.fixation, emission.size)  # fmt: skip


def frames(
    path: pathlib.Path, at: Collection[float] | None = None, **given: object
) -> Iterator[tuple[float, np.ndarray]]:
    """The frames at these times, or those of the eye that never moves, [H, W, 3] u8: exact, or up to a threshold.

    Uniform patches at full resolution, put together; a frame that they don't divide is padded first.
    """
    height, width = sc_size(path)
    rows, cols = -(-height // 16), -(-width // 16)
    options: dict[str, object] = {"lattice": "uniform", "lod": 0, "tokens": rows * cols, "fixation": "center", **given}
    if (rows * 16, cols * 16) != (height, width):
        options["vf"] = f"pad={cols * 16}:{rows * 16}"
    if at is not None:
        options["every"] = "frame"
    for look in stream(path, **options):
        if at is None or look.seconds in at:
            tiles = look.patches.reshape(rows, cols, 3, 16, 16).transpose(0, 3, 1, 4, 2)
            yield look.seconds, tiles.reshape(rows * 16, cols * 16, 3)[:height, :width]


def full(scene: Scene, path: pathlib.Path, tokens: int, **options: object) -> Iterator[Look]:
    """Every pixel, at each fixation."""
    height, width = sc_size(path)
    count = -(-height // 16) * -(-width // 16)
    return stream(path, lattice="uniform", lod=0, tokens=count, fixation="center", **options)


def sc_size(path: pathlib.Path) -> tuple[int, int]:
    with sc.Stream(str(path), device="cpu", array="numpy", frames=1) as probe:
        height, width = probe.info.size
    return height, width


def streamed(**fixed: object) -> Sampler:
    """saccade's own, with these options."""
    return lambda scene, path, tokens, **options: stream(path, **{"tokens": tokens, **fixed, **options})


def oracle(scene: Scene, path: pathlib.Path, tokens: int, **options: object) -> Iterator[Look]:
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
    return stream(path, **{"lattice": "nested", "tokens": tokens, **options, "fixation": path_rows})


def rings(scene: Scene, path: pathlib.Path, tokens: int, **options: object) -> Iterator[Look]:
    """The rings published with Segment This Thing, 172 patches, where the novelty policy looks."""
    looks = stream(path, lattice="nested", tokens=max(tokens, 140), **options)
    return _at_frames(path, looks, lambda frame, look: ring_patches(frame, look.fixation), options)


def by_rule(rule: Callable[[int], Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray]]]) -> Sampler:
    """A rule of pyramids.py without an eye: rule(tokens) gives what picks of (frame, seconds)."""

    def sampler(scene: Scene, path: pathlib.Path, tokens: int, **options: object) -> Iterator[Look]:
        pick = rule(tokens)
        return _at_frames(path, None, lambda frame, look: pick(frame, look.seconds), options)

    return sampler


def _at_frames(
    path: pathlib.Path,
    looks: Iterator[Look] | None,
    pick: Callable[[np.ndarray, Look], tuple[np.ndarray, np.ndarray]],
    options: dict[str, object],
) -> Iterator[Look]:
    """As saccade has it, a patch is new unless these very bytes were the last at its place."""
    last: dict[bytes, bytes] = {}
    for seconds, frame in frames(path, **options):
        look = next(looks, None) if looks is not None else None
        if look is None:
            look = Look(seconds, np.empty(0), np.empty(0), np.empty(0), (0.5, 0.5), frame.shape[:2])
        patches, geometry = pick(frame, look)
        new = np.ones(len(patches), bool)
        for n, (patch, place) in enumerate(zip(patches, geometry, strict=True)):
            new[n] = last.get(place.tobytes()) != patch.tobytes()
            last[place.tobytes()] = patch.tobytes()
        yield Look(seconds, patches, geometry, new, look.fixation, frame.shape[:2])


SAMPLERS: dict[str, Sampler] = {
    "nested": streamed(lattice="nested"),
    "saliency": streamed(lattice="nested", fixation="saliency"),
    "grid": streamed(lattice="grid"),
    "uniform": streamed(lattice="uniform", fixation="center"),
    "random": streamed(lattice="nested", fixation="random"),
    "center": streamed(lattice="nested", fixation="center"),
    "adaptive": streamed(lattice="adaptive"),
    "oracle": oracle,
    "rings": rings,
    "change": by_rule(Change),
    "changed": by_rule(lambda tokens: ChangedSquares(tokens).pick),
    "crops": by_rule(OverviewAndCrops),
    "quadtree": by_rule(lambda tokens: lambda frame, seconds: by_change(frame, None, tokens)),
    "full": full,
}


def sampler_of(name: str) -> Sampler:
    """Of SAMPLERS, or "NAME+OPTION=VALUE+...": with options of the stream."""
    base, *options = name.split("+")
    given: dict[str, object] = {key: value for key, _, value in (option.partition("=") for option in options)}
    sampler = SAMPLERS[base]
    return lambda scene, path, tokens, **others: sampler(scene, path, tokens, **given, **others)
