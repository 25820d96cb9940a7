"""`sc.onevision`: the three tensors of LLaVA-OneVision-2, against NumPy, the processor, and lmms-video-utils."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip
from tower_support import Image, changed_cells, padded, processed, video

torch = import_or_skip("torch")
import_or_skip("transformers")
pytestmark = pytest.mark.torch

EVERY = {"every": "frame", "device": "cpu"}


def selection(frames: list[Image]) -> list[tuple[int, int, int]]:
    """Frame, row and column of each block that differs from the frame before."""
    found = []
    for frame in range(1, len(frames)):
        changed = changed_cells(frames[frame - 1], frames[frame], 28)
        found += [(frame, int(row), int(col)) for row, col in np.argwhere(changed)]
    return found


def block_layout(positions: Any, rows: int, cols: int) -> Any:
    """Patches of a picture, row by row, in the order in which 2 x 2 are merged."""
    return positions.reshape(rows, 2, cols, 2, 3).transpose(1, 2).reshape(-1, 3)


@pytest.mark.parametrize("size", [(300, 400), (224, 448)])
def test_looks_have_the_blocks_that_changed(size: tuple[int, int]) -> None:
    frames = video(*size)
    given = list(sc.onevision(frames, **EVERY))
    whole = processed(frames[0], 28, temporal=1)
    assert torch.equal(given[0].pixel_values, whole["pixel_values"])
    assert torch.equal(given[0].image_grid_thw, whole["image_grid_thw"])
    rows, cols = given[0].grid
    grid = np.stack(np.broadcast_arrays(0, *np.indices((rows * 2, cols * 2))), -1)
    assert torch.equal(given[0].patch_positions, block_layout(torch.tensor(grid), rows, cols))
    later = [
        tuple(each) for look in given[1:] for each in (look.patch_positions[::4] // torch.tensor([1, 2, 2])).tolist()
    ]
    assert later == selection(frames)
    for look in given[1:]:
        assert look.image_grid_thw.tolist() == [[1, 2, 2 * len(look)]]
        made = processed(frames[look.frame], 28, temporal=1)["pixel_values"]
        assert torch.equal(look.pixel_values, made[look.patches_of_grid])


@pytest.mark.parametrize("size", [(300, 400), (28, 56)])
def test_canvases_are_filled_and_the_last_one_is_padded(size: tuple[int, int]) -> None:
    frames = video(*size)
    given = list(sc.onevision(frames, canvases=True, **EVERY))
    rows, cols = given[0].grid
    blocks = selection(frames)
    assert len(given) == 1 + -(-len(blocks) // (rows * cols))
    positions = torch.cat([each.patch_positions for each in given[1:]])[::4]
    pixels = torch.cat([each.pixels for each in given[1:]])
    assert [tuple(each) for each in (positions[: len(blocks)] // torch.tensor([1, 2, 2])).tolist()] == blocks
    assert (positions[len(blocks) :] == -1).all()
    assert (pixels[len(blocks) :] == 0).all()
    for each in given:
        assert len(each) == rows * cols
        assert each.image_grid_thw.tolist() == [[1, rows * 2, cols * 2]]


@pytest.mark.skipif(importlib.util.find_spec("lmms_video_utils") is None, reason="lmms-video-utils is not installed")
def test_canvases_equal_those_of_lmms_video_utils(monkeypatch: pytest.MonkeyPatch) -> None:
    pack = importlib.import_module("lmms_video_utils.pack")
    config = importlib.import_module("lmms_video_utils.config").CodecConfig
    frames = [frame[:224, :336] for frame in video(224, 336)]
    blocks = selection(frames)
    size = (224 // 28) * (336 // 28)
    count = -(-len(blocks) // size)
    chosen = iter([(*block, 1.0) for block in blocks[k * size : (k + 1) * size]] for k in range(count))
    monkeypatch.setattr(pack, "_pick_blocks_for_p_canvas", lambda *_, **__: next(chosen))
    settings = config(images_per_group=count + 1, max_pixels=224 * 336, device="cpu")
    stack = torch.from_numpy(np.stack(frames)).permute(0, 3, 1, 2)
    canvases, positions = pack.pack_group(stack, torch.zeros(len(frames), 8, 12), settings)
    given = list(sc.onevision(frames, canvases=True, **EVERY))
    assert len(given) == len(canvases) == count + 1
    for look, canvas, their in zip(given, canvases, positions.split(4 * size), strict=True):
        made = processed(canvas.permute(1, 2, 0).numpy(), 28, temporal=1)
        assert torch.equal(look.pixel_values, made["pixel_values"])
        assert torch.equal(look.image_grid_thw, made["image_grid_thw"])
        assert torch.equal(look.patch_positions, block_layout(their, 8, 12))


def test_coarse_patches_lie_where_their_pixels_do() -> None:
    ramp = np.zeros((672, 1120, 3), np.uint8)
    ramp[..., 0], ramp[..., 1] = np.arange(1120) * 255 / 1119, (np.arange(672) * 255 / 671)[:, None]
    look = next(sc.onevision([ramp], coarse=True, tokens=120, fixation=(0.5, 0.5), **EVERY))
    assert len(look) <= 120
    assert look.patch_positions.dtype == torch.float32
    means = (
        look.pixels.float().unflatten(-1, (2, 14)).unflatten(-3, (2, 14)).mean((3, 5))[:, :2]
    )  # n, channel, row, col
    col, row = (means.permute(0, 2, 3, 1).reshape(-1, 2) / 255 * torch.tensor([1119, 671]) + 0.5).unbind(-1)
    inside = (look.patch_positions[:, 1:] * 14 + 7 - torch.tensor([336, 560])).abs() < torch.tensor([200, 400])
    inside = inside.all(-1)
    assert inside.sum() > 200
    torch.testing.assert_close(look.patch_positions[inside, 1] * 14 + 7, row[inside], atol=3, rtol=0)
    torch.testing.assert_close(look.patch_positions[inside, 2] * 14 + 7, col[inside], atol=5, rtol=0)
    with pytest.raises(ValueError, match="leave out coarse or canvases"):
        sc.onevision([ramp], coarse=True, canvases=True)


def test_edges_are_repeated() -> None:
    frame = video(30, 50)[0]
    look = next(sc.onevision([frame], **EVERY))
    np.testing.assert_array_equal(look.pixels[3].permute(1, 2, 0).numpy(), padded(frame, 28)[28:, 28:])
