"""Ends of the tensor operations: edges of images, numbers that are none, more levels or blocks than one launch has."""

from __future__ import annotations

import contextlib

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import DEVICES, DTYPES, exact, generator, image, uniform  # noqa: E402


def same_levels(one, other) -> bool:
    return all(torch.equal(exact(a).cpu(), exact(b).cpu()) for a, b in zip(one, other, strict=True))


def levels_of(texture):
    return [texture.level(n) for n in range(texture.levels)]


# ---- Edges -----------------------------------------------------------------------------------------------------------


def edge_places(size):
    """Along one axis: at texels' centres, at both ends and one texel beyond, and between them; exact in f32."""
    return torch.tensor([-1.0, -0.5, 0.0, 0.5, 1.0, size - 1.5, size - 1.0, size - 0.5, size, size + 3.0]) + 0.5


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padding", ["border", "zeros"])
@pytest.mark.parametrize("patch_size", [1, 3])
def test_slope_at_an_edge_is_grid_samples(patch_size, padding, device):
    height, width = 8, 16  # powers of two: no coordinate is rounded on either way
    x = image(1, 2, height, width).to(device)
    columns, rows = torch.meshgrid(edge_places(width) / width, edge_places(height) / height, indexing="xy")
    centers = torch.stack([columns.flatten(), rows.flatten()], -1)[None].to(device).requires_grad_()
    steps = torch.arange(patch_size, device=device) - (patch_size - 1) / 2
    offsets = torch.stack(torch.meshgrid(steps / width, steps / height, indexing="xy"), -1)
    grid = 2 * (centers[:, :, None, None] + offsets) - 1
    want = F.grid_sample(x, grid.flatten(2, 3), align_corners=False, padding_mode=padding)
    want = want.unflatten(-1, (patch_size, patch_size)).transpose(1, 2)
    plan = sc.PatchPlan(centers, torch.zeros(centers.shape[:2], device=device), patch_size=patch_size)
    made = sc.sample_patches([x], plan, padding=padding)
    assert torch.allclose(made, want, atol=1e-6)
    push = image(*made.shape, seed=3).to(device)
    (found,) = torch.autograd.grad(made, centers, push)
    (expected,) = torch.autograd.grad(want, centers, push)
    assert torch.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("padding", ["border", "zeros"])
def test_slope_at_the_first_texel_of_any_level_is_the_definitions(padding, device):
    levels = sc.generate_mipmaps(image(1, 1, 32, 32, dtype=torch.float64).to(device), 4)
    for level in range(4):
        first = 0.5 * 2**level / 32
        uv = torch.tensor([[[first, 0.3], [0.4, first], [1 - first, first]]], dtype=torch.float64, device=device)
        lod = torch.full((1, 3), float(level), dtype=torch.float64, device=device)
        found, want = (
            torch.autograd.grad(call(levels, at, lod, padding=padding).sum(), at)[0]
            for call, at in ((f, uv.clone().requires_grad_()) for f in (sc.sample, sc.reference.sample))
        )
        assert torch.allclose(found, want, atol=1e-9), level
        if padding == "border":
            assert found[0, 0, 0] == 0
            assert found[0, 1, 1] == 0


# ---- Numbers that are none -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("hole", [float("nan"), float("inf")])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype.is_floating_point])
def test_hole_that_stays_is_no_damage(dtype, hole, device):
    texture = sc.TexturePyramid.create_persistent((48, 64), channels=2, dtype=dtype, device=device, levels=5)
    frame = image(2, 48, 64, dtype=dtype)
    frame[:, 5, 5] = hole
    frame[1, 20:30, 40:50] = hole
    texture.update(frame.to(device))
    assert int(texture.update(frame.to(device)).count) == 0
    frame[0, 6, 6] += 1  # beside a hole, in its quad of 4 x 4
    frame[0, 40, 60] = hole
    damage = texture.update(frame.to(device))
    assert damage.tiles.nonzero().tolist() == [[0, 0], [2, 3]]
    assert damage.energy[0, 0].isfinite()
    assert damage.energy[0, 0] > 0
    assert not damage.energy[2, 3].isfinite()
    texture.min_samples = 1
    frame[0, 7, 7] += 1
    assert int(texture.update(frame.to(device)).count) == 0  # one pixel changed; its neighbour is a hole as before


@contextlib.contextmanager
def deterministic():
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def image_gradient(x, plan, push, watched=False):
    """The gradient of patches, by torch.autograd.Function or by the operators."""
    x = x.clone().requires_grad_()
    with deterministic():
        made = sc.TexturePyramid(x, levels=3).sample_patches(plan)
        return torch.autograd.grad(made, x, push, create_graph=watched)[0].detach()


