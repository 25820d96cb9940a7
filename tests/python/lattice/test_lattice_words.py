"""One lattice: the words, defaults and plans of Lattice and sample_foveated are those of streams."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade._operators import _recording  # noqa: E402
from pysaccade.lattice import acuity  # noqa: E402
from tensor_support import uniform  # noqa: E402

SETTINGS = [
    {},
    {"tokens": 120},
    {"tokens": 400, "fovea": 128},
    {"fovea": "5deg", "fov_deg": 60.0},
    {"e0": 1.5},
    {"e0": 1.5, "m0": 2.0},
    {"m0": 3.0},
    {"preset": "horton-hoyt"},
    {"lattice": "grid", "tokens": 90, "e0": 0.8},
    {"lattice": "grid", "preset": "uv"},
    {"lattice": "uniform", "tokens": 60},
]


@pytest.mark.parametrize("size", [(180, 320), (121, 161), (320, 180)])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_a_lattice_has_the_plans_of_a_stream_bit_for_bit(size, settings):
    frames = [np.zeros((*size, 3), np.uint8)] * 3
    options = {"device": "cpu", "array": "numpy", "fixation": "random", "every": "frame", "seed": 3}
    kind = settings.get("lattice", "nested")
    rest = {name: value for name, value in settings.items() if name != "lattice"}
    lattice = sc.Lattice(kind, size=size, **rest)
    for emission in sc.Stream(frames, **options, **{"lattice": "nested", **settings}):
        plan = lattice.plan(np.asarray(emission.fixation, np.float32))
        assert np.array_equal(plan.geometry, emission.geometry)


@pytest.mark.parametrize("size", [(64, 64), (65, 97), (224, 224), (1080, 1920), (1920, 1080), (2048, 2048)])
def test_defaults_of_levels_and_of_sample_foveated_go_together(size):
    patches, plan = sc.sample_foveated(
        sc.generate_mipmaps(torch.zeros(1, *size)), torch.tensor([0.5, 0.4]), return_plan=True
    )
    assert patches.shape == (len(plan), 1, 16, 16)
    assert 0 < len(plan) <= 273


@pytest.mark.parametrize("size", [(64, 64), (333, 1000), (1024, 1024), (2160, 3840)])
@pytest.mark.parametrize("levels", [5, 7])
def test_a_budget_that_is_too_small_names_the_least_one(size, levels):
    with pytest.raises(ValueError, match=r"needs at least \d+; raise that number, patch_size or levels, or") as caught:
        sc.Lattice(size=size, levels=levels, tokens=1)
    least = int(re.findall(r"at least (\d+)", str(caught.value))[0])
    assert len(sc.Lattice(size=size, levels=levels, tokens=least)) == least
    with pytest.raises(ValueError, match=f"needs at least {least};"):
        sc.Lattice(size=size, levels=levels, tokens=least - 1)


@pytest.mark.parametrize("snap", [False, "straight_through"])
@pytest.mark.parametrize("by_operators", [False, True])
def test_patches_that_follow_the_fixation_are_those_of_the_snapped_plan(snap, by_operators, monkeypatch):
    if by_operators:  # as on a GPU and under a trace
        monkeypatch.setattr(_recording, "is_traced", lambda *_: True)
    lattice = sc.Lattice(tokens=60, size=(100, 150), levels=4)
    fixation = uniform(9, 2).requires_grad_()
    snapped, plan = lattice.plan(fixation.detach()), lattice.plan(fixation, snap=snap)
    assert torch.equal(plan.lod, snapped.lod)
    rounded = lattice._solved().snap_px / 2
    apart = ((plan.centers - snapped.centers).detach() * torch.tensor([150.0, 100.0])).abs()
    assert apart.max() <= rounded + 1e-3
    assert (apart.max() > 0) == (snap is False)
    (gradient,) = torch.autograd.grad(plan.centers[..., 0].sum(), fixation)
    inside = (snapped.centers + torch.exp2(snapped.lod)[..., None] * 8 / torch.tensor([150.0, 100.0]) > 1e-5).all(-1)
    assert torch.allclose(gradient[:, 0], inside.sum(-1).float())
    assert torch.equal(gradient[:, 1], torch.zeros(9))


def test_old_words_warn_and_keep_their_meaning():
    with pytest.warns(DeprecationWarning, match="Lattice: patches leaves with the next version; use tokens"):
        old = sc.Lattice(patches=90, size=(64, 64))
    assert len(old) > 0
    again = old.bound((64, 64), 5)  # without a warning
    assert again.patches == 90
    with pytest.warns(DeprecationWarning, match="Stream: patches leaves with the next version; use tokens"):
        sc.Stream([np.zeros((64, 64, 3), np.uint8)], device="cpu", array="numpy", patches=90).close()


def test_published_constants_are_the_papers():
    assert dict(acuity.PRESETS) == {
        "geisler-perry": (2.3, 2.3, "deg"),
        "horton-hoyt": (0.75, 0.75, "deg"),
        "rovamo-virsu": (3.0, 3.0, "deg"),
        "uv": (0.5, 1.0, "uv"),
    }
    pyramid = sc.TexturePyramid(torch.rand(3, 64, 64, dtype=torch.float64), levels=1)
    plan = sc.PatchPlan(torch.tensor([[0.5, 0.5]], dtype=torch.float64), 0.0, patch_size=8)
    plain = pyramid.sample_patches(plan)
    means, deviations = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
    expected = (plain - torch.tensor(means).double().reshape(3, 1, 1)) / torch.tensor(deviations).reshape(3, 1, 1)
    assert torch.allclose(pyramid.sample_patches(plan, normalize="clip"), expected, atol=1e-6)
