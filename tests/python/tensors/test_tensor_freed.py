"""Memory that was freed behind a tensor's back is refused, never read. Levels follow memory that was replaced."""

from __future__ import annotations

import copy

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

TWICE = range(2)  # the second call of a shape takes a shorter way


def double(parameter):
    parameter.data = parameter.data.double()


def another(parameter):
    parameter.data = torch.full_like(parameter, 7.0)


def smaller(parameter):
    parameter.data = torch.full((1, 3, 4, 4), 7.0)


def freed(parameter):
    parameter.untyped_storage().resize_(0)


@pytest.mark.parametrize("swap", [double, another, smaller, freed])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("warm", [True, False])
def test_levels_follow_an_image_whose_memory_was_replaced(swap, batched, learns, warm):
    shape = (1, 3, 64, 64) if batched else (3, 64, 64)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    if warm:
        for _ in TWICE:
            sc.TexturePyramid(image(*shape).requires_grad_(learns)).sample_patches(plan)
    for call in (
        lambda made: made.sample_patches(plan),
        lambda made: made.sample(plan.centers if made.shape[:1] == (1,) else plan.centers[0], 1.5),
        lambda made: made.sample_foveated((0.5, 0.5), patch_size=2),
        lambda made: made.sample_anisotropic(plan, (2.0, 0.0)),
        lambda made: made.level(1),
        lambda made: torch.vmap(lambda uv: made.sample(uv[None]))(plan.centers),
    ):
        parameter = torch.nn.Parameter(image(*shape), requires_grad=learns)
        pyramid = sc.TexturePyramid(parameter)
        swap(parameter)
        if swap is freed:
            for _ in TWICE:
                with pytest.raises(ValueError, match="was freed"):
                    call(pyramid)
            continue
        expected = call(sc.TexturePyramid(parameter.detach().clone()))
        for _ in TWICE:
            made = call(pyramid)
            assert torch.equal(made, expected)
            assert made.requires_grad == learns


@pytest.mark.parametrize("batched", [True, False])
def test_generate_mipmaps_takes_the_memory_that_the_image_has_now(batched):
    module = torch.nn.Module()
    module.texture = torch.nn.Parameter(image(1, 3, 32, 32) if batched else image(3, 32, 32))
    pyramid = sc.TexturePyramid(module.texture, levels=3, odd="floor")
    module.double()
    pyramid.generate_mipmaps()
    assert pyramid.dtype == torch.float64
    assert torch.equal(pyramid.level(1), F.avg_pool2d(module.texture, 2))


def test_memory_that_was_replaced_before_the_backward_is_refused():
    parameter = torch.nn.Parameter(image(1, 3, 64, 64))
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    for _ in range(3):
        patches = sc.TexturePyramid(parameter).sample_patches(plan)
    parameter.data = torch.zeros(1, 3, 4, 4)
    with pytest.raises(RuntimeError, match="replaced between the sampling and its backward"):
        patches.sum().backward()


def test_texture_that_stays_refuses_to_work_in_memory_that_was_freed():
    frame, mask = image(3, 40, 40, dtype=torch.uint8), torch.ones(40, 40, dtype=torch.bool)
    for batch in (None, 1):
        texture = sc.TexturePyramid.create_persistent((40, 40), batch=batch)
        frames = frame if batch is None else frame[None]
        for _ in range(3):
            texture.update(frames)
        texture.level(0).untyped_storage().resize_(0)
        for call in (
            lambda texture=texture, frames=frames: texture.update(frames),
            lambda texture=texture, frames=frames: texture.update_partial(frames, mask),
            lambda texture=texture: texture.update_mipmaps_incremental(),
            lambda texture=texture: texture.update_mipmaps_incremental(mask),
            lambda texture=texture: texture.generate_mipmaps(),
            lambda texture=texture: texture.sample(uniform(4, 2) if texture.shape[:1] == (3,) else uniform(1, 4, 2)),
        ):
            with pytest.raises(ValueError, match="was replaced or freed; make another by create_persistent"):
                call()


def shrunk(level):
    level.untyped_storage().resize_(16)


@pytest.mark.parametrize("lose", [freed, shrunk])
@pytest.mark.parametrize("number", [1, 2, -1])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("warm", [True, False])
def test_level_whose_memory_was_freed_is_made_again(lose, number, batched, learns, warm):
    shape = (1, 3, 64, 64) if batched else (3, 64, 64)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    picture = image(*shape).requires_grad_(learns)
    for call in (
        lambda made: made.sample_patches(plan),
        lambda made: made.sample_patches(plan, padding="zeros"),
        lambda made: made.sample(plan.centers if batched else plan.centers[0], 1.5),
        lambda made: made.sample_foveated((0.5, 0.5), patch_size=4),
        lambda made: made.sample_anisotropic(plan, (2.0, 0.0)),
        lambda made: made.generate_mipmaps().sample_patches(plan),
    ):
        pyramid = sc.TexturePyramid(picture)
        for _ in range(3 if warm else 1):
            expected = call(pyramid).detach().clone()
        lose(pyramid.level(number).detach())
        for _ in TWICE:
            assert torch.equal(call(pyramid), expected)


