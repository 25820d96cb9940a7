"""Levels follow their image: whatever writes it in place, the next sampling reads the levels of what it is by then.

What is right is a new pyramid of a copy of the image, whose own levels other tests hold against avg_pool2d.
"""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import DEVICES, image, uniform  # noqa: E402

INPLACE = "modified by an inplace operation"
TIMES = range(2)


class Net(torch.nn.Module):
    """As the documents write it: a pyramid that is made once."""

    def __init__(self, shape=(3, 64, 64), **options):
        super().__init__()
        self.texture = torch.nn.Parameter(image(*shape))
        self.pyramid = sc.TexturePyramid(self.texture, **options)

    def forward(self, plan):
        return self.pyramid.sample_patches(plan)


def optimizer_step(kind, **options):
    def step(x):
        x.grad = torch.ones_like(x)
        kind([x], lr=0.1, **options).step()
        x.grad = None

    return step


def by_inference_mode(x):
    with torch.inference_mode():
        x.mul_(0.5)


def by_no_grad(x):
    with torch.no_grad():
        x.mul_(0.5)


def by_state(x):
    module = torch.nn.Module()
    module.texture = x
    module.load_state_dict({"texture": torch.rand_like(x)})


def by_a_view(x):
    with torch.no_grad():
        x[..., 1:9, 3:20].zero_()


WRITES = {
    "no_grad": by_no_grad,
    "inference_mode": by_inference_mode,
    "load_state_dict": by_state,
    "a view": by_a_view,
    "SGD": optimizer_step(torch.optim.SGD),
    "Adam": optimizer_step(torch.optim.Adam),
    "foreach": optimizer_step(torch.optim.AdamW, foreach=True),
    "fused": optimizer_step(torch.optim.AdamW, fused=True),  # torch doesn't count it
    "fused SGD": optimizer_step(torch.optim.SGD, fused=True),
    "vector_to_parameters": lambda x: torch.nn.utils.vector_to_parameters(torch.rand(x.numel()).to(x), [x]),
    "init": torch.nn.init.uniform_,
    "data": lambda x: setattr(x, "data", torch.rand_like(x)),
    "double": lambda x: setattr(x, "data", x.data.double()),
    "other memory, of another size": lambda x: setattr(x, "data", torch.rand(*x.shape[:-2], 40, 48)),
    "twice": lambda x: (by_no_grad(x), by_a_view(x)),
}


def calls_of(batched):
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    uv = uniform(1, 9, 2) if batched else uniform(9, 2)
    return {
        "patches": lambda p: p.sample_patches(plan),
        "normalized": lambda p: p.sample_patches(plan, normalize="clip"),
        "zeros": lambda p: p.sample_patches(plan, padding="zeros"),
        "points": lambda p: p.sample(uv.to(p.dtype), 1.5),
        "foveated": lambda p: p.sample_foveated(uniform(2)),
        "function": lambda p: sc.sample_foveated(p, (0.3, 0.4), tokens=60),
        "at a level": lambda p: p.sample_at_level(2, uniform(1, 4, 2)),
        "anisotropic": lambda p: p.sample_anisotropic(plan, (2.0, 1.0)),
        "level": lambda p: p.level(2),
        "all levels": lambda p: torch.cat([level.flatten() for level in p]),
        "vmap": lambda p: torch.vmap(lambda at: p.sample(at, 1.5), randomness="same")(
            torch.stack([uv, uv]).to(p.dtype)
        ),
    }


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("learns", [True, False])
def test_samples_are_those_of_the_image_as_it_is(write, batched, learns):
    for name, call in calls_of(batched).items():
        x = torch.nn.Parameter(image(*((1, 3) if batched else (3,)), 64, 64))
        pyramid = sc.TexturePyramid(x.requires_grad_(learns))
        call(pyramid)
        WRITES[write](x)
        alone = x.detach().clone().requires_grad_(learns)
        made, expected = call(pyramid), call(sc.TexturePyramid(alone))
        assert torch.equal(made, expected), name
        assert made.requires_grad == learns
        if learns and "size" not in write:  # autograd keeps to the size that it saw first
            push = torch.randn(made.shape, generator=torch.Generator().manual_seed(1)).to(made)
            (found,) = torch.autograd.grad(made, x, push)
            (wanted,) = torch.autograd.grad(expected, alone, push)
            assert torch.equal(found, wanted), name


