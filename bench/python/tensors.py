#!/usr/bin/env python3
"""Tensor operations beside torch (eager and compiled) and nvdiffrast. Medians of CUDA events, as a Markdown table.

    PYTHONPATH=python bench/python/tensors.py [--only WORD] [--compile] [--device cpu --small] [--host | --bars]

nvdiffrast and KeOps take part where they can be imported. Each row's ways run one after another in one process.
`graph`: the same calls in a CUDA graph. `gpu`: events around calls that wait for the GPU, so that the host counts
nothing. `host`: what the host alone spends on a call, while the GPU works on. On the CPU times are the clock's. --host:
what the parts of a small call cost the host, on tensors too small to matter. --bars: the rows of small calls alone, and
gradients in alternation with nvdiffrast and with a torch.autograd.Function that does no work: what torch itself asks.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

import pysaccade as sc
from pysaccade import reference

Way = Callable[[], Any]
PATCHES = 273
COLUMNS = ("ours", "host", "gpu", "graph", "torch", "compiled", "nvdiffrast", "KeOps")
try:
    import nvdiffrast.torch as dr
except ImportError:
    dr = None
try:
    from pykeops.torch import Genred
except ImportError:
    Genred = None


class Bench:
    """One device; measures ways of doing one thing and prints a row."""

    def __init__(self, device: str, small: bool, with_compile: bool, only: str, bars: bool) -> None:
        self.device, self.small, self.with_compile, self.only, self.bars = device, small, with_compile, only, bars
        self.cuda = device.startswith("cuda")
        self.last: list[tuple[str, str, Way]] = []  # rows whose graph is captured when all others are measured
        self.alternate: list[tuple[str, dict[str, Way]]] = []  # rows that are measured in alternation

    def size(self, pixels: int) -> int:
        return min(pixels, 256) if self.small else pixels

    def batch(self, many: int) -> int:
        return min(many, 2) if self.small else many

    def row(self, name: str, bar: str, ways: dict[str, Way]) -> None:
        if self.only and self.only not in name:
            return
        cells = []
        for column in COLUMNS:
            way = ways.get(column)
            if column == "host" and self.cuda:
                cells.append(f"{self.host_us(ways['ours']):.1f}")
            elif column == "gpu" and self.cuda:
                cells.append(f"{self.gpu_us(ways['ours']):.1f}")
            else:
                cells.append("-" if way is None else self.cell(way))
        print(f"| {name} | {' | '.join(cells)} | {bar} |", flush=True)

    def cell(self, way: Way) -> str:
        try:
            return f"{self.median_us(way):.1f}"
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return "no memory"

    def median_us(self, way: Way) -> float:
        first = self.once_us(way)
        runs = 3 if first > 2e5 else 20 if first > 5e3 else 100
        for _ in range(min(runs, 10)):
            way()
        if not self.cuda:
            return statistics.median(self.once_us(way) for _ in range(runs))
        torch.cuda.synchronize()
        return self.events_us(way, runs)

    def events_us(self, way: Way, calls: int) -> float:
        """Median of events around each call."""
        pairs = []
        for _ in range(calls):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            way()
            end.record()
            pairs.append((begin, end))
        torch.cuda.synchronize()
        return statistics.median(begin.elapsed_time(end) * 1e3 for begin, end in pairs)

    def host_us(self, way: Way, calls: int = 20) -> float:
        """Least time of the host for a call that nobody waits for; rounds are short, to fit between others' work."""
        found = []
        for _ in range(25):
            if self.cuda:
                torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(calls):
                way()
            found.append((time.perf_counter() - begin) * 1e6 / calls)
        return min(found)

    def gpu_us(self, way: Way, calls: int = 30) -> float:
        """Median of events around calls that all were made while the GPU slept."""
        host_us = self.host_us(way, calls)
        torch.cuda.synchronize()
        torch.cuda._sleep(int(host_us * calls * 1.5 * 2000))  # cycles, at 2 GHz
        return self.events_us(way, calls)

    def in_alternation(self, name: str, ways: dict[str, Way], rounds: int = 60, calls: int = 20) -> None:
        """A line for each way: median, quarters of rounds, and the ratio to the first one's in the same round."""
        found: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(rounds):
            for way, call in ways.items():
                call()
                found[way].append(self.events_us(call, calls) if self.cuda else self.once_us(call))
        first = next(iter(found.values()))
        for way, times in found.items():
            low, median, high = statistics.quantiles(times)
            ratio = statistics.median(mine / other for mine, other in zip(times, first, strict=True))
            print(f"| {name} | {way} | {median:.1f} ({low:.1f} to {high:.1f}) | {ratio:.2f} |", flush=True)

    def once_us(self, way: Way) -> float:
        if self.cuda:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        way()
        if self.cuda:
            torch.cuda.synchronize()
        return (time.perf_counter() - begin) * 1e6

    def graph(self, way: Way) -> Way | None:
        if not self.cuda:
            return None
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                way()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            way()
        return graph.replay

    def compiled(self, function: Callable[..., Any], *arguments: Any) -> Way | None:
        if not self.with_compile:
            return None
        torch._dynamo.reset()
        made = torch.compile(function)
        return lambda: made(*arguments)

    def ways(self, ours: Way, graph: bool = True, **others: Way | None) -> dict[str, Way]:
        found = {"ours": ours, "graph": self.graph(ours) if graph else None, **others}
        return {name: way for name, way in found.items() if way is not None}


