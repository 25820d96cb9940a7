"""What C reads by addresses: the negative bit, gaps, packed records. Truth from torch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import torch.nn.functional as F  # noqa: E402

import pysaccade as sc  # noqa: E402
from tensor_support import image, patches_of, uniform  # noqa: E402

# ---- The negative bit ------------------------------------------------------------------------------------------------


def negative_views(values):
    """The same values with torch's negative bit: as parts of conjugates, and without gaps."""
    conjugate = torch.complex(torch.zeros_like(values), -values).conj().imag
    contiguous = torch._neg_view(-values)
    assert conjugate.is_neg()
    assert contiguous.is_neg()
    assert torch.equal(conjugate, values)
    return conjugate, contiguous


@pytest.mark.parametrize("which", [0, 1])
def test_negative_bit_of_an_image_is_read(which):
    x = image(1, 3, 64, 64) - 0.5
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4) * 2)
    expected = patches_of(sc.generate_mipmaps(x, None, odd="edge"), plan.centers, plan.lod, 16)
    assert torch.equal(sc.generate_mipmaps(x, 2)[1], F.avg_pool2d(x, 2))
    sc.TexturePyramid(x).sample_patches(plan)
    negative = negative_views(x)[which]
    assert torch.equal(sc.generate_mipmaps(negative, 2)[1], F.avg_pool2d(x, 2))
    pyramid = sc.TexturePyramid(negative)
    assert torch.allclose(pyramid.sample_patches(plan).double(), expected, atol=1e-5)
    assert torch.equal(pyramid.level(0), x)
    levels = [negative_views(level)[which] for level in sc.generate_mipmaps(x, 5)]
    assert torch.equal(sc.sample(levels, plan.centers, 1.5), sc.sample(sc.generate_mipmaps(x, 5), plan.centers, 1.5))


@pytest.mark.parametrize("which", [0, 1])
def test_negative_bit_of_places_is_read(which):
    pyramid = sc.TexturePyramid(image(1, 3, 64, 64))
    centers, lod, direction = uniform(1, 4, 2), uniform(1, 4), uniform(1, 4, 2, low=1, high=3)
    expected = patches_of([pyramid.level(n) for n in range(7)], centers, lod, 16)
    plan = sc.PatchPlan(centers, lod)
    patches = pyramid.sample_patches(plan)
    assert torch.allclose(patches.double(), expected, atol=1e-5)
    negative = sc.PatchPlan(negative_views(centers)[which], negative_views(lod)[which])
    assert torch.equal(pyramid.sample_patches(negative), patches)
    lines = negative_views(direction)[which]
    assert torch.equal(pyramid.sample_anisotropic(negative, lines), pyramid.sample_anisotropic(plan, direction))
    assert torch.equal(pyramid.sample(negative_views(centers)[which]), pyramid.sample(centers))
    fixation = negative_views(centers[:, 0])[which]
    assert torch.equal(pyramid.sample_foveated(fixation), pyramid.sample_foveated(centers[:, 0]))
    out = torch._neg_view(torch.empty_like(patches))
    assert torch.equal(pyramid.sample_patches(plan, out=out), patches)
    assert torch.equal(out, patches)


@pytest.mark.parametrize("which", [0, 1])
def test_negative_bit_of_frames_and_fields_is_read(which):
    texture = sc.TexturePyramid.create_persistent((40, 40), dtype=torch.float32)
    for seed in range(4):
        frame = image(3, 40, 40, seed=seed) - 0.5
        texture.update(negative_views(frame)[which] if seed % 2 else frame)
        assert torch.equal(texture.level(0), frame)
    field = [uniform(5, 2), uniform(4, 2, seed=2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1, seed=3) - 0.5]
    expected = sc.reference.gaussian_field(*[each[None] for each in field])[0]
    assert torch.allclose(sc.gaussian_field(*field), expected, atol=1e-5)
    for index in range(4):
        given = [negative_views(each)[which] if n == index else each for n, each in enumerate(field)]
        assert torch.allclose(sc.gaussian_field(*given), expected, atol=1e-5)


def test_negative_bit_of_gradients_is_read():
    x = image(3, 40, 40).requires_grad_()
    plan = sc.PatchPlan(uniform(4, 2), uniform(4) * 2)
    field = [uniform(5, 2), uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1).requires_grad_()]

    def gradient(made, of, times):
        part = made() * times if times else made()
        push = torch.complex(image(*part.shape, seed=5), image(*part.shape, seed=6))
        z = torch.complex(torch.zeros_like(part), part)
        return torch.autograd.grad((z.conj() * push).real.sum(), of)[0]

    for _ in range(1):
        for made, of in (
            (lambda: sc.TexturePyramid(x).sample_patches(plan), x),
            (lambda: sc.generate_mipmaps(x, 3)[2], x),
            (lambda: sc.sample([x], plan.centers), x),
            (lambda: sc.gaussian_field(*field), field[3]),
        ):
            assert torch.equal(gradient(made, of, None), gradient(made, of, 1.0))


