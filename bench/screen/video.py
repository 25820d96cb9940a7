"""Full-screen video: the frames that are caught, and their age, by saccade and by `ffmpeg -f x11grab`.

    python bench/screen/video.py --size 1920x1080 --rate 60 --rounds 3

Each frame has one colour, its number. Its age goes from the drawer's request to the moment at which the number is read
from the patch of saccade, or from ffmpeg's pipe, for the first time. The two take turns. Prints a line of JSON a round
and the medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
from desktop import ROOT, Desktop
from paint import number_of

sys.path.insert(0, str(ROOT / "python"))
import pysaccade as sc

SIDE = 16  # of the patch


def by_saccade(display: str, rate: int, size: tuple[int, int]) -> Iterator[int]:
    """The number of each frame."""
    source = f"screen:{display}?pointer=no&rate={rate}"
    stream = sc.Stream(source, device="cpu", array="numpy", lattice="uniform", lod=0, tokens=1, patch_size=SIDE,
                       fixation="center", every="frame")  # fmt: skip
    with closing(stream):
        for emission in stream:
            yield number_of(*map(int, np.asarray(emission.patches)[0, :, 0, 0]))


def by_ffmpeg(display: str, rate: int, size: tuple[int, int]) -> Iterator[int]:
    words = ["ffmpeg", "-loglevel", "error", "-probesize", "32", "-fflags", "nobuffer", "-f", "x11grab",
             "-draw_mouse", "0", "-framerate", str(rate), "-video_size", f"{size[0]}x{size[1]}", "-i", display,
             "-vf", f"crop={SIDE}:{SIDE}", "-pix_fmt", "rgb24", "-f", "rawvideo",
             "-flush_packets", "1", "-"]  # fmt: skip
    program = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert program.stdout is not None
    try:
        while patch := program.stdout.read(SIDE * SIDE * 3):
            yield number_of(*patch[:3])
    finally:
        program.kill()
        program.wait()


WAYS = {"saccade": by_saccade, "x11grab": by_ffmpeg}


def watch(desktop: Desktop, way: str, rate: int, seconds: float) -> dict[str, Any]:
    """Frames seen for the first time, of those that were drawn meanwhile, and their ages."""
    with tempfile.NamedTemporaryFile("r") as file:
        numbers = WAYS[way](desktop.display, rate, desktop.size)
        next(numbers)
        box = f"0,0,{desktop.size[0]},{desktop.size[1]}"
        line = f"exec {sys.executable} {ROOT}/bench/screen/paint.py {desktop.display} {box} --rate {rate}"
        painter = desktop.run("sh", "-c", f"{line} --seconds {seconds} > {file.name}")
        seen: dict[int, int] = {}
        end = time.monotonic() + seconds + 30
        while painter.poll() is None and time.monotonic() < end:
            seen.setdefault(next(numbers), time.monotonic_ns())
        numbers.close()  # type: ignore[attr-defined]
        drawn = dict(tuple(map(int, row.split())) for row in file.read().splitlines())
    desktop.end(painter)
    ages = [(at - drawn[number]) / 1e6 for number, at in seen.items() if number in drawn]
    p50, p95 = np.percentile(ages, (50, 95))
    return {"drawn": len(drawn), "caught": len(ages), "share": len(ages) / len(drawn), "p50_ms": p50, "p95_ms": p95}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--rate", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    rows: dict[str, list[dict[str, Any]]] = {way: [] for way in WAYS}
    with Desktop(width, height) as desktop:
        for _ in range(arguments.rounds):
            for way in WAYS:
                rows[way].append(watch(desktop, way, arguments.rate, arguments.seconds))
                print(json.dumps({"by": way} | rows[way][-1]), flush=True)
    for way in WAYS:
        medians = {key: round(float(np.median([row[key] for row in rows[way]])), 3) for key in rows[way][0]}
        print(json.dumps({"medians": way, "size": arguments.size, "rate": arguments.rate} | medians))
    return 0


if __name__ == "__main__":
    sys.exit(main())
