"""What the accessibility tree (AT-SPI) says of the programs on the screen: names, roles and boxes.

A process of its own for each walk, for the library that asks keeps what it was once answered. Prints JSON.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pyatspi

Node = dict[str, Any]  # text, role, program, window, box: [left, top, right, bottom] in pixels, enabled; whole: a text
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{3,30}")
TEXTS = ("terminal", "paragraph", "heading")  # their words are nodes, too
MOST_CHILDREN = 400  # of one node
MOST_WORDS = 150  # of one node
CELLS = (70, 14)  # rows, columns of a sheet


class Walk:
    """One pass over all programs; `nodes` is in the tree's order."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        for program in pyatspi.Registry.getDesktop(0):
            for window in program or ():
                if window is not None:
                    self._window(window, program.name)

    def _window(self, window: Any, program: str) -> None:
        label = f"{program}/{window.name}"
        box = _box(window)
        if box is None or not window.getState().contains(pyatspi.STATE_SHOWING):
            return
        self._visit(window, program, label, box, 0, 0)

    def _visit(self, node: Any, program: str, window: str, frame: list[int], down: int, depth: int) -> None:
        try:
            states, role = node.getState(), node.getRoleName()
            shows = states.contains(pyatspi.STATE_SHOWING)
            if program == "gimp" and "menu" in role:  # GTK 2 does not say whether an open menu's items show
                shows = states.contains(pyatspi.STATE_VISIBLE)
            if depth and not shows:
                return
            box = _box(node)
            if role == "root pane" and box is not None:  # LibreOffice leaves its menu bar out of what lies in the pane
                down = frame[3] - box[3]
            if down and role == "menu bar":  # it shows a second time, in place
                return
            enabled = states.contains(pyatspi.STATE_SENSITIVE) or states.contains(pyatspi.STATE_ENABLED)
            if box is not None:
                about = {"role": role, "program": program, "window": window, "enabled": enabled}
                self._add(about, node.name or "", box, down)
                if role in TEXTS:
                    self._words(node, about, down)
            children = list(_cells(node)) if role in ("table", "tree table") else list(_children(node))
        except Exception as error:  # of D-Bus: the node is gone, or its program does not answer
            print(f"tree: {window}: {error}", file=sys.stderr)
            return
        for child in children:
            self._visit(child, program, window, frame, down, depth + 1)

    def _add(self, about: Node, text: str, box: list[int], down: int) -> None:
        left, top, right, bottom = box
        self.nodes.append(about | {"text": " ".join(text.split()), "box": [left, top + down, right, bottom + down]})

    def _words(self, node: Any, about: Node, down: int) -> None:
        """Words of a text, evenly spread."""
        text = node.queryText()
        whole = text.getText(0, -1)
        self._add(about | {"whole": True}, whole, _box(node) or [0, 0, 0, 0], down)
        found = list(WORD.finditer(whole))
        for match in found[:: max(len(found) // MOST_WORDS, 1)]:
            x, y, width, height = text.getRangeExtents(match.start(), match.end(), pyatspi.DESKTOP_COORDS)
            if width > 0 and height > 0:
                self._add(about | {"role": "word"}, match.group(), [x, y, x + width, y + height], down)


def _box(node: Any) -> list[int] | None:
    try:
        box = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    except NotImplementedError:
        return None
    return [box.x, box.y, box.x + box.width, box.y + box.height]


def _children(node: Any) -> Any:
    for index in range(min(node.childCount, MOST_CHILDREN)):
        child = node.getChildAtIndex(index)
        if child is not None:
            yield child


def _cells(node: Any) -> Any:
    """Of a table, which may have millions of them, those that may show."""
    try:
        table = node.queryTable()
    except NotImplementedError:
        yield from _children(node)
        return
    for row in range(min(table.nRows, CELLS[0])):
        for column in range(min(table.nColumns, CELLS[1])):
            cell = table.getAccessibleAt(row, column)
            if cell is not None:
                yield _Cell(cell)


class _Cell:
    """A cell whose name is what it shows: LibreOffice's is its address."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cell, name)

    @property
    def name(self) -> str:
        try:
            return str(self._cell.queryText().getText(0, -1)) or str(self._cell.name)
        except NotImplementedError:
            return str(self._cell.name)


if __name__ == "__main__":
    json.dump(Walk().nodes, sys.stdout)
