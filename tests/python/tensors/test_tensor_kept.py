"""What is kept between calls: in which grad mode it was made, who may write it, and that writes are counted."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade.tensors._call import values as _values  # noqa: E402
from tensor_support import DEVICES, image, uniform  # noqa: E402

INPLACE = "modified by an inplace operation"


# ---- Inference mode: validate first, then train ----------------------------------------------------------------------


def test_lattice_that_planned_under_inference_mode_trains():
    x = image(3, 64, 64).requires_grad_()
    for dtype in (torch.float32, torch.float64):
        for kind in ("nested", "grid", "uniform"):
            lattice = sc.Lattice(kind, tokens=40, size=(64, 64))
            fixation = uniform(2, dtype=dtype)
            with torch.inference_mode():
                lattice.plan(fixation, snap=False)
            fixation.requires_grad_(kind != "uniform")
            patches, plan = sc.sample_foveated(sc.TexturePyramid(x), fixation, lattice, snap=False, return_plan=True)
            assert not plan.lod.is_inference()
            (patches.square().mean() + (plan.lod * patches.mean()).sum()).backward()
            assert x.grad is not None


def test_defaults_that_were_first_used_under_inference_mode_train():
    _values._constants.cache_clear()
    x, fixation = image(3, 80, 48), torch.tensor([0.3, 0.4])
    with torch.inference_mode():
        sc.sample_foveated(sc.TexturePyramid(x), fixation, tokens=33, snap=False, normalize="clip")
    x.requires_grad_()
    fixation.requires_grad_()
    patches = sc.sample_foveated(sc.TexturePyramid(x), fixation, tokens=33, snap=False, normalize="clip")
    patches.square().mean().backward()
    assert x.grad is not None
    assert fixation.grad is not None


def test_parts_of_a_plan_that_were_first_read_under_inference_mode_train():
    lattice, weight = sc.Lattice(tokens=40, size=(64, 64)), torch.ones(()).requires_grad_()
    lattice.plan(uniform(2, dtype=torch.float64))
    plans = [lattice.plan(uniform(2, dtype=torch.float64)), sc.PatchPlan(uniform(4, 2), 0.5, size=(64, 64))]
    with torch.inference_mode():
        assert all(plan.coverage.numel() and plan.lod.numel() for plan in plans)
    for plan in plans:
        (weight * plan.coverage).sum().backward()
        (weight * plan.lod).sum().backward()


def test_textures_that_were_made_under_inference_mode_take_frames_outside():
    frame = image(3, 40, 40, dtype=torch.uint8)
    with torch.inference_mode():
        pool = sc.TexturePool(2, size=(40, 40))
        textures = [sc.TexturePyramid.create_persistent((40, 40)), pool.acquire(), pool.acquire()]
        stack = sc.channels.ChannelStack((40, 40), ["luma", "age"])
    for texture in textures:
        texture.update(frame)
        assert torch.equal(texture.level(0), frame)
        with torch.inference_mode():
            texture.update(255 - frame)
        texture.level(0).zero_()
        texture.update_mipmaps_incremental()
        assert not texture.level(2).any()
    stack.update(frame)
    damage = textures[0].update(frame)
    with torch.inference_mode():
        assert int(damage.count) == 9
    (torch.ones(()).requires_grad_() * damage.count).backward()


# ---- What a pyramid recorded -----------------------------------------------------------------------------------------


def pyramids_of(x):
    """Pyramids of an image, made while nothing is recorded."""
    with torch.no_grad():
        return {
            "an image": sc.TexturePyramid(x),
            "levels": sc.TexturePyramid.from_levels([x, *sc.generate_mipmaps(x.detach(), 3)[1:]]),
        }


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 3, 32, 32)])
@pytest.mark.parametrize("name", ["an image", "levels"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_pyramid_made_under_no_grad_gives_its_image_a_gradient(shape, name, when):
    x = image(*shape).requires_grad_(when == "before")
    pyramid = pyramids_of(x)[name]
    plan = sc.PatchPlan(uniform(4, 2), uniform(4))
    with torch.no_grad():
        pyramid.level(0)
    x.requires_grad_()
    fresh = sc.TexturePyramid(x) if name == "an image" else None
    for call in (
        lambda p: p.sample_patches(plan),
        lambda p: p.sample_patches(plan, padding="zeros"),
        lambda p: p.sample_patches(plan, normalize="clip"),
        lambda p: p.sample_foveated((0.3, 0.4)),
        lambda p: p.sample(plan.centers if len(shape) == 3 else plan.centers[None], 0.7),
        lambda p: p.level(0) * 2,
        lambda p: p.level(2),
    ):
        if name == "levels" and call(pyramid).grad_fn is None:
            continue  # its level 2 is no part of x
        (found,) = torch.autograd.grad(call(pyramid).square().sum(), x)
        if fresh is not None:
            assert torch.equal(found, torch.autograd.grad(call(fresh).square().sum(), x)[0])
        assert found.any()


def test_pyramid_of_an_image_that_c_cannot_read_gives_it_a_gradient():
    for shape in ((3, 32, 32), (1, 3, 32, 32)):
        x = torch._neg_view(image(*shape))
        pyramid = sc.TexturePyramid(x)
        x.requires_grad_()
        plan = sc.PatchPlan(uniform(4, 2), uniform(4))
        (found,) = torch.autograd.grad(pyramid.sample_patches(plan).square().sum(), x)
        (expected,) = torch.autograd.grad(sc.TexturePyramid(x).sample_patches(plan).square().sum(), x)
        assert torch.equal(found, expected)


def test_levels_of_which_one_alone_learns_give_it_a_gradient():
    levels = sc.generate_mipmaps(image(3, 32, 32), 3)
    levels[1] = levels[1].clone().requires_grad_()
    plan = sc.PatchPlan(uniform(4, 2), 0.7)
    found = [
        torch.autograd.grad(sc.sample_patches(pyramid, plan).square().sum(), levels[1])[0]
        for pyramid in (levels, sc.TexturePyramid.from_levels(levels))
    ]
    assert torch.equal(*found)


# ---- Writes are counted ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_writing_out_that_autograd_saved_is_told(device):
    pyramid = sc.TexturePyramid(image(3, 64, 64).to(device))
    lattice = sc.Lattice(tokens=30, size=(64, 64))
    plan = lattice.plan((0.3, 0.4), device=device)
    weight = torch.ones((), device=device).requires_grad_()
    out = torch.zeros(len(lattice), 3, 16, 16, device=device)
    for write in (
        lambda: sc.sample_patches(pyramid, plan, out=out),
        lambda: sc.sample_patches(pyramid, plan, out=out, normalize="clip"),
        lambda: sc.sample_at_level(pyramid, 1, plan.centers, out=out),
        lambda: sc.sample_anisotropic(pyramid, plan, (2.0, 1.0), out=out),
        lambda: sc.sample_foveated(pyramid, (0.5, 0.5), lattice, out=out),
    ):
        made = (weight * out).sum()
        with torch.no_grad():
            write()
        with pytest.raises(RuntimeError, match=INPLACE):
            made.backward()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("level", [0, 2])
def test_updating_a_texture_whose_level_autograd_saved_is_told(device, level):
    texture = sc.TexturePyramid.create_persistent((40, 40), dtype=torch.float32, device=device)
    weight = torch.ones((), device=device).requires_grad_()
    frames = [image(3, 40, 40, seed=seed).to(device) for seed in range(4)]
    texture.update(frames[0])
    texture.update(frames[1])
    mask = torch.ones(40, 40, dtype=torch.bool, device=device)
    writes = [
        lambda: texture.update(frames[2]),
        lambda: texture.update_partial(frames[3], mask),
        lambda: (texture.clear(), texture.update(frames[0])),
    ]
    if level:
        writes += [
            lambda: texture.update_mipmaps_incremental(mask),
            texture.update_mipmaps_incremental,
            texture.generate_mipmaps,
        ]
    for write in writes:
        made = (weight * texture.level(level)).sum()
        write()
        with pytest.raises(RuntimeError, match=INPLACE):
            made.backward()
    made = (weight * texture.level(0)).sum()
    texture.update_mipmaps_incremental()  # does not write level 0
    made.backward()


def test_writes_into_inference_tensors_are_not_counted():
    pyramid, plan = sc.TexturePyramid(image(3, 32, 32)), sc.PatchPlan(uniform(4, 2), 0.5)
    with torch.inference_mode():
        out = torch.zeros(4, 3, 16, 16)
        sc.sample_patches(pyramid, plan, out=out)
    assert torch.equal(sc.sample_patches(pyramid, plan, out=out), pyramid.sample_patches(plan))


# ---- Plans have memory of their own ----------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", ["nested", "uniform"])
def test_writing_a_plans_lod_leaves_other_plans_alone(kind, device):
    lattice = sc.Lattice(kind, tokens=60, size=(256, 256))
    for shape in ((2,), (1, 2), (3, 2)):
        for snap in (True, False):
            fixation = uniform(*shape, dtype=torch.float64).to(device)
            expected = lattice.plan(fixation, snap=snap).lod.clone()
            before = lattice.plan(fixation, snap=snap)
            plan = lattice.plan(fixation, snap=snap)
            plan.lod.add_(1)
            (plan.lod if plan.lod.ndim == 1 else plan.lod[0]).add_(1)
            assert torch.equal(lattice.plan(fixation, snap=snap).lod, expected)
            assert torch.equal(before.lod, expected)


def test_plan_whose_lod_was_written_is_sampled_by_it():
    pyramid, lattice = sc.TexturePyramid(image(3, 64, 64)), sc.Lattice(tokens=30, size=(64, 64))
    plan = lattice.plan(torch.tensor([0.3, 0.4], dtype=torch.float64))
    first = pyramid.sample_patches(plan)
    plan.lod.fill_(2.0)
    assert torch.equal(pyramid.sample_patches(plan), pyramid.sample_at_level(2, plan.centers))
    assert not torch.equal(pyramid.sample_patches(plan), first)
    plan.lod = torch.ones_like(plan.lod)
    assert torch.equal(pyramid.sample_patches(plan), pyramid.sample_at_level(1, plan.centers))


def test_lattices_plan_made_outside_is_sampled_in_a_graph():
    torch._dynamo.reset()
    plan = sc.Lattice(tokens=30, size=(64, 64)).plan(torch.tensor([0.3, 0.4], dtype=torch.float64))
    x = image(3, 64, 64, dtype=torch.float64)

    def sampled(x):
        return sc.TexturePyramid(x).sample_patches(plan), plan.lod

    patches, lod = torch.compile(sampled, fullgraph=True, backend="aot_eager")(x)
    assert torch.equal(patches, sampled(x)[0])
    assert torch.equal(lod, plan.lod)
