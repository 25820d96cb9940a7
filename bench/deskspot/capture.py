"""Capture the screens of DeskSpot: python3 bench/deskspot/capture.py --out DIR

Starts real programs on a screen of its own (3840x2160), waits until the picture stands still, and writes NAME.png and
NAME.json: the targets by the accessibility tree whose names Tesseract reads in their boxes. Debian's Python runs it.
"""

from __future__ import annotations

import argparse
import functools
import json
import pathlib
import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pages
import session

HERE = pathlib.Path(__file__).parent
MARGIN = 3  # pixels around a box that a reader gets, too


def nodes_of(desktop: session.Desktop) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE / "tree.py")]
    done = subprocess.run(command, env=desktop.environment, capture_output=True, text=True, check=True, timeout=300)
    nodes: list[dict[str, Any]] = json.loads(done.stdout)
    return nodes


def legible(screen: np.ndarray, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those whose names are read in their boxes: no icons, nothing that another window hides."""
    import reader
    from score import best_match

    crops = []
    for node in nodes:
        left, top, right, bottom = node["box"]
        crops.append(screen[max(top - MARGIN, 0) : bottom + MARGIN, max(left - MARGIN, 0) : right + MARGIN])
    words = reader.read(crops, 3, 7)
    return [node for node, found in zip(nodes, words, strict=True) if best_match(node["text"], found)]


def store(out: pathlib.Path, name: str, desktop: session.Desktop, seen: set[tuple[str, ...]]) -> int:
    """Write one screen; a target that an earlier one has at the same place is left out. Returns their number."""
    from PIL import Image
    from score import candidates

    screen, nodes = desktop.still(), nodes_of(desktop)
    targets = []
    for node in legible(screen, candidates(nodes, session.SIZE)):
        key = (node["program"], node["text"], str(node["box"]))
        if key not in seen:
            seen.add(key)
            program = name.partition("-")[0]
            targets.append({"text": node["text"], "role": node["role"], "program": program, "box": node["box"]})
    Image.fromarray(screen).save(out / f"{name}.png")
    (out / f"{name}.json").write_text(json.dumps({"size": session.SIZE, "targets": targets}, indent=1) + "\n")
    return len(targets)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/deskspot"))
    parser.add_argument("--programs", nargs="+", help="some of: writer calc gimp inkscape chromium terminal")
    arguments = parser.parse_args()
    if missing := session.missing_packages():
        command = "sudo apt-get install --no-install-recommends " + " ".join(missing)
        parser.exit(1, f"capture: {sys.executable} lacks what it runs: {command}, and start this by /usr/bin/python3\n")
    html = pages.folder()
    if html is None:
        command = "pip download --no-deps miniwob && unzip miniwob-*.whl -d out/miniwob"
        parser.exit(1, f"capture: MiniWoB's pages are missing: {command}, and set PYTHONPATH=out/miniwob\n")
    import programs

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # its programs end with it

    arguments.out.mkdir(parents=True, exist_ok=True)
    every = {name: getattr(programs, name) for name in ("writer", "calc", "gimp", "inkscape", "terminal")}
    every["chromium"] = functools.partial(programs.chromium, folder=html)
    seen: set[tuple[str, ...]] = set()
    for program in arguments.programs or every:
        with session.Desktop() as desktop:
            for name in every[program](desktop):
                print(f"{name}: {store(arguments.out, name, desktop, seen)} targets", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