@pytest.fixture
def deterministic():
    """Gradients on a GPU are then the same bits each time."""
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(3, 64, 64), (2, 3, 50, 70)])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_module_that_makes_its_pyramid_once_trains_as_one_that_makes_it_each_time(device, shape, kind):
    torch.manual_seed(0)
    plan = sc.PatchPlan(uniform(5, 2, low=0.2, high=0.8), uniform(5) * 3).to(device)
    once = Net(shape).to(device)
    each = copy.deepcopy(once)
    losses = []
    for net, forward in (
        (once, once.forward),
        (each, lambda plan: sc.TexturePyramid(each.texture).sample_patches(plan)),
    ):
        optimizer = kind(net.parameters(), lr=0.1)
        losses.append([])
        for _ in range(5):
            optimizer.zero_grad()
            loss = (forward(plan) - 1).square().sum()
            loss.backward()
            optimizer.step()
            losses[-1].append(float(loss.detach()))
            with torch.inference_mode():
                forward(plan)  # validation between the steps
    assert torch.equal(once.texture, each.texture)
    assert losses[0] == losses[1]
    assert losses[0][-1] < losses[0][0]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.float16, torch.bfloat16, torch.float64])
def test_images_of_every_layout_and_type(dtype):
    frames = image(4, 3, 40, 48, dtype=dtype)
    layouts = {
        "channels last": frames.contiguous(memory_format=torch.channels_last),
        "one of a batch": frames[1],
        "every second pixel": image(3, 80, 96, dtype=dtype)[:, ::2, ::2],
        "expanded": image(1, 1, 40, 48, dtype=dtype).expand(2, 3, 40, 48),
        "many levels": image(3, 700, 3, dtype=dtype),
    }
    for name, x in layouts.items():
        pyramid = sc.TexturePyramid(x, levels=None)
        plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
        for round_ in TIMES:
            pyramid.sample_patches(plan)
            base = x if x._base is None else x._base
            base.copy_(image(*base.shape, dtype=dtype, seed=7 + round_))
            fresh = sc.TexturePyramid(x.clone(), levels=None)
            assert torch.equal(pyramid.sample_patches(plan), fresh.sample_patches(plan)), name
            assert torch.equal(pyramid.level(-1), fresh.level(-1)), name


def test_image_that_c_cannot_read_in_place():
    complex_image = torch.complex(image(1, 3, 16, 16), image(1, 3, 16, 16, seed=2))
    x, plan = complex_image.conj().imag, sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4))
    pyramid = sc.TexturePyramid(x)
    for seed in TIMES:
        x.copy_(image(1, 3, 16, 16, seed=seed))
        expected = sc.TexturePyramid(image(1, 3, 16, 16, seed=seed)).sample_patches(plan)
        assert torch.equal(pyramid.sample_patches(plan), expected)


def test_image_that_a_graph_made_and_that_is_written_within_it():
    source, plan = image(1, 3, 32, 32).requires_grad_(), sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    for shape in ((1, 3, 32, 32), (3, 32, 32)):
        x = (source * 2).reshape(shape)
        pyramid = sc.TexturePyramid(x)
        pyramid.sample_patches(plan)
        x.mul_(source.detach().reshape(shape))  # recorded by autograd
        made = pyramid.sample_patches(plan)
        expected = sc.TexturePyramid(2 * source * source.detach()).sample_patches(plan)
        assert torch.equal(made, expected)
        gradients = [torch.autograd.grad(each.square().sum(), source)[0] for each in (made, expected)]
        assert torch.allclose(*gradients, rtol=1e-5)


