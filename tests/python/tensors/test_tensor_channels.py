"""Stacks of named channels: what each maker gives, incremental equals rebuilt, and the direction of text."""

from __future__ import annotations

import math

import numpy as np
import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import DEVICES, image, uniform  # noqa: E402

ALL = ["rgb", "luma", "scharr", "center_surround", "edge_distance", "position", "eccentricity", "previous_fixation"]


def stack_of(*channels, size=(50, 70), **options):
    return sc.channels.ChannelStack(size, channels, **options)


def test_colour_and_luma_are_fractions():
    stack = stack_of("rgb", "luma")
    frame = image(3, 50, 70, dtype=torch.uint8)
    stack.update(frame)
    assert stack.names == ["r", "g", "b", "luma"]
    assert torch.equal(stack["g"], frame[1] / 255)
    want = torch.einsum("c,chw->hw", torch.tensor([0.2126, 0.7152, 0.0722]).double(), frame.double() / 255)
    assert (stack["luma"] - want).abs().max() < 1e-6


def test_scharr_is_numpys_correlation():
    stack = stack_of("scharr", frame_dtype=torch.float32)
    luma = image(1, 50, 70)
    stack.update(luma.expand(3, 50, 70))
    padded = np.pad(luma[0].double().numpy(), 1, mode="edge")
    kernel = np.array([[-3, 0, 3], [-10, 0, 10], [-3, 0, 3]]) / 16
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3))
    x, y = (np.einsum("yxij,ij->yx", windows, k) for k in (kernel, kernel.T))
    assert np.abs(stack["scharr_x"].numpy() - x).max() < 1e-5
    assert np.abs(stack["scharr_y"].numpy() - y).max() < 1e-5
    assert np.abs(stack["scharr"].numpy() - np.hypot(x, y)).max() < 1e-5


def test_center_surround_is_the_difference_of_two_boxes():
    stack = stack_of("center_surround", frame_dtype=torch.float32)
    luma = image(1, 50, 70)
    stack.update(luma.expand(3, 50, 70))
    padded = torch.nn.functional.pad(luma[None].double(), (8, 8, 8, 8), mode="replicate")
    small = torch.nn.functional.avg_pool2d(padded[..., 7:-7, 7:-7], 3, 1)
    large = torch.nn.functional.avg_pool2d(padded, 17, 1)
    assert (stack["center_surround"] - (small - large).abs()[0, 0]).abs().max() < 1e-6


def test_edge_distance_is_euclidean_by_brute_force():
    frame = torch.zeros(3, 50, 70)
    frame[:, 20:, 30:] = 1
    stack = stack_of("edge_distance", "scharr", frame_dtype=torch.float32)
    stack.update(frame)
    rows, columns = np.nonzero(stack["scharr"].numpy() > 0.1)
    ys, xs = np.mgrid[:50, :70]
    nearest = np.sqrt(((ys[..., None] - rows) ** 2 + (xs[..., None] - columns) ** 2).min(-1))
    assert np.abs(stack["edge_distance"].numpy() - np.minimum(nearest, 16) / 16).max() < 1e-6


def test_position_and_fixations():
    stack = stack_of("position", "eccentricity", "previous_fixation")
    stack.update(image(3, 50, 70, dtype=torch.uint8))
    assert stack["x"][0, 3] == pytest.approx(3.5 / 70)
    assert stack["y"][7, 0] == pytest.approx(7.5 / 50)
    stack.look((0.25, 0.5))
    stack.look((0.75, 0.5))
    where = torch.stack([stack["x"], stack["y"]], -1)
    for name, at in (("eccentricity", (0.75, 0.5)), ("previous_fixation", (0.25, 0.5))):
        want = sc.eccentricity(where, at, size=(50, 70), unit="uv")
        assert (stack[name] - want).abs().max() < 1e-6


def test_each_image_of_a_batch_has_its_own_fixation():
    stack = stack_of("eccentricity", "previous_fixation", batch=2)
    stack.update(image(2, 3, 50, 70, dtype=torch.uint8))
    at = [[[0.1, 0.1], [0.9, 0.9]], [0.3, 0.4], [[0.2, 0.6]]]
    for fixation in at[:2]:
        stack.look(torch.tensor(fixation))
    alone = [stack_of("eccentricity", "previous_fixation") for _ in range(2)]
    for index, each in enumerate(alone):
        each.update(image(3, 50, 70, dtype=torch.uint8))
        each.look(at[0][index])
        each.look(at[1])
        assert torch.equal(each["eccentricity"], stack["eccentricity"][index])
        assert torch.equal(each["previous_fixation"], stack["previous_fixation"][index])
    assert not torch.equal(stack["previous_fixation"][0], stack["previous_fixation"][1])
    stack.look(at[2])
    assert torch.equal(stack["eccentricity"][0], stack["eccentricity"][1])


