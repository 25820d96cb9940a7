"""CPU by the share of a 4K screen that changes 30 times a second: saccade beside what else captures a screen.

    python3 -m venv out/venv && out/venv/bin/pip install mss numpy
    out/venv/bin/python bench/screen/share.py --rounds 3

The tools take turns. Counted is the CPU time of the tool's process from its first frames on, and that of the X server
above what it takes for the drawing alone. Prints the medians as a Markdown table: frames a second, and CPU of the tool
+ of the server, in percent of a core and for a frame.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from desktop import ROOT, Desktop

SIZE = (3840, 2160)
RATE = 30
BOXES = {  # share of the screen in percent: x, y, width, height
    0.0: (0, 0, 0, 0), 0.1: (1600, 900, 121, 69), 1.0: (1600, 900, 384, 216), 10.0: (1200, 600, 1214, 683),
    100.0: (0, 0, *SIZE),
}  # fmt: skip
TOOLS = ("saccade", "x11grab", "mss", "mss + numpy")


def grab(display: str, compare: bool) -> None:
    """Until SIGINT: RATE pictures a second by mss, and the box in which one differs from the one before."""
    import mss
    import numpy as np

    os.environ["DISPLAY"] = display
    before = np.zeros((SIZE[1], SIZE[0]), np.uint32)
    count = 0
    with mss.mss() as screen:
        begin = time.monotonic()
        while True:
            picture = screen.grab(screen.monitors[0])
            count += 1
            print(f"frame={count}", flush=True)
            if compare:
                now = np.frombuffer(picture.raw, np.uint32).reshape(before.shape)
                differs = now != before
                differs.any(axis=0), differs.any(axis=1)
                before = now
            begin = max(begin + 1 / RATE, time.monotonic() - 1 / RATE)
            time.sleep(max(0.0, begin - time.monotonic()))


def command(tool: str, saccade: str, display: str, folder: Path) -> list[str]:
    if tool == "saccade":
        return [saccade, "dump", f"screen:{display}?pointer=no&rate={RATE}", "-o", str(folder / "dump"), "--overwrite",
                "--backend", "cpu", "--progress", "json"]  # fmt: skip
    if tool == "x11grab":
        return ["ffmpeg", "-loglevel", "error", "-progress", "-", "-f", "x11grab", "-draw_mouse", "0",
                "-framerate", str(RATE), "-video_size", f"{SIZE[0]}x{SIZE[1]}", "-i", display,
                "-f", "null", "-"]  # fmt: skip
    return [sys.executable, __file__, "--grab", display, *(["--compare"] if "numpy" in tool else [])]


def cpu_s(pid: int) -> float:
    """CPU time of a process with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Tool:
    """A program that captures, and what it says."""

    def __init__(self, words: list[str], said: Path) -> None:
        self.said = said
        with said.open("w") as file:
            self.program = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file)

    def frames(self) -> int:
        """So many as it last said: `frame=7` or `"frames": 7`."""
        counts = re.findall(r'^frame=(\d+)|"frames": ?(\d+)', self.said.read_text(), re.MULTILINE)
        return int("".join(counts[-1])) if counts else 0

    def begun(self) -> None:
        while self.frames() == 0:
            time.sleep(0.05)

    def end(self) -> float:
        """CPU time of its life."""
        self.program.send_signal(signal.SIGINT)
        _, status, usage = os.wait4(self.program.pid, 0)
        self.program.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime


def measure(desktop: Desktop, words: list[str], box: str, seconds: float, said: Path) -> tuple[float, float, float]:
    """CPU of the tool and of the X server in ms a second, and frames a second. Without a tool: of the drawing."""
    paint = str(ROOT / "bench/screen/paint.py")
    painter = desktop.run(sys.executable, paint, desktop.display, box, "--rate", str(RATE), "--seconds", "1000")
    time.sleep(1)
    tool = Tool(words, said) if words else None
    if tool:
        tool.begun()
    count, own = (tool.frames(), cpu_s(tool.program.pid)) if tool else (0, 0.0)
    begin, server = time.monotonic(), cpu_s(desktop.server_pid)
    time.sleep(seconds)
    took, server = time.monotonic() - begin, cpu_s(desktop.server_pid) - server
    own = tool.end() - own if tool else 0.0
    count = tool.frames() - count if tool else 0
    desktop.end(painter)
    return 1000 * own / took, 1000 * server / took, count / took


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8, help="that are measured of each tool")
    parser.add_argument("--saccade", default=str(ROOT / "build/ci/app/saccade"))
    parser.add_argument("--grab", metavar="DISPLAY", help=argparse.SUPPRESS)
    parser.add_argument("--compare", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.grab:
        grab(arguments.grab, arguments.compare)
    seen: dict[tuple[str, float], list[tuple[float, float, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder, Desktop(*SIZE) as desktop:
        for _, share, tool in itertools.product(range(arguments.rounds), BOXES, ("", *TOOLS)):
            words = command(tool, arguments.saccade, desktop.display, Path(folder)) if tool else []
            box = ",".join(map(str, BOXES[share]))
            row = measure(desktop, words, box, arguments.seconds, Path(folder) / "said")
            seen[tool, share].append(row)
            print(tool or "drawing", share, *(round(number, 1) for number in row), file=sys.stderr)
    print("| changed | " + " | ".join(TOOLS) + " |\n|" + "---|" * (1 + len(TOOLS)))
    for share in BOXES:
        cells = [f"{share:g} %"]
        for tool in TOOLS:
            own, server, rate = middle(seen[tool, share])
            server = max(server - middle(seen["", share])[1], 0)
            each = f", {own / rate:.1f} + {server / rate:.1f} ms" if rate else ""
            cells.append(f"{rate:.1f}/s, {own / 10:.1f} + {server / 10:.1f} %{each}")
        print("| " + " | ".join(cells) + " |")
    return 0


def middle(rows: list[tuple[float, float, float]]) -> list[float]:
    return [statistics.median(column) for column in zip(*rows, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