def pooled(image: torch.Tensor) -> list[torch.Tensor]:
    levels = [image]
    for _ in range(4):
        levels.append(F.avg_pool2d(levels[-1], 2))
    return levels


def mixed(image: torch.Tensor, centers: torch.Tensor, lod: torch.Tensor) -> torch.Tensor:
    """avg_pool2d's levels, grid_sample on each, mixed."""
    return reference.sample_patches(pooled(image), centers, lod, 16)


def pyramids(bench: Bench) -> None:
    cases = [
        ((1, 3, 1024, 1024), torch.float32, "10"),
        ((1, 3, 4096, 4096), torch.float32, "76"),
        ((32, 3, 1024, 1024), torch.float32, "145"),
        ((8, 40, 1024, 1024), torch.float32, "460"),
        ((8, 40, 1024, 1024), torch.float16, "1.25 of the bytes"),
        ((8, 40, 1024, 1024), torch.uint8, "1.25 of the bytes"),
    ]
    for (batch, channels, height, width), dtype, bar in cases[: 1 if bench.bars else None]:
        shape = (bench.batch(batch), channels, bench.size(height), bench.size(width))
        x = (torch.rand(shape, device=bench.device) * 255).to(dtype)
        others: dict[str, Way | None] = {}
        if dtype.is_floating_point:
            others["torch"] = lambda x=x: pooled(x)
            others["compiled"] = bench.compiled(pooled, x)
        if dr is not None and bench.cuda and dtype == torch.float32:
            last = x.permute(0, 2, 3, 1).contiguous()
            others["nvdiffrast"] = lambda last=last: dr.texture_construct_mip(last, max_mip_level=4)
        name = f"5 levels, {list(shape)} {str(dtype).removeprefix('torch.')}"
        bench.row(name, bar, bench.ways(lambda x=x: sc.generate_mipmaps(x, 5), **others))


def places(plan: sc.PatchPlan, width: int) -> torch.Tensor:
    """uv [B, N * 16, 16, 2] of every sample, as nvdiffrast takes it."""
    steps = torch.arange(16, device=plan.lod.device) - 7.5
    grid = torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1) / width
    uv = plan.centers[:, :, None, None] + grid * torch.exp2(plan.lod)[..., None, None, None]
    return uv.flatten(1, 2).contiguous()