def test_level_of_given_levels_whose_memory_was_freed_is_refused():
    levels, plan = sc.generate_mipmaps(image(1, 3, 32, 32), 3), sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    pyramid = sc.TexturePyramid.from_levels(levels)
    pyramid.sample_patches(plan)
    freed(pyramid.level(2))
    for given in (pyramid, levels):
        with pytest.raises(ValueError, match="was freed"):
            sc.sample_patches(given, plan)


def test_level_whose_memory_was_freed_before_the_backward_is_refused():
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    for lose in (lambda x, _: freed(x.detach()), lambda _, made: freed(made.level(1).detach())):
        for _ in range(3):  # by each way of a call
            x = image(1, 3, 64, 64).requires_grad_()
            pyramid = sc.TexturePyramid(x)
            patches = pyramid.sample_patches(plan)
            lose(x, pyramid)
            with pytest.raises(ValueError, match="was freed, .* between the sampling and its backward"):
                patches.sum().backward()
    centers = uniform(1, 4, 2).requires_grad_()
    for _ in range(3):
        patches = sc.TexturePyramid(image(1, 3, 64, 64)).sample_patches(sc.PatchPlan(centers, plan.lod))
        lod = plan.lod.clone()
        other = sc.TexturePyramid(image(1, 3, 64, 64)).sample_patches(sc.PatchPlan(centers, lod))
        freed(lod)
        with pytest.raises(ValueError, match="was freed"):
            other.sum().backward()
        patches.sum().backward()


def test_levels_of_a_texture_that_stays_are_refused_once_freed():
    frame, mask = image(3, 40, 40, dtype=torch.uint8), torch.ones(40, 40, dtype=torch.bool)
    for count in (7, None):
        texture = sc.TexturePyramid.create_persistent((40, 40), levels=count)
        for _ in range(3):
            texture.update(frame)
        freed(texture.level(1))
        for call in (
            lambda texture=texture: texture.update(255 - frame),
            lambda texture=texture: texture.update_partial(frame, mask),
            lambda texture=texture: texture.update_mipmaps_incremental(),
            lambda texture=texture: texture.update_mipmaps_incremental(mask),
            lambda texture=texture: texture.generate_mipmaps(),
            lambda texture=texture: texture.sample_patches(sc.PatchPlan(uniform(4, 2), uniform(4))),
            lambda texture=texture: texture.level(2),
            lambda texture=texture: copy.deepcopy(texture),
        ):
            with pytest.raises(ValueError, match="was replaced or freed; make another by create_persistent"):
                call()


def test_level_of_numpy_arrays_that_was_freed_is_made_again():
    pyramid = sc.TexturePyramid(image(3, 32, 32).numpy().copy())
    plan = sc.PatchPlan(uniform(4, 2).numpy(), uniform(4).numpy())
    expected = pyramid.sample_patches(plan)
    level = pyramid.level(1)
    while level.base is not None:
        level = level.base
    level.resize(0, refcheck=False)
    assert (pyramid.sample_patches(plan) == expected).all()


def test_views_into_memory_that_was_freed_are_refused():
    """Their own addresses are not 0."""
    pyramid, texture = (
        sc.TexturePyramid(image(1, 3, 16, 16)),
        sc.TexturePyramid.create_persistent((16, 16), batch=1, dtype=torch.float32),
    )

    def gone(values):
        both = torch.stack([values, values])
        view = both[1]
        freed(both)
        return view

    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    for seed in range(3):
        pyramid.sample_patches(plan)
        texture.update(image(1, 3, 16, 16, seed=seed))
        sc.generate_mipmaps(image(1, 3, 16, 16), 3)
        for name in ("centers", "lod"):
            lost = sc.PatchPlan(plan.centers, plan.lod)
            setattr(lost, name, gone(getattr(plan, name)))
            with pytest.raises(ValueError, match="was freed"):
                pyramid.sample_patches(lost)
        for call in (
            lambda: sc.TexturePyramid(gone(image(1, 3, 16, 16))),
            lambda: sc.generate_mipmaps(gone(image(1, 3, 16, 16)), 3),
            lambda: texture.update(gone(image(1, 3, 16, 16))),
            lambda: sc.sample([gone(image(1, 3, 16, 16))], uniform(1, 4, 2)),
            lambda: pyramid.sample(gone(uniform(1, 4, 2))),
        ):
            with pytest.raises(ValueError, match="was freed"):
                call()


def test_tensors_whose_memory_was_freed_are_refused():
    field = [uniform(5, 2), uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1)]
    pyramid = sc.TexturePyramid(image(1, 3, 16, 16))
    texture = sc.TexturePyramid.create_persistent((16, 16), batch=1, dtype=torch.float32)

    def gone(values):
        values = values.clone()
        values.untyped_storage().resize_(0)
        return values

    for _ in range(3):
        sc.gaussian_field(*field)
        texture.update(image(1, 3, 16, 16))
        pyramid.sample_patches(sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4)))
        plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
        plan.centers.untyped_storage().resize_(0)
        for call in (
            lambda: sc.gaussian_field(gone(field[0]), *field[1:]),
            lambda: sc.gaussian_field(*field[:3], gone(field[3])),
            lambda: sc.generate_mipmaps(gone(image(1, 3, 16, 16)), 3),
            lambda: sc.TexturePyramid(gone(image(1, 3, 16, 16))),
            lambda: sc.sample([gone(image(1, 3, 16, 16))], uniform(1, 4, 2)),
            lambda: pyramid.sample(gone(uniform(1, 4, 2))),
            lambda plan=plan: pyramid.sample_patches(plan),
            lambda: texture.update(gone(image(1, 3, 16, 16))),
        ):
            with pytest.raises(ValueError, match="was freed"):
                call()


