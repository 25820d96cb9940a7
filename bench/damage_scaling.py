#!/usr/bin/env python3
"""What a frame costs when 0, 1, 10 and 100 % of its tiles change: `saccade profile` on clips made for it.

    bench/damage_scaling.py [--saccade BIN] [--size 1920x1080] [--frames N]

A still picture with a rectangle of noise whose size is that share of the tiles; raw video, so that decoding does not
disturb the caches much. Prints a Markdown table of the stages' medians in ms, patches sampled on every frame.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
STAGED = ("diff", "upload", "mips")      # with --set staged: three passes over the frame
FUSED = ("update", "sample", "frame")    # one pass, as it runs
STAGES = STAGED + FUSED
TILE = 16


def rectangle(width, height, share):
    """A whole number of tiles, about `share` of the frame, of the frame's shape."""
    cols, rows = -(-width // TILE), -(-height // TILE)
    if share >= 1:
        return width, height
    tall = max(round(rows * share**0.5), 1)
    return max(round(share * cols * rows / tall), 1) * TILE, tall * TILE


def make_clip(path, width, height, frames, share):
    ground = (f"mandelbrot=s={width}x{height}:r=30:end_pts=100,trim=end_frame=1,format=yuv420p,"
              f"loop=loop=-1:size=1,setpts=N/30/TB")
    graph = f"{ground}[g];[g]trim=end_frame={frames}"
    if share > 0:
        w, h = rectangle(width, height, share)
        graph = (f"{ground}[g];color=gray:s={w}x{h}:r=30,format=yuv420p,noise=alls=100:allf=t[n];"
                 f"[g][n]overlay=x=0:y=0,trim=end_frame={frames}")
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-filter_complex", graph, "-c:v", "rawvideo", "-pix_fmt", "yuv420p", path],
                   check=True, stdin=subprocess.DEVNULL)


def profile(saccade, clip, *options):
    done = subprocess.run([saccade, "profile", clip, "--every", "frame", "--lattice", "nested", "--backend", "cpu", "--json", *options],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--saccade", default=str(ROOT / "build" / "ci" / "app" / "saccade"))
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--frames", type=int, default=100)
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))

    print(f"{width}x{height}, {options.frames} frames, 273 nested patches a frame; medians in ms\n")
    print("| tiles damaged | " + " | ".join(STAGES) + " | bytes written, share of a full upload |\n" + "|---" * (len(STAGES) + 2) + "|")
    for share in (0, 0.01, 0.1, 1):
        with tempfile.TemporaryDirectory() as folder:
            clip = pathlib.Path(folder) / "clip.nut"
            make_clip(clip, width, height, options.frames, share)
            staged = profile(options.saccade, clip, "--set", "staged")["stages"]
            result = profile(options.saccade, clip)
        damage = result["damage"]
        tiles = damage["tiles"] / result["frames"]  # the first frame damages all; the others are what is asked for
        steady = (damage["damaged_tiles"] - tiles) / (damage["tiles"] - tiles)
        saved = (damage["bytes_uploaded"] / damage["bytes_full_upload"] * result["frames"] - 1) / (result["frames"] - 1)
        times = [staged[stage] for stage in STAGED] + [result["stages"][stage] for stage in FUSED]
        cells = " | ".join(f"{time['p50_ms']:.3f}" for time in times)
        print(f"| {100 * steady:.1f} % | {cells} | {100 * saved:.1f} % |", flush=True)


if __name__ == "__main__":
    main()
