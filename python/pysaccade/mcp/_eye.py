"""`Eye`: a stream that is looked at when somebody asks, and what it showed at the last marks."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import numpy as np

from pysaccade.emission._emission import Emission
from pysaccade.mcp._changes import Box, Picture, boxes_of, common
from pysaccade.models._rules import TokenRule, rule_of
from pysaccade.models._views import Views, of_emission
from pysaccade.stream._stream import Stream

_KEPT_MARKS = 4  # a picture each
_PATIENCE_S = 5.0  # for a frame of a live input
_FRESH_S = 1.0  # a sender's clock may be wrong: what arrives later than this counts as new


class EyeError(Exception):
    """What was asked for can't be shown; the text says why, for the agent."""


def _without_cues(source: str) -> str:
    """A screen's name that asks its server for no focus and no keys: they weigh only with lattice adaptive."""
    if not source.startswith("screen:") or "cues=" in source:
        return source
    return f"{source}{'&' if '?' in source else '?'}cues=no"


class Eye:
    """The newest frame of an input, at the moment of each call.

    Of a live input a call waits for a frame that was captured after it began, so that what it shows is not older than
    the question. Of a file each `look` goes on by one frame, and the last one stays. Between calls nothing is decoded.
    Calls of several threads are served one after another.
    """

    def __init__(self, source: str, model: str = "claude") -> None:
        """Open the input.

        Raises:
            TypeError, ValueError, InputError, UnavailableError: As `Stream` and `TokenRule.of`.
        """
        self.rule: TokenRule = rule_of(model, "mcp")
        # Pictures are RGBA: a screen's are, and of a video FFmpeg makes them.
        vf = None if source.startswith(("screen:", "test:")) else "format=rgba"
        self._stream = Stream(
            _without_cues(source),
            device="cpu",
            array="numpy",
            lattice="uniform",
            tokens=16,
            fixation="center",
            every="frame",
            vf=vf,
        )
        if self._stream.geometry.plane_count != 1:
            self._stream.close()
            raise ValueError("mcp: a test source has no RGB; name a clip, a camera or a screen")
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="eye")
        self._lock = threading.RLock()
        self._next: Future[Emission | None] | None = None  # a frame that was asked for and has not come yet
        self._emission: Emission | None = None  # the newest
        self._picture: Picture | None = None  # of the newest emission; None: it was not read yet
        self._marks: OrderedDict[int, Picture] = OrderedDict()
        self._last_mark = 0

    @property
    def lock(self) -> threading.RLock:
        """For a caller that must work with what the eye gave before another call is served."""
        return self._lock

    @property
    def size(self) -> tuple[int, int]:
        """(W, H) of the picture in pixels."""
        height, width = self._stream.info.size
        return width, height

    @property
    def what(self) -> str:
        """What is captured, in a sentence."""
        info = self._stream.info
        width, height = self.size
        notes = info.notes if info.container == "screen" else ()
        return "; ".join((f"{info.uri}, {width}x{height} pixels", *notes))

    def close(self) -> None:
        """End the stream."""
        self._stream.close()
        self._worker.shutdown()

    # ---- frames ------------------------------------------------------------------------------------------------------

    def _pull(self, seconds: float) -> bool:
        """Take the next frame. False: it did not come in time, or the input has ended and stays as it is."""
        if self._next is None:
            self._next = self._worker.submit(next, self._stream, None)
        try:
            emission = self._next.result(max(seconds, 0))
        except NotYet:
            return False
        except Exception as error:
            self._next = None
            raise EyeError(str(error)) from error
        self._next = None
        if emission is None:
            if self._emission is None or self._stream.info.live:
                raise EyeError(f"{self._stream.info.uri} has ended; start the server again")
            return False
        if emission.damaged_tiles or self._emission is None or emission.gaps != self._emission.gaps:
            self._picture = None
        self._emission = emission
        return True

    def _refresh(self, *, step: bool = False) -> Emission:
        """The frame of now; `step`: of a file the next one."""
        begin_ns, end = time.time_ns(), time.monotonic() + _FRESH_S
        if not self._stream.info.live:
            if step or self._emission is None:
                self._pull(_PATIENCE_S)
        else:
            while True:
                if not self._pull(_PATIENCE_S):
                    raise EyeError(f"no picture came from {self._stream.info.uri} for {_PATIENCE_S:g} s; try again")
                assert self._emission is not None
                if self._emission.captured_unix_ns >= begin_ns or time.monotonic() >= end:
                    break
        assert self._emission is not None
        return self._emission

    def _pixels(self) -> Picture:
        """[H, W, 4] of the newest frame. It is not written to."""
        if self._picture is None:
            self._picture = self._stream.texture.level(0)
        return self._picture

    def _mark(self) -> int:
        """Of the newest frame: the last mark again if no pixel was drawn since."""
        picture = self._pixels()
        if self._marks.get(self._last_mark) is not picture:
            self._last_mark += 1
            self._marks[self._last_mark] = picture
        while len(self._marks) > _KEPT_MARKS:
            self._marks.popitem(last=False)
        return self._last_mark

    # ---- what is asked -----------------------------------------------------------------------------------------------

    def look(self, budget: int, *, everything: bool = False) -> tuple[Views, int]:
        """What is new since the last look, in at most `budget` tokens, and a mark. `everything`: as at the first."""
        with self._lock:
            emission = self._refresh(step=True)
            if everything:
                self._stream.forget()
            return of_emission(emission, budget, self.rule, None, False), self._mark()

    def pixels(self, box: Box) -> tuple[Picture, Box, int]:
        """[h, w, 3] of a box of the frame, the box that lies inside the frame, and a mark."""
        with self._lock:
            self._refresh()
            left, top, right, bottom = inside = self.inside(box)
            part = np.ascontiguousarray(self._pixels()[top:bottom, left:right, :3])
            return part, inside, self._mark()

    def changed_since(self, mark: int) -> tuple[list[Box], int]:
        """Where the frame differs from what it was at a mark, and a mark of now."""
        with self._lock:
            before = self._marks.get(mark)
            if before is None:
                kept = ", ".join(map(str, self._marks)) or "none yet"
                raise EyeError(f"mark {mark} is not kept; the marks that are: {kept}")
            self._refresh()
            return self._differences(before, None), self._mark()

    def wait_for_change(self, region: Box | None, seconds: float) -> tuple[list[Box], int, float]:
        """Wait until a pixel of the region differs. Returns where (nowhere: time is over), a mark and the seconds."""
        begin = time.monotonic()
        with self._lock:
            self._refresh()
            inside = None if region is None else self.inside(region)
            before = self._pixels()
            boxes: list[Box] = []
            while not boxes and (left := begin + seconds - time.monotonic()) > 0:
                if not self._pull(min(left, _PATIENCE_S)):
                    if self._stream.info.live:
                        continue
                    break
                boxes = self._differences(before, inside)
            return boxes, self._mark(), time.monotonic() - begin

    def frame(self) -> tuple[Picture, int]:
        """[H, W, 4] of now, which is not written to, and a mark."""
        with self._lock:
            self._refresh()
            return self._pixels(), self._mark()

    def _differences(self, before: Picture, region: Box | None) -> list[Box]:
        now = self._pixels()
        if now is before:
            return []
        if region is None:
            return boxes_of(before, now)
        left, top, right, bottom = region
        found = boxes_of(before[top:bottom, left:right], now[top:bottom, left:right])
        return [(x0 + left, y0 + top, x1 + left, y1 + top) for x0, y0, x1, y1 in found]

    def inside(self, box: Any) -> Box:
        """The part of a box that lies in the frame."""
        width, height = self.size
        found = common((int(box[0]), int(box[1]), int(box[2]), int(box[3])), (0, 0, width, height))
        if found is None:
            raise EyeError(
                f"the box {list(box)} holds no pixel of the picture; boxes are left, top, right, bottom, from 0,0 to "
                f"{width},{height}"
            )
        return found
