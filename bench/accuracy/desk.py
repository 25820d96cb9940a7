"""Screens that people have: a terminal, an editor, slides, a dashboard, a desktop of 4K, a chat, subtitles, a phone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scenes import FACES, SIZE, Box, Item, Scene, blend, stamp, texture, word

Shown = tuple[float, float, np.ndarray, Callable[[float], Box], np.ndarray]  # from, until, letters, where, ink

INK, LIGHT = np.full(3, 25, np.float32), np.full(3, 225, np.float32)


def _film(rng: np.random.Generator, width: int, height: int) -> Callable[[float], np.ndarray]:
    """A camera that pans over a texture at 60 pixels a second, past discs that bob."""
    wide = texture(rng, (width + 400, height), contrast=40)
    yy, xx = np.mgrid[:height, :width]
    discs = [(rng.uniform(0, width), rng.uniform(30, 70), rng.uniform(0, 255, 3), rng.uniform(0, 6)) for _ in range(3)]

    def frame(t: float) -> np.ndarray:
        left = int(200 + 190 * np.sin(t * 60 / 190))
        out = wide[:, left : left + width].copy()
        for x, radius, ink, phase in discs:
            y = height / 2 + height / 3 * np.sin(2 * t + phase)
            out[(xx - x) ** 2 + (yy - y) ** 2 < radius**2] = ink
        return out

    return frame


def _still(x: float, y: float, alpha: np.ndarray) -> Callable[[float], Box]:
    return lambda t: (x, y, x + alpha.shape[1], y + alpha.shape[0])


def _scene(
    name: str,
    seconds: float,
    back: Callable[[float], np.ndarray],
    shown: list[Shown],
    items: list[Item],
    size: tuple[int, int] = SIZE,
) -> Scene:
    def frame(t: float) -> np.ndarray:
        out = back(t)
        for t0, t1, alpha, box, ink in shown:
            if t0 <= t + 1e-6 < t1:
                left, top, _, _ = box(t)
                blend(out, alpha, left, top, ink)
        return np.clip(out + 0.5, 0, 255).astype(np.uint8)

    return Scene(name, seconds, frame, items, size=size, margin=3)


def _log(
    rng: np.random.Generator, left: int, top: int, rows: int, px: int, rate: float, seconds: float, words: int
) -> tuple[list[Shown], list[Item]]:
    """Lines of a log, `rate` of them a second, each at the bottom of what came before. A line a second is an item."""
    shown, items = [], []
    pitch, count, step = px + 5, int(seconds * rate), max(int(rate), 1)
    for n in range(-rows, count):
        text = " ".join(word(rng) for _ in range(words))
        alpha = stamp(text, px, FACES[3], pad=2)
        t0, t1 = n / rate, (n + rows) / rate

        def box(t: float, n: int = n, a: np.ndarray = alpha) -> Box:
            y = top + pitch * (rows - 1 - (int(t * rate + 1e-6) - n))
            return left, y, left + a.shape[1], y + a.shape[0]

        shown.append((t0, t1, alpha, box, LIGHT))
        if n >= 0 and n % step == 0:
            items.append(Item(text, t0, t0 + 1.0, box))
    return shown, items


def terminal(seed: int, count: int = 12) -> Scene:
    """A log of 32 lines that scrolls by two lines a second."""
    rng = np.random.default_rng([seed, 40])
    shown, items = _log(rng, 16, 20, 32, 16, 2, count, 6)
    return _scene(f"terminal-{seed}", count, lambda t: np.full((720, 1280, 3), 18, np.float32), shown, items)


def editor(seed: int, count: int = 12) -> Scene:
    """Code at the left, in which a word is written each second; at the right a log of four lines a second."""
    rng = np.random.default_rng([seed, 41])
    base = np.full((720, 1280, 3), 30, np.float32)
    base[:, 700:] = 12
    base[:28] = 60
    shown, _ = _log(rng, 716, 40, 32, 15, 4, count, 4)
    items: list[Item] = []
    for row in range(28):
        alpha = stamp(" ".join(word(rng) for _ in range(rng.integers(1, 6))), 15, FACES[3], pad=2)[:, :620]
        blend(base, alpha, 60 + 24 * int(rng.integers(3)), 40 + 23 * row, LIGHT)
    x, y = 60.0, 40 + 23 * 12
    base[int(y) : int(y) + 69, 40:690] = 30
    for n in range(count):
        text = word(rng)
        alpha = stamp(text, 15, FACES[3], pad=2)
        if x + alpha.shape[1] > 680:
            x, y = 60.0, y + 23
        shown.append((float(n), 1e9, alpha, _still(x, y, alpha), LIGHT))
        items.append(Item(text, float(n), n + 1.0, _still(x, y, alpha)))
        x += alpha.shape[1] + 6
    return _scene(f"editor-{seed}", count, lambda t: base.copy(), shown, items)


def slides(seed: int, count: int = 12) -> Scene:
    """A slide every two seconds: a title and three lines; the presenter's picture in a corner."""
    rng = np.random.default_rng([seed, 42])
    film, shown, items = _film(rng, 288, 208), [], []
    for n in range(0, count, 2):
        for row, px in enumerate((44, 26, 26, 20)):
            text = " ".join(word(rng) for _ in range(2))
            alpha = stamp(text, px, FACES[row == 0])
            box = _still(90, 80 + 110 * row, alpha)
            shown.append((float(n), n + 2.0, alpha, box, INK))
            items.append(Item(text, float(n), n + 1.0, box))

    def back(t: float) -> np.ndarray:
        out = np.full((720, 1280, 3), 246, np.float32)
        out[:24] = (30, 70, 140)
        out[490:698, 970:1258] = film(t)
        return out

    return _scene(f"slides-{seed}", count, back, shown, items)


