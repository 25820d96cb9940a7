#!/usr/bin/env python3
"""pysaccade.watch on a screen of 1920x1080 where text appears: what reaches the model, when, and for how many tokens.

    python3 bench/watch_onsets.py onsets --count 1000 --api openai   # or anthropic: a server on this machine, over HTTP
    python3 bench/watch_onsets.py faults --count 300                  # servers that stall, die, answer 429, reorder
    python3 bench/watch_onsets.py quiet                               # a clock and a cursor alone
    python3 bench/watch_onsets.py day --hours 24                      # memory, with a frame a second
    python3 bench/watch_onsets.py gate assets/desktop.mp4             # a gate by mean squares of 64x64

An onset is a line of 12 to 20 px that appears anywhere, after 0.25 to 3 s, and stays for the next 20. It has reached
the model if a picture at full size that the server decoded has the rectangle of the pixels that changed by more than 16
codes, each pixel. Times are the video's. `faults` runs in virtual time: the server's faults last 2 to 20 s, and between
them it takes 0.2 to 0.6 s for an answer.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import pathlib
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import pysaccade as sc
from pysaccade import watch
from pysaccade.watching._gate import Gate
from pysaccade.watching._server import Failure, Outcome, Reply
from pysaccade.watching._watcher import Watcher

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests/python/watch"))
import model_server

MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
FACES = ("DejaVuSans.ttf", "DejaVuSansMono.ttf", "LiberationSans-Regular.ttf")
FPS = 4
VISIBLE = 16  # codes by which a pixel changes
Box = tuple[int, int, int, int]


@dataclasses.dataclass
class Onset:
    at: float
    box: Box
    pixels: np.ndarray
    reached: float | None = None


class Screen:
    """A desktop with windows of text, and what appears on it."""

    def __init__(self, seed: int, width: int = 1920, height: int = 1080) -> None:
        self.rng = np.random.default_rng(seed)
        self.size = width, height
        y, x = np.mgrid[:height, :width].astype(np.float32)
        back = np.stack([90 + 60 * np.sin(x / 350 + k) * np.cos(y / 250 - k) for k in range(3)], -1)
        self.image = Image.fromarray(np.clip(back, 0, 255).astype(np.uint8))
        for left, top in ((60, 80), (900, 300)) if width > 1500 else ():
            ImageDraw.Draw(self.image).rectangle((left, top, left + 900, top + 600), fill=(250, 250, 250))
            for row in range(28):
                self.line(left + 10, top + 10 + 21 * row, 10)
        self.onsets: list[Onset] = []

    def line(self, x: int, y: int, count: int) -> Box:
        rng = self.rng
        letters = list("abcdefghijkmnoprstuvwxyz0123456789")
        text = " ".join("".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(count))
        font = ImageFont.truetype(str(rng.choice(FACES)), int(rng.integers(12, 21)))
        draw = ImageDraw.Draw(self.image)
        left, top, right, bottom = (int(edge) for edge in draw.textbbox((x, y), text, font=font))
        draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=(250, 250, 250))
        draw.text((x, y), text, font=font, fill=(30, 30, 30))
        return max(left, 0), max(top, 0), min(right, self.size[0]), min(bottom, self.size[1])

    def appear(self, at: float) -> None:
        """A line that lies on none of the last twenty."""
        width, height = self.size
        while True:
            x, y = int(self.rng.integers(4, width - 400)), int(self.rng.integers(4, height - 30))
            here = x - 4, y - 4, x + 400, y + 30
            if not any(overlap(here, onset.box) for onset in self.onsets[-20:]):
                break
        before = np.asarray(self.image).astype(np.int16)
        self.line(x, y, int(self.rng.integers(1, 4)))
        rows, cols = np.nonzero((np.abs(np.asarray(self.image) - before) > VISIBLE).any(axis=2))
        box = int(cols.min()), int(rows.min()), int(cols.max()) + 1, int(rows.max()) + 1
        pixels = np.asarray(self.image)[box[1] : box[3], box[0] : box[2]].copy()
        self.onsets.append(Onset(at, box, pixels))

    def frames(self, count: int, fps: int = FPS) -> Iterator[tuple[np.ndarray, float]]:
        due, number = 2.0, 0
        while len(self.onsets) < count or number / fps < self.onsets[-1].at + 3:
            now = number / fps
            if now >= due and len(self.onsets) < count:
                self.appear(now)
                due = now + self.rng.uniform(0.25, 3)
            yield np.asarray(self.image), now
            number += 1

    def show(self, box: Sequence[int], scale: float, pixels: np.ndarray, at: float) -> None:
        """A picture has reached the model."""
        for onset in self.onsets[-40:]:
            left, top, right, bottom = onset.box
            inside = box[0] <= left and box[1] <= top and box[2] >= right and box[3] >= bottom
            if onset.reached is None and scale == 1 and inside:
                part = pixels[top - box[1] : bottom - box[1], left - box[0] : right - box[0]]
                if np.array_equal(part, onset.pixels):
                    onset.reached = at

    def report(self) -> str:
        lost = sum(onset.reached is None for onset in self.onsets)
        late = [onset.reached - onset.at for onset in self.onsets if onset.reached is not None]
        for onset in self.onsets:
            if onset.reached is None:
                print(f"lost: {onset.box} at {onset.at} s")
        return f"{len(self.onsets)} onsets, {lost} lost; late by {np.median(late):.2f} s (median), {max(late):.2f} at most"


def overlap(a: Sequence[int], b: Sequence[int]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


# ---- over HTTP -------------------------------------------------------------------------------------------------------


def onsets(options: argparse.Namespace) -> None:
    screen, counts = Screen(options.seed), watch.Counts()
    with model_server.model_server() as server:
        given = {"model": MODEL, "ask": "What appeared?", "api": options.api, "budget": options.budget}
        for answer in watch.answers(screen.frames(options.count), server.url, counts=counts, **given):
            request = server.requests[answer.number]
            for view, picture in zip(answer.views, request.pictures, strict=True):
                screen.show(view.box, view.scale, picture, answer.views.pts_seconds)
            request.body.clear()
    print(screen.report())
    print(f"{counts}; {counts.tokens / counts.seconds:.0f} tokens a second")


# ---- in virtual time -------------------------------------------------------------------------------------------------


class Clock:
    """The time of the frames, which goes on while the watcher waits."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


