#!/usr/bin/env python3
"""Small text that appears on a screen of 3840x2160: what is read of it from views, and from others at as many tokens.

    python3 bench/views_reading.py --looks 12 --reader rapidocr      # or easyocr, tesseract

A desktop with windows of text. At each look, a second apart, three lines of 10 to 14 px appear anywhere (--scene
lines), beside a film of 640x360 that plays (film); or all text of two windows is replaced, of which each sixth line
counts (windows). Where a line is, is known: the recogniser reads that part of

- all pixels: the frame;
- views: `emission.views()`, the finest that holds the line;
- downscaled: the frame, as a server makes it fit as many tokens (Pillow's bicubic, which averages);
- boxes: the simplest rule: rectangles around connected tiles that changed, at full size, from the smallest, as many as
  the tokens allow.

What is smaller than the frame is enlarged to its size for the recogniser. The share of characters that are right, each
by its line's length; of the lines that are read from all pixels the others have this share.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import time
from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import pysaccade as sc

sys.path.insert(0, str(pathlib.Path(__file__).parent / "accuracy"))
import ocr

WIDTH, HEIGHT = 3840, 2160
FACES = ("DejaVuSans.ttf", "DejaVuSansMono.ttf", "LiberationSans-Regular.ttf")
WINDOWS = ((100, 120), (1400, 200), (2600, 150), (300, 1200), (2100, 1250))
Box = tuple[int, int, int, int]


def words(rng: np.random.Generator, count: int) -> str:
    """Some words with letters and digits, as screens have them."""
    return " ".join(
        "".join(rng.choice(list("abcdefghijkmnoprstuvwxyz0123456789"), rng.integers(3, 9))) for _ in range(count)
    )


def draw_line(image: Image.Image, rng: np.random.Generator, x: int, y: int, count: int) -> tuple[str, Box]:
    """Draw a line of text; the text and its box."""
    font = ImageFont.truetype(str(rng.choice(FACES)), int(rng.integers(10, 15)))
    text = words(rng, count)
    left, top, right, bottom = ImageDraw.Draw(image).textbbox((x, y), text, font=font)
    ImageDraw.Draw(image).rectangle((left - 3, top - 3, right + 3, bottom + 3), fill=(250, 250, 250))
    ImageDraw.Draw(image).text((x, y), text, font=font, fill=(30, 30, 30))
    return text, (int(left) - 3, int(top) - 3, int(right) + 3, int(bottom) + 3)


def desktop(rng: np.random.Generator) -> Image.Image:
    """Windows with text over a picture."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    back = np.stack(
        [90 + 60 * np.sin(x / 700 + k) * np.cos(y / 500 - k) + 30 * np.sin(x / 23 + y / 31) for k in range(3)], -1
    )
    image = Image.fromarray(np.clip(back, 0, 255).astype(np.uint8))
    for left, top in WINDOWS:
        window(image, rng, left, top)
    return image


def window(image: Image.Image, rng: np.random.Generator, left: int, top: int) -> list[tuple[str, Box]]:
    """Draw a window of 36 lines of text; the lines."""
    ImageDraw.Draw(image).rectangle((left, top, left + 1000, top + 800), fill=(250, 250, 250), outline=(60, 60, 60))
    return [draw_line(image, rng, left + 12, top + 16 + 21 * row, 14) for row in range(36)]


def frames(rng: np.random.Generator, looks: int, scene: str) -> Iterator[tuple[np.ndarray, list[tuple[str, Box]]]]:
    """Each look's frame, and the lines that have just appeared in it."""
    image, texture = desktop(rng), rng.normal(128, 50, (90, 200)).clip(0, 255).astype(np.uint8)
    moving = np.asarray(Image.fromarray(texture).resize((1600, 720), Image.Resampling.BICUBIC))
    yield np.asarray(image).copy(), []
    for look in range(looks):
        lines = []
        while scene != "windows" and len(lines) < 3:
            x, y = int(rng.integers(20, WIDTH - 700)), int(rng.integers(20, HEIGHT - 40))
            if scene == "lines" or x + 700 < 1500 or x > 2250 or y < 1180 or y > 1620:
                lines.append(draw_line(image, rng, x, y, int(rng.integers(3, 8))))
        if scene == "windows":
            for n in rng.choice(len(WINDOWS), 2, replace=False):
                lines += window(image, rng, *WINDOWS[n])[::6]
        frame = np.asarray(image).copy()
        if scene == "film":
            frame[1220:1580, 1560:2200] = moving[look * 7 : look * 7 + 360, look * 31 : look * 31 + 640, None]
        yield frame, lines


def enlarged(image: np.ndarray, scale: float) -> np.ndarray:
    height, width = (max(round(side / scale), 1) for side in image.shape[:2])
    return np.asarray(Image.fromarray(image).resize((width, height), Image.Resampling.BICUBIC))


def holds(outer: Box, line: Box) -> bool:
    """Whether it holds a line's letters: there are three pixels of ground around them."""
    left, top, right, bottom = line
    return outer[0] <= left + 3 and outer[1] <= top + 3 and outer[2] >= right - 3 and outer[3] >= bottom - 3


def from_views(views: sc.Views, box: Box) -> np.ndarray | None:
    """The line as the finest view that holds it has it."""
    held = [view for view in views if holds(view.box, box)]
    if not held:
        return None
    view = max(held, key=lambda each: each.scale)
    left, top = (max(int((box[i] - view.box[i]) * view.scale), 0) for i in (0, 1))
    right, bottom = (int(np.ceil((box[i + 2] - view.box[i]) * view.scale)) for i in (0, 1))
    return enlarged(view.image[top:bottom, left:right], view.scale)


