"""Compact dumps: the same emissions, clips and batches as of the padded dump of the same video."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc


@pytest.fixture(scope="module")
def both(run_program, clip: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A dump, and the compact one of the same video."""
    folder = tmp_path_factory.mktemp("compact")
    common = ("--tokens", 100, "--rate", 8, "--duration", 3, "--log-level", "error")
    run_program("dump", clip, "-o", folder / "padded", *common)
    run_program("dump", clip, "-o", folder / "compact", "--compact", *common)
    return folder / "padded", folder / "compact"


def same(compact: sc.Emission, padded: sc.Emission) -> None:
    inside = padded.visible
    for name in ("patches", "geometry", "changed"):
        np.testing.assert_array_equal(getattr(compact, name), getattr(padded, name)[inside])
    assert (compact.pts_ns, compact.frame, compact.fixation) == (padded.pts_ns, padded.frame, padded.fixation)


def test_emissions_are_those_of_the_padded_dump(both: tuple[Path, Path]):
    padded, compact = map(sc.Dump, both)
    assert len(compact) == len(padded) > 8
    assert (padded.geometry[..., 3] == 0).any()
    for ours, truth in zip(compact, padded, strict=True):
        same(ours, truth)
    same(compact[-1], padded[-1])
    same(compact.at(1.5), padded.at(1.5))
    assert repr(compact).startswith(f"Dump({str(both[1])!r}: {len(padded)} emissions x at most ")
    assert padded.offsets is None


def test_parts_and_pickles_keep_their_offsets(both: tuple[Path, Path]):
    padded, compact = map(sc.Dump, both)
    for key in (slice(2, 7), slice(1, 9, 3), slice(3, 3), slice(None)):
        for part in (compact[key], pickle.loads(pickle.dumps(compact[key])), compact[0:][key]):
            truth = padded[key]
            inside = truth.geometry[..., 3] > 0
            np.testing.assert_array_equal(part.offsets, np.concatenate([[0], np.cumsum(inside.sum(axis=1))]))
            np.testing.assert_array_equal(part.patches, truth.patches[inside])
            np.testing.assert_array_equal(part.changed, truth.changed[inside])
            np.testing.assert_array_equal(part.index, truth.index)


def test_pictures_are_the_same(both: tuple[Path, Path]):
    padded, compact = map(sc.Dump, both)
    np.testing.assert_array_equal(sc.paint(compact[3]), sc.paint(padded[3]))
    np.testing.assert_array_equal(sc.paint(compact[:5], memory=True), sc.paint(padded[:5], memory=True))
    assert sc.show(compact, width=64, most=3)._repr_png_() == sc.show(padded, width=64, most=3)._repr_png_()


@pytest.mark.torch
@pytest.mark.parametrize("only_changed", [False, True])
@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_clips_and_batches_are_the_same(both: tuple[Path, Path], only_changed: bool, layout: str):
    import torch

    truth, ours = (sc.DumpDataset(path, clip=5, stride=4, only_changed=only_changed) for path in both)
    assert len(ours) == len(truth) > 2
    for a, b in zip(ours, truth, strict=True):
        assert a.keys() == b.keys()
        for key in a.keys() - {"reuse"}:
            assert torch.equal(a[key], b[key]), key
        assert a["reuse"].shape == b["reuse"].shape  # the same tokens in their order, none behind them
        for mine, theirs in zip(a["reuse"], b["reuse"], strict=True):
            assert mine[mine >= 0].tolist() == theirs[theirs >= 0].tolist()
            assert (mine[: int((mine >= 0).sum())] >= 0).all()
    batches = [sc.collate([data[0], data[1], data[len(data) - 1]], layout) for data in (ours, truth)]
    for key in batches[0].keys() - {"reuse", "dump", "first"}:
        assert np.array_equal(batches[0][key], batches[1][key]), key
    emissions = [[sc.Dump(path)[i] for i in (0, 4)] for path in both]
    a, b = (sc.collate(each, layout) for each in emissions)
    assert torch.equal(a["patches"], b["patches"])


@pytest.mark.torch
def test_workers_give_the_same(both: tuple[Path, Path]):
    import torch

    data = sc.DumpDataset(both[1], clip=3)
    loader = torch.utils.data.DataLoader(data, batch_size=2, collate_fn=sc.collate, num_workers=1)
    truth = torch.utils.data.DataLoader(sc.DumpDataset(both[0], clip=3), batch_size=2, collate_fn=sc.collate)
    for ours, theirs in zip(loader, truth, strict=True):
        assert torch.equal(ours["patches"], theirs["patches"])
        assert torch.equal(ours["mask"], theirs["mask"])


def test_python_makes_them_too(both: tuple[Path, Path], clip: Path, tmp_path: Path):
    sc.dump(clip, tmp_path / "d", tokens=100, rate=8, duration=3, compact=True)
    np.testing.assert_array_equal(sc.Dump(tmp_path / "d").patches, sc.Dump(both[1]).patches)


def test_damage_is_named(both: tuple[Path, Path], tmp_path: Path):
    copy = tmp_path / "copy"
    shutil.copytree(both[1], copy)
    good = np.load(copy / "offsets.npy")
    falls, fewer = good.copy(), good[:-1]
    falls[1] = good[2] + 1
    for offsets, words in (
        (falls, "offsets.npy: damaged: it doesn't rise from 0"),
        (fewer, "offsets.npy: .* emissions where .*manifest.json promises"),
        (good + np.arange(len(good)), "patches.npy: .* patches where .*offsets.npy promises"),
    ):
        np.save(copy / "offsets.npy", offsets)
        with pytest.raises(sc.InputError, match=words):
            sc.Dump(copy)
    (copy / "offsets.npy").unlink()
    with pytest.raises(sc.InputError, match="offsets.npy: no such file"):
        sc.Dump(copy, require_complete=False)


@pytest.mark.parametrize("left", ["patches", "changed", "offsets", "index"])
def test_what_is_there_of_an_incomplete_one_is_read(both: tuple[Path, Path], tmp_path: Path, left: str):
    copy, whole = tmp_path / "copy", sc.Dump(both[1])
    shutil.copytree(both[1], copy)
    (copy / "manifest.json").unlink()
    array = np.load(copy / f"{left}.npy")
    rows = {"patches": whole.offsets[5] + 3, "changed": whole.offsets[5], "offsets": 6, "index": 5}[left]
    np.save(copy / f"{left}.npy", array[:rows])
    with pytest.raises(sc.InputError, match="incomplete"):
        sc.Dump(copy)
    part = sc.Dump(copy, require_complete=False)
    assert len(part) == 5
    np.testing.assert_array_equal(part.patches, whole[:5].patches)
    np.save(copy / "offsets.npy", np.zeros(0, np.int64))
    assert len(sc.Dump(copy, require_complete=False)) == 0
