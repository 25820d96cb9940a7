"""Finding: QR codes of several sizes, by zbar, on a background that moves."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from clips import clip
from PIL import Image
from samplers import sampler_of, tokens_of
from scenes import SIZE, Item, Scene, blend, texture, word

import pysaccade as sc


def draw_code(text: str, side: int) -> np.ndarray:
    """A QR code with its quiet zone, [side, side, 4] f32."""
    modules = cv2.QRCodeEncoder.create().encode(text)
    modules = modules if modules.ndim == 2 else modules[..., 0]
    code = np.asarray(Image.fromarray(modules).resize((side, side), Image.NEAREST), np.float32)
    return np.dstack([code, code, code, np.full_like(code, 255)])


def codes(seed: int, count: int) -> Scene:
    """`count` codes, one a second, at a place each, before a texture that slides by two pixels a frame."""
    rng = np.random.default_rng([seed, 11, 1])
    width, height = SIZE
    wide = texture(rng, (2 * width, height))
    items, stamps = [], []
    for n in range(count):
        text = word(rng)
        side = int(rng.choice((66, 88, 116, 145)))
        x, y = int(rng.integers(0, width - side)), int(rng.integers(0, height - side))
        stamps.append((draw_code(text, side), x, y))
        box = (x, y, x + side, y + side)
        items.append(Item(text, float(n), n + 1.0, lambda t, b=box: b))

    def frame(t: float) -> np.ndarray:
        shift = round(30 * t) % width
        out = wide[:, shift : shift + width].copy()
        image, x, y = stamps[min(int(t + 1e-6), count - 1)]
        blend(out, image[..., 3] / 255, x, y, image[..., :3])
        return np.clip(out + 0.5, 0, 255).astype(np.uint8)

    return Scene(f"codes-{seed}-{count}", float(count), frame, items, moves=True)


def found(picture: np.ndarray, item: Item, t: float) -> bool:
    """Whether zbar reads the code in its surround, twice its size to each side."""
    from pyzbar.pyzbar import ZBarSymbol, decode

    left, top, right, bottom = item.box(t)
    reach = 2 * (right - left)
    x0, y0 = max(int(left - reach), 0), max(int(top - reach), 0)
    part = Image.fromarray(picture[y0 : int(bottom + reach), x0 : int(right + reach)])
    return any(code.data.decode() == item.text for code in decode(part, symbols=[ZBarSymbol.QRCODE]))


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: which codes are found in any one look, and how long after they appear."""
    scene = codes(row["seed"], count)
    looks = list(sampler_of(row["sampler"])(scene, clip(scene, sources=("scenes.py", "finding.py")), row["budget"]))
    scores, until = [0.0] * len(scene.items), []
    for n, item in enumerate(scene.items):
        for look in looks:
            if not item.t0 <= look.seconds + 1e-6 < item.t1:
                continue
            if found(sc.paint(look.patches, look.geometry, look.size), item, look.seconds):
                scores[n] = 1.0
                until.append(look.seconds - item.t0)
                break
    return tokens_of(looks, scene.seconds) | {"found": float(np.mean(scores)), "scores": scores, "until": until}
