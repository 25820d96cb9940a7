#!/usr/bin/env python3
"""Throughput of `saccade work` against the number of slots (--jobs), as JSON lines and a plot.

    bench/slots.py --slots 1,2,3,4 --svg docs/images/slots.svg                     on the CPU
    bench/slots.py --backend cuda --slots 1,2,4,8,14,20 --size 1920x1080 --clips 400 --svg slots.svg
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 64, 48, 40, 20


def make_clips(folder: Path, options: argparse.Namespace) -> list[Path]:
    """A few clips that differ, each linked under many names: what is read stays in the page cache either way."""
    made, names = [], []
    for i in range(min(options.clips, 4)):
        path = folder / f"source{i}.mp4"
        graph = f"testsrc2=s={options.size}:r=30:d={options.seconds:g},hue=h={31 * i},noise=alls=12:allf=t"
        command = ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", graph, "-c:v", options.encoder, "-preset", "fast", "-g",
                   "60", "-pix_fmt", "yuv420p", path]  # fmt: skip
        subprocess.run(command, check=True)
        made.append(path)
    for i in range(options.clips):
        names.append(folder / f"clip{i:05}.mp4")
        os.link(made[i % len(made)], names[-1])
    return names


def measure(options: argparse.Namespace, folder: Path, clips: list[Path], slots: int) -> dict[str, float]:
    """One run over all clips. Starts are counted."""
    manifest, store = folder / "clips.jsonl", folder / f"store{slots}"
    manifest.write_text("".join(json.dumps({"uri": str(c), "duration": options.seconds}) + "\n" for c in clips))
    plan = [options.saccade, "plan", manifest, "-o", store, "--backend", options.backend, "--lattice", "nested", *options.rest]
    subprocess.run(plan, check=True, stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    subprocess.run([options.saccade, "work", store, "--jobs", str(slots), "--progress", "none"], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    wall_s = time.monotonic() - begin
    markers = [json.loads(path.read_text()) for path in store.glob("commits/*.json")]
    frames, done = (sum(marker[name] for marker in markers) for name in ("frames", "done"))
    assert done == len(clips), f"{done} of {len(clips)} clips are done"
    shards = sum(marker["shard"]["bytes"] for marker in markers)
    subprocess.run(["rm", "-rf", store], check=True)
    return {"slots": slots, "clips": done, "frames": frames, "wall_s": round(wall_s, 3), "shard_bytes": shards,
            "clips_per_s": round(done / wall_s, 3), "frames_per_s": round(frames / wall_s, 1)}  # fmt: skip


def plot(rows: list[dict[str, float]], title: str) -> str:
    """The frames a second of each number of slots, as SVG."""
    most_slots, most = max(row["slots"] for row in rows), max(row["frames_per_s"] for row in rows) * 1.1

    def x(slots: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * slots / most_slots

    def y(rate: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * rate / most

    step = 10 ** (len(str(int(most))) - 1)
    step = step / 2 if most / step < 4 else step
    marks = [k * step for k in range(int(most / step) + 1)]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" fill="#222"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{title}</text>',
    ]
    for mark in marks:
        lines.append(f'<path d="M{LEFT} {y(mark):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 8}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:g}</text>')  # fmt: skip
    for row in rows:
        lines.append(f'<text x="{x(row["slots"]):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                     f'{row["slots"]:g}</text>')  # fmt: skip
    points = [f'{x(row["slots"]):.1f} {y(row["frames_per_s"]):.1f}' for row in rows]
    lines.append(f'<path d="M{"L".join(points)}" fill="none" stroke="#0a62c4" stroke-width="2"/>')
    for row, point in zip(rows, points, strict=True):
        cx, cy = point.split()
        lines.append(f'<circle cx="{cx}" cy="{cy}" r="4" fill="#0a62c4"><title>{row["frames_per_s"]:g}</title></circle>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">slots (--jobs)</text>'
                 f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">frames/s</text></svg>\n')  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saccade", default="build/release/app/saccade")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--slots", default="1,2,3,4", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--clips", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--encoder", default="libx264")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--title", help="of the plot; the machine's name, for one")
    options, options.rest = parser.parse_known_args()  # the rest goes to `saccade plan`
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = make_clips(folder, options)
        for slots in options.slots:
            rows.append(measure(options, folder, clips, slots))
            print(json.dumps(rows[-1]), flush=True)
    if options.svg:
        what = f"{options.clips} clips of {options.seconds:g} s, {options.size}, {options.encoder}, {options.backend}"
        options.svg.write_text(plot(rows, what if options.title is None else f"{options.title}: {what}"))


if __name__ == "__main__":
    sys.exit(main())
