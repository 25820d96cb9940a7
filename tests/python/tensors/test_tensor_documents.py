"""The first documents' calls as they stand there, with `import pysaccade as texturevlm`, and what they mean here."""

from __future__ import annotations

import re

import numpy as np
import pytest

from conftest import ROOT, import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as texturevlm  # noqa: E402
from tensor_support import generator, patches_of, uniform  # noqa: E402
from tensor_support import image as noise  # noqa: E402

FIXATION = (0.3, 0.6)
ROUNDING = 2e-4  # of noise 0 to 1, read at places of f32 in 2048 pixels
SIZES = [(224, 224), (512, 640), (720, 1280), (1024, 1024), (2048, 2048)]


def of_sizes(*options):
    return pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")(*options)


def oracle(image, plan):
    """Patches [N, C, S, S] of a plan, by grid_sample in f64."""
    levels = texturevlm.generate_mipmaps(image.double()[None], 7, odd="edge")
    return patches_of(levels, plan.centers[None], plan.lod[None], plan.patch_size)[0]


# ---- Pyramids --------------------------------------------------------------------------------------------------------


def test_generate_mipmaps():
    image = noise(1, 3, 256, 256)
    mipmaps = texturevlm.generate_mipmaps(image)
    assert len(mipmaps) == 5
    for level, mipmap in enumerate(mipmaps):
        assert torch.allclose(mipmap, F.avg_pool2d(image, 2**level), atol=1e-6)


def test_texture_pyramid_in_two_steps():
    image = noise(3, 256, 256)
    texture = texturevlm.TexturePyramid(image)
    texture.generate_mipmaps()
    assert texture.shape == (3, 256, 256)
    for level in range(5):
        assert torch.allclose(texture.level(level), F.avg_pool2d(image, 2**level), atol=1e-6)


# ---- Patches around a fixation ---------------------------------------------------------------------------------------


@of_sizes
def test_sample_foveated_gives_exactly_273_patches(size):
    texture = texturevlm.TexturePyramid(noise(3, *size))
    fixation = torch.tensor(FIXATION)
    patches = texture.sample_foveated(fixation, num_patches=273)
    assert patches.shape == (273, 3, 16, 16)
    assert torch.equal(patches, texture.sample_foveated(fixation, 273))
    patches, plan = texture.sample_foveated(fixation, 273, return_plan=True)
    assert torch.allclose(patches.double(), oracle(texture.level(0), plan), atol=ROUNDING)
    # In front the patches of the streams' lattice; behind them those that fill up.
    streams = texturevlm.Lattice(tokens=273, size=size).plan(fixation)
    assert torch.equal(plan.centers[: len(streams)], streams.centers)
    assert torch.equal(plan.lod[: len(streams)], streams.lod)
    assert int(plan.visible.sum()) == int((streams.coverage > 0).sum())


@of_sizes
def test_sample_foveated_by_the_documents_law(size):
    texture = texturevlm.TexturePyramid(noise(1, *size))
    fixation = torch.tensor(FIXATION)
    patches = texture.sample_foveated(fixation, num_patches=273, M0=1.0, e0=0.5)
    assert patches.shape == (273, 1, 16, 16)
    found, plan = texture.sample_foveated(fixation, 273, M0=1.0, e0=0.5, return_plan=True)
    assert torch.equal(found, patches)
    away = (plan.centers.double() - fixation.double()).norm(dim=-1)
    lod = (-torch.log2(1.0 / (away + 0.5))).clamp(0, 6)  # lod = -log2(M(e)), M(e) = M0 / (e + e0)
    assert torch.allclose(plan.lod.double(), lod, atol=1e-5)
    assert torch.allclose(patches.double(), oracle(texture.level(0), plan), atol=ROUNDING)
    # 273 cells of about one size, each around its centre.
    assert plan.visible.all()
    assert (plan.coverage >= 0.25).all()
    assert len({tuple(place) for place in plan.centers.tolist()}) == 273
    apart = torch.cdist(plan.centers * torch.tensor(size[::-1]), plan.centers * torch.tensor(size[::-1]))
    nearest = apart.fill_diagonal_(torch.inf).min(0).values
    assert nearest.min() > 0.8 * (size[0] * size[1] / 273) ** 0.5


def test_the_documents_numbers_hold_a_fourteenth_of_a_picture():
    """What docs/TENSORS.md and docs/ORIGINS.md say of M0=1, e0=0.5 at 1024x1024."""
    texture = texturevlm.TexturePyramid(noise(1, 1024, 1024))
    _, plan = texture.sample_foveated((0.5, 0.5), 273, M0=1.0, e0=0.5, return_plan=True)
    assert plan.lod.max() == pytest.approx(0.2, abs=0.03)
    share = ((16 * 2**plan.lod) ** 2 * plan.coverage).sum() / 1024**2
    assert share == pytest.approx(0.07, abs=0.005)