def test_graph_from_before_a_write_can_not_be_used_as_torch_has_it():
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    net = Net((1, 3, 32, 32))
    for _ in TIMES:
        before = net(plan).square().sum()
        by_no_grad(net.texture)
        net(plan)
        with pytest.raises(RuntimeError, match=INPLACE):
            before.backward()
    net(plan).square().sum().backward()


def test_levels_made_on_demand_leave_pending_graphs_alone():
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    net = Net((1, 3, 32, 32))
    total = sum(net.pyramid.generate_mipmaps().sample_patches(plan).sum() for _ in TIMES)
    total.backward()
    assert net.texture.grad is not None


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
    patches = sc.TexturePyramid(parameter).sample_patches(sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4)))
    parameter.data = torch.zeros(1, 3, 4, 4)
    with pytest.raises(RuntimeError, match="replaced between the sampling and its backward"):
        patches.sum().backward()


def test_views_of_levels_are_of_the_image_as_it_is():
    x = image(1, 3, 32, 32).requires_grad_()
    pyramid = sc.TexturePyramid(x, levels=3, odd="floor")
    with torch.no_grad():
        x.mul_(3)
    push = image(1, 3, 16, 16, seed=3)
    assert torch.equal(pyramid.level(1), F.avg_pool2d(x, 2))
    (gradient,) = torch.autograd.grad(pyramid.level(1), x, push)
    (expected,) = torch.autograd.grad(F.avg_pool2d(x, 2), x, push)
    assert torch.equal(gradient, expected)


def test_copies_follow_their_own_image():
    plan = sc.PatchPlan(uniform(4, 2), uniform(4) * 3)
    net = Net()
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        by_no_grad(net.texture)
        for texture, other in ((made.texture, net), (net.texture, made)):
            kept = other(plan)
            by_a_view(texture)
            assert torch.equal(other(plan), kept)
            own = made if texture is made.texture else net
            assert torch.equal(own(plan), sc.TexturePyramid(texture.detach().clone()).sample_patches(plan))


def test_what_nothing_counts_is_followed_on_demand():
    array, points = image(3, 32, 32).numpy(), uniform(4, 2).numpy()
    pyramid = sc.TexturePyramid(array)
    array[...] = 0
    assert not np.any(pyramid.generate_mipmaps().sample(points, np.full(4, 1.5, np.float32)))
    with torch.inference_mode():
        x = image(3, 32, 32)
        pyramid = sc.TexturePyramid(x)
        pyramid.sample(uniform(4, 2), 1.5)
        x.zero_()
        assert not pyramid.generate_mipmaps().sample(uniform(4, 2), 1.5).any()
        assert not pyramid.sample_patches(sc.PatchPlan(uniform(4, 2), 1.5)).any()


def test_second_step_is_not_taken_by_itself():
    x = image(3, 32, 32)
    pyramid = sc.TexturePyramid(x, mips=False)
    x.zero_()
    with pytest.raises(ValueError, match="not made yet"):
        pyramid.sample(uniform(4, 2))
    assert not pyramid.generate_mipmaps().sample(uniform(4, 2), 1.5).any()


# ---- Textures that stay ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("batch", [None, 2])
def test_texture_that_was_written_by_its_level_0(device, batch):
    shape = (3, 40, 40) if batch is None else (batch, 3, 40, 40)
    texture = sc.TexturePyramid.create_persistent((40, 40), batch=batch, dtype=torch.float32, device=device)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3).to(device)
    frame = image(*shape).to(device)
    for _ in TIMES:
        texture.update(frame)
        texture.sample_patches(plan)

    def same(picture):
        fresh = sc.TexturePyramid(picture.clone())
        assert torch.equal(texture.sample_patches(plan), fresh.sample_patches(plan))
        assert all(torch.equal(a, b) for a, b in zip(texture, fresh, strict=True))

    level = texture.level(0)
    level[..., 3:30, 4:9] = 2.0
    same(level)
    level[..., 20:24, 30:39] = 3.0
    frame = level.clone()
    frame[..., 0, 0] = 5.0
    damage = texture.update(frame)  # finds one tile, and levels above another were old
    assert int(damage.count) == (batch or 1)
    same(frame)
    level.zero_()
    texture.update_mipmaps_incremental()
    same(torch.zeros_like(frame))


