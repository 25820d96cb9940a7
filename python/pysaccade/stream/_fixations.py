"""Where the eye of a stream goes: an option of the library's, a scanpath in memory, or a callable of the caller's."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native import _abi, _arrays
from pysaccade._native._arguments import quoted
from pysaccade._native._scanpath import Rows, places_of
from pysaccade.stream._handle import Handle


class FixationRequest(NamedTuple):
    """The fixation that a callable is asked for: `stream.request` while it runs."""

    fixation: int
    """Its number, from 0."""
    frame: int
    pts_ns: int
    """Number and time of the frame at which it is asked for; `stream.texture` holds that frame."""
    uv: tuple[float, float]
    """Where the eye is now; (0.5, 0.5) before the first fixation."""
    first: bool
    """Nothing was fixated before."""


class Fixation:
    """An option of the library's."""

    def __init__(self, option: str = "novelty") -> None:
        self.option = option
        self.request: FixationRequest | None = None
        self.asking: int | None = None  # the thread on which a callable of the caller's runs now

    def give_to(self, handle: Handle, stream: Any) -> None:
        """Tell the library what no option says, before a source is opened."""

    def error(self) -> BaseException | None:
        """What a callable of the caller's has raised since this was asked last."""
        return None


class Scanpath(Fixation):
    """Rows of t_s, u, v, in memory."""

    def __init__(self, rows: Rows) -> None:
        super().__init__()
        self._rows = rows

    def give_to(self, handle: Handle, stream: Any) -> None:
        """Copy the rows into the library."""
        del stream
        handle.call("set_scanpath", _arrays.address(self._rows), len(self._rows), prefix="Stream: fixation: ")


class Asked(Fixation):
    """A callable that is given the stream and returns (u, v), or None to leave it to "novelty"."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function
        self._raised: BaseException | None = None

    def give_to(self, handle: Handle, stream: Any) -> None:
        """Have the callable asked; the library then holds no reference that keeps the stream alive."""
        held = weakref.ref(self)
        to = weakref.ref(stream)

        def ask(_user: int | None, request: Any, u: int, v: int) -> int:
            mine, asked = held(), to()
            if mine is None or asked is None:
                return _abi.SACCADE_LATER
            return mine._ask(asked, request.contents, u, v)

        function = _abi.saccade_fixation_function(ask)
        handle.keep(function)
        handle.call("set_fixation", function, None)

    def _ask(self, stream: Any, request: _abi.saccade_fixation_request, u: int, v: int) -> int:
        self.request = FixationRequest(
            request.fixation, request.frame, request.pts_ns, (request.u, request.v), request.first != 0
        )
        self.asking = threading.get_ident()
        try:
            answer = self._function(stream)
            if answer is None:
                return _abi.SACCADE_LATER
            place = _place(answer)
            ctypes.c_float.from_address(u).value, ctypes.c_float.from_address(v).value = place
        except BaseException as error:
            self._raised = error
            return _abi.SACCADE_ERROR_USAGE
        finally:
            self.request = self.asking = None
        return _abi.SACCADE_OK

    def error(self) -> BaseException | None:
        """What the callable has raised since this was asked last."""
        raised, self._raised = self._raised, None
        return raised


def _place(answer: Any) -> tuple[float, float]:
    point = _arrays.as_host_array(answer, "Stream: fixation's answer").astype(np.float64).reshape(-1)
    if point.shape != (2,) or not ((point >= 0) & (point <= 1)).all():
        raise ValueError(f"Stream: fixation answered {quoted(answer)}; return (u, v) with both from 0 to 1, or None")
    return float(point[0]), float(point[1])


def fixation_of(fixation: Any, rate: Any) -> Fixation:
    """Read the argument `fixation` of a stream. `rate`: fixations a second, for scanpaths without times.

    Raises:
        TypeError, ValueError: It is none of what Stream says.
    """
    if isinstance(fixation, str):
        return Fixation(fixation)
    if callable(fixation) and not hasattr(fixation, "__array__"):
        return Asked(fixation)
    places = places_of(fixation, rate, "Stream")
    if isinstance(places, tuple):
        return Fixation(f"center:{places[0]!r},{places[1]!r}")
    return Scanpath(places)
