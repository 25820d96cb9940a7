"""Finding: faces by OpenCV's cascade and QR codes by zbar, of several sizes, on a background that moves."""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import cv2
import numpy as np
from clips import clip
from PIL import Image, ImageDraw, ImageFilter
from samplers import sampler_of, tokens_of
from scenes import SIZE, Box, Item, Scene, blend, texture, word

import pysaccade as sc

CASCADE = "haarcascade_frontalface_default.xml"
PLACES = ("/usr/share/opencv4/haarcascades", getattr(getattr(cv2, "data", None), "haarcascades", ""))


def draw_face(rng: np.random.Generator, side: int) -> np.ndarray:
    """A shaded face [side, side, 4] f32, RGB and coverage: enough for a detector that knows real ones."""
    s = 256
    skin = np.array([215, 175, 150]) * rng.uniform(0.7, 1.05)
    image = Image.new("RGBA", (s, s), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)

    def shade(k: float) -> tuple[int, ...]:
        return (*(int(min(c * k, 255)) for c in skin), 255)

    hair = (*(int(v) for v in rng.integers(20, 80, 3)), 255)
    draw.ellipse((26, 0, 230, 250), fill=hair)
    draw.ellipse((36, 14, 220, 254), fill=shade(0.92))
    draw.rectangle((60, 40, 196, 84), fill=shade(1.06))  # forehead
    for x in (88, 168):
        draw.ellipse((x - 34, 88, x + 34, 132), fill=shade(0.62))  # socket
        draw.rectangle((x - 30, 82, x + 30, 92), fill=hair)  # brow
        draw.ellipse((x - 18, 100, x + 18, 122), fill=(235, 235, 235, 255))
        draw.ellipse((x - 9, 101, x + 9, 121), fill=(35, 25, 20, 255))
        draw.ellipse((x - 28, 132, x + 28, 176), fill=shade(1.1))  # cheek
    draw.polygon([(128, 96), (114, 166), (142, 166)], fill=shade(1.14))
    draw.ellipse((108, 158, 148, 176), fill=shade(0.8))
    draw.ellipse((92, 192, 164, 216), fill=(150, 70, 70, 255))
    draw.line((92, 204, 164, 204), fill=(80, 30, 30, 255), width=4)
    soft = image.filter(ImageFilter.GaussianBlur(5)).resize((side, side), Image.LANCZOS)
    return np.asarray(soft, np.float32)


def draw_code(text: str, side: int) -> np.ndarray:
    """A QR code with its quiet zone, [side, side, 4] f32."""
    modules = cv2.QRCodeEncoder.create().encode(text)
    modules = modules if modules.ndim == 2 else modules[..., 0]
    code = np.asarray(Image.fromarray(modules).resize((side, side), Image.NEAREST), np.float32)
    return np.dstack([code, code, code, np.full_like(code, 255)])


def scene_of(kind: str, seed: int, count: int) -> Scene:
    """`count` faces or codes, one a second, at a place each, before a texture that slides by two pixels a frame."""
    rng = np.random.default_rng([seed, 11, kind == "codes"])
    width, height = SIZE
    wide = texture(rng, (2 * width, height))
    items, stamps = [], []
    for n in range(count):
        text = word(rng)
        side = int(rng.choice((48, 64, 96, 144) if kind == "faces" else (66, 88, 116, 145)))
        x, y = int(rng.integers(0, width - side)), int(rng.integers(0, height - side))
        stamps.append((draw_face(rng, side) if kind == "faces" else draw_code(text, side), x, y))
        box = (x, y, x + side, y + side)
        items.append(Item(text, float(n), n + 1.0, lambda t, b=box: b))

    def frame(t: float) -> np.ndarray:
        shift = round(30 * t) % width
        out = wide[:, shift : shift + width].copy()
        image, x, y = stamps[min(int(t + 1e-6), count - 1)]
        blend(out, image[..., 3] / 255, x, y, image[..., :3])
        return np.clip(out + 0.5, 0, 255).astype(np.uint8)

    return Scene(f"{kind}-{seed}-{count}", float(count), frame, items, moves=True)


@functools.cache
def _cascade() -> Any:
    path = next(p for p in (pathlib.Path(place, CASCADE) for place in PLACES) if p.exists())
    return cv2.CascadeClassifier(str(path))


def overlap(a: Box, b: Box) -> float:
    """Intersection over union."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    shared = max(width, 0) * max(height, 0)
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def found(kind: str, picture: np.ndarray, item: Item, t: float) -> bool:
    """Whether the detector finds the thing in its surround, twice its size to each side."""
    left, top, right, bottom = item.box(t)
    reach = 2 * (right - left)
    x0, y0 = max(int(left - reach), 0), max(int(top - reach), 0)
    part = np.ascontiguousarray(picture[y0 : int(bottom + reach), x0 : int(right + reach)])
    if kind == "codes":
        from pyzbar.pyzbar import ZBarSymbol, decode

        return any(
            code.data.decode() == item.text for code in decode(Image.fromarray(part), symbols=[ZBarSymbol.QRCODE])
        )
    gray = cv2.cvtColor(part, cv2.COLOR_RGB2GRAY)
    boxes = _cascade().detectMultiScale(gray, scaleFactor=1.1, minNeighbors=3, minSize=(30, 30))
    truth = (left - x0, top - y0, right - x0, bottom - y0)
    return any(overlap((x, y, x + w, y + h), truth) > 0.3 for x, y, w, h in boxes)


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: which things are found in any one look, and how long after they appear."""
    scene = scene_of(row["kind"], row["seed"], count)
    looks = list(sampler_of(row["sampler"])(scene, clip(scene, sources=("scenes.py", "finding.py")), row["budget"]))
    scores, until = [0] * len(scene.items), []
    for n, item in enumerate(scene.items):
        for look in looks:
            if not item.t0 <= look.seconds + 1e-6 < item.t1:
                continue
            if found(row["kind"], sc.paint(look.patches, look.geometry, look.size), item, look.seconds):
                scores[n] = 1
                until.append(look.seconds - item.t0)
                break
    return tokens_of(looks, scene.seconds) | {
        "recall": float(np.mean(scores)), "seconds": float(np.mean(until)) if until else float("nan"), "scores": scores,
    }  # fmt: skip