def plan_of(patches: int, size: int, fixations: torch.Tensor) -> sc.PatchPlan:
    """The first so many of a nested lattice that has as many or a few more."""
    budget = patches
    while len(sc.Lattice(tokens=budget, size=(size, size), levels=5)) < patches:
        budget += 1
    plan = sc.Lattice(tokens=budget, size=(size, size), levels=5).plan(fixations)
    return sc.PatchPlan(plan.centers[:, :patches].contiguous(), plan.lod[:, :patches].contiguous())


def patches(bench: Bench) -> None:
    cases = [(1, 3, "25, graph 18", "120"), (32, 3, "190", "800"), (8, 40, "", "2200")]
    for many, channels, forward_bar, both_bar in cases[: 1 if bench.bars else None]:
        batch, size = bench.batch(many), bench.size(1024)
        x = torch.rand(batch, channels, size, size, device=bench.device)
        plan = plan_of(PATCHES, size, torch.rand(batch, 2, device=bench.device))
        centers, lod = plan.centers, plan.lod

        def ours(x: torch.Tensor = x, plan: sc.PatchPlan = plan) -> torch.Tensor:
            return sc.TexturePyramid(x, levels=5, odd="floor").sample_patches(plan)

        uv, bias = places(plan, size), lod.repeat_interleave(16, 1)[..., None].expand(-1, -1, 16).contiguous()

        def nvdiffrast(x: torch.Tensor, uv: torch.Tensor, bias: torch.Tensor = bias) -> torch.Tensor:
            options = {"filter_mode": "linear-mipmap-linear", "boundary_mode": "clamp", "max_mip_level": 4}
            return dr.texture(x, uv, mip_level_bias=bias, **options)

        last = x.permute(0, 2, 3, 1).contiguous()
        others: dict[str, Way | None] = {
            "torch": lambda x=x, c=centers, d=lod: mixed(x, c, d),
            "compiled": bench.compiled(mixed, x, centers, lod),
            "nvdiffrast": (lambda t=last, u=uv, f=nvdiffrast: f(t, u)) if dr is not None and bench.cuda else None,
        }
        name = f"pyramid + {PATCHES} patches, {[batch, channels, size, size]}"
        bench.row(name, forward_bar, bench.ways(ours, **others))
        learns = {"x": x.clone().requires_grad_(), "last": last.clone().requires_grad_()}
        at = {"centers": centers.clone().requires_grad_(), "uv": uv.clone().requires_grad_()}
        push = torch.randn(batch, PATCHES, channels, 16, 16, device=bench.device)

        def both(learns: Any = learns, at: Any = at, lod: Any = lod, push: Any = push) -> Any:
            made = sc.TexturePyramid(learns["x"], levels=5, odd="floor").sample_patches(
                sc.PatchPlan(at["centers"], lod)
            )
            return torch.autograd.grad(made, (learns["x"], at["centers"]), push)

        def both_torch(learns: Any = learns, at: Any = at, lod: Any = lod, push: Any = push) -> Any:
            made = mixed(learns["x"], at["centers"], lod)
            return torch.autograd.grad(made, (learns["x"], at["centers"]), push)

        def both_nvdiffrast(learns: Any = learns, at: Any = at, f: Any = nvdiffrast) -> Any:
            made = f(learns["last"], at["uv"])
            return torch.autograd.grad(made.sum(), (learns["last"], at["uv"]))

        theirs = both_nvdiffrast if dr is not None and bench.cuda else None
        found = bench.ways(both, graph=False, torch=both_torch, nvdiffrast=theirs)
        bench.row(f"the same, forward + backward to image and uv, {[batch, channels, size, size]}", both_bar, found)
        if batch == 1:
            bench.last.append((f"{name}, forward + backward to image and uv, in a CUDA graph", both_bar, both))
        if bench.bars:
            one_thread = bench.ways(lambda both=both: in_one_thread(both), graph=False)
            bench.row("the same, autograd on the caller's thread", "", one_thread)
            no_work = no_work_ways((learns["x"], at["centers"]), push)
            beside = {"nvdiffrast": theirs} if theirs else {}
            caller = {"ours, on the caller's thread": lambda both=both: in_one_thread(both)}
            bench.alternate.append(("image, forward + backward", {"ours": both, **caller, **beside, **no_work}))
            continue
        torch.use_deterministic_algorithms(True)
        bench.row("the same, deterministic", "x 32: 1600", bench.ways(both, graph=False))
        torch.use_deterministic_algorithms(False)


