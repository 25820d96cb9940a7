"""Gradients by torch.autograd.Function: the same as the operators', also if a transform joins at the backward."""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402


class Watching(TorchDispatchMode):
    """Looks on and changes nothing: calls then go through the operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func.name())
        return func(*args, **(kwargs or {}))


def patches(x, u, lod):
    return sc.TexturePyramid(x, levels=4, odd="floor").sample_patches(sc.PatchPlan(u, lod, patch_size=4))


def anisotropic(x, u, lod):
    plan = sc.PatchPlan(u, lod, patch_size=3)
    return sc.sample_anisotropic(sc.TexturePyramid(x, levels=3), plan, u * 3 + 0.5, padding="zeros")


CALLS = {
    "patches": patches,
    "anisotropic": anisotropic,
    "levels of one's own": lambda x, u, lod: sc.sample([x, 0.5 * x[..., ::2, ::2]], u, lod),
    "mipmaps": lambda x, u, lod: torch.cat([level.flatten() for level in sc.generate_mipmaps(x, 4)[1:]]),
    "field": lambda x, u, lod: sc.gaussian_field(u[0], u[1], torch.eye(2).expand(5, 2, 2) * lod[0, 0], lod[0]),
    "fields": lambda x, u, lod: sc.gaussian_field(u, u.flip(0), torch.eye(2).expand(5, 2, 2), lod[:, :, None]),
    "one image": lambda x, u, lod: patches(x[0], u[0], lod[0]),
    "a plan for all images": lambda x, u, lod: patches(x, u[0], lod[0]),
    "places with gaps": lambda x, u, lod: patches(x, u.repeat_interleave(2, 1)[:, ::2], lod.T.contiguous().T),
    "fixations": lambda x, u, lod: patches(x[:1], u[None], lod[None]),
    "codes": lambda x, u, lod: sc.sample_patches(
        sc.TexturePyramid((x.detach() * 255).to(torch.uint8), levels=4), sc.PatchPlan(u, lod, patch_size=4)
    ),
    "codes as fractions": lambda x, u, lod: sc.sample_patches(
        sc.TexturePyramid((x.detach() * 255).to(torch.uint8), levels=4),
        sc.PatchPlan(u, lod, patch_size=4),
        dtype=torch.float32,
    ),
    "another type": lambda x, u, lod: sc.TexturePyramid(x, levels=4).sample_patches(
        sc.PatchPlan(u, lod, patch_size=4), dtype=torch.float64
    ),
    "dense field": lambda x, u, lod: sc.gaussian_field(u[0], u[1], torch.eye(2).repeat(5, 1, 1), lod[0], cutoff=1.5),
    "dense fields": lambda x, u, lod: sc.gaussian_field(u, u + 0.1, torch.eye(2).repeat(2, 5, 1, 1), lod[:, :, None]),
    "mahalanobis": lambda x, u, lod: sc.mahalanobis(u[0], u[1], torch.eye(2).expand(5, 2, 2)),
}


def inputs(dtype=torch.float32, channels_last=False):
    x = image(2, 3, 37, 42, dtype=dtype)
    if channels_last:
        x = x.to(memory_format=torch.channels_last)
    return [
        x.requires_grad_(),
        *[each.requires_grad_() for each in (uniform(2, 5, 2), uniform(2, 5, high=2.9, seed=3))],
    ]


def gradients(made, tensors, **options):
    weight = uniform(*made.shape, seed=9).to(made.dtype)
    if not made.is_floating_point():  # codes have no gradient
        return ()
    return torch.autograd.grad(made, tensors, weight, allow_unused=True, **options)


def assert_equal(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other)


@pytest.mark.parametrize("name", CALLS)
def test_short_way_has_the_bits_of_the_operators(name):
    tensors = inputs()
    with Watching() as watching:
        through = CALLS[name](*tensors)
        expected = gradients(through, tensors)
    assert any(each.startswith("saccade::") for each in watching.names)
    made = CALLS[name](*tensors)
    assert torch.equal(made, through)
    assert_equal(gradients(made, tensors), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_image_of_another_type_has_the_operators_gradient(dtype):
    tensors = inputs(dtype)
    with Watching():
        expected = gradients(patches(*tensors), tensors)
    found = gradients(patches(*tensors), tensors)
    assert found[0].dtype == dtype
    assert_equal(found, expected)


@pytest.mark.parametrize("name", CALLS)
def test_watched_backward_of_an_unwatched_call_is_the_same(name):
    tensors = inputs()
    expected = gradients(CALLS[name](*tensors), tensors)
    made = CALLS[name](*tensors)
    with Watching():
        assert_equal(gradients(made, tensors), expected)


@pytest.mark.parametrize("name", CALLS.keys() - {"mahalanobis", "codes"})
def test_batched_gradients_are_refused_in_words(name):
    tensors = inputs()
    made = CALLS[name](*tensors)
    with pytest.raises(RuntimeError, match=r"is_grads_batched=True is not possible here; call torch\.autograd\.grad"):
        torch.autograd.grad(made, tensors, torch.ones(3, *made.shape), allow_unused=True, is_grads_batched=True)


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_saved_tensors_that_moved_give_the_same(name, channels_last):
    tensors = inputs(channels_last=channels_last)
    expected = gradients(CALLS[name](*tensors), tensors)
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: t.clone(memory_format=torch.contiguous_format), lambda t: t
    ):
        made = CALLS[name](*tensors)
    assert_equal(gradients(made, tensors), expected)


def test_checkpoint_gives_the_same():
    tensors = inputs()
    expected = gradients(patches(*tensors), tensors)
    assert_equal(gradients(checkpoint(patches, *tensors, use_reentrant=False), tensors), expected)


def test_backward_twice_gives_the_same_twice():
    tensors = inputs()
    made = patches(*tensors)
    assert_equal(gradients(made, tensors, retain_graph=True), gradients(made, tensors))


def test_gradient_that_is_repeated_or_transposed_is_read_right():
    x, u, lod = inputs()
    made = patches(x, u, lod)
    (summed,) = torch.autograd.grad(made.sum(), x, retain_graph=True)
    (ones,) = torch.autograd.grad(made, x, torch.ones_like(made), retain_graph=True)
    assert torch.equal(summed, ones)
    weight = uniform(*made.shape, seed=5)
    (transposed,) = torch.autograd.grad(made.mT, x, weight.mT, retain_graph=True)
    assert torch.equal(transposed, torch.autograd.grad(made, x, weight)[0])


def test_image_that_was_changed_before_its_backward_is_refused():
    x, u, lod = inputs()
    made = patches(x, u, lod)
    with torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        made.sum().backward()


@pytest.mark.parametrize(
    ("name", "operator"),
    [("mipmaps", "mipmaps"), ("patches", "sample"), ("levels of one's own", "sample"), ("field", "gaussian_field")],
)
def test_second_derivative_is_refused_in_words(name, operator):
    tensors = inputs()
    found = gradients(CALLS[name](*tensors).square(), tensors, create_graph=True)
    with pytest.raises(RuntimeError, match=f"{operator} has no second derivative"):
        next(each for each in found if each is not None).sum().backward()


def test_mahalanobis_may_be_differentiated_twice():
    tensors = [each.double() for each in (uniform(3, 2), uniform(4, 2, seed=2), torch.eye(2).expand(4, 2, 2))]
    tensors = [each.clone().requires_grad_() for each in tensors]
    assert torch.autograd.gradgradcheck(sc.mahalanobis, tensors)


ALONE = {
    "mipmaps": lambda x, u: sc.generate_mipmaps(x, 3)[2],
    "patches": lambda x, u: sc.TexturePyramid(x).sample_patches(sc.PatchPlan(u, u[..., 0], patch_size=3)),
    "levels": lambda x, u: sc.sample_patches([x, x[..., ::2, ::2]], sc.PatchPlan(u, u[..., 0], patch_size=3)),
}


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("name", ALONE)
def test_one_image_is_a_batch_of_one(name, again):
    x, u = image(3, 16, 16), uniform(5, 2)
    results = []
    for batched in (False, True):
        a, b = (each[None].clone() if batched else each.clone() for each in (x, u))
        found = ALONE[name](a.requires_grad_(), b.requires_grad_())
        total = found.square().sum()
        gradients = torch.autograd.grad(total, (a, b), allow_unused=True, create_graph=again, retain_graph=True)
        if again:
            with pytest.raises(RuntimeError, match="has no second derivative"):
                gradients[0].sum().backward()
        results.append([each[0] if batched and each is not None else each for each in (found, *gradients)])
    for alone, of_batch in zip(*results, strict=True):
        assert (alone is None) == (of_batch is None)
        assert alone is None or torch.equal(alone, of_batch)
