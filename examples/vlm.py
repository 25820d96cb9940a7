#!/usr/bin/env python3
"""What changed in a video into the vision towers of `transformers`, at its true places.

    python examples/vlm.py clip.mp4                                              small towers of random weights
    python examples/vlm.py clip.mp4 --name Qwen/Qwen2.5-VL-3B-Instruct
    python examples/vlm.py rtsp://camera --model qwen3-vl --name Qwen/Qwen3-VL-4B-Instruct --rate 2

`sc.qwen()` gives the patches, `sc.TokenCache` the features of whole frames, for the language model.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch

import pysaccade as sc


def small_tower(model: str) -> Any:
    """A tower with the model's structure and random weights."""
    from transformers.models.qwen2_5_vl import configuration_qwen2_5_vl, modeling_qwen2_5_vl
    from transformers.models.qwen3_vl import configuration_qwen3_vl, modeling_qwen3_vl

    sizes = {"depth": 2, "hidden_size": 64, "num_heads": 4, "intermediate_size": 128, "out_hidden_size": 48}
    if model == "qwen2.5-vl":
        config = configuration_qwen2_5_vl.Qwen2_5_VLVisionConfig(**sizes, fullatt_block_indexes=[1])
        return modeling_qwen2_5_vl.Qwen2_5_VisionTransformerPretrainedModel(config).eval()
    config = configuration_qwen3_vl.Qwen3VLVisionConfig(**sizes, deepstack_visual_indexes=[0])
    return modeling_qwen3_vl.Qwen3VLVisionModel(config).eval()


def load(model: str, name: str | None, device: str) -> Any:
    """The vision tower: of a model by its name on Hugging Face, or a small one."""
    if name is None:
        return small_tower(model).to(device)
    import transformers

    whole = transformers.AutoModelForImageTextToText.from_pretrained(name, dtype="auto")
    return whole.model.visual.eval().to(device)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--model", choices=["qwen2.5-vl", "qwen3-vl"], default="qwen2.5-vl")
    parser.add_argument("--name", metavar="NAME", help="weights of such a model")
    parser.add_argument("--rate", type=float, default=2.0, help="looks a second")
    parser.add_argument("--looks", type=int, default=8, help="how many")
    arguments = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    cache = sc.TokenCache(load(arguments.model, arguments.name, device))
    looks = sc.qwen(arguments.source, arguments.model, rate=arguments.rate, device=device)
    for look, _ in zip(looks, range(arguments.looks), strict=False):
        before = cache.tokens_run
        features = cache(look)
        rows, cols = look.grid
        print(
            f"{look.pts_seconds:7.3f} s: {len(look)} of {rows} x {cols} tokens changed, "
            f"{cache.tokens_run - before} were run, features {tuple(features.shape)}"
        )
    print(f"{cache.tokens_run} of {cache.tokens} tokens were run")


if __name__ == "__main__":
    main()
