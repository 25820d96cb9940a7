"""The tools of the server: what an agent may ask of an `Eye`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult, ImageContent, TextContent, ToolAnnotations
from pydantic import Field

from pysaccade.mcp import _reader
from pysaccade.mcp._changes import Box
from pysaccade.mcp._eye import Eye, EyeError
from pysaccade.models._view import View
from pysaccade.picture._png import encode_png

_Box = Annotated[list[int], Field(min_length=4, max_length=4, description="left, top, right, bottom in pixels")]
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=False, open_world_hint=True)

_INSTRUCTIONS = """An eye on {what}. It only looks: it clicks and types nothing.
Boxes are left, top, right, bottom in pixels of that picture, right and bottom not included.
`look` first: an overview, then what is new each time. `zoom` shows a box in full size. After an action call
`wait_for_change`, then `look`."""


def make_server(eye: Eye, budget: int) -> MCPServer[Any]:
    """A server whose tools ask this eye. budget: of `look`, in tokens, where the agent names none."""
    server: MCPServer[Any] = MCPServer(
        "pysaccade", instructions=_INSTRUCTIONS.format(what=eye.what), log_level="WARNING"
    )

    def tool(function: Callable[..., CallToolResult]) -> None:
        server.tool(annotations=_READ_ONLY, structured_output=False)(function)

    def look(
        budget: Annotated[int, Field(ge=64, le=100_000, description="tokens of all images")] = budget,
        everything: Annotated[bool, Field(description="forget what was shown: the overview comes again")] = False,
    ) -> CallToolResult:
        """Show what is new since the last look: an overview the first time, then crops of what changed."""
        views, mark = _asked(lambda: eye.look(budget, everything=everything))
        lines = [_line(number, view) for number, view in enumerate(views, 1)] or ["Nothing is new."]
        facts = {"size": list(eye.size), "tokens": views.tokens, "images": [_facts(view) for view in views]}
        return _result([*lines, f"mark {mark}"], {**facts, "mark": mark}, [view.image for view in views])

    def zoom(box: _Box) -> CallToolResult:
        """Show a box in full size: a pixel of the image is a pixel of the picture."""
        image, inside, mark = _asked(lambda: eye.pixels(_box(box)))
        height, width = image.shape[:2]
        seen = eye.rule.seen(width, height)
        lines = [f"x {inside[0]} to {inside[2]}, y {inside[1]} to {inside[3]} in full size; mark {mark}"]
        if seen[0] < width or seen[1] < height:
            lines.append(f"The model's server makes it {seen[0]}x{seen[1]}; a smaller box is left as it is.")
        facts = {"box": list(inside), "scale": 1.0, "tokens": eye.rule.tokens(width, height), "mark": mark}
        return _result(lines, facts, [image])

    def changed_since(mark: int) -> CallToolResult:
        """Name the boxes in which the picture differs from what it was at a mark."""
        boxes, now = _asked(lambda: eye.changed_since(mark))
        return _result([_named(boxes), f"mark {now}"], {"boxes": [list(box) for box in boxes], "mark": now})

    def wait_for_change(
        region: Annotated[list[int] | None, Field(min_length=4, max_length=4, description="None: everything")] = None,
        seconds: Annotated[float, Field(ge=0, le=600)] = 10,
    ) -> CallToolResult:
        """Wait until a pixel of a region changes, at most so many seconds, and name the boxes that did."""
        wanted = None if region is None else _box(region)
        boxes, mark, waited = _asked(lambda: eye.wait_for_change(wanted, seconds))
        facts = {"boxes": [list(box) for box in boxes], "mark": mark, "seconds": round(waited, 3)}
        return _result([f"{_named(boxes)} after {waited:.1f} s; mark {mark}"], {"changed": bool(boxes), **facts})

    for function in (look, zoom, changed_since, wait_for_change):
        tool(function)
    if _reader.is_there():
        tool(_find_tool(eye))
    return server


def _find_tool(eye: Eye) -> Callable[..., CallToolResult]:
    reader = _reader.Reader()

    def find(
        text: Annotated[str, Field(description="one or more words of a line; empty: every line")],
    ) -> CallToolResult:
        """Name the boxes of a text that is read in the picture. The first reading of a large screen takes seconds."""

        def read() -> tuple[list[tuple[str, Box]], int]:
            with eye.lock:
                picture, mark = eye.frame()
                return _reader.find(reader.read(picture), text), mark

        matches, mark = _asked(read)
        lines = [f"{list(box)} {words}" for words, box in matches] or [f"'{text}' is not read anywhere."]
        facts = {"matches": [{"text": words, "box": list(box)} for words, box in matches], "mark": mark}
        return _result([*lines, f"mark {mark}"], facts)

    return find


def _asked(ask: Callable[[], Any]) -> Any:
    """What the eye gives; its refusals as the agent reads them."""
    try:
        return ask()
    except (EyeError, ValueError, OSError) as error:
        raise ToolError(str(error)) from error


def _box(numbers: list[int]) -> Box:
    return numbers[0], numbers[1], numbers[2], numbers[3]


def _facts(view: View) -> dict[str, Any]:
    height, width = view.image.shape[:2]
    return {
        "box": list(view.box),
        "scale": view.scale,
        "size": [width, height],
        "tokens": view.tokens,
        "reason": view.reason,
    }


def _line(number: int, view: View) -> str:
    left, top, right, bottom = view.box
    step = round(1 / view.scale)
    place = "x + left, y + top" if step == 1 else f"left + {step} x, top + {step} y"
    return (
        f"image {number} ({view.reason}): left {left}, top {top}, right {right}, bottom {bottom}, "
        f"{'full size' if step == 1 else f'1/{step} of its size'}; its pixel x, y is at {place}"
    )


def _named(boxes: list[Box]) -> str:
    return "Changed: " + ", ".join(str(list(box)) for box in boxes) if boxes else "Nothing changed"


def _result(
    lines: list[str], facts: dict[str, Any], images: list[np.ndarray[Any, Any]] | None = None
) -> CallToolResult:
    pictures = [
        ImageContent(type="image", data=base64.b64encode(encode_png([image])).decode("ascii"), mime_type="image/png")
        for image in images or ()
    ]
    text = TextContent(type="text", text="\n".join(lines))
    return CallToolResult(content=[text, *pictures], structured_content=facts)
