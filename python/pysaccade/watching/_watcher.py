"""`Watcher`: a stream's views to a server and back, so that what the model could not be sent is sent later."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pysaccade._native import _process
from pysaccade.emission._emission import Emission
from pysaccade.models._rules import TokenRule
from pysaccade.models._view import View
from pysaccade.models._views import Views, of_emission
from pysaccade.stream._stream import Stream
from pysaccade.watching._gate import Gate
from pysaccade.watching._server import Failure, Outcome, Reply, ServerError

_REPEAT_S = 5.0  # what was shown so lately is not news: a cursor that blinks
_SLICE_S = 0.1
_TILE_PX = 16  # what is held is kept by such tiles
_REFUSALS = 3  # before the first answer: the model takes no pictures, or the server is of another API


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a model answered to the views of one frame."""

    number: int
    """Of the request, from 0. With several in flight they may come in another order."""
    views: Views
    """What it was sent; `views.to_frame(i, x, y)` is the frame's point of an answer's."""
    text: str
    sent_unix_s: float
    seconds: float
    """From the request to the answer."""
    usage: Any
    """Tokens as the server counts them, as it says so; None: it does not."""

    def as_dict(self) -> dict[str, Any]:
        """Its line of JSON."""
        boxes = [
            {"box": view.box, "scale": view.scale, "reason": view.reason, "tokens": view.tokens} for view in self.views
        ]
        return {
            "number": self.number,
            "frame": self.views.frame,
            "pts_ns": self.views.pts_ns,
            "sent_unix_s": round(self.sent_unix_s, 3),
            "seconds": round(self.seconds, 3),
            "tokens": self.views.tokens,
            "views": boxes,
            "answer": self.text,
            "usage": self.usage,
        }


@dataclass
class Counts:
    """Totals of a watch."""

    looks: int = 0
    requests: int = 0
    answers: int = 0
    failures: int = 0
    repeats: int = 0
    """Views that were not sent because the same were lately."""
    tokens: int = 0
    """Of the pictures of all requests."""
    seconds: float = 0.0
    """By the clock of the budget."""


class Asked(Protocol):
    """What `Server` is to a watcher."""

    def send(self, number: int, messages: Sequence[Mapping[str, Any]]) -> None:
        """Begin a request."""

    def outcome(self, timeout: float) -> Outcome | None:
        """Wait for the outcome of one."""


@dataclass
class _Sent:
    views: Views
    at_unix_s: float
    at: float


