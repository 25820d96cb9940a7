"""Programs draw; at random moments they stand still, and the texture must be what XGetImage gives.

    python bench/screen/soak.py --moments 1000

Between two moments the screen is captured all the time. A tile in which the pixels of the two moments differ must have
been reported as changed. Prints a line of JSON; exits 1 at a pixel that is wrong or a tile that was not reported.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
from desktop import ROOT, Desktop

sys.path.insert(0, str(ROOT / "python"))
import pysaccade as sc

PX = 16  # a tile


def tiles(differs: np.ndarray) -> np.ndarray:
    """[rows, cols]: the tiles that hold a pixel of [H, W]."""
    height, width = differs.shape
    return differs.reshape(height // PX, PX, width // PX, PX).any(axis=(1, 3))


def memory_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=1000)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=60)
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    rng = random.Random(arguments.seed)
    wrong = missed = changed_tiles = frames = again = 0
    first_kb = first_handles = 0
    begin = time.monotonic()
    with Desktop(width, height) as desktop:
        desktop.start_office()
        count = (width // PX) * (height // PX)
        stream = sc.Stream(f"screen:{desktop.display}?pointer=no&rate={arguments.rate}", device="cpu", array="numpy",
                           lattice="uniform", lod=0, tokens=count, every="frame")  # fmt: skip
        before = None
        reported = np.zeros((height // PX, width // PX), bool)
        for moment in range(arguments.moments):
            end = time.monotonic() + rng.random() * 0.3
            desktop.work(rng)
            truth, stopped_ns = np.empty(0), None
            for emission in stream:
                frames += 1
                reported |= emission.changed.reshape(reported.shape)
                if stopped_ns is not None and emission.captured_unix_ns >= stopped_ns:
                    if np.array_equal(truth, desktop.grab()):
                        break
                    again += 1  # the server still drew what had been asked for before the programs stood still
                    truth, stopped_ns = desktop.grab(), time.time_ns()
                if stopped_ns is None and time.monotonic() >= end:
                    desktop.stop(True)
                    time.sleep(0.02)
                    truth, stopped_ns = desktop.grab(), time.time_ns()
            picture = stream.texture.level(0)[..., :3]
            wrong += int((picture != truth).any(axis=2).sum())
            if before is not None:
                differ = tiles((before != truth).any(axis=2))
                changed_tiles += int(differ.sum())
                missed += int((differ & ~reported).sum())
            before, reported[:] = truth, False
            desktop.stop(False)
            if moment == arguments.moments // 4:
                first_kb, first_handles = memory_kb(), handles()
        counters = stream.counters
        last_kb, last_handles = memory_kb(), handles()
        stream.close()
    print(json.dumps({
        "moments": arguments.moments, "seconds": round(time.monotonic() - begin), "frames": frames,
        "wrong_pixels": wrong, "changed_tiles": changed_tiles, "tiles_not_reported": missed, "not_yet_still": again,
        "frames_dropped": counters.frames_dropped,
        "memory_kb": [first_kb, last_kb], "handles": [first_handles, last_handles],
    }))  # fmt: skip
    return int(wrong > 0 or missed > 0)


if __name__ == "__main__":
    sys.exit(main())
