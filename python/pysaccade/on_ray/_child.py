"""The program `saccade` as a child that ends with this process, however this process ends."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pysaccade._native._library import program

# Exit codes, as docs/SCALE.md lists them.
DONE, STOPPED, USAGE, PARTIAL, INTERRUPTED, UNAVAILABLE = 0, 1, 2, 3, 4, 69

_LOOK_S = 0.5
_PATIENCE_S = 20.0  # to end its workers after a signal
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class Ended(NamedTuple):
    """How the program ended: its exit code, below 0 a signal; what it printed; and its last line on stderr."""

    code: int
    said: str
    line: str

    @property
    def why(self) -> str:
        """One line, whatever it said."""
        return self.line or f"saccade ended with {self.code}"


def environment(storage_options: Mapping[str, Any] | None = None, scratch: str | None = None) -> dict[str, str]:
    """Of a child: which Python speaks to buckets, with which options; and a folder for what is being worked on."""
    more = {"SACCADE_PYTHON": sys.executable}
    if storage_options:
        more["SACCADE_STORAGE_OPTIONS"] = json.dumps(dict(storage_options))
    if scratch is not None:
        more["TMPDIR"] = scratch
    return more


def run(arguments: Sequence[str | os.PathLike[str]], more: Mapping[str, str], folder: Path | None = None) -> Ended:
    """Run `saccade ARGUMENTS...`. An exception here, such as KeyboardInterrupt, stops it first.

    Args:
        arguments: Of the program.
        more: Variables of the environment, besides those of this process.
        folder: Where it runs; None: here.

    Raises:
        UnavailableError: The program isn't there.
    """
    command = [str(program()), *(os.fspath(one) for one in arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **more},
        cwd=folder, preexec_fn=_end_with_parent,  # noqa: PLW1509  one system call, of a library that is loaded
    ) as process:  # fmt: skip
        try:
            said, error = (text.decode(errors="replace") for text in _communicate(process))
        except BaseException:
            _stop(process)
            raise
    lines = [line.removeprefix("saccade: ") for line in error.splitlines() if line.strip()]
    return Ended(process.returncode, said, lines[-1] if lines else "")


def _communicate(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=_LOOK_S)  # Ray's cancellation wakes no system call


def _end_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
