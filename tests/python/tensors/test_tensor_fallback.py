"""What devices without kernels run on: the functions by pysaccade.reference, held to the kernels."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade._operators import _recording  # noqa: E402
from pysaccade.lattice import _lattice  # noqa: E402
from tensor_support import CODES, DTYPES, exact, image, uniform  # noqa: E402

PLAN = sc.PatchPlan(uniform(2, 12, 2, low=-0.2, high=1.2), uniform(2, 12, low=-0.5, high=5, seed=2), patch_size=6)
DIRECTION = uniform(2, 12, 2, low=-3, high=3, seed=3)
DIRECTION[0, :3] = torch.tensor([[0.0, 0.0], [0.0, -0.0], [1.0, 0.0]])


@pytest.fixture
def without_kernels(monkeypatch):
    """Call a function as on a device that has no kernels."""

    def call(function):
        with monkeypatch.context() as patch:
            patch.setattr(_recording, "is_native", lambda tensor: tensor.is_meta)
            return function()

    return call


@pytest.mark.parametrize("dtype", DTYPES)
def test_samples_without_kernels_are_those_of_the_kernels(dtype, without_kernels):
    def sampled():
        x = image(2, 3, 60, 47, dtype=dtype)
        pyramid = sc.TexturePyramid(x, levels=5)
        return [
            *sc.generate_mipmaps(x, 4),
            *sc.generate_mipmaps(x, 4, odd="edge"),
            pyramid.sample_patches(PLAN),
            pyramid.sample_patches(PLAN, padding="zeros"),
            pyramid.sample_patches(PLAN, dtype=torch.float32),
            pyramid.sample(PLAN.centers, 0.7),
            pyramid.sample_at_level(1.5, PLAN.centers, patch_size=4),
            pyramid.sample_anisotropic(PLAN, DIRECTION),
            pyramid.sample_anisotropic(PLAN, DIRECTION, rotate=False, max_anisotropy=2),
            pyramid.sample_foveated((0.3, 0.4)),
            pyramid.sample_foveated((0.3, 0.4), e0=2.0, snap=False),
            sc.TexturePyramid(x[:0]).sample_foveated(torch.zeros(0, 2)),
            pyramid.sample_patches(sc.PatchPlan(torch.zeros(0, 2), 0.0)),
        ]

    # halves of different sums may round to different neighbours, and codes that lie between two of them
    within = {torch.uint8: 1, torch.uint16: 1, torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float64: 1e-12}
    for index, (kernels, found) in enumerate(zip(sampled(), without_kernels(sampled), strict=True)):
        assert found.shape == kernels.shape
        assert found.dtype == kernels.dtype
        apart = (exact(found) - exact(kernels)).abs()
        assert apart.numel() == 0 or apart.max() <= within.get(dtype, 1e-5), index
        if dtype in CODES and not found.dtype.is_floating_point and apart.numel():
            assert (apart > 0).double().mean() < 0.01, index


@pytest.mark.parametrize("dtype", CODES)
def test_codes_without_kernels_are_rounded(dtype, without_kernels):
    x = torch.tensor([[[10, 13]]], dtype=torch.int32).to(dtype)
    uv = torch.tensor([[0.25, 0.5], [0.375, 0.5], [0.55, 0.5], [0.75, 0.5]])  # 10, 10.75, 11.8 and 13
    found = without_kernels(lambda: sc.sample(sc.TexturePyramid(x, levels=1), uv))
    assert exact(found).tolist() == [[10, 11, 12, 13]]
    assert torch.equal(exact(found), exact(sc.sample(sc.TexturePyramid(x, levels=1), uv)))


def test_gradients_without_kernels_are_those_of_the_kernels(without_kernels):
    def gradients():
        x = image(2, 3, 60, 47).requires_grad_()
        centers, lod = PLAN.centers.clone().requires_grad_(), PLAN.lod.clone().requires_grad_()
        made = sc.TexturePyramid(x, levels=5).sample_anisotropic(
            sc.PatchPlan(centers, lod, patch_size=6), DIRECTION.clone()
        )
        return torch.autograd.grad(made.square().sum(), (x, centers, lod))

    for kernels, found in zip(gradients(), without_kernels(gradients), strict=True):
        assert found.isfinite().all()
        assert torch.allclose(found, kernels, rtol=1e-3, atol=1e-3 * float(kernels.abs().max()))


def test_persistent_texture_without_kernels_is_refused_in_words(without_kernels):
    with pytest.raises(sc.UnavailableError, match="create_persistent: no kernels for device 'cpu'"):
        without_kernels(lambda: sc.TexturePyramid.create_persistent((40, 40)))


def test_gpu_without_kernels_is_told_of_once(monkeypatch):
    class Gpu:
        device = torch.device("cuda", 0)
        is_cuda, is_cpu, is_meta = True, False, False

        @staticmethod
        def get_device():
            return 7

    monkeypatch.setattr(_recording, "_gpus", {7: False})
    monkeypatch.setattr(_recording, "_warned_of", set())
    with pytest.warns(UserWarning, match="no kernels for device 'cuda'; pysaccade.reference is used"):
        assert not _recording.is_native(Gpu)
    assert not _recording.is_native(Gpu)
    monkeypatch.setattr(_recording, "_gpus", {7: True})
    assert _recording.is_native(Gpu)


def test_lattices_plan_where_there_is_no_f64(monkeypatch):
    make = torch.tensor

    def without_f64(numbers, *, dtype=None, device=None):
        if dtype == torch.float64:
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype")
        return make(numbers, dtype=dtype, device=device)

    lattice, fixation = sc.Lattice(tokens=60, size=(256, 256)), uniform(5, 2)
    expected = lattice._torch_plan(fixation, True)
    monkeypatch.setattr(torch, "tensor", without_f64)
    fresh = sc.Lattice(tokens=60, size=(256, 256))
    assert _lattice._exact([1.0], "cpu").dtype == torch.float32
    found = fresh._torch_plan(fixation, True)
    assert torch.equal(found.centers, expected.centers)
    assert torch.equal(found.lod, expected.lod)