@pytest.mark.parametrize(
    ("batch", "fixation", "kind", "text"),
    [
        (None, (float("nan"), 0.5), ValueError, "ChannelStack.look: fixation is not finite"),
        (None, (5, 5), ValueError, "from 0 to 1"),
        (None, (0.1, 0.2, 0.3), ValueError, r"fixation is \[3\]; it must be \(u, v\)"),
        (None, [[0.1, 0.1], [0.9, 0.9]], ValueError, r"fixation is \[2, 2\]"),
        (3, [[0.1, 0.1], [0.9, 0.9]], ValueError, r"it must be \(u, v\), or \[3, 2\]"),
        (None, "centre", TypeError, "fixation takes .u, v., not str"),
    ],
)
def test_fixation_that_is_none_is_refused_in_words(batch, fixation, kind, text):
    stack = stack_of("eccentricity", batch=batch)
    before = stack["eccentricity"].clone()
    with pytest.raises(kind, match=text):
        stack.look(fixation)
    assert torch.equal(stack["eccentricity"], before)


def test_time_is_counted_in_updates():
    stack = stack_of("last_change", "age", size=(32, 48))
    frame = torch.zeros(3, 32, 48, dtype=torch.uint8)
    stack.update(frame)
    stack.update(frame)
    frame[0, 0, 0] = 9
    stack.update(frame)
    assert stack["last_change"][0, 0] == 3
    assert stack["last_change"][0, 16] == 1
    assert stack["age"][15, 15] == 0
    assert stack["age"][16, 0] == 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_time_ends_at_the_greatest_number_of_the_type(dtype):
    stack = stack_of("last_change", "age", size=(32, 48), dtype=dtype)
    frame = torch.zeros(3, 32, 48, dtype=torch.uint8)
    stack.update(frame)
    stack.updates = 100_000  # as after so many
    frame[0, 0, 0] = 9
    stack.update(frame)
    most = min(100_001, torch.finfo(dtype).max)
    assert stack["last_change"][0, 0] == torch.tensor(most, dtype=dtype)
    assert stack["age"][16, 0] == torch.tensor(min(100_000, torch.finfo(dtype).max), dtype=dtype)
    assert stack["last_change"][16, 0] == 1
    assert stack["age"][0, 0] == 0
    assert stack.sample_foveated((0.5, 0.5), patch_size=4).isfinite().all()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_incremental_is_rebuilt(dtype, device):
    kept = stack_of(*ALL, "last_change", dtype=dtype, device=device)
    frame = image(3, 50, 70, dtype=torch.uint8).to(device)
    kept.update(frame)
    for step, (y, x) in enumerate([(0, 0), (49, 69), (20, 33), (31, 15), (16, 48)]):
        frame = frame.clone()
        frame[:, y : y + 5, x : x + 3] ^= 255
        damage = kept.update(frame)
        assert 1 <= int(damage.count) <= 4
        fresh = stack_of(*ALL, dtype=dtype, device=device)
        fresh.update(frame)
        for name in fresh.names:
            assert torch.equal(kept[name], fresh[name]), (step, name)
        base = kept.pyramid.level(0).clone()
        rebuilt = sc.TexturePyramid(base, levels=kept.pyramid.levels)
        for level in range(1, rebuilt.levels):
            assert torch.equal(kept.pyramid.level(level), rebuilt.level(level)), (step, level)


def test_slots_take_any_resolution():
    stack = stack_of("luma", sc.channels.slot("attention"), sc.channels.slot("embedding", 3))
    assert stack.names[1:] == ["attention", "embedding.0", "embedding.1", "embedding.2"]
    stack.update(image(3, 50, 70, dtype=torch.uint8))
    stack.set("attention", image(5, 7))
    want = torch.nn.functional.interpolate(image(5, 7)[None, None], (50, 70), mode="bilinear", align_corners=False)
    assert torch.equal(stack["attention"], want[0, 0])
    stack.set("embedding", sc.channels.pca(image(16, 5, 7), 3))
    assert 0 <= float(stack["embedding.2"].min()) <= float(stack["embedding.2"].max()) <= 1
    rebuilt = sc.TexturePyramid(stack.pyramid.level(0).clone())
    assert torch.equal(stack.pyramid.level(3), rebuilt.level(3))


def test_pca_keeps_the_directions_of_greatest_spread():
    strong = torch.linspace(-1, 1, 64).reshape(1, 8, 8)
    embedding = torch.cat([strong * 5, image(1, 8, 8) * 0.1, -strong * 3])
    made = sc.channels.pca(embedding, 1)
    assert made.shape == (1, 8, 8)
    ramp = (strong + 1) / 2
    assert min((made - ramp).abs().max(), (made - 1 + ramp).abs().max()) < 0.05


def test_pca_of_few_embeddings_has_the_channels_that_were_asked_for():
    few = image(64, 2, 2)
    made = sc.channels.pca(few, 10)
    assert made.shape == (10, 2, 2)
    rank = int(
        torch.linalg.matrix_rank(few.reshape(64, 4).double() - few.reshape(64, 4).double().mean(1, keepdim=True))
    )
    assert made.flatten(1).any(1).tolist() == [True] * rank + [False] * (10 - rank)
    stack = stack_of(sc.channels.slot("few", 10))
    stack.set("few", made)


