#!/usr/bin/env python3
"""A store of many videos through webdataset: batches of tokens with their positions and captions.

    python examples/webdataset_clips.py out/store

Shards are plain tars, so webdataset needs nothing of pysaccade. Only shards that a marker names count: others are left
by attempts that lost. `pysaccade.open_shards` does more: equal shares of ranks, going on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
import webdataset as wds
from torch import Tensor

Sample = dict[str, Any]


def shards_of(store: Path) -> list[str]:
    """The shards that count."""
    markers = [json.loads(path.read_text()) for path in sorted(store.glob("commits/*.json"))]
    return [str(store / marker["shard"]["name"]) for marker in markers if marker["shard"]]


def emissions_of(samples: Iterator[Sample]) -> Iterator[Sample]:
    """Each emission of each video: the patches that show some of the frame, all of which changed since the last one."""
    for sample in samples:
        seen = (sample["geometry.npy"][..., 3] > 0) & (sample["changed.npy"] > 0)
        for e, mask in enumerate(seen):
            yield {
                "key": sample["__key__"],
                "caption": json.loads(sample["json"]["extra"]).get("caption"),
                "patches": torch.from_numpy(sample["patches.npy"][e][mask]),
                "positions": torch.from_numpy(sample["positions.npy"][e][mask]),
                "seconds": float(sample["pts_ns.npy"][e]) / 1e9,
            }


def batched(items: list[Sample]) -> Sample:
    """Tokens of several emissions, one after the other; emission b has cu_seqlens[b] to cu_seqlens[b + 1]."""
    lengths = [len(item["patches"]) for item in items]
    joined: dict[str, Tensor] = {name: torch.cat([item[name] for item in items]) for name in ("patches", "positions")}
    lists = {name: [item[name] for item in items] for name in ("key", "caption", "seconds")}
    return {**joined, **lists, "cu_seqlens": torch.from_numpy(np.cumsum([0, *lengths], dtype=np.int32))}


def loader(store: Path, *, batch_size: int = 8, workers: int = 0, shuffle: int = 100) -> Any:
    """Batches. Ranks and workers take whole shards each."""
    shards = shards_of(store)
    dataset = wds.WebDataset(
        shards, shardshuffle=len(shards) if shuffle else False, nodesplitter=wds.split_by_node, empty_check=False
    )
    dataset = dataset.decode().compose(emissions_of).shuffle(shuffle)
    return wds.WebLoader(dataset.batched(batch_size, collation_fn=batched), batch_size=None, num_workers=workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--workers", type=int, default=0)
    arguments = parser.parse_args()
    emissions = tokens = 0
    for batch in loader(arguments.store, workers=arguments.workers):
        emissions += len(batch["key"])
        tokens += len(batch["patches"])
    print(f"{emissions} emissions, {tokens} tokens")


if __name__ == "__main__":
    main()
