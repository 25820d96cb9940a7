#!/usr/bin/env python3
"""Whole dumps on the device against bare NVDEC decoding of the same file, one process and several at once, in alternation.

    bench/cuda_throughput.py [--saccade BIN] [--pairs N] [--processes 1,8] [--seconds S] [--dump OPTIONS] CLIP...

Ours: `saccade dump --backend cuda --hwdec cuda --set require-hwdec`, and OPTIONS (`--every frame --lattice nested`); theirs: `ffmpeg -hwaccel cuda
-hwaccel_output_format cuda -i CLIP -f null -`. Clips are first repeated, without re-encoding, until decoding takes about
S seconds, so that starting CUDA (about half a second on both sides) weighs little. Prints frames a second of all
processes together, and the ratio.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_all(commands):
    """Seconds until the last of them ended; all must succeed."""
    begin = time.perf_counter()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
               for command in commands]
    errors = [process.communicate()[1] for process in running]
    seconds = time.perf_counter() - begin
    for process, error in zip(running, errors):
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, process.args))}: exit {process.returncode}\n{error.decode(errors='replace')}")
    return seconds


def decode(clip):
    return ["ffmpeg", "-loglevel", "error", "-nostdin", "-hwaccel", "cuda", "-hwaccel_output_format", "cuda", "-i", clip,
            "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "null", "-"]


def dump(saccade, clip, output, options):
    return [saccade, "dump", clip, "-o", output, "--progress", "none", "--log-level", "warn",
            "--backend", "cuda", "--hwdec", "cuda", "--set", "require-hwdec", *options]


def frames_of(clip):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
                           "stream=nb_read_packets", "-of", "csv=p=0", clip], capture_output=True, text=True, check=True)
    return int(text.stdout.strip().strip(","))


def repeat(clip, times, folder):
    longer = folder / pathlib.Path(clip).name
    subprocess.run(["ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-stream_loop", str(times - 1), "-i", clip, "-c", "copy",
                    longer], check=True)
    return longer


def measure(saccade, clip, processes, pairs, options):
    theirs, ours = [], []
    for pair in range(pairs):
        for ours_now in ((True, False) if pair % 2 == 0 else (False, True)):
            if not ours_now:
                theirs.append(run_all([decode(clip)] * processes))
                continue
            with tempfile.TemporaryDirectory() as folder:
                ours.append(run_all([dump(saccade, clip, f"{folder}/{i}", options) for i in range(processes)]))
    return theirs, ours


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--saccade", default=str(ROOT / "build" / "release" / "app" / "saccade"))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--processes", default="1,8")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--dump", default="--every frame --lattice nested", help="options of saccade dump")
    parser.add_argument("clips", nargs="+")
    options = parser.parse_args()
    print("| clip | processes | frames each | NVDEC alone, frames/s | saccade, frames/s | ratio, median (min .. max) |")
    print("|---|---|---|---|---|---|")
    for clip in options.clips:
        for processes in map(int, options.processes.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                once = run_all([decode(clip)])
                longer = repeat(clip, max(1, round(options.seconds / once / max(1, processes / 4))), pathlib.Path(folder))
                frames = frames_of(longer)
                theirs, ours = measure(options.saccade, longer, processes, options.pairs, options.dump.split())
            ratios = [a / b for a, b in zip(theirs, ours)]
            print(f"| {pathlib.Path(clip).name} | {processes} | {frames} | {processes * frames / statistics.median(theirs):.0f} | "
                  f"{processes * frames / statistics.median(ours):.0f} | {statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f}) |",
                  flush=True)


if __name__ == "__main__":
    main()
