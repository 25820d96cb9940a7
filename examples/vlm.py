#!/usr/bin/env python3
"""Patches of a fovea into the vision towers of `transformers`: their positions and scales come along.

    python examples/vlm.py clip.mp4                                         tiny towers of random weights: the shapes
    python examples/vlm.py clip.mp4 --siglip2 google/siglip2-base-patch16-naflex
    python examples/vlm.py clip.mp4 --qwen Qwen/Qwen2.5-VL-3B-Instruct

A tower is trained on a grid of patches at full resolution. A foveated patch lies between the grid's places and has a
scale: its samples lie 2^lod pixels apart. The towers' own position codes are smooth, so they can be read in between.
On a grid at lod 0 the tokens are those that the tower makes of the whole frame; a test proves it.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import pysaccade as sc


class Siglip2Tokens(torch.nn.Module):
    """SigLIP 2 (NaFlex): its learnt grid of positions is read between its points; the scale is a code of its own."""

    def __init__(self, tower: Any, levels: int = 16) -> None:
        super().__init__()
        self.tower = tower
        self.scale = torch.nn.Embedding(levels, tower.config.hidden_size)
        torch.nn.init.zeros_(self.scale.weight)  # to be trained; until then full resolution is what the tower knows

    def forward(self, emission: sc.Emission) -> Tensor:
        """Tokens [n, D] of the n patches that show some of the frame."""
        seen = emission.visible
        embeddings = self.tower.embeddings
        samples = (
            emission.patches[seen].permute(0, 2, 3, 1).flatten(1)
        )  # row, column, channel: as the tower's processor
        grid = embeddings.position_embedding.weight
        side = embeddings.position_embedding_size
        grid = grid.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        uv = emission.uv[seen]
        places = F.grid_sample(grid, (2 * uv - 1)[None, None], padding_mode="border", align_corners=False)
        tokens = embeddings.patch_embedding(samples.to(grid.dtype)) + places[0, :, 0].T
        tokens = tokens + self.scale(emission.lod[seen].round().long())
        encoded = self.tower.encoder(inputs_embeds=tokens[None], attention_mask=None).last_hidden_state
        return self.tower.post_layernorm(encoded)[0]


class QwenTokens(torch.nn.Module):
    """Qwen2.5-VL: a patch of 28 x 28 samples is one token, of 2 x 2 patches of the tower's; rotary positions."""

    def __init__(self, tower: Any) -> None:
        super().__init__()
        self.tower = tower

    def forward(self, emission: sc.Emission) -> Tensor:
        """Tokens [n, D] for the language model, of the n patches that show some of the frame."""
        config = self.tower.config
        merge, size = config.spatial_merge_size, config.patch_size
        seen = emission.visible
        patches = emission.patches[seen]
        count = len(patches)
        parts = patches.unflatten(-1, (merge, size)).unflatten(-3, (merge, size))  # [n, 3, row, y, column, x]
        parts = parts.permute(0, 2, 4, 1, 3, 5).flatten(0, 2)  # [n * 4, 3, 14, 14]
        samples = parts[:, :, None].expand(-1, -1, config.temporal_patch_size, -1, -1).flatten(1)
        return self.tower(
            samples,
            grid_thw=torch.tensor([[1, merge, merge * count]], device=patches.device),
            position_ids=self._positions(emission, seen, merge, size),
            window_index=torch.arange(count, device=patches.device),  # all attend to all: no window is a neighbourhood
            cu_window_seqlens=torch.tensor([0, len(samples)], dtype=torch.int32, device=patches.device),
        ).pooler_output

    @staticmethod
    def _positions(emission: sc.Emission, seen: Tensor, merge: int, size: int) -> Tensor:
        """[n * 4, 2]: row and column of each part, in the tower's patches of full resolution."""
        height, width = emission.size
        centre_px = emission.uv[seen] * torch.tensor([width, height], device=seen.device)  # x, y
        step_px = size * torch.exp2(emission.lod[seen])  # from a part to its neighbour
        offset = torch.arange(merge, device=seen.device) - (merge - 1) / 2
        row, col = torch.meshgrid(offset, offset, indexing="ij")
        y = centre_px[:, 1, None, None] + row * step_px[:, None, None]
        x = centre_px[:, 0, None, None] + col * step_px[:, None, None]
        return torch.stack([y.flatten(), x.flatten()], dim=-1) / size - 0.5


