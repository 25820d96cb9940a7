#!/usr/bin/env python3
"""A store of many videos as a dataset of Hugging Face: a row an emission, read while it is needed.

    python examples/hf_datasets.py out/store              or s3://bucket/store

Shards are plain tars of .npy files, so nothing of pysaccade is needed to read them. `datasets` splits the list of
shards over its workers, and `split_dataset_by_node` over ranks.
"""

from __future__ import annotations

import argparse
import io
import json
import tarfile
from collections.abc import Iterator
from typing import Any

import fsspec.core
import numpy as np
from datasets import Array2D, Array4D, Features, IterableDataset, Value


def shards_of(store: str) -> tuple[list[str], dict[str, Any]]:
    """URLs of the shards that a marker names (no others count), and the first line of an index part."""
    files, root = fsspec.core.url_to_fs(store)
    shards, line = [], {}
    for path in sorted(files.glob(f"{root}/commits/*.json")):
        marker = json.loads(files.cat_file(path))
        if marker["shard"]:
            shards.append(files.unstrip_protocol(f"{root}/{marker['shard']['name']}"))
            line = line or json.loads(files.cat_file(f"{root}/{marker['index']['name']}").splitlines()[0])
    return shards, line


def rows(shards: list[str]) -> Iterator[dict[str, Any]]:
    """The emissions of all videos of these shards; a shard is read from its begin to its end."""
    for shard in shards:
        with fsspec.open(shard, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
            video: dict[str, Any] = {}
            for member in archive:
                key, _, kind = member.name.partition(".")
                content = archive.extractfile(member).read()
                video[kind] = json.loads(content) if kind == "json" else np.load(io.BytesIO(content))
                if kind == "positions.npy":  # the last one of a video
                    yield from emissions(key, video)
                    video = {}


def emissions(key: str, video: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of one video."""
    for e, pts_ns in enumerate(video["pts_ns.npy"]):
        yield {
            "key": key,
            "emission": e,
            "seconds": float(pts_ns) / 1e9,
            "patches": video["patches.npy"][e],
            "positions": video["positions.npy"][e],
            "changed": video["changed.npy"][e].astype(bool),
            "extra": video["json"]["extra"],
        }


def dataset(store: str) -> IterableDataset:
    """The store's emissions; `.shuffle(...)`, `.map(...)`, `.with_format("torch")` and the like apply."""
    shards, line = shards_of(store)
    if not shards:
        raise SystemExit(f"{store}: nothing is done in it; `saccade status {store}` says more")
    side, dtype = line["patch_size"], {"u8": "uint8", "f16": "float16", "f32": "float32"}[line["dtype"]]
    features = Features(
        {
            "key": Value("string"),
            "emission": Value("int32"),
            "seconds": Value("float64"),
            "patches": Array4D((line["patches"], 3, side, side), dtype),
            "positions": Array2D((line["patches"], 4), "float32"),
            "changed": [Value("bool")],
            "extra": Value("string"),
        }
    )
    return IterableDataset.from_generator(rows, features=features, gen_kwargs={"shards": shards})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    arguments = parser.parse_args()
    count, keys = 0, set()
    for row in dataset(arguments.store).with_format("numpy"):
        count += 1
        keys.add(row["key"])
    print(f"{count} emissions of {len(keys)} videos")


if __name__ == "__main__":
    main()
