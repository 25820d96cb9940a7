"""Options of a stream: Python's values as the texts that the library reads, under the command line's names."""

from __future__ import annotations

import difflib
import functools
import numbers
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pysaccade._native import _abi, _calls
from pysaccade._native._arguments import deprecated, shown


class Option(NamedTuple):
    """One option of the library, as Python names it: `patch_size`."""

    name: str
    native_name: str
    group: str
    kind: int
    choices: str
    help: str
    instead: str  # not empty: it leaves with the next version


@functools.lru_cache(maxsize=1)
def table() -> dict[str, Option]:
    """Every option of a stream by its name in Python."""
    lib = _calls.library()
    rows = (_calls.describe(lib, index) for index in range(lib.saccade_option_count()))
    options = [
        Option(
            name=_calls.text(row.name).replace("-", "_"),
            native_name=_calls.text(row.name),
            group=_calls.text(row.group),
            kind=row.kind,
            choices=_calls.text(row.choices),
            help=_calls.text(row.help),
            instead=_calls.text(row.instead),
        )
        for row in rows
    ]
    return {option.name: option for option in options}


def unknown_name(name: str, more: Sequence[str] = ()) -> TypeError:
    """Make the error for a keyword that is no option; `more`: the caller's own keywords."""
    near = ""
    lib = _calls.library()
    handle = lib.saccade_options_new()
    try:  # the library knows which of its names comes near
        if lib.saccade_options_set(handle, _calls.c_text(name.replace("_", "-"), "an option's name"), b"") < 0:
            near = _calls.text(lib.saccade_last_error()).partition("; ")[2].replace("-", "_")
    finally:
        lib.saccade_options_free(handle)
    if not near:
        found = difflib.get_close_matches(name, [*more, *table()], n=1)
        near = f"did you mean '{found[0]}'?" if found else "docs/OPTIONS.md lists all options"
    return TypeError(f"Stream: unknown option '{name}'; {near}")


def text_of(option: Option, value: Any) -> str:
    """The text of a value, as the command line would have it.

    Raises:
        TypeError: Nothing of that type can be meant.
    """
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        if option.kind == _abi.SACCADE_VALUE_FLAG or option.name == "loop":
            return "true" if value else "false"
        raise _wrong_type(option, value)
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        if isinstance(path, str):
            return path
        raise _wrong_type(option, value)
    if option.kind == _abi.SACCADE_VALUE_FLAG:
        raise _wrong_type(option, value)
    if option.kind == _abi.SACCADE_VALUE_INTEGERS and isinstance(value, Iterable):
        return ",".join(_number(option, each) for each in value)
    return _number(option, value)


def _number(option: Option, value: Any) -> str:
    """A number's text: Python's own, NumPy's, a Fraction, or a tensor of one."""
    if option.kind == _abi.SACCADE_VALUE_CHOICE or isinstance(value, (bool, str, bytes)):
        raise _wrong_type(option, value)
    if isinstance(value, numbers.Rational) and not isinstance(value, numbers.Integral):
        return f"{value.numerator}/{value.denominator}"
    try:
        return str(value.__index__())
    except (AttributeError, TypeError, ValueError):
        pass
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        raise _wrong_type(option, value) from None


def _wrong_type(option: Option, value: Any) -> TypeError:
    wanted = {
        _abi.SACCADE_VALUE_FLAG: "True or False",
        _abi.SACCADE_VALUE_TEXT: "a text",
        _abi.SACCADE_VALUE_CHOICE: "one of " + option.choices.replace("|", ", "),
        _abi.SACCADE_VALUE_INTEGER: "an integer",
        _abi.SACCADE_VALUE_NUMBER: "a number",
        _abi.SACCADE_VALUE_INTEGERS: "a list of integers",
        _abi.SACCADE_VALUE_WORD_OR_INTEGER: "an integer or " + option.choices.replace("|", ", "),
    }[option.kind]
    return TypeError(f"Stream: {option.name} takes {wanted}, not {shown(value)}")


class NativeOptions:
    """The library's options of one stream; the caller frees them."""

    def __init__(self) -> None:
        self.handle: int = _calls.library().saccade_options_new()
        if not self.handle:
            raise MemoryError("out of memory")

    def set(self, name: str, value: Any) -> None:
        """Set an option by its name in Python; None leaves it at its default.

        Raises:
            ValueError: The option can't have this value.
        """
        if value is None:
            return
        option = table()[name]
        if option.instead:
            deprecated("Stream", name, option.instead)
        raw = _calls.c_text(text_of(option, value), f"Stream: {name}")
        lib = _calls.library()
        _calls.check(lib.saccade_options_set(self.handle, option.native_name.encode(), raw), "Stream: ")

    def free(self) -> None:
        """Free them; once."""
        _calls.library().saccade_options_free(self.handle)
