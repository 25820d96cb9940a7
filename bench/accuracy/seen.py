"""A picture of what each sampler saw of one word: what a second's patches show, and the word close by."""

from __future__ import annotations

import pathlib

import numpy as np
import reading
from clips import clip
from PIL import Image, ImageDraw, ImageFont
from samplers import SAMPLERS
from scenes import FONTS, READING

SHOWN = (("full", 0), ("nested", 273), ("nested", 140), ("uniform", 1092), ("uniform", 273), ("uniform", 140))
WIDTH, CLOSE = 400, (200, 80)  # pixels: of a picture, of what is shown close by


def draw(out: pathlib.Path, seed: int = 11, word: int = 6) -> None:
    """Six pictures with the tokens of a fixation, three in a row."""
    scene = READING["popup"](seed)
    item = scene.items[word]
    font = ImageFont.truetype(FONTS + "DejaVuSans.ttf", 15)
    height, close_height = WIDTH * scene.size[1] // scene.size[0], WIDTH * CLOSE[1] // CLOSE[0]
    sheet = Image.new("RGB", (3 * (WIDTH + 10) - 10, 2 * (height + close_height + 38) - 10), "white")
    for n, (sampler, budget) in enumerate(SHOWN):
        looks = list(SAMPLERS[sampler](scene, clip(scene), budget))
        look, picture = next(reading.pictures(scene, looks, item))
        left, top, right, bottom = item.box(look.seconds)
        x = int(np.clip((left + right - CLOSE[0]) / 2, 0, scene.size[0] - CLOSE[0]))
        y = int(np.clip((top + bottom - CLOSE[1]) / 2, 0, scene.size[1] - CLOSE[1]))
        at = (n % 3 * (WIDTH + 10), n // 3 * (height + close_height + 38))
        tokens = np.mean([look.tokens for look in looks])
        name = f"{sampler} {budget}" if budget else "every pixel"
        ImageDraw.Draw(sheet).text((at[0] + 4, at[1] + 4), f"{name}: {tokens:.0f} tokens a fixation", fill=0, font=font)
        sheet.paste(Image.fromarray(picture).resize((WIDTH, height), Image.LANCZOS), (at[0], at[1] + 26))
        part = Image.fromarray(picture[y : y + CLOSE[1], x : x + CLOSE[0]])
        sheet.paste(part.resize((WIDTH, close_height), Image.NEAREST), (at[0], at[1] + 28 + height))
    path = out / "seen.jpg"
    sheet.save(path, quality=85)
    print(path)
