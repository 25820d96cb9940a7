"""What a command line asks for: options of ours, and those of the program, which the program itself checks."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from pysaccade._native._library import program
from pysaccade.many._native_work import DONE, USAGE
from pysaccade.many._put_plan import RefusedError

NATIVE = ("plan", "work", "status", "verify", "gc", "retry")
"""Commands of the program."""
_SHARED = ("--shard", "--unit", "--engine", "--max-bad", "--metrics", "--older-than", "--progress")
_NOWHERE = "/dev/null/STORE"  # there can be no such file


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise RefusedError(USAGE, f"{message}; see python -m pysaccade.work --help")


def parsed(given: Sequence[str], commands: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options that are read here, and the others.

    Raises:
        RefusedError: There is no such command, or no STORE.
    """
    parser = _Parser(prog="python -m pysaccade.work", add_help=False, allow_abbrev=False)
    parser.add_argument("command", choices=list(commands))
    parser.add_argument("first", metavar="STORE")
    parser.add_argument("-o", "--output")
    parser.add_argument("--scratch")
    parser.add_argument("--storage-options", type=json.loads, default={})
    for name in (*_SHARED, "--glob", "--suffix"):
        parser.add_argument(name)
    return parser.parse_known_args(given)


def shared(options: argparse.Namespace) -> list[str]:
    """The program's options among those that are read here, as they were given."""
    values = {name: getattr(options, name[2:].replace("-", "_")) for name in _SHARED}
    return [text for name, value in values.items() if value is not None for text in (name, value)]


def check(options: argparse.Namespace, rest: Sequence[str]) -> bool:
    """Have all options checked, before anything happens. False: the program was asked to say something, and has.

    Raises:
        RefusedError: An option is wrong, or none of this command.
    """
    lists = {"--glob": options.glob, "--suffix": options.suffix}
    asked = [name for name, value in lists.items() if value is not None]
    if options.command not in NATIVE:
        nothing_else([*([] if options.command == "list" else asked), *shared(options), *rest_without_json(rest)[1]])
        return True
    output = [] if options.output is None else ["-o", f"{_NOWHERE}/OUTPUT"]
    return check_native(options.command, options.first, [*output, *shared(options), *rest, *asked])


def check_native(command: str, store: str, arguments: Sequence[str | os.PathLike[str]]) -> bool:
    """Have the program check options of a command. False: it was asked to say something, and has.

    Raises:
        RefusedError: One is wrong; with the program's code and line.
        UnavailableError: The program isn't there.
    """
    done = subprocess.run(
        [program(), command, _NOWHERE, *arguments], capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode == DONE:
        sys.stdout.write(done.stdout)
        return False
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    last = lines[-1] if lines else f"saccade {command} ended with {done.returncode}"
    if last.startswith(f"saccade: {_NOWHERE}: "):  # all options are right: it looked for the store
        return True
    raise RefusedError(done.returncode, last.removeprefix("saccade: ").replace(_NOWHERE, store))


def with_settings(options: argparse.Namespace, rest: list[str]) -> list[str]:
    """The program's other options, with what a file of --config says, and those that are read here are set by it."""
    if not any(option.startswith(("--config", "--json=")) for option in rest):
        return rest
    command = [options.command, _NOWHERE, *shared(options), *rest, "--print-config"]
    found: list[str] = []
    for name, text in re.findall(r"^([a-z-]+) = (.*)$", program_says(command)[1], re.MULTILINE):
        value = re.sub("[ '\"]", "", text[1:-1]) if text[:1] == "[" else text.strip("'\"")
        if f"--{name}" in _SHARED:
            setattr(options, name.replace("-", "_"), value)
        elif text != "false":
            found.append(f"--{name}" if text == "true" else f"--{name}={value}")
    return found


def rest_without_json(rest: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether --json is among the options, and the others."""
    return "--json" in rest, [option for option in rest if option != "--json"]


def asks_json(options: argparse.Namespace, rest: list[str]) -> bool:
    """Whether --json is asked of a command that has nothing to log; the program has checked the other options."""
    return rest_without_json(with_settings(options, rest))[0]


def nothing_else(rest: Sequence[str]) -> None:
    """Raise RefusedError where options are left."""
    if rest:
        raise RefusedError(USAGE, f"{rest[0]}: unknown option here; see python -m pysaccade.work --help")


def run_program(arguments: Sequence[str]) -> int:
    """Run the program on this terminal."""
    with subprocess.Popen([program(), *arguments]) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # a terminal's reaches the program, too
                continue


def program_says(arguments: Sequence[str]) -> tuple[int, str, str]:
    """Its exit code, and what it says on stdout and stderr."""
    done = subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr
