"""Gaussian fields against solve_triangular and autograd, and the module that learns one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade import reference  # noqa: E402
from pysaccade._operators import _tensor_abi  # noqa: E402
from tensor_support import generator  # noqa: E402


def field_of(points, gaussians, dimensions, channels, dtype=torch.float64, batch=(), seed=0):
    """x, mean, scale_tril, weight of random Gaussians of about half the box's size."""
    numbers = generator(seed)

    def rand(*shape):
        return torch.rand(*batch, *shape, generator=numbers, dtype=torch.float64)

    tril = torch.tril(rand(gaussians, dimensions, dimensions) - 0.5) * 0.3
    tril = tril + 0.4 * torch.eye(dimensions, dtype=torch.float64)
    made = (rand(points, dimensions), rand(gaussians, dimensions), tril, rand(gaussians, channels) - 0.5)
    return tuple(each.to(dtype) for each in made)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 5])
def test_field_and_all_gradients_are_solve_triangulars(dimensions, channels):
    inputs = [each.requires_grad_() for each in field_of(23, 71, dimensions, channels)]
    ours, theirs = sc.gaussian_field(*inputs), reference.gaussian_field(*inputs)
    assert (ours - theirs).abs().max() <= 1e-12 * theirs.abs().max()
    push = torch.randn(ours.shape, generator=generator(3), dtype=torch.float64)
    for a, b in zip(torch.autograd.grad(ours, inputs, push), torch.autograd.grad(theirs, inputs, push), strict=True):
        assert (a - b).abs().max() <= 1e-10 * b.abs().max()


def test_f32_is_within_its_precision():
    inputs = field_of(50, 300, 3, 2)
    made = sc.gaussian_field(*[each.float() for each in inputs])
    want = reference.gaussian_field(*inputs)
    assert made.dtype == torch.float32
    assert (made - want).abs().max() <= 2e-5 * want.abs().max()


def test_gradcheck():
    inputs = [each.requires_grad_() for each in field_of(4, 3, 2, 2)]
    assert torch.autograd.gradcheck(sc.gaussian_field, inputs)
    assert torch.autograd.gradcheck(sc.mahalanobis, inputs[:3])


def test_mahalanobis_is_a_square_distance():
    x, mean, tril, _ = field_of(6, 4, 3, 1)
    inverse = torch.linalg.inv(tril @ tril.mT)
    difference = x[:, None] - mean
    want = torch.einsum("pgi,gij,pgj->pg", difference, inverse, difference)
    assert torch.allclose(sc.mahalanobis(x, mean, tril), want)


def test_what_stands_above_the_diagonal_is_not_read():
    x, mean, tril, weight = field_of(6, 4, 3, 1)
    want = sc.gaussian_field(x, mean, tril, weight)
    filled = tril + torch.triu(torch.full_like(tril, 7.0), 1)
    assert torch.equal(sc.gaussian_field(x, mean, filled, weight), want)


def test_cutoff_is_in_standard_deviations():
    x = torch.tensor([[0.0], [1.9], [2.1]])
    made = sc.gaussian_field(x, torch.zeros(1, 1), torch.ones(1, 1, 1), torch.ones(1, 1), cutoff=2.0)
    assert torch.allclose(made[:, 0], torch.tensor([1.0, math.exp(-(1.9**2) / 2), 0.0]))


def test_leading_axes_broadcast_and_a_flat_weight_is_one_channel():
    x, mean, tril, weight = field_of(7, 5, 2, 3, batch=(2, 4))
    made = sc.gaussian_field(x, mean, tril, weight)
    assert made.shape == (2, 4, 7, 3)
    assert torch.allclose(made[1, 2], sc.gaussian_field(x[1, 2], mean[1, 2], tril[1, 2], weight[1, 2]))
    shared = sc.gaussian_field(x, mean[0, 0], tril[0, 0], weight[0, 0])
    assert torch.allclose(shared[1, 3], sc.gaussian_field(x[1, 3], mean[0, 0], tril[0, 0], weight[0, 0]))
    flat = sc.gaussian_field(x[0, 0], mean[0, 0], tril[0, 0], weight[0, 0, :, 1])
    assert torch.allclose(flat, sc.gaussian_field(x[0, 0], mean[0, 0], tril[0, 0], weight[0, 0])[:, 1])


@pytest.mark.parametrize("ones", [(), (1,), (1, 1)])
@pytest.mark.parametrize("batch", [(6,), (2, 3), (0,)])
def test_gaussians_of_a_whole_batch_are_not_copied(batch, ones, monkeypatch):
    x = field_of(7, 5, 3, 2, batch=batch)[0].requires_grad_()
    gaussians = [each.expand(*ones, *each.shape).clone().requires_grad_() for each in field_of(7, 5, 3, 2, seed=2)[1:]]
    seen, begin = [], _tensor_abi.Gaussians.__init__

    def spy(self, *arrays):
        seen.append(arrays[1].size if isinstance(arrays[1], np.ndarray) else arrays[1].numel())
        begin(self, *arrays)

    monkeypatch.setattr(_tensor_abi.Gaussians, "__init__", spy)
    made, q = sc.gaussian_field(x, *gaussians), sc.mahalanobis(x, *gaussians[:2])
    given = [each.detach().numpy() for each in (x, *gaussians)]
    arrays = sc.gaussian_field(*given), sc.mahalanobis(*given[:3])
    assert made.numel() == 0 or set(seen) == {5 * 3}
    lead = torch.broadcast_shapes(batch, ones)
    assert made.shape == arrays[0].shape == (*lead, 7, 2)
    assert q.shape == arrays[1].shape == (*lead, 7, 5)
    alone = [each.reshape(each.shape[len(ones) :]) for each in gaussians]
    for index in np.ndindex(*batch):
        one = made.reshape(*batch, 7, 2)[index]
        assert torch.allclose(one, sc.gaussian_field(x[index], *alone), rtol=1e-12)
        assert torch.allclose(q.reshape(*batch, 7, 5)[index], sc.mahalanobis(x[index], *alone[:2]), rtol=1e-12)
    theirs = reference.gaussian_field(x, *gaussians)
    for a, b in zip(
        torch.autograd.grad(made.square().sum(), (x, *gaussians)),
        torch.autograd.grad(theirs.square().sum(), (x, *gaussians)),
        strict=True,
    ):
        assert a.shape == b.shape
        assert torch.allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("points", "gaussians"), [(0, 5), (5, 0), (0, 0)])
def test_empty_sets(points, gaussians):
    inputs = [each.requires_grad_() for each in field_of(points, gaussians, 3, 2)]
    made = sc.gaussian_field(*inputs)
    assert made.shape == (points, 2)
    assert not made.any()
    made.sum().backward()
    assert all(each.grad is not None and not each.grad.any() for each in inputs)


def test_halves_are_computed_in_f32():
    inputs = field_of(9, 6, 2, 1)
    made = sc.gaussian_field(*[each.half() for each in inputs])
    assert made.dtype == torch.float32
    assert torch.equal(made, sc.gaussian_field(*[each.half().float() for each in inputs]))


@pytest.mark.parametrize("full", [True, False])
def test_module_learns_a_field(full):
    numbers = generator(5)
    field = sc.GaussianField(40, volume_size=(8.0, 6.0), use_full_cov=full, generator=numbers)
    names = dict(field.named_parameters())
    assert ("off_diagonal" in names) == full
    cells = field.grid((12, 16))
    assert cells.shape == (12, 16)
    points = torch.rand(200, 2, generator=numbers) * torch.tensor([8.0, 6.0])
    values = torch.sin(points[:, 0]) * points[:, 1] / 6
    optimizer = torch.optim.Adam(field.parameters(), lr=0.03)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = (field(points) - values).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.3 * losses[0]
    again = sc.GaussianField(40, volume_size=(8.0, 6.0), use_full_cov=full)
    again.load_state_dict(field.state_dict())
    assert torch.equal(again(points), field(points))


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        (lambda x, m, t, w: (x.double(), m, t, w), TypeError, "x float64, mean float32.*pass one type"),
        (lambda x, m, t, w: (x[:, :2], m, t, w), ValueError, r"they must be \[.., P, D\], \[.., G, D\]"),
        (lambda x, m, t, w: (x, m, t, w[:3]), ValueError, r"weight must be \[.., G, K\]"),
        (lambda x, m, t, w: (x.repeat(1, 2), m.repeat(1, 2), t.repeat(1, 2, 2), w), ValueError, "1 to 4 are possible"),
        (lambda x, m, t, w: (x.long(), m, t, w), TypeError, "x is int64; pass float32 or float64"),
        (lambda x, m, t, w: (x.tolist(), m, t, w), TypeError, "x takes a torch tensor or a NumPy array, not list"),
        (lambda x, m, t, w: (x.repeat(2, 1, 1), m.repeat(3, 1, 1), t, w), ValueError, "don't broadcast"),
        (lambda x, m, t, w: (x[0], m, t, w), ValueError, r"x is \[3\]; it must be \[.., P, D\]"),
    ],
)
def test_error_names_the_argument(change, kind, text):
    inputs = field_of(7, 5, 3, 2, dtype=torch.float32)
    with pytest.raises(kind, match=text) as caught:
        sc.gaussian_field(*change(*inputs))
    assert str(caught.value).startswith("gaussian_field: ")


