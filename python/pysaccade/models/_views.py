"""`views`: pictures of a frame that any vision-language model reads, and the way back from its answers."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from pysaccade._native import _abi, _calls
from pysaccade._native._arguments import number, pair, shown, whole, word
from pysaccade.emission._emission import Emission
from pysaccade.models._messages import caption, messages
from pysaccade.models._rules import ANSWERS, TokenRule, rule_of
from pysaccade.models._view import View
from pysaccade.stream._stream import Stream

_SPACES = {
    "frame": _abi.SACCADE_SPACE_FRAME,
    "display": _abi.SACCADE_SPACE_DISPLAY,
    "coded": _abi.SACCADE_SPACE_CODED,
    "uv": _abi.SACCADE_SPACE_UV,
}


class Views(Sequence[View]):
    """The views of one frame: the overview first, if there is one, then crops from the top of the frame to its bottom.

    `emission.views()` and `pysaccade.views()` make them. They hold their pixels and outlive their stream.

    Convention: points are continuous, the origin is the top left corner, and the centre of pixel i is at i + 0.5.
    """

    def __init__(self, address: int, rule: TokenRule, emission: Emission) -> None:
        """`address`: of a saccade_views, which is owned from now on."""
        self._address = address
        weakref.finalize(self, _calls.library().saccade_views_free, address)
        self._rule = rule
        self.frame: int = emission.frame
        """The frame's number from 0."""
        self.pts_ns: int = emission.pts_ns
        """Its presentation time in nanoseconds."""
        self.size: tuple[int, int] = emission.size
        """(H, W) of the frame in pixels."""
        count = ctypes.c_size_t()
        _calls.check(_calls.library().saccade_views_count(address, ctypes.byref(count)))
        self._views = tuple(self._view(index) for index in range(count.value))

    def _view(self, index: int) -> View:
        struct = _calls.new(_abi.saccade_view)
        _calls.check(_calls.library().saccade_views_get(self._address, index, ctypes.byref(struct)))
        image: np.ndarray[Any, np.dtype[np.uint8]] = np.empty((struct.height, struct.width, 3), np.uint8)
        ctypes.memmove(image.ctypes.data, struct.rgb or 0, image.nbytes)
        left, top = struct.box_x, struct.box_y
        return View(
            image=image,
            box=(left, top, left + struct.box_width, top + struct.box_height),
            scale=struct.scale,
            level=struct.level,
            tokens=struct.tokens,
            reason=_calls.text(struct.reason),
        )

    @property
    def model(self) -> TokenRule:
        """The rule that they follow."""
        return self._rule

    @property
    def tokens(self) -> int:
        """What the model counts for all of them, without the text."""
        return sum(view.tokens for view in self._views)

    @property
    def pts_seconds(self) -> float:
        """The frame's presentation time in seconds."""
        return self.pts_ns / 1e9

    @property
    def caption(self) -> str:
        """A sentence that says what each image shows, and how to give a place. Images count from 1 there."""
        return caption(self._views, self.size, self._rule.answer)

    def messages(self, api: str, text: str | None = None) -> list[dict[str, Any]]:
        """One user message with all views, the caption, and `text` behind it.

        Args:
            api: "openai" (chat completions; vLLM, SGLang, llama.cpp and Ollama take it too), "anthropic", "gemini"
                (`contents` of generateContent), or "transformers" (for a processor's apply_chat_template(); the images
                are Pillow's).
            text: A question, for example.

        Raises:
            ValueError: There is no such API.
        """
        return messages(api, self._views, self.caption, text)

    # ---- the way back ------------------------------------------------------------------------------------------------

    def to_frame(
        self,
        i: int,
        x: float,
        y: float,
        *,
        units: str | None = None,
        seen: tuple[int, int] | None = None,
        space: str = "frame",
    ) -> tuple[float, float]:
        """(x, y) in the frame of a point that the model gives in view `i`.

        Args:
            i: Which view, from 0.
            x: Across, in the model's coordinates.
            y: Down.
            units: "pixels" of the view, "thousandths" (0 to 1000) or "normalized" (0 to 1); by default what the model
                answers in.
            seen: (width, height) of the picture that pixels are of, if a server resized the view; no server does whose
                rule is `model`.
            space: "frame": pixels after rotation, before the sample aspect ratio; "display": with square pixels, as
                players show it; "coded": before rotation and mirror; "uv": 0 to 1 of the frame.

        Raises:
            TypeError, ValueError: There is no such view, unit or space.
        """
        return self._map(
            "to_frame", self._index(i, "to_frame"), x, y, self._coordinates("to_frame", units, seen, space)
        )

    def from_frame(
        self,
        x: float,
        y: float,
        *,
        i: int | None = None,
        units: str | None = None,
        seen: tuple[int, int] | None = None,
        space: str = "frame",
    ) -> tuple[int, float, float] | None:
        """(i, x, y): the finest view that holds a point of the frame, and the point in the model's coordinates there.

        The arguments are those of `to_frame`. `i` asks for that view, also where it does not hold the point. None: no
        view holds it.
        """
        coordinates = self._coordinates("from_frame", units, seen, space)
        x, y = number(x, "Views.from_frame", "x"), number(y, "Views.from_frame", "y")
        if i is None:
            found = ctypes.c_size_t()
            find = _calls.library().saccade_views_find
            status = find(self._address, ctypes.byref(coordinates), x, y, ctypes.byref(found))
            if _calls.check(status, "Views.from_frame: ") == _abi.SACCADE_END:
                return None
            index = found.value
        else:
            index = self._index(i, "from_frame")
        return (index, *self._map("from_frame", index, x, y, coordinates))

    def _index(self, i: int, who: str) -> int:
        if not self._views:
            raise ValueError(f"Views.{who}: there are no views: nothing changed that was not sent")
        return whole(i, f"Views.{who}", "i", 0, max(len(self) - 1, 0))

    def _map(self, name: str, i: int, x: float, y: float, coordinates: _abi.saccade_coordinates) -> tuple[float, float]:
        x, y = number(x, f"Views.{name}", "x"), number(y, f"Views.{name}", "y")
        out = (ctypes.c_double * 2)()
        at = ctypes.addressof(out)
        call = getattr(_calls.library(), f"saccade_views_{name}")
        _calls.check(call(self._address, i, ctypes.byref(coordinates), x, y, at, at + 8), f"Views.{name}: ")
        return out[0], out[1]

    def _coordinates(
        self, who: str, units: str | None, seen: tuple[int, int] | None, space: str
    ) -> _abi.saccade_coordinates:
        struct = _calls.new(_abi.saccade_coordinates)
        struct.answer = -1 if units is None else word(units, f"Views.{who}: units", ANSWERS)
        struct.space = word(space, f"Views.{who}: space", _SPACES)
        if seen is not None:
            width, height = pair(seen, f"Views.{who}: seen", "(width, height)")
            struct.seen_width = whole(width, f"Views.{who}", "seen[0]", 1, 1 << 20)
            struct.seen_height = whole(height, f"Views.{who}", "seen[1]", 1, 1 << 20)
        return struct

    # ---- as a sequence -----------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._views)

    @overload
    def __getitem__(self, index: int) -> View: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[View, ...]: ...
    def __getitem__(self, index: int | slice) -> View | tuple[View, ...]:
        return self._views[index]

    def __repr__(self) -> str:
        return f"Views({len(self)} of a frame of {self.size[1]}x{self.size[0]}, {self.tokens} tokens)"


