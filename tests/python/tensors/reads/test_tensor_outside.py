"""What lies outside an image (wrap, mirror) and the nearest texel, against images that NumPy pads and grid_sample."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from pysaccade import reference  # noqa: E402
from tensor_support import DTYPES, image, uniform  # noqa: E402

REPEATED = {"wrap": "wrap", "mirror": "symmetric"}  # np.pad's words
PADDED = {"border": "edge", "zeros": "constant", **REPEATED}


def padded(x, pixels: tuple[int, int], padding: str):
    """The image with so many rows and columns more on each side."""
    sides = [(0, 0)] * (x.ndim - 2) + [(n, n) for n in pixels]
    return torch.from_numpy(np.pad(x.numpy(), sides, mode=PADDED[padding]))


def in_padded(uv):
    """Places in an image that has two more of itself on each side."""
    return (uv + 2) / 5


@pytest.mark.parametrize("padding", REPEATED)
def test_an_image_repeats_at_every_level(padding):
    x = image(2, 3, 48, 64, dtype=torch.float64)
    once = sc.TexturePyramid(x, levels=4)
    often = sc.TexturePyramid(padded(x, (96, 128), padding), levels=4)
    uv = uniform(2, 300, 2, low=-1, high=2, dtype=torch.float64)
    lod = uniform(2, 300, high=3, dtype=torch.float64)
    assert (once.sample(uv, lod, padding=padding) - often.sample(in_padded(uv), lod)).abs().max() < 1e-11
    centers, lods = uv[:, :20], lod[:, :20]
    plans = [sc.PatchPlan(at, lods, patch_size=7) for at in (centers, in_padded(centers))]
    found = once.sample_patches(plans[0], padding=padding)
    assert (found - often.sample_patches(plans[1])).abs().max() < 1e-11
    direction = uniform(2, 20, 2, low=-4, high=4, dtype=torch.float64, seed=5)
    plans = [sc.PatchPlan(at, lods / 3, patch_size=7) for at in (centers, in_padded(centers))]  # within the padded one
    found = sc.sample_anisotropic(once, plans[0], direction, padding=padding)
    assert (found - sc.sample_anisotropic(often, plans[1], direction)).abs().max() < 1e-11


@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("dtype", DTYPES)
def test_nearest_is_the_texel_of_the_place(dtype, padding):
    x = image(3, 11, 14, dtype=dtype)
    uv = uniform(500, 2, low=-0.9, high=1.9, dtype=torch.float64).float()
    column, row = (uv * torch.tensor([14, 11])).floor().long().unbind(-1)
    around = padded(x if dtype != torch.bfloat16 else x.float(), (11, 14), padding)
    want = around[:, row + 11, column + 14].to(dtype)
    assert torch.equal(sc.TexturePyramid(x).sample(uv, padding=padding, mode="nearest"), want)
    plan = sc.PatchPlan(uv, torch.zeros(500), patch_size=1)
    assert torch.equal(sc.TexturePyramid(x).sample_patches(plan, padding=padding, mode="nearest")[..., 0, 0], want.T)


def test_levels_are_mixed_of_nearest_texels():
    pyramid = sc.TexturePyramid(image(3, 16, 16, dtype=torch.float64), levels=3)
    uv = uniform(50, 2, dtype=torch.float64)
    fine, coarse, mixed = (pyramid.sample(uv, lod, mode="nearest") for lod in (1.0, 2.0, 1.25))
    texel = (uv * 8).long()
    assert torch.equal(fine, pyramid.level(1)[:, texel[:, 1], texel[:, 0]])
    assert (mixed - (0.75 * fine + 0.25 * coarse)).abs().max() < 1e-15


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize(("padding", "theirs"), [("border", "border"), ("zeros", "zeros"), ("mirror", "reflection")])
def test_words_mean_what_grid_sample_means(padding, theirs, mode):
    x, uv = image(2, 3, 31, 45), uniform(2, 400, 2, low=-2, high=3)
    grid = (2 * uv - 1)[:, :, None]
    want = F.grid_sample(x, grid, mode=mode, padding_mode=theirs, align_corners=False)[..., 0]
    assert (sc.sample([x], uv, padding=padding, mode=mode) - want).abs().max() < 4e-5


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", PADDED)
@pytest.mark.parametrize("odd", ["floor", "edge"])
def test_values_and_gradients_are_those_of_the_definition(odd, padding, mode):
    x = image(2, 2, 21, 19, dtype=torch.float64)
    centers = uniform(2, 9, 2, low=-0.9, high=1.9, dtype=torch.float64)
    lod = uniform(2, 9, low=0.1, high=2.9, dtype=torch.float64)
    direction = uniform(2, 9, 2, low=-3, high=3, dtype=torch.float64)
    given = [t.requires_grad_() for t in (x, centers, lod, direction)]
    words = {"padding": padding, "mode": mode}
    pyramid = sc.TexturePyramid(x, levels=4, odd=odd)
    levels = reference.generate_mipmaps(x, 4, odd=odd)
    plan = sc.PatchPlan(centers, lod, patch_size=4)
    for mine, theirs in (
        (sc.sample_patches(pyramid, plan, **words), reference.sample_patches(levels, centers, lod, 4, **words)),
        (
            sc.sample_anisotropic(pyramid, plan, direction, **words),
            reference.sample_anisotropic(levels, centers, lod, direction, 4, **words),
        ),
        (sc.sample(pyramid, centers, lod, **words), reference.sample(levels, centers, lod, **words)),
    ):
        assert (mine - theirs).abs().max() < 1e-11
        found, want = (
            torch.autograd.grad((made * theirs.detach().cos()).sum(), given, allow_unused=True, retain_graph=True)
            for made in (mine, theirs)
        )
        for one, other in zip(found, want, strict=True):
            if other is not None:
                assert (one - other).abs().max() <= 1e-9 * max(1, other.abs().max())


@pytest.mark.parametrize("padding", REPEATED)
def test_gradcheck(padding):
    x = image(1, 2, 8, 8, dtype=torch.float64).requires_grad_()
    uv = uniform(1, 7, 2, low=-1.5, high=2.5, dtype=torch.float64).requires_grad_()
    lod = uniform(1, 7, low=0.1, high=1.9, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda a, b, c: sc.TexturePyramid(a, levels=3).sample(b, c, padding=padding), (x, uv, lod)
    )


def test_arrays_operators_and_methods_take_the_same_words():
    x, uv = image(3, 32, 40), uniform(64, 2, low=-1, high=2)
    words = {"padding": "mirror", "mode": "nearest"}
    want = sc.sample(sc.TexturePyramid(x), uv, 1.5, **words)
    assert np.array_equal(sc.sample(sc.TexturePyramid(x.numpy()), uv.numpy(), 1.5, **words), want.numpy())
    mapped = torch.vmap(lambda at: sc.sample(sc.TexturePyramid(x), at, 1.5, **words), out_dims=1)(uv)
    assert torch.equal(mapped, want)
    patches = sc.TexturePyramid(x).sample_foveated((0.0, 0.0), tokens=20, **words)
    assert torch.isfinite(patches).all()
    level = sc.TexturePyramid(x).sample_at_level(1, uv[None, :4][0], **words)
    assert level.shape == (4, 3, 16, 16)


def test_words_that_do_not_exist_are_refused():
    pyramid, uv = sc.TexturePyramid(image(3, 8, 8)), uniform(4, 2)
    with pytest.raises(ValueError, match="padding"):
        pyramid.sample(uv, padding="reflect")
    with pytest.raises(ValueError, match="mode"):
        pyramid.sample(uv, mode="bicubic")
