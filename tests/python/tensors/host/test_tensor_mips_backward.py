"""The gradient of levels has the bits of its definition: what each level gives a texel, coarsest first, in one sum."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import FLOATS, uniform  # noqa: E402

SHAPES = [(3, 64, 64), (2, 2, 70, 53), (1, 130, 2100), (1, 1, 5), (2, 97, 4097), (1, 3, 2, 1)]


def numbers_of(tensor):
    """As what is computed with: f32, of f64 itself."""
    return tensor.to(torch.float64 if tensor.dtype == torch.float64 else torch.float32).numpy()


def shares(extent, level, odd):
    """How often each texel of an axis counts in the level above it: the last one as often as the edge is repeated."""
    at = np.arange(extent)
    if odd == "floor":
        return ((at >> level) < (extent >> level)).astype(np.int64)
    counts = np.ones(extent, np.int64)
    counts[-1] = (((extent - 1) >> level) + 1 << level) - (extent - 1)
    return counts


def definition(gradients, height, width, odd):
    first = next(each for each in gradients if each is not None)
    found = np.zeros((*first.shape[:-2], height, width), first.dtype)
    for level in range(len(gradients) - 1, -1, -1):
        if gradients[level] is None:
            continue
        share = np.outer(shares(height, level, odd), shares(width, level, odd))
        last = np.array(gradients[level].shape[-2:]) - 1
        rows, columns = (np.minimum(np.arange(n) >> level, most) for n, most in zip((height, width), last, strict=True))
        weight = found.dtype.type(1) / found.dtype.type(4**level)
        part = gradients[level][..., rows[:, None], columns] * (weight * share.astype(found.dtype))
        found = np.where(share > 0, found + part, found)
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("odd", ["edge", "floor"])
@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_of_levels_has_the_bits_of_the_definition(shape, odd, dtype, threads):
    image = uniform(*shape, dtype=dtype).requires_grad_()
    height, width = shape[-2:]
    levels = sc.generate_mipmaps(image, sc.TexturePyramid(image, levels=None, odd=odd).levels, odd=odd)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for chosen in (range(1, len(levels)), range(2, len(levels), 3), range(len(levels) - 1, len(levels))):
            if not chosen or chosen[0] == 0:
                continue
            push = [uniform(*levels[n].shape, low=-1, dtype=dtype, seed=n) for n in chosen]
            (found,) = torch.autograd.grad([levels[n] for n in chosen], image, push, retain_graph=True)
            given = dict(zip(chosen, push, strict=True))
            numbers = [numbers_of(given[n]) if n in given else None for n in range(len(levels))]
            right = torch.from_numpy(definition(numbers, height, width, odd)).to(dtype)
            assert torch.equal(found, right), list(chosen)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradient_of_levels_has_the_bits_of_avg_pool2d(dtype):
    image = uniform(2, 3, 96, 160, dtype=dtype).requires_grad_()
    pooled = [image]
    for _ in range(4):
        pooled.append(F.avg_pool2d(pooled[-1], 2))
    push = [uniform(*level.shape, low=-1, dtype=dtype, seed=n) for n, level in enumerate(pooled)]
    # one level at a time: the order in which a chain adds several is autograd's
    for n in range(1, 5):
        (ours,) = torch.autograd.grad(sc.generate_mipmaps(image, 5)[n], image, push[n])
        (theirs,) = torch.autograd.grad(pooled[n], image, push[n], retain_graph=True)
        assert torch.equal(ours, theirs)
