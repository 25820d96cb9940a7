"""The program `saccade` as it comes with the package: `dump()`, and the console script."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from pysaccade._native import _arguments, _arrays
from pysaccade._native._arguments import quoted, without_secrets
from pysaccade._native._errors import DamagedInputWarning, InputError, UnavailableError
from pysaccade._native._library import program
from pysaccade._native._scanpath import places_of

# Exit codes, as docs/DUMPS.md lists them.
_USAGE, _PARTIAL, _INTERRUPTED, _BAD_INPUT, _UNAVAILABLE = 2, 3, 4, 65, 69
# Options of the command line that have another place here.
_ELSEWHERE = {
    "output": "give the folder as `path`",
    "json": "the manifest is returned in any case",
    "print_config": "use the command line",
    "progress": "use the command line",
}
_NO_SETTINGS = ("config", "set")  # options of a dump or a view that --set does not take
_SAMPLES = {"uint8": "u8", "float16": "f16", "float32": "f32"}
_FLAGS = "overwrite|resume|loop|allow-network|require-hwdec"
_LOG_LINE = re.compile(r"saccade: (trace|debug|info|warning|error|critical): (.*)")
_RATE = 4.0  # fixations a second, by default
_SOON_S = 0.5  # a terminal's Ctrl-C reaches the program, too: it has this long to end by itself
_PATIENCE_S = 5.0


def dump(source: str | os.PathLike[str], path: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Turn a video into a dump on disk, which `Dump` reads: `saccade dump SOURCE -o PATH`, and the very same bytes.

    The program that comes with this package runs as a process of its own. Ctrl-C ends it promptly; what was written
    until then can be read with `Dump(path, require_complete=False)`. Its warnings go to the logger "pysaccade".

    Args:
        source: A file, a URL, a device, "screen:", "lavfi:GRAPH", "test://NAME", or "-" for stdin.
        path: The folder of the dump.
        **options: The command line's by their names (docs/OPTIONS.md), with underscores: `every="frame"`,
            `tokens=160`, `overwrite=True`. None is the default. Numbers in a list are joined by commas; a list of
            texts or of lists gives the option once for each: `ignore=["mask.png", (0, 0, 200, 60)]`. `device` is also
            "cpu", "cuda", "cuda:1" or a torch.device, and `fixation` a place or a scanpath in memory, as `Stream`'s.

    Returns:
        The dump's manifest: counts, drops, errors, times.

    Raises:
        TypeError: There is no such option, or its value is of no type that an option has.
        ValueError: An option's value is wrong, options conflict, or `path` holds something else.
        InputError: The source can't be used.
        UnavailableError: A device or a library is missing or has failed.
        OSError: The dump can't be written.

    Warns:
        DamagedInputWarning: The input is damaged or was cut short; what could be decoded was kept.
    """
    name, folder = _path("source", source), _path("path", path)
    command = [str(program()), "dump", f"--output={folder}", "--json", "--progress=none", "--log-level=warn"]
    with tempfile.TemporaryFile() as scanpath:
        for key, value in _as_the_program_says(options, name == "-", scanpath).items():
            command += _options(key, value)
        code, said = _run([*command, "--", name], None if name == "-" else scanpath.fileno(), scanpath.fileno())
    words = said_in_python(said)
    manifest = Path(folder, "manifest.json")
    if code not in (0, _PARTIAL) and not (code == _INTERRUPTED and manifest.exists()):
        raise exception_of("dump", code, words or f"{without_secrets(name)}: no dump was made")
    if not manifest.exists():
        raise InputError(words or f"{without_secrets(name)}: no dump was made")
    if code == _PARTIAL:
        warnings.warn(words, DamagedInputWarning, stacklevel=2)
    content: dict[str, Any] = json.loads(manifest.read_bytes())
    return content


def _as_the_program_says(options: dict[str, Any], reads_stdin: bool, scanpath: IO[bytes]) -> dict[str, Any]:
    """A Stream's forms of `device` and `fixation` as the program has them.

    Many places are written to `scanpath`, which it finds as its stdin: the same name each time, so that resume=True
    finds the same options.
    """
    said = dict(options)
    device, fixation = said.get("device"), said.get("fixation")
    if (isinstance(device, str) and not device.isdecimal()) or type(device).__name__ == "device":
        name, said["device"] = _arrays.device_of(device, "dump")
        backend = said.get("backend")
        if name != "auto":
            if backend not in (None, "auto", name):
                raise ValueError(
                    f"dump: device={quoted(str(device))} conflicts with backend={quoted(backend)}; leave one out"
                )
            said["backend"] = name
    if fixation is None or isinstance(fixation, (str, os.PathLike)):
        return said
    if callable(fixation) and not hasattr(fixation, "__array__"):
        raise TypeError(
            "dump: a callable fixation can't be asked by the program; iterate over a Stream, or pass places"
        )
    places = places_of(fixation, said.get("rate") or _RATE, "dump")
    if isinstance(places, tuple):
        said["fixation"] = f"center:{places[0]!r},{places[1]!r}"
    else:
        rows = (",".join(map(repr, row)) for row in places.tolist())
        scanpath.write("\n".join(["t_s,u,v", *rows, ""]).encode())
        scanpath.seek(0)
        said["fixation"] = f"file:/dev/fd/{scanpath.fileno()}" if reads_stdin else "file:/dev/stdin"
    return said


