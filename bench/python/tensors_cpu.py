#!/usr/bin/env python3
"""Tensor operations on the CPU beside torch's, as a Markdown table of ratios.

    PYTHONPATH=python bench/python/tensors_cpu.py [--threads 1] [--rounds 30] [--only WORD] [--clip CLIP]

Each row's ways take turns in one process. One thread is measured by its own time, several by the clock. A ratio is the
least time of a way over the least of the row's last way, which is what it is compared with; behind it the median of the
ratios within a round. --clip: decoded by torchcodec; rows of a video loop.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

import pysaccade as sc

Way = Callable[[], Any]
Row = tuple[str, dict[str, Way]]


def pooled(image: torch.Tensor) -> list[torch.Tensor]:
    levels = [image]
    for _ in range(4):
        levels.append(F.avg_pool2d(levels[-1], 2))
    return levels


def gradient_of(levels: list[torch.Tensor], image: torch.Tensor) -> Way:
    push = [torch.ones_like(level) for level in levels[1:]]
    return lambda: torch.autograd.grad(levels[1:], image, push, retain_graph=True)


def levels_backward() -> Iterator[Row]:
    for dtype in (torch.float32, torch.float64):
        for shape in ((3, 1024, 1024), (32, 3, 256, 256)):
            image = torch.rand(shape, dtype=dtype).requires_grad_()
            name = f"backward of 5 levels, {list(shape)} {str(dtype)[6:]}"
            ours = gradient_of(sc.generate_mipmaps(image, 5), image)
            yield name, {"ours": ours, "avg_pool2d": gradient_of(pooled(image), image)}


def points() -> Iterator[Row]:
    for channels, batch in ((3, 1), (3, 8), (40, 2)):
        image = torch.rand(batch, channels, 256, 256).requires_grad_()
        uv = torch.rand(batch, 20000, 2).requires_grad_()
        push = torch.rand(batch, channels, 20000)

        def ours(image: torch.Tensor = image, uv: torch.Tensor = uv) -> torch.Tensor:
            return torch.as_tensor(sc.sample([image], uv))

        def theirs(image: torch.Tensor = image, uv: torch.Tensor = uv) -> torch.Tensor:
            found = F.grid_sample(image, 2 * uv[:, :, None] - 1, align_corners=False, padding_mode="border")
            return found[..., 0]

        def forward(way: Any) -> Any:
            with torch.no_grad():
                return way()

        def both(way: Any, learns: Any = (image, uv), push: Any = push) -> Any:
            with torch.autograd.set_multithreading_enabled(False):
                return torch.autograd.grad(way(), learns, push)

        name = f"20,000 points of [{batch}, {channels}, 256, 256] f32"
        yield name, {"ours": lambda f=ours: forward(f), "grid_sample": lambda f=theirs: forward(f)}
        backward = {"ours": lambda f=ours, g=both: g(f), "grid_sample": lambda f=theirs, g=both: g(f)}
        yield f"{name}, forward + backward to image and uv", backward


def changing(frames: list[torch.Tensor]) -> Iterator[torch.Tensor]:
    while True:
        yield from frames


def updates() -> Iterator[Row]:
    for dtype in (torch.uint8, torch.float32):
        for last in (False, True):
            frames = [(torch.rand(3, 1080, 1920) * 255).to(dtype)] * 2
            frames[1] = frames[0].clone()
            frames[1][:, 96:441, 96:710] = (torch.rand(3, 345, 614) * 255).to(dtype)
            if last:
                frames = [frame.permute(1, 2, 0).contiguous().permute(2, 0, 1) for frame in frames]
            texture = sc.TexturePyramid.create_persistent(size=(1080, 1920), dtype=dtype)
            still = sc.TexturePyramid.create_persistent(size=(1080, 1920), dtype=dtype)
            texture.update(frames[0])
            still.update(frames[0])
            still.update(frames[0])
            coming = changing([frames[1], frames[0]])
            name = f"persistent texture [3, 1080, 1920] {str(dtype)[6:]}{', channels last' if last else ''}"
            yield (
                name,
                {
                    "11 % of the tiles": lambda t=texture, c=coming: t.update(next(c)),
                    "nothing changed": lambda t=still, f=frames: t.update(f[0]),
                    "new pyramid": lambda f=frames: sc.TexturePyramid(f[0]),
                },
            )


def video(clip: str) -> Iterator[Row]:
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(clip)
    decoded = [decoder[number].clone() for number in range(60)]
    fixation = torch.tensor([0.4, 0.5])
    for frames, kind in ((decoded, "as decoded"), ([frame.contiguous() for frame in decoded], "contiguous")):
        texture = sc.TexturePyramid.create_persistent(size=tuple(frames[0].shape[-2:]))
        lattice = sc.Lattice(size=texture.size)
        texture.update(frames[0])

        def kept(frames: Any = frames, texture: Any = texture, lattice: Any = lattice) -> None:
            for frame in frames:
                texture.update(frame)
                texture.sample_foveated(fixation, lattice)

        def new(frames: Any = frames, lattice: Any = lattice) -> None:
            for frame in frames:
                sc.TexturePyramid(frame).sample_foveated(fixation, lattice)

        name = f"60 frames {kind}, {list(frames[0].shape)}: levels and patches"
        yield name, {"persistent": kept, "new pyramid": new}


def measure(ways: dict[str, Way], rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            begin = clock()
            way()
            if number > 0:  # the first one warms up
                found[name].append(clock() - begin)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--clip", default="")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    clock = time.thread_time if arguments.threads == 1 else time.perf_counter
    print(f"torch {torch.__version__}, {arguments.threads} threads, {arguments.rounds} rounds\n")
    print("| work | way | to | ratio | in a round |\n|---|---|---|---|---|")
    parts = [levels_backward(), points(), updates(), *([video(arguments.clip)] if arguments.clip else [])]
    for name, ways in (row for part in parts for row in part if arguments.only in row[0]):
        found = measure(ways, arguments.rounds, clock)
        *others, base = ways
        for way in others:
            ratio = min(found[way]) / min(found[base])
            in_a_round = statistics.median(mine / other for mine, other in zip(found[way], found[base], strict=True))
            print(f"| {name} | {way} | {base} | {ratio:.2f} | {in_a_round:.2f} |", flush=True)


if __name__ == "__main__":
    main()
