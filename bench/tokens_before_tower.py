#!/usr/bin/env python3
"""How many streams one GPU serves with a ViT-L of random weights: all tokens of each look, or those that changed.

    python bench/tokens_before_tower.py record looks.json clip.mp4 ...     what changed at each look: needs pysaccade
    python bench/tokens_before_tower.py run looks.json                     the table: needs torch and a GPU alone

The tower is 24 layers, 1024 wide, 16 heads, bf16, on patches of 14 px; attention within windows of 112 px, or to all. Looks
of 16 streams run side by side. With all tokens, each look is a whole frame. With ours the tower runs the windows that
changed; attending to all, the cells that changed, against keys and values of the whole frame that are kept (`TokenCache`).
The time of the tower counts; decoding, choosing and the language model do not.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

RATE, SECONDS, STREAMS = 4, 10, 16
WIDTH, HEADS, DEPTH, WINDOW = 1024, 16, 24, 64  # a window: patches of 112 x 112 px


def record(out: Path, clips: list[Path], threshold: int) -> None:
    """Write for each clip its cells, and how many changed at each look: alone, and with all of their windows."""
    import pysaccade as sc

    found = {}
    for clip in clips:
        options: dict[str, Any] = {"rate": RATE, "duration": SECONDS, "device": "cpu", "threshold": threshold}
        looks = []
        with sc.Stream(clip, lattice="uniform:0", patch_size=28, fixation="center", **options) as stream:
            for emission in stream:
                looks.append([int(emission.changed.sum()), 0])
            cells = len(emission)
        for look in sc.qwen(clip, **options):
            number = round(look.pts_seconds * RATE)
            if number < len(looks):
                looks[number][1] = len(look)
        found[clip.name] = {"cells": cells, "looks": looks}
        print(clip.name, found[clip.name])
    out.write_text(json.dumps(found))


def tower(torch: Any) -> Any:
    """Layers of a ViT-L; attention is a function of queries, keys and values that the caller gives."""
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any, attend: Any) -> Any:
            q, k, v = self.qkv(self.one(x)).view(-1, 3, HEADS, WIDTH // HEADS).unbind(1)
            x = x + self.out(attend(q, k, v).reshape(-1, WIDTH))
            return x + self.down(functional.gelu(self.up(self.two(x))))

    return nn.ModuleList([Layer() for _ in range(DEPTH)]).cuda().bfloat16().eval()


def seconds_of(torch: Any, layers: Any, counts: list[int], whole: int, windows: bool) -> float:
    """The tower's time for a look of each stream: `counts` patches of `whole`."""
    sdpa = torch.nn.functional.scaled_dot_product_attention
    total = sum(counts)
    if total == 0:
        return 0.0
    x = torch.randn(total, WIDTH, device="cuda", dtype=torch.bfloat16)
    kept = torch.randn(2, len(counts), HEADS, whole, WIDTH // HEADS, device="cuda", dtype=torch.bfloat16)
    at = [torch.randperm(whole, device="cuda")[:count] for count in counts]

    def within(q: Any, k: Any, v: Any) -> Any:
        parts = (each.view(-1, WINDOW, HEADS, WIDTH // HEADS).transpose(1, 2) for each in (q, k, v))
        return sdpa(*parts).transpose(1, 2)

    def to_all(q: Any, k: Any, v: Any) -> Any:
        if total == whole * len(counts):
            parts = (each.view(len(counts), whole, HEADS, -1).transpose(1, 2) for each in (q, k, v))
            return sdpa(*parts).transpose(1, 2)
        found, begin = [], 0
        for stream, count in enumerate(counts):
            end = begin + count
            if count:
                kept[0, stream].index_copy_(1, at[stream], k[begin:end].transpose(0, 1))
                kept[1, stream].index_copy_(1, at[stream], v[begin:end].transpose(0, 1))
                query = q[begin:end].transpose(0, 1)[None]
                found.append(sdpa(query, kept[:1, stream], kept[1:, stream])[0].transpose(0, 1))
            begin = end
        return torch.cat(found)

    def run() -> None:
        y = x
        for layer in layers:
            y = layer(y, within if windows else to_all)

    run()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / 3


def run(path: Path) -> None:
    """Print the table."""
    import torch

    layers = tower(torch)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {STREAMS} streams side by side, {RATE} looks a second")
    print("| clip | attention | tokens run | streams, all tokens | streams, ours | times |\n|---|---|---|---|---|---|")
    with torch.no_grad():
        for name, clip in json.loads(path.read_text()).items():
            looks, cells = clip["looks"], clip["cells"]
            for windows in (True, False):
                whole = -(-cells * 4 // WINDOW) * WINDOW
                per_look = [-(-look[windows] * 4 // WINDOW) * WINDOW if windows else look[0] * 4 for look in looks]
                if not windows:  # half of the cells and more: TokenCache runs all
                    per_look = [whole if 2 * count >= whole else count for count in per_look]
                all_s = seconds_of(torch, layers, [whole] * STREAMS, whole, windows)
                begins = range(0, len(looks), max(1, len(looks) // 10))
                ours = [
                    seconds_of(torch, layers, [per_look[(n + k) % len(looks)] for k in range(STREAMS)], whole, windows)
                    for n in begins
                ]
                one, other = (STREAMS / (each * RATE) for each in (all_s, sum(ours) / len(ours)))
                share = sum(per_look) / (whole * len(looks))
                kind = "windows" if windows else "all"
                print(f"| {name} | {kind} | {share:.1%} | {one:.0f} | {other:.0f} | {other / one:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["record", "run"])
    parser.add_argument("looks", type=Path)
    parser.add_argument("clips", type=Path, nargs="*")
    parser.add_argument("--threshold", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.what == "record":
        record(arguments.looks, arguments.clips, arguments.threshold)
    else:
        run(arguments.looks)


if __name__ == "__main__":
    main()
