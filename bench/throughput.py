#!/usr/bin/env python3
"""Paired runs: `saccade dump --every frame` against `ffmpeg -i CLIP -f null -`, in alternation; the ratio of their speeds.

    bench/throughput.py [--saccade BIN] [--pairs N] [--memory] CLIP...

Prints a Markdown table: medians over the pairs, and the largest resident memory of any dump. With --memory each clip is
also dumped once and four times in a row (--loop), to show that memory does not grow with the length of the input.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
DEFAULT = ROOT / "build" / "ci" / "app" / "saccade"


def run(command):
    """Seconds and peak resident MB of one command; its stdout is dropped."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}\n{errors.decode(errors='replace')}")
    return seconds, usage.ru_maxrss / 1024


def dump(saccade, clip, lattice, *options):
    """Seconds, peak MB and the manifest of one dump into a folder that is removed again."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "dump"
        seconds, memory = run([saccade, "dump", clip, "-o", output, "--every", "frame", "--lattice", lattice, "--progress", "none",
                               *options])
        return seconds, memory, json.loads((output / "manifest.json").read_text())


def decode(clip):
    return run(["ffmpeg", "-loglevel", "error", "-nostdin", "-i", clip, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "null", "-"])[0]


def measure(saccade, clip, lattice, pairs):
    dump(saccade, clip, lattice)  # both files into the page cache
    decode(clip)
    theirs, ours, ratios, memory = [], [], [], 0
    for pair in range(pairs):
        first_is_ours = pair % 2 == 0
        if not first_is_ours:
            theirs.append(decode(clip))
        seconds, resident, manifest = dump(saccade, clip, lattice)
        ours.append(seconds)
        memory = max(memory, resident)
        if first_is_ours:
            theirs.append(decode(clip))
        ratios.append(theirs[-1] / ours[-1])
    return theirs, ours, ratios, memory, manifest


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--saccade", default=str(DEFAULT))
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--lattice", default="nested")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("clips", nargs="+")
    options = parser.parse_args()
    if shutil.which("ffmpeg") is None or shutil.which(options.saccade) is None:
        sys.exit(f"needs ffmpeg and {options.saccade} (scripts/demo builds it)")

    print("| clip | frames | ffmpeg, s | saccade, s | ratio, median (min .. max) | peak memory, MB |\n|---|---|---|---|---|---|")
    for clip in options.clips:
        theirs, ours, ratios, memory, manifest = measure(options.saccade, clip, options.lattice, options.pairs)
        print(f"| {pathlib.Path(clip).name} | {manifest['frames']} | {statistics.median(theirs):.2f} | {statistics.median(ours):.2f} | "
              f"{statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f}) | {memory:.0f} |", flush=True)
    if options.memory:
        print("\n| clip | peak memory, once, MB | four times in a row, MB |\n|---|---|---|")
        for clip in options.clips:
            once, looped = dump(options.saccade, clip, options.lattice)[1], dump(options.saccade, clip, options.lattice, "--loop=3")[1]
            print(f"| {pathlib.Path(clip).name} | {once:.0f} | {looped:.0f} |", flush=True)


if __name__ == "__main__":
    main()
