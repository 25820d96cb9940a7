"""The first documents' uses of a texture pyramid, as they were written down: `import pysaccade as texturevlm`."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT, import_or_skip

torch = import_or_skip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves with the next version:DeprecationWarning")
import pysaccade as texturevlm  # noqa: E402
from tensor_support import image, uniform  # noqa: E402


def test_basic():
    frame = image(3, 128, 160)
    tex = texturevlm.TexturePyramid(frame, levels=7)
    tex.generate_mipmaps()
    assert tex.level(3).shape == (3, 16, 20)
    late = texturevlm.TexturePyramid(levels=7)
    late.generate_mipmaps(frame)
    assert torch.equal(late.level(3), tex.level(3))
    mips = texturevlm.generate_mipmaps(frame[None], levels=5)
    pooled = frame[None]
    for level in mips[1:]:
        pooled = torch.nn.functional.avg_pool2d(pooled, 2)
        assert torch.equal(level, pooled)


def test_foveated():
    tex = texturevlm.TexturePyramid(image(3, 256, 256), levels=7)
    patches = tex.sample_foveated(fixation=(0.5, 0.5), num_patches=256, patch_size=16, M0=1.0, e0=0.5, unit="uv")
    assert patches.shape == (256, 3, 16, 16)
    patches, plan = tex.sample_foveated((0.3, 0.6), return_plan=True)
    assert patches.shape == (len(plan), 3, 16, 16)
    assert len(plan) <= 273


def test_batch_of_32():
    images, fixations = image(32, 3, 64, 64), uniform(32, 2)
    tex = texturevlm.TexturePyramid(images, levels=5)
    patches = tex.sample_foveated(fixations, num_patches=40)
    assert patches.shape[0] == 32
    for n in (0, 17, 31):
        alone = texturevlm.TexturePyramid(images[n], levels=5).sample_foveated(fixations[n], num_patches=40)
        assert torch.equal(patches[n], alone)


def test_persistent_video_loop():
    tex = texturevlm.TexturePyramid.create_persistent(resolution=(160, 128), levels=7)
    frame = image(3, 128, 160, dtype=torch.uint8)
    for step in range(4):
        frame = frame.clone()
        frame[:, 16 * step : 16 * step + 8, 40:48] += 50
        changed = (frame != tex.level(0)).any(0)
        damage = tex.update_partial(frame, changed) if step % 2 else tex.update(frame)
        tex.update_mipmaps_incremental(damage)
        patches = tex.sample_foveated((0.4, 0.2 + 0.1 * step), num_patches=60)
        assert torch.equal(
            patches, texturevlm.TexturePyramid(frame).sample_foveated((0.4, 0.2 + 0.1 * step), num_patches=60)
        )


def test_autograd():
    frame = image(1, 3, 64, 64).requires_grad_()
    fixation = torch.tensor([[0.45, 0.55]], requires_grad=True)
    tex = texturevlm.TexturePyramid(frame, levels=5)
    patches, _ = texturevlm.sample_foveated(tex, fixation, num_patches=40, snap=False)
    patches.square().mean().backward()
    assert float(frame.grad.abs().sum()) > 0
    assert float(fixation.grad.abs().sum()) > 0


def test_hybrid_is_exact_where_a_gradient_is_asked_for():
    frame = image(1, 3, 64, 64)
    plan = texturevlm.Lattice(size=(64, 64), patches=40, levels=5).plan((0.5, 0.5))
    exact = texturevlm.TexturePyramid(frame, levels=5).sample_patches(plan)
    learns = texturevlm.TexturePyramid(frame.clone().requires_grad_(), levels=5, filtering="hybrid")
    assert torch.equal(learns.sample_patches(plan).detach(), exact)
    with torch.no_grad():
        assert (learns.sample_patches(plan) - exact).abs().max() <= 2 / 255


def test_pool():
    pool = texturevlm.TexturePool(count=2, resolution=(64, 48), levels=5)
    frame = image(3, 48, 64, dtype=torch.uint8)
    with pool.acquire() as tex, pool.acquire():
        tex.update(frame)
        assert tex.sample_at_level(1, torch.tensor([[0.5, 0.5]])).shape == (1, 3, 16, 16)
        with pytest.raises(texturevlm.UnavailableError, match="pool of 2 exhausted"):
            pool.acquire()
    assert pool.available == 2


def test_forty_channels():
    tex = texturevlm.TexturePyramid(image(40, 1024, 1024, dtype=torch.float16), levels=5)
    patches = tex.sample_foveated((0.5, 0.5), num_patches=273)
    assert patches.shape[1:] == (40, 16, 16)


def test_anisotropic_text():
    tex = texturevlm.TexturePyramid(image(3, 128, 128), levels=5)
    plan = texturevlm.PatchPlan(torch.tensor([[0.5, 0.5], [0.3, 0.7]]), 1.0)
    assert tex.sample_anisotropic(plan, texturevlm.text_direction(tex, plan, ratio=4.0)).shape == (2, 3, 16, 16)


def test_learnable_gaussian_field():
    field = texturevlm.GaussianField(num_gaussians=64, volume_size=(16, 16, 16), use_full_cov=True)
    points = torch.rand(100, 3) * 16
    target = (points[:, 0] > 8).float()
    optimizer = torch.optim.Adam(field.parameters(), lr=0.05)
    first = last = 0.0
    for step in range(25):
        optimizer.zero_grad()
        loss = (field(points) - target).square().mean()
        loss.backward()
        optimizer.step()
        first, last = (float(loss.detach()), last) if step == 0 else (first, float(loss.detach()))
    assert last < first


def test_page_of_tensors_runs_as_printed():
    text = (ROOT / "docs" / "TENSORS.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    exec("\n".join(blocks), {})
