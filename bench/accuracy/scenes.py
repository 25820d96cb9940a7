"""Scenes made by script, with the truth of what is where and when: a seed gives the same frames."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"
FACES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSerif.ttf", "DejaVuSansMono.ttf")
SIZE = (1280, 720)
FPS = 15

WORDS = """about after again almost along always animal answer around basket because before begin behind between bottle
branch bridge bright brother butter button camera candle carbon castle center change circle clock cloud coffee color
copper corner cotton country course damage danger dinner doctor dollar double dragon driver early engine enough evening
family farmer father figure finger flower forest friend garden gentle glass golden ground guitar hammer handle harbor
heavy history horse hundred island jacket journey kitchen ladder lantern leather letter library little machine marble
market master meadow member middle mirror moment mother mountain museum needle number object office orange paper pencil
pepper picture planet pocket powder prince public purple rabbit record ribbon river rocket saddle sample school screen
second shadow silver simple singer sister smoke spider spring square station stone summer sunset table temple thread
ticket timber tomato travel tunnel valley velvet village violin water weather window winter yellow""".split()  # noqa: SIM905

Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels


@dataclass
class Item:
    """Something to be read or found, from t0 to t1 seconds; where it is at a time, in pixels."""

    text: str
    t0: float
    t1: float
    box: Callable[[float], Box]
    corners: np.ndarray | None = None  # [4, 2] on the picture, clockwise from the top left, where it is at an angle


@dataclass
class Scene:
    name: str
    seconds: float
    frame: Callable[[float], np.ndarray]  # [H, W, 3] u8 at a time
    items: list[Item] = field(default_factory=list)
    moves: bool = False  # or fade: what was seen earlier is not what is there now
    size: tuple[int, int] = SIZE  # width, height
    fps: int = FPS
    margin: int = 10  # pixels around a box that are read, too


def texture(rng: np.random.Generator, size: tuple[int, int] = SIZE, contrast: float = 26) -> np.ndarray:
    """Noise of many scales in a colour of its own, [H, W, 3] f32 around a middle grey."""
    width, height = size
    out = np.zeros((height, width), np.float32)
    for cell, weight in ((3, 0.35), (8, 0.5), (24, 0.8), (90, 1.0)):
        coarse = rng.standard_normal((height // cell + 2, width // cell + 2)).astype(np.float32)
        image = Image.fromarray(coarse).resize((width, height), Image.BICUBIC)
        out += weight * np.asarray(image)
    out *= contrast / out.std()
    tint = 1 + 0.25 * rng.standard_normal(3).astype(np.float32)
    return np.clip(128 + out[..., None] * tint + 15 * rng.standard_normal(3), 0, 255).astype(np.float32)


def word(rng: np.random.Generator) -> str:
    """A word, or in one of five cases a number."""
    return str(rng.integers(1000, 1000000)) if rng.random() < 0.2 else str(rng.choice(WORDS))


def stamp(text: str, px: int, face: str, pad: int = 4) -> np.ndarray:
    """The letters' coverage in 0 to 1, [h, w] f32, with a margin of `pad` pixels."""
    font = ImageFont.truetype(FONTS + face, px)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("L", (right - left + 2 * pad, bottom - top + 2 * pad))
    ImageDraw.Draw(image).text((pad - left, pad - top), text, fill=255, font=font)
    return np.asarray(image, np.float32) / 255


def blend(frame: np.ndarray, alpha: np.ndarray, x: float, y: float, ink: np.ndarray) -> None:
    """Put ink on a frame [H, W, 3] f32 with its left top at whole pixels; what lies outside is cut off."""
    height, width = frame.shape[:2]
    x0, y0 = round(x), round(y)
    left, top = max(x0, 0), max(y0, 0)
    right, bottom = min(x0 + alpha.shape[1], width), min(y0 + alpha.shape[0], height)
    if left >= right or top >= bottom:
        return
    part = alpha[top - y0 : bottom - y0, left - x0 : right - x0, None]
    frame[top:bottom, left:right] += part * (ink - frame[top:bottom, left:right])


