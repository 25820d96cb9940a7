"""Plans of small clips, and what a plain run makes of them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from conftest import ROOT
from pysaccade._native._library import program

OPTIONS = ("--tokens", "48", "--rate", "2", "--unit-seconds", "2", "--backend", "cpu")
DUMP_OPTIONS = OPTIONS[:4] + OPTIONS[6:]


def make_clips(ffmpeg: str, folder: Path, count: int) -> list[Path]:
    """Clips of one second that differ, 160x96."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for i in range(count):
        path = folder / f"clip{i:02}.mp4"
        graph = f"testsrc2=s=160x96:r=10:d=1,hue=h={7 * i}"
        command = [ffmpeg, "-v", "error", "-f", "lavfi", "-i", graph, "-g", "5", "-threads", "1", path]
        subprocess.run(command, check=True)
        made.append(path)
    return made


def environment(**more: str) -> dict[str, str]:
    """Of a process that imports this checkout's package, or whose helper does."""
    path = os.pathsep.join(filter(None, (str(ROOT / "python"), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, "SACCADE_PYTHON": sys.executable, **more}


def saccade(*arguments: object, expect: Iterable[int] = (0,), **more: str) -> subprocess.CompletedProcess[str]:
    """`saccade ARGUMENTS...`; more: of the environment."""
    return _ended([str(program()), *map(str, arguments)], expect, environment(**more))


def python_work(*arguments: object, expect: Iterable[int] = (0,), **more: str) -> subprocess.CompletedProcess[str]:
    """`python -m pysaccade.work ARGUMENTS...`."""
    command = [sys.executable, "-W", "error", "-m", "pysaccade.work", *map(str, arguments)]
    return _ended(command, expect, environment(**more))


def _ended(command: list[str], expect: Iterable[int], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=variables, stdin=subprocess.DEVNULL
    )  # fmt: skip
    assert done.returncode in set(expect), (done.returncode, done.stdout, done.stderr)
    return done


def counts(markers: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    markers = list(markers)
    return {name: sum(marker[name] for marker in markers) for name in ("items", "done", "damaged", "quarantined")}


def named_hashes(markers: Iterable[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    """Unit -> the checksums of shard and index that its marker names."""
    return {
        marker["unit"]: [marker[kind] and marker[kind]["sha256"] for kind in ("shard", "index")] for marker in markers
    }


def markers_of(store: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((store / "commits").glob("*.json"))]


def check_named_files(store: Path) -> None:
    """What markers name is there, to the byte."""
    for marker in markers_of(store):
        for kind in ("shard", "index", "quarantine"):
            if marker[kind]:
                content = (store / marker[kind]["name"]).read_bytes()
                assert hashlib.sha256(content).hexdigest() == marker[kind]["sha256"]


def keys_of(store: Path) -> list[str]:
    """The keys in all shards that markers name; a key that stands twice is there twice."""
    found = []
    for marker in markers_of(store):
        if marker["shard"]:
            with tarfile.open(store / marker["shard"]["name"]) as archive:
                found += [name.removesuffix(".json") for name in archive.getnames() if name.endswith(".json")]
    return found
