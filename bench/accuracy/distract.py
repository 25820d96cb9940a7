"""Scenes in which something draws the eye away from the words: moving things, noise, cuts, natural clips."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable

import numpy as np
from clips import clip, clip_path
from desk import DESK
from scenes import FACES, FPS, READING, SIZE, Box, Item, Scene, blend, popup, stamp, texture, word

Field = Callable[[float], np.ndarray]  # [H, W, 3] f32 at a time


def _apart(rng: np.random.Generator, alpha: np.ndarray, taken: list[Box], gap: int = 12) -> Box:
    """A box for the word that lies `gap` pixels from every taken one."""
    height, width = alpha.shape
    for _ in range(1000):
        x, y = int(rng.integers(8, SIZE[0] - width - 8)), int(rng.integers(8, SIZE[1] - height - 8))
        near = any(x < r + gap and l - gap < x + width and y < b + gap and t - gap < y + height for l, t, r, b in taken)  # noqa: E741
        if not near:
            return x, y, x + width, y + height
    raise RuntimeError("no room for another word")


def _ink(back: np.ndarray, box: Box) -> np.ndarray:
    left, top, right, bottom = (int(v) for v in box)
    return np.full(3, 250.0 if back[top:bottom, left:right].mean() < 128 else 5.0, np.float32)


def words_over(
    name: str, rng: np.random.Generator, back: Field, count: int, at_once: int = 1, stay: float = 1.0,
    taken: list[Box] | None = None, px: int = 20,
) -> Scene:  # fmt: skip
    """`count` words over what moves, `at_once` of them every `stay` seconds, for as long."""
    items, stamps = [], []
    for n in range(0, count, at_once):
        t0 = n // at_once * stay
        boxes = list(taken or [])
        under = back(t0 + 0.5 / FPS)
        for _ in range(at_once):
            text = word(rng)
            alpha = stamp(text, px, FACES[rng.integers(len(FACES))])
            box = _apart(rng, alpha, boxes)
            boxes.append(box)
            stamps.append((t0, t0 + stay, alpha, box, _ink(under, box)))
            items.append(Item(text, t0, t0 + stay, lambda t, b=box: b))

    def frame(t: float) -> np.ndarray:
        out = back(t).copy()
        for t0, t1, alpha, box, ink in stamps:
            if t0 <= t + 1e-6 < t1:
                blend(out, alpha, box[0], box[1], ink)
        return np.clip(out + 0.5, 0, 255).astype(np.uint8)

    return Scene(name, count / at_once * stay, frame, items)


def static(seed: int, count: int = 30) -> Scene:
    """A television between two channels, 256 x 160: noise that is new in each frame."""
    rng = np.random.default_rng([seed, 21])
    base = texture(rng)
    x, y = int(rng.integers(8, SIZE[0] - 270)), int(rng.integers(8, SIZE[1] - 170))

    def back(t: float) -> np.ndarray:
        out = base.copy()
        coarse = np.random.default_rng([seed, 22, round(t * FPS)]).integers(0, 256, (80, 128, 1))
        out[y : y + 160, x : x + 256] = coarse.repeat(2, 0).repeat(2, 1)
        return out

    return words_over(f"static-{seed}", rng, back, count, taken=[(x, y, x + 256, y + 160)])


def _sprites(seed: int, base: np.ndarray, count: int, speed_px: float) -> Field:
    """Discs of strong texture, 72 pixels wide, that bounce about."""
    rng = np.random.default_rng([seed, 24])
    side, (width, height) = 72, SIZE
    yy, xx = np.mgrid[:side, :side] - (side - 1) / 2
    disc = np.clip(side / 2 - np.hypot(xx, yy), 0, 1).astype(np.float32)
    inks = [texture(rng, (side, side), 60) for _ in range(count)]
    start = rng.uniform(0, 1, (count, 2)) * (width - side, height - side)
    angle = rng.uniform(0, 2 * np.pi, count)
    step = speed_px * np.stack([np.cos(angle), np.sin(angle)], 1)

    def back(t: float) -> np.ndarray:
        out = base.copy()
        room = np.array([width - side, height - side])
        at = room - np.abs((start + step * t) % (2 * room) - room)
        for ink, (x, y) in zip(inks, at, strict=True):
            blend(out, disc, x, y, ink)
        return out

    return back


def sprites(seed: int, count: int = 30) -> Scene:
    """Six textured discs bounce about at 120 pixels a second."""
    rng = np.random.default_rng([seed, 23])
    return words_over(f"sprites-{seed}", rng, _sprites(seed, texture(rng), 6, 120), count)


def crowd(seed: int, count: int = 30) -> Scene:
    """Five words at once for two seconds, and three discs that bounce about."""
    rng = np.random.default_rng([seed, 25])
    return words_over(f"crowd-{seed}", rng, _sprites(seed, texture(rng), 3, 120), count, at_once=5, stay=2.0)


def cut(seed: int, count: int = 30) -> Scene:
    """A new picture every two seconds, with three words in it from the start."""
    rng = np.random.default_rng([seed, 26])
    bases = [texture(rng, contrast=rng.uniform(14, 40)) for _ in range(-(-count // 3))]

    def back(t: float) -> np.ndarray:
        return bases[min(int(t / 2 + 1e-6), len(bases) - 1)]

    return words_over(f"cut-{seed}", rng, back, count, at_once=3, stay=2.0)


def vanish(seed: int, count: int = 30) -> Scene:
    """Eight patches of fine stripes that have been there for half a second vanish as the word appears."""
    rng = np.random.default_rng([seed, 27])
    base = texture(rng)
    clutter = []
    for n in range(count):
        for _ in range(8):
            x, y = int(rng.integers(8, SIZE[0] - 80)), int(rng.integers(8, SIZE[1] - 40))
            clutter.append((n - 0.5, float(n), (rng.random((24, 64)) < 0.4).astype(np.float32), x, y))

    def back(t: float) -> np.ndarray:
        out = base.copy()
        for t0, t1, alpha, x, y in clutter:
            if t0 <= t + 1e-6 < t1:
                blend(out, alpha, x, y, np.full(3, 240, np.float32))
        return out

    return words_over(f"vanish-{seed}", rng, back, count)


def subtitle(seed: int, count: int = 30) -> Scene:
    """A line of three words at the bottom takes the place of another every two seconds; three discs bounce about."""
    rng = np.random.default_rng([seed, 29])
    back, items, stamps = _sprites(seed, texture(rng), 3, 120), [], []
    for n in range(0, count, 3):
        t0, line = n / 3 * 2.0, [word(rng) for _ in range(3)]
        alphas = [stamp(text, 24, FACES[1]) for text in line]
        x = (SIZE[0] - sum(alpha.shape[1] + 6 for alpha in alphas)) // 2
        for text, alpha in zip(line, alphas, strict=True):
            box = (x, 640, x + alpha.shape[1], 640 + alpha.shape[0])
            stamps.append((t0, alpha, box))
            items.append(Item(text, t0, t0 + 2.0, lambda t, b=box: b))
            x += alpha.shape[1] + 6

    def frame(t: float) -> np.ndarray:
        out = back(t)
        for t0, alpha, box in stamps:
            if t0 <= t + 1e-6 < t0 + 2.0:
                blend(out, alpha, box[0], box[1], np.full(3, 250, np.float32))
        return np.clip(out + 0.5, 0, 255).astype(np.uint8)

    return Scene(f"subtitle-{seed}", count / 3 * 2.0, frame, items)


def natural(name: str) -> Callable[[int, int], Scene]:
    """Words over a clip, cut to 1280 x 720 and played over and over."""

    def scene(seed: int, count: int = 30) -> Scene:
        rng = np.random.default_rng([seed, 28])
        frames = _frames(clip_path(name), count)

        def back(t: float) -> np.ndarray:
            return frames[round(t * FPS) % len(frames)].astype(np.float32)

        return words_over(f"natural-{pathlib.Path(name).stem}-{seed}", rng, back, count)

    return scene


def _frames(path: pathlib.Path, seconds: int) -> np.ndarray:
    width, height = SIZE
    scale = f"fps={FPS},scale={width}:{height}:force_original_aspect_ratio=increase,crop={width}:{height}"
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-t", str(min(seconds, 12)), "-vf", scale]
    done = subprocess.run([*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)


DISTRACT = {"static": static, "sprites": sprites, "crowd": crowd, "cut": cut, "vanish": vanish, "subtitle": subtitle}


def prepared(kind: str, seed: int, count: int) -> tuple[Scene, pathlib.Path]:
    """A scene of READING, `popup:PIXELS`, of DESK, of DISTRACT or `natural:CLIP`, and its clip on disk."""
    if kind in READING:
        scene = READING[kind](seed, count=count)
        return scene, clip(scene)
    if kind.startswith("popup:"):
        px = int(kind.partition(":")[2])
        scene = popup(seed, count, px=px, name=f"popup{px}")
        return scene, clip(scene)
    if kind in DESK:
        scene = DESK[kind](seed, count)
        return scene, clip(scene, sources=("scenes.py", "desk.py"))
    over = natural(kind.partition(":")[2]) if kind.startswith("natural:") else DISTRACT[kind]
    scene = over(seed, count)
    return scene, clip(scene, sources=("scenes.py", "distract.py"))


def prepared_path(kind: str, seed: int, count: int) -> pathlib.Path:
    """The clip of `prepared` alone, which another process can be sent."""
    return prepared(kind, seed, count)[1]
