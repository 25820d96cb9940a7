"""Servers that stall, die, answer 429 or reorder, in virtual time: what appeared meanwhile is sent afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import pysaccade as sc
from appearing import glyphs, holds, onsets
from model_server import Picture
from pysaccade.watching._gate import Gate
from pysaccade.watching._server import Failure, Outcome, Reply
from pysaccade.watching._watcher import Watcher

LINES, EVERY = 24, 5  # a line each 1.25 s
FAULTS = ((2.0, 6.1), (8.4, 9.0), (12.0, 26.3))  # the last one is longer than the time-out
TIMEOUT = 10.0


class Clock:
    """The time of the frames; it goes on while the watcher waits."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at

    def frames(self) -> Iterator[tuple[Picture, float]]:
        for frame, now in onsets(LINES, EVERY):
            self.at = max(self.at, now)
            yield frame, now


class FaultyServer:
    """Answers in 0.4 s. While a fault lasts it keeps what it is sent, refuses connections, or answers 429."""

    def __init__(self, clock: Clock, kind: str) -> None:
        self.clock, self.kind = clock, kind
        self.waiting: list[tuple[float, Outcome]] = []
        self.reached: dict[int, float] = {}
        self.tokens: list[int] = []  # of each request
        self.watcher: Watcher | None = None

    def send(self, number: int, messages: Sequence[Mapping[str, Any]]) -> None:
        assert messages[0]["role"] == "user"
        assert self.watcher is not None
        views = self.watcher._in_flight[number].views
        self.tokens.append(views.tokens)
        now = self.clock()
        end = next((end for begin, end in FAULTS if begin <= now < end), None)
        seen: float | None = now
        done: tuple[float, Reply | Failure] = (now + 0.4, Reply("yes", None))
        if self.kind == "reorder":
            done = (now + (1.9, 0.3)[number % 2], Reply("yes", None))
        elif end is not None and self.kind == "stall":
            is_late = end - now > TIMEOUT
            seen = None if is_late else end
            done = (now + TIMEOUT, Failure("timed out")) if is_late else (end + 0.4, Reply("yes", None))
        elif end is not None:
            seen = None
            wait = end - now if self.kind == "429" else None
            done = now + 0.01, Failure(self.kind, counted=False, retry_after=wait)
        if seen is not None:
            pictures = [view.image for view in views]
            for line in range(LINES):
                if line not in self.reached and holds(pictures, glyphs(line)):
                    self.reached[line] = seen
        self.waiting.append((done[0], (number, done[1])))

    def outcome(self, timeout: float) -> Outcome | None:
        self.clock.at += timeout
        done = min((each for each in self.waiting if each[0] <= self.clock()), key=lambda each: each[0], default=None)
        if done is None:
            return None
        self.waiting.remove(done)
        return done[1]


@pytest.mark.parametrize(("kind", "in_flight"), [("stall", 1), ("dead", 1), ("429", 1), ("reorder", 3)])
def test_no_line_comes_later_than_a_second_behind_a_fault(kind: str, in_flight: int) -> None:
    clock = Clock()
    server = FaultyServer(clock, kind)
    with sc.Stream(clock.frames(), array="numpy", device="cpu", fixation="center", every=1) as stream:
        gate = Gate(500, 1568, in_flight)
        watcher = Watcher(
            stream=stream, server=server, rule=sc.TokenRule.of("qwen2.5-vl"), gate=gate, form="openai", ask="?",
            live=True, now=clock,
        )  # fmt: skip
        server.watcher = watcher
        found = list(watcher.answers())
    assert sorted(server.reached) == list(range(LINES))
    for line, at in server.reached.items():
        appeared = (line + 1) * EVERY / 4
        ends = [end for begin, end in FAULTS if begin <= appeared < end and kind != "reorder"]
        assert at <= max([appeared, *ends]) + 1.0, f"line {line}"
    assert watcher.counts.requests == len(found) + watcher.counts.failures
    assert (watcher.counts.failures > 0) == (kind != "reorder")
    assert max(server.tokens[1:]) <= 40  # behind the overview; all lines of the longest fault have 28
