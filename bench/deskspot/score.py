"""What counts as found, and what counts as a target: pure functions over texts and boxes."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

sys.path.append(str(pathlib.Path(__file__).parents[1] / "accuracy"))
from edits import distance

Box = Sequence[float]  # left, top, right, bottom in pixels of the screen
LIMIT = 0.25  # edits of the name's length that a reader may need
GROW = 4  # pixels by which a box may miss


class Word(NamedTuple):
    """A word that a reader found; words of one line have its number, from left to right."""

    text: str
    box: tuple[float, float, float, float]
    line: int


class Match(NamedTuple):
    """Where a name reads best. `error`: edits of its length; `rest`: characters beside it in its piece of a line."""

    error: float
    rest: int
    box: tuple[float, float, float, float]


def plain(text: str) -> str:
    """Letters and digits in lower case."""
    return re.sub(r"[\W_]+", "", text.lower())


def spaced(text: str) -> str:
    """The same with a blank before, between and behind words."""
    return " " + re.sub(r"[\W_]+", " ", text.lower()).strip() + " "


def pieces(words: Sequence[Word]) -> list[list[Word]]:
    """Lines, cut where a gap is much wider than a blank: the columns of a bar are not one text."""
    out: list[list[Word]] = []
    for word in words:
        last = out[-1][-1] if out else None
        high = word.box[3] - word.box[1]
        if last is not None and last.line == word.line and word.box[0] - last.box[2] < max(1.5 * high, 14):
            out[-1].append(word)
        else:
            out.append([word])
    return out


def best_match(name: str, words: Sequence[Word]) -> Match | None:
    """The run of words that reads most like the name, and of those alike the one with least beside it."""
    wanted = plain(name)
    room = int(LIMIT * len(wanted))
    best: Match | None = None
    for piece in pieces(words):
        texts = [plain(word.text) for word in piece]
        total = sum(map(len, texts))
        for first in range(len(piece)):
            joined = ""
            for last in range(first, len(piece)):
                joined += texts[last]
                if len(joined) > len(wanted) + room:
                    break
                if len(joined) < len(wanted) - room or not joined:
                    continue
                error, rest = distance(joined, wanted) / len(wanted), total - len(joined)
                if error <= LIMIT and (best is None or (error, rest) < best[:2]):
                    best = Match(error, rest, union([word.box for word in piece[first : last + 1]]))
    return best


def union(boxes: Sequence[Box]) -> tuple[float, float, float, float]:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def holds(box: Box, inner: Box, grow: float = GROW) -> bool:
    """Whether the centre of `inner` is in `box`."""
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return box[0] - grow <= x <= box[2] + grow and box[1] - grow <= y <= box[3] + grow


def candidates(nodes: Sequence[dict[str, Any]], size: tuple[int, int]) -> list[dict[str, Any]]:
    """Of the tree's nodes those that a name finds: enabled, inside the screen, small, and named as nothing else is."""
    width, height = size
    named = []
    for node in nodes:
        left, top, right, bottom = node["box"]
        if plain(node["text"]) and left >= 0 and top >= 0 and right <= width and bottom <= height:
            if right - left >= 8 and bottom - top >= 8:
                named.append((spaced(node["text"]), node))
    out: list[dict[str, Any]] = []
    for key, node in named:
        area = (node["box"][2] - node["box"][0]) * (node["box"][3] - node["box"][1])
        if not (3 <= len(plain(key)) <= 40 and node["enabled"] and area <= width * height / 100):
            continue
        if node.get("whole") or _occurs_elsewhere(key, node, named):
            continue
        twin = next((n for n, other in enumerate(out) if spaced(other["text"]) == key), None)
        if twin is None:
            out.append(node)
        elif area < _area(out[twin]["box"]):  # a label in its button: the smaller box
            out[twin] = node
    return out


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _occurs_elsewhere(key: str, node: dict[str, Any], named: Sequence[tuple[str, dict[str, Any]]]) -> bool:
    for text, other in named:
        times = text.count(key) if len(text) >= len(key) else 0
        if times > 1 or (times and not holds(other["box"], node["box"], 0) and not holds(node["box"], other["box"], 0)):
            return True
    return False