@pytest.mark.cuda
@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("size", [1, 4, 40])
def test_deterministic_gradient_shows_what_overflowed(size, value, watched):
    x = image(1, 3, 64, 64).cuda()
    plan = sc.PatchPlan(uniform(1, 5, 2), uniform(1, 5) * 2, patch_size=size).to("cuda")
    push = image(1, 5, 3, size, size, seed=2).cuda()
    assert image_gradient(x, plan, push, watched).isfinite().all()
    push[0, 2, 1, size // 2, size // 2] = value
    assert not image_gradient(x, plan, push, watched).isfinite().all()
    push.fill_(value)
    assert not image_gradient(x, plan, push, watched).isfinite().all()


@pytest.mark.cuda
def test_scaler_finds_the_overflow_of_a_deterministic_backward():
    x = image(1, 1, 16, 16).cuda().requires_grad_()
    uv = torch.tensor([[[0.5, 0.5]]]).cuda()
    optimizer = torch.optim.SGD([x], lr=1.0)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**127)
    before = x.detach().clone()
    with deterministic():
        scaler.scale(sc.TexturePyramid(x, levels=1).sample(uv).sum() * 16).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(x, before)
    assert scaler.get_scale() < 2.0**127


@pytest.mark.cuda
@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100])
@pytest.mark.parametrize("watched", [False, True])
def test_deterministic_gradient_of_any_size_is_the_cpus(scale, watched):
    x = image(1, 2, 64, 64)
    plan = sc.PatchPlan(uniform(1, 9, 2), uniform(1, 9) * 2, patch_size=8)
    push = (image(1, 9, 2, 8, 8, seed=4) - 0.5) * scale
    want = image_gradient(x, plan, push) / scale
    found = image_gradient(x.cuda(), plan.to("cuda"), push.cuda(), watched).cpu() / scale
    assert want.abs().max() > 0.1
    assert torch.allclose(found, want, atol=1e-5)


@pytest.mark.cuda
@pytest.mark.parametrize("scale", [1e-290, 1e305])
def test_deterministic_gradient_of_doubles_reaches_to_their_ends(scale):
    x = image(1, 1, 16, 16, dtype=torch.float64)
    plan = sc.PatchPlan(uniform(1, 4, 2, dtype=torch.float64), torch.zeros(1, 4, dtype=torch.float64), patch_size=4)
    push = image(1, 4, 1, 4, 4, dtype=torch.float64, seed=5) * scale
    want = image_gradient(x, plan, push) / scale
    found = image_gradient(x.cuda(), plan.to("cuda"), push.cuda()).cpu() / scale
    assert torch.allclose(found, want, atol=1e-9)


@pytest.mark.cuda
def test_deterministic_sum_of_many_samples_in_one_texel_does_not_wrap():
    count = (1 << 24) + 3
    x = torch.ones(1, 1, 1, 1, device="cuda", requires_grad=True)
    uv = torch.full((1, 1, 2), 0.5, device="cuda").expand(1, count, 2).contiguous()
    with deterministic():
        made = sc.TexturePyramid(x, levels=1).sample(uv)
        push = torch.full_like(made, 1.999)
        (found,) = torch.autograd.grad(made, x, push)
    assert abs(float(found) / (count * 1.999) - 1) < 1e-6


# ---- Many levels -----------------------------------------------------------------------------------------------------


def exact_mean(x, level):
    """The texel at (0, 0) of level `level` of an image [H,W] of integers that goes on as its edge."""
    side = 1 << level
    height, width = x.shape
    counts = [torch.ones(n, dtype=torch.int64) for n in (height, width)]
    for count, n in zip(counts, (height, width), strict=True):
        count[-1] += side - n
    total = int((counts[0][:, None] * counts[1] * x.to(torch.int64)).sum())
    return (total + (1 << (2 * level - 1))) >> (2 * level)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16])
def test_sixteen_levels_of_bright_codes_are_their_means(dtype, device):
    x = (image(1, 70, 100, dtype=dtype).to(torch.int32) // 8 + (250 if dtype == torch.uint8 else 60000)).clamp(
        max=255 if dtype == torch.uint8 else 65535
    )
    levels = sc.generate_mipmaps(x.to(dtype).to(device), 16, odd="edge")
    for level in range(7, 16):
        assert int(levels[level].cpu()[0, 0, 0]) == exact_mean(x[0], level)


@pytest.mark.parametrize("device", DEVICES)
def test_levels_above_the_twelfth_are_the_definitions(device):
    x = torch.zeros(1, 1, 9000, device=device)
    x[..., ::7] = 1
    x = x.expand(1, 1, 9000).contiguous()
    levels = sc.generate_mipmaps(x, 15, odd="edge")
    want = sc.reference.generate_mipmaps(x.cpu().expand(1, 1, 9000), 12, odd="edge")
    assert same_levels(levels[:12], want)
    for level in range(12, 15):
        assert levels[level].shape[-1] == -(-9000 >> level)
        assert levels[level].isfinite().all()
        assert (levels[level].min() >= 0) & (levels[level].max() <= 1)


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 2, 70, 100), (1, 1, 3, 70000)])
def test_sixteen_levels_have_the_bits_of_the_cpu(shape, dtype):
    x = image(*shape, dtype=dtype)
    assert same_levels(sc.generate_mipmaps(x, 16, odd="edge"), sc.generate_mipmaps(x.cuda(), 16, odd="edge"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "levels"), [((130, 200), None), ((64, 128), 12), ((50, 70), 16), ((64, 64), 8)])
