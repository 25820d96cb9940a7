"""Copies of textures: deepcopy and pickle rebuild them from the image; nothing shares addresses."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda made: pickle.loads(pickle.dumps(made))}


@pytest.fixture(params=COPIES)
def copied(request):
    return COPIES[request.param]


@pytest.mark.parametrize("learns", [True, False])
@pytest.mark.parametrize("batched", [True, False])
def test_pyramid_has_an_image_and_levels_of_its_own(copied, batched, learns):
    x = image(2, 3, 32, 32) if batched else image(3, 32, 32)
    pyramid = sc.TexturePyramid(torch.nn.Parameter(x.clone(), requires_grad=learns), levels=3, odd="floor")
    made = copied(pyramid)
    with torch.no_grad():
        pyramid.level(0).zero_()
        pyramid.generate_mipmaps()
    assert torch.equal(made.level(0), x)
    assert torch.equal(made.level(2), F.avg_pool2d(F.avg_pool2d(x, 2), 2))
    at_a_texel = torch.full((2, 1, 2) if batched else (1, 2), 2.0 / 32)
    assert torch.equal(made.sample(at_a_texel, 2.0)[..., 0], made.level(2)[..., 0, 0])
    assert made.level(1).requires_grad == learns


def test_module_and_its_pyramid_are_copied_together():
    module = torch.nn.Module()
    module.texture = torch.nn.Parameter(image(3, 16, 16))
    module.pyramid = sc.TexturePyramid(module.texture)
    made = copy.deepcopy(module)
    made.pyramid.sample(uniform(4, 2)).sum().backward()
    assert made.texture.grad is not None
    assert module.texture.grad is None


def test_other_pyramids_are_copied_as_they_are(copied):
    array = image(3, 32, 32).numpy()
    assert np.array_equal(copied(sc.TexturePyramid(array, levels=2)).level(1), sc.TexturePyramid(array).level(1))
    levels = [image(3, 32, 32).requires_grad_(), image(3, 16, 16, seed=2).requires_grad_()]
    given = copied(sc.TexturePyramid.from_levels(levels))
    assert torch.equal(given.level(1), levels[1])
    with pytest.raises(ValueError, match="not made yet"):
        copied(sc.TexturePyramid(image(3, 8, 8), mips=False)).sample(uniform(4, 2))
    assert "no image yet" in repr(copied(sc.TexturePyramid()))


def test_persistent_texture_goes_on_from_its_last_frame(copied):
    options = {"batch": 2, "threshold": 3, "levels": 4, "odd": "floor", "channels": 1}
    texture = sc.TexturePyramid.create_persistent((40, 50), **options)
    assert copied(texture).update(image(2, 1, 40, 50, dtype=torch.uint8)).tiles.all()
    frame = image(2, 1, 40, 50, dtype=torch.uint8)
    texture.update(frame)
    made = copied(texture)
    assert torch.equal(made.level(3), texture.level(3))
    texture.update(255 - frame)
    assert torch.equal(made.level(0), frame)
    frame[0, 0, 3, 4] ^= 128
    damage = made.update(frame)
    assert damage.tiles.nonzero().tolist() == [[0, 0, 0]]
    assert torch.equal(made.level(3), sc.TexturePyramid(frame, levels=4, odd="floor").level(3))


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_pool_says_that_it_can_not_be_copied(duplicate):
    pool = sc.TexturePool(2, size=(16, 16))
    with pytest.raises(TypeError, match=r"TexturePool can't be copied or pickled: .*make another.*TexturePool\(2, "):
        duplicate(pool)
    with pool.acquire() as texture:
        made = copy.deepcopy(texture)
    assert (made.size, pool.available) == ((16, 16), 2)


def test_texture_of_a_pool_is_copied_out_of_it():
    pool = sc.TexturePool(1, size=(16, 16))
    with pool.acquire() as texture, pytest.raises(ValueError, match="is from no pool"):
        copy.deepcopy(texture).release()


def test_stack_of_channels_goes_on(copied):
    stack = sc.channels.ChannelStack((40, 40), ["rgb", "scharr", "age", sc.channels.slot("own", 2)])
    frame = image(3, 40, 40, dtype=torch.uint8)
    stack.update(frame)
    stack.set("own", image(2, 40, 40))
    made = copied(stack)
    stack.update(255 - frame)
    assert torch.equal(made["r"], frame[0] / 255)
    assert torch.equal(made["own.1"], image(2, 40, 40)[1])
    made.update(255 - frame)
    assert torch.equal(made.pyramid.level(2), stack.pyramid.level(2))