# ---- Gaps ------------------------------------------------------------------------------------------------------------


def test_coordinates_with_gaps_are_read():
    pyramid, uv = sc.TexturePyramid(image(1, 3, 32, 32)), uniform(1, 5, 2)
    lod = uniform(1, 5) * 2
    gaps = uv.mT.contiguous().mT
    assert gaps.stride(-1) != 1
    plan, with_gaps = sc.PatchPlan(uv, lod), sc.PatchPlan(gaps, lod)
    expected = patches_of([pyramid.level(n) for n in range(7)], uv, lod, 16)
    assert torch.allclose(pyramid.sample_patches(with_gaps).double(), expected, atol=1e-5)
    assert torch.equal(pyramid.sample(gaps), pyramid.sample(uv))
    assert torch.equal(pyramid.sample_at_level(1.5, gaps), pyramid.sample_at_level(1.5, uv))
    assert torch.equal(pyramid.sample_anisotropic(plan, gaps), pyramid.sample_anisotropic(plan, uv))
    many = uniform(3, 2, 5, seed=7).mT  # each of the three has gaps
    mapped = torch.vmap(lambda each: pyramid.sample(each[None]))(many)
    assert torch.equal(mapped, torch.stack([pyramid.sample(each.contiguous()[None]) for each in many]))
    found = []
    for each in (uv, gaps):
        learns = each.detach().clone(memory_format=torch.preserve_format).requires_grad_()
        patches = pyramid.sample_patches(sc.PatchPlan(learns, lod))
        found.append(torch.autograd.grad(patches, learns, image(*patches.shape, seed=3))[0])
    assert torch.equal(*found)


def test_numpy_coordinates_with_gaps_are_read():
    pyramid = sc.TexturePyramid(image(1, 3, 32, 32).numpy())
    uv = uniform(1, 5, 2).numpy()
    gaps = np.ascontiguousarray(uv.swapaxes(1, 2)).swapaxes(1, 2)
    assert np.array_equal(pyramid.sample(gaps), pyramid.sample(uv))


def test_fields_of_packed_records_are_read():
    records = np.zeros((8, 8), [("tag", "u1"), ("depth", "<f4")])
    records["depth"] = depth = image(1, 8, 8)[0].numpy()
    assert np.array_equal(sc.generate_mipmaps(records["depth"][None], 2)[1], F.avg_pool2d(image(1, 8, 8), 2).numpy())
    points = np.zeros(6, [("id", "i2"), ("uv", "<f4", 2), ("lod", "<f4")])
    points["uv"], points["lod"] = uv, lod = uniform(6, 2).numpy(), uniform(6).numpy()
    pyramid = sc.TexturePyramid(records["depth"][None])
    levels = [torch.from_numpy(level) for level in sc.generate_mipmaps(depth[None, None], None, odd="edge")]
    expected = patches_of(levels, torch.from_numpy(uv)[None], torch.from_numpy(lod)[None], 4)
    made = pyramid.sample_patches(sc.PatchPlan(points["uv"], points["lod"], patch_size=4))
    assert np.allclose(made, expected[0].numpy(), atol=1e-5)
    out = np.zeros(made.shape, [("tag", "u1"), ("patch", "<f4")])["patch"]
    pyramid.sample_patches(sc.PatchPlan(uv, lod, patch_size=4), out=out)
    assert np.array_equal(out, made)
    uneven = np.frombuffer(b"\0" + depth.tobytes(), np.uint8)[1:].view("<f4").reshape(1, 8, 8)
    assert np.array_equal(sc.generate_mipmaps(uneven, 2)[1], sc.generate_mipmaps(depth[None], 2)[1])


def test_zeros_without_memory_are_zeros():
    assert sc.generate_mipmaps(image(1, 3, 8, 8), 2)[1].any()
    zeros = torch._efficientzerotensor((1, 3, 8, 8), dtype=torch.float32)
    assert not sc.generate_mipmaps(zeros, 2)[1].any()
    assert not sc.TexturePyramid(zeros).sample(uniform(1, 4, 2)).any()
    field = [uniform(5, 2), uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1)]
    assert sc.gaussian_field(*field).any()
    none = torch._efficientzerotensor((4, 1), dtype=torch.float32)
    assert not sc.gaussian_field(*field[:3], none).any()


