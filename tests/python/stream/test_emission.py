"""`Emission`: positions in models' coordinates, conversions, what is new."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pysaccade as sc


def make_emission(
    geometry: np.ndarray, *, size: tuple[int, int], patch_size: int = 16, **fields: object
) -> sc.Emission:
    count = len(geometry)
    given: dict[str, object] = {
        "patches": np.arange(count * 3 * patch_size**2, dtype=np.uint8).reshape(count, 3, patch_size, patch_size),
        "geometry": geometry.astype(np.float32),
        "changed": np.arange(count) % 2 == 0,
        "frame": 7,
        "pts_ns": 280_000_000,
        "fixation": (0.25, 0.75),
        "size": size,
    }
    return sc.Emission(**{**given, **fields})  # type: ignore[arg-type]


def grid(height: int, width: int, patch: int) -> tuple[np.ndarray, np.ndarray]:
    """Geometry of a grid of patches at full resolution as f32 holds it, and their (row, column)."""
    rows, cols = np.divmod(np.arange((height // patch) * (width // patch)), width // patch)
    x = (cols * patch + patch / 2).astype(np.float32) / np.float32(width)
    y = (rows * patch + patch / 2).astype(np.float32) / np.float32(height)
    return np.stack([x, y, np.zeros_like(x), np.ones_like(x)], 1), np.stack([rows, cols], 1)


@given(st.integers(1, 200), st.integers(1, 200), st.sampled_from([14, 16, 32]), st.integers(0, 31), st.integers(0, 31))
def test_thw_of_a_grid_at_full_resolution_is_integers_to_the_bit(rows: int, cols: int, patch: int, dx: int, dy: int):
    geometry, truth = grid(rows * patch + dy % patch, cols * patch + dx % patch, patch)
    size = (rows * patch + dy % patch, cols * patch + dx % patch)
    some = np.linspace(0, len(geometry) - 1, 50).astype(int)
    thw = make_emission(geometry[some], size=size, patch_size=patch).positions("thw")
    assert thw.dtype == np.float32
    np.testing.assert_array_equal(thw, np.concatenate([np.full((50, 1), 7), truth[some]], 1))


@given(st.floats(0, 1, width=32), st.floats(0, 1, width=32))
def test_thw_of_any_place_follows_the_formula(u: float, v: float):
    thw = make_emission(np.array([[u, v, 2.5, 1]]), size=(1080, 1920)).positions("thw", t=2.5)
    np.testing.assert_allclose(thw, [[2.5, v * 1080 / 16 - 0.5, u * 1920 / 16 - 0.5]], rtol=1e-6, atol=1e-6)


def test_uv_and_xyl_are_the_geometry():
    geometry = np.array([[0.1, 0.2, 3, 1], [0.3, 0.4, 0.5, 0.25]], np.float32)
    emission = make_emission(geometry, size=(9, 16))
    np.testing.assert_array_equal(emission.positions("uv"), geometry[:, :2])
    np.testing.assert_array_equal(emission.positions("xyl"), geometry[:, :3])


def test_positions_are_a_copy():
    emission = make_emission(np.full((2, 4), 0.5), size=(64, 64))
    for kind in ("thw", "uv", "xyl"):
        emission.positions(kind)[:] = 9
    assert (emission.geometry == 0.5).all()


def test_wrong_kind_names_the_right_ones():
    with pytest.raises(ValueError, match="positions: kind is 'xy'; it must be one of 'thw', 'uv', 'xyl'"):
        make_emission(np.zeros((1, 4)), size=(16, 16)).positions("xy")


def test_new_is_changed_and_inside_the_frame():
    geometry = np.array([[0.5, 0.5, 0, 1], [0.5, 0.5, 0, 1], [-1, 0.5, 0, 0], [0.5, 0.5, 0, 0.1]])
    emission = make_emission(geometry, size=(64, 64), changed=np.array([True, False, True, True]))
    assert emission.new.tolist() == [True, False, False, True]
    assert emission.visible.tolist() == [True, True, False, True]
    assert (len(emission), emission.patch_size, emission.pts_seconds) == (4, 16, 0.28)


def test_repr_is_one_line_that_says_what_it_is():
    text = repr(make_emission(np.full((4, 4), 0.5), size=(64, 64)))
    assert text == "Emission(frame 7, 0.280 s, patches [4x3x16x16] uint8, 2 new, fixation (0.250, 0.750))"


@pytest.mark.torch
def test_to_gives_tensors_with_the_same_values_and_numpy_leads_back():
    import torch

    emission = make_emission(np.random.default_rng(1).random((4, 4)), size=(64, 64))
    emission.patches.flags.writeable = False  # as a dump's
    tensors = emission.to("cpu", torch.float32)
    assert (tensors.patches.dtype, tensors.geometry.dtype, tensors.changed.dtype) == (
        torch.float32,
        torch.float32,
        torch.bool,
    )
    assert torch.equal(tensors.patches.byte(), torch.from_numpy(emission.patches.copy()))
    assert tensors.new.tolist() == emission.new.tolist()
    for kind in ("thw", "uv", "xyl"):
        np.testing.assert_array_equal(tensors.positions(kind).numpy(), emission.positions(kind))
    np.testing.assert_array_equal(tensors.numpy().geometry, emission.geometry)
    assert tensors.numpy().frame == 7


@pytest.mark.torch
def test_to_takes_a_type_as_torch_and_streams_name_it():
    import torch

    emission = make_emission(np.random.default_rng(1).random((2, 4)), size=(64, 64))
    for dtype in (torch.float16, "f16", "float16", "torch.float16", np.float16, np.dtype("float16")):
        assert emission.to(dtype=dtype).patches.dtype == torch.float16
        assert emission.to("cpu", dtype).std == (1 / 255,) * 3
    assert emission.to(torch.bfloat16).patches.dtype == torch.bfloat16
    assert emission.to(torch.float16).geometry.dtype == torch.float32


@pytest.mark.torch
@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("gpu",), ValueError, "device is 'cpu', 'cuda', .* not 'gpu'"),
        ((1.5,), TypeError, "device takes"),
        (("cuda:99",), sc.UnavailableError, "there is no device 'cuda:99'; torch finds"),
        (("xpu",), sc.UnavailableError, "this torch has no device 'xpu'"),
        (("cpu", "floaty"), ValueError, "dtype is uint8, .* not 'floaty'"),
        (("cpu", object()), TypeError, "dtype takes a torch.dtype or its name"),
    ],
    ids=str,
)
def test_wrong_target_is_refused_in_one_line(arguments: tuple, kind: type, text: str):
    emission = make_emission(np.zeros((2, 4)), size=(64, 64))
    for of in (emission, batch_of(2)):
        with pytest.raises(kind, match=f"^{type(of).__name__}.to: {text}") as caught:
            of.to(*arguments)
        assert "\n" not in str(caught.value)


def batch_of(count: int) -> sc.EmissionBatch:
    frames = [np.full((48, 64, 3), 20 * number, np.uint8) for number in range(count)]
    return next(sc.Stream(frames, every="frame", device="cpu", array="numpy", tokens=40).batched(count))


def test_slice_of_a_batch_is_a_batch_without_a_copy():
    batch = batch_of(5)
    for part in (slice(1, 3), slice(None, None, 2), slice(-2, None), slice(None, None, -1)):
        some = batch[part]
        assert isinstance(some, sc.EmissionBatch)
        assert [emission.frame for emission in some] == list(range(5))[part]
        np.testing.assert_array_equal(some.patches, batch.patches[part])
        np.testing.assert_array_equal(some.geometry, np.stack([emission.geometry for emission in some]))
    assert np.shares_memory(batch[1:3].patches, batch.patches)
    with pytest.raises(IndexError, match=r"\[3:3\] of 5 emissions holds none"):
        batch[3:3]


def test_batch_has_what_its_emissions_have():
    batch = batch_of(3)
    for name in ("uv", "lod", "coverage", "visible", "new"):
        np.testing.assert_array_equal(getattr(batch, name), np.stack([getattr(one, name) for one in batch]))


@pytest.mark.torch
def test_batch_goes_to_torch_and_back():
    import torch

    batch = batch_of(3)
    tensors = batch.to("cpu", torch.float32)
    assert tensors.patches.dtype == torch.float32
    assert tensors.lod.shape == batch.lod.shape
    for one, was in zip(tensors, batch, strict=True):
        assert one.std == was.to(dtype="f32").std == (1 / 255,) * 3
        assert torch.equal(one.patches, was.to(dtype="f32").patches)
        assert one.patches.data_ptr() == tensors.patches[one.frame].data_ptr()
    assert [one.frame for one in tensors[1:]] == [1, 2]
    np.testing.assert_array_equal(tensors.numpy().patches, batch.patches.astype(np.float32))
