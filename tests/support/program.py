"""Runs the program under test and the tools that tell the truth about its input and output."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import numpy as np
from patience import PATIENCE
from required import skip_or_fail

SACCADE = os.environ.get("SACCADE_BIN", "saccade")


class FolderTest(unittest.TestCase):
    """A temporary folder, made once per class."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="saccade-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)


def saccade(*arguments, **options):
    """The finished process: returncode, stdout and stderr as text."""
    return subprocess.run([SACCADE, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=300 * PATIENCE, **options)


def usable_cores():
    """How many cores this process may use: by its affinity, and by the quotas of its control group and those above it (version 2)."""
    cores = len(os.sched_getaffinity(0))
    with open("/proc/self/cgroup", encoding="utf-8") as file:
        group = next((line[3:].strip() for line in file if line.startswith("0::")), "/")
    for place in [pathlib.PurePosixPath(group), *pathlib.PurePosixPath(group).parents]:
        limits = pathlib.Path("/sys/fs/cgroup" + str(place), "cpu.max")
        most, period = limits.read_text(encoding="utf-8").split() if limits.exists() else ("max", "0")
        if most != "max":
            cores = min(cores, max(math.ceil(int(most) / int(period)), 1))
    return cores


def saccade_json(*arguments):
    result = saccade(*arguments, "--json")
    if result.returncode != 0:
        raise AssertionError(f"exit {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


def need_gl(folder):
    """Skips, or fails where SACCADE_REQUIRE has gl, when `--backend gl` can't be used. Writes below `folder`."""
    result = saccade("dump", "test://box?size=64x64&frames=2", "-o", folder / "probe", "--backend", "gl")
    if result.returncode == 69:
        skip_or_fail("gl", result.stderr.strip())


def ffmpeg(*arguments):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True, capture_output=True,
                          stdin=subprocess.DEVNULL).stdout


def rotate_container(source, target, degrees):
    """Copies a video so that its container asks for a rotation, anticlockwise."""
    try:
        ffmpeg("-display_rotation", degrees, "-i", source, "-c", "copy", target)
    except subprocess.CalledProcessError:  # before FFmpeg 6
        ffmpeg("-i", source, "-c", "copy", "-metadata:s:v:0", f"rotate={degrees}", target)


def make_clip(path, graph, *arguments):
    """Encodes a lavfi graph; exact enough for its pixels to be worth comparing."""
    ffmpeg("-f", "lavfi", "-i", graph, "-c:v", "libx264", "-preset", "ultrafast", "-crf", "12", "-pix_fmt", "yuv420p",
           *arguments, path)
    return str(path)


def ffprobe(path, *arguments):
    output = subprocess.run(["ffprobe", "-v", "error", "-of", "json", "-select_streams", "v:0", *arguments, str(path)],
                            check=True, capture_output=True, stdin=subprocess.DEVNULL).stdout
    return json.loads(output)


def frame_times(path):
    frames = ffprobe(path, "-show_entries", "frame=best_effort_timestamp_time")["frames"]
    return np.array([float(frame["best_effort_timestamp_time"]) for frame in frames])


def rgb_frames(path, width, height):
    """Every frame as ffmpeg shows it, [F, H, W, 3] u8."""
    raw = ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-fps_mode", "passthrough", "-")
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)


def machine():
    """What `info` says of this machine, parsed."""
    return saccade_json("info")


def cuda_facts():
    return next(backend for backend in machine()["backends"] if backend["name"] == "cuda")


def auto_backend():
    """What --backend auto means on this machine."""
    return "cuda" if cuda_facts()["available"] else "cpu"