def from_downscaled(frame: np.ndarray, box: Box, size: tuple[int, int]) -> np.ndarray:
    """The line as a picture of this size has it."""
    small = Image.fromarray(frame).resize(size, Image.Resampling.BICUBIC)
    scale = size[0] / WIDTH
    part = small.crop(
        (int(box[0] * scale), int(box[1] * scale), int(np.ceil(box[2] * scale)), int(np.ceil(box[3] * scale)))
    )
    return enlarged(np.asarray(part), scale)


def changed_boxes(before: np.ndarray, now: np.ndarray) -> list[Box]:
    """Rectangles around connected tiles that changed."""
    rows, cols = HEIGHT // 16, WIDTH // 16
    changed = (before != now).any(axis=2)[: rows * 16].reshape(rows, 16, cols, 16).any(axis=(1, 3))
    boxes, seen = [], np.zeros_like(changed)
    for start in zip(*np.nonzero(changed), strict=True):
        if seen[start]:
            continue
        stack, found = [start], []
        seen[start] = True
        while stack:
            y, x = stack.pop()
            found.append((y, x))
            for ny in range(max(y - 1, 0), min(y + 2, rows)):
                for nx in range(max(x - 1, 0), min(x + 2, cols)):
                    if changed[ny, nx] and not seen[ny, nx]:
                        seen[ny, nx] = True
                        stack.append((ny, nx))
        ys, xs = [y for y, _ in found], [x for _, x in found]
        boxes.append((min(xs) * 16, min(ys) * 16, max(xs) * 16 + 16, max(ys) * 16 + 16))
    return boxes


def affordable(boxes: list[Box], rule: sc.TokenRule, budget: int) -> tuple[list[Box], int]:
    """From the smallest, as many as the tokens allow, each in a size of whole units; and their tokens."""
    taken, left = [], budget
    for box in sorted(boxes, key=lambda each: (each[2] - each[0]) * (each[3] - each[1])):
        sides = (max(-(-(box[i + 2] - box[i]) // rule.step_px) * rule.step_px, 2 * rule.step_px) for i in (0, 1))
        tokens = rule.tokens(*sides)
        if tokens <= left:
            taken.append(box)
            left -= tokens
    return taken, budget - left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--looks", type=int, default=12)
    parser.add_argument("--tokens", type=int, default=1200)
    parser.add_argument("--model", default="qwen2.5-vl")
    parser.add_argument("--reader", default="rapidocr", choices=("rapidocr", "easyocr", "tesseract"))
    parser.add_argument("--scene", default="lines", choices=("lines", "film", "windows"))
    parser.add_argument("--new-only", action="store_true", help="spend nothing on detail that was never sent")
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args()
    rule = sc.TokenRule.of(options.model)
    small = rule.fit(WIDTH, HEIGHT, options.tokens)
    shown = frames(np.random.default_rng(options.seed), options.looks, options.scene)
    said: list[list[tuple[str, Box]]] = []
    pictures: list[np.ndarray] = []

    def source() -> Iterator[tuple[np.ndarray, float]]:
        for second, (frame, lines) in enumerate(shown):
            said.append(lines)
            pictures[:] = [*pictures[-1:], frame]
            yield frame, float(second)

    kinds = ("all pixels", "views", "downscaled", "boxes")
    crops: dict[str, list[np.ndarray]] = {kind: [] for kind in kinds}
    truths, tokens, box_tokens, seconds, images = [], [], [], [], []
    empty = np.full((16, 16, 3), 250, np.uint8)
    for emission in sc.Stream(source(), every=1, array="numpy", device="cpu", fixation="center"):
        began = time.perf_counter()
        views = emission.views(options.tokens, rule, new_only=options.new_only)
        seconds.append(time.perf_counter() - began)
        tokens.append(views.tokens)
        images.append(len(views))
        frame, lines = pictures[-1], said[-1]
        boxes, cost = affordable(changed_boxes(pictures[0], frame), rule, options.tokens) if lines else ([], 0)
        box_tokens.append(cost)
        for text, box in lines:
            truths.append(text)
            part = frame[box[1] : box[3], box[0] : box[2]]
            is_boxed = any(holds(each, box) for each in boxes)
            seen = from_views(views, box)
            crops["all pixels"].append(part)
            crops["views"].append(empty if seen is None else seen)
            crops["downscaled"].append(from_downscaled(frame, box, small))
            crops["boxes"].append(part if is_boxed else empty)
    print(
        f"{len(truths)} lines, {ocr.version(options.reader)}, {options.model}, at most {options.tokens} tokens a look\n"
    )
    print("| from | characters right | of all pixels |\n|---|---|---|")
    best = 0.0
    for kind in kinds:
        found = ocr.read(crops[kind], options.reader)
        right = float(np.mean([ocr.characters_right(a, b) for a, b in zip(found, truths, strict=True)]))
        best = best or right
        print(f"| {kind} | {right:.3f} | {right / best:.3f} |")
    later, pace = np.asarray(tokens[1:]), 1000 * np.asarray(seconds)
    print(
        f"\nViews: {tokens[0]} tokens at the first look, then {later.mean():.0f} on average, {later.max()} at most, in"
    )
    print(f"{np.mean(images[1:]):.1f} images; {np.median(pace[1:]):.0f} ms a look, {pace[0]:.0f} the first.")
    print(
        f"Downscaled: {small[0]}x{small[1]}, {rule.tokens(*small)} tokens. Boxes: {np.mean(box_tokens[1:]):.0f} tokens."
    )


if __name__ == "__main__":
    main()
