"""What B tokens of 16 x 16 samples show of a still screen, by samplers that do not know the question."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from PIL import Image

import pysaccade as sc

S = 16  # samples along a patch's side
BLOCK = (4, 2)  # patches of a native crop, W x H


class View(NamedTuple):
    """What was seen: a picture of which one pixel is `scale` pixels of the screen, and the tokens it cost."""

    picture: np.ndarray
    scale: float
    tokens: int


def tokens_of(width: float, height: float, scale: float = 1) -> int:
    """Of a crop of the screen, of which a sample is `scale` pixels wide."""
    return int(-(-width // (S * scale)) * -(-height // (S * scale)))


def full(screen: np.ndarray, budget: int) -> View:
    return View(screen, 1, tokens_of(screen.shape[1], screen.shape[0]))


def uniform(screen: np.ndarray, budget: int) -> View:
    """The whole screen, as large as the budget allows."""
    height, width = screen.shape[:2]
    columns = max(n for n in range(1, budget + 1) if n * -(-height * n // width) <= budget)
    size = S * columns, round(S * columns * height / width)
    picture = Image.fromarray(screen).resize(size, Image.BICUBIC)
    return View(np.asarray(picture), width / size[0], columns * -(-height * columns // width))


def nested(screen: np.ndarray, budget: int) -> View:
    """One fixation of lattice nested, where its eye looks first."""
    return _look(screen, budget, "nested")


def adaptive(screen: np.ndarray, budget: int) -> View:
    """One look of lattice adaptive, from grey."""
    return _look(screen, budget, "adaptive")


def _look(screen: np.ndarray, budget: int, lattice: str) -> View:
    with sc.Stream([screen], device="cpu", array="numpy", lattice=lattice, tokens=budget) as emissions:
        emission = next(emissions)
        return View(sc.paint(emission), 1, int(emission.visible.sum()))


def crops(screen: np.ndarray, budget: int) -> View:
    """A thumbnail of a quarter of the budget, and native crops where the screen differs most from it."""
    height, width = screen.shape[:2]
    thumbnail = uniform(screen, budget // 4)
    picture = np.array(Image.fromarray(thumbnail.picture).resize((width, height), Image.BICUBIC))
    wide, high = S * BLOCK[0], S * BLOCK[1]
    error = np.abs(screen.astype(np.int16) - picture).sum(2)
    error = np.pad(error, ((0, -height % high), (0, -width % wide)))
    blocks = error.reshape(error.shape[0] // high, high, -1, wide).sum((1, 3))
    count = (budget - thumbnail.tokens) // (BLOCK[0] * BLOCK[1])
    for at in np.argsort(-blocks, axis=None, kind="stable")[:count]:
        row, column = divmod(int(at), blocks.shape[1])
        part = np.s_[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        picture[part] = screen[part]
    return View(picture, 1, thumbnail.tokens + count * BLOCK[0] * BLOCK[1])


EYES: dict[str, Callable[[np.ndarray, int], View]] = {
    "adaptive": adaptive,
    "nested": nested,
    "crops": crops,
    "uniform": uniform,
    "full": full,
}
