"""`roi_align` against torchvision's, and what a pyramid adds to it."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
torchvision = import_or_skip("torchvision")
import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402


def boxes(count: int, images: int = 2, dtype=torch.float64):
    """Boxes of many shapes, some of them partly or wholly outside an image of 40 x 60, some upside down."""
    first = uniform(count, 2, low=-9, high=50, dtype=torch.float64, seed=3)
    size = uniform(count, 2, low=-3, high=30, dtype=torch.float64, seed=4)
    which = torch.arange(count) % images
    return torch.cat([which[:, None], first, first + size], 1).to(dtype)


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("ratio", [-1, 1, 3])
@pytest.mark.parametrize("size", [(3, 7), 5])
def test_values_and_gradients_are_torchvisions(size, ratio, aligned):
    x = image(2, 3, 40, 60, dtype=torch.float64).requires_grad_()
    at = boxes(30)
    at[:, 3:] = torch.maximum(at[:, 3:], at[:, 1:3])
    how = {"spatial_scale": 0.5, "sampling_ratio": ratio, "aligned": aligned}
    found, want = (call(x, at, size, **how) for call in (sc.roi_align, torchvision.ops.roi_align))
    assert (found - want).abs().max() < 1e-12
    push = uniform(*want.shape, dtype=torch.float64)
    for one, other in zip(torch.autograd.grad(found, x, push), torch.autograd.grad(want, x, push), strict=True):
        assert (one - other).abs().max() < 1e-11


def test_list_of_boxes_is_torchvisions():
    x, at = image(2, 3, 40, 60), boxes(9, dtype=torch.float32)
    each = [at[at[:, 0] == n][:, 1:].abs() for n in range(2)]
    found, want = (call(x, each, (2, 4), sampling_ratio=2) for call in (sc.roi_align, torchvision.ops.roi_align))
    assert (found - want).abs().max() < 1e-5
    assert sc.roi_align(x, torch.zeros(0, 5), 3, sampling_ratio=2).shape == (0, 3, 3, 3)


def test_boxes_get_a_gradient():
    x = image(2, 1, 12, 16, dtype=torch.float64).requires_grad_()
    at = torch.tensor([[2.2, 3.1, 9.7, 8.4], [1.3, 0.4, 12.9, 5.8]], dtype=torch.float64).requires_grad_()
    which = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda a, b: sc.roi_align(a, torch.cat([which, b], 1), (2, 3), sampling_ratio=2, aligned=True), (x, at)
    )


def test_a_pyramid_skips_no_pixel():
    x = image(1, 3, 128, 128, dtype=torch.float64)
    whole = torch.tensor([[0.0, 0.0, 0.0, 128.0, 128.0]], dtype=torch.float64)
    found = sc.roi_align(sc.TexturePyramid(x), whole, (2, 4), sampling_ratio=2, aligned=True)
    # samples lie 32 and 16 pixels apart: those of level 5, whose texels are 32 wide, mixed along x
    assert (found.mean((2, 3)) - x.mean((2, 3))).abs().max() < 0.02
    aliased = torchvision.ops.roi_align(x, whole, (2, 4), sampling_ratio=2, aligned=True)
    assert (found - 0.5).abs().max() < 0.1 < (aliased - 0.5).abs().max()


def test_codes_become_fractions():
    codes = image(1, 3, 20, 20, dtype=torch.uint8)
    at = torch.tensor([[0.0, 2.0, 3.0, 15.0, 11.0]])
    want = torchvision.ops.roi_align(codes.float() / 255, at, 4)
    assert (sc.roi_align(codes, at, 4) - want).abs().max() < 1e-5


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: sc.roi_align(x[0], torch.zeros(1, 5), 3), "pass a tensor"),
        (lambda x: sc.roi_align(x, torch.zeros(1, 4), 3), r"pass \[K, 5\]"),
        (lambda x: sc.roi_align(x, [torch.zeros(1, 4)] * 3, 3), "for each of 2 images"),
        (lambda x: sc.roi_align(x, torch.full((1, 5), 7.0), 3, sampling_ratio=1), "a box is of image 7"),
        (lambda x: sc.roi_align(x, torch.zeros(1, 5), 3, sampling_ratio=0), "sampling_ratio"),
    ],
)
def test_error_says_what_to_pass(call, text):
    with pytest.raises(ValueError, match=text):
        call(image(2, 3, 16, 16))
