"""Reads words in a textured video from foveated patches, from uniform ones, and from every pixel.

PYTHONPATH=python python examples/read_better.py [--seeds 101-103] [--words 8]

A few minutes on a CPU. It needs Tesseract (Debian: tesseract-ocr), DejaVu fonts, ffmpeg and Pillow. The scenes are made
by bench/accuracy, whose results are in docs/ACCURACY.md; take seeds of your own.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1] / "bench" / "accuracy"


def main() -> int:
    """Print the table and what it tells. 0 when foveated patches read more than as many, and four times as many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="101-103", help="of the scenes: 1,2,5-8")
    parser.add_argument("--words", type=int, default=8, help="of a scene, one a second")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("SACCADE_ACCURACY_CACHE", folder)
        sys.path.insert(0, str(BENCH))
        import claim

        return int(claim.show(claim.numbers(arguments.seeds), arguments.words))


if __name__ == "__main__":
    sys.exit(main())