def test_cutoff_below_zero_is_refused():
    with pytest.raises(ValueError, match="cutoff is -1.0; it must be above 0"):
        sc.gaussian_field(*field_of(7, 5, 3, 2), cutoff=-1.0)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sc.GaussianField(5.0), TypeError, "num_gaussians takes an integer, not float 5.0"),
        (lambda: sc.GaussianField("5"), TypeError, "num_gaussians takes an integer, not str '5'"),
        (lambda: sc.GaussianField(0), ValueError, "num_gaussians is 0"),
        (lambda: sc.GaussianField(5, channels=0), ValueError, "channels is 0"),
        (lambda: sc.GaussianField(5, "abc"), ValueError, "volume_size is 'abc'; pass 1 to 4 finite lengths above 0"),
        (lambda: sc.GaussianField(5, (math.nan, 1, 1)), ValueError, "volume_size is .nan, 1, 1."),
        (lambda: sc.GaussianField(5, math.inf), ValueError, "volume_size is inf"),
        (lambda: sc.GaussianField(5, (1, 1, 1, 1, 1)), ValueError, "pass 1 to 4 finite lengths"),
        (lambda: sc.GaussianField(5, cutoff=-1), ValueError, "cutoff is -1; it must be above 0"),
        (lambda: sc.GaussianField(5, cutoff="1"), TypeError, "cutoff takes a number, not str '1'"),
        (lambda: sc.GaussianField(5, dtype=torch.int32), TypeError, "dtype is .*int32; pass torch.float32"),
        (lambda: sc.GaussianField(5).grid((4, 5)), ValueError, "shape is .4, 5.; it must be 3 numbers of cells"),
        (lambda: sc.GaussianField(5).grid((4, 5, 0)), ValueError, r"shape\[2\] is 0"),
        (lambda: sc.GaussianField(5)(torch.tensor(1.0)), ValueError, r"x is \[\]; its last axis must have length 3"),
        (lambda: sc.GaussianField(5)(torch.zeros(4, 2)), ValueError, r"x is \[4, 2\]; its last axis"),
    ],
)
def test_field_that_can_not_be_is_refused_in_words(call, kind, text):
    with pytest.raises(kind, match=f"GaussianField.*{text}"):
        call()


def test_cutoff_that_is_no_number_is_refused_and_sizes_may_be_numpys():
    field = torch.zeros(2, 2), torch.zeros(2, 2), torch.eye(2).repeat(2, 1, 1), torch.ones(2, 1)
    with pytest.raises(TypeError, match="gaussian_field: cutoff takes a number, not str '1'"):
        sc.gaussian_field(*field, cutoff="1")
    assert sc.GaussianField(5, np.int64(64)).volume_size == (64.0, 64.0, 64.0)
    assert sc.GaussianField(5, np.array([2, 3])).grid(np.array([4, 5])).shape == (4, 5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_quaternions_and_scales_are_covariances(dtype):
    quats = torch.randn(40, 4, generator=generator(2), dtype=torch.float64).to(dtype)
    scales = torch.rand(40, 3, generator=generator(3), dtype=torch.float64).add(0.05).to(dtype)
    scales[0] = torch.tensor([1e-4, 1.0, 30.0])  # a needle
    tril = sc.scale_tril_of(quats, scales)
    assert tril.dtype == dtype
    assert torch.equal(tril, tril.tril())
    assert (tril.diagonal(dim1=-2, dim2=-1) > 0).all()
    for number in range(40):
        w, *v = (quats[number].double() / quats[number].double().norm()).tolist()
        v = np.array(v)
        # q e q* of each axis e, by the vector form of the product
        axes = np.stack([e + 2 * np.cross(v, np.cross(v, e) + w * e) for e in np.eye(3)], -1)
        covariance = axes @ np.diag(scales[number].double().numpy() ** 2) @ axes.T
        found = tril[number].double().numpy()
        close = 1e-5 if dtype == torch.float32 else 1e-12
        assert np.allclose(found @ found.T, covariance, rtol=close, atol=close * covariance.max())


def test_quaternions_and_scales_have_gradients():
    quats = torch.randn(3, 4, generator=generator(4), dtype=torch.float64).requires_grad_()
    scales = torch.rand(3, 3, generator=generator(5), dtype=torch.float64).add(0.2).requires_grad_()
    assert torch.autograd.gradcheck(sc.scale_tril_of, (quats, scales))