def test_basis_keeps_channels_alike_from_frame_to_frame():
    first, second = image(8, 16, 16), image(8, 16, 16, seed=2) * 0.5
    basis = sc.channels.components(first, 3)
    rows = (first.reshape(8, -1).T - first.reshape(8, -1).T.mean(0)).double().numpy()
    expected = np.linalg.svd(rows, full_matrices=False)[2][:3]
    assert np.allclose(np.abs(np.sum(expected * basis.vectors.T.numpy(), 1)), 1, atol=1e-5)
    assert torch.equal(sc.channels.pca(first, 3, basis=basis), sc.channels.pca(first, 3))
    both = torch.stack([first, second])
    together, alone = sc.channels.pca(both, 3, basis=basis), sc.channels.pca(second, 3, basis=basis)
    assert torch.allclose(together[1], alone, atol=1e-6)
    assert torch.allclose(together[0], sc.channels.pca(first, 3), atol=1e-6)
    assert not torch.allclose(alone, sc.channels.pca(second, 3), atol=0.05)
    assert torch.allclose(sc.channels.pca(first, 3, basis=basis.vectors), sc.channels.pca(first, 3), atol=1e-6)
    with pytest.raises(ValueError, match=r"basis is float32 \[8, 3\]; it must be \[8, 2\]"):
        sc.channels.pca(first, 2, basis=basis)
    with pytest.raises(ValueError, match="embedding is float32"):
        sc.channels.pca(image(8, 8), 2)


def test_one_word_is_no_list_of_channels():
    with pytest.raises(TypeError, match=r"channels takes a list such as \['rgb', 'luma'\], not str 'rgb'"):
        sc.channels.ChannelStack((20, 20), "rgb")


def test_forty_channels_are_sampled_together():
    stack = stack_of("rgb", sc.channels.slot("features", 37), size=(64, 64), batch=2)
    features = image(2, 37, 64, 64)
    frames = image(2, 3, 64, 64, dtype=torch.uint8)
    stack.update(frames)
    stack.set("features", features)
    patches = stack.sample_foveated(uniform(2, 2), sc.Lattice(tokens=30))
    assert patches.shape[2:] == (40, 16, 16)
    whole = sc.TexturePyramid(torch.cat([frames.float() / 255, features], 1))
    assert torch.equal(patches, whole.sample_foveated(uniform(2, 2), sc.Lattice(tokens=30)))


def test_maker_of_ones_own():
    red = sc.channels.Maker(("redness",), lambda frame, **_: frame[:, :1] - frame[:, 2:])
    stack = stack_of(red)
    frame = image(3, 50, 70, dtype=torch.uint8)
    stack.update(frame)
    assert torch.equal(stack["redness"], frame[0] / 255 - frame[2] / 255)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: stack_of("lumma"), "no channel maker 'lumma'; there are rgb, luma"),
        (lambda: stack_of("luma", "luma"), "channels named twice: luma"),
        (stack_of, "channels is empty"),
        (lambda: stack_of("luma")["red"], "no channel 'red'; there are luma"),
        (lambda: stack_of("luma").set("x", torch.zeros(1, 2, 2)), "no slot 'x'; there are none"),
        (
            lambda: stack_of(sc.channels.slot("x", 2)).set("x", torch.zeros(3, 2, 2)),
            r"x is \[1, 3, 2, 2\]; it must be \[B, 2, h, w\]",
        ),
        (lambda: sc.channels.pca(torch.zeros(3, 2, 2), 4), "channels is 4; the embedding has 3"),
    ],
)
def test_error_names_what_there_is(call, text):
    with pytest.raises(ValueError, match=text):
        call()


# ---- The direction of text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [-60, -30, 0, 20, 45, 80])
def test_direction_of_lines_is_found(degrees):
    """Bars 24 pixels apart, with letters' strokes across them that melt at level 3."""
    slope = math.radians(degrees)
    ys, xs = torch.meshgrid(torch.arange(256.0), torch.arange(256.0), indexing="ij")
    along = xs * math.cos(slope) + ys * math.sin(slope)
    across = -xs * math.sin(slope) + ys * math.cos(slope)
    page = 1 - ((across % 24 < 12) & (along % 4 < 2)).float()
    plan = sc.PatchPlan(torch.tensor([[0.5, 0.5], [0.4, 0.6]]), 2.0)
    found = sc.text_direction(sc.TexturePyramid(page[None]), plan, ratio=3.0)
    want = 3 * torch.tensor([math.cos(slope), math.sin(slope)])
    assert (found - want).norm(dim=-1).max() < 0.2


def test_nothing_has_no_direction():
    plan = sc.PatchPlan(torch.full((1, 4, 2), 0.5), 0.0)
    found = sc.text_direction(sc.TexturePyramid(torch.zeros(1, 3, 64, 64, dtype=torch.uint8)), plan)
    assert found.tolist() == [[[2.0, 0.0]] * 4]