# ---- Those who look on -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 3, 32, 32)])
@pytest.mark.parametrize("learns", [True, False])
def test_compiled_module_samples_the_image_as_it_is(shape, learns):
    torch._dynamo.reset()
    net = Net(shape)
    net.texture.requires_grad_(learns)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3)
    compiled = torch.compile(net, fullgraph=True, backend="aot_eager")
    for _ in TIMES:
        expected = sc.TexturePyramid(net.texture.detach().clone()).sample_patches(plan)
        made = compiled(plan)
        assert torch.equal(made, expected)
        if learns:
            (found,) = torch.autograd.grad(made.square().sum(), net.texture)
            (wanted,) = torch.autograd.grad(net(plan).square().sum(), net.texture)
            assert torch.allclose(found, wanted, atol=1e-6)
        by_no_grad(net.texture)


def test_image_that_is_written_within_a_compiled_function_or_a_map():
    def sampled(x, uv):
        x = x.clone()
        pyramid = sc.TexturePyramid(x)
        before = pyramid.sample(uv, 1.5)
        x.mul_(2)
        return before, pyramid.sample(uv, 1.5), pyramid.level(1)

    torch._dynamo.reset()
    x, uv = image(2, 3, 32, 32), uniform(2, 5, 2)
    expected = [sampled(*each) for each in zip(x, uv, strict=True)]
    ways = {
        "compiled": [
            torch.compile(sampled, fullgraph=True, backend="aot_eager")(*each) for each in zip(x, uv, strict=True)
        ],
        "mapped": list(zip(*torch.vmap(sampled)(x, uv), strict=True)),
    }
    for name, found in ways.items():
        for made, wanted in zip(found, expected, strict=True):
            for a, b in zip(made, wanted, strict=True):
                assert torch.allclose(a, b, atol=1e-6), name


def test_pyramid_made_within_a_map_is_one_outside():
    kept, x, plan = [], image(3, 32, 32), sc.PatchPlan(uniform(4, 2), uniform(4) * 3)
    torch.vmap(lambda uv: (kept.append(sc.TexturePyramid(x)), uv)[1])(uniform(2, 5, 2))
    for _ in TIMES:
        expected = sc.TexturePyramid(x.clone()).sample_patches(plan)
        assert torch.equal(kept[0].sample_patches(plan), expected)
        x.mul_(0.5)


@pytest.mark.cuda
@pytest.mark.parametrize("filtering", ["hardware", "hybrid"])
def test_texture_unit_reads_the_image_as_it_is(filtering):
    x = image(1, 3, 64, 64).cuda()
    pyramid = sc.TexturePyramid(x, filtering=filtering)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3).to("cuda")
    with torch.no_grad():
        for _ in TIMES:
            fresh = sc.TexturePyramid(x.clone(), filtering=filtering)
            assert torch.equal(pyramid.sample_patches(plan), fresh.sample_patches(plan))
            x.mul_(0.5)


@pytest.mark.cuda
def test_graph_of_cuda_that_writes_and_samples():
    x, plan = image(1, 3, 64, 64).cuda(), sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 3).to("cuda")
    frame, pyramid = x.clone(), sc.TexturePyramid(x)
    with torch.no_grad():
        pyramid.sample_patches(plan)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            x.copy_(frame)
            made = pyramid.sample_patches(plan)
        for seed in TIMES:
            frame.copy_(image(1, 3, 64, 64, seed=seed))
            graph.replay()
            assert torch.equal(made, sc.TexturePyramid(frame.clone()).sample_patches(plan))