def whole(values):
    values = values.clone()
    freed(values)
    return values


def at_an_offset(values):
    both = torch.stack([values, values])
    view = both[1]
    freed(both)
    return view


def with_gaps(values):
    both = torch.stack([values, values], -1)
    view = both[..., 1]
    freed(both)
    return view


def channels_of(frame):
    stack = sc.channels.ChannelStack((16, 16), ["rgb", sc.channels.slot("x", 1)], frame_dtype=torch.float32)
    stack.update(frame)
    return stack


def texture_of(frame):
    texture = sc.TexturePyramid.create_persistent((16, 16), dtype=torch.float32)
    texture.update(frame)
    return texture


PICTURE, PLAN = image(1, 3, 16, 16), (uniform(1, 4, 2), uniform(1, 4))
FIELD = (uniform(5, 2), uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1))
BATCHED = tuple(each[None] for each in FIELD)
MASK = torch.ones(16, 16, dtype=torch.bool)
CALLS = {
    "gaussian_field": (sc.gaussian_field, FIELD),
    "gaussian_field_of_batches": (sc.gaussian_field, (BATCHED[0].repeat(2, 1, 1), *BATCHED[1:])),
    "gaussian_field_of_halves": (sc.gaussian_field, tuple(each.half() for each in FIELD)),
    "gaussian_field_of_one_channel": (sc.gaussian_field, (*FIELD[:3], uniform(4))),
    "mahalanobis": (sc.mahalanobis, FIELD[:3]),
    "mahalanobis_of_batches": (sc.mahalanobis, (BATCHED[0].repeat(2, 1, 1), *BATCHED[1:3])),
    "generate_mipmaps": (lambda x: sc.generate_mipmaps(x, 3), (PICTURE,)),
    "pyramid": (sc.TexturePyramid, (PICTURE,)),
    "levels": (lambda x, y: sc.sample([x, y], *PLAN), (PICTURE, image(1, 3, 8, 8))),
    "sample": (lambda uv, lod: sc.TexturePyramid(PICTURE).sample(uv, lod), PLAN),
    "sample_patches": (lambda uv, lod: sc.TexturePyramid(PICTURE).sample_patches(sc.PatchPlan(uv, lod)), PLAN),
    "sample_anisotropic": (
        lambda uv, lod, to: sc.TexturePyramid(PICTURE).sample_anisotropic(sc.PatchPlan(uv, lod), to),
        (*PLAN, uniform(1, 4, 2)),
    ),
    "sample_foveated": (lambda uv: sc.TexturePyramid(PICTURE).sample_foveated(uv, patch_size=4), (uniform(1, 2),)),
    "lattice": (sc.Lattice("nested", size=(64, 64)).plan, (uniform(3, 2),)),
    "update": (lambda x: texture_of(PICTURE[0]).update(x), (PICTURE[0],)),
    "first_update": (texture_of, (PICTURE[0],)),
    "update_partial": (lambda x, mask: texture_of(PICTURE[0]).update_partial(x, mask), (PICTURE[0], MASK)),
    "update_mipmaps_incremental": (lambda mask: texture_of(PICTURE[0]).update_mipmaps_incremental(mask), (MASK,)),
    "channels_update": (lambda x: channels_of(PICTURE[0]).update(x), (PICTURE[0],)),
    "channels_look": (lambda uv: channels_of(PICTURE[0]).look(uv), (uniform(2),)),
    "channels_set": (lambda x: channels_of(PICTURE[0]).set("x", x), (uniform(8, 8),)),
    "pca": (lambda x: sc.channels.pca(x, 2), (uniform(1, 4, 8, 8),)),
    "stream_frames": (lambda x: sc.Stream([x], device="cpu"), ((PICTURE[0] * 255).byte(),)),
    "paint": (
        lambda patches, geometry: sc.paint(patches, geometry, size=(16, 16)),
        (torch.zeros(4, 3, 4, 4, dtype=torch.uint8), torch.full((4, 4), 0.5)),
    ),
}


@pytest.mark.parametrize("lose", [whole, at_an_offset, with_gaps])
@pytest.mark.parametrize("name", CALLS)
def test_argument_whose_memory_was_freed_is_refused_by_name(name, lose):
    call, arguments = CALLS[name]
    for warm in range(3):
        for index in range(len(arguments)):
            given = [each.clone() for each in arguments]
            given[index] = lose(given[index])
            with pytest.raises(ValueError, match="was freed"):
                call(*given)
        for _ in range(warm):
            call(*arguments)
