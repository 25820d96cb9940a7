"""`examples/vlm.py`: of a grid at full resolution its tokens are those that `transformers` makes of the whole frame."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pysaccade as sc
from conftest import ROOT, skip_or_fail

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def vlm() -> Any:
    if importlib.util.find_spec("transformers") is None:
        skip_or_fail("transformers", "transformers is not installed")
    spec = importlib.util.spec_from_file_location("vlm", ROOT / "examples" / "vlm.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def grid_and_picture(rows: int, cols: int, side: int, source: str = "noise") -> tuple[sc.Emission, Any]:
    """An emission of a grid at lod 0, and the picture [3, H, W] that its patches tile."""
    size = f"{cols * side}x{rows * side}"
    options = {"lattice": "uniform", "lod": 0, "tokens": rows * cols, "patch_size": side, "dtype": "f32"}
    emission = next(sc.Stream(f"test://{source}?size={size}", device="cpu", normalize="siglip", **options))
    picture = emission.patches.unflatten(0, (rows, cols)).permute(2, 0, 3, 1, 4).reshape(3, rows * side, cols * side)
    return emission, picture


@pytest.mark.parametrize(("rows", "cols"), [(16, 16)])
def test_siglip2_tokens_of_a_grid_are_the_towers_of_the_frame(vlm: Any, rows: int, cols: int):
    import torch
    from transformers.models.siglip2.image_processing_siglip2 import convert_image_to_patches

    torch.manual_seed(1)
    tower = vlm.tiny_siglip2()
    emission, picture = grid_and_picture(rows, cols, 16)
    with torch.no_grad():
        wanted = tower(
            pixel_values=convert_image_to_patches(picture, 16)[None],
            pixel_attention_mask=torch.ones(1, rows * cols),
            spatial_shapes=torch.tensor([[rows, cols]]),
        ).last_hidden_state[0]
        found = vlm.Siglip2Tokens(tower)(emission)
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_qwen_tokens_of_a_grid_are_the_towers_of_the_frame(vlm: Any):
    import torch
    from transformers import AutoConfig  # noqa: F401  (transformers is whole)

    torch.manual_seed(2)
    tower = vlm.tiny_qwen()
    rows, cols = 6, 4
    emission, picture = grid_and_picture(rows, cols, 28)
    # The processor's order: rows and columns of merged patches, then the four of each, then channel, time, y, x.
    cells = picture.reshape(3, rows, 2, 14, cols, 2, 14).permute(1, 4, 2, 5, 0, 3, 6)
    pixels = cells.unsqueeze(5).expand(-1, -1, -1, -1, -1, 2, -1, -1).reshape(rows * cols * 4, -1)
    with torch.no_grad():
        wanted = tower(pixels, grid_thw=torch.tensor([[1, rows * 2, cols * 2]])).pooler_output
        found = vlm.QwenTokens(tower)(emission)
    torch.testing.assert_close(found, wanted, atol=1e-4, rtol=1e-4)


def test_tokens_see_places_and_scales(vlm: Any, clip: Path):
    import torch

    torch.manual_seed(3)
    tokens = vlm.Siglip2Tokens(vlm.tiny_siglip2())
    emission = next(sc.Stream(clip, lattice="nested", device="cpu", dtype="f32", normalize="siglip"))
    with torch.no_grad():
        before = tokens(emission)
        emission.geometry[:, :2] = emission.geometry[:, :2].flip(0)
        moved = tokens(emission)
        tokens.scale.weight[2] = torch.linspace(-1, 1, 64)
        scaled = tokens(emission)
    assert before.shape == (int(emission.visible.sum()), 64)
    assert (before - moved).abs().max() > 1e-3
    assert (scaled - moved).abs().max() > 1e-3


def test_rotary_positions_depend_on_distances_alone(vlm: Any):
    import torch

    emission, _ = grid_and_picture(8, 8, 16)
    cos, sin = vlm.onevision_rotary(emission, 64)
    generator = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 64, generator=generator)
    queries, keys = vlm.rotate(query.expand(64, 64), cos, sin), vlm.rotate(key.expand(64, 64), cos, sin)
    weights = (queries @ keys.T).reshape(8, 8, 8, 8)  # row, column of the query, of the key
    torch.testing.assert_close(weights[1:, 1:, 1:, 1:], weights[:-1, :-1, :-1, :-1], atol=1e-3, rtol=1e-3)
    assert (weights[0, 0, 0, 1] - weights[0, 0, 1, 0]).abs() > 1e-3


def test_script_runs_on_a_clip_with_tiny_towers(vlm: Any, clip: Path):
    command = [sys.executable, ROOT / "examples/vlm.py", clip, "--emissions", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("tokens") == 4
