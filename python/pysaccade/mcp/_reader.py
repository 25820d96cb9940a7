"""Words of a picture, by RapidOCR if it is installed, else by Tesseract's program. Only what changed is read again."""

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

_MARGIN_PX = 48  # around what changed: a line of text
_SCALE = 2  # small letters of screens are read better


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
        whole = (0, 0, width, height)
        changed = [whole] if self._picture is None else boxes_of(self._picture, picture)
        for left, top, right, bottom in changed:
            box = common((left - _MARGIN_PX, top - _MARGIN_PX, right + _MARGIN_PX, bottom + _MARGIN_PX), whole)
            assert box is not None
            # Words that reach out of the box are cut there, so they stay as they were unless they changed themselves.
            changes = (left, top, right, bottom)
            self._words = [word for word in self._words if not (_within(word.box, box) or common(word.box, changes))]
            known = [word.box for word in self._words]
            found = self._read_box(picture, box)
            self._words += [word for word in found if not any(common(word.box, other) for other in known)]
        self._picture = picture
        self._words.sort(key=lambda word: (word.box[1], word.box[0]))
        return self._words

    def _read_box(self, picture: Picture, box: Box) -> list[Word]:
        left, top, right, bottom = box
        part = np.ascontiguousarray(picture[top:bottom, left:right, :3])
        self._readings += 1
        read = _rapidocr if importlib.util.find_spec("rapidocr") is not None else _tesseract
        return [
            Word(text, (left + x0, top + y0, left + x1, top + y1), (self._readings, line))
            for text, (x0, y0, x1, y1), line in read(part)
        ]


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
    found = _engine()(part[..., ::-1], return_word_box=True)
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
    lines: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    wanted = text.casefold().split()
    found = []
    for line in lines.values():
        line.sort(key=lambda word: word.box[0])
        count = len(wanted) or len(line)
        for begin in range(len(line) - count + 1):
            run = line[begin : begin + count]
            if not wanted or _holds([word.text.casefold() for word in run], wanted):
                found.append((" ".join(word.text for word in run), _around([word.box for word in run])))
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