@pytest.mark.parametrize("count", [76, 90, 256, 273, 576])
def test_any_number_of_patches_is_exact(count):
    texture = texturevlm.TexturePyramid(noise(1, 512, 640))
    assert texture.sample_foveated(FIXATION, count).shape == (count, 1, 16, 16)
    assert texture.sample_foveated(FIXATION, count, M0=1.0).shape == (count, 1, 16, 16)
    assert texture.sample_at_level(level=0, num_patches=count).shape == (count, 1, 16, 16)


def test_arrays_give_the_numbers_of_tensors():
    picture = noise(3, 256, 320)
    for options in ({}, {"M0": 1.0, "e0": 0.5}):
        here = texturevlm.TexturePyramid(picture.numpy()).sample_foveated(FIXATION, 273, **options)
        there = texturevlm.TexturePyramid(picture).sample_foveated(FIXATION, 273, **options)
        assert isinstance(here, np.ndarray)
        assert np.allclose(here, there.numpy(), atol=1e-6)


def test_fixations_get_their_gradients():
    picture = noise(1, 64, 64, dtype=torch.float64)
    fixation = torch.tensor([0.31, 0.62], dtype=torch.float64, requires_grad=True)

    def patches(at, **law):
        texture = texturevlm.TexturePyramid(picture, levels=3)
        return texture.sample_foveated(at, num_patches=60, snap=False, patch_size=4, **law)

    assert torch.autograd.gradcheck(lambda at: patches(at, M0=0.4), fixation)
    assert torch.autograd.gradcheck(patches, fixation)


def test_batch_of_32():
    images, fixations = noise(32, 3, 64, 64), uniform(32, 2)
    texture = texturevlm.TexturePyramid(images)
    texture.generate_mipmaps()
    patches = texture.sample_foveated(fixations, num_patches=273)
    assert patches.shape == (32, 273, 3, 16, 16)
    for number in (0, 17, 31):
        alone = texturevlm.TexturePyramid(images[number]).sample_foveated(fixations[number], num_patches=273)
        assert torch.equal(patches[number], alone)


def test_frozen():
    image, fixation = noise(1, 3, 256, 256).requires_grad_(), torch.tensor([FIXATION])
    with torch.no_grad():
        pyramid = texturevlm.generate_mipmaps(image)
        patches = texturevlm.sample_foveated(pyramid, fixation)
    assert patches.shape[2:] == (3, 16, 16)
    assert not patches.requires_grad
    assert torch.equal(patches, texturevlm.TexturePyramid(image, levels=5, odd="floor").sample_foveated(fixation))


def test_compiles_as_it_stands():
    picture = noise(1, 3, 128, 128)

    def patches(image, fixation):
        texture = texturevlm.TexturePyramid(image)
        return texture.sample_foveated(fixation, 273), texture.sample_foveated(
            fixation, num_patches=273, M0=1.0, e0=0.5
        )

    compiled = torch.compile(patches, fullgraph=True, backend="eager")
    at = torch.tensor([FIXATION])
    for found, expected in zip(compiled(picture, at), patches(picture, at), strict=True):
        assert torch.allclose(found, expected, atol=1e-6)


# ---- Text, levels ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", [(4.0, 1.0), (1.0, 4.0), (1.0, 1.0), (2.0, 2.0), (3.0, 0.5)])
def test_sample_anisotropic(orientation):
    """Of a ramp a patch holds the places of its samples: centre + (4 i, 1 j) texels, upright."""
    rows, columns = torch.meshgrid(torch.arange(512.0), torch.arange(640.0), indexing="ij")
    texture = texturevlm.TexturePyramid(torch.stack([columns, rows]))
    fixation, text_orientation = torch.tensor([0.5, 0.5]), torch.tensor(orientation)
    patches = texture.sample_anisotropic(fixation, text_orientation, 273)
    assert patches.shape == (273, 2, 16, 16)
    _, plan = texture.sample_foveated(fixation, 273, return_plan=True)
    steps = torch.arange(16) - 7.5
    clear = plan.coverage == 1
    for axis, at in ((0, steps.expand(16, 16)), (1, steps[:, None].expand(16, 16))):
        pitch = (orientation[axis] * 2**plan.lod).clamp(min=1)
        places = plan.centers[:, axis] * (640, 512)[axis] - 0.5
        expected = places[:, None, None] + pitch[:, None, None] * at
        reach = (16 * 4 * 2 * 2**plan.lod)[clear]  # what a sample averages stays inside
        inside = (places[clear] > reach) & (places[clear] < (640, 512)[axis] - reach)
        for other in (0, 1):
            centre = plan.centers[clear, other] * (640, 512)[other]
            inside &= (centre > reach) & (centre < (640, 512)[other] - reach)
        assert inside.sum() >= 10
        assert torch.allclose(patches[clear, axis][inside], expected[clear][inside], atol=2e-2)


