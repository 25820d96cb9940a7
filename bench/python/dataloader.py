"""Emissions a second of a DataLoader with four workers over 100 dumps, beside a plain NumPy loop over the same files.

    scripts/venv && PYTHONPATH=python .venv/bin/python bench/python/dataloader.py [FOLDER]

FOLDER keeps the dumps (1 GB) between runs. Each way is run in turn, three times; the best counts. The loop writes each
clip over the one before, which lies in the processor's cache; "handed over" is a loop in as many processes, whose
batches reach the main one as anybody's do: by torch.
Workers are started before: an epoch here takes less than their start.
"""

from __future__ import annotations

import argparse
import functools
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import pysaccade as sc

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("patches", "geometry")
DUMPS, CLIP, BATCH, WORKERS, ROUNDS = 100, 8, 8, 4, 3


def make_dumps(folder: Path) -> list[Path]:
    """100 dumps of their own files, so that each has pages of its own."""
    paths = [folder / f"{i:03}" for i in range(DUMPS)]
    for path in paths:
        if path.exists():
            continue
        if path is paths[0]:
            sc.dump(ROOT / "assets" / "demo.mp4", path, lattice="nested")
        else:
            shutil.copytree(paths[0], path)
    return paths


def plain_loop(paths: list[Path]) -> int:
    """What anybody would write: each clip's arrays, copied out of the map."""
    emissions = 0
    for path in paths:
        patches, geometry = (np.load(path / f"{name}.npy", mmap_mode="r") for name in NAMES)
        for first in range(0, len(patches), CLIP):
            clip = np.array(patches[first : first + CLIP])
            _ = np.array(geometry[first : first + CLIP])
            emissions += len(clip)
    return emissions


def batched_loop(paths: list[Path]) -> int:
    """The same, with clips joined to batches as a loader gives them."""
    emissions, clips = 0, []
    for path in paths:
        patches = np.load(path / "patches.npy", mmap_mode="r")
        for first in range(0, len(patches), CLIP):
            clips.append(np.array(patches[first : first + CLIP]))
            if len(clips) == BATCH:
                emissions += len(np.concatenate(clips))
                clips = []
    return emissions + sum(map(len, clips))


class Plain(Dataset[tuple[np.ndarray, np.ndarray]]):
    """The loop's clips for a DataLoader."""

    def __init__(self, paths: list[Path]) -> None:
        self.arrays = [tuple(np.load(path / f"{name}.npy", mmap_mode="r") for name in NAMES) for path in paths]
        self.clips = [(i, first) for i, of in enumerate(self.arrays) for first in range(0, len(of[0]), CLIP)]

    def __len__(self) -> int:
        """How many clips."""
        return len(self.clips)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """The clip's patches and geometry."""
        which, first = self.clips[index]
        patches, geometry = self.arrays[which]
        return np.array(patches[first : first + CLIP]), np.array(geometry[first : first + CLIP])


def joined(clips: list[tuple[np.ndarray, np.ndarray]]) -> list[torch.Tensor]:
    """A batch of them."""
    return [torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*clips, strict=True)]


def plain_loader(paths: list[Path]) -> Callable[[], int]:
    """The loop in four processes, its batches handed over by torch."""
    batches = DataLoader(
        Plain(paths), batch_size=BATCH, collate_fn=joined, num_workers=WORKERS, persistent_workers=True
    )
    return lambda: sum(len(patches) for patches, _ in batches)


def loader(paths: list[Path], workers: int, layout: str, only_changed: bool) -> Callable[[], int]:
    """Clips in batches, as training has them; workers stay from epoch to epoch."""
    data = sc.DumpDataset(paths, clip=CLIP, only_changed=only_changed)
    collate = functools.partial(sc.collate, layout=layout)
    batches = DataLoader(
        data, batch_size=BATCH, collate_fn=collate, num_workers=workers, persistent_workers=workers > 0
    )
    return lambda: sum(int((batch["reuse"][..., 0] >= -1).sum()) for batch in batches)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="keeps the dumps (default: a temporary one)")
    kept: Path | None = parser.parse_args().folder
    folder = kept or Path(tempfile.mkdtemp(prefix="saccade-dumps-"))
    folder.mkdir(parents=True, exist_ok=True)
    paths = make_dumps(folder)
    ways: dict[str, Callable[[], int]] = {
        "numpy loop": lambda: plain_loop(paths),
        "numpy loop, in batches": lambda: batched_loop(paths),
        "numpy loop, 4 workers, handed over": plain_loader(paths),
        "dataset, no worker": loader(paths, 0, "packed", only_changed=False),
        "4 workers, packed": loader(paths, WORKERS, "packed", only_changed=False),
        "4 workers, padded": loader(paths, WORKERS, "padded", only_changed=False),
        "4 workers, packed, only changed": loader(paths, WORKERS, "packed", only_changed=True),
    }
    for way in ways.values():  # starts workers, opens dumps, fills the page cache
        way()
    best = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
        for name, way in ways.items():
            begin = time.perf_counter()
            emissions = way()
            best[name] = max(best[name], emissions / (time.perf_counter() - begin))
    for name, rate in best.items():
        print(f"{name:34} {rate:9.0f} emissions/s {rate / best['numpy loop']:6.2f} of the NumPy loop")
    if kept is None:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