@dataclass(kw_only=True)
class Watcher:
    """One watch: iterate `answers()` once.

    A live source goes on while the model works, and the newest frame is shown when it may be. A file waits for the
    model, and its budget is by the video's own time.
    """

    stream: Stream
    server: Asked
    rule: TokenRule
    gate: Gate
    form: str
    """Of messages."""
    ask: str
    live: bool
    now: Callable[[], float] = time.monotonic
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        self._in_flight: dict[int, _Sent] = {}
        self._shown: dict[int, float] = {}  # views by their box and pixels: when
        self._emission: Emission | None = None
        self._over = False
        self._pending = False  # the frame may hold something that was not sent
        self._failing = False
        self._refusals = 0
        self._after_end_s = 0.0  # a file's time goes on until the budget lets all be sent
        self._begun_at: float | None = None

    def answers(self) -> Iterator[Answer]:
        """Answers as they come, until the source ends and all that is new in its last frame was answered.

        Raises:
            ServerError: The server refuses to be asked like this.
        """
        while not (self._over and not self._pending and not self._in_flight):
            answer = self._step()
            if answer is not None:
                yield answer

    def _step(self) -> Answer | None:
        """Take an answer, look, or take a frame: whichever can be done first."""
        outcome = self.server.outcome(0)
        if outcome is not None:
            return self._take(*outcome)
        blocked = self.gate.is_full or self.gate.pause(self.now()) > 0
        allowed = self.gate.allowance(self._time()) if self._pending and not blocked else 0
        if allowed:
            self._look(allowed)
        elif not self._over and (self.live or not (self._pending and blocked)):
            self._advance()
        elif self._pending and not blocked and not self.live:
            self._after_end_s += self.gate.shortage(self._time())
        else:
            outcome = self.server.outcome(_SLICE_S)
            return None if outcome is None else self._take(*outcome)
        return None

    def _time(self) -> float:
        """Seconds by which the budget goes: of a file its own."""
        now = self.now() if self.live else (self._emission.pts_seconds if self._emission else 0.0) + self._after_end_s
        self._begun_at = now if self._begun_at is None else self._begun_at
        self.counts.seconds = now - self._begun_at
        return now

    def _advance(self) -> None:
        """Take the next frame, if one comes soon."""
        try:
            emission = self.stream._poll()
        except StopIteration:
            self._over = True
            return
        if emission is not None:
            self._emission, self._pending = emission, True

    def _look(self, allowed: int) -> None:
        """Send what is new, if the model was not shown the same a moment ago."""
        assert self._emission is not None
        views = of_emission(self._emission, allowed, self.rule, None, True)
        self.counts.looks += 1
        self._pending = len(views) > 0
        if not views:
            return
        now = self._time()
        self._shown = {key: at for key, at in self._shown.items() if now - at < _REPEAT_S}
        keys = [_key(view) for view in views]
        is_news = any(key not in self._shown for key in keys)
        self._shown.update(dict.fromkeys(keys, now))
        if not is_news:
            self.counts.repeats += len(views)
            return
        number = self.counts.requests
        self.counts.requests += 1
        self.counts.tokens += views.tokens
        self.gate.send(views.tokens)
        self._in_flight[number] = _Sent(views, time.time(), self.now())
        self.server.send(number, views.messages(self.form, self.ask))

    def _take(self, number: int, outcome: Reply | Failure) -> Answer | None:
        sent = self._in_flight.pop(number)
        if isinstance(outcome, Failure):
            self._fail(sent.views, outcome)
            return None
        self.gate.succeed()
        self.counts.answers += 1
        self._failing = False
        return Answer(
            number=number,
            views=sent.views,
            text=outcome.text,
            sent_unix_s=sent.at_unix_s,
            seconds=self.now() - sent.at,
            usage=outcome.usage,
        )

    def _fail(self, views: Views, failure: Failure) -> None:
        """The model does not have these views: unless it refuses them, what they showed is sent again as it then is."""
        self.counts.failures += 1
        self._refusals += failure.refused or failure.foreign
        if failure.stop or (not self.counts.answers and self._refusals >= _REFUSALS):
            raise ServerError(f"{self.server}: {failure.line}")
        if failure.refused:
            _process.LOGGER.warning("%s: %s; frame %d is left out", self.server, failure.line, views.frame)
        elif not self._failing:
            wait = f", after {failure.retry_after:g} s" if failure.retry_after else ""
            _process.LOGGER.warning("%s: %s; it is asked again%s", self.server, failure.line, wait)
        self._failing = not failure.refused
        self.gate.fail(
            self.now(),
            refund=0 if failure.counted else views.tokens,
            retry_after=failure.retry_after,
        )
        if failure.refused:
            return
        for view in views:
            self._shown.pop(_key(view), None)
            self.stream.forget(None if view.reason == "overview" else _part(view, views.size))
        self._pending = True


def _part(view: View, size: tuple[int, int]) -> tuple[float, ...]:
    """A region, 0 to 1, that touches only tiles which the view shows whole. With others it would grow with failures."""
    height, width = size
    left, top, right, bottom = view.box
    inset = _TILE_PX - 0.5
    return (
        (left + inset) / width if left > 0 else 0.0,
        (top + inset) / height if top > 0 else 0.0,
        (right - inset) / width if right < width else 1.0,
        (bottom - inset) / height if bottom < height else 1.0,
    )


def _key(view: View) -> int:
    return hash((view.box, view.scale, view.image.tobytes()))
