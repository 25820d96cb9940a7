"""Mip levels of tensors: avg_pool2d's bits, true means of integers, and a texture's two forms."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from pysaccade._operators import _tensor_abi  # noqa: E402
from tensor_support import CODES, DTYPES, exact, image  # noqa: E402


def true_means(codes: torch.Tensor, level: int, odd: str) -> torch.Tensor:
    """Means of 4^level texels in integers, halves up; odd="edge" repeats the last row and column."""
    height, width = codes.shape[-2:]
    step = 2**level
    if odd == "edge":
        rows = torch.arange(-(-height // step) * step).clamp(max=height - 1)
        columns = torch.arange(-(-width // step) * step).clamp(max=width - 1)
        codes = codes.to(torch.int64)[..., rows, :][..., columns]
    else:
        codes = codes.to(torch.int64)[..., : height // step * step, : width // step * step]
    h, w = codes.shape[-2] // step, codes.shape[-1] // step
    sums = codes.reshape(*codes.shape[:-2], h, step, w, step).sum((-3, -1))
    return (2 * sums + step * step) // (2 * step * step)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(1, 3, 64, 64), (2, 3, 101, 77), (1, 1, 130, 257), (3, 40, 33, 35)])
def test_floats_are_the_bits_of_repeated_avg_pool2d(dtype, shape):
    x = image(*shape, dtype=dtype)
    made = sc.generate_mipmaps(x, 5)
    assert made[0] is x
    for level in made[1:]:
        x = F.avg_pool2d(x, 2)
        assert torch.equal(level, x)


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("odd", ["floor", "edge"])
@pytest.mark.parametrize("shape", [(1, 3, 64, 64), (2, 1, 101, 77), (1, 2, 5, 300)])
def test_integers_are_true_means_rounded_once(dtype, odd, shape):
    x = image(*shape, dtype=dtype)
    levels = None if odd == "floor" else 8
    for level, made in enumerate(sc.generate_mipmaps(x, levels, odd=odd)):
        assert made.dtype == dtype
        assert torch.equal(exact(made).long(), true_means(x.to(torch.int32), level, odd)), level


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once_a_level(dtype):
    x = image(1, 2, 32, 48, dtype=dtype)
    for level in sc.generate_mipmaps(x, 4)[1:]:
        x = F.avg_pool2d(x.double(), 2).to(dtype)  # sums of four halves are exact in f64
        assert (level.double() - x.double()).abs().max() <= 2e-3 * x.double().abs().max()
        x = level


@pytest.mark.parametrize("dtype", DTYPES)
def test_strides_are_read_in_place(dtype):
    x = image(2, 5, 37, 41, dtype=dtype)
    want = sc.generate_mipmaps(x, 4)
    padded = torch.zeros(2, 5, 40, 50, dtype=dtype)
    padded[..., 2:39, 5:46] = x
    views = {
        "channels last": x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
        "cropped": padded[..., 2:39, 5:46],
        "transposed": x.transpose(-1, -2).contiguous().transpose(-1, -2),
    }
    for name, view in views.items():
        made = sc.generate_mipmaps(view, 4)
        assert made[0] is view
        assert all(torch.equal(a, b) for a, b in zip(made, want, strict=True)), name


def test_leading_axes_are_kept_and_unbatched_is_unbatched():
    x = image(2, 3, 4, 16, 16)
    assert [tuple(level.shape) for level in sc.generate_mipmaps(x, 3)] == [(2, 3, 4, n, n) for n in (16, 8, 4)]
    assert [tuple(level.shape) for level in sc.generate_mipmaps(x[0, 0], 2)] == [(4, 16, 16), (4, 8, 8)]
    assert torch.equal(sc.generate_mipmaps(x, 3)[2][1, 2], sc.generate_mipmaps(x[1, 2], 3)[2])


def test_one_pixel_and_empty_batch():
    assert len(sc.generate_mipmaps(image(1, 1, 1), None)) == 1
    assert sc.TexturePyramid(image(3, 1, 1)).level(6).shape == (3, 1, 1)
    assert [tuple(level.shape) for level in sc.generate_mipmaps(torch.empty(0, 3, 8, 8), 3)] == [
        (0, 3, 8, 8),
        (0, 3, 4, 4),
        (0, 3, 2, 2),
    ]
    pyramid = sc.TexturePyramid(torch.empty(0, 3, 8, 8), levels=3)
    assert sc.sample(pyramid, torch.empty(0, 5, 2)).shape == (0, 3, 5)


def test_huge_and_thin_image_has_all_levels():
    x = image(1, 1, 1, 65536)
    made = sc.generate_mipmaps(x, 16, odd="edge")
    assert made[-1].shape == (1, 1, 1, 2)
    assert float(made[-1].mean()) == pytest.approx(float(x.double().mean()), rel=1e-6)


@pytest.mark.parametrize("odd", ["floor", "edge"])
def test_gradient_of_the_levels_is_right(odd):
    x = image(1, 2, 13, 11, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: tuple(sc.generate_mipmaps(t, 3, odd=odd)[1:]), (x,))


def test_mean_loss_gives_each_pixel_its_share():
    x = image(1, 1, 8, 8).requires_grad_()
    sc.generate_mipmaps(x, 4)[3].sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 1 / 64))


# ---- TexturePyramid --------------------------------------------------------------------------------------------------


def test_level_zero_is_the_image_itself_and_levels_are_views():
    x = image(3, 40, 30)
    pyramid = sc.TexturePyramid(x, levels=4)
    assert pyramid.level(0).data_ptr() == x.data_ptr()
    assert pyramid.level(2).data_ptr() == pyramid.level(2).data_ptr()
    assert (pyramid.shape, pyramid.size, pyramid.channels, pyramid.levels) == ((3, 40, 30), (40, 30), 3, 4)
    assert (pyramid.dtype, pyramid.device) == (torch.float32, torch.device("cpu"))
    assert torch.equal(pyramid.level(-1), pyramid[3])
    with pytest.raises(IndexError):
        pyramid[4]
    with pytest.raises(ValueError, match=r"level is 4; the range is -4 to 3"):
        pyramid.level(4)


def test_two_step_form_equals_one_step():
    x = image(2, 3, 40, 30)
    pyramid = sc.TexturePyramid(x, mips=False)
    with pytest.raises(ValueError, match=r"its levels are not made yet; call generate_mipmaps\(\)"):
        pyramid.sample(torch.zeros(2, 1, 2))
    assert pyramid.generate_mipmaps() is pyramid
    assert torch.equal(pyramid.level(5), sc.TexturePyramid(x).level(5))
    x.mul_(0.5)
    assert torch.equal(pyramid.generate_mipmaps().level(3), sc.TexturePyramid(x).level(3))
    late = sc.TexturePyramid(levels=3)
    with pytest.raises(ValueError, match="there is no image yet"):
        late.level(0)
    assert late.generate_mipmaps(x[0]).shape == (3, 40, 30)


def test_levels_of_an_image_that_learns_give_it_a_gradient():
    x = image(3, 16, 16, dtype=torch.float64).requires_grad_()
    pyramid = sc.TexturePyramid(x, levels=3)
    pyramid.level(2).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 1 / 16))
    with torch.no_grad():
        assert not pyramid.level(2).requires_grad


def test_levels_of_ones_own_each_get_their_gradient():
    levels = [image(1, 2, n, n, seed=n).double().requires_grad_() for n in (16, 8, 4)]
    pyramid = sc.TexturePyramid.from_levels(levels)
    assert pyramid.levels == 3
    assert torch.equal(pyramid.level(1), levels[1])
    sc.sample(pyramid, torch.full((1, 1, 2), 0.5, dtype=torch.float64), 1.5).sum().backward()
    assert levels[0].grad is None or not levels[0].grad.any()
    assert float(levels[1].grad.sum()) == pytest.approx(1.0)  # half of the weight, two channels
    assert float(levels[2].grad.sum()) == pytest.approx(1.0)


# ---- Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sc.generate_mipmaps([[1]]), TypeError, "image takes a torch tensor or a NumPy array, not list"),
        (lambda: sc.generate_mipmaps(torch.zeros(4, 4)), ValueError, r"pass image\[None\] for one channel"),
        (
            lambda: sc.generate_mipmaps(torch.zeros(1, 4, 4, dtype=torch.int32)),
            TypeError,
            r"image is int32, not one of",
        ),
        (lambda: sc.generate_mipmaps(torch.zeros(1, 0, 4)), ValueError, "an image without a pixel"),
        (lambda: sc.generate_mipmaps(torch.zeros(1, 40, 30), 7), ValueError, r"40x30 has 5 with odd='floor'; pass"),
        (lambda: sc.generate_mipmaps(torch.zeros(1, 4, 4), 0), ValueError, "levels is 0; the range is 1 to 16"),
        (lambda: sc.generate_mipmaps(torch.zeros(1, 4, 4), 2.0), TypeError, "levels takes an integer, not float 2.0"),
        (lambda: sc.TexturePyramid(torch.zeros(1, 4, 4), levels=True), TypeError, "levels takes an integer, not bool"),
        (lambda: sc.TexturePyramid(torch.zeros(1, 4, 4), levels=[4]), TypeError, "levels takes an integer, not list"),
        (
            lambda: sc.generate_mipmaps(torch.zeros(1, 4, 4), 2, odd="x"),
            ValueError,
            "odd is 'x'; it must be 'floor' or",
        ),
        (lambda: sc.TexturePyramid(torch.zeros(1, 1, 1, 4, 4)), ValueError, r"must be \[C, H, W\] or \[B, C, H, W\]"),
        (
            lambda: sc.TexturePyramid(torch.zeros(1, 4, 4), filtering="hardware"),
            sc.UnavailableError,
            "pass filtering='exact' or 'hybrid'",
        ),
        (lambda: sc.TexturePyramid(torch.zeros(1, 4, 4), filtering="best"), ValueError, "filtering is 'best'"),
        (lambda: sc.TexturePyramid.from_levels([]), TypeError, "takes a TexturePyramid or a list of levels"),
        (
            lambda: sc.TexturePyramid.from_levels([torch.zeros(1, 8, 8), torch.zeros(1, 3, 3)]),
            ValueError,
            r"levels\[1\] is 3x3; of level 0 comes 4x4",
        ),
        (
            lambda: sc.TexturePyramid.from_levels([torch.zeros(1, 8, 8), torch.zeros(1, 4, 4).double()]),
            TypeError,
            r"levels\[1\] is float64, levels\[0\] is float32",
        ),
        (
            lambda: sc.TexturePyramid.from_levels([torch.zeros(1, 8, 8)]).generate_mipmaps(),
            ValueError,
            "the levels were given",
        ),
    ],
)
def test_error_names_the_argument_what_came_and_what_to_write(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("size", "many"), [((8, 8), 4), ((1, 1), 1), ((40, 3), 2), ((64, 64), 5)])
def test_levels_that_nobody_asked_for_are_as_many_as_there_are(size, many):
    x = image(1, 3, *size)
    for _ in range(2):  # the second time by what is known of the shape
        assert len(sc.generate_mipmaps(x)) == many
        assert len(sc.generate_mipmaps(x.numpy())) == many
        assert sc.TexturePyramid(x, odd="floor").levels == min(size).bit_length()
        if many < 5:
            with pytest.raises(ValueError, match=f"levels is 5, but {size[0]}x{size[1]} has {many}"):
                sc.generate_mipmaps(x, 5)
            with pytest.raises(ValueError, match="levels is 7"):
                sc.TexturePyramid(x, levels=7, odd="floor")
    pyramid = sc.TexturePyramid(x, odd="floor")
    assert pyramid.generate_mipmaps(image(1, 3, 256, 256)).levels == 7


def test_error_of_the_library_names_no_function_of_c():
    levels = [image(1, 3, 4, 4), image(1, 3, 3, 3)]
    packed = _tensor_abi.packed_levels(levels)
    with pytest.raises(ValueError, match="^pysaccade: ") as caught:
        _tensor_abi.reduce(levels[0], packed, 2, _tensor_abi.EDGE, None)
    assert "saccade_" not in str(caught.value)