def dashboard(seed: int, count: int = 12) -> Scene:
    """Ten numbers, of which another one changes each second, below bars that move."""
    rng = np.random.default_rng([seed, 43])
    base = np.full((720, 1280, 3), 26, np.float32)
    shown, items = [], []
    order = [int(k) for _ in range(count // 10 + 1) for k in rng.permutation(10)][:count]
    for k in range(10):
        x, y = 40 + 245 * (k % 5), 60 + 320 * (k // 5)
        base[y : y + 280, x : x + 225] = 44
        blend(base, stamp(word(rng), 15, FACES[0]), x + 12, y + 8, LIGHT)
        changes = [0.0] + [float(n) for n, other in enumerate(order) if other == k and n > 0] + [1e9]
        for t0, t1 in pairwise(changes):
            text = f"{rng.integers(1000, 100000)}.{rng.integers(10)}"
            alpha = stamp(text, 24, FACES[1])
            shown.append((t0, t1, alpha, _still(x + 12, y + 40, alpha), LIGHT))
            if t0 > 0:
                items.append(Item(text, t0, t0 + 1.0, _still(x + 12, y + 40, alpha)))

    def back(t: float) -> np.ndarray:
        out = base.copy()
        for k in range(10):
            x, y = 40 + 245 * (k % 5), 60 + 320 * (k // 5)
            for n, bar in enumerate((70 + 60 * np.sin(t * 0.7 + k + np.arange(8))).astype(int)):
                out[y + 270 - bar : y + 270, x + 12 + 25 * n : x + 30 + 25 * n] = (70, 130, 210)
        return out

    return _scene(f"dashboard-{seed}", count, back, shown, items)


def desktop(seed: int, count: int = 8) -> Scene:
    """3840 x 2160: windows full of small text; a word of 12 to 16 px is written in one of them each second."""
    rng = np.random.default_rng([seed, 44])
    size = (3840, 2160)
    base = np.repeat(np.repeat(texture(rng, (960, 540), contrast=14), 4, 0), 4, 1)
    free, shown, items = [], [], []
    for k in range(6):
        x, y, dark = 80 + 1250 * (k % 3), 90 + 1030 * (k // 3), bool(rng.integers(2))
        base[y : y + 940, x : x + 1160] = 32 if dark else 246
        base[y : y + 36, x : x + 1160] = 80
        for row in range(36):
            top = y + 50 + 24 * row
            if row % 9 == 8:
                free.append((x + 20 + int(rng.integers(600)), top, LIGHT if dark else INK))
                continue
            line = " ".join(word(rng) for _ in range(rng.integers(3, 14)))
            blend(base, stamp(line, 13, FACES[3 * (k % 2)], pad=2)[:, :1120], x + 20, top, LIGHT if dark else INK)
    for n, at in enumerate(rng.permutation(len(free))[:count]):
        x, top, ink = free[at]
        text = f"{word(rng)} {word(rng)}"
        alpha = stamp(text, 12 + 2 * (n % 3), FACES[3 * (n % 2)], pad=2)
        shown.append((float(n), 1e9, alpha, _still(x, top, alpha), ink))
        items.append(Item(text, float(n), n + 1.0, _still(x, top, alpha)))
    return _scene(f"desktop-{seed}", min(count, len(free)), lambda t: base.copy(), shown, items, size)


def chat(seed: int, count: int = 12) -> Scene:
    """A film at the left; at the right a message comes in each second, and pushes the others up."""
    rng = np.random.default_rng([seed, 45])
    film, shown, items = _film(rng, 880, 600), [], []
    for n in range(-13, count):
        text = f"{word(rng)} {word(rng)}"
        alpha = stamp(text, 18, FACES[0])

        def box(t: float, n: int = n, a: np.ndarray = alpha) -> Box:
            y = 620 - 44 * (int(t + 1e-6) - n)
            return 930, y, 930 + a.shape[1], y + a.shape[0]

        shown.append((float(n), n + 13.0, alpha, box, INK))
        if n >= 0:
            items.append(Item(text, float(n), n + 1.0, box))

    def back(t: float) -> np.ndarray:
        out = np.full((720, 1280, 3), 240, np.float32)
        out[:, :900] = 10
        out[60:660, 10:890] = film(t)
        return out

    return _scene(f"chat-{seed}", count, back, shown, items)


def subtitles(seed: int, count: int = 12) -> Scene:
    """A film over the whole frame, with a line of three words that changes every two seconds."""
    rng = np.random.default_rng([seed, 46])
    bright, shown, items = _film(rng, *SIZE), [], []
    for n in range(0, count, 2):
        line = [word(rng) for _ in range(3)]
        alphas = [stamp(text, 26, FACES[1]) for text in line]
        x = (SIZE[0] - sum(alpha.shape[1] + 8 for alpha in alphas)) / 2
        for text, alpha in zip(line, alphas, strict=True):
            box = _still(x, 640, alpha)
            edge = np.clip(sum(np.roll(alpha, (dy, dx), (0, 1)) for dy in (-2, 0, 2) for dx in (-2, 0, 2)), 0, 1)
            shown += [(float(n), n + 2.0, edge, box, np.zeros(3, np.float32)), (float(n), n + 2.0, alpha, box, LIGHT)]
            items.append(Item(text, float(n), n + 1.0, box))
            x += alpha.shape[1] + 8
    return _scene(f"subtitles-{seed}", count, lambda t: 0.5 * bright(t), shown, items)


def phone(seed: int, count: int = 12) -> Scene:
    """720 x 1280: posts with a picture and two lines, which move up by one post every two seconds, in 0.4 s."""
    rng = np.random.default_rng([seed, 47])
    size, high = (720, 1280), 300
    posts, shown, items = [texture(rng, (640, 170), contrast=45) for _ in range(count // 2 + 5)], [], []

    def shift(t: float) -> float:
        return high * (int(t / 2 + 1e-6) + min((t % 2) / 0.4, 1.0))

    for n in range(len(posts)):
        for row in range(2):
            text = f"{word(rng)} {word(rng)}"
            alpha = stamp(text, 26 - 6 * row, FACES[1 - row])

            def box(t: float, n: int = n, a: np.ndarray = alpha, row: int = row) -> Box:
                y = 70 + high * n + 190 + 42 * row - shift(t)
                return 50, y, 50 + a.shape[1], y + a.shape[0]

            shown.append((0.0, 1e9, alpha, box, INK))
            if 5 <= n < 4 + count // 2:
                items.append(Item(text, 2.0 * (n - 4) + 0.4, 2.0 * (n - 4) + 1.4, box))

    def back(t: float) -> np.ndarray:
        out = np.full((size[1], size[0], 3), 250, np.float32)
        for n, post in enumerate(posts):
            y = round(70 + high * n - shift(t))
            top, bottom = max(y, 0), min(y + 170, size[1])
            if top < bottom:
                out[top:bottom, 40:680] = post[top - y : bottom - y]
        return out

    return _scene(f"phone-{seed}", count, back, shown, items, size)


DESK = {
    "terminal": terminal, "editor": editor, "slides": slides, "dashboard": dashboard, "desktop": desktop,
    "chat": chat, "subtitles": subtitles, "phone": phone,
}  # fmt: skip