class NoWork(torch.autograd.Function):
    """Takes tensors, gives one, and allocates gradients that nobody writes."""

    @staticmethod
    def forward(ctx: Any, given: torch.Tensor, *learns: torch.Tensor) -> torch.Tensor:
        """Give memory of the size of `given`."""
        ctx.save_for_backward(*learns)
        return torch.empty_like(given)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give memory of the size of each gradient."""
        return (None, *[torch.empty_like(each) for each in ctx.saved_tensors])


def no_work_ways(learns: tuple[torch.Tensor, ...], push: torch.Tensor) -> dict[str, Way]:
    def call() -> Any:
        return torch.autograd.grad(NoWork.apply(push, *learns), learns, push)

    return {"no work": call, "no work, on the caller's thread": lambda: in_one_thread(call)}


def in_one_thread(way: Way) -> Any:
    with torch.autograd.set_multithreading_enabled(False):
        return way()


def updates(bench: Bench) -> None:
    height, width = bench.size(1080), bench.size(1920)
    texture = sc.TexturePyramid.create_persistent((height, width), device=bench.device)
    frames = []
    for _ in range(2):  # every other one changes a tenth of the tiles and back
        frame = torch.zeros(3, height, width, dtype=torch.uint8, device=bench.device)
        rows, columns = texture.tile_grid
        chosen = torch.rand(rows, columns, device=bench.device) < (0.1 if frames else 0)
        frames.append(frame + sc.Damage(chosen).pixels((height, width)).to(torch.uint8) * 90)
    coming = iter_for_ever(frames)
    ways = bench.ways(lambda: texture.update(next(coming)), graph=False)
    bench.row(f"persistent update, u8 {[3, height, width]}, 10 % of the tiles", "12", ways)


def iter_for_ever(frames: list[torch.Tensor]) -> Iterator[torch.Tensor]:
    while True:
        yield from frames


def fields(bench: Bench) -> None:
    sizes = [(500, 1000, ("15", "60")), (100_000, 10_000, ("900", "3900"))]
    for points, gaussians, bars in sizes[: 1 if bench.bars else None]:
        if bench.small:
            points, gaussians = min(points, 500), min(gaussians, 1000)  # noqa: PLW2901
        x, mean = (torch.rand(n, 3, device=bench.device) for n in (points, gaussians))
        tril = torch.eye(3, device=bench.device).repeat(gaussians, 1, 1) * 0.1
        weight = torch.rand(gaussians, 1, device=bench.device)
        inputs = [each.clone().requires_grad_() for each in (x, mean, tril, weight)]

        def both(function: Any, inputs: Any = inputs) -> Any:
            return torch.autograd.grad(function(*inputs).sum(), inputs)

        fits = points * gaussians < 1e8
        forward: dict[str, Way | None] = {
            "torch": (lambda a=(x, mean, tril, weight): reference.gaussian_field(*a)) if fits else None,
            "compiled": bench.compiled(reference.gaussian_field, x, mean, tril, weight) if fits else None,
        }
        name = f"Gaussian field, {points} points x {gaussians}"
        forward["KeOps"], keops_both = keops_ways((x, mean, tril, weight))
        with torch.no_grad():
            bench.row(name, bars[0], bench.ways(lambda a=(x, mean, tril, weight): sc.gaussian_field(*a), **forward))
        backward: dict[str, Way | None] = {"torch": (lambda f=both: f(reference.gaussian_field)) if fits else None}
        backward["KeOps"] = keops_both
        bench.row(
            f"{name}, + backward", bars[1], bench.ways(lambda f=both: f(sc.gaussian_field), graph=False, **backward)
        )
        if bench.bars:
            learns = [each.clone().requires_grad_() for each in (x, mean, tril, weight)]
            push = torch.ones_like(sc.gaussian_field(*learns)).detach()
            ours = {"ours": lambda f=both: f(sc.gaussian_field)}
            ours["ours, on the caller's thread"] = lambda f=both: in_one_thread(lambda: f(sc.gaussian_field))
            bench.alternate.append(("Gaussian field, forward + backward", ours | no_work_ways(tuple(learns), push)))
        if fits:
            bench.last.append((f"{name}, + backward, in a CUDA graph", bars[1], lambda f=both: f(sc.gaussian_field)))


def keops_field(dimensions: int) -> Way | None:
    """The field by KeOps, of arrays x [P,D], mean [G,D], L^-1 [G,D*D], weight [G,1]."""
    if Genred is None:
        return None
    names = [f"x = Vi({dimensions})", f"m = Vj({dimensions})", f"whiten = Vj({dimensions**2})", "w = Vj(1)"]
    return Genred("Exp(-SqNorm2(MatVecMult(whiten, x - m)) / IntCst(2)) * w", names, reduction_op="Sum", axis=1)


def keops_ways(tensors: Any) -> tuple[Way | None, Way | None]:
    """Forward, and forward + backward; whitening included, as ours."""
    x, mean, tril, weight = tensors
    field = keops_field(x.shape[1])
    if field is None:
        return None, None

    def forward(x: Any, mean: Any, tril: Any, weight: Any) -> Any:
        return field(x, mean, torch.linalg.inv(tril).flatten(1), weight)

    learns = [each.clone().requires_grad_() for each in tensors]
    return lambda: forward(x, mean, tril, weight), lambda: torch.autograd.grad(forward(*learns).sum(), learns)


def filterings(bench: Bench) -> None:
    if not bench.cuda:
        return
    for dtype in (torch.float32, torch.uint8):
        x = (torch.rand(3, bench.size(1024), bench.size(1024), device=bench.device) * 255).to(dtype)
        plan = sc.Lattice(tokens=273, size=x.shape[-2:]).plan(torch.tensor([0.4, 0.6], device=bench.device))
        for word in ("exact", "hardware"):
            pyramid = sc.TexturePyramid(x, filtering=word)
            name = f"{len(plan)} patches, {str(dtype).removeprefix('torch.')}, filtering={word}"
            bench.row(name, "", bench.ways(lambda p=pyramid, plan=plan: p.sample_patches(plan)))


def parts_of_a_call(bench: Bench) -> None:
    """What the host spends on the parts of small calls."""
    from pysaccade._operators import _tensor_abi as abi

    x = torch.rand(1, 3, 32, 32, device=bench.device)
    plan = sc.PatchPlan(torch.rand(1, 4, 2, device=bench.device), torch.ones(1, 4, device=bench.device), patch_size=4)
    fixation = torch.tensor([[0.4, 0.6]], device=bench.device)
    lattice = sc.Lattice(tokens=60, size=(32, 32), levels=5, patch_size=4)
    pyramid = sc.TexturePyramid(x, levels=5)
    learns, centers = x.clone().requires_grad_(), plan.centers.clone().requires_grad_()
    patches = pyramid.sample_patches(plan)
    push = torch.randn_like(patches)
    event = torch.cuda.Event(enable_timing=True) if bench.cuda else None
    texture = sc.TexturePyramid.create_persistent((32, 32), device=bench.device)
    frames = iter_for_ever([torch.full((3, 32, 32), n, dtype=torch.uint8, device=bench.device) for n in (3, 4)])
    points, mean = (torch.rand(n, 3, device=bench.device) for n in (4, 3))
    field = points, mean, torch.eye(3, device=bench.device).repeat(3, 1, 1), torch.rand(3, 1, device=bench.device)
    moved = [each.clone().requires_grad_() for each in field]
    back = torch.ones(4, 1, device=bench.device)

    def forward() -> Any:
        made = sc.TexturePyramid(learns, levels=5)
        return made.sample_patches(sc.PatchPlan(centers, plan.lod, patch_size=4))

    ways: dict[str, Way] = {
        "torch.empty": lambda: torch.empty(1000, device=bench.device),
        "x + x": lambda: x + x,
        "avg_pool2d": lambda: F.avg_pool2d(x, 2),
        "an event": event.record if event is not None else lambda: None,
        "place_of": lambda: abi.place_of(x),
        "mipmaps": lambda: sc.generate_mipmaps(x, 5),
        "pyramid": lambda: sc.TexturePyramid(x, levels=5),
        "patches of a plan again": lambda: pyramid.sample_patches(plan),
        "pyramid + patches": lambda: sc.TexturePyramid(x, levels=5).sample_patches(plan),
        "plan": lambda: lattice.plan(fixation),
        "pyramid + foveated": lambda: sc.TexturePyramid(x, levels=5).sample_foveated(fixation, lattice),
        "the library's levels": lambda: pyramid._storage.fill(1),
        "forward": forward,
        "forward + backward": lambda: torch.autograd.grad(forward(), (learns, centers), push),
        "persistent update": lambda: texture.update(next(frames)),
        "Gaussian field": lambda: sc.gaussian_field(*field),
        "Gaussian field, + backward": lambda: torch.autograd.grad(sc.gaussian_field(*moved), moved, back),
        "sum, forward + backward": lambda: torch.autograd.grad(learns.sum(), learns),
    }
    print("| part | host, us |\n|---|---|")
    for name, way in ways.items():
        for _ in range(20):
            way()
        print(f"| {name} | {bench.host_us(way):.1f} |", flush=True)


def channels(bench: Bench) -> None:
    size = bench.size(1024)
    x = torch.rand(40, size, size, device=bench.device)
    pyramid = sc.TexturePyramid(x, levels=5)
    plan = sc.Lattice(tokens=273, size=(size, size), levels=5).plan(torch.tensor([0.5, 0.5], device=bench.device))
    bench.row(f"273 patches of 40 channels, {[40, size, size]}", "", bench.ways(lambda: pyramid.sample_patches(plan)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--small", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too")
    parser.add_argument("--bars", action="store_true", help="the rows of small calls alone: half a minute on a GPU")
    parser.add_argument("--host", action="store_true", help="what the parts of a small call cost the host, alone")
    arguments = parser.parse_args()
    bench = Bench(arguments.device, arguments.small, arguments.compile, arguments.only, arguments.bars)
    device = torch.cuda.get_device_name() if bench.cuda else f"CPU, {torch.get_num_threads()} threads"
    print(f"{device}, torch {torch.__version__}, nvdiffrast {'yes' if dr else 'no'}; microseconds\n")
    if arguments.host:
        parts_of_a_call(bench)
        return
    print(f"| work | {' | '.join(COLUMNS)} | bar |\n|---|{'---|' * (len(COLUMNS) + 1)}")
    assert math.isfinite(bench.once_us(lambda: None))
    parts = (pyramids, patches, updates, fields)
    for part in parts if bench.bars else (*parts[:2], filterings, channels, *parts[2:]):
        part(bench)
    if bench.alternate:
        print("\n| in alternation | way | us | to the first |\n|---|---|---|---|")
    for name, ways in bench.alternate:
        bench.in_alternation(name, ways)
    if bench.last and bench.cuda:
        print("\n| work | " + " | ".join(COLUMNS) + " | bar |\n|---|" + "---|" * (len(COLUMNS) + 1))
    for name, bar, way in bench.last if bench.cuda else []:
        graph = bench.graph(way)
        bench.row(name, bar, {"ours": way} if graph is None else {"ours": way, "graph": graph})


if __name__ == "__main__":
    main()
