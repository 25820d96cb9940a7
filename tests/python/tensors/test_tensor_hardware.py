"""filtering="hardware" and "hybrid": the texture unit, within 2/255 of the exact samples, and never unasked."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from pysaccade.tensors._call import hardware as _hardware  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

TOLERANCE = 2 / 255  # of the texels' range
cuda = pytest.mark.cuda
UNIT_DTYPES = (torch.uint8, torch.uint16, torch.float16, torch.float32)


def span(dtype):
    return {torch.uint8: 255.0, torch.uint16: 65535.0}.get(dtype, 1.0)


def plan_for(batch, device="cpu", size=8):
    centers, lod = uniform(batch, 40, 2, low=-0.1, high=1.1), uniform(batch, 40, low=-0.5, high=5.0, seed=4)
    return sc.PatchPlan(centers.to(device), lod.to(device), patch_size=size)


def pair(x, **options):
    """The same pyramid, by the texture unit and exact."""
    return sc.TexturePyramid(x, filtering="hardware", **options), sc.TexturePyramid(x, **options)


def distance(some, others):
    return float((some.double() - others.double()).abs().max())


# ---- Without a GPU ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [np.zeros((3, 8, 8), np.float32), torch.zeros(3, 8, 8), torch.zeros(3, 8, 8).byte()])
def test_hardware_of_what_lies_on_the_cpu_is_refused_in_words(x):
    with pytest.raises(
        sc.UnavailableError, match=r"takes tensors on a CUDA device.*\[3, 8, 8\]; pass filtering='exact'"
    ):
        sc.TexturePyramid(x, filtering="hardware")
    late = sc.TexturePyramid(filtering="hardware")
    with pytest.raises(sc.UnavailableError, match="takes tensors on a CUDA device"):
        late.generate_mipmaps(x)


def test_hardware_levels_and_persistent_textures_on_the_cpu_are_refused_too():
    levels = sc.generate_mipmaps(image(3, 16, 16), 3)
    with pytest.raises(sc.UnavailableError, match="takes tensors on a CUDA device"):
        sc.TexturePyramid.from_levels(levels, filtering="hardware")
    with pytest.raises(sc.UnavailableError, match="takes tensors on a CUDA device"):
        sc.TexturePyramid.create_persistent((16, 16), device="cpu", filtering="hardware")


@pytest.mark.parametrize("grad", [True, False])
def test_hybrid_on_the_cpu_is_exact(grad):
    x, plan = image(2, 3, 40, 50), plan_for(2)
    with torch.set_grad_enabled(grad):
        hybrid = sc.TexturePyramid(x, filtering="hybrid").sample_patches(plan)
    assert torch.equal(hybrid, sc.TexturePyramid(x).sample_patches(plan))
    array = sc.TexturePyramid(x.numpy(), filtering="hybrid").sample(np.full((2, 1, 2), 0.4, np.float32))
    assert np.array_equal(array, sc.TexturePyramid(x.numpy()).sample(np.full((2, 1, 2), 0.4, np.float32)))


def test_hybrid_that_gets_no_texture_says_so_once_and_stays_hybrid(monkeypatch):
    tried = []

    def refuse(levels):
        tried.append(len(levels))
        raise sc.UnavailableError("too large for the device")

    monkeypatch.setattr(_hardware, "Texture", refuse)
    pyramid = sc.TexturePyramid(image(3, 16, 16), levels=3, filtering="hybrid")
    on_cuda = SimpleNamespace(is_cuda=True, dtype=torch.float32, numel=lambda: 768)
    monkeypatch.setattr(pyramid, "_image", on_cuda)
    monkeypatch.setattr(pyramid, "_levels_now", lambda: [on_cuda] * 3)
    with torch.no_grad():
        with pytest.warns(UserWarning, match="samples exactly, without the texture unit: too large for the device"):
            assert _hardware.texture_for(pyramid, False, False) is None
        assert _hardware.texture_for(pyramid, False, False) is None
    assert tried == [3]
    assert pyramid.filtering == "hybrid"
    monkeypatch.undo()
    pyramid.generate_mipmaps(image(3, 16, 16))
    assert pyramid._hardware is None  # another image may fit


# ---- On a GPU --------------------------------------------------------------------------------------------------------


@cuda
@pytest.mark.parametrize("padding", ["border", "zeros"])
@pytest.mark.parametrize("odd", ["edge", "floor"])
@pytest.mark.parametrize("dtype", UNIT_DTYPES)
def test_patches_are_within_the_tolerance(dtype, odd, padding):
    hardware, exact = pair(image(2, 3, 133, 97, dtype=dtype).cuda(), levels=5, odd=odd)
    plan = plan_for(2, "cuda")
    made, expected = (each.sample_patches(plan, dtype=torch.float32, padding=padding) for each in (hardware, exact))
    assert distance(made, expected) <= TOLERANCE
    assert not torch.equal(made, expected)  # it is the texture unit


@cuda
@pytest.mark.parametrize("dtype", UNIT_DTYPES)
def test_codes_and_halves_come_in_the_images_type(dtype):
    hardware, exact = pair(image(1, 2, 64, 64, dtype=dtype).cuda())
    made, expected = (each.sample_patches(plan_for(1, "cuda")) for each in (hardware, exact))
    assert made.dtype == dtype
    assert distance(made.to(torch.float64), expected.to(torch.float64)) <= TOLERANCE * span(dtype)


@cuda
def test_texels_themselves_are_exact():
    x = image(3, 64, 96).cuda()
    hardware, exact = pair(x, levels=4)
    plan = sc.Lattice(tokens=60, size=(64, 96), levels=4).plan(torch.tensor([0.4, 0.6], device="cuda"))
    assert torch.equal(hardware.sample_patches(plan), exact.sample_patches(plan))


@cuda
@pytest.mark.parametrize("rotate", [True, False])
def test_points_directions_and_normalized_patches_are_within_the_tolerance(rotate):
    hardware, exact = pair(image(2, 3, 80, 80).cuda(), levels=5)
    plan, uv = plan_for(2, "cuda"), uniform(2, 7, 11, 2).cuda()
    lines = uniform(2, 40, 2, low=-6, high=6, seed=8).cuda()
    for call in (
        lambda t: t.sample(uv, 1.3),
        lambda t: t.sample_anisotropic(plan, lines, rotate=rotate),
        lambda t: t.sample_at_level(1.5, uv.flatten(1, 2)),
        lambda t: t.sample_foveated(torch.tensor([[0.2, 0.3], [0.7, 0.5]], device="cuda"), tokens=60),
    ):
        assert distance(call(hardware), call(exact)) <= TOLERANCE
    made, expected = (each.sample_patches(plan, normalize="clip") for each in (hardware, exact))
    assert distance(made, expected) <= TOLERANCE / 0.26


@cuda
def test_out_is_written_and_channels_last_is_read():
    x = image(2, 5, 48, 56).cuda().to(memory_format=torch.channels_last)
    hardware, exact = pair(x, levels=3)
    out = torch.empty(2, 40, 5, 8, 8, device="cuda")
    plan = plan_for(2, "cuda")
    assert hardware.sample_patches(plan, out=out) is out
    assert distance(out, exact.sample_patches(plan)) <= TOLERANCE


@cuda
def test_hybrid_is_exact_with_gradients_enabled_and_hardware_without():
    x, plan = image(2, 3, 90, 90).cuda(), plan_for(2, "cuda")
    hybrid, exact = sc.TexturePyramid(x, filtering="hybrid"), sc.TexturePyramid(x)
    expected = exact.sample_patches(plan)
    assert torch.equal(hybrid.sample_patches(plan), expected)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            fast = hybrid.sample_patches(plan)
        assert 0 < distance(fast, expected) <= TOLERANCE
    assert torch.equal(hybrid.sample_patches(plan), expected)
    learns = sc.TexturePyramid(x.clone().requires_grad_(), filtering="hybrid")
    assert torch.equal(learns.sample_patches(plan), expected)
    assert learns.sample_patches(plan).requires_grad


@cuda
def test_exact_is_the_same_in_every_grad_mode():
    x, plan = image(2, 3, 90, 90).cuda(), plan_for(2, "cuda")
    with torch.no_grad():
        quiet = sc.TexturePyramid(x).sample_patches(plan)
    assert torch.equal(quiet, sc.TexturePyramid(x).sample_patches(plan))


@cuda
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_types_that_the_unit_lacks(dtype):
    x, plan = image(1, 3, 32, 32, dtype=dtype).cuda(), plan_for(1, "cuda")
    with pytest.raises(sc.UnavailableError, match="of uint8, uint16, float16, float32; the image is a tensor"):
        sc.TexturePyramid(x, filtering="hardware")
    with torch.no_grad():
        hybrid = sc.TexturePyramid(x, filtering="hybrid").sample_patches(plan)
    assert torch.equal(hybrid, sc.TexturePyramid(x).sample_patches(plan))


@cuda
def test_more_layers_than_the_device_has():
    x, plan = image(3, 700, 8, 8).cuda(), plan_for(3, "cuda", size=2)
    with pytest.raises(sc.UnavailableError, match="batch times channels is too large"):
        sc.TexturePyramid(x, levels=2, filtering="hardware").sample_patches(plan)
    hybrid = sc.TexturePyramid(x, levels=2, filtering="hybrid")
    with torch.no_grad(), pytest.warns(UserWarning, match="samples exactly, without the texture unit: .*too large"):
        assert torch.equal(hybrid.sample_patches(plan), sc.TexturePyramid(x, levels=2).sample_patches(plan))
    assert hybrid.filtering == "hybrid"


@cuda
def test_a_gradient_of_hardware_is_refused_in_words():
    x = image(1, 3, 32, 32).cuda()
    pyramid = sc.TexturePyramid(x.requires_grad_(), filtering="hardware")
    with pytest.raises(ValueError, match=r"filtering='hardware' gives no gradient; sample under torch\.no_grad\(\)"):
        pyramid.sample_patches(plan_for(1, "cuda"))
    with torch.no_grad():
        assert pyramid.sample_patches(plan_for(1, "cuda")).shape == (1, 40, 3, 8, 8)
    plan = plan_for(1, "cuda")
    plan.centers.requires_grad_()
    with pytest.raises(ValueError, match="gives no gradient"):
        sc.TexturePyramid(x.detach(), filtering="hardware").sample_patches(plan)


@cuda
def test_what_changed_is_seen():
    hardware, exact = pair(image(3, 64, 64).cuda(), levels=4)
    plan = plan_for(1, "cuda")
    plan = sc.PatchPlan(plan.centers[0], plan.lod[0], patch_size=8)
    before = hardware.sample_patches(plan)
    hardware.level(0).mul_(0.25)
    for each in (hardware, exact):
        each.generate_mipmaps()
    after = hardware.sample_patches(plan)
    assert distance(after, before) > TOLERANCE
    assert distance(after, exact.sample_patches(plan)) <= TOLERANCE


@cuda
@pytest.mark.parametrize("filtering", ["hardware", "hybrid"])
def test_persistent_texture_follows_its_updates(filtering):
    texture = sc.TexturePyramid.create_persistent((80, 64), device="cuda", levels=4, filtering=filtering)
    plain = sc.TexturePyramid.create_persistent((80, 64), device="cuda", levels=4)
    frames = [image(3, 80, 64, dtype=torch.uint8, seed=k).cuda() for k in range(3)]
    frames.append(frames[-1].clone())
    frames[-1][:, 20:30] = 9
    with torch.no_grad():
        for frame in frames:
            for each in (texture, plain):
                each.update(frame)
            made, expected = (each.sample_foveated((0.4, 0.5), tokens=40) for each in (texture, plain))
            assert distance(made, expected) <= 2


@cuda
def test_other_streams_see_what_was_written():
    x, plan = image(2, 3, 256, 256).cuda(), plan_for(2, "cuda")
    expected = sc.TexturePyramid(x).sample_patches(plan)
    for _ in range(50):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            hardware = sc.TexturePyramid(x, filtering="hardware")
            hardware.sample_patches(plan)
        torch.cuda.current_stream().wait_stream(side)
        made = hardware.sample_patches(plan)
        del hardware  # what is queued is done before the memory goes
        assert distance(made, expected) <= TOLERANCE


@cuda
def test_sampling_in_a_graph_gives_the_same():
    x, plan = image(2, 3, 128, 128).cuda(), plan_for(2, "cuda")
    hardware = sc.TexturePyramid(x, filtering="hardware")
    expected = hardware.sample_patches(plan)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = hardware.sample_patches(plan)
    made.zero_()
    graph.replay()
    assert torch.equal(made, expected)


@cuda
def test_many_pyramids_leave_no_memory():
    x, plan = image(1, 3, 512, 512).cuda(), plan_for(1, "cuda")

    def some(count):
        for _ in range(count):
            sc.TexturePyramid(x, filtering="hardware").sample_patches(plan)
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    first = some(20)
    assert some(200) >= first - (64 << 20)


@cuda
def test_compiled_hybrid_is_exact_and_compiled_hardware_is_refused():
    x, plan = image(2, 3, 40, 40).cuda(), plan_for(2, "cuda")

    def patches(x, filtering):
        return sc.TexturePyramid(x, levels=3, filtering=filtering).sample_patches(plan)

    torch._dynamo.reset()
    compiled = torch.compile(patches, backend="aot_eager")
    with torch.no_grad():
        assert torch.equal(compiled(x, "hybrid"), sc.TexturePyramid(x, levels=3).sample_patches(plan))
    with pytest.raises(Exception, match="filtering='hardware' can't be traced"):
        torch.vmap(lambda each: patches(each, "hardware"))(x[:, None])


@cuda
def test_process_that_ends_with_textures_ends_well():
    code = (
        "import torch, pysaccade as sc; x = torch.rand(3, 64, 64, device='cuda');"
        "p = sc.TexturePyramid(x, filtering='hardware'); q = p.sample(torch.rand(5, 2, device='cuda')); print(q.shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
