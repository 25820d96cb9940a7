"""Learning: a small ViT, trained from scratch on a sampler's tokens, says what moved, where, and how many there are.

python bench/accuracy/learn.py --out DIR [--clips DIR] [--rows nested:128,uniform:128,nested+reuse:72] [--steps 2000]
                               [--tiny]

Each example is two frames of 1280 x 720: one to four digits of 28 px over a piece of a natural clip, and one of them
jumps. The eye looks where most changed, which it sees in tiles of 16 px; its fovea is not told where the digit is. A
uniform sampler has as many tokens for each frame. A model sees the tokens of the frame after the jump; with `+both`
those of both frames, from the same places; with `+reuse` of the second frame only the tokens that differ from the
first one's. Five models with seeds of their own are trained side by side on the same tokens, and tested on examples of
other backgrounds. On a GPU they are compiled. Needs torch, NumPy and pysaccade.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

import pysaccade as sc

W, H, S = 1280, 720, 16
DIGITS, CELLS, MOST = 10, (8, 4), 4  # classes of the digit; cells of the frame across and down; digits in a frame
SNAP = 16
BUDGETS = (72, 128, 216, 273, 512)  # a nested lattice takes 68 at least
ROWS = ",".join(f"nested:{budget},uniform:{budget}" for budget in BUDGETS)


FONT = {  # five columns of seven rows each, from the top
    0: "0e11191513110e", 1: "040c040404040e", 2: "0e11010204081f", 3: "1f02040201110e", 4: "02060a121f0202",
    5: "1f101e0101110e", 6: "0608101e11110e", 7: "1f010204080808", 8: "0e11110e11110e", 9: "0e11110f01020c",
}  # fmt: skip


def glyphs(device: str) -> torch.Tensor:
    """The digits' coverage, [10, 32, 32] in 0 to 1: 20 x 28 pixels each, a little soft."""
    out = np.zeros((DIGITS, 32, 32), np.float32)
    for digit, rows in FONT.items():
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(rows), np.uint8)[:, None], axis=1)[:, 3:]
        out[digit, 2:30, 6:26] = bits.repeat(4, 0).repeat(4, 1)
    return F.avg_pool2d(torch.from_numpy(out)[:, None], 3, 1, 1)[:, 0].to(device)