def onevision_rotary(emission: sc.Emission, dim: int, *, theta: float = 10000.0) -> tuple[Tensor, Tensor]:
    """cos and sin [n, dim / 2] of OneVision's rotary positions in 3D: 4 parts time, 6 rows, 6 columns of 16.

    A video's patches at full resolution get integers, as in OneVision; coarse ones the same unit, in fractions.
    """
    if dim % 32:
        raise ValueError(f"onevision_rotary: dim must be a multiple of 32, not {dim}")
    positions = emission.positions("thw")[emission.visible]
    half = dim // 2
    angles = []
    for axis, share in enumerate((4, 6, 6)):
        count = half * share // 16
        frequency = theta ** -(torch.arange(count, device=positions.device) / count)
        angles.append(positions[:, axis, None] * frequency)
    angle = torch.cat(angles, dim=-1)
    return angle.cos(), angle.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries or keys [..., n, dim], rotated by their positions."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def tiny_siglip2() -> Any:
    """A tower with SigLIP 2's structure and random weights."""
    from transformers import Siglip2VisionConfig, Siglip2VisionModel

    config = Siglip2VisionConfig(hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)
    return Siglip2VisionModel(config).eval()


def tiny_qwen() -> Any:
    """A tower with Qwen2.5-VL's structure and random weights."""
    from transformers.models.qwen2_5_vl.configuration_qwen2_5_vl import Qwen2_5_VLVisionConfig
    from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import Qwen2_5_VisionTransformerPretrainedModel

    config = Qwen2_5_VLVisionConfig(
        depth=2, hidden_size=64, intermediate_size=128, num_heads=4, out_hidden_size=48, fullatt_block_indexes=[0, 1]
    )
    return Qwen2_5_VisionTransformerPretrainedModel(config).eval()


def load(siglip2: str | None, qwen: str | None) -> tuple[Any, Any]:
    """The towers: by their names on Hugging Face, or tiny ones."""
    import transformers

    one = transformers.Siglip2VisionModel.from_pretrained(siglip2).eval() if siglip2 else tiny_siglip2()
    if not qwen:
        return one, tiny_qwen()
    whole = transformers.Qwen2_5_VLForConditionalGeneration.from_pretrained(qwen)
    return one, whole.model.visual.eval()


@torch.no_grad()
def main() -> None:
    """Say what each tower makes of the first emissions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--siglip2", metavar="NAME", help="weights of a SigLIP 2 NaFlex model")
    parser.add_argument("--qwen", metavar="NAME", help="weights of a Qwen2.5-VL model")
    parser.add_argument("--emissions", type=int, default=3)
    arguments = parser.parse_args()
    siglip2, qwen = load(arguments.siglip2, arguments.qwen)

    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokens = Siglip2Tokens(siglip2).to(device)
    # These towers read an emission by itself, so each has to be a whole picture: a fovea.
    fovea = {"lattice": "nested", "device": device, "dtype": torch.float32}
    stream = sc.Stream(arguments.source, normalize="siglip", tokens=196, **fovea)
    for emission, _ in zip(stream, range(arguments.emissions), strict=False):
        print(f"SigLIP 2   {emission.pts_seconds:7.3f} s: tokens {tuple(tokens(emission).shape)}")

    tokens = QwenTokens(qwen).to(device)
    stream = sc.Stream(arguments.source, normalize="clip", patch_size=28, tokens=120, **fovea)
    for emission, _ in zip(stream, range(arguments.emissions), strict=False):
        print(f"Qwen2.5-VL {emission.pts_seconds:7.3f} s: tokens {tuple(tokens(emission).shape)}")
        cos, _ = onevision_rotary(emission, 64)
        print(f"OneVision  {emission.pts_seconds:7.3f} s: rotary positions {tuple(cos.shape)}")


if __name__ == "__main__":
    main()
