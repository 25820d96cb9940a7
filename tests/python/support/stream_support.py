"""What the tests of `Stream` share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from fractions import Fraction
from pathlib import Path

import numpy as np

from conftest import ROOT


def ffprobe_pts_ns(path: Path, frames: int) -> list[int]:
    """Presentation times of the first frames, by ffprobe."""
    shown = subprocess.run(
        [
            "ffprobe",
            "-v",
            "error",
            "-select_streams",
            "v:0",
            "-show_entries",
            "frame=pts:stream=time_base",
            "-of",
            "json",
            "-read_intervals",
            f"%+#{frames + 20}",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(shown.stdout)
    base = Fraction(found["streams"][0]["time_base"])
    return [round(frame["pts"] * base * 10**9) for frame in found["frames"]][:frames]


def assert_same_as_dump(emissions: list, folder: Path) -> None:
    """Emissions hold a dump's very bytes."""
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("patches", "geometry", "changed", "index")}
    assert len(emissions) == len(arrays["index"]) > 0
    for number, emission in enumerate(emissions):
        for name in ("patches", "geometry", "changed"):
            mine, wanted = np.asarray(getattr(emission, name)), arrays[name][number]
            assert mine.shape == wanted.shape
            assert mine.tobytes() == wanted.tobytes(), f"{name} of emission {number}"
        row = arrays["index"][number]
        assert (emission.frame, emission.pts_ns) == (row["frame"], row["pts_ns"])
        assert emission.fixation == (row["fix_u"], row["fix_v"])
        assert (emission.in_flight, emission.damaged_tiles) == (bool(row["in_flight"]), row["damaged_tiles"])


def run_python(code: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run this code in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    folders = [str(ROOT / "python"), str(ROOT / "tests/python"), str(ROOT / "tests/python/support")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, **{"timeout": 240, **options}
    )
