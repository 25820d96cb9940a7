"""One letter typed: from the drawing to its patch.

    python bench/screen/letter.py --letters 300

On Xvfb at 3840x2160. The drawer stamps its time before the request, so the server's own time is in the latency.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time

import numpy as np
from desktop import ROOT, Desktop

sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "support")]
import pysaccade as sc  # noqa: E402
from x11_window import Window  # noqa: E402


def open_stream(display: str, rate: int) -> sc.Stream:
    source = f"screen:{display}?pointer=no&rate={rate}"
    return sc.Stream(
        source, device="cpu", array="numpy", lattice="uniform", tokens=16, fixation="center", every="frame"
    )


def latency(desktop: Desktop, count: int) -> None:
    window = Window(desktop.display, (0, 0, *desktop.size))
    stream = open_stream(desktop.display, 60)
    next(stream)
    took = []
    for n in range(count):
        time.sleep(0.05 + 0.1 * np.random.default_rng(n).random())
        begin = time.monotonic()
        threading.Timer(
            0, window.fill, ((100 + 7 * (n % 400), 300, 6, 13), 0xFFFFFF if n // 400 % 2 == 0 else 0)
        ).start()
        next(emission for emission in stream if emission.damaged_tiles)
        took.append(1000 * (time.monotonic() - begin))
    stream.close()
    window.close()
    p50, p95, worst = np.percentile(took, (50, 95, 100))
    print(json.dumps({"letters": count, "p50_ms": round(p50, 1), "p95_ms": round(p95, 1), "worst_ms": round(worst, 1)}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letters", type=int, default=300)
    arguments = parser.parse_args()
    with Desktop(3840, 2160) as desktop:
        latency(desktop, arguments.letters)
    return 0


if __name__ == "__main__":
    sys.exit(main())
