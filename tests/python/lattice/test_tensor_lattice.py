"""Plans: the library's own, the same by torch on any device, and their gradients."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade._operators import _recording  # noqa: E402
from pysaccade.lattice._lattice_abi import native_of  # noqa: E402
from tensor_support import DEVICES, uniform  # noqa: E402

SIZES = [(1080, 1920), (720, 1280), (1024, 1024), (101, 77), (64, 64)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("settings", [{}, {"patch_size": 8, "levels": 5}, {"sar": 1.42, "fov_deg": 70.0}])
@pytest.mark.parametrize("shape", [{"tokens": 600}, {"e0": 1.0}])
def test_nested_plan_by_torch_has_the_bits_of_the_library(size, settings, shape, monkeypatch):
    lattice = sc.Lattice("nested", size=size, **settings, **shape)
    fixations = uniform(300, 2, low=-0.1, high=1.1)
    fixations[:6] = torch.tensor([[0, 0], [1, 1], [0.5, 0.5], [float("nan"), 0.2], [5, -5], [1, 0]])
    # plan() refuses what is not finite or outside of the image, but on a GPU, where it is not looked at.
    geometry = native_of(*lattice._key).plan(fixations.numpy())
    by_library = lattice._from_geometry(geometry, (300,), fixations)
    with monkeypatch.context() as patched:  # by operators alone, as on a GPU and under a trace
        patched.setattr(_recording, "is_traced", lambda *_: True)
        by_torch = lattice._torch_plan(fixations, True)
    inside = ((fixations >= 0) & (fixations <= 1)).all(1)
    assert torch.equal(lattice.plan(fixations[inside]).centers, by_library.centers[inside])
    for name in ("centers", "lod", "coverage"):
        assert torch.equal(getattr(by_library, name), getattr(by_torch, name)), name


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("snap", [True, False])
def test_nested_plan_in_one_call_has_the_bits_of_torchs(device, dtype, snap):
    lattice = sc.Lattice("nested", e0=2.0, size=(101, 777))
    fixations = uniform(3, 50, 2, low=-0.1, high=1.1, dtype=dtype)
    fixations[0, :7] = torch.tensor(
        [[0, 0], [1, 1], [0.5, 0.5], [float("nan"), 0.2], [5, -5], [float("inf"), -float("inf")], [-0.0, 1]]
    )
    expected = lattice._torch_plan(fixations, snap)
    found = lattice._native_plan(fixations.to(device), snap)
    assert found.centers.shape == expected.centers.shape == (3, 50, len(lattice), 2)
    assert torch.equal(found.centers.cpu(), expected.centers)
    assert torch.equal(found.lod.cpu(), expected.lod)
    swapped = lattice._native_plan(fixations.transpose(0, 1).to(device), snap)
    assert torch.equal(swapped.centers.cpu(), expected.centers.transpose(0, 1))
    assert lattice._native_plan(fixations[:0].to(device), snap).centers.shape == (0, 50, len(lattice), 2)


@pytest.mark.parametrize("kind", ["grid", "uniform"])
@pytest.mark.parametrize("size", SIZES)
def test_even_plan_by_torch_is_the_librarys(kind, size):
    lattice = sc.Lattice(kind, tokens=120, size=size)
    fixations = uniform(50, 2)
    by_library, by_torch = lattice.plan(fixations), lattice._torch_plan(fixations, True)
    assert torch.equal(by_library.centers, by_torch.centers)
    assert (by_library.lod - by_torch.lod).abs().max() <= 1e-6  # log2 of two libraries


def test_nested_patches_tile_the_frame_once():
    lattice = sc.Lattice(tokens=300, size=(96, 128), levels=5)
    plan = lattice.plan((0.3, 0.6))
    seen = np.zeros((96, 128), int)
    for (u, v), lod in zip(plan.centers, plan.lod, strict=True):
        half = 8 * 2 ** int(lod)
        x, y = round(u * 128), round(v * 96)
        seen[max(y - half, 0) : max(y + half, 0), max(x - half, 0) : max(x + half, 0)] += 1
    assert (seen == 1).all()


def test_samples_of_a_snapped_plan_are_texels():
    x = torch.rand(1, 64, 128)
    lattice = sc.Lattice(tokens=200, size=(64, 128), levels=4)
    plan = lattice.plan(torch.tensor([0.4, 0.7]))
    patches = sc.TexturePyramid(x, levels=4).sample_patches(plan)
    fine = [n for n in range(len(plan)) if plan.lod[n] == 0 and plan.coverage[n] == 1]
    assert fine
    for n in fine:
        column, row = (int(at) - 8 for at in (plan.centers[n] * torch.tensor([128, 64])).round())
        assert torch.equal(patches[n, 0], x[0, row : row + 16, column : column + 16])


def test_count_is_constant_and_at_most_what_was_asked():
    lattice = sc.Lattice(tokens=273, size=(1080, 1920))
    assert len(lattice) <= 273
    assert lattice.plan(uniform(7, 2)).lod.shape == (7, len(lattice))
    assert sc.Lattice("grid", tokens=256, size=(512, 512)).plan((0.5, 0.5)).count == 256


@pytest.mark.parametrize("kind", ["nested", "grid"])
def test_snap_false_gives_the_fixation_its_gradient(kind):
    lattice = (
        sc.Lattice(kind, tokens=60, size=(64, 64), levels=4, e0=2.0, m0=2.0)
        if kind == "grid"
        else sc.Lattice(tokens=60, size=(64, 64), levels=4)
    )

    def numbers(fixation):
        plan = lattice.plan(fixation, snap=False)
        return plan.centers + 0 * fixation.sum(), plan.lod + 0 * fixation.sum()

    fixation = torch.tensor([[0.31, 0.47]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(numbers, (fixation,))


def test_snap_true_gives_none_and_straight_through_gives_both():
    lattice = sc.Lattice(tokens=60, size=(60, 100), levels=4)
    fixation = torch.tensor([[0.31, 0.47]], requires_grad=True)
    with pytest.warns(UserWarning, match="fixation requires a gradient and gets none; pass snap=False"):
        assert not lattice.plan(fixation).centers.requires_grad
    assert not lattice.plan(fixation, snap=True).centers.requires_grad
    snapped = lattice.plan(fixation.detach())
    through = lattice.plan(fixation, snap="straight_through")
    assert torch.equal(through.centers, snapped.centers)
    through.centers[..., 0].sum().backward()
    planned = snapped.centers[0, :, 0] * 100 + torch.exp2(snapped.lod[0]) * 8 > 1e-3  # the others are padding
    assert 0 < int(planned.sum()) < len(lattice)
    assert fixation.grad[0, 0] == pytest.approx(int(planned.sum()), rel=1e-6)
    assert fixation.grad[0, 1] == 0


def test_gradient_is_zero_where_the_fixation_is_clamped():
    lattice = sc.Lattice(tokens=60, size=(64, 64), levels=4)
    fixation = torch.tensor([[1.2, 0.5]], requires_grad=True)
    lattice.plan(fixation, snap=False).centers.sum().backward()
    assert fixation.grad[0, 0] == 0
    assert fixation.grad[0, 1] > 0


def test_fovea_of_an_even_grid_has_a_finite_gradient_at_the_fixation():
    lattice = sc.Lattice("grid", tokens=9, size=(60, 60), e0=1.0)
    fixation = torch.tensor([0.5, 0.5], requires_grad=True)
    lattice.plan(fixation, snap=False).lod.sum().backward()
    assert torch.isfinite(fixation.grad).all()


def test_level_of_detail_and_eccentricity_are_the_formulas():
    e = np.array([0.0, 0.5, 1.5, 3.5, 1000.0])
    assert np.allclose(sc.level_of_detail(e, m0=1.0, e0=0.5, levels=7), [0, 0, 1, 2, 6])
    assert sc.level_of_detail(3.5, m0=1.0, e0=0.5, levels=7) == 2.0
    assert torch.allclose(
        sc.level_of_detail(torch.tensor(e), m0=1.0, e0=0.5, levels=7), torch.tensor([0, 0, 1, 2, 6.0]).double()
    )
    uv = torch.tensor([[[0.5, 0.5], [1.0, 0.5], [0.5, 1.0]]])
    at = torch.tensor([[0.5, 0.5]])
    degrees = sc.eccentricity(uv, at, size=(100, 200), fov_deg=40.0)
    assert torch.allclose(degrees, torch.tensor([[0.0, 20.0, 10.0]]))
    assert torch.allclose(sc.eccentricity(uv, at, size=(100, 200), unit="uv"), torch.tensor([[0.0, 0.5, 0.5]]))


def test_grid_follows_the_seeds_numbers():
    """M0 = 1, e0 = 0.5 in uv: full resolution up to 0.5 of the frame's sides away."""
    plan = sc.Lattice("grid", tokens=64, size=(256, 256), m0=1.0, e0=0.5, unit="uv").plan((0.0, 0.0))
    e = np.hypot(plan.centers[:, 0], plan.centers[:, 1])
    assert np.allclose(plan.lod, np.clip(np.log2(e + 0.5), 0, 6), atol=1e-5)


