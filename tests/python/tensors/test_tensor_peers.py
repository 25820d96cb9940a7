"""Peers as oracles, where they can be imported: nvdiffrast's texture, KeOps' sums. The project needs neither."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import pysaccade as sc
from pysaccade import reference
from tensor_support import image, uniform

pytestmark = pytest.mark.torch


def nvdiffrast_samples(x: Tensor, uv: Tensor, lod: Tensor, levels: int) -> Tensor:
    """[B, C, N] of [B, C, H, W] at [B, N, 2] and [B, N]."""
    dr: Any = pytest.importorskip("nvdiffrast.torch")
    made: Tensor = dr.texture(
        x.permute(0, 2, 3, 1).contiguous(), uv[:, :, None].contiguous(), mip_level_bias=lod[:, :, None].contiguous(),
        filter_mode="linear-mipmap-linear", boundary_mode="clamp", max_mip_level=levels - 1,
    )  # fmt: skip
    return made[:, :, 0].transpose(1, 2)


def distance(mine: Tensor, theirs: Tensor) -> float:
    """The greatest, to the greatest value of theirs."""
    return ((mine.double() - theirs.double()).abs().max() / theirs.abs().max()).item()


@pytest.mark.cuda
@pytest.mark.parametrize("shape", [(2, 3, 256, 256), (1, 40, 64, 128)])
def test_samples_and_gradients_are_those_of_nvdiffrast(shape: tuple[int, ...]):
    levels, count = 5, 5000
    x = image(*shape).cuda().requires_grad_()
    uv = uniform(shape[0], count, 2).cuda().requires_grad_()
    lod = uniform(shape[0], count, high=4.0, seed=2).cuda().requires_grad_()
    theirs = nvdiffrast_samples(x, uv, lod, levels)
    made = sc.sample(sc.TexturePyramid(x, levels=levels), uv, lod)
    mine = made if made.shape == theirs.shape else made.transpose(1, 2)
    assert distance(mine, theirs) <= 5e-5
    exact = sc.sample(sc.TexturePyramid(x.detach().cpu().double(), levels=levels), uv.detach().cpu().double(),
                      lod.detach().cpu().double())  # fmt: skip
    assert distance(made.cpu(), exact) <= 2e-6
    push = torch.randn(theirs.shape, device="cuda", generator=torch.Generator("cuda").manual_seed(3))
    for name, ours, peer in zip(
        ("image", "uv", "lod"), torch.autograd.grad(mine, (x, uv, lod), push),
        torch.autograd.grad(theirs, (x, uv, lod), push), strict=True,
    ):  # fmt: skip
        assert distance(ours, peer) <= 5e-5, name


def test_field_and_gradients_are_those_of_keops():
    genred: Any = pytest.importorskip("pykeops.torch").Genred
    names = ["x = Vi(3)", "m = Vj(3)", "whiten = Vj(9)", "w = Vj(2)"]
    field = genred("Exp(-SqNorm2(MatVecMult(whiten, x - m)) / IntCst(2)) * w", names, reduction_op="Sum", axis=1)
    tril = torch.eye(3, dtype=torch.float64) * 0.2 + uniform(200, 3, 3, high=0.05, dtype=torch.float64).tril(-1)
    given = [uniform(300, 3, dtype=torch.float64), uniform(200, 3, dtype=torch.float64, seed=4), tril,
             uniform(200, 2, dtype=torch.float64, seed=5)]  # fmt: skip
    learns = [each.requires_grad_() for each in given]
    x, mean, scale_tril, weight = learns
    theirs = field(x, mean, torch.linalg.inv(scale_tril).flatten(1), weight)
    mine = sc.gaussian_field(*learns)
    assert distance(mine, theirs) <= 1e-13
    assert distance(mine, reference.gaussian_field(*learns)) <= 1e-13
    push = torch.randn(theirs.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(6))
    for name, ours, peer in zip(
        ("x", "mean", "scale_tril", "weight"), torch.autograd.grad(mine, learns, push),
        torch.autograd.grad(theirs, learns, push), strict=True,
    ):  # fmt: skip
        kept = peer.tril() if name == "scale_tril" else peer
        assert distance(ours, kept) <= 1e-12, name
