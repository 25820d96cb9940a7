"""Words of a picture, by RapidOCR if it is installed, else by Tesseract's program.

After a change the whole lines of text around it are read again.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import Any

import numpy as np

from pysaccade.mcp._changes import Box, Picture, boxes_of, common
from pysaccade.picture._png import encode_png

_MARGIN_PX = 48  # around what is read: about a line of text
_SCALE = 2  # small letters of screens are read better
_SIDE_PX = 736 // _SCALE  # RapidOCR enlarges a picture until its sides have 736 px


@dataclass(frozen=True)
class Word:
    """A word, and its box in pixels of the picture."""

    text: str
    box: Box
    line: tuple[int, int]
    """Words of one line have this in common."""


def is_there() -> bool:
    """Whether a reader is installed."""
    return importlib.util.find_spec("rapidocr") is not None or shutil.which("tesseract") is not None


class Reader:
    """The words of one picture after another."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._words: list[Word] = []
        self._readings = 0

    def read(self, picture: Picture) -> list[Word]:
        """The words of a picture [H, W, 4], from the top to the bottom."""
        height, width = picture.shape[:2]
        changed = [(0, 0, width, height)] if self._picture is None else boxes_of(self._picture, picture)
        for region in _regions(changed, [_box_of(line) for line in _lines(self._words)]):
            self._read_region(picture, region, changed)
        self._picture = picture
        self._words.sort(key=lambda word: (word.box[1], word.box[0]))
        return self._words

    def _read_region(self, picture: Picture, region: Box, changed: list[Box]) -> None:
        """Replace the lines that changes of a region touch."""
        whole = (0, 0, picture.shape[1], picture.shape[0])
        inside = [box for box in changed if _within(box, region)]
        box, margin = _inside(_grown(region, _MARGIN_PX), whole), _MARGIN_PX
        while True:
            # What did not change stays as it was: of some of it only a part lies in the box, and readers miss lines.
            kept = [line for line in _lines(self._words) if not _touches_any(_box_of(line), inside)]
            known = [_box_of(line) for line in kept]
            words = [word for word in self._read_box(picture, box) if not any(_lies_on(word, line) for line in known)]
            lines = _lines(words)
            cut = [line for line in lines if _is_cut(_box_of(line), box, whole)]
            grown = [_grown(_box_of(line), margin) for line in cut if _touches_any(_box_of(line), inside)]
            if not grown:
                break
            box, margin = _inside(_around([box, *grown]), whole), 2 * margin
        self._words = [word for line in kept + [line for line in lines if line not in cut] for word in line]

    def _read_box(self, picture: Picture, box: Box) -> list[Word]:
        left, top, right, bottom = box
        part = np.ascontiguousarray(picture[top:bottom, left:right, :3])
        self._readings += 1
        read = _rapidocr if importlib.util.find_spec("rapidocr") is not None else _tesseract
        return [
            Word(text, (left + x0, top + y0, left + x1, top + y1), (self._readings, line))
            for text, (x0, y0, x1, y1), line in read(part)
        ]


def _regions(changed: list[Box], lines: list[Box]) -> list[Box]:
    """Each change with the lines that it touches. Regions that are nearer than two margins become one."""
    regions = [_around([box, *(line for line in lines if _touches_any(line, [box]))]) for box in changed]
    apart: list[Box] = []
    while regions:
        region = regions.pop()
        near = [other for other in apart if common(_grown(region, _MARGIN_PX), _grown(other, _MARGIN_PX))]
        apart = [other for other in apart if other not in near]
        (regions if near else apart).append(_around([region, *near]))
    return sorted(apart, key=lambda box: (box[1], box[0]))


def _touches_any(line: Box, changed: list[Box]) -> bool:
    """Whether a change lies in a line of text, or so near its ends that it may belong to the line."""
    left, top, right, bottom = line
    reach = 2 * (bottom - top)
    return any(common((left - reach, top, right + reach, bottom), box) for box in changed)


def _is_cut(line: Box, box: Box, whole: Box) -> bool:
    """Whether a line that was read in a box may go on beyond it."""
    gap = (line[3] - line[1]) // 2  # between words, and around letters
    return not _within(_inside(_grown(line, gap), whole), box)


