"""Samples of tensors against the definition in f64: values, gradients, types, shapes, errors."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade import reference  # noqa: E402
from tensor_support import CODES, DTYPES, exact, exact_levels, image, patches_of, uniform  # noqa: E402

LEVELS = 5
# f32 places of an image of 60 pixels are right within 4e-6 pixels, and values within 1
TOLERANCE = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float32: 2e-5, torch.float64: 1e-12}


def places(*shape: int, dtype=torch.float32, seed: int = 1):
    """Centres, some outside, and levels of detail, some at and beyond the ends."""
    centers = uniform(*shape, 2, low=-0.2, high=1.2, dtype=dtype, seed=seed)
    lod = uniform(*shape, low=-0.5, high=LEVELS, dtype=dtype, seed=seed + 1)
    lod.view(-1)[:5] = torch.tensor([0.0, 1.0, LEVELS - 1.0, 2.0, -3.0], dtype=dtype)[: lod.numel()]
    return centers, lod


@pytest.mark.parametrize("padding", ["border", "zeros"])
@pytest.mark.parametrize("odd", ["floor", "edge"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_patches_are_grid_sample_mixed_over_levels(dtype, odd, padding):
    pyramid = sc.TexturePyramid(image(2, 3, 60, 47, dtype=dtype), levels=LEVELS, odd=odd)
    centers, lod = places(2, 12, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    made = sc.sample_patches(pyramid, sc.PatchPlan(centers, lod, patch_size=6), padding=padding)
    want = patches_of([pyramid.level(n) for n in range(LEVELS)], centers, lod, 6, padding=padding)
    assert made.dtype == dtype
    assert made.shape == (2, 12, 3, 6, 6)
    assert (made.double() - want).abs().max() <= TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", CODES)
def test_codes_are_rounded_and_become_fractions_in_floats(dtype):
    pyramid = sc.TexturePyramid(image(1, 3, 60, 47, dtype=dtype), levels=LEVELS)
    centers, lod = places(1, 20)
    plan = sc.PatchPlan(centers, lod, patch_size=6)
    want = patches_of([pyramid.level(n) for n in range(LEVELS)], centers, lod, 6)
    most = 255 if dtype == torch.uint8 else 65535
    made = exact(sc.sample_patches(pyramid, plan))
    assert (made - want).abs().max() <= 0.5 + 2e-5 * most
    assert (sc.sample_patches(pyramid, plan, dtype=torch.float32) - want / most).abs().max() <= 2e-5
    assert (sc.sample_patches(pyramid, plan, dtype=torch.float16) - want / most).abs().max() <= 1e-3


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_pixel_gives_itself_everywhere(dtype):
    x = image(3, 1, 1, dtype=dtype)
    made = sc.sample(sc.TexturePyramid(x), uniform(9, 2, low=-1, high=2), uniform(9, high=7))
    assert made.shape == (3, 9)
    assert torch.equal(exact(made), exact(x.reshape(3, 1)).expand(3, 9))


def test_forty_channels_and_strides():
    x = image(2, 40, 33, 35)
    centers, lod = places(2, 7)
    plan = sc.PatchPlan(centers, lod, patch_size=4)
    want = sc.TexturePyramid(x, levels=3).sample_patches(plan)
    last = x.to(memory_format=torch.channels_last)
    assert torch.equal(sc.TexturePyramid(last, levels=3).sample_patches(plan), want)
    transposed = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert torch.equal(sc.TexturePyramid(transposed, levels=3).sample_patches(plan), want)
    strided = sc.PatchPlan(centers.repeat(1, 1, 3)[..., 2:4], lod.repeat_interleave(2, 1)[:, ::2], patch_size=4)
    assert torch.equal(sc.TexturePyramid(x, levels=3).sample_patches(strided), want)


def test_thousand_channels_and_a_huge_thin_image():
    wide = sc.TexturePyramid(image(1024, 9, 9), levels=2)
    centers, lod = places(3)
    made = wide.sample_patches(sc.PatchPlan(centers, lod.clamp(0, 1), patch_size=2))
    want = patches_of([wide.level(0)[None], wide.level(1)[None]], centers[None], lod.clamp(0, 1)[None], 2)
    assert (made - want[0]).abs().max() < 2e-5
    thin = sc.TexturePyramid(image(1, 1, 40000, dtype=torch.float64), levels=10)
    uv = uniform(50, 2, dtype=torch.float64)
    want = reference.sample([thin.level(n)[None] for n in range(10)], uv[None], torch.full((1, 50), 3.5).double())
    assert (sc.sample(thin, uv, 3.5) - want[0]).abs().max() < 1e-9


# ---- Shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_image", "of_plan", "of_result"),
    [
        ((3, 16, 16), (5,), (5, 3, 4, 4)),
        ((3, 16, 16), (2, 5), (2, 5, 3, 4, 4)),  # two fixations of one image
        ((2, 3, 16, 16), (5,), (2, 5, 3, 4, 4)),  # one plan for all images
        ((2, 3, 16, 16), (1, 5), (2, 5, 3, 4, 4)),
        ((2, 3, 16, 16), (2, 5), (2, 5, 3, 4, 4)),
        ((2, 3, 16, 16), (2, 7, 5), (2, 7, 5, 3, 4, 4)),  # seven fixations of each image
        ((2, 3, 16, 16), (1, 7, 5), (2, 7, 5, 3, 4, 4)),
        ((1, 3, 16, 16), (5,), (1, 5, 3, 4, 4)),
        ((1, 3, 16, 16), (4, 5), (4, 5, 3, 4, 4)),  # one image for all plans
        ((0, 3, 16, 16), (0, 5), (0, 5, 3, 4, 4)),
        ((2, 3, 16, 16), (2, 0), (2, 0, 3, 4, 4)),
    ],
)
def test_shapes_of_patches(of_image, of_plan, of_result):
    x = torch.rand(of_image)
    centers, lod = places(*of_plan)
    made = sc.TexturePyramid(x, levels=3).sample_patches(sc.PatchPlan(centers, lod, patch_size=4))
    assert tuple(made.shape) == of_result
    batched = x if x.ndim == 4 else x[None]
    for at in itertools.product(*map(range, of_result[:-3])):
        picture = batched[min(at[0], len(batched) - 1)] if x.ndim == 4 else x
        where = at[len(at) - len(of_plan) :]
        where = tuple(min(n, size - 1) for n, size in zip(where, of_plan, strict=True))
        alone = sc.PatchPlan(centers[where][None], lod[where][None], patch_size=4)
        assert torch.equal(sc.TexturePyramid(picture, levels=3).sample_patches(alone)[0], made[at])


@pytest.mark.parametrize("of_places", [(), (4,), (3, 4), (0, 4)])
@pytest.mark.parametrize("batch", [None, 1, 2])
def test_shapes_of_samples(of_places, batch):
    shape = of_places if batch is None else (batch, *of_places)
    x = torch.rand((3, 16, 16) if batch is None else (batch, 3, 16, 16))
    uv, lod = uniform(*shape, 2), uniform(*shape, high=2)
    made = sc.sample(sc.TexturePyramid(x, levels=3), uv, lod)
    assert tuple(made.shape) == ((3, *of_places) if batch is None else (batch, 3, *of_places))
    if made.numel() and batch is not None:
        levels = sc.generate_mipmaps(x, 3)
        want = reference.sample(exact_levels(levels), uv.double()[:, None], lod.double()[:, None])
        assert (made - want[:, :, 0]).abs().max() < 2e-5


def test_list_of_levels_is_a_pyramid():
    levels = sc.generate_mipmaps(image(1, 3, 32, 32), 4)
    centers, lod = places(1, 5)
    plan = sc.PatchPlan(centers, lod)
    assert torch.equal(sc.sample_patches(levels, plan), sc.TexturePyramid(levels[0], levels=4).sample_patches(plan))
    assert sc.sample([level[0] for level in levels], uniform(5, 2)).shape == (3, 5)


def test_out_is_written_and_given_back():
    pyramid = sc.TexturePyramid(image(2, 3, 32, 32), levels=3)
    centers, lod = places(2, 4, 5)
    plan = sc.PatchPlan(centers, lod)
    want = pyramid.sample_patches(plan)
    out = torch.empty_like(want)
    assert pyramid.sample_patches(plan, out=out) is out
    assert torch.equal(out, want)
    half = torch.empty(want.shape, dtype=torch.float16)
    assert torch.equal(pyramid.sample_patches(plan, out=half), want.half())
    normalized = pyramid.sample_patches(plan, normalize="imagenet", out=out)
    assert normalized is out
    assert torch.equal(out, pyramid.sample_patches(plan, normalize="imagenet"))
    with pytest.raises(ValueError, match=r"out is float32 \[3\]; it must be float32 \[2, 4, 5, 3, 16, 16\]"):
        pyramid.sample_patches(plan, out=torch.empty(3))
    learns = sc.TexturePyramid(image(2, 3, 32, 32).requires_grad_(), levels=3)
    with pytest.raises(ValueError, match="out can't be written where a gradient is asked for"):
        learns.sample_patches(plan, out=out)
    with torch.no_grad():
        learns.sample_patches(plan, out=out)


def test_normalize_is_that_of_torchvision():
    pyramid = sc.TexturePyramid(image(3, 32, 32, dtype=torch.uint8), levels=3)
    plan = sc.PatchPlan(*places(6))
    made = pyramid.sample_patches(plan, normalize="clip")
    plain = pyramid.sample_patches(plan, dtype=torch.float32)
    mean = torch.tensor([0.48145466, 0.4578275, 0.40821073]).view(3, 1, 1)
    std = torch.tensor([0.26862954, 0.26130258, 0.27577711]).view(3, 1, 1)
    assert made.dtype == torch.float32
    assert torch.allclose(made, (plain - mean) / std, atol=1e-6)
    ours = pyramid.sample_patches(plan, normalize=(mean.flatten(), std.flatten()), dtype=torch.float16)
    assert (ours - made).abs().max() < 5e-3
    with pytest.raises(ValueError, match="normalize has 3 means and 3 deviations, the pyramid 1 channels"):
        sc.TexturePyramid(image(1, 8, 8), levels=2).sample_patches(plan, normalize="clip")


# ---- Gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["border", "zeros"])
@pytest.mark.parametrize("odd", ["floor", "edge"])
def test_gradients_are_those_of_the_definition(odd, padding):
    x = image(2, 2, 21, 19, dtype=torch.float64)
    centers, lod = places(2, 6, dtype=torch.float64)
    lod[lod == 0] = 0.3  # at the end itself the derivative has two sides
    results = []
    for ours in (True, False):
        inputs = [t.clone().requires_grad_() for t in (x, centers, lod)]
        if ours:
            pyramid = sc.TexturePyramid(inputs[0], levels=4, odd=odd)
            made = sc.sample_patches(pyramid, sc.PatchPlan(*inputs[1:], patch_size=4), padding=padding)
        else:
            levels = reference.generate_mipmaps(inputs[0], 4, odd=odd)
            made = reference.sample_patches(levels, *inputs[1:], 4, padding=padding)
        results.append(torch.autograd.grad((made * made.detach().cos()).sum(), inputs))
    for mine, theirs in zip(*results, strict=True):
        assert (mine - theirs).abs().max() <= 1e-9 * theirs.abs().max()


def test_gradcheck_of_sample_and_of_the_footprint():
    x = image(1, 2, 9, 8, dtype=torch.float64).requires_grad_()
    uv = uniform(1, 5, 2, low=0.1, high=0.9, dtype=torch.float64).requires_grad_()
    lod = uniform(1, 5, low=0.1, high=0.9, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b, c: sc.sample(sc.TexturePyramid(a, levels=3), b, c), (x, uv, lod))
    footprint = uniform(1, 5, 2, 2, low=0.15, high=0.3, dtype=torch.float64).requires_grad_()
    for most in (1, 4):
        assert torch.autograd.gradcheck(
            lambda a, b, c, n=most: sc.sample(sc.TexturePyramid(a, levels=3), b, uv_da=c, max_anisotropy=n),
            (x, uv, footprint),
        )


def test_gradient_is_zero_where_clamped():
    x = image(1, 1, 8, 8)
    uv = torch.tensor([[[-0.5, 0.5], [0.5, 0.5]]], requires_grad=True)
    lod = torch.tensor([[-1.0, 9.0]], requires_grad=True)
    sc.sample(sc.TexturePyramid(x, levels=3), uv, lod).sum().backward()
    assert uv.grad[0, 0, 0] == 0
    assert lod.grad.tolist() == [[0, 0]]


def test_fixation_learns_through_a_lattice():
    ramp = torch.linspace(0, 1, 64, dtype=torch.float64).expand(1, 64, 64)
    lattice = sc.Lattice(tokens=40, size=(64, 64), levels=4)
    fixation = torch.tensor([0.41, 0.53], dtype=torch.float64, requires_grad=True)
    for snap, learns in ((True, False), (False, True), ("straight_through", True)):
        patches, plan = sc.sample_foveated(
            sc.TexturePyramid(ramp, levels=4), fixation, lattice, snap=snap, return_plan=True
        )
        assert patches.requires_grad == learns
        if learns:
            inside = ((plan.centers - 0.5).abs() < 0.3).all(-1) & (plan.lod == 0)
            middle = patches[inside][..., 4:12, 4:12]  # away from the frame's edge
            (gradient,) = torch.autograd.grad(middle.mean(), fixation)
            assert gradient[0] == pytest.approx(64 / 63, rel=1e-6)  # the ramp's slope in uv
            assert abs(gradient[1]) < 1e-12


# ---- Anisotropy ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rotate", [True, False])
def test_directions_are_the_definition(rotate):
    pyramid = sc.TexturePyramid(image(2, 3, 60, 47, dtype=torch.float64), levels=LEVELS)
    centers, lod = places(2, 8, dtype=torch.float64)
    direction = uniform(2, 8, 2, low=-9, high=9, dtype=torch.float64, seed=5)
    made = sc.sample_anisotropic(pyramid, sc.PatchPlan(centers, lod, patch_size=5), direction, rotate=rotate)
    levels = [pyramid.level(n) for n in range(LEVELS)]
    want = reference.sample_anisotropic(levels, centers, lod, direction, 5, rotate=rotate)
    assert (made - want).abs().max() < 1e-11


def test_ratio_of_one_is_sample_patches_bit_for_bit():
    pyramid = sc.TexturePyramid(image(2, 3, 60, 47), levels=LEVELS)
    plan = sc.PatchPlan(*places(2, 8))
    want = pyramid.sample_patches(plan)
    for direction in ([1.0, 0.0], [0.25, 0.0], torch.tensor([1.0, 0.0])):
        assert torch.equal(pyramid.sample_anisotropic(plan, direction), want)
    assert torch.equal(pyramid.sample_anisotropic(plan, [5.0, 0.0], max_anisotropy=1), want)


def test_anisotropy_reads_text_seen_at_an_angle():
    """Rows of 2 pixels, read at 4 pixels a sample: kept across by the anisotropic patch, lost by the isotropic one."""
    stripes = (torch.arange(64) // 2 % 2).double().expand(1, 64, 64).transpose(-1, -2)
    pyramid = sc.TexturePyramid(stripes, levels=5)
    plan = sc.PatchPlan(torch.full((1, 2), 0.5, dtype=torch.float64), 0.0, patch_size=16)
    made = pyramid.sample_anisotropic(plan, [4.0, 0.0])
    assert torch.equal(made[0, 0], stripes[0, 24:40, 24:40])
    coarse = sc.PatchPlan(plan.centers, 2.0, patch_size=16)
    assert pyramid.sample_patches(coarse)[0, 0].std() < 0.6 * made.std()


def test_footprint_is_the_ellipse_of_nvdiffrast():
    x = image(1, 1, 64, 64, dtype=torch.float64)
    pyramid = sc.TexturePyramid(x, levels=6)
    uv = torch.full((1, 1, 2), 0.4, dtype=torch.float64)
    da = torch.tensor([[[[4 / 64, 0.0], [0.0, 1 / 64]]]], dtype=torch.float64)
    assert torch.equal(sc.sample(pyramid, uv, uv_da=da), sc.sample(pyramid, uv, 2.0))
    assert torch.equal(sc.sample(pyramid, uv, uv_da=da.reshape(1, 1, 4)), sc.sample(pyramid, uv, 2.0))
    assert torch.allclose(sc.sample(pyramid, uv, 1.0, uv_da=da), sc.sample(pyramid, uv, 3.0))
    fine = sc.sample(pyramid, uv, uv_da=da, max_anisotropy=4)
    probes = [sc.sample(pyramid, uv + torch.tensor([(k - 1.5) / 64, 0.0]), 0.0) for k in range(4)]
    assert torch.allclose(fine, sum(probes) / 4, atol=1e-12)


# ---- Errors ----------------------------------------------------------------------------------------------------------

IMAGE = torch.zeros(2, 3, 16, 16)


def pyramid_of(x=IMAGE):
    return sc.TexturePyramid(x, levels=3)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2).half()), TypeError, r"uv is float16.*pass uv.float\(\)"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2).long()), TypeError, "uv is int64; pass float32"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 3)), ValueError, r"uv is \[2, 4, 3\]; its last axis"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(3, 4, 2)), ValueError, "pyramid has 2 images, uv is"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2).numpy()), TypeError, r"pass torch.from_numpy\(uv\)"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2), torch.zeros(3)), ValueError, r"lod must be \[2, 4\]"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2), padding="clamp"), ValueError, "padding is 'clamp'"),
        (lambda: sc.sample(pyramid_of(), torch.zeros(2, 4, 2), max_anisotropy=4), ValueError, "needs uv_da"),
        (lambda: sc.sample(IMAGE, torch.zeros(2, 4, 2)), TypeError, "takes a TexturePyramid or a list of levels"),
        (lambda: sc.sample_patches(pyramid_of(), torch.zeros(2, 4, 2)), TypeError, "plan takes a PatchPlan"),
        (
            lambda: sc.sample_patches(pyramid_of(), sc.PatchPlan(torch.zeros(3, 4, 2), 0.0)),
            ValueError,
            "pyramid has 2 images, the plan is for 3",
        ),
        (
            lambda: sc.sample_patches(pyramid_of(), sc.PatchPlan(torch.zeros(4, 2), 0.0), dtype=torch.uint8),
            ValueError,
            "dtype is uint8, the pyramid's is float32; pass dtype=torch.float32",
        ),
        (
            lambda: sc.sample_patches(pyramid_of(), sc.PatchPlan(torch.zeros(4, 2), 0.0), dtype=torch.int64),
            ValueError,
            "dtype is int64; patches come as",
        ),
        (
            lambda: sc.sample_patches(pyramid_of(), sc.PatchPlan(torch.zeros(4, 2), 0.0), normalize="vgg"),
            ValueError,
            "normalize: 'vgg' is not none, clip",
        ),
        (
            lambda: sc.sample_anisotropic(pyramid_of(), sc.PatchPlan(torch.zeros(4, 2), 0.0), torch.zeros(3, 2)),
            ValueError,
            r"direction is \[3, 2\]; it must be \[4, 2\]",
        ),
        (
            lambda: sc.sample_foveated(pyramid_of(), (0.5, 0.5), sc.Lattice(size=(8, 8), tokens=9)),
            ValueError,
            r"Lattice: made for size=\(8, 8\), the pyramid's is \(16, 16\)",
        ),
        (
            lambda: sc.sample_foveated(pyramid_of(), (0.5, 0.5), sc.Lattice(), tokens=9),
            ValueError,
            "are the lattice's",
        ),
        (lambda: sc.PatchPlan(torch.zeros(4, 2), torch.zeros(3)), ValueError, r"lod must be \[4\]"),
    ],
)
def test_error_names_the_argument_what_came_and_what_to_write(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.cuda
def test_arrays_of_two_devices_are_told_apart():
    with pytest.raises(ValueError, match=r"pyramid is on cuda:0, uv on cpu; pass uv.to\('cuda:0'\)"):
        sc.sample(pyramid_of(IMAGE.cuda()), torch.zeros(2, 4, 2))


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", DTYPES)
def test_cuda_has_the_bits_of_the_cpu(dtype):
    x = image(2, 3, 301, 203, dtype=dtype)
    plan = sc.PatchPlan(*places(2, 64))
    direction = uniform(2, 64, 2, low=-3, high=3)
    here, there = sc.TexturePyramid(x, levels=LEVELS), sc.TexturePyramid(x.cuda(), levels=LEVELS)
    assert torch.equal(exact(here.sample_patches(plan)), exact(there.sample_patches(plan.to("cuda")).cpu()))
    rotated = there.sample_anisotropic(plan.to("cuda"), direction.cuda())
    assert torch.equal(exact(here.sample_anisotropic(plan, direction)), exact(rotated.cpu()))


@pytest.mark.cuda
def test_deterministic_backward_repeats_its_bytes():
    x = image(1, 3, 256, 256).cuda().requires_grad_()
    plan = sc.Lattice(tokens=100, size=(256, 256)).plan(uniform(1, 2).cuda())
    torch.use_deterministic_algorithms(True)
    try:
        runs = []
        for _ in range(20):
            (gradient,) = torch.autograd.grad(sc.TexturePyramid(x).sample_patches(plan).square().sum(), x)
            runs.append(gradient)
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(run, runs[0]) for run in runs)


def test_words_are_no_coordinates():
    levels = [image(3, 8, 8)]
    with pytest.raises(TypeError, match="sample: lod takes numbers, a tensor or an array, not str '1'"):
        sc.sample(levels, uniform(4, 2), lod="1")
    with pytest.raises(TypeError, match="fixation takes numbers"):
        sc.sample_foveated(levels, ("0.5", "0.5"))
    with pytest.raises(TypeError, match="Lattice.plan: fixation takes"):
        sc.Lattice(size=(8, 8)).plan(("0.5", "0.5"))


@pytest.mark.parametrize("odd", ["edge", "floor"])
def test_odd_sizes_read_a_level_at_the_pixel_over_its_scale(odd):
    x = image(1, 1, 13, 9)
    level = sc.generate_mipmaps(x, 3, odd=odd)[2]
    uv = uniform(1, 50, 2, low=0.2, high=0.8)
    at = uv * torch.tensor([9.0, 13.0]) / 4  # in texels of level 2
    grid = 2 * at / torch.tensor([float(level.shape[-1]), float(level.shape[-2])]) - 1
    expected = torch.nn.functional.grid_sample(level, grid[:, None], align_corners=False, padding_mode="border")[
        :, :, 0
    ]
    assert torch.allclose(sc.TexturePyramid(x, levels=3, odd=odd).sample(uv, 2.0), expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_places_in_pixels_are_those_of_grid_sample(dtype):
    picture = image(2, 3, 33, 47, dtype=dtype)
    places = (uniform(2, 50, 2, dtype=dtype) * torch.tensor([47, 33], dtype=dtype)).requires_grad_()
    found = sc.sample(sc.TexturePyramid(picture), places, unit="px")
    grid = 2 * places / torch.tensor([47, 33], dtype=dtype) - 1
    theirs = torch.nn.functional.grid_sample(picture, grid[:, :, None], align_corners=False, padding_mode="border")
    assert torch.allclose(found, theirs[..., 0], atol=1e-5)
    weight = uniform(*found.shape, dtype=dtype, seed=9)
    ours, expected = (torch.autograd.grad((out * weight).sum(), places)[0] for out in (found, theirs[..., 0]))
    assert torch.allclose(ours, expected, atol=1e-3 if dtype == torch.float32 else 1e-9)
    centers = np.array([[0.5, 0.5], [46.5, 32.5]], np.float32)
    corners = sc.sample(sc.TexturePyramid(picture[0].float().numpy()), centers, unit="px")
    assert np.allclose(corners, picture[0].float().numpy()[:, [0, 32], [0, 46]], atol=1e-5)


@pytest.mark.cuda
def test_fixations_follow_to_the_pyramids_device():
    picture, fixation = image(3, 100, 120), torch.tensor([0.3, 0.6])
    here = sc.TexturePyramid(picture)
    there = sc.TexturePyramid(picture.cuda())
    expected = here.sample_foveated(fixation)
    assert torch.equal(there.sample_foveated(fixation).cpu(), expected)
    assert torch.equal(here.sample_foveated(fixation.cuda()), expected)
    assert here.sample_anisotropic(fixation.cuda(), (2.0, 1.0), 273).device.type == "cpu"
