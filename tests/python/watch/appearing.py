"""Lines of text that appear on a screen, and whether a picture has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from model_server import Picture

WIDTH, HEIGHT = 640, 400


def ground() -> Picture:
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.repeat(((x // 3 + y // 5) % 200)[..., None], 3, axis=2).astype(np.uint8)


def glyphs(seed: int) -> Picture:
    """Strokes of a line of text of 12 px; no two are alike."""
    ink = np.random.default_rng(seed).random((12, 90)) < 0.4
    return np.where(ink, 20, 245).astype(np.uint8)[..., None].repeat(3, axis=2)


def onsets(count: int, every: int = 4) -> Iterator[tuple[Picture, float]]:
    """Four frames a second; a line appears each `every` frames, below the one before, and stays."""
    frame = ground()
    for number in range((count + 1) * every):
        if number and number % every == 0:
            line = number // every - 1
            y, x = 15 * (line % 26) + 3, 100 * (line // 26 % 6) + 7
            frame = frame.copy()
            frame[y : y + 12, x : x + 90] = glyphs(line)
        yield frame, number / 4


def holds(pictures: list[Picture], part: Picture) -> bool:
    """Whether one of the pictures has this part, pixel for pixel."""
    height, width = part.shape[:2]
    for picture in pictures:
        if picture.shape[0] < height or picture.shape[1] < width:
            continue
        firsts = np.argwhere(
            (picture[: picture.shape[0] - height + 1, : picture.shape[1] - width + 1] == part[0, 0]).all(-1)
        )
        if any(np.array_equal(picture[y : y + height, x : x + width], part) for y, x in firsts):
            return True
    return False
