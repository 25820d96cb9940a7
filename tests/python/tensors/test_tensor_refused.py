"""Calls that would be wrong in silence: refused, or said, in one line that names what to write."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

SIZE = (64, 80)


# ---- Plans of other images -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["a tensor", "f64", "on the host", "arrays"])
def test_plan_of_another_size_is_refused(kind):
    lattices = [sc.Lattice(size=size, tokens=90) for size in (SIZE, (640, 800))]
    fixation = torch.tensor([0.5, 0.5], dtype=torch.float64 if kind == "f64" else torch.float32)
    right, wrong = [each.plan((0.5, 0.5) if kind in {"on the host", "arrays"} else fixation) for each in lattices]
    by_hand = sc.PatchPlan(wrong.centers, wrong.lod)
    page = image(1, *SIZE)
    pyramid = sc.TexturePyramid(page.numpy() if kind == "arrays" else page)
    direction = np.ones(2, np.float32) if kind == "arrays" else (1.0, 1.0)
    for call in (
        pyramid.sample_patches,
        lambda plan: pyramid.sample_patches(plan, normalize=((0.5,), (0.5,))),
        lambda plan: sc.sample_patches(list(pyramid), plan),
        lambda plan: pyramid.sample_anisotropic(plan, direction),
        lambda plan: sc.text_direction(pyramid, plan),
    ):
        assert len(call(right)) == len(right)
        with pytest.raises(ValueError, match=r"plan is for images of size=\(640, 800\), the pyramid's is \(64, 80\)"):
            call(wrong)
        if kind != "on the host":
            assert len(call(by_hand)) == len(by_hand)


# ---- Fixations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["nested", "grid", "uniform"])
def test_fixation_in_pixels_is_refused(dtype, kind):
    lattice, pyramid = sc.Lattice(kind, size=SIZE, tokens=60), sc.TexturePyramid(image(3, *SIZE))
    stack = sc.channels.ChannelStack(SIZE, ["eccentricity"])
    text = r"fixation is \[.*\]; it must be \(u, v\) from 0 to 1, not pixels"
    for place in ((400.0, 300.0), (0.5, 2.0), (-0.5, 0.5), (1.1, 0.5)):
        tensor = torch.tensor(place, dtype=dtype)
        many = uniform(200, 2, dtype=dtype)
        many[77] = tensor
        for fixation in (tensor, many, place, tensor.numpy(), many.numpy()):
            for snap in (True, False):
                with pytest.raises(ValueError, match=text):
                    lattice.plan(fixation, snap=snap)
            with pytest.raises(ValueError, match=text):
                pyramid.sample_foveated(fixation, lattice)
        with pytest.raises(ValueError, match=text):
            stack.look(tensor)
    lattice.plan(uniform(3, 2, dtype=dtype))


def test_fixation_off_by_rounding_is_on_the_edge():
    lattice = sc.Lattice(size=SIZE, tokens=60)
    for off, edge in (((1 + 1e-6, 0.5), (1.0, 0.5)), ((-1e-6, 1.0), (0.0, 1.0))):
        for snap in (True, False):
            assert np.array_equal(lattice.plan(off, snap=snap).centers, lattice.plan(edge, snap=snap).centers)


def test_fixation_that_learns_may_leave_the_image():
    lattice = sc.Lattice(size=SIZE, tokens=60)
    fixation = torch.tensor([1.2, 0.5], requires_grad=True)
    for snap in (False, "straight_through"):
        plan = lattice.plan(fixation, snap=snap)
        assert torch.allclose(plan.centers, lattice.plan(torch.tensor([1.0, 0.5]), snap=snap is not False).centers)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_fixation_that_gets_no_gradient_is_warned_of_where_snap_was_left_out(dtype):
    pyramid, lattice = sc.TexturePyramid(image(3, *SIZE)), sc.Lattice(size=SIZE, tokens=60)
    fixation = torch.tensor([0.3, 0.4], dtype=dtype, requires_grad=True)
    for call in (
        lambda **how: pyramid.sample_foveated(fixation, lattice, **how),
        lambda **how: sc.sample_foveated(pyramid, fixation, tokens=60, **how),
        lambda **how: lattice.plan(fixation, **how).centers,
    ):
        with pytest.warns(UserWarning, match="fixation requires a gradient and gets none; pass snap=False") as said:
            assert not call().requires_grad
        assert said[0].filename == __file__
        assert not call(snap=True).requires_grad  # nothing is said: warnings are errors here
        assert call(snap=False).requires_grad
        with torch.no_grad():
            call()


# ---- Options that would do nothing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda p: p.sample_foveated((0.5, 0.5), unit="uv"), "unit, fov_deg and sar are for e0 and m0"),
        (lambda p: p.sample_foveated((0.5, 0.5), fov_deg=10.0), "unit, fov_deg and sar are for e0 and m0"),
        (lambda p: sc.sample_foveated(p, (0.5, 0.5), sar=2.0), "unit, fov_deg and sar are for e0 and m0"),
        (lambda p: p.sample_foveated((0.5, 0.5), sc.Lattice(), patch_size=8), "patch_size: these are the lattice's"),
        (lambda p: p.sample_foveated((0.5, 0.5), sc.Lattice(), sar=1.0, m0=2), "m0, sar: these are the lattice's"),
        (lambda p: sc.Lattice("grid", unit="uv"), "unit is that of e0 and m0; pass one of them"),
        (lambda p: sc.Lattice("grid", preset="uv", unit="deg"), "preset sets e0, m0 and unit"),
    ],
)
def test_options_that_would_do_nothing_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call(sc.TexturePyramid(image(3, *SIZE)))


def test_options_do_something_where_they_are_taken():
    p, at = sc.TexturePyramid(image(3, *SIZE)), (0.3, 0.4)
    plain = sc.sample_foveated(p, at, m0=2.0, return_plan=True)[1].lod
    for options in ({"unit": "uv"}, {"fov_deg": 80.0}, {"sar": 3.0}):
        assert not torch.equal(sc.sample_foveated(p, at, m0=2.0, **options, return_plan=True)[1].lod, plain)
    lattice = sc.Lattice("grid", m0=1.0, unit="uv").bound(SIZE, 7)
    assert (lattice.unit, lattice.m0) == ("uv", 1.0)


# ---- Words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: sc.TexturePool(2, resolution=(4, 4, 4)), TypeError, "resolution is .* a square's side, not tuple"),
        (lambda: sc.TexturePyramid.create_persistent(size=1024), TypeError, r"size is \(H, W\), not int"),
        (lambda: sc.show(sc.TexturePyramid(image(2, 8, 8))), ValueError, "a pyramid of 2 channels; pass one of 1 or 3"),
        (lambda: sc.sample_at_level(image(1, 3, 8, 8), True, uniform(1, 2, 2)), TypeError, "not float32"),
        (
            lambda: sc.TexturePyramid(image(3, 8, 8)).sample_at_level(True, uniform(2, 2)),
            TypeError,
            "level takes a number, not True",
        ),
    ],
)
def test_error_says_what_to_write(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_pyramid_shows_the_axes_that_were_given():
    x = image(3, 16, 20)
    assert repr(sc.TexturePyramid(x)) == "TexturePyramid(float32 [3, 16, 20], 7 levels)"
    assert repr(sc.TexturePyramid(x[None])) == "TexturePyramid(float32 [1, 3, 16, 20], 7 levels)"
    assert repr(sc.TexturePyramid.from_levels([x])) == "TexturePyramid(float32 [3, 16, 20], 1 levels)"
    assert repr(sc.TexturePyramid(x.numpy(), mips=False)).endswith("7 levels, mips not made yet)")


TRANSFORMS = {
    "grad": lambda call, u: torch.func.grad(lambda at: call(at).sum())(u),
    "vjp": torch.func.vjp,
    "jacrev": lambda call, u: torch.func.jacrev(call)(u),
    "vmap of grad": lambda call, u: torch.vmap(torch.func.grad(lambda at: call(at).sum()))(u[None]),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_that_have_no_rule_say_so(transform):
    pyramid, field = sc.TexturePyramid(image(3, *SIZE)), (uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 3))
    at = uniform(3, 2)
    for call in (
        lambda u: pyramid.sample(u, 1.0),
        lambda u: pyramid.sample_patches(sc.PatchPlan(u, 1.0)),
        lambda u: sc.sample(sc.TexturePyramid(u[None]), at, 1.0),
        lambda u: sc.generate_mipmaps(u[None], 2)[1],
        lambda u: sc.gaussian_field(u, *field),
        lambda u: sc.mahalanobis(u, *field[:2]),
    ):
        with pytest.raises(
            RuntimeError, match=r"torch.func.grad, vjp and jacrev can't differentiate \w+; use torch.auto"
        ):
            TRANSFORMS[transform](call, uniform(6, 2))
    u = uniform(6, 2)
    found = torch.func.grad(lambda at: (at * pyramid.sample(u, 1.0).sum()).sum())(u)  # none by what is sampled
    assert torch.allclose(found, pyramid.sample(u, 1.0).sum().expand(6, 2))


# ---- Textures that were given back -----------------------------------------------------------------------------------


def test_texture_that_was_released_can_not_be_used():
    pool, frame = sc.TexturePool(1, size=(32, 32)), image(3, 32, 32, dtype=torch.uint8)
    with pool.acquire() as texture:
        for _ in range(3):
            damage = texture.update(frame)
            texture.sample_foveated((0.5, 0.5))
    for call in (
        lambda: texture.update(frame),
        lambda: texture.update_partial(frame, damage),
        texture.update_mipmaps_incremental,
        lambda: texture.update_mipmaps_incremental(damage),
        texture.generate_mipmaps,
        lambda: texture.sample_foveated((0.5, 0.5)),
        lambda: texture.sample(uniform(4, 2)),
        lambda: texture.level(0),
    ):
        with pytest.raises(ValueError, match=r"was released to its pool; acquire\(\) another"):
            call()
    again = pool.acquire()
    assert again is texture
    assert again.update(frame).tiles.all()
    assert torch.equal(again.level(2), sc.TexturePyramid(frame).level(2))


# ---- Exact laws ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"m0": 2.3, "e0": 2.3}, {"m0": 1.7}, {"e0": 0.9, "sar": 1.3, "fov_deg": 57.0}])
@pytest.mark.parametrize("unit", ["deg", "uv"])
def test_grid_in_f64_follows_the_law_exactly(options, unit):
    pyramid = sc.TexturePyramid(image(3, *SIZE, dtype=torch.float64))
    fixation = torch.tensor([0.31, 0.47], dtype=torch.float64)
    plan = sc.sample_foveated(pyramid, fixation, tokens=50, unit=unit, **options, return_plan=True)[1]
    e0 = options.get("e0", 2.3)
    m0 = options.get("m0", e0)
    height, width = SIZE
    across, down = (1.0, 1.0) if unit == "uv" else (options.get("fov_deg", 40.0), 0.0)
    if unit == "deg":
        down = across * height / (width * options.get("sar", 1.0))
    for (u, v), lod in zip(plan.centers.tolist(), plan.lod.tolist(), strict=True):
        e = math.hypot((u - 0.31) * across, (v - 0.47) * down)
        assert lod == pytest.approx(min(max(math.log2((e + e0) / m0), 0), 6), abs=1e-14)


# ---- A default device that is elsewhere ------------------------------------------------------------------------------


def test_default_device_changes_nothing_of_what_has_a_device():
    page, frame, points = image(1, *SIZE), image(3, *SIZE, dtype=torch.uint8), uniform(5, 3)
    lattice, field = sc.Lattice(size=SIZE, tokens=60), sc.GaussianField(4)

    def results():
        pyramid = sc.TexturePyramid(page)
        texture = sc.TexturePyramid.create_persistent(SIZE, device="cpu")
        texture.update(frame)
        stack = sc.channels.ChannelStack(
            SIZE, ["rgb", "scharr", "eccentricity", "edge_distance", sc.channels.slot("own")], device="cpu"
        )
        stack.update(frame)
        for place in ((0.3, 0.4), np.array([0.3, 0.4]), torch.tensor([0.3, 0.4], device="cpu")):
            stack.look(place)
        stack.set("own", [[0.25]])
        plan = lattice.plan((0.3, 0.4))
        made = sc.GaussianField(4, device="cpu", generator=torch.Generator("cpu").manual_seed(0))
        yield from (stack["eccentricity"], stack["own"], stack["edge_distance"], stack.sample_foveated((0.3, 0.4)))
        yield from (
            texture.sample_foveated((0.3, 0.4), normalize="clip", dtype=torch.float32),
            made(points),
            made.scale_tril,
        )
        yield from (pyramid.sample_foveated((0.3, 0.4)), pyramid.sample_foveated((0.3, 0.4), m0=1.0, snap=False))
        yield pyramid.sample(page.new_tensor([[0.3, 0.4]]), 1.5)
        yield from (
            pyramid.sample_anisotropic(plan, (2.0, 1.0)),
            sc.text_direction(pyramid, plan),
            pyramid.sample_patches(plan),
        )
        yield from (sc.text_direction(pyramid, plan, ratio=3.0), field(points), torch.from_numpy(plan.coverage))
        yield lattice.plan(torch.tensor([0.3, 0.4], device="cpu", dtype=torch.float64)).geometry
        yield torch.from_numpy(sc.sample_foveated(sc.TexturePyramid(page.numpy()), (0.3, 0.4)))

    expected = list(results())
    torch.set_default_device("meta")
    try:
        found = list(results())
        sc.GaussianField(4)  # on it
    finally:
        torch.set_default_device(None)
    for made, wanted in zip(found, expected, strict=True):
        assert made.device.type == "cpu"
        assert torch.equal(made, wanted)