def main() -> int:
    """Become the program `saccade`, with this process's arguments: the console script of the package."""
    try:
        path = program()
    except UnavailableError as error:
        print(f"saccade: {error}", file=sys.stderr)
        return _UNAVAILABLE
    os.environ.setdefault("SACCADE_PYTHON", sys.executable)  # runs the helper for buckets, docs/STORE.md
    os.execv(path, [str(path), *sys.argv[1:]])


def command_line(options: Mapping[str, Any]) -> list[str]:
    """Options by their Python names as the program takes them.

    Raises:
        TypeError: One has another place, or its value is of no type that an option has.
    """
    return [argument for key, value in options.items() for argument in _options(key, value)]


def _path(argument: str, value: Any) -> str:
    return _arguments.path(value, "dump", argument)


def _options(key: str, value: Any) -> list[str]:
    """One option as the command line takes it, its value behind '=': so that it may begin with a dash."""
    if key in _ELSEWHERE:
        raise TypeError(f"dump: option {key}: {_ELSEWHERE[key]}")
    if value is None:
        return []
    if key == "dtype" and not (isinstance(value, str) and value in _SAMPLES.values()):
        value = _sample_type(value)
    return option_arguments("dump", key, value)


def option_arguments(command: str, key: str, value: Any) -> list[str]:
    """One option or setting of a command as the command line takes it; of None nothing."""
    if value is None:
        return []
    is_list = isinstance(value, (list, tuple))
    repeats = is_list and any(isinstance(item, (str, os.PathLike, list, tuple)) for item in value)
    name = key.replace("_", "-")
    flag = f"--{name}" if name in _NO_SETTINGS else f"--set={name}"
    return [f"{flag}={_text(command, key, item)}" for item in (value if repeats else [value])]


def _sample_type(value: Any) -> str:
    """u8, f16 or f32, also by the names of NumPy's and torch's types."""
    name = str(getattr(value, "__name__", value)).removeprefix("torch.")
    return _SAMPLES.get(name, name)


def _text(command: str, key: str, value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    if isinstance(value, bool) or type(value).__name__ == "bool":  # Python's and NumPy's
        return "true" if value else "false"
    dimensions = getattr(value, "ndim", 0)
    if isinstance(value, (list, tuple)) or dimensions == 1:
        return ",".join(_text(command, key, item) for item in value)
    if dimensions == 0 and hasattr(value, "__index__"):
        with contextlib.suppress(TypeError):  # an array of one float
            return str(value.__index__())
    if dimensions == 0 and hasattr(value, "__float__"):
        return repr(float(value))
    raise TypeError(f"{command}: option {key} is of type {type(value).__name__}; give a text, a number, True or a list")


def _run(command: list[str], stdin: int | None, kept_open: int) -> tuple[int, str]:
    """Run the program and give its exit code and what it says on stderr."""
    with subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=(kept_open,)
    ) as process:
        try:
            said = process.communicate()[1]
        except BaseException:
            _stop(process)
            raise
    return process.returncode, said.decode(errors="replace")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the program as Ctrl-C does, so that it keeps what it has; by force where it doesn't."""
    try:
        for patience in (_SOON_S, _PATIENCE_S):
            try:
                process.communicate(timeout=patience)
                return
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
    finally:
        process.kill()


def said_in_python(said: str) -> str:
    """What the program says of its run, in Python's words. Log lines go to the logger."""
    logger, lines = logging.getLogger("pysaccade"), []
    for line in said.splitlines():
        if logged := _LOG_LINE.fullmatch(line):
            logger.log(getattr(logging, logged[1].upper(), logging.DEBUG), "%s", logged[2])
        else:
            lines.append(line.removeprefix("saccade: "))
    text = re.sub(r"--set ([a-z])", r"--\1", "\n".join(lines))
    text = re.sub(
        r"(?m)(^|: )--([a-z][a-z0-9-]*) (.+?): ", lambda found: f"{found[1]}{_python_name(found[2])}={found[3]}: ", text
    )
    text = re.sub(rf"(?<![\w/.-])--({_FLAGS})(?![\w:-])", lambda found: f"{_python_name(found[1])}=True", text)
    text = re.sub(r"(?<![\w/.-])--([a-z][a-z0-9-]*)", lambda found: _python_name(found[1]), text)
    return re.sub(r"(?<![\w/.-])-o(?![\w-])", "path", text)


def _python_name(option: str) -> str:
    return option.replace("-", "_")


def exception_of(command: str, code: int, text: str) -> Exception:
    """What an exit code and its words are in Python."""
    if code == _USAGE:
        unknown = "unknown option" in text or "not an option of" in text
        return (TypeError if unknown else ValueError)(f"{command}: {text}")
    if code == _INTERRUPTED:
        return InterruptedError(text)
    if code in (_BAD_INPUT, _PARTIAL):
        return InputError(text)
    if code == _UNAVAILABLE:
        return UnavailableError(text)
    if code < 0:
        return RuntimeError(f"{command}: saccade was ended by {signal.Signals(-code).name}; {text}")
    return OSError(text)


if __name__ == "__main__":
    sys.exit(main())
