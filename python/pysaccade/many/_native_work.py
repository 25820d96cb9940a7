"""The program `saccade` as a child that never outlives this process."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from pysaccade._native._library import program
from pysaccade.many._tally import ALL_MAY_BE_BAD, TOO_MANY_BAD

_PATIENCE_S = 20.0  # to end its workers after a signal

# Exit codes, as docs/SCALE.md lists them.
DONE, STOPPED, USAGE, PARTIAL, INTERRUPTED, UNAVAILABLE = 0, 1, 2, 3, 4, 69

# As the program says it of what it stopped.
GOES_ON = "the same command goes on where it was left"
REFUSED = "no video takes the plan's options"
_OTHER_OPTIONS = (
    "plan again with other options, into another store, or, where some videos take them, do a unit of these first: "
    "--unit U"
)
_NOTE = "written to after `plan`"  # of inputs that may have changed, and were done
_STOPPED = re.compile(r"(?s).*?: stopped: (.*); (?:the same command|plan again) [^;]*")


class Ended(NamedTuple):
    """How the program ended: its exit code, below 0 a signal, and what it said last."""

    code: int
    line: str


def stop_line(code: int, why: str) -> str:
    """Why a run over units ended early, as the program says it, which names its option."""
    if code == USAGE and REFUSED not in why:  # of options of this very call
        return why
    said = why.replace(TOO_MANY_BAD, f"{TOO_MANY_BAD} --max-bad").replace(ALL_MAY_BE_BAD, "--max-bad 100")
    if TOO_MANY_BAD in why:
        return f"stopped: {said}"
    return f"stopped: {said}; {_OTHER_OPTIONS if code == USAGE else GOES_ON}"


def run(arguments: Sequence[str | os.PathLike[str]]) -> Ended:
    """Run `saccade ARGUMENTS... --until-eof`: it holds a pipe of this process, and stops when that closes.

    An exception here, such as KeyboardInterrupt, stops it first.

    Raises:
        UnavailableError: The program isn't there.
    """
    command = [str(program()), *(os.fspath(one) for one in arguments), "--until-eof"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None  # not communicate(): it would close stdin
            said = process.stderr.read().decode(errors="replace")
            process.wait()
        except BaseException:
            _stop(process)
            raise
    lines = [line.removeprefix("saccade: ") for line in said.splitlines() if line.strip()]
    for line in lines:
        if _NOTE in line:
            print(f"saccade: {line}", file=sys.stderr, flush=True)
    return Ended(process.returncode, _reason(lines[-1]) if lines else "")


def _reason(line: str) -> str:
    """Why it stopped, without the folder that it was given and what to do."""
    found = _STOPPED.fullmatch(line)
    return line if found is None else found[1]


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