def _u8(frame: np.ndarray) -> np.ndarray:
    return np.clip(frame + 0.5, 0, 255).astype(np.uint8)


def popup(
    seed: int, count: int = 30, px: int = 20, fade_s: float = 0.0, speed_px: float = 0.0, name: str = "popup"
) -> Scene:
    """`count` words, one a second, somewhere on a texture; they may fade in and out, or drift."""
    rng = np.random.default_rng([seed, px, int(speed_px), int(100 * fade_s)])
    base = texture(rng)
    width, height = SIZE
    items, stamps, inks, drifts = [], [], [], []
    for n in range(count):
        text = word(rng)
        alpha = stamp(text, px, FACES[rng.integers(len(FACES))])
        reach = int(speed_px)
        x = rng.integers(8 + reach, width - alpha.shape[1] - 8 - reach)
        y = rng.integers(8 + reach, height - alpha.shape[0] - 8 - reach)
        angle = rng.uniform(0, 2 * np.pi)
        drift = speed_px * np.array([np.cos(angle), np.sin(angle)])
        patch = base[y : y + alpha.shape[0], x : x + alpha.shape[1]].mean()
        inks.append(np.full(3, 250.0 if patch < 128 else 5.0, np.float32))
        stamps.append(alpha)
        drifts.append((x, y, drift))

        def box(t: float, x: int = x, y: int = y, d: np.ndarray = drift, n: int = n, a: np.ndarray = alpha) -> Box:
            px, py = x + d[0] * (t - n), y + d[1] * (t - n)
            return px, py, px + a.shape[1], py + a.shape[0]

        items.append(Item(text, float(n), n + 1.0, box))

    def frame(t: float) -> np.ndarray:
        n = min(int(t + 1e-6), count - 1)
        x, y, drift = drifts[n]
        since = t - n
        strength = 1.0 if fade_s == 0 else float(np.clip(min(since, 1 - since) / fade_s, 0, 1))
        out = base.copy()
        blend(out, stamps[n] * strength, x + drift[0] * since, y + drift[1] * since, inks[n])
        return _u8(out)

    return Scene(f"{name}-{seed}", float(count), frame, items, moves=speed_px > 0 or fade_s > 0)


def fade(seed: int, count: int = 30) -> Scene:
    return popup(seed, count, fade_s=0.4, name="fade")


def move(seed: int, count: int = 30) -> Scene:
    return popup(seed, count, speed_px=60, name="move")


def scroll(seed: int, count: int = 30) -> Scene:
    """A page of lines that scrolls up by a line a second: each second a new line comes in at the bottom."""
    rng = np.random.default_rng([seed, 3])
    base = np.full((SIZE[1], SIZE[0], 3), 236, np.float32)
    desk = texture(rng, contrast=14)
    base[:, :240], base[:, 1040:] = desk[:, :240], desk[:, 1040:]
    pitch, left, bottom = 34, 280, 640
    lines, items = [], []
    for n in range(count + 18):
        words = [word(rng) for _ in range(1 + n % 3)]
        lines.append(stamp(" ".join(words), 20, FACES[0]))
        if n >= 18:
            a = lines[-1]

            def box(t: float, n: int = n, a: np.ndarray = a) -> Box:
                y = bottom - pitch * (t - (n - 18))
                return left, y, left + a.shape[1], y + a.shape[0]

            items.append(Item(" ".join(words), float(n - 18), float(n - 17), box))
    ink = np.full(3, 25.0, np.float32)

    def frame(t: float) -> np.ndarray:
        out = base.copy()
        window = out[40:668]
        for n, alpha in enumerate(lines):
            y = bottom - pitch * (t - (n - 18))
            if -40 < y < 700:
                blend(window, alpha, left, y - 40, ink)
        return _u8(out)

    return Scene(f"scroll-{seed}", float(count), frame, items, moves=True)