# ---- Far apart -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numpy", [False, True])
@pytest.mark.parametrize("far", [0, 1])
def test_channel_that_spans_more_than_c_can_tell_apart_is_read(far, numpy):
    step = 2**31 - 1 - 15 + far  # from the one row to the other; nothing between them is touched
    near = image(1, 2, 2, 16, dtype=torch.uint8)
    memory = torch.empty(step + 100, dtype=torch.uint8)
    x = memory.as_strided((1, 2, 2, 16), (0, 32, step, 1)).copy_(near)
    plan = sc.PatchPlan(uniform(1, 4, 2), uniform(1, 4), patch_size=4)
    if numpy:
        x, near, plan = x.numpy(), near.numpy(), sc.PatchPlan(plan.centers.numpy(), plan.lod.numpy(), patch_size=4)
    equal = np.array_equal if numpy else torch.equal
    for levels in (2, 9):
        assert equal(sc.generate_mipmaps(x, levels, odd="edge")[1], sc.generate_mipmaps(near, 2, odd="edge")[1])
    expected = sc.TexturePyramid(near).sample_patches(plan)
    assert equal(sc.TexturePyramid(x).sample_patches(plan), expected)
    assert equal(sc.sample_patches([x], plan), sc.sample_patches([near], plan))
    if not numpy:
        texture = sc.TexturePyramid.create_persistent((2, 16), channels=2, batch=1)
        texture.update(255 - near)
        assert texture.update(x).tiles.all()
        assert torch.equal(texture.level(0), near)


# ---- Types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other"), [(torch.float64, torch.float32), (torch.float32, torch.float64)])
def test_lod_is_taken_in_the_type_of_the_centers(one, other):
    pyramid = sc.TexturePyramid(image(1, 3, 32, 32))
    plan = sc.PatchPlan(uniform(1, 5, 2, dtype=one), uniform(1, 5, dtype=other))
    assert plan.lod.dtype == one
    expected = pyramid.sample_patches(sc.PatchPlan(plan.centers, uniform(1, 5, dtype=other).to(one)))
    assert torch.equal(pyramid.sample_patches(plan), expected)
    assert np.array_equal(
        sc.TexturePyramid(image(1, 3, 32, 32).numpy()).sample_patches(
            sc.PatchPlan(plan.centers.numpy(), uniform(1, 5, dtype=other).numpy())
        ),
        expected.numpy(),
    )


# ---- Forward-mode derivatives ----------------------------------------------------------------------------------------

FORWARD = {
    "mipmaps": (lambda x: sc.generate_mipmaps(x, 2)[1], (1, 3, 16, 16)),
    "sample of an image": (lambda x: sc.TexturePyramid(x).sample(uniform(1, 3, 2)), (1, 3, 16, 16)),
    "sample of levels": (lambda x: sc.sample([x], uniform(1, 3, 2)), (1, 3, 16, 16)),
    "sample at places": (lambda uv: sc.sample([image(1, 3, 16, 16)], uv), (1, 3, 2)),
    "foveated": (lambda at: sc.sample_foveated([image(3, 16, 16)], at, snap=False), (2,)),
    "field": (lambda x: sc.gaussian_field(x, uniform(4, 2), torch.eye(2).repeat(4, 1, 1), uniform(4, 1)), (5, 2)),
    "mahalanobis": (lambda x: sc.mahalanobis(x, uniform(4, 2), torch.eye(2).repeat(4, 1, 1)), (5, 2)),
}


@pytest.mark.filterwarnings("ignore:.*torch.jit.script:FutureWarning")  # torch.func.jvp itself
@pytest.mark.parametrize("name", FORWARD)
def test_forward_mode_is_refused_in_words(name):
    call, shape = FORWARD[name]
    x = uniform(*shape)
    expected = call(x)
    with pytest.raises(RuntimeError, match="has no forward-mode derivative"):
        torch.func.jvp(call, (x,), (torch.ones_like(x),))
    with pytest.raises(RuntimeError, match="has no forward-mode derivative"):
        torch.func.jacfwd(call, randomness="same")(x)
    with torch.autograd.forward_ad.dual_level():
        assert torch.equal(call(x), expected)
        with pytest.raises(RuntimeError, match="has no forward-mode derivative"):
            call(torch.autograd.forward_ad.make_dual(x, torch.ones_like(x)))
