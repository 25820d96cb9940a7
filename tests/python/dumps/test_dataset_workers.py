"""Batches that a DataLoader's workers hand over in memory which is used again: right whoever keeps what, how long."""

from __future__ import annotations

import copy
import functools
import gc
import multiprocessing
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip

torch = import_or_skip("torch")
from torch.utils.data import DataLoader, Subset, get_worker_info  # noqa: E402

from pysaccade.dumps import _received  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")]
LAYOUTS = ("padded", "packed")


@pytest.fixture(scope="module")
def data(run_program, tmp_path_factory: pytest.TempPathFactory) -> sc.DumpDataset:
    """Clips of different numbers of tokens, of patches whose bytes are no multiple of 64."""
    folder = tmp_path_factory.mktemp("dumps")
    common = ("--every", "frame", "--log-level", "error", "--lattice", "nested", "--patch-size", 10, "--patches", 90)
    for name, size in (("a", "320x180"), ("b", "160x96")):
        run_program("dump", f"lavfi:testsrc2=s={size}:r=25", "-o", folder / name, "--frames", 60, *common)
    return sc.DumpDataset(folder, clip=3, only_changed=True)


def loader(data: Any, collate: Any, **options: Any) -> DataLoader[Any]:
    return DataLoader(data, **{"batch_size": 4, "num_workers": 2, **options}, collate_fn=collate)


def collated(layout: str) -> Any:
    return functools.partial(sc.collate, layout=layout)


