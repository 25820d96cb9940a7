"""Levels follow an image that got other memory, as module.to() and image.data = ... give it."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402


def double(parameter):
    parameter.data = parameter.data.double()


def another(parameter):
    parameter.data = torch.full_like(parameter, 7.0)


def smaller(parameter):
    parameter.data = torch.full((1, 3, 4, 4), 7.0)


@pytest.mark.parametrize("swap", [double, another, smaller])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("learns", [True, False])
def test_levels_follow_an_image_whose_memory_was_replaced(swap, batched, learns):
    shape = (1, 3, 64, 64) if batched else (3, 64, 64)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    for call in (
        lambda made: made.sample_patches(plan),
        lambda made: made.sample(plan.centers if made.shape[:1] == (1,) else plan.centers[0], 1.5),
        lambda made: made.sample_foveated((0.5, 0.5), patch_size=2),
        lambda made: made.sample_anisotropic(plan, (2.0, 0.0)),
        lambda made: made.level(1),
        lambda made: torch.vmap(lambda uv: made.sample(uv[None]))(plan.centers),
    ):
        parameter = torch.nn.Parameter(image(*shape), requires_grad=learns)
        pyramid = sc.TexturePyramid(parameter)
        swap(parameter)
        expected = call(sc.TexturePyramid(parameter.detach().clone()))
        for _ in range(2):
            made = call(pyramid)
            assert torch.equal(made, expected)
            assert made.requires_grad == learns


@pytest.mark.parametrize("batched", [True, False])
def test_generate_mipmaps_takes_the_memory_that_the_image_has_now(batched):
    module = torch.nn.Module()
    module.texture = torch.nn.Parameter(image(1, 3, 32, 32) if batched else image(3, 32, 32))
    pyramid = sc.TexturePyramid(module.texture, levels=3, odd="floor")
    module.double()
    pyramid.generate_mipmaps()
    assert pyramid.dtype == torch.float64
    assert torch.equal(pyramid.level(1), F.avg_pool2d(module.texture, 2))


def test_memory_that_was_replaced_before_the_backward_is_refused():
    parameter = torch.nn.Parameter(image(1, 3, 64, 64))
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    patches = sc.TexturePyramid(parameter).sample_patches(plan)
    parameter.data = torch.zeros(1, 3, 4, 4)
    with pytest.raises(RuntimeError, match="replaced between the sampling and its backward"):
        patches.sum().backward()