class FaultyServer:
    """Takes 0.2 to 0.6 s; from time to time it does not work. kinds: "stall", "dead", "429" or "reorder"."""

    def __init__(self, clock: Clock, screen: Screen, kind: str, seed: int) -> None:
        self.clock, self.screen, self.kind, self.rng = clock, screen, kind, np.random.default_rng(seed)
        self.faults = [(0.0, 0.0)]
        for _ in range(10_000):
            begin = self.faults[-1][1] + self.rng.uniform(2, 20)
            self.faults.append((begin, begin + self.rng.uniform(2, 20)))
        self.waiting: list[tuple[float, int, Reply | Failure]] = []
        self.watcher: Watcher | None = None

    def fault(self, at: float) -> tuple[float, float] | None:
        return next(((begin, end) for begin, end in self.faults if begin <= at < end), None)

    def send(self, number: int, messages: Sequence[Mapping[str, Any]]) -> None:
        del messages
        now, busy = self.clock(), self.rng.uniform(0.2, 0.6)
        fault = self.fault(now)
        done: tuple[float, Reply | Failure] = (now + busy, Reply("yes", None))
        if fault and self.kind == "stall":
            done = (fault[1] + busy, Reply("yes", None)) if fault[1] - now < 10 else (now + 10, Failure("timed out"))
        elif fault and self.kind == "dead":
            done = now, Failure("connection refused", counted=False)
        elif fault and self.kind == "429":
            told = fault[1] - now if self.rng.random() < 0.5 else None
            done = now + 0.05, Failure("429", counted=False, retry_after=told)
        elif fault and self.kind == "reorder":
            done = now + self.rng.uniform(0.2, 2), Reply("late", None)
        if isinstance(done[1], Reply):
            assert self.watcher is not None
            for view in self.watcher._in_flight[number].views:
                self.screen.show(view.box, view.scale, view.image, done[0] - busy if self.kind == "stall" else now)
        self.waiting.append((done[0], number, done[1]))

    def __str__(self) -> str:
        return self.kind

    def outcome(self, timeout: float) -> Outcome | None:
        self.clock.at += timeout
        done = sorted(each[:2] for each in self.waiting if each[0] <= self.clock())
        if not done:
            return None
        (entry,) = [each for each in self.waiting if each[1] == done[0][1]]
        self.waiting.remove(entry)
        return entry[1], entry[2]


def faults(options: argparse.Namespace) -> None:
    for kind in ("stall", "dead", "429", "reorder"):
        screen, clock = Screen(options.seed), Clock()

        def frames() -> Iterator[tuple[np.ndarray, float]]:
            for frame, now in screen.frames(options.count):  # noqa: B023
                clock.at = max(clock.at, now)  # noqa: B023
                yield frame, now

        server = FaultyServer(clock, screen, kind, options.seed)
        stream = sc.Stream(frames(), array="numpy", lattice="nested", fixation="center", every=1, device="cpu")
        watcher = Watcher(
            stream=stream, server=server, rule=sc.TokenRule.of("qwen2.5-vl"), form="openai", ask="?", live=True,
            gate=Gate(options.budget, 1568, 4 if kind == "reorder" else 1), now=clock,
        )  # fmt: skip
        server.watcher = watcher
        for _ in watcher.answers():
            pass
        late = []
        for onset in screen.onsets:
            if onset.reached is not None:
                due = onset.at
                for begin, end in server.faults if kind != "reorder" else ():
                    due = end if begin <= due + 1 and end > due else due  # it did not work for a second
                late.append(onset.reached - due)
        counts = watcher.counts
        lost = sum(onset.reached is None for onset in screen.onsets)
        print(
            f"| {kind} | {len(screen.onsets)} | {lost} | {max(late):.2f} s | {counts.requests} | {counts.failures} | "
            f"{counts.tokens / counts.seconds:.0f} |"
        )


