"""What the tests of tensors share: images, plans, and the definition in f64."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from pysaccade import reference

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
CODES = (torch.uint8, torch.uint16)
DTYPES = (*CODES, *FLOATS)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def image(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> Tensor:
    """An image of noise: [.., C, H, W], 0..1 or codes."""
    noise = torch.rand(shape, generator=generator(seed), dtype=torch.float64)
    if dtype == torch.uint8:
        return (noise * 256).floor().to(dtype)
    if dtype == torch.uint16:
        return (noise * 65536).floor().to(torch.int32).to(dtype)
    return noise.to(dtype)


def uniform(*shape: int, low: float = 0.0, high: float = 1.0, dtype: Any = torch.float32, seed: int = 1) -> Tensor:
    return (torch.rand(shape, generator=generator(seed), dtype=torch.float64) * (high - low) + low).to(dtype)


def exact(values: Tensor) -> Tensor:
    """The same values as f64; torch can't convert u16 everywhere."""
    return values.to(torch.int32).double() if values.dtype == torch.uint16 else values.double()


def exact_levels(levels: list[Tensor]) -> list[Tensor]:
    return [exact(level) for level in levels]


def patches_of(levels: list[Tensor], centers: Tensor, lod: Tensor, size: int, **options: Any) -> Tensor:
    """The definition's patches in f64: grid_sample, mixed over the levels."""
    return reference.sample_patches(exact_levels(levels), centers.double(), lod.double(), size, **options)
