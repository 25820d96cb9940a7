"""Programs come and go on a screen that `saccade dump` captures: what it holds must not grow.

    python bench/screen/programs.py --minutes 60 -o out/programs.csv

Each minute a row: memory, file descriptors and threads of the dump, and its resources in the X server by xrestop
(package xrestop). Ends with a line of JSON; exits 1 if the dump ended early or lost or gained a handle.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from desktop import ROOT, Desktop

SIZE = (3840, 2160)
LIVES_S = 45  # a program; two of them overlap
CHROMIUM = ("chromium", "--no-sandbox", "--no-first-run", "--disable-gpu", "--test-type", "--user-data-dir=chromium")
PROGRAMS: dict[str, tuple[str, ...]] = {
    "xterm": ("xterm", "-geometry", "150x50", "-e", "sh -c 'ls -lR /usr/share | head -n 3000; exec sh'"),
    "chromium": (*CHROMIUM, "--window-size=2400,1600", "file:///usr/share/common-licenses/GPL-3"),
    "writer": ("soffice", "--norestore", "--nologo", "--writer"),
    "ffplay": ("ffplay", "-loglevel", "quiet", "-loop", "0", "-x", "960", "-y", "540", str(ROOT / "assets/demo.mp4")),
    "gimp": ("gimp", "-n", "-s", str(ROOT / "docs/images/eyes.png")),
    "terminal": ("xfce4-terminal", "--disable-server", "--geometry=200x70", "--command=sh"),
    "calc": ("soffice", "--norestore", "--nologo", "--calc"),
    "inkscape": ("inkscape",),
}


def act(desktop: Desktop, rng: random.Random) -> None:
    """Type, drag, scroll, press a key, or move and resize a window."""
    x, y = rng.randrange(SIZE[0]), rng.randrange(SIZE[1])
    deed = rng.randrange(5)
    if deed == 0:
        desktop.do("mousemove", x, y, "click", 1, "type", "--delay", 5, "the quick brown fox "[: rng.randrange(2, 20)])
    elif deed == 1:
        desktop.do("mousemove", x, y, "mousedown", 1, "mousemove_relative", "--", rng.randrange(-400, 400), 90,
                   "mousemove_relative", 60, rng.randrange(200), "mouseup", 1)  # fmt: skip
    elif deed == 2:
        desktop.do("click", "--repeat", 5, "--delay", 30, rng.choice((4, 5)))
    elif deed == 3:
        desktop.do("key", rng.choice(("Return", "Tab", "Page_Down", "Page_Up", "Escape", "ctrl+a")))
    elif windows := desktop.do("search", "--onlyvisible", "--name", ".").split():
        window = rng.choice(windows)
        desktop.do("windowmove", window, rng.randrange(-200, 2400), rng.randrange(1500),
                   "windowsize", window, rng.randrange(500, 2600), rng.randrange(400, 1700))  # fmt: skip


def resources(desktop: Desktop) -> dict[str, dict[str, int]]:
    """What each client holds in the X server, by xrestop. Its own connection is left out."""
    text = subprocess.run(["xrestop", "-b", "-m", "1"], env=desktop.environment, capture_output=True, text=True,
                          check=True).stdout  # fmt: skip
    clients: dict[str, dict[str, int]] = {}
    for block in re.split(r"^(?=\d+ - )", text, flags=re.MULTILINE)[1:]:
        title, *lines = block.splitlines()
        facts = dict(re.split(r"\s*:\s*", line.strip(), maxsplit=1) for line in lines)
        if " - xrestop " not in title:
            base = facts.pop("res_base")
            clients[base] = {f"x_{key.replace(' ', '_')}": int(text) for key, text in facts.items() if text.isdecimal()}
    return clients


def held(pid: int) -> dict[str, int]:
    """Memory in KiB, descriptors and threads of a process."""
    process = Path(f"/proc/{pid}")
    rollup = (process / "smaps_rollup").read_text().splitlines()[1:]
    kb = {line.split(":")[0]: int(line.split()[1]) for line in rollup}
    return {"rss_kb": kb["Rss"], "pss_kb": kb["Pss"], "anonymous_kb": kb["Anonymous"],
            "handles": len(os.listdir(process / "fd")), "threads": len(os.listdir(process / "task"))}  # fmt: skip


class Lives:
    """Opens the programs one after another; the oldest of two is ended, by SIGTERM or SIGKILL."""

    def __init__(self, desktop: Desktop, rng: random.Random) -> None:
        self.desktop, self.rng = desktop, rng
        self.opened = 0
        self._names = itertools.cycle(name for name, command in PROGRAMS.items() if shutil.which(command[0]))
        self._open: list[subprocess.Popen[str]] = []

    def change(self) -> None:
        if len(self._open) == 2:
            oldest = self._open.pop(0)
            if self.rng.random() < 0.5:
                oldest.terminate()
                time.sleep(2)
            self.desktop.end(oldest)
        self._open.append(self.desktop.run(*PROGRAMS[next(self._names)], cwd=Path(self.desktop.environment["HOME"])))
        self.opened += 1


def soak(desktop: Desktop, arguments: argparse.Namespace, folder: Path) -> list[dict[str, int]]:
    """A row a minute."""
    desktop.environment |= {"HOME": str(folder), "LIBGL_ALWAYS_SOFTWARE": "1"}
    desktop.run("openbox")
    time.sleep(2)
    before = resources(desktop)
    source = f"screen:{desktop.display}{arguments.keys}"
    options = ("-o", str(folder / "dump"), "--backend", "cpu", "--lattice", "adaptive")
    dump = desktop.run(arguments.saccade, "dump", source, *options)
    time.sleep(5)
    (client,) = resources(desktop).keys() - before.keys()
    lives, rng = Lives(desktop, random.Random(arguments.seed)), random.Random(arguments.seed)
    rows: list[dict[str, int]] = []
    begin = time.monotonic()
    program_at = row_at = begin
    with arguments.output.open("w", newline="") as file:
        while dump.poll() is None and (now := time.monotonic()) < begin + 60 * arguments.minutes:
            if now >= program_at:
                lives.change()
                program_at += LIVES_S
            if now >= row_at:
                row_at += 60
                rows.append({"second": round(now - begin), "opened": lives.opened, **held(dump.pid),
                             "cpu_s": cpu_s(dump.pid), **resources(desktop)[client]})  # fmt: skip
                table = csv.DictWriter(file, rows[0])
                if len(rows) == 1:
                    table.writeheader()
                table.writerow(rows[-1])
                file.flush()
            act(desktop, rng)
            time.sleep(1)
    if dump.poll() is None:
        dump.send_signal(signal.SIGINT)
    code = dump.wait(60)
    print(json.dumps(summary(rows, code, lives.opened, folder / "dump")))
    return rows


def cpu_s(pid: int) -> int:
    """CPU seconds of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) // os.sysconf("SC_CLK_TCK")