def test_incremental_is_rebuilt_above_level_six(size, levels, dtype, device):
    texture = sc.TexturePyramid.create_persistent(
        size, channels=2, batch=2, dtype=dtype, levels=levels, odd="edge", device=device
    )
    numbers = generator(3)
    frame = image(2, 2, *size, dtype=dtype)
    for step in range(6):
        texture.update(frame.to(device))
        fresh = sc.TexturePyramid(texture.level(0).clone(), levels=texture.levels, odd="edge")
        assert same_levels(levels_of(texture), levels_of(fresh)), step
        frame = frame.clone()
        y, x = (int(torch.randint(n, (1,), generator=numbers)) for n in size)
        y, x = (size[0] - 1, size[1] - 1) if step == 3 else (y, x)  # the edge goes on
        frame[step % 2, :, y, x] = image(1, dtype=dtype, seed=step)[0]


# ---- More blocks than a grid has -------------------------------------------------------------------------------------


@pytest.mark.cuda
@pytest.mark.parametrize("shape", [(70000,), (256, 300)])
def test_field_of_many_batches_is_the_cpus(shape):
    points, mean = uniform(*shape, 2, 2), uniform(*shape, 3, 2, seed=2)
    tril = (torch.eye(2) * 0.7).expand(*shape, 3, 2, 2).contiguous()
    weight = uniform(*shape, 3, 2, seed=4)
    here = [each.clone().requires_grad_() for each in (points, mean, tril, weight)]
    there = [each.cuda().requires_grad_() for each in (points, mean, tril, weight)]
    made = [sc.gaussian_field(*here), sc.gaussian_field(*there)]
    assert torch.allclose(made[0], made[1].cpu(), atol=1e-5)
    push = image(*made[0].shape, seed=6)
    wanted = torch.autograd.grad(made[0], here, push)
    found = torch.autograd.grad(made[1], there, push.cuda())
    for one, other in zip(wanted, found, strict=True):
        assert torch.allclose(one, other.cpu(), atol=1e-4)
    squares = sc.mahalanobis(points.cuda(), mean.cuda(), tril.cuda()).cpu()
    assert torch.allclose(squares, sc.mahalanobis(points, mean, tril), atol=1e-4)


@pytest.mark.parametrize("device", DEVICES)
def test_field_without_channels_is_empty_and_gives_zeros(device):
    field = [uniform(50, 2), uniform(300, 2, seed=2), torch.eye(2).repeat(300, 1, 1), torch.empty(300, 0)]
    field = [each.to(device).requires_grad_() for each in field]
    made = sc.gaussian_field(*field)
    assert made.shape == (50, 0)
    for gradient, given in zip(torch.autograd.grad(made.sum(), field), field, strict=True):
        assert gradient.shape == given.shape
        assert not gradient.any()


@pytest.mark.cuda
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
@pytest.mark.parametrize(("batch", "size", "levels"), [(70000, (5, 20), 3), (1, (4_300_000, 2), 3)])
def test_texture_of_more_blocks_than_a_grid_has_takes_a_frame(batch, size, levels, dtype):
    texture = sc.TexturePyramid.create_persistent(
        size, channels=1, batch=batch, dtype=dtype, device="cuda", levels=levels, odd="edge"
    )
    frame = torch.zeros(batch, 1, *size, dtype=dtype, device="cuda")
    texture.update(frame)
    frame[-1, 0, -1, -1] = 9
    frame[0, 0, 0, 0] = 5
    tiles, count, _ = texture.update(frame)
    assert int(count) == 2
    assert bool(tiles[0, 0, 0])
    assert bool(tiles[-1, -1, -1])
    for n in range(levels):
        assert torch.equal(texture.level(n), sc.generate_mipmaps(frame.cpu(), levels, odd="edge")[n].cuda()), n


@pytest.mark.cuda
def test_tall_image_has_its_levels_and_gradient():
    height = 4_300_000  # 65,535 blocks are 4.19 million rows of a level, 2.09 million of a gradient
    x = torch.zeros(1, 1, height, 4, device="cuda")
    x[..., -8:, :] = image(8, 4).cuda()
    x.requires_grad_()
    levels = sc.generate_mipmaps(x, 3)
    assert torch.allclose(levels[2][..., -2:, :], F.avg_pool2d(F.avg_pool2d(x[..., -8:, :], 2), 2))
    (gradient,) = torch.autograd.grad(levels[2].sum(), x)
    assert torch.equal(gradient, torch.full_like(gradient, 1 / 16))
