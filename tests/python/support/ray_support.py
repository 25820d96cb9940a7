"""A cluster of two nodes with two logical CPUs each, and what is needed to kill parts of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from many_support import environment


class Driver(subprocess.Popen[str]):
    """A process that uses the cluster, and how to start it again."""

    def __init__(self, command: list[str], more: dict[str, str]) -> None:
        self.again = lambda: Driver(command, more)
        super().__init__(command, env=more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Rig:
    """The cluster's process, and the environment of its drivers."""

    def __init__(self, top: Path, **more: str) -> None:
        self.environment = environment(
            HOME=str(top), RAY_AUTH_MODE="disabled", RAY_TMPDIR=str(top), RAY_USAGE_STATS_ENABLED="0",
            RAY_DEDUP_LOGS="0", RAY_health_check_timeout_ms="3000", RAY_health_check_period_ms="1000",
            RAY_health_check_failure_threshold="3", RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0", **more,
        )  # fmt: skip
        with (top / "cluster.log").open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("ray_cluster.py"))], env=self.environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        self._log = top / "cluster.log"
        self._hear()

    def _hear(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                told = json.loads(line)
                self.raylets: list[int] = told["raylets"]
                self.environment["RAY_ADDRESS"] = told["address"]
                return
        pytest.fail(self._log.read_text())

    def tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        self._hear()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def python(self, *arguments: object) -> Driver:
        """A driver."""
        return Driver([sys.executable, "-W", "ignore", *map(str, arguments)], self.environment)

    def run(self, store: Path | str, *options: object) -> Driver:
        """`python -m pysaccade.ray STORE`, in which what was killed is soon known to be."""
        return self.python("-m", "pysaccade.ray", store, "--set", "claim-seconds=3", *options)


@contextlib.contextmanager
def ray_rig(**more: str) -> Iterator[Rig]:
    top = Path(tempfile.mkdtemp(prefix="sr", dir="/tmp"))  # short: sockets' names have 107 bytes
    rig = Rig(top, **more)
    try:
        yield rig
    finally:
        rig.close()
        shutil.rmtree(top, ignore_errors=True)


def processes() -> dict[int, tuple[int, str]]:
    """Number -> parent's number and command line of all processes."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if command:
                found[int(folder.name)] = (parent, command)
    return found


def tasks_of(raylets: list[int]) -> list[int]:
    """Ray's processes that run the program."""
    table = processes()
    return [number for number, (parent, command) in table.items() if "ray::_work" in command and parent in raylets]


def programs_of(store: Path) -> list[int]:
    """The program's processes that work on this store."""
    return [n for n, (_, command) in processes().items() if f"work {store}" in command and "pysaccade" not in command]


def kill(numbers: list[int]) -> None:
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
