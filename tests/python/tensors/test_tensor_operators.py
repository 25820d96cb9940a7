"""The operators as torch sees them: opcheck, torch.compile, vmap, autocast, second derivatives."""

from __future__ import annotations

import math

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade._operators import _operator_rules, _tensor_abi  # noqa: E402, F401
from tensor_support import image, uniform  # noqa: E402

SHARED, BOTH = image(3, 20, 20), image(2, 3, 20, 20)
FIELD = uniform(7, 2, seed=8), torch.eye(2).repeat(7, 1, 1) * 0.3, uniform(7, 3, seed=9)
PLAN = sc.PatchPlan(uniform(2, 6, 2), uniform(2, 6, high=3, seed=2), patch_size=4)


def sample_arguments(dtype=torch.float64):
    x = image(2, 2, 12, 10, dtype=dtype).requires_grad_()
    levels = [x, *[level.requires_grad_() for level in sc.generate_mipmaps(x.detach(), 3)[1:]]]
    centers = uniform(2, 5, 2, dtype=dtype).requires_grad_()
    lod = uniform(2, 5, low=0.1, high=1.9, dtype=dtype).requires_grad_()
    direction = uniform(2, 5, 2, low=1.1, high=3.9, dtype=dtype).requires_grad_()
    return levels, centers, lod, direction


def arguments_of(name):
    levels, centers, lod, direction = sample_arguments()
    if name == "mipmaps":
        return levels[0], 3, 0
    if name == "sample":
        return levels, centers, lod, None, 4, torch.float64, 1.0, 0, 1, True, False, -1
    if name == "sample, derived, with directions":
        mips = [level.detach() for level in levels[1:]]
        return [levels[0], *mips], centers, lod, direction, 4, torch.float64, 1.0, 3, 8, False, True, 0
    if name.startswith("mipmaps_backward"):
        some = None if name.endswith("one") else uniform(2, 2, 6, 5, dtype=torch.float64)
        return [None, some, uniform(2, 2, 3, 2, dtype=torch.float64)], [2, 2, 12, 10], torch.float64, CPU, 0
    if name.startswith("sample_backward"):
        levels, centers, lod, direction = (detached(each) for each in (levels, centers, lod, direction))
        push = uniform(2, 5, 2, 4, 4, dtype=torch.float64, seed=9)
        if name == "sample_backward":
            return push, levels, centers, lod, None, 1.0, 0, 1, True, False, -1, [True, True, True, False]
        wanted = [True] * 4 if name.endswith("all") else [False, False, True, False]
        return push, levels, centers, lod, direction, 1.0, 1, 8, False, False, 0, wanted
    x, mean = uniform(1, 6, 3, dtype=torch.float64), uniform(1, 4, 3, dtype=torch.float64, seed=3)
    tril = torch.eye(3, dtype=torch.float64).expand(1, 4, 3, 3) * 0.4
    tensors = [each.contiguous().requires_grad_() for each in (x, mean, tril)]
    if name == "mahalanobis":
        return tuple(tensors)
    weight = uniform(1, 4, 2, dtype=torch.float64).requires_grad_()
    if name.startswith("gaussian_field_backward"):
        wanted = [True] * 4 if name.endswith("all") else [False, True, False, True]
        return uniform(1, 6, 2, dtype=torch.float64), *detached([*tensors, weight]), 9.0, wanted
    return (*tensors, weight, math.inf)


CPU = torch.device("cpu")


def detached(tensors):
    return [each.detach() for each in tensors] if isinstance(tensors, list) else tensors.detach()


CHECKED = [
    *("mipmaps", "mipmaps_backward", "mipmaps_backward, one"),
    *("sample", "sample, derived, with directions"),
    *("sample_backward", "sample_backward, all", "sample_backward, one"),
    *("gaussian_field", "gaussian_field_backward, all", "gaussian_field_backward, some", "mahalanobis"),
]


