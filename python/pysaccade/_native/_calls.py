"""libsaccade, opened: its functions with their types, its errors as Python's."""

from __future__ import annotations

import ctypes
import functools
import re
from typing import Any, NoReturn, TypeVar

from pysaccade._native import _abi, _library
from pysaccade._native._errors import InputError, UnavailableError

_Struct = TypeVar("_Struct", bound=ctypes.Structure)
_C_NAME = re.compile(r"^saccade_\w+: ")  # that of the function which was called
# What would help, by Python's names of options. A hint that is missing here has the library's words.
_HINTS = {
    _abi.SACCADE_HINT_SMALLER_FRAME: "scale the video down, for example with vf='scale=4096:-2'",
    _abi.SACCADE_HINT_SMALLER_FRAME_OR_CPU: "scale the video down (vf='scale=4096:-2'), or pass device='cpu'",
    _abi.SACCADE_HINT_LESS_MEMORY: "free memory of the GPU, or use a smaller frame (vf='scale=...') or fewer levels",
    _abi.SACCADE_HINT_RAISE_PIXEL_LIMIT: "raise max_pixels, or scale the video down first",
    _abi.SACCADE_HINT_FEWER_PATCHES: "use a smaller e0 or a larger patch_size",
    _abi.SACCADE_HINT_MORE_PATCHES: "raise that number, patch_size or levels, or take a grid lattice",
    _abi.SACCADE_HINT_CPU_BACKEND: "device='cpu' needs no GPU",
    _abi.SACCADE_HINT_OTHER_BACKEND: "pass device='cpu' or 'auto'",
    _abi.SACCADE_HINT_GL_BACKEND: "pass backend='gl', or upload='direct'",
    _abi.SACCADE_HINT_DIRECT_UPLOAD: "upload='direct' needs no OpenGL",
    _abi.SACCADE_HINT_CPU_DECODING: "leave out hwdec and require_hwdec to decode on the CPU",
    _abi.SACCADE_HINT_RAW_PARAMETERS: "give input_format='rawvideo', input_size, pixel_format and input_rate",
    _abi.SACCADE_HINT_NO_INPUT_PARAMETERS: "leave out input_format, input_size, input_rate or pixel_format",
    _abi.SACCADE_HINT_CONVERT_FORMAT: "convert it with vf='format=yuv420p'",
    _abi.SACCADE_HINT_LONGER_TIMEOUT: "give it longer with open_timeout",
    _abi.SACCADE_HINT_ALLOW_NETWORK: "allow_network=True allows it, where you trust it",
}
_ERRORS: dict[int, type[Exception]] = {
    _abi.SACCADE_ERROR_USAGE: ValueError,
    _abi.SACCADE_ERROR_INPUT: InputError,
    _abi.SACCADE_ERROR_UNAVAILABLE: UnavailableError,
    _abi.SACCADE_ERROR_OUTPUT: OSError,
    _abi.SACCADE_ERROR_MEMORY: MemoryError,
}


@functools.lru_cache(maxsize=1)
def library() -> Any:
    """Open libsaccade, once. Every call through it lets other Python threads run.

    Raises:
        UnavailableError: It is missing, or of another version than this package.
    """
    loaded = _library.load()
    _abi.declare(loaded)
    version = loaded.saccade_version()
    if (version // 10000, version // 100 % 100) != _abi.VERSION:
        mine = ".".join(map(str, _abi.VERSION))
        raise UnavailableError(
            f"libsaccade: {loaded._name} is version {text(loaded.saccade_version_text())}, this package speaks {mine}; "
            "install both from one source, or unset SACCADE_LIBRARY"
        )
    return loaded


def text(raw: bytes | None) -> str:
    """A C string as Python's; bytes that are no UTF-8 are kept as surrogates, as in paths."""
    return raw.decode("utf-8", "surrogateescape") if raw else ""


def c_text(value: str, what: str) -> bytes:
    """A Python string as C's. A zero inside would end it early: ValueError."""
    if "\0" in value:
        raise ValueError(f"{what} holds a zero character")
    return value.encode("utf-8", "surrogateescape")


@functools.lru_cache(maxsize=1)
def _dashed_names() -> re.Pattern[str]:
    """The library's names of options that Python spells with underscores, where they stand alone."""
    names = [name for name in option_names() if "-" in name]
    return re.compile(r"(?<![\w/.-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w/-])")


@functools.lru_cache(maxsize=1)
def option_names() -> tuple[str, ...]:
    """The library's options of a stream, by their own names: "patch-size"."""
    lib = library()
    return tuple(text(describe(lib, index).name) for index in range(lib.saccade_option_count()))


def describe(lib: Any, index: int) -> _abi.saccade_option:
    """One row of the library's table of options."""
    row = new(_abi.saccade_option)
    check(lib.saccade_option_describe(index, ctypes.byref(row)))
    return row


def rows(function: str, struct: type[_Struct]) -> dict[str, _Struct]:
    """A table of the library that is read by index until its end: each row by its name."""
    describe_row = getattr(library(), function)
    found: dict[str, _Struct] = {}
    row = new(struct)
    while check(describe_row(len(found), ctypes.byref(row))) != _abi.SACCADE_END:
        found[text(row.name)] = row
        row = new(struct)
    return found


def new(struct: type[_Struct]) -> _Struct:
    """A struct of the C interface, ready to be filled."""
    made = struct()
    made.struct_size = ctypes.sizeof(struct)
    return made


def error(status: int, prefix: str = "") -> Exception:
    """Make the exception for a call that failed on this thread: the library's text and what it advises."""
    lib = library()
    what, names_all = _last_error(lib)
    hint = _HINTS.get(lib.saccade_last_error_hint_code()) or text(lib.saccade_last_error_hint())
    if status == _abi.SACCADE_ERROR_USAGE:  # names of options as Python writes them; other texts hold paths
        what = _C_NAME.sub("" if prefix else "libsaccade: ", what if names_all else python_names(what))
    line = f"{prefix}{what}" + (f"; {hint}" if hint else "")
    return _ERRORS.get(status, RuntimeError)(line)


def _last_error(lib: Any) -> tuple[str, bool]:
    """The line with the option that it is about as a caller writes it, patch_size=15; whether there is one.

    What stands before it is an input's name, which stays.
    """
    line = lib.saccade_last_error()
    at = ctypes.c_size_t()
    option = lib.saccade_last_error_option(ctypes.byref(at))
    if not option:
        return text(line), False
    rest = python_names(text(line[at.value + len(option) :]))
    if rest.startswith(" "):  # its value
        rest = "=" + rest[1:]
    return text(line[: at.value]) + text(option).replace("-", "_") + rest, True


def python_names(line: str) -> str:
    """The library's line with the names of options as Python spells them: patch_size."""
    return _dashed_names().sub(lambda found: found[0].replace("-", "_"), line)


def check(status: int, prefix: str = "") -> int:
    """Return a status that is no error; raise the exception of one that is."""
    if status < 0:
        fail(status, prefix)
    return status


def fail(status: int, prefix: str = "") -> NoReturn:
    """Raise the exception for a call that failed on this thread."""
    raise error(status, prefix)