def assert_same(batch: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert type(batch) is dict
    assert batch.keys() == wanted.keys()
    for key, value in wanted.items():
        assert torch.equal(torch.as_tensor(batch[key]), torch.as_tensor(value)), key


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_batches_that_are_kept_stay_as_they_came(data: sc.DumpDataset, layout: str, start: str):
    wanted = list(loader(data, collated(layout), num_workers=0))
    assert len(wanted) == 10
    kept = []
    for batch in loader(data, collated(layout), multiprocessing_context=start):
        kept.append(batch if len(kept) % 3 else {key: copy.deepcopy(value) for key, value in batch.items()})
    for batch, one in zip(kept, wanted, strict=True):
        assert_same(batch, one)


def test_one_tensor_keeps_its_batchs_memory(data: sc.DumpDataset):
    batches = loader(data, collated("packed"), num_workers=1, persistent_workers=True)
    wanted = [batch["patches"] for batch in loader(data, collated("packed"), num_workers=0)]
    first = next(iter(batches))["patches"][3:5]
    for _ in range(3):
        for batch, one in zip(batches, wanted, strict=True):
            assert torch.equal(batch["patches"], one)
            batch["patches"].zero_()  # the batch is ours
    assert torch.equal(first, wanted[0][3:5])


def maps() -> int:
    return Path("/proc/self/maps").read_text().count("saccade-batch")


def names_of(folder: str) -> list[str]:
    names = []
    for fd in os.listdir(folder):
        try:
            names.append(str(Path(folder, fd).readlink()))
        except OSError:  # of the listing itself
            continue
    return names


class Counted:
    """collate, and how much memory the worker holds by now."""

    def __call__(self, items: list[Any]) -> dict[str, Any]:
        batch = sc.collate(items)
        batch["segments"] = sum("saccade-batch" in name for name in names_of("/proc/self/fd"))
        return batch


def test_memory_is_used_again_and_ends_with_the_workers(data: sc.DumpDataset):
    counts = []
    batches = loader(data, Counted(), persistent_workers=True)
    for _ in range(6):
        counts += [batch["segments"] for batch in batches]
    assert 1 <= max(counts) <= 2 * 8  # a segment has two descriptors
    assert maps() > 0
    assert sum("saccade-batch" in name for name in names_of("/proc/self/fd")) == 0
    del batches
    gc.collect()
    assert maps() == 0
    assert not _received._maps


class Own:
    """A collate of the user's around ours, in a worker."""

    def __init__(self, how: str) -> None:
        self.how = how
        self.last: Any = None

    def __call__(self, items: list[Any]) -> Any:
        batch = sc.collate(items, "packed")
        if self.how == "dict":
            return {**batch}
        if self.how == "tuple":
            return batch["patches"], [item["patches"] for item in items], batch["cu_seqlens"]
        if self.how == "pickle":
            return pickle.loads(pickle.dumps(batch))
        if self.how == "copies":
            assert type(copy.copy(batch)) is type(copy.deepcopy(batch)) is dict
            return copy.deepcopy(batch)
        if self.how == "more":
            batch["patches"] = batch["patches"].float()[:, :, ::2]
            batch["name"], batch["none"] = "a name", torch.zeros(0, 3)
            batch["sparse"] = torch.eye(3).to_sparse()
            batch["conj"] = torch.tensor([1 + 2j]).conj()
            batch["flags"] = torch.tensor([True, False])
        if self.how == "twice":
            before, self.last = self.last, batch
            return batch, before, batch
        if self.how == "fork":
            assert get_worker_info() is not None
            subprocess.run(["true"], check=True, preexec_fn=os.getpid)
        return batch


@pytest.mark.filterwarnings("ignore:Sparse invariant:UserWarning")
@pytest.mark.parametrize("how", ["dict", "tuple", "pickle", "copies", "more", "twice", "fork"])
def test_collates_of_the_users_get_their_bytes(data: sc.DumpDataset, how: str):
    wanted = list(loader(data, collated("packed"), num_workers=0))
    for _ in range(2):
        kept = list(loader(data, Own(how), num_workers=1))
        for batch, one, before in zip(kept, wanted, [None, *wanted], strict=False):
            if how == "tuple":
                assert torch.equal(batch[0], one["patches"])
                assert torch.equal(torch.cat(batch[1]), one["patches"])
            elif how == "twice":
                assert_same(batch[0], one)
                assert_same(batch[2], one)
                assert before is None or torch.equal(batch[1]["patches"], before["patches"])
            elif how == "more":
                assert torch.equal(batch["patches"], one["patches"].float()[:, :, ::2])
                assert batch["name"] == "a name"
                assert batch["none"].shape == (0, 3)
                assert torch.equal(batch["sparse"].to_dense(), torch.eye(3))
                assert batch["conj"].tolist() == [1 - 2j]
                assert batch["flags"].tolist() == [True, False]
            else:
                assert_same(batch, one)


def test_subsets_shuffles_and_emissions_come_right(data: sc.DumpDataset):
    chosen = [30, 2, 17, 17, 5]
    some = Subset(data, chosen)
    for batch, numbers in zip(
        loader(some, collated("padded"), batch_size=2), (chosen[:2], chosen[2:4], chosen[4:]), strict=True
    ):
        assert_same(batch, sc.collate([data[i] for i in numbers]))
    transformed = sc.DumpDataset([state["_path"] for state in data._states], transform=dict)
    alone, shared = (loader(transformed, collated("packed"), num_workers=workers) for workers in (0, 2))
    for batch, one in zip(shared, alone, strict=True):
        assert_same(batch, one)


def shortened(item: dict[str, Any]) -> dict[str, Any]:
    """All of the longest clips, half of the others, and none of some."""
    count = len(item["patches"])
    keep = count if count % 3 == 0 else 0 if count % 5 == 0 else count // 2
    return {key: item[key][:keep] for key in ("patches", "geometry", "positions")}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_items_that_a_transform_cut_are_padded_with_zeros(data: sc.DumpDataset, layout: str):
    cut = sc.DumpDataset([state["_path"] for state in data._states], clip=2, transform=shortened, only_changed=True)
    for size in (2, 5):
        alone, shared = (loader(cut, collated(layout), num_workers=count, batch_size=size) for count in (0, 1))
        for batch, one in zip(shared, alone, strict=True):
            assert_same(batch, one)


def test_fork_of_the_main_process_keeps_what_it_has(data: sc.DumpDataset):
    batches = loader(data, collated("packed"), num_workers=1, persistent_workers=True)
    batch = next(iter(batches))
    wanted = batch["patches"].clone()
    context = multiprocessing.get_context("fork")
    go, answer = context.Event(), context.SimpleQueue()

    held = [batch]

    def child() -> None:
        go.wait(60)
        answer.put(bool((held[0]["patches"].numpy() == wanted.numpy()).all()))

    process = context.Process(target=child)
    process.start()
    del batch, held[:]  # of this process: the child still has it
    for _ in range(3):
        for other in batches:
            other["patches"].zero_()
    go.set()
    assert answer.get()
    process.join(60)
    assert process.exitcode == 0


def test_emissions_are_batched_in_workers_too(data: sc.DumpDataset):
    emissions = [emission for state in data._states[:1] for emission in sc.Dump(state["_path"])]
    for layout in LAYOUTS:
        for batch, first in zip(loader(emissions, collated(layout)), range(0, len(emissions), 4), strict=True):
            assert_same(batch, sc.collate(emissions[first : first + 4], layout))
    assert np.array_equal(emissions[0].patches, sc.Dump(data._states[0]["_path"])[0].patches)
