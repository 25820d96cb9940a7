"""Fits Gaussians to a volume, and to the saliency of an image.

PYTHONPATH=python python examples/fit_fields.py [volume|saliency] [--steps N] [--device cuda]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

import pysaccade as sc

ROOT = Path(__file__).resolve().parents[1]


def volume_at(points: Tensor) -> Tensor:
    """A torus and a ball in a box of 32 x 32 x 32, 0 to 1, at points [P,3]."""
    x, y, z = (points - 16).unbind(-1)
    ring = torch.hypot(torch.hypot(x, y) - 9, z)
    ball = torch.sqrt((x - 2) ** 2 + y**2 + z**2)
    return torch.sigmoid(2 * (3 - ring)) + torch.sigmoid(2 * (3 - ball))


def fit_volume(steps: int, device: str) -> float:
    """Learn the volume from random points; return the error that is left, as a share of the variance."""
    torch.manual_seed(0)
    field = sc.GaussianField(200, volume_size=(32, 32, 32), use_full_cov=True, device=device)
    optimizer = torch.optim.Adam(field.parameters(), lr=0.05)
    for _ in range(steps):
        points = torch.rand(4096, 3, device=device) * 32
        loss = (field(points) - volume_at(points)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    held_out = torch.rand(20_000, 3, device=device) * 32
    with torch.no_grad():
        truth = volume_at(held_out)
        return float((field(held_out) - truth).square().mean() / truth.var())


def fit_saliency(steps: int, device: str) -> float:
    """Describe where an image stands out by 48 Gaussians; print the strongest, return the error as above."""
    from PIL import Image

    torch.manual_seed(0)
    with Image.open(ROOT / "docs" / "images" / "seen.png") as picture:
        frame = torch.from_numpy(np.asarray(picture.convert("RGB")).copy()).permute(2, 0, 1).to(device)
    stack = sc.channels.ChannelStack(tuple(frame.shape[-2:]), ["center_surround"], levels=5, device=device)
    stack.update(frame)
    saliency = stack.pyramid.level(4)[0]  # a sixteenth of the size
    saliency = saliency / saliency.max()
    height, width = saliency.shape
    field = sc.GaussianField(48, volume_size=(width, height), device=device)
    ys, xs = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
    points = torch.stack([xs, ys], -1).to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=0.05)
    for _ in range(steps):
        loss = (field(points) - saliency).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    strongest = field.weights[:, 0].detach().argsort(descending=True)[:3]
    for n in strongest.tolist():
        u, v = (float(at) for at in field.means[n].detach() / torch.tensor([width, height], device=device))
        print(f"  weight {float(field.weights[n, 0].detach()):.2f} at uv ({u:.2f}, {v:.2f})")
    with torch.no_grad():
        return float((field(points) - saliency).square().mean() / saliency.var())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="?", choices=("volume", "saliency"))
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    for name, fit in (("volume", fit_volume), ("saliency", fit_saliency)):
        if arguments.what in {None, name}:
            print(f"{name}: {fit(arguments.steps, arguments.device):.3f} of the variance is left")


if __name__ == "__main__":
    main()
