"""Videos with known changes, and small towers of random weights for what vision towers take."""

from __future__ import annotations

from typing import Any

import numpy as np

Image = np.ndarray[Any, np.dtype[np.uint8]]
FULL = {"qwen2-vl": 28, "qwen2.5-vl": 28, "qwen3-vl": 32}


def video(height: int = 300, width: int = 400, seed: int = 0) -> list[Image]:
    """Frames of noise: the first one, a change of one pixel, of a box, none, and the first one again."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 256, (height, width, 3), np.uint8)
    second = first.copy()
    second[height // 2, width // 2] ^= 1
    third = second.copy()
    box = third[height // 8 : height // 3, width // 4 : width // 2]
    box[:] = rng.integers(0, 256, box.shape, np.uint8)
    return [first, second, third, third.copy(), first]


def padded(frame: Image, cell_px: int) -> Image:
    """With its right and lower edge repeated to whole cells."""
    height, width = frame.shape[:2]
    return np.pad(frame, ((0, -height % cell_px), (0, -width % cell_px), (0, 0)), mode="edge")


def changed_cells(before: Image, after: Image, cell_px: int) -> Any:
    """[rows, cols] bool: which cells differ."""
    differs = (padded(before, cell_px) != padded(after, cell_px)).any(-1)
    rows, cols = differs.shape[0] // cell_px, differs.shape[1] // cell_px
    return differs.reshape(rows, cell_px, cols, cell_px).any(axis=(1, 3))


def processed(frame: Image, cell_px: int, temporal: int = 2) -> Any:
    """What the processor of transformers makes of a frame that it does not resize."""
    from transformers import Qwen2VLImageProcessor

    half = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3} if cell_px == 32 else {}
    processor = Qwen2VLImageProcessor(
        do_resize=False, patch_size=cell_px // 2, temporal_patch_size=temporal, merge_size=2, **half
    )
    return processor(images=[padded(frame, cell_px)], return_tensors="pt", input_data_format="channels_last")


def tower(model: str, full: tuple[int, ...] = (0, 1)) -> Any:
    """A small vision tower of transformers, weights random; `full`: layers of Qwen2.5-VL that attend to all."""
    import torch
    from transformers.models.qwen2_5_vl import configuration_qwen2_5_vl, modeling_qwen2_5_vl
    from transformers.models.qwen2_vl import configuration_qwen2_vl, modeling_qwen2_vl
    from transformers.models.qwen3_vl import configuration_qwen3_vl, modeling_qwen3_vl

    torch.manual_seed(29)
    sizes = {"depth": 2, "hidden_size": 64, "num_heads": 4}
    if model == "qwen2-vl":
        config = configuration_qwen2_vl.Qwen2VLVisionConfig(depth=2, embed_dim=64, hidden_size=48, num_heads=4)
        return modeling_qwen2_vl.Qwen2VisionTransformerPretrainedModel(config).eval()
    if model == "qwen2.5-vl":
        config = configuration_qwen2_5_vl.Qwen2_5_VLVisionConfig(
            **sizes, intermediate_size=128, out_hidden_size=48, fullatt_block_indexes=list(full)
        )
        return modeling_qwen2_5_vl.Qwen2_5_VisionTransformerPretrainedModel(config).eval()
    config = configuration_qwen3_vl.Qwen3VLVisionConfig(
        **sizes, intermediate_size=128, out_hidden_size=48, num_position_embeddings=256, deepstack_visual_indexes=[0]
    )
    return modeling_qwen3_vl.Qwen3VLVisionModel(config).eval()


def of_frame(vision: Any, frame: Image, cell_px: int) -> Any:
    """Features of a frame by the processor and the tower alone."""
    import torch

    made = processed(frame, cell_px)
    with torch.no_grad():
        return vision(made["pixel_values"], grid_thw=made["image_grid_thw"])