def screen(seed: int, count: int = 30) -> Scene:
    """A desktop: an editor in which a word is written each second, a bar of tabs, a window with a moving bar."""
    rng = np.random.default_rng([seed, 4])
    base = texture(rng, contrast=16)
    base[60:620, 120:860] = 30
    base[60:88, 120:860] = 58
    base[120:420, 920:1240] = 245
    cursor_x, cursor_y, items, stamps = 140.0, 100.0, [], []
    for n in range(count):
        text = word(rng)
        alpha = stamp(text, 16 + 2 * (seed % 3), FACES[3])
        if cursor_x + alpha.shape[1] > 840:
            cursor_x, cursor_y = 140.0, cursor_y + 30
        x, y = cursor_x, cursor_y
        stamps.append((alpha, x, y))
        items.append(Item(text, float(n), n + 1.0, lambda t, b=(x, y, x + alpha.shape[1], y + alpha.shape[0]): b))
        cursor_x += alpha.shape[1] + 6

    def frame(t: float) -> np.ndarray:
        out = base.copy()
        for n in range(min(int(t + 1e-6) + 1, count)):
            alpha, x, y = stamps[n]
            blend(out, alpha, x, y, np.array([220, 225, 230], np.float32))
        bars = (40 + 60 * (1 + np.sin(t + np.arange(8)))).astype(int)
        for n, bar in enumerate(bars):
            out[400 - bar : 400, 940 + 36 * n : 964 + 36 * n] = (70, 120, 200)
        return _u8(out)

    return Scene(f"screen-{seed}", float(count), frame, items)


def angle(seed: int, count: int = 30) -> Scene:
    """A sheet of paper lies at an angle on a table; each second another word is printed on it."""
    rng = np.random.default_rng([seed, 5])
    table = texture(rng)
    width, height = 900, 620
    corners = np.array([[210, 60], [1030, 110], [1180, 650], [80, 600]]) + rng.uniform(-30, 30, (4, 2))
    to_page = _perspective(corners, np.array([[0, 0], [width, 0], [width, height], [0, height]]))
    to_frame = np.linalg.inv(to_page)
    mask = _warp(np.ones((height, width), np.float32), to_page)
    items, places = [], []
    for n in range(count):
        text = word(rng)
        alpha = stamp(text, 26, FACES[2])
        x, y = 40 + 280 * (n % 3), 30 + 56 * (n // 3 % 10)
        places.append((alpha, x, y))
        quad = np.array(
            [[x, y], [x + alpha.shape[1], y], [x + alpha.shape[1], y + alpha.shape[0]], [x, y + alpha.shape[0]]]
        )
        on_frame = _project(to_frame, quad)
        box = (*on_frame.min(0), *on_frame.max(0))
        items.append(Item(text, float(n), n + 1.0, lambda t, b=box: b, corners=on_frame))
    drawn: dict[int, np.ndarray] = {}

    def frame(t: float) -> np.ndarray:
        last = min(int(t + 1e-6), count - 1)
        if last not in drawn:
            page = np.full((height, width), 240, np.float32)
            for alpha, x, y in places[: last + 1]:
                page[y : y + alpha.shape[0], x : x + alpha.shape[1]] -= 215 * alpha
            drawn.clear()
            drawn[last] = table + mask[..., None] * (_warp(page, to_page)[..., None] - table)
        return _u8(drawn[last])

    return Scene(f"angle-{seed}", float(count), frame, items)


def _perspective(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The 3 x 3 matrix that takes four points to four points."""
    rows = []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y, u], [0, 0, 0, x, y, 1, -v * x, -v * y, v]]
    a = np.array(rows)
    return np.append(np.linalg.solve(a[:, :8], a[:, 8]), 1).reshape(3, 3)


def _project(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    h = np.c_[points, np.ones(len(points))] @ matrix.T
    return h[:, :2] / h[:, 2:]


def _warp(image: np.ndarray, to_image: np.ndarray) -> np.ndarray:
    data = tuple((to_image / to_image[2, 2]).ravel()[:8])
    return np.asarray(Image.fromarray(image).transform(SIZE, Image.PERSPECTIVE, data, Image.BICUBIC))


READING = {"popup": popup, "fade": fade, "move": move, "scroll": scroll, "screen": screen, "angle": angle}
