"""Gaussians far narrower than their distance from a point, and points infinitely far: they give back 0, as in torch.

torch's own numbers are held where they are finite. Elsewhere 0 times infinity made them none, and 0 is right.
"""

from __future__ import annotations

import math

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import DEVICES, generator  # noqa: E402

SIGMAS = (1e-5, 1e-19, 2e-20, 1e-22, 1e-30, 1e-39, 1e-45, 1e-155, 1e-160, 1e-310, 0.0)


def dense(x, mean, tril, weight, cutoff=None):
    v = torch.linalg.solve_triangular(tril.tril()[None], (x[:, None] - mean)[..., None], upper=False)[..., 0]
    return summed(v.square().sum(-1), weight, cutoff)


def by_distances(x, mean, tril, weight, cutoff=None):
    return summed(sc.mahalanobis(x, mean, tril), weight, cutoff)


def summed(q, weight, cutoff):
    e = torch.exp(-q / 2)
    return (e if cutoff is None else torch.where(q > cutoff**2, torch.zeros_like(e), e)) @ weight


def inputs_of(dimensions, sigma, beside, dtype, device):
    """Three Gaussians, the first of which is collapsed, and six points: the first at its mean."""
    numbers = generator(dimensions)

    def rand(*shape):
        return torch.rand(*shape, generator=numbers, dtype=torch.float64)

    x, mean, weight = rand(6, dimensions), rand(3, dimensions), rand(3, 2)
    x[0] = mean[0]
    tril = torch.eye(dimensions, dtype=torch.float64).repeat(3, 1, 1) * 0.5
    tril[0] *= 2 * sigma
    tril[0] += torch.full((dimensions, dimensions), beside, dtype=torch.float64).tril(-1)
    return [each.to(device=device, dtype=dtype).requires_grad_() for each in (x, mean, tril, weight)]


def results_of(field, inputs, cutoff):
    out = field(*inputs, cutoff=cutoff)
    return [out, *torch.autograd.grad(out.sum(), inputs)]


def compare(inputs, cutoff, dtype, case):
    want = results_of(dense, inputs, cutoff)
    tolerance = 2e-4 if dtype == torch.float32 else 1e-10
    for field in (sc.gaussian_field, by_distances):
        for made, theirs in zip(results_of(field, inputs, cutoff), want, strict=True):
            assert made.isfinite().all(), (field, case)
            known = theirs.isfinite()
            if known.any():
                worst = (made - theirs)[known].abs().max()
                assert worst <= tolerance * theirs[known].abs().max() + 1e-30, (field, case)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("cutoff", [None, 3.0])
def test_collapsed_gaussian_gives_back_what_torchs_dense_formula_does(device, dtype, dimensions, cutoff):
    dtype = getattr(torch, dtype)
    for sigma in SIGMAS:
        for beside in (0.0, 0.1, -1e3):
            inputs = inputs_of(dimensions, sigma, beside, dtype, device)
            compare(inputs, cutoff, dtype, (sigma, beside))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
def test_infinite_points_are_infinitely_far(device, dtype, dimensions):
    dtype = getattr(torch, dtype)
    for sigma in (0.5, 1e-20, 1e-160):
        for beside in (0.0, 0.3):
            inputs = inputs_of(dimensions, sigma, beside, dtype, device)
            with torch.no_grad():
                inputs[0][2, 0], inputs[0][3], inputs[0][4] = math.inf, -math.inf, torch.finfo(dtype).max
            compare(inputs, None, dtype, (sigma, beside))
            made = results_of(sc.gaussian_field, inputs, None)
            assert not made[0][2:5].any()
            assert not made[1][2:5].any()
            assert sc.mahalanobis(*inputs[:3])[2:5].isposinf().all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dimensions", [1, 3])
def test_scales_of_one_size_keep_their_numbers(device, dimensions):
    """A field whose every length is tiny, or huge, is as exact as one of the size of 1."""
    x, mean, tril, weight = [each.detach() for each in inputs_of(dimensions, 0.4, 0.1, torch.float32, device)]
    want = sc.gaussian_field(x, mean, tril, weight)
    for power in (-90, -60, 60, 90):
        unit = 2.0**power
        inputs = [(each * unit).requires_grad_() for each in (x, mean, tril)]
        made = sc.gaussian_field(*inputs, weight)
        assert torch.allclose(made, want, rtol=1e-5)
        for gradient in torch.autograd.grad(made.sum(), inputs):
            assert gradient.isfinite().all()
            assert gradient.any()


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_no_number_stays_none(device):
    for index, place in ((0, (1, 0)), (1, (1, 0)), (2, (1, 0, 0)), (3, (0, 0))):
        inputs = inputs_of(3, 0.5, 0.0, torch.float32, device)
        with torch.no_grad():
            inputs[index][place] = math.nan
        made = results_of(sc.gaussian_field, inputs, None)
        theirs = results_of(dense, inputs, None)
        assert torch.equal(made[0].isnan(), theirs[0].isnan())
        assert made[1 + index][place].isnan() or index == 3  # a weight's gradient does not depend on it
        assert index == 3 or torch.equal(sc.mahalanobis(*inputs[:3]).isnan(), distances(*inputs[:3]).isnan())


def distances(x, mean, tril):
    return (
        torch.linalg.solve_triangular(tril[None], (x[:, None] - mean)[..., None], upper=False)[..., 0].square().sum(-1)
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("log_scale", [-46.0, -50.0, -200.0])
def test_field_with_a_collapsed_gaussian_trains(device, full, log_scale):
    torch.manual_seed(0)
    field = sc.GaussianField(100, 10.0, full, device=device)
    optimizer = torch.optim.Adam(field.parameters(), 1e-2)
    points = torch.rand(50, 3, device=device) * 10
    with torch.no_grad():
        field.log_scales[0] = log_scale
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = (field(points) - 1).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert all(parameter.isfinite().all() for parameter in field.parameters())
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("device", DEVICES)
def test_halves_are_computed_in_f32(device):
    inputs = [each.detach().half().requires_grad_() for each in inputs_of(3, 1e-7, 0.0, torch.float32, device)]
    for made in results_of(sc.gaussian_field, inputs, None):
        assert made.isfinite().all()
