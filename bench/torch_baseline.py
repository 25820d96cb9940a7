#!/usr/bin/env python3
"""The same work in PyTorch: a pyramid by avg_pool2d and 273 trilinear patches by grid_sample, on the device.

    python3 bench/torch_baseline.py [--json FILE]

Medians by CUDA events, eager, eager with each patch sampled from the levels it needs (grouped) and torch.compile, RGB planes in float32 (B, 3, H, W). It does less than saccade's update:
no decode format, no diff, no integer-exact means; frames are taken as float RGB already on the device.
"""
import argparse
import json
import statistics

import torch
import torch.nn.functional as F

LEVELS = 7
PATCHES = 273
SIZE = 16


def make_plan(width, height):
    """Centres in pixels and lods, as bench_cuda.cpp has them."""
    n = torch.arange(PATCHES)
    lod = (n * LEVELS // PATCHES).float()
    x = width * ((n % 7).float() + 0.5) / 7.0
    y = height * ((n // 7 % 6).float() + 0.5) / 6.0
    return x.cuda(), y.cuda(), lod.cuda()


def pyramid(frame):
    levels = [frame]
    for _ in range(LEVELS - 1):
        levels.append(F.avg_pool2d(levels[-1], 2, ceil_mode=True))
    return levels


def patches(levels, x, y, lod, offsets):
    """Each level samples the patches once; a trilinear weight of 0 leaves those of other levels out."""
    height, width = levels[0].shape[-2:]
    pitch = torch.exp2(lod)[:, None, None]
    px = x[:, None, None] + offsets[None, None, :] * pitch
    py = y[:, None, None] + offsets[None, :, None] * pitch
    grid = torch.stack((px.expand(-1, SIZE, -1) / width * 2 - 1, py.expand(-1, -1, SIZE) / height * 2 - 1), dim=-1)
    grid = grid.reshape(1, PATCHES * SIZE, SIZE, 2)
    out = torch.zeros(1, 3, PATCHES * SIZE, SIZE, device=x.device)
    for level, image in enumerate(levels):
        weight = (1 - (lod - level).abs()).clamp(min=0).repeat_interleave(SIZE)[None, None, :, None]
        out = out + weight * F.grid_sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)
    return out.reshape(3, PATCHES, SIZE, SIZE).permute(1, 0, 2, 3).contiguous()


def make_groups(width, height, x, y, lod, offsets):
    """Per level the patches that need it, their grid and weights: known before the frame comes."""
    pitch = torch.exp2(lod)[:, None, None]
    px = (x[:, None, None] + offsets[None, None, :] * pitch) / width * 2 - 1
    py = (y[:, None, None] + offsets[None, :, None] * pitch) / height * 2 - 1
    grid = torch.stack((px.expand(-1, SIZE, -1), py.expand(-1, -1, SIZE)), dim=-1)
    groups = []
    for level in range(LEVELS):
        weight = (1 - (lod - level).abs()).clamp(min=0)
        index = torch.nonzero(weight).flatten()
        groups.append((index, grid[index].reshape(1, -1, SIZE, 2), weight[index][:, None, None, None]))
    return groups


def grouped_patches(levels, groups):
    """Each level samples only the patches that need it."""
    out = torch.zeros(PATCHES, 3, SIZE, SIZE, device=levels[0].device)
    for image, (index, grid, weight) in zip(levels, groups):
        samples = F.grid_sample(image, grid, mode="bilinear", padding_mode="border", align_corners=False)
        out.index_add_(0, index, weight * samples.reshape(3, -1, SIZE, SIZE).permute(1, 0, 2, 3))
    return out


def frame_to_patches(frame, x, y, lod, offsets):
    return patches(pyramid(frame), x, y, lod, offsets)


def median_us(work, warm_up=20, repeats=200):
    for _ in range(warm_up):
        work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def saccade_us(path, name, width, height, percent=10):
    if not path:
        return None
    with open(path, encoding="utf-8") as file:
        for run in json.load(file)["benchmarks"]:
            if run["name"].startswith(f"BM_Cuda/{name}/{width}/{height}/{percent}/"):
                return run["p50_us"]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="JSON of saccade_bench --benchmark_filter=BM_Cuda from the same device: print the ratios")
    parser.add_argument("--json", help="also write the numbers to this file")
    args = parser.parse_args()
    offsets = (torch.arange(SIZE) - (SIZE - 1) / 2).float().cuda()
    compiled = torch.compile(frame_to_patches, dynamic=False)
    rows = []
    for width, height in ((1280, 720), (1920, 1080), (3840, 2160)):
        frames = [torch.rand(1, 3, height, width, device="cuda") for _ in range(4)]
        plan = make_plan(width, height)
        step = iter(range(1 << 30))
        groups = make_groups(width, height, *plan, offsets)
        with torch.inference_mode():
            same = (frame_to_patches(frames[0], *plan, offsets) - grouped_patches(pyramid(frames[0]), groups)).abs().max()
            assert same.item() < 1e-4, same
            row = {
                "size": f"{width}x{height}",
                "pyramid_eager_us": median_us(lambda: pyramid(frames[next(step) % 4])),
                "pyramid_patches_grouped_us": median_us(lambda: grouped_patches(pyramid(frames[next(step) % 4]), groups)),
                "pyramid_patches_eager_us": median_us(lambda: frame_to_patches(frames[next(step) % 4], *plan, offsets)),
            }
            try:
                row["pyramid_patches_compiled_us"] = median_us(lambda: compiled(frames[next(step) % 4], *plan, offsets))
            except Exception as error:  # the compiler needs a working host toolchain
                row["compile_error"] = str(error).splitlines()[0][:120]
        for name in ("fused_sample", "fused_sample_waited"):
            ours = saccade_us(args.against, name, width, height)
            if ours:
                for key in ("eager", "grouped", "compiled"):
                    theirs = row.get(f"pyramid_patches_{key}_us")
                    if theirs:
                        row[f"{key}_over_{name}"] = round(theirs / ours, 1)
        rows.append(row)
        print(row, flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as out:
            json.dump({"torch": torch.__version__, "device": torch.cuda.get_device_name(), "rows": rows}, out, indent=1)


if __name__ == "__main__":
    main()
