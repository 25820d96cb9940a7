"""Views as the messages that APIs of models take, with a sentence that says what each picture shows."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any

from pysaccade._native._arguments import quoted, shown
from pysaccade.models._view import View
from pysaccade.picture._png import encode_png

_ANSWERS = {
    "pixels": "in pixels of that image",
    "thousandths": "from 0 to 1000 of that image's width and height",
    "normalized": "from 0 to 1 of that image's width and height",
}


def caption(views: Sequence[View], size: tuple[int, int], answer: str) -> str:
    """Name what each picture shows, in pixels of the frame; empty without pictures."""
    if not views:
        return ""
    height, width = size
    said = "; ".join(_describe(number, view, width, height) for number, view in enumerate(views, 1))
    return (
        f"The images show one frame of {width}x{height} pixels: {said}. "
        f"If you give a place, say which image it is in, and give x and y {_ANSWERS[answer]}."
    )


def _describe(number: int, view: View, width: int, height: int) -> str:
    left, top, right, bottom = view.box
    where = (
        "all of it"
        if view.reason == "overview"
        else f"x {left} to {min(right, width)}, y {top} to {min(bottom, height)}"
    )
    scale = "full size" if view.scale == 1 else f"1/{round(1 / view.scale)} of its size"
    why = "" if view.reason in ("overview", "detail") else f", {view.reason}"
    return f"image {number} is {where} at {scale}{why}"


def messages(api: str, views: Sequence[View], said: str, text: str | None) -> list[dict[str, Any]]:
    """One user message in an API's form: the images, then the sentence and `text`.

    Raises:
        TypeError, ValueError: There is no such API, or `text` is not one.
    """
    if not isinstance(api, str) or api not in _FORMS:
        raise ValueError(f"Views.messages: the API is {', '.join(_FORMS)}, not {quoted(api)}")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"Views.messages: text takes a str, not {shown(text)}")
    picture, words, key = _FORMS[api]
    line = " ".join(part for part in (said, text) if part)
    content = [picture(view) for view in views] + ([words(line)] if line else [])
    return [{"role": "user", key: content}]


def _base64(view: View) -> str:
    return base64.b64encode(encode_png([view.image])).decode("ascii")


def _openai(view: View) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + _base64(view), "detail": "high"}}


def _anthropic(view: View) -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(view)}}


def _gemini(view: View) -> dict[str, Any]:
    return {"inline_data": {"mime_type": "image/png", "data": _base64(view)}}


def _transformers(view: View) -> dict[str, Any]:
    from PIL import Image

    return {"type": "image", "image": Image.fromarray(view.image)}


def _typed(line: str) -> dict[str, Any]:
    return {"type": "text", "text": line}


def _bare(line: str) -> dict[str, Any]:
    return {"text": line}


_Form = tuple[Callable[[View], dict[str, Any]], Callable[[str], dict[str, Any]], str]
_FORMS: dict[str, _Form] = {
    "openai": (_openai, _typed, "content"),
    "anthropic": (_anthropic, _typed, "content"),
    "gemini": (_gemini, _bare, "parts"),
    "transformers": (_transformers, _typed, "content"),
}
