"""Ends and edges: memory that can't be written, resized images, the first and last level, what is left out."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")

import pysaccade as sc  # noqa: E402
from pysaccade import reference  # noqa: E402

PLAN = sc.PatchPlan(torch.tensor([[0.3, 0.4], [0.7, 0.5]]), torch.tensor([0.0, 1.5]), patch_size=8)


def image(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("kind", ["a mapped file", "bytes"])
def test_memory_that_cannot_be_written_is_refused(tmp_path: Path, kind: str):
    pyramid = sc.TexturePyramid(image(3, 32, 48).numpy())
    plan = sc.PatchPlan(PLAN.centers.numpy(), PLAN.lod.numpy(), patch_size=8)
    count = 2 * 3 * 8 * 8
    whole = bytes(4 * count)
    if kind == "bytes":
        flat = np.frombuffer(whole, np.float32)
    else:
        (tmp_path / "out").write_bytes(whole)
        with (tmp_path / "out").open("rb") as file:
            flat = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.float32)
    out = flat.reshape(2, 3, 8, 8)
    for call in (
        lambda: sc.sample_patches(pyramid, plan, out=out),
        lambda: sc.sample_anisotropic(pyramid, plan, np.ones((2, 2), np.float32), out=out),
        lambda: sc.sample_at_level(pyramid, 1, plan.centers, patch_size=8, out=out),
    ):
        with pytest.raises(ValueError, match="out can't be written"):
            call()
    assert whole == bytes(4 * count)


@pytest.mark.parametrize("shape", [(1, 3, 32, 64), (3, 32, 64), (2, 3, 32, 64)])
def test_levels_follow_an_image_that_was_resized(shape: tuple[int, ...]):
    for call in (lambda made: made.sample_patches(PLAN), lambda made: sc.sample_foveated(made, (0.5, 0.5))):
        x = image(*shape)
        pyramid = sc.TexturePyramid(x)
        call(pyramid)
        x.resize_((*shape[:-2], 16, 16))
        assert torch.equal(call(pyramid), call(sc.TexturePyramid(x.clone())))
        assert pyramid.size == (16, 16)


def test_levels_follow_an_image_whose_axes_were_swapped_in_place():
    x = image(1, 3, 32, 32)
    pyramid = sc.TexturePyramid(x)
    x.transpose_(2, 3)
    assert torch.equal(pyramid.level(1), sc.TexturePyramid(x.clone()).level(1))


@pytest.mark.parametrize(("levels", "lod"), [(4, 3.0), (1, 0.0), (4, 0.0), (4, 1.0), (4, 3.5), (4, -0.5)])
def test_gradient_to_lod_is_that_of_the_side_above(levels: int, lod: float):
    x, centers = image(1, 2, 64, 64).double(), torch.tensor([[[0.41, 0.53]]], dtype=torch.float64)
    weights = image(1, 1, 2, 8, 8).double()

    def loss(at: torch.Tensor) -> torch.Tensor:
        plan = sc.PatchPlan(centers, at, patch_size=8)
        return (sc.TexturePyramid(x, levels=levels).sample_patches(plan) * weights).sum()

    at = torch.full((1, 1), lod, dtype=torch.float64, requires_grad=True)
    (ours,) = torch.autograd.grad(loss(at), at)
    step = 1e-7
    above = (loss(at.detach() + step) - loss(at.detach())) / step
    assert ours.item() == pytest.approx(above.item(), rel=1e-4, abs=1e-6)
    plain = torch.full((1, 1), lod, dtype=torch.float64, requires_grad=True)
    defined = reference.sample_patches(reference.generate_mipmaps(x, levels, odd="edge"), centers, plain, 8)
    (theirs,) = torch.autograd.grad((defined * weights).sum(), plain)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-9, abs=1e-12)


def test_a_frame_that_lies_in_the_texture_is_read_before_it_is_written():
    frame = (image(3, 48, 48) * 255).byte()
    texture = sc.TexturePyramid.create_persistent((48, 48), channels=3)
    texture.update(frame)
    texture.update(texture.level(0).transpose(1, 2))
    assert torch.equal(texture.level(0), frame.transpose(1, 2))
    texture.update(texture.level(0).transpose(1, 2))  # by the way that is known now
    assert torch.equal(texture.level(0), frame)


def test_direction_of_text_in_arrays_is_that_in_tensors():
    page = torch.zeros(1, 96, 96)
    page[:, ::24, 8:88] = 1
    plan = sc.Lattice(tokens=40, size=(96, 96)).plan(torch.tensor([0.5, 0.5]))
    found = sc.text_direction(sc.TexturePyramid(page), plan)
    arrays = sc.PatchPlan(plan.centers.numpy(), plan.lod.numpy())
    other = sc.text_direction(sc.TexturePyramid(page.numpy()), arrays)
    assert isinstance(other, np.ndarray)
    np.testing.assert_array_equal(other, found.numpy())


@pytest.mark.parametrize("name", ["pyramid", "mipmaps", "plan", "foveated"])
def test_what_is_left_out_and_plain_numbers_compile(name: str):
    uv = torch.rand(1, 20, 2)
    lattice = sc.Lattice(tokens=60, size=(64, 96))
    calls = {
        "pyramid": lambda x: sc.TexturePyramid(x).sample(uv),
        "mipmaps": lambda x: sc.generate_mipmaps(x)[-1],
        "plan": lambda x: sc.sample_patches(sc.TexturePyramid(x), lattice.plan((0.3, 0.4))),
        "foveated": lambda x: sc.sample_foveated(sc.TexturePyramid(x), (0.3, 0.4), lattice),
    }
    x = image(1, 3, 64, 96)
    torch._dynamo.reset()
    compiled = torch.compile(calls[name], fullgraph=True, backend="aot_eager")(x)
    if name == "plan":
        expected = sc.sample_patches(sc.TexturePyramid(x), lattice.plan(torch.tensor([0.3, 0.4])))
    else:
        expected = calls[name](x)
    torch.testing.assert_close(compiled, expected, rtol=0, atol=0)