def test_rings_and_presets():
    plan = sc.Lattice(rings=[(1, 4), (2, 4), (4, 4)], size=(256, 256)).plan((0.5, 0.5))
    assert [int((plan.lod == level).sum()) for level in range(3)] == [16, 12, 12]
    assert sc.Lattice("grid", preset="uv", size=(64, 64)).solved == (0.5, 1.0)


def test_lattice_pickles_and_is_bound_once():
    lattice = sc.Lattice(tokens=100)
    bound = lattice.bound((64, 64), 5)
    assert bound is lattice.bound((64, 64), 5)
    again = pickle.loads(pickle.dumps(bound))
    assert np.array_equal(again.plan((0.2, 0.3)).centers, bound.plan((0.2, 0.3)).centers)


def test_plan_by_hand_knows_its_coverage():
    plan = sc.PatchPlan(torch.tensor([[0.0, 0.5], [0.5, 0.5]]), 0.0, patch_size=16, size=(64, 64))
    assert plan.coverage.tolist() == [0.5, 1.0]
    assert plan.geometry.shape == (2, 4)
    with pytest.raises(ValueError, match=r"pass PatchPlan\(..., size=\(H, W\)\)"):
        sc.PatchPlan(torch.zeros(2, 2), 0.0).coverage  # noqa: B018


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_plans_of_one_shape_are_each_their_own(device, dtype):
    lattice = sc.Lattice(size=(90, 160), tokens=60)
    for snap in (True, False):
        for seed in range(3):
            fixation = uniform(2, 3, 2, dtype=dtype, seed=seed).to(device)
            plan, alone = lattice.plan(fixation, snap=snap), sc.Lattice(size=(90, 160), tokens=60)
            wanted = alone.plan(fixation, snap=snap)
            apart = lattice.plan(fixation.flip(0).flip(0)[:, :2], snap=snap)  # with gaps
            for found, part in ((plan, slice(None)), (apart, slice(2))):
                assert torch.equal(found.centers, wanted.centers[:, part])
                assert torch.equal(found.lod, wanted.lod[:, part])
                assert torch.equal(found.coverage, wanted.coverage[:, part])
    learns = uniform(2, 3, 2, dtype=dtype).to(device).requires_grad_()
    assert lattice.plan(learns, snap=False).centers.requires_grad
    assert not lattice.plan(learns, snap=True).centers.requires_grad
    with pytest.warns(UserWarning, match="requires a gradient"):
        lattice.plan(learns)
    if device == "cpu":
        with pytest.raises(ValueError, match="fixation is not finite"):
            lattice.plan(torch.full((2, 3, 2), float("nan"), dtype=dtype))


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: sc.Lattice("hexagonal"),
            ValueError,
            "kind is 'hexagonal'; it must be 'nested' or 'grid' or 'uniform'",
        ),
        (lambda: sc.Lattice(tokens=100, e0=2.0), ValueError, "^Lattice: tokens: conflicts with e0: .*; leave one out"),
        (lambda: sc.Lattice(e0=-1.0), ValueError, "e0 must be a number above 0, not -1.0"),
        (lambda: sc.Lattice(size=(64, 64), patch_size=15), ValueError, "patch_size=15: an even number"),
        (lambda: sc.Lattice(size=(1080, 1920), tokens=3), ValueError, "needs at least"),
        (lambda: sc.Lattice().plan((0.5, 0.5)), ValueError, r"pass Lattice\(..., size=\(H, W\)\)"),
        (lambda: sc.Lattice(size=(64, 64)).plan((0.5, 0.5, 0.5)), ValueError, "its last axis must have length 2"),
        (lambda: sc.Lattice(size=(64, 64)).plan(torch.zeros(2).half()), TypeError, r"float16, which can't tell"),
        (lambda: sc.Lattice(size=(64, 64)).plan((0, 0), snap="yes"), ValueError, "True, False or 'straight_through'"),
        (lambda: sc.Lattice(size=64), TypeError, r"size is \(H, W\), not int 64"),
        (lambda: sc.Lattice(preset="owl"), ValueError, "preset is 'owl'"),
        (lambda: sc.Lattice("grid", rings=[(1, 4)]), ValueError, "strides: needs lattice nested"),
        (lambda: sc.Lattice("grid", fovea=64), ValueError, "fovea: needs lattice nested"),
        (lambda: sc.Lattice(fovea="6em"), ValueError, r"fovea is a width as 192 \(pixels\) or '6deg', not '6em'"),
        (lambda: sc.Lattice("uniform", e0=1.0), ValueError, "e0: lattice uniform has one resolution"),
    ],
)
def test_error_names_what_is_wrong(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize("kind", ["thw", "uv", "xyl"])
@pytest.mark.parametrize("tensors", [False, True])
def test_positions_of_a_plan_are_those_of_an_emission(kind, tensors):
    frames = [np.zeros((180, 320, 3), np.uint8)] * 2
    stream = sc.Stream(frames, lattice="nested", device="cpu", array="numpy", fixation="random", every="frame", seed=4)
    lattice = sc.Lattice(size=(180, 320))
    for emission in stream:
        fixation = np.asarray(emission.fixation, np.float32)
        plan = lattice.plan(torch.from_numpy(fixation) if tensors else fixation)
        found = plan.positions(kind, t=emission.frame)
        assert isinstance(found, torch.Tensor) == tensors
        assert np.array_equal(np.asarray(found), emission.positions(kind))
        assert np.array_equal(np.asarray(plan.visible), emission.visible)


def test_positions_of_a_plan_without_a_size():
    plan = sc.PatchPlan(torch.rand(3, 2), 1.0)
    assert torch.equal(plan.positions("uv"), plan.centers)
    with pytest.raises(ValueError, match=r"positions\('thw'\) needs the image's size"):
        plan.positions()