def test_all_operators_are_checked():
    registered = {name.partition("::")[2] for name in torch._C._dispatch_get_all_op_names() if "saccade::" in name}
    assert registered == {name.partition(",")[0] for name in CHECKED}


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # opcheck reads it of tensors that are no leaves
@pytest.mark.parametrize("name", CHECKED)
def test_opcheck(name):
    operator = getattr(torch.ops.saccade, name.partition(",")[0])
    checks = ["test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    torch.library.opcheck(operator.default, arguments_of(name), test_utils=checks)


COMPILED = {
    "generate_mipmaps": lambda x, u: sc.generate_mipmaps(x, 3)[2],
    "pyramid and patches": lambda x, u: sc.TexturePyramid(x, levels=3).sample_patches(PLAN),
    "normalize": lambda x, u: sc.TexturePyramid(x, levels=3).sample_patches(PLAN, normalize="clip"),
    "a plan by hand": lambda x, u: sc.sample_patches(sc.generate_mipmaps(x, 3), sc.PatchPlan(u, 0.5)),
    "sample": lambda x, u: sc.sample(sc.generate_mipmaps(x, 3), u, 1.5),
    "footprint": lambda x, u: sc.sample(
        sc.TexturePyramid(x, levels=3), u, uv_da=u[..., None] * torch.ones(2) * 0.1, max_anisotropy=4
    ),
    "foveated": lambda x, u: sc.sample_foveated(sc.TexturePyramid(x, levels=4), u[:, 0], snap=True, tokens=30),
    "foveated, free": lambda x, u: sc.sample_foveated(sc.TexturePyramid(x, levels=4), u[:, 0], snap=False, e0=2.0),
    "at a level": lambda x, u: sc.sample_at_level(sc.TexturePyramid(x, levels=3), 1, u),
    "anisotropic": lambda x, u: sc.sample_anisotropic(sc.TexturePyramid(x, levels=3), PLAN, u[0, 0] + 1),
    "gaussian_field": lambda x, u: sc.gaussian_field(u, u + 0.1, torch.eye(2).expand(5, 2, 2), torch.ones(5, 3)),
    "mahalanobis": lambda x, u: sc.mahalanobis(u, u + 0.1, torch.eye(2).expand(5, 2, 2)),
}


@pytest.mark.parametrize("name", COMPILED)
def test_compiles_as_one_graph_with_its_gradient(name):
    torch._dynamo.reset()
    results = []
    for function in (COMPILED[name], torch.compile(COMPILED[name], fullgraph=True, backend="aot_eager")):
        x, u = image(2, 3, 40, 36).requires_grad_(), uniform(2, 5, 2, low=0.1, high=0.9).requires_grad_()
        made = function(x, u)
        gradients = torch.autograd.grad(made.square().sum(), (x, u), allow_unused=True)
        results.append((made, *[g for g in gradients if g is not None]))
    assert len(results[0]) == len(results[1])
    for plain, compiled in zip(*results, strict=True):
        assert torch.equal(plain, compiled)


MAPPED = {
    "generate_mipmaps": lambda x, u: sc.generate_mipmaps(x, 3)[2],
    "sample": lambda x, u: sc.sample(sc.TexturePyramid(x, levels=3), u, 0.5),
    "one image for all": lambda x, u: sc.sample(sc.TexturePyramid(SHARED, levels=3), u, 0.5),
    "one batch of images for all": lambda x, u: sc.sample(sc.TexturePyramid(BOTH, levels=3), u.expand(2, 5, 2), 0.5),
    "one plan for all": lambda x, u: sc.sample_patches(
        sc.TexturePyramid(x, levels=3), sc.PatchPlan(PLAN.centers[0], 1.0)
    ),
    "gaussian_field": lambda x, u: sc.gaussian_field(torch.ones(3, 2), u, torch.eye(2).expand(5, 2, 2), torch.ones(5)),
    "mahalanobis": lambda x, u: sc.mahalanobis(torch.ones(3, 2), u, torch.eye(2).expand(5, 2, 2)),
    "points of one field": lambda x, u: sc.gaussian_field(u, *FIELD),
    "points of fields": lambda x, u: sc.gaussian_field(u, *[each.expand(2, *each.shape) for each in FIELD]),
    "distances from one field": lambda x, u: sc.mahalanobis(u, *FIELD[:2]),
    "along lines": lambda x, u: sc.sample_anisotropic(
        sc.TexturePyramid(BOTH, levels=3), sc.PatchPlan(u.expand(2, 5, 2), 0.5, patch_size=3), u[0] + 1
    ),
}


@pytest.mark.parametrize("name", MAPPED)
def test_vmap_is_the_loop(name):
    x, u = image(4, 3, 20, 20), uniform(4, 5, 2)
    mapped = torch.vmap(MAPPED[name])(x, u)
    assert torch.equal(mapped, torch.stack([MAPPED[name](x[n], u[n]) for n in range(4)]))
    moved = torch.vmap(MAPPED[name], in_dims=(1, 0))(x.transpose(0, 1), u)
    assert torch.equal(moved, mapped)


def test_images_that_vmap_shares_are_not_copied(monkeypatch):
    seen, pack = [], _tensor_abi.packed_levels
    monkeypatch.setattr(_tensor_abi, "packed_levels", lambda levels: seen.append(levels[0].shape[0]) or pack(levels))
    torch.vmap(MAPPED["one batch of images for all"], in_dims=(None, 0))(BOTH, uniform(4, 5, 2))
    assert set(seen) == {2}


def test_gradient_through_vmap_is_the_loops():
    results = []
    for mapped in (True, False):
        x, u = image(4, 3, 20, 20).requires_grad_(), uniform(4, 5, 2).requires_grad_()
        many = torch.vmap(MAPPED["sample"])(x, u) if mapped else [MAPPED["sample"](x[n], u[n]) for n in range(4)]
        results.append(torch.autograd.grad(sum(each.square().sum() for each in many), (x, u)))
    for a, b in zip(*results, strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_autocast_leaves_coordinates_and_types_alone():
    x, u = image(1, 3, 32, 32), uniform(1, 5, 2)
    plain = sc.sample(sc.TexturePyramid(x), u, 0.7), sc.sample_foveated(sc.TexturePyramid(x), (0.3, 0.4))
    with torch.autocast("cpu", torch.bfloat16):
        mixed = sc.sample(sc.TexturePyramid(x), u, 0.7), sc.sample_foveated(sc.TexturePyramid(x), (0.3, 0.4))
        half = sc.sample(sc.TexturePyramid(x.bfloat16()), u, 0.7)
    assert all(torch.equal(a, b) for a, b in zip(plain, mixed, strict=True))
    assert half.dtype == torch.bfloat16


def test_meta_tensors_have_shapes():
    x, u = torch.empty(2, 3, 40, 36, device="meta"), torch.empty(2, 5, 2, device="meta")
    assert sc.generate_mipmaps(x, 3)[2].shape == (2, 3, 10, 9)
    assert sc.sample(sc.TexturePyramid(x, levels=3), u, 0.5).shape == (2, 3, 5)


def test_results_are_the_same_with_and_without_autograd():
    x, u = image(1, 3, 32, 32), uniform(1, 5, 2)
    learns = sc.sample(sc.TexturePyramid(x.clone().requires_grad_()), u, 0.7)
    assert learns.requires_grad
    assert torch.equal(learns.detach(), sc.sample(sc.TexturePyramid(x), u, 0.7))


PYRAMID = sc.TexturePyramid(image(2, 3, 40, 36), levels=3)
TEXTURE = sc.TexturePyramid.create_persistent((40, 36), dtype=torch.float32)
SCRIPTED = {
    "generate_mipmaps": lambda x, u: sc.generate_mipmaps(x, 3)[2],
    "a pyramid": lambda x, u: sc.TexturePyramid(x, levels=3).sample_patches(PLAN),
    "a pyramid that is there": lambda x, u: PYRAMID.sample_patches(PLAN) + u[0, 0, 0],
    "levels": lambda x, u: sc.sample([x], u, 1.5),
    "foveated": lambda x, u: PYRAMID.sample_foveated(u[:, 0]),
    "an update": lambda x, u: TEXTURE.update(x[0]).energy,
    "gaussian_field": lambda x, u: sc.gaussian_field(u, u + 0.1, torch.eye(2).expand(5, 2, 2), torch.ones(5, 3)),
    "mahalanobis": lambda x, u: sc.mahalanobis(u, u + 0.1, torch.eye(2).expand(5, 2, 2)),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize("name", SCRIPTED)
def test_script_records_an_operator_or_is_refused_in_words(name):
    call, given = SCRIPTED[name], (image(2, 3, 40, 36), uniform(2, 5, 2))
    for _ in range(2):
        call(*given)
    try:
        traced = torch.jit.trace(call, given, check_trace=False)
    except RuntimeError as error:
        assert "torch.jit.trace" in str(error)  # noqa: PT017
        assert name not in {"gaussian_field", "mahalanobis"}
        return
    other = image(2, 3, 40, 36, seed=3), uniform(2, 5, 2, seed=4)
    assert torch.equal(traced(*other), call(*other))