def _lies_on(word: Word, line: Box) -> bool:
    x, y = (word.box[0] + word.box[2]) // 2, (word.box[1] + word.box[3]) // 2
    return line[0] <= x < line[2] and line[1] <= y < line[3]


def _lines(words: list[Word]) -> list[list[Word]]:
    lines: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    return list(lines.values())


def _box_of(line: list[Word]) -> Box:
    return _around([word.box for word in line])


def _grown(box: Box, margin: int) -> Box:
    return box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin


def _inside(box: Box, whole: Box) -> Box:
    inside = common(box, whole)
    assert inside is not None
    return inside


def _within(inner: Box, outer: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


def _tesseract(part: Any) -> list[tuple[str, Box, int]]:
    larger = part.repeat(_SCALE, axis=0).repeat(_SCALE, axis=1)
    done = subprocess.run(
        ["tesseract", "stdin", "stdout", "--psm", "11", "--dpi", "150", "tsv"],
        input=encode_png([larger]),
        capture_output=True,
        check=False,
        env={**os.environ, "OMP_THREAD_LIMIT": "1"},
    )
    if done.returncode != 0:
        raise OSError(f"tesseract failed: {done.stderr.decode(errors='replace').strip()}")
    words: list[tuple[str, Box, int]] = []
    lines: dict[tuple[str, ...], int] = {}
    for row in done.stdout.decode(errors="replace").splitlines()[1:]:
        level, _, block, paragraph, line, _, x, y, width, height, _, text = row.split("\t", 11)
        if level == "5" and text.strip():
            x0, y0 = int(x) // _SCALE, int(y) // _SCALE
            x1, y1 = -(-(int(x) + int(width)) // _SCALE), -(-(int(y) + int(height)) // _SCALE)
            number = lines.setdefault((block, paragraph, line), len(lines))
            words.append((text.strip(), (x0, y0, x1, y1), number))
    return words


@functools.lru_cache(maxsize=1)
def _engine() -> Any:
    return importlib.import_module("rapidocr").RapidOCR()


def _rapidocr(part: Any) -> list[tuple[str, Box, int]]:
    height, width = part.shape[:2]
    padded = np.empty((max(height, _SIDE_PX), max(width, _SIDE_PX), 3), np.uint8)
    padded[:] = np.median(part, axis=(0, 1))
    padded[:height, :width] = part
    found = _engine()(padded[..., ::-1], return_word_box=True)
    words: list[tuple[str, Box, int]] = []
    for number, (whole, line) in enumerate(zip(found.txts or (), found.word_results or (), strict=False)):
        if not whole.strip():
            continue  # a line that was found but not read has no words
        for text, _, corners in line:
            if text.strip():
                low, high = np.floor(np.min(corners, axis=0)).astype(int), np.ceil(np.max(corners, axis=0)).astype(int)
                words.append((text.strip(), (int(low[0]), int(low[1]), int(high[0]), int(high[1])), number))
    return words


def find(words: list[Word], text: str) -> list[tuple[str, Box]]:
    """Runs of words of one line that hold the text, in any case; an empty text gives every line."""
    wanted = text.casefold().split()
    found = []
    for line in _lines(words):
        line.sort(key=lambda word: word.box[0])
        count = len(wanted) or len(line)
        for begin in range(len(line) - count + 1):
            run = line[begin : begin + count]
            if not wanted or _holds([word.text.casefold() for word in run], wanted):
                found.append((" ".join(word.text for word in run), _box_of(run)))
    return sorted(found, key=lambda match: (match[1][1], match[1][0]))


def _holds(run: list[str], wanted: list[str]) -> bool:
    """As a search in the run's text: its first and last word may go on beyond what is wanted."""
    if len(wanted) == 1:
        return wanted[0] in run[0]
    return run[0].endswith(wanted[0]) and run[1:-1] == wanted[1:-1] and run[-1].startswith(wanted[-1])


def _around(boxes: list[Box]) -> Box:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )
