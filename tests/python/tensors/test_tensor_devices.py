"""A GPU that is not the current one: everything runs where its tensors lie."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
]
OTHER = "cuda:1"


@pytest.fixture(autouse=True)
def current():
    """cuda:0 is current, before and after."""
    torch.cuda.set_device(0)
    yield
    assert torch.cuda.current_device() == 0


def sampled(device):
    """Patches of a pyramid of learnt pixels, and all gradients."""
    x = image(2, 3, 101, 77).to(device).requires_grad_()
    centers, lod = uniform(2, 9, 2).to(device).requires_grad_(), uniform(2, 9, high=3).to(device).requires_grad_()
    patches = sc.TexturePyramid(x, levels=5).sample_patches(sc.PatchPlan(centers, lod, patch_size=6))
    return patches, torch.autograd.grad(patches.square().sum(), (x, centers, lod))


def test_samples_and_their_gradients_on_another_gpu():
    for _ in range(2):
        expected, theirs = sampled("cpu")
        patches, ours = sampled(OTHER)
        assert str(patches.device) == OTHER
        assert torch.equal(patches.cpu(), expected)
        for a, b in zip(ours, theirs, strict=True):
            assert str(a.device) == OTHER
            assert torch.allclose(a.cpu(), b, rtol=1e-4, atol=1e-4 * float(b.abs().max()))
    torch.use_deterministic_algorithms(True)
    try:
        runs = [sampled(OTHER)[1] for _ in range(3)]
    finally:
        torch.use_deterministic_algorithms(False)
    for run in runs[1:]:
        assert all(torch.equal(a, b) for a, b in zip(run, runs[0], strict=True))


def test_plans_on_another_gpu():
    lattice = sc.Lattice(tokens=100, size=(101, 77))
    pyramid = sc.TexturePyramid(image(3, 101, 77).to(OTHER))
    for snap in (True, False):
        for _ in range(2):
            plan = lattice.plan(uniform(4, 2).to(OTHER), snap=snap)
            assert str(plan.centers.device) == str(plan.lod.device) == OTHER
            assert torch.equal(plan.centers.cpu(), lattice.plan(uniform(4, 2), snap=snap).centers)
        assert str(pyramid.sample_foveated(uniform(4, 2).to(OTHER), lattice, snap=snap).device) == OTHER


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_persistent_textures_on_another_gpu(dtype):
    pool = sc.TexturePool(1, size=(101, 77), dtype=dtype, device=OTHER)
    for seed in range(3):
        with pool.acquire() as texture:
            for step in range(3):
                frame = image(3, 101, 77, dtype=dtype, seed=3 * seed + step).to(OTHER)
                damage = texture.update(frame)
                assert str(damage.tiles.device) == OTHER
                rebuilt = sc.TexturePyramid(frame)
                for level in range(rebuilt.levels):
                    assert torch.equal(texture.level(level), rebuilt.level(level))
            assert int(texture.update(frame).count) == 0


def test_hardware_samples_on_another_gpu():
    x, plan = image(3, 64, 64).to(OTHER), sc.Lattice(tokens=30, size=(64, 64)).plan((0.3, 0.4), device=OTHER)
    with torch.no_grad():
        made = sc.TexturePyramid(x, filtering="hardware").sample_patches(plan)
    assert str(made.device) == OTHER
    assert (made - sc.TexturePyramid(x).sample_patches(plan)).abs().max() <= 2 / 255


def test_gaussian_fields_and_their_gradients_on_another_gpu():
    def field(device):
        tril = torch.eye(3).repeat(40, 1, 1) * 0.3
        given = [each.to(device).requires_grad_() for each in (uniform(50, 3), uniform(40, 3, seed=2), tril)]
        given.append(uniform(40, 2, seed=3).to(device).requires_grad_())
        values = sc.gaussian_field(*given)
        distances = sc.mahalanobis(*given[:3])
        return values, distances, *torch.autograd.grad(values.square().sum(), given)

    for _ in range(2):
        for a, b in zip(field(OTHER), field("cpu"), strict=True):
            assert str(a.device) == OTHER
            assert torch.allclose(a.cpu(), b, rtol=1e-4, atol=1e-4 * float(b.detach().abs().max()))