# ---- quiet, a day, another gate --------------------------------------------------------------------------------------


def quiet(options: argparse.Namespace) -> None:
    screen = Screen(options.seed)

    def frames() -> Iterator[tuple[np.ndarray, float]]:
        font = ImageFont.truetype("DejaVuSans.ttf", 13)
        for number in range(120 * FPS):
            now, draw = number / FPS, ImageDraw.Draw(screen.image)
            draw.rectangle((1820, 4, 1910, 22), fill=(40, 40, 40))
            draw.text((1824, 5), time.strftime("%H:%M:%S", time.gmtime(now)), font=font, fill=(230, 230, 230))
            draw.rectangle((400, 300, 401, 316), fill=(0, 0, 0) if int(now * 2) % 2 else (250, 250, 250))
            yield np.asarray(screen.image), now

    counts = watch.Counts()
    first = 0
    with model_server.model_server() as server:
        for answer in watch.answers(frames(), server.url, model=MODEL, ask="?", counts=counts):
            first = first or answer.views.tokens
    rule = sc.TokenRule.of("qwen2.5-vl")
    later, whole = (counts.tokens - first) / counts.seconds, 2 * rule.tokens(1920, 1080)
    print(f"{counts}")
    print(f"{later:.1f} tokens a second after the first, {100 * later / whole:.2f} % of two whole frames ({whole})")


def day(options: argparse.Namespace) -> None:
    screen = Screen(options.seed, 640, 360)
    rng = np.random.default_rng(1)

    def frames() -> Iterator[tuple[np.ndarray, float]]:
        for second in range(round(options.hours * 3600)):
            if second % 20 == 10:
                screen.onsets[:-5] = []
                screen.appear(float(second))
            frame = np.asarray(screen.image)
            if second % 3600 < 300:  # a film
                frame = frame.copy()
                frame[100:190, 200:360] = rng.integers(0, 255, (90, 160, 1), np.uint8)
            yield frame, float(second)

    counts, hour, began = watch.Counts(), 0, time.perf_counter()
    with model_server.model_server(lambda n, _: model_server.Fault(503) if n % 50 == 49 else "yes") as server:
        given = {"model": MODEL, "ask": "?", "budget": options.budget, "counts": counts}
        for answer in watch.answers(frames(), server.url, **given):
            server.requests[:] = [None] * len(server.requests)
            if answer.views.pts_seconds >= 3600 * hour:
                with open("/proc/self/statm") as statm:
                    pages = int(statm.read().split()[1])
                print(f"hour {hour}: {pages * os.sysconf('SC_PAGE_SIZE') / 2**20:.1f} MiB", flush=True)
                hour += 1
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{counts}; {most:.1f} MiB at most, in {time.perf_counter() - began:.0f} s")


def gate(options: argparse.Namespace) -> None:
    """Of which frames a picture is sent: by 1 - mean square of 64x64 below 0.95 of the last one kept, and by watch."""
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", options.clip, "-vf", "scale=64:64:flags=area", "-pix_fmt", "gray",
         "-f", "rawvideo", "-"], check=True, capture_output=True,
    ).stdout  # fmt: skip
    frames = np.frombuffer(raw, np.uint8).reshape(-1, 64, 64).astype(np.float64) / 255
    kept = [0]
    for number in range(1, len(frames)):
        if 1 - np.mean((frames[number] - frames[kept[-1]]) ** 2) < 0.95:
            kept.append(number)
    print(f"gate of 64x64 at 0.95: keeps {len(kept)} of {len(frames)} frames: {kept}")
    with model_server.model_server() as server:
        found = list(watch.answers(options.clip, server.url, model=MODEL, ask="?", budget=options.budget))
    for answer in found:
        boxes = [(view.box, view.reason) for view in answer.views]
        print(f"watch: frame {answer.views.frame}, {answer.views.tokens} tokens: {boxes[:3]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("onsets", "faults", "quiet", "day", "gate"))
    parser.add_argument("clip", nargs="?", default="assets/desktop.mp4")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--api", default="openai", choices=("openai", "anthropic"))
    parser.add_argument("--budget", type=float, default=2000)
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--seed", type=int, default=29)
    options = parser.parse_args()
    globals()[options.part](options)


if __name__ == "__main__":
    main()
