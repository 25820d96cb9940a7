"""Each operation of tensors once, on a GPU, in small: what compute-sanitizer runs (scripts/test-tensors-gpu)."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import DTYPES, exact, image, uniform  # noqa: E402

pytestmark = pytest.mark.cuda
FLOATS = [torch.float16, torch.float32, torch.float64]


@pytest.mark.parametrize("size", [(70, 80), (128, 256), (61, 37)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_levels_are_the_cpus(dtype, size):
    x = image(2, 3, *size, dtype=dtype)
    for levels in (3, 9):
        here, there = (sc.generate_mipmaps(each, levels, odd="edge") for each in (x, x.cuda()))
        assert all(torch.equal(exact(a), exact(b.cpu())) for a, b in zip(here, there, strict=True))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.float16])
@pytest.mark.parametrize(
    "shape", [(16, 600, 64, 16), (3, 2, 200, 512)]
)  # several planes a block; several blocks a plane
def test_levels_of_whole_rows_are_the_cpus(shape, dtype):
    x = image(*shape, dtype=dtype)
    for levels, odd in ((5, "floor"), (8, "edge")):
        here, there = (sc.generate_mipmaps(each, levels, odd=odd) for each in (x, x.cuda()))
        assert all(torch.equal(exact(a), exact(b.cpu())) for a, b in zip(here, there, strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [96, 101])
def test_updates_are_the_cpus(dtype, width):
    textures = [
        sc.TexturePyramid.create_persistent((70, width), channels=3, dtype=dtype, device=device, levels=8)
        for device in ("cpu", "cuda")
    ]
    frame = image(3, 70, width, dtype=dtype)
    for step in range(3):
        frame = frame.clone()
        frame[:, 5 + 9 * step : 11 + 9 * step, 3:20] = 0
        damage = [texture.update(frame.to(texture.device)) for texture in textures]
        assert torch.equal(damage[0].tiles, damage[1].tiles.cpu())
        assert torch.equal(damage[0].energy, damage[1].energy.cpu())
        for level in range(8):
            here, there = (exact(texture.level(level)).cpu() for texture in textures)
            assert torch.equal(here, there)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
def test_samples_and_their_gradients_are_the_cpus(dtype, deterministic):
    torch.use_deterministic_algorithms(deterministic)
    try:
        found = []
        for device in ("cpu", "cuda"):
            x = image(2, 5, 70, 80, dtype=dtype).to(device).requires_grad_()
            centers, lod, lines = (
                each.to(device).requires_grad_()
                for each in (uniform(2, 6, 2), uniform(2, 6, high=3.5), uniform(2, 6, 2, low=-4, high=4, seed=7))
            )
            pyramid = sc.TexturePyramid(x, levels=4)
            plan = sc.PatchPlan(centers, lod, patch_size=8)
            made = [
                pyramid.sample_patches(plan),
                sc.sample_anisotropic(pyramid, plan, lines),
                pyramid.sample(centers, lod),
            ]
            loss = sum(each.float().square().sum() for each in made)
            found.append([*made, *torch.autograd.grad(loss, (x, centers, lod, lines))])
        for here, there in zip(*found, strict=True):
            assert torch.allclose(
                here.double(), there.cpu().double(), rtol=2e-2 if dtype == torch.float16 else 1e-3, atol=2e-2
            )
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("channels", [1, 6])
def test_gaussian_fields_and_their_gradients_are_the_cpus(dtype, channels):
    found = []
    for device in ("cpu", "cuda"):
        tensors = [
            each.to(device).requires_grad_()
            for each in (
                uniform(1, 300, 3, dtype=dtype),
                uniform(1, 200, 3, dtype=dtype, seed=2),
                (torch.eye(3, dtype=dtype) * 0.3).repeat(1, 200, 1, 1),
                uniform(1, 200, channels, dtype=dtype, seed=3),
            )
        ]
        field = sc.gaussian_field(*tensors)
        found.append([field, *torch.autograd.grad(field.square().sum(), tensors), sc.mahalanobis(*tensors[:3])])
    for here, there in zip(*found, strict=True):
        assert torch.allclose(here, there.cpu(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_texture_unit_is_near(dtype):
    x = image(2, 3, 70, 83, dtype=dtype).cuda()
    plan = sc.PatchPlan(uniform(2, 6, 2).cuda(), uniform(2, 6, high=3.5).cuda(), patch_size=8)
    made, expected = (
        sc.TexturePyramid(x, levels=4, filtering=word).sample_patches(plan, dtype=torch.float32)
        for word in ("hardware", "exact")
    )
    assert float((made - expected).abs().max()) <= 2 / 255


def test_foveated_patches_and_a_stack_of_channels_are_the_cpus():
    found = []
    frame = image(3, 96, 128, dtype=torch.uint8)
    for device in ("cpu", "cuda"):
        fixation = torch.tensor([0.4, 0.6], device=device)
        patches = sc.TexturePyramid(frame.to(device)).sample_foveated(fixation, tokens=60)
        stack = sc.channels.ChannelStack((96, 128), ["rgb", "scharr", "eccentricity"], device=device)
        stack.update(frame.to(device))
        stack.look(fixation)
        found.append((patches, stack.sample_foveated(fixation, tokens=60)))
    assert torch.equal(found[0][0], found[1][0].cpu())
    assert torch.allclose(found[0][1].float(), found[1][1].cpu().float(), atol=1e-2)