def summary(rows: list[dict[str, int]], code: int, opened: int, dump: Path) -> dict[str, Any]:
    """The medians of the second and the last quarter: caches fill in the first."""
    quarter = max(1, len(rows) // 4)
    early, late = rows[quarter : 2 * quarter] or rows, rows[-quarter:]
    facts: dict[str, Any] = {"minutes": len(rows), "opened": opened, "exit": code}
    for key in rows[0]:
        if key not in ("second", "opened"):
            facts[key] = [statistics.median(row[key] for row in part) for part in (early, late)]
    manifest = json.loads((dump / "manifest.json").read_text())
    return facts | {key: manifest[key] for key in ("frames", "frames_dropped", "emissions") if key in manifest}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keys", default="", help="of the source, as '?hide=Calculator'")
    parser.add_argument("--saccade", default=str(ROOT / "build/ci/app/saccade"))
    parser.add_argument("-o", "--output", type=Path, required=True, help="the rows, as CSV")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    with Desktop(*SIZE) as desktop:
        rows = soak(desktop, arguments, folder)
    shutil.rmtree(folder, ignore_errors=True)  # a program may have mounted something in it
    counts = [
        {key: n for key, n in row.items() if key in ("handles", "threads") or key.startswith("x_")} for row in rows
    ]
    return int(any(count != counts[0] for count in counts))


if __name__ == "__main__":
    sys.exit(main())
