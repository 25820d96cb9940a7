"""`sc.qwen`: its pixels are those of the models' processor, its features those of the whole frame."""

from __future__ import annotations

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip
from tower_support import FULL, changed_cells, of_frame, processed, tower, video

torch = import_or_skip("torch")
import_or_skip("transformers")
pytestmark = pytest.mark.torch

EVERY = {"every": "frame", "device": "cpu"}


@pytest.mark.parametrize("model", FULL)
@pytest.mark.parametrize("size", [(300, 400), (224, 448), (28, 30)])
def test_a_whole_look_is_what_the_processor_makes(model: str, size: tuple[int, int]) -> None:
    frames = video(*size)
    given = list(sc.qwen(frames, model, whole=True, **EVERY))
    assert len(given) == len(frames)
    for look, frame in zip(given, frames, strict=True):
        made = processed(frame, FULL[model])
        assert torch.equal(look.pixel_values, made["pixel_values"])
        assert torch.equal(look.image_grid_thw, made["image_grid_thw"])


@pytest.mark.parametrize("model", FULL)
def test_a_whole_look_has_the_features_of_its_frame(model: str) -> None:
    vision = tower(model)
    for look, frame in zip(sc.qwen(video(), model, whole=True, **EVERY), video(), strict=True):
        wanted = of_frame(vision, frame, FULL[model])
        with torch.no_grad():
            found = vision(**look.arguments(vision))
        torch.testing.assert_close(found.pooler_output, wanted.pooler_output, atol=1e-5, rtol=1e-5)
        for one, other in zip(
            getattr(found, "deepstack_features", None) or [],
            getattr(wanted, "deepstack_features", None) or [],
            strict=True,
        ):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("model", FULL)
def test_later_looks_have_what_changed(model: str) -> None:
    frames, cell_px = video(), FULL[model]
    given = {look.frame: look for look in sc.qwen(frames, model, **EVERY)}
    assert sorted(given) == [0, 1, 2, 4]  # the fourth frame is the third one
    for frame in (1, 2, 4):
        look, wanted = given[frame], changed_cells(frames[frame - 1], frames[frame], cell_px)
        rows, cols = wanted.shape
        assert look.grid == (rows, cols)
        if model == "qwen2.5-vl":  # all of a window of 4 x 4 cells
            filled = np.pad(wanted, ((0, -rows % 4), (0, -cols % 4))).reshape(-(-rows // 4), 4, -(-cols // 4), 4)
            wanted = filled.any(axis=(1, 3)).repeat(4, 0).repeat(4, 1)[:rows, :cols]
        assert look.cells.tolist() == np.flatnonzero(wanted).tolist()
        whole = processed(frames[frame], cell_px)["pixel_values"]
        assert torch.equal(look.pixel_values, whole[look.patches_of_grid])
        row, col = np.divmod(look.cells.numpy(), cols)
        first = look.patch_positions[::4].numpy()
        np.testing.assert_array_equal(first, np.stack([np.full_like(row, frame), row * 2, col * 2], -1))
        np.testing.assert_array_equal(look.patch_positions[3::4].numpy() - first, np.tile([0, 1, 1], (len(look), 1)))
        np.testing.assert_array_equal(look.token_positions.numpy()[:, 1:], np.stack([row, col], -1))


def test_windows_that_changed_have_the_features_of_the_frame() -> None:
    vision, frames = tower("qwen2.5-vl", full=()), video()
    for look in sc.qwen(frames, **EVERY):
        with torch.no_grad():
            found = vision(**look.arguments(vision)).pooler_output
        wanted = of_frame(vision, frames[look.frame], 28).pooler_output[look.cells]
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)


def test_a_stream_of_its_own_cells_is_taken() -> None:
    options = {"lattice": "uniform:0", "patch_size": 28, "fixation": "center", **EVERY}
    with sc.Stream(video(), **options) as stream:
        assert [look.frame for look in sc.qwen(stream)] == [0, 1, 2, 4]
        assert not stream.closed


def test_what_gives_other_cells_is_refused() -> None:
    with pytest.raises(ValueError, match=r"qwen: model is qwen2-vl, .*, not 'gpt'"):
        sc.qwen(video(), "gpt")
    with sc.Stream(video(), device="cpu") as stream, pytest.raises(ValueError, match=r"patch_size=28"):
        sc.qwen(stream)
    with pytest.raises(TypeError, match="unknown option 'ratee'"):
        sc.qwen(video(), ratee=2)