def of_emission(emission: Emission, budget: int, model: Any, look: Any, new_only: bool) -> Views:
    """`Emission.views`."""
    who = "Emission.views"
    maker = emission._maker
    if maker is None:
        raise ValueError(f"{who}: this emission has no stream with it; take it from a Stream, in the same process")
    rule = rule_of(model, who)
    native = rule.native()
    settings = _calls.new(_abi.saccade_views_settings)
    settings.rule = ctypes.pointer(native)
    settings.tokens = whole(budget, who, "budget", 1, 1 << 30)
    settings.new_only = bool(new_only)
    if look is not None:
        u, v = pair(look, f"{who}: look", "(u, v)")
        settings.look_u, settings.look_v = number(u, who, "look[0]"), number(v, who, "look[1]")
        settings.has_look = 1
    return Views(maker.views(settings, who), rule, emission)


@overload
def views(
    source: Stream, budget: int = ..., model: Any = ..., *, look: Any = ..., new_only: bool = ...
) -> Iterator[Views]: ...
@overload
def views(source: Any, budget: int = ..., model: Any = ..., *, look: Any = ..., new_only: bool = ...) -> Views: ...
def views(
    source: Any, budget: int = 1568, model: Any = "qwen2.5-vl", *, look: Any = None, new_only: bool = False
) -> Any:
    """Pictures of an image, or of a stream's frames, in sizes that the model's server does not resize.

        views = sc.views(screenshot, model="claude")
        reply = client.messages.create(messages=views.messages("anthropic", "Where is Save?"), ...)
        x, y = views.to_frame(0, *answer)

    Args:
        source: An image: an array or a tensor [H, W, 3], [3, H, W], [H, W] gray or RGBA of u8, or one of Pillow's. Or a
            `Stream`.
        budget: Tokens of all views together, as the model counts them, at most.
        model: A row of the table (docs/MODELS.md), or a `TokenRule`.
        look: (u, v) of the frame, 0 to 1: what lies around it counts more.
        new_only: Give only what changed, or was lost, since it was last shown, and no detail that was never sent. The
            first views are then an overview alone.

    Returns:
        Of an image its `Views`. Of a stream an iterator of `Views`, one for each emission that has any: what was sent
        and did not change is not sent again.

    Raises:
        TypeError, ValueError: It is not an image, the model is not known, or the budget is too small for one picture.
    """
    if isinstance(source, Stream):
        return _of_stream(source, budget, model, look, new_only)
    image = _pixels(source)
    if not hasattr(image, "shape"):
        advice = "; open it: pysaccade.Stream(path), or PIL.Image.open(path)" if isinstance(source, str) else ""
        raise TypeError(f"views: source takes an image or a Stream, not {shown(source)}{advice}")
    with Stream([image], device="cpu", array="numpy", every=1, fixation="center") as stream:
        return of_emission(next(stream), budget, model, look, new_only)


def _pixels(source: Any) -> Any:
    """An image as an array. Pillow's are converted to R'G'B': samples of other modes are indices, or other colours."""
    if not hasattr(source, "__array_interface__") or isinstance(source, np.ndarray):
        return source
    return np.asarray(source if getattr(source, "mode", "RGB") == "RGB" else source.convert("RGB"))


def _of_stream(stream: Stream, budget: int, model: Any, look: Any, new_only: bool) -> Iterator[Views]:
    for emission in stream:
        found = of_emission(emission, budget, model, look, new_only)
        if found:
            yield found