def backgrounds(folder: pathlib.Path | None, device: str, each: int) -> torch.Tensor:
    """Frames of the clips, [n, 3, H, W] u8; without clips, noise of many scales."""
    frames = []
    for path in sorted(folder.iterdir()) if folder else []:
        options = {"lattice": "uniform", "lod": 0, "patches": 3600, "vf": f"scale={W}:{H},setsar=1"}
        try:
            with sc.Stream(str(path), device="cpu", array="numpy", rate=2, fixation="center", **options) as looks:
                for n, look in enumerate(looks):
                    if n >= each or len(look.patches) != (W // S) * (H // S):
                        break
                    frames.append(
                        look.patches.reshape(H // S, W // S, 3, S, S).transpose(2, 0, 3, 1, 4).reshape(3, H, W)
                    )
        except (sc.InputError, sc.UnavailableError, ValueError) as error:
            print(f"{path.name}: {error}")
    if not frames:
        random = torch.Generator().manual_seed(0)
        for _ in range(4 * each):
            frame = torch.full((1, 1, H, W), 128.0)
            for cell, weight in ((3, 10), (12, 15), (60, 25)):
                coarse = torch.randn(1, 1, H // cell + 2, W // cell + 2, generator=random)
                frame += weight * F.interpolate(coarse, (H, W), mode="bicubic", align_corners=False)
            frames.append(frame[0].clamp(0, 255).byte().expand(3, -1, -1).numpy())
    return torch.from_numpy(np.stack(frames)).to(device)


class Scenes:
    """Pairs of frames, made on the device."""

    def __init__(self, frames: torch.Tensor, seed: int) -> None:
        self.frames, self.device = frames, frames.device
        self.random = torch.Generator(device=self.device).manual_seed(seed)
        self.digits = glyphs(str(self.device))

    def integers(self, low: int, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(low, high, shape, generator=self.random, device=self.device)

    def batch(self, count: int) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Frames before and after, [count, 3, H, W] u8, and the truth of what moved."""
        base = self.frames[self.integers(0, len(self.frames), count)].float()
        digits, number = self.integers(0, DIGITS, count, MOST), self.integers(1, MOST + 1, count)
        x, y = self.integers(0, W - 32, count, MOST + 1), self.integers(0, H - 32, count, MOST + 1)  # the last: whither
        dark = self.integers(0, 2, count, MOST).float() * 245 + 5
        before, after = base.clone(), base
        for k in range(MOST):
            there = (k < number).float()
            self._stamp(before, digits[:, k], x[:, k], y[:, k], dark[:, k], there)
            moved = MOST if k == 0 else k
            self._stamp(after, digits[:, k], x[:, moved], y[:, moved], dark[:, k], there)
        cell = (y[:, MOST] + 16) * CELLS[1] // H * CELLS[0] + (x[:, MOST] + 16) * CELLS[0] // W
        return before.byte(), after.byte(), {"which": digits[:, 0], "where": cell, "how many": number - 1}

    def _stamp(self, frames: torch.Tensor, digit: Any, x: Any, y: Any, ink: Any, there: Any) -> None:
        count = len(frames)
        row = y[:, None, None] + torch.arange(32, device=self.device)[None, :, None]
        col = x[:, None, None] + torch.arange(32, device=self.device)[None, None, :]
        at = torch.arange(count, device=self.device)[:, None, None]
        alpha = (self.digits[digit] * there[:, None, None])[..., None]
        old = frames[at, :, row, col]
        frames[at, :, row, col] = old + alpha * (ink[:, None, None, None] - old)


def look_at(before: torch.Tensor, after: torch.Tensor, reach: int) -> torch.Tensor:
    """Where detail is new, uv [B, 2]: the square of `reach` tiles with most of it."""
    tiles = []
    for frame in (before, after):
        luma = frame.float().mean(1, keepdim=True)
        step = F.pad((luma[..., 1:] - luma[..., :-1]).abs(), (0, 1))
        tiles.append(F.avg_pool2d(step, SNAP))
    new = (tiles[1] - tiles[0]).clamp_min(0)
    summed = F.avg_pool2d(F.pad(new, (reach // 2,) * 4), reach + 1 - reach % 2, stride=1)
    best = summed.flatten(1).argmax(1)
    cols = summed.shape[-1]
    return torch.stack([(best % cols * SNAP + SNAP / 2) / W, (best // cols * SNAP + SNAP / 2) / H], -1)


def geometries(sampler: str, tokens: int) -> tuple[np.ndarray, tuple[int, int]]:
    """Geometry of the library's own plans, [places, N, 4], for places on a grid of (across, down)."""
    across, down = (W // 32, H // 32) if sampler == "nested" else (1, 1)
    u, v = np.meshgrid((np.arange(across) + 0.5) / across, (np.arange(down) + 0.5) / down)
    rows = np.stack([np.arange(u.size) / 4, u.ravel(), v.ravel()], -1)
    frame = np.zeros((H, W, 3), np.uint8)
    options: dict[str, Any] = {"tokens": tokens} if sampler == "nested" else {"lattice": "uniform", "patches": tokens}
    frames = (frame for _ in range(2 * len(rows) + 1))  # two a fixation: the eye has landed at the second
    stream = sc.Stream(frames, device="cpu", array="numpy", fixation=rows, input_rate=8, **options)
    table = np.stack([look.geometry.copy() for look in stream])
    if len(table) != len(rows):
        raise RuntimeError(f"{len(table)} fixations of {len(rows)} were seen")
    return table, (across, down)


def compact(examples: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What is masked in all examples' last places goes: the others' tokens come first."""
    order = examples["mask"].int().argsort(dim=1, descending=True, stable=True)
    most = int(examples["mask"].sum(1).max())
    order = order[:, :most]

    def picked(values: torch.Tensor) -> torch.Tensor:
        index = order.view(*order.shape, *[1] * (values.dim() - 2)).expand(-1, -1, *values.shape[2:])
        return values.gather(1, index)

    return {name: picked(v) if name in ("patches", "geometry", "place", "mask") else v for name, v in examples.items()}


def padded(examples: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """With tokens that are masked, so that a model's whole sequence is a multiple of 16: attention is faster there."""
    missing = -(examples["mask"].shape[1] + 1) % 16
    for name in ("patches", "geometry", "place"):
        examples[name] = F.pad(examples[name], (0, 0, 0, missing))
    return examples | {"mask": F.pad(examples["mask"], (0, missing))}


def tokens_of(scenes: Scenes, way: str, tokens: int, count: int, batch: int) -> dict[str, torch.Tensor]:
    """`count` examples as patches [count, N, 768] u8 with geometry, place and mask, and the truth.

    place, [count, N, 3]: across and down from the fixation, in patches; 1 for the frame before the jump, else 0.
    """
    sampler, _, memory = way.partition("+")
    table, (across, down) = geometries(sampler, tokens)
    plans = torch.from_numpy(table).to(scenes.device)
    fovea = int((table[len(table) // 2, :, 2] < 0.5).sum() ** 0.5)
    kept: dict[str, list[torch.Tensor]] = {}
    for _ in range(count // batch):
        before, after, truth = scenes.batch(batch)
        uv = look_at(before, after, max(fovea, 4))
        place = (uv[:, 1] * down).long().clamp_max(down - 1) * across + (uv[:, 0] * across).long().clamp_max(across - 1)
        geometry = plans[place]
        plan = sc.PatchPlan(geometry[..., :2].contiguous(), geometry[..., 2].contiguous(), patch_size=S)
        patches = sc.sample_patches(sc.TexturePyramid(after), plan).flatten(2)
        mask = geometry[..., 3] > 0
        eye = torch.stack([(place % across + 0.5) / across, (place // across + 0.5) / down], -1)
        offset = (geometry[..., :2] - eye[:, None]) * torch.tensor([W / S, H / S], device=uv.device)
        offset = F.pad(offset, (0, 1))
        if memory:
            earlier = sc.sample_patches(sc.TexturePyramid(before), plan).flatten(2)
            seen = mask & (patches != earlier).any(-1) if memory == "reuse" else mask
            patches, mask = torch.cat([earlier, patches], 1), torch.cat([mask, seen], 1)
            geometry = torch.cat([geometry] * 2, 1)
            was = offset.clone()
            was[..., 2] = 1
            offset = torch.cat([was, offset], 1)
        one = {"patches": patches, "geometry": geometry, "place": offset, "mask": mask} | truth
        for name, value in one.items():
            kept.setdefault(name, []).append(value)
    whole = {name: torch.cat(values) for name, values in kept.items()}
    return padded(compact(whole) if memory == "reuse" else whole)


class Models(torch.nn.Module):
    """Small ViTs, one a seed, trained side by side: each weight has a leading axis of models."""

    def __init__(self, models: int, width: int = 192, depth: int = 4, heads: int = 6, stem: int = 384) -> None:
        super().__init__()
        self.heads, self.width = heads, width

        def weight(*shape: int, scale: float | None = None) -> torch.nn.Parameter:
            value = torch.empty(models, *shape)
            for e in range(models):
                generator = torch.Generator().manual_seed(1000 + e)
                value[e].normal_(0, scale or shape[0] ** -0.5, generator=generator)
            return torch.nn.Parameter(value)

        self.stem, self.embed = weight(3 * S * S, stem), weight(stem, width)
        self.place = weight(36 + 29, width)
        self.first = weight(1, width, scale=0.02)
        self.blocks = torch.nn.ParameterList()
        for _ in range(depth):
            for shape in ((width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)):
                self.blocks.append(weight(*shape))
        self.outs = torch.nn.ParameterDict(
            {
                "which": weight(width, DIGITS),
                "where": weight(width, CELLS[0] * CELLS[1]),
                "how many": weight(width, MOST),
            }
        )

    def forward(
        self, patches: torch.Tensor, geometry: torch.Tensor, place: torch.Tensor, mask: torch.Tensor
    ) -> dict[str, torch.Tensor]:
        """[E, B, N, ..] to logits [E, B, classes] of each question."""
        u, v, lod = geometry[..., 0], geometry[..., 1], geometry[..., 2]
        waves = [torch.ones_like(u), lod / 6, u, v]
        for k in range(1, 9):
            waves += [f(2 ** (k / 2) * 3.14159 * a) for a in (u, v) for f in (torch.sin, torch.cos)]
        waves.append(place[..., 2])
        for k in range(7):
            waves += [f(2**-k * 1.5708 * a) for a in place[..., :2].unbind(-1) for f in (torch.sin, torch.cos)]
        x = F.gelu(torch.einsum("ebnd,eds->ebns", patches, self.stem))
        x = torch.einsum("ebns,esw->ebnw", x, self.embed)
        x = x + torch.einsum("ebnd,edw->ebnw", torch.stack(waves, -1).to(x.dtype), self.place)
        models, batch = x.shape[:2]
        x = torch.cat([self.first[:, None].expand(-1, batch, -1, -1).to(x.dtype), x], 2)
        keys = F.pad(mask, (1, 0), value=True).flatten(0, 1)[:, None, None, :]
        for qkv, out, up, down in zip(*[iter(self.blocks)] * 4, strict=True):
            y = torch.einsum("ebnw,ewv->ebnv", F.layer_norm(x, (self.width,)), qkv)
            q, k, v = y.flatten(0, 1).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keys).transpose(1, 2).flatten(2)
            x = x + torch.einsum("ebnw,ewv->ebnv", y.unflatten(0, (models, batch)), out)
            y = F.gelu(torch.einsum("ebnw,ewv->ebnv", F.layer_norm(x, (self.width,)), up))
            x = x + torch.einsum("ebnw,ewv->ebnv", y, down)
        top = F.layer_norm(x[:, :, 0], (self.width,))
        return {name: torch.einsum("ebw,ewc->ebc", top, out) for name, out in self.outs.items()}


def inputs(data: dict[str, torch.Tensor], at: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Rows `at` [E, B] of the examples."""
    patches = data["patches"][at].to(torch.bfloat16) / 127.5 - 1
    return patches, data["geometry"][at], data["place"][at], data["mask"][at]


def train(
    data: dict[str, torch.Tensor], test: dict[str, torch.Tensor], models: int, steps: int, batch: int
) -> dict[str, Any]:
    """Train all models; of each question each model's share of right answers on the test examples."""
    device = data["patches"].device
    nets = Models(models).to(device)
    run = torch.compile(nets) if device.type == "cuda" else nets
    optimizer = torch.optim.AdamW(nets.parameters(), lr=1e-3, weight_decay=0.02, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=steps, pct_start=0.1)
    random = torch.Generator(device=device).manual_seed(7)
    for _ in range(steps):
        at = torch.randint(0, len(data["which"]), (models, batch), generator=random, device=device)
        with torch.autocast(device.type, torch.bfloat16):
            answers = run(*inputs(data, at))
        loss = sum(F.cross_entropy(a.float().flatten(0, 1), data[q][at].flatten()) for q, a in answers.items())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(nets.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    last = float(loss.detach())
    right: dict[str, list[torch.Tensor]] = {q: [] for q in nets.outs}
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16):
        for start in range(0, len(test["which"]), batch):
            at = torch.arange(start, min(start + batch, len(test["which"])), device=device).expand(models, -1)
            for q, answer in run(*inputs(test, at)).items():
                right[q].append((answer.argmax(-1) == test[q][at]).float())
    return {q: torch.cat(parts, 1).mean(1).tolist() for q, parts in right.items()} | {"loss": last}


def main() -> None:
    """A JSON line for each sampler and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--clips", type=pathlib.Path)
    parser.add_argument("--rows", default=ROWS, help="samplers and budgets, as nested:128,uniform+reuse:72")
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--examples", type=int, default=40960)
    parser.add_argument("--seconds", type=float, default=1500, help="no further budget begins after so many")
    parser.add_argument("--tiny", action="store_true", help="a few steps, to see that it runs")
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch, made, tested = (256, 256, 4096) if device == "cuda" else (16, 16, 64)
    if arguments.tiny:
        arguments.steps, arguments.examples, arguments.models, tested = 3, 32, 2, 32
    begun = time.monotonic()
    frames = backgrounds(arguments.clips, device, 2 if arguments.tiny else 12)
    half = max(len(frames) * 3 // 4, 1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    print(f"{len(frames)} backgrounds on {device}, {time.monotonic() - begun:.0f} s", flush=True)
    for way, tokens in ((way, int(tokens)) for way, tokens in (row.split(":") for row in arguments.rows.split(","))):
        if time.monotonic() - begun > arguments.seconds:
            print(f"{way} {tokens}: left out, {arguments.seconds:.0f} s are over")
            continue
        data = tokens_of(Scenes(frames[:half], 1), way, tokens, arguments.examples, made)
        test = tokens_of(Scenes(frames[half:] if half < len(frames) else frames, 2), way, tokens, tested, made)
        inside = float(test["mask"].sum(1).float().mean())
        row = {"task": "learning", "sampler": way, "budget": tokens, "tokens": inside, "steps": arguments.steps}
        row |= train(data, test, arguments.models, arguments.steps, batch)
        with (arguments.out / "learning.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        shown = ", ".join(
            f"{q} {np.mean(row[q]):.3f} ({min(row[q]):.3f} to {max(row[q]):.3f})"
            for q in ("which", "where", "how many")
        )
        print(
            f"{way} {tokens}: {inside:.0f} tokens, {shown}; loss {row['loss']:.3f}; {time.monotonic() - begun:.0f} s",
            flush=True,
        )
        del data, test


if __name__ == "__main__":
    main()
