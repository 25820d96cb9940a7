"""find:TEXT, an eye that knows the question: coarse to fine, until a reader reads the text or the budget is spent.

A third of the budget is one look of lattice adaptive, and the reader reads what it shows. If the text is not there,
runs of contrast in that picture are lines of text or look like them. The rest is spent on crops of these runs that can
be read, in the order of how well their length fits the text that is looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import reader
from eyes import adaptive, tokens_of
from PIL import Image
from score import Match, Word, best_match, plain

MIDDLE = 5  # pixels of a sample at which lines of text stay apart
EDGE = 6  # codes of luma between two samples that count as a stroke
LETTER = (5.5, 10.0)  # pixels of a letter in the fonts of screens
FINE = 1.5  # pixels of a sample at which the reader still reads as well as at 1
LINE = 24  # pixels: a row of patches of that scale
AT_ONCE = 16  # crops that are read by one process


class Spot(NamedTuple):
    """A crop to read: its box on the screen in whole pixels, and its price."""

    box: tuple[int, int, int, int]
    tokens: int


class Answer(NamedTuple):
    match: Match | None  # its box is of the screen
    tokens: int


class Overview(NamedTuple):
    words: list[Word]
    spots: list[Spot]
    tokens: int


def overview(screen: np.ndarray, budget: int) -> Overview:
    """What a first look shows: words that can be read, and what may be text."""
    view = adaptive(screen, budget // 3)
    size = screen.shape[1] // MIDDLE, screen.shape[0] // MIDDLE
    coarse = np.asarray(Image.fromarray(view.picture).resize(size, Image.BICUBIC))
    strokes = np.abs(np.diff((coarse.astype(np.int32) @ (77, 150, 29)) >> 8, axis=1)) > EDGE
    spots = [spot for box in _runs(strokes) for spot in _lines(strokes, box, MIDDLE, screen.shape)]
    return Overview(reader.read([view.picture], 2, 11)[0], list(dict.fromkeys(spots)), view.tokens)


def _runs(strokes: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Boxes of what hangs together, where gaps of two samples in a row are closed."""
    boxes: list[list[int]] = []
    before: list[tuple[int, int, list[int]]] = []  # runs of the row above, with their boxes
    for y, row in enumerate(strokes):
        columns = np.flatnonzero(row)
        now: list[tuple[int, int, list[int]]] = []
        for part in np.split(columns, np.flatnonzero(np.diff(columns) > 3) + 1) if len(columns) else ():
            left, right = int(part[0]), int(part[-1]) + 2
            box = [left, y, right, y + 1]
            for a, b, above in before:
                if a < right and left < b and above[3] >= y:
                    above[:] = min(above[0], box[0]), min(above[1], box[1]), max(above[2], box[2]), y + 1
                    box = above
            if not any(box is known for known in boxes):
                boxes.append(box)
            now.append((left, right, box))
        before = now
    return [(a, b, c, d) for a, b, c, d in boxes]


def _lines(strokes: np.ndarray, box: tuple[int, int, int, int], scale: float, shape: Sequence[int]) -> Iterator[Spot]:
    """The crops of a run: a line begins where its rows have strokes again. What is too narrow for text has none."""
    left, right = max(int(box[0] * scale - scale / 2), 0), min(int(box[2] * scale + scale), shape[1])
    if right - left < 3 * LETTER[0]:
        return
    rows = strokes[box[1] : box[3], box[0] : box[2]].sum(1)
    many = np.flatnonzero(rows > max(1, rows.max() / 4)) if len(rows) > 2 else np.arange(len(rows))
    end = -1.0
    for row in (many + box[1]) * scale:
        if row >= end:
            last = max(y for y in (many + box[1] + 1) * scale if y <= row + LINE or y <= row + scale)
            top = min(max(round((row + last - LINE) / 2), 0), shape[0] - LINE)
            end = last
            yield Spot((left, top, right, top + LINE), tokens_of(right - left, LINE, FINE))


def weight(name: str, spot: Spot) -> float:
    """How well a run's length fits the text: 1 alone, half as a part of a longer line, little where it is too short."""
    wide, letters = spot.box[2] - spot.box[0] - 10, len(plain(name))
    low, high = LETTER[0] * letters, LETTER[1] * letters * 1.15
    if wide < 0.8 * low:
        return 0.05
    if wide <= high:
        return 1.0
    return 0.5 if wide <= 4 * high else 0.3


def affordable(name: str, found: Sequence[Spot], budget: int) -> list[Spot]:
    """Those that are looked at, best first, as far as the budget goes."""
    out = []
    for spot in sorted(found, key=lambda spot: -weight(name, spot)):
        if spot.tokens <= budget:
            budget -= spot.tokens
            out.append(spot)
    return out


def find(name: str, screen: np.ndarray, first: Overview, budget: int) -> Answer:
    """Read the overview, and then crops until one of them holds the name."""
    match, spent = best_match(name, first.words), first.tokens
    plan = [] if match else affordable(name, first.spots, budget - spent)
    for begin in range(0, len(plan), AT_ONCE):
        some = plan[begin : begin + AT_ONCE]
        pictures = [_fine(screen, spot.box) for spot in some]
        for spot, words in zip(some, reader.read(pictures, 3 * FINE, 7), strict=True):
            spent += spot.tokens
            match = best_match(name, words)
            if match is not None:
                x, y = spot.box[:2]
                left, top, right, bottom = (FINE * value for value in match.box)
                return Answer(match._replace(box=(left + x, top + y, right + x, bottom + y)), spent)
    return Answer(match, spent)


def _fine(screen: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    left, top, right, bottom = box
    part = Image.fromarray(screen[top:bottom, left:right])
    return np.asarray(part.resize((round(part.width / FINE), round(part.height / FINE)), Image.BICUBIC))