def test_sample_anisotropic_refuses_what_it_can_not_mean():
    texture = texturevlm.TexturePyramid(noise(1, 256, 256))
    with pytest.raises(ValueError, match=r"text_orientation is \(4, 0\); both of its steps must be above 0"):
        texture.sample_anisotropic((0.5, 0.5), (4, 0), 273)
    plan = texturevlm.Lattice(size=(256, 256)).plan((0.5, 0.5), device="cpu")
    with pytest.raises(ValueError, match="num_patches is for a fixation"):
        texture.sample_anisotropic(plan, (4, 0), 273)


@of_sizes
def test_sample_at_level(size):
    texture = texturevlm.TexturePyramid(noise(1, *size))
    patches, plan = texture.sample_at_level(level=0, num_patches=100, return_plan=True)
    assert patches.shape == (100, 1, 16, 16)
    assert torch.equal(patches, texture.sample_at_level(level=0, num_patches=100))
    assert torch.allclose(patches.double(), oracle(texture.level(0), plan), atol=ROUNDING)
    assert torch.allclose(plan.centers.mean(0), torch.tensor([0.5, 0.5]), atol=5e-3)
    if size[0] == size[1]:  # 10 x 10
        cells = [[(i % 10 + 0.5) / 10, (i // 10 + 0.5) / 10] for i in range(100)]
        assert torch.allclose(plan.centers, torch.tensor(cells))
    with pytest.raises(ValueError, match="pass centers, or num_patches"):
        texture.sample_at_level(level=0)


# ---- Textures that stay ----------------------------------------------------------------------------------------------


def test_create_persistent():
    texture = texturevlm.TexturePyramid.create_persistent(resolution=1024)
    assert texture.shape == (3, 1024, 1024)
    frame = noise(3, 1024, 1024, dtype=torch.uint8)
    changed_mask = torch.ones(1024, 1024, dtype=torch.bool)
    texture.update_partial(frame, changed_mask)
    frame = frame.clone()
    frame[:, 100:200, 300:340] = 7
    changed_mask = torch.zeros(1024, 1024, dtype=torch.bool)
    changed_mask[100:200, 300:340] = True
    texture.update_partial(frame, changed_mask)
    texture.update_mipmaps_incremental(changed_mask)
    for found, expected in zip(texture, texturevlm.TexturePyramid(frame), strict=True):
        assert torch.equal(found, expected)
    assert texture.sample_foveated(FIXATION, num_patches=273).shape == (273, 3, 16, 16)


def test_texture_pool():
    pool = texturevlm.TexturePool(resolution=1024, pool_size=2)
    first, second = pool.acquire(), pool.acquire()
    assert first.shape == second.shape == (3, 1024, 1024)
    with pytest.raises(RuntimeError, match="pool of 2 exhausted"):
        pool.acquire()
    pool.release(first)
    assert pool.acquire() is first
    assert len(texturevlm.TexturePool(resolution=1024, pool_size=32)) == 32


@pytest.mark.parametrize("make", [texturevlm.TexturePyramid.create_persistent, texturevlm.TexturePool])
def test_a_resolution_is_wide_and_high_or_a_square(make):
    assert make(resolution=(64, 48)).size == (48, 64)
    assert make(resolution=64).size == (64, 64)
    with pytest.raises(TypeError, match=r"resolution is \(W, H\) or a square's side, not float 64.5"):
        make(resolution=64.5)


# ---- Gaussian fields, OpenGL -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_gaussian_field(device):
    field = texturevlm.CUDALearnableGaussianField(
        num_gaussians=1000, volume_size=10.0, use_full_cov=True, device=device
    )
    with torch.no_grad():
        field.off_diagonal.uniform_(-0.2, 0.2, generator=None)
    points = (torch.rand(64, 3, generator=generator(3)) * 10).to(device)
    values = field(points)
    tril = field.scale_tril.double()
    apart = torch.linalg.solve_triangular(
        tril, (points.double()[:, None] - field.means.double())[..., None], upper=False
    )
    expected = torch.exp(-0.5 * apart.square().sum((-1, -2))) @ field.weights.double()
    assert torch.allclose(values.double(), expected[:, 0], rtol=1e-4, atol=1e-7)
    values.square().mean().backward()
    assert all(parameter.grad.isfinite().all() for parameter in field.parameters())
    plain = texturevlm.GaussianField(1000, 10.0, device=device)
    plain.load_state_dict(field.state_dict())
    assert torch.equal(plain(points), values)


def test_what_needs_a_gpu_says_so():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(
        RuntimeError, match=r"CUDALearnableGaussianField: torch .* finds no GPU for device='cuda'; pass"
    ):
        texturevlm.CUDALearnableGaussianField(num_gaussians=1000, volume_size=10.0, use_full_cov=True)
    with pytest.raises(
        RuntimeError, match=r"GLBuffer: torch .* finds no GPU for device='cuda'; it needs an NVIDIA GPU"
    ):
        texturevlm.GLResource(1)


def test_page_of_tensors_runs_as_printed():
    text = (ROOT / "docs" / "TENSORS.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    exec("\n".join(blocks), {})
