"""Draws frames into a window: each in one colour, which is its number.

python bench/screen/paint.py DISPLAY X,Y,W,H --rate 30 --seconds 10

Prints a line for each frame: its number and CLOCK_MONOTONIC in ns before the request. In an empty box it draws
nothing.
"""

from __future__ import annotations

import argparse
import sys
import time

from desktop import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
from x11_window import Window

STEP = 16  # in the colour from frame to frame


def color_of(number: int) -> int:
    return number * STEP % (1 << 24)


def number_of(red: int, green: int, blue: int) -> int:
    return (red << 16 | green << 8 | blue) // STEP


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("display")
    parser.add_argument("box")
    parser.add_argument("--rate", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    x, y, width, height = map(int, arguments.box.split(","))
    if not width * height:
        time.sleep(arguments.seconds)
        return 0
    window = Window(arguments.display, (x, y, width, height))
    begin = time.monotonic()
    for number in range(1, round(arguments.rate * arguments.seconds) + 1):
        time.sleep(max(0.0, begin + number / arguments.rate - time.monotonic()))
        print(number, time.monotonic_ns(), flush=True)
        window.fill((0, 0, width, height), color_of(number))
    window.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
