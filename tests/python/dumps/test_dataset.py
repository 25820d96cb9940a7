"""`DumpDataset` and `collate`: every patch comes back from the tokens, byte for byte; workers by fork and by spawn."""

from __future__ import annotations

import functools
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pysaccade as sc
from conftest import import_or_skip
from pysaccade.dumps._reuse import plan_tokens

torch = import_or_skip("torch")
from torch.utils.data import DataLoader  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def dumps(run_program, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three dumps: moving, partly still, and of other size and number of patches."""
    folder = tmp_path_factory.mktemp("dumps")
    common = ("--every", "frame", "--log-level", "error")
    still = "lavfi:color=s=160x96:r=25:c=gray[a];testsrc2=s=16x16:r=25[b];[a][b]overlay=48:32"
    run_program(
        "dump",
        "lavfi:testsrc2=s=320x180:r=25",
        "-o",
        folder / "a",
        "--frames",
        11,
        "--lattice",
        "nested",
        "--patches",
        60,
        *common,
    )
    run_program(
        "dump", still, "-o", folder / "b", "--frames", 20, "--lattice", "nested", "--patches", 60, "--rate", 8, *common
    )
    run_program("dump", still, "-o", folder / "c", "--frames", 9, "--lattice", "uniform", "--patches", 12, *common)
    return [folder / name for name in "abc"]


def truth(folder: Path) -> dict[str, np.ndarray]:
    return {name: np.load(folder / f"{name}.npy") for name in ("patches", "geometry", "changed", "index")}


def test_default_device_has_no_part_in_what_is_read(dumps: list[Path]):
    data = sc.DumpDataset(dumps, clip=4)
    expected = list(data)
    torch.set_default_device("meta")
    try:
        found = [data[n] for n in range(len(data))]
    finally:
        torch.set_default_device(None)
    for made, wanted in zip(found, expected, strict=True):
        assert all(torch.equal(made[name], value) for name, value in wanted.items() if torch.is_tensor(value))


@pytest.mark.parametrize("only_changed", [False, True])
def test_patches_come_back_from_tokens_byte_for_byte(dumps: list[Path], only_changed: bool):
    data = sc.DumpDataset(dumps, clip=4, only_changed=only_changed)
    assert len(data) == 3 + 5 + 3
    encoded = 0
    for item in data:
        arrays = truth(dumps[item["dump"]])
        first, count = int(item["first"]), len(item["frame"])
        patches, geometry = (torch.from_numpy(arrays[name][first : first + count]) for name in ("patches", "geometry"))
        visible = geometry[..., 3] > 0
        assert torch.equal(item["reuse"] >= 0, visible)
        assert torch.equal(item["patches"][item["reuse"]][visible], patches[visible])
        assert torch.equal(item["geometry"][item["reuse"]][..., :3][visible], geometry[..., :3][visible])
        assert item["frame"].tolist() == arrays["index"]["frame"][first : first + count].tolist()
        assert item["pts_seconds"].tolist() == (arrays["index"]["pts_ns"][first : first + count] / 1e9).tolist()
        np.testing.assert_array_equal(item["fixation"][:, 0], arrays["index"]["fix_u"][first : first + count])
        np.testing.assert_array_equal(item["fixation"][:, 1], arrays["index"]["fix_v"][first : first + count])
        assert sorted(set(item["reuse"][visible].tolist())) == list(range(len(item["patches"])))
        encoded += len(item["patches"])
    visible = sum(int((truth(folder)["geometry"][..., 3] > 0).sum()) for folder in dumps)
    assert (encoded < 0.8 * visible) if only_changed else (encoded == visible)


def naive_plan(geometry: np.ndarray, changed: np.ndarray) -> tuple[list[int], np.ndarray]:
    tokens: list[int] = []
    at: dict[bytes, int] = {}
    reuse = np.full(changed.shape, -1)
    for t, n in np.ndindex(changed.shape):
        if geometry[t, n, 3] <= 0:
            continue
        place = geometry[t, n, :3].tobytes()
        if changed[t, n] or place not in at:
            at[place] = len(tokens)
            tokens.append(t * changed.shape[1] + n)
        reuse[t, n] = at[place]
    return tokens, reuse


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 12), st.sampled_from([2, 3, 40]))
def test_reuse_is_what_a_plain_loop_finds(seed: int, emissions: int, patches: int, places: int):
    rng = np.random.default_rng(seed)
    slots = np.array(
        [rng.permutation(max(places, patches))[:patches] for _ in range(emissions)]
    )  # a place once an emission
    geometry = rng.random((max(places, patches), 4)).astype(np.float32)[slots]
    geometry[..., 3] = rng.random(slots.shape) > 0.2
    changed = rng.random(slots.shape) > 0.6
    tokens, reuse = plan_tokens(geometry, changed, only_changed=True)
    expected_tokens, expected_reuse = naive_plan(geometry, changed)
    assert tokens.tolist() == expected_tokens
    np.testing.assert_array_equal(reuse, expected_reuse)


@pytest.mark.parametrize(
    ("clip", "stride", "drop_last", "firsts"),
    [
        (4, None, False, [0, 4, 8]),
        (4, None, True, [0, 4]),
        (4, 2, False, [0, 2, 4, 6, 8]),
        (4, 2, True, [0, 2, 4, 6]),
        (4, 1, False, list(range(8))),
        (4, 7, False, [0, 7]),
        (11, None, False, [0]),
        (12, None, False, [0]),
        (12, None, True, []),
        (1, 5, False, [0, 5, 10]),
    ],
)
def test_clips_cover_a_dump_of_11_emissions(
    dumps: list[Path], clip: int, stride: int, drop_last: bool, firsts: list[int]
):
    data = sc.DumpDataset(dumps[0], clip=clip, stride=stride, drop_last=drop_last)
    assert [int(item["first"]) for item in data] == firsts
    assert len(data) == len(firsts)
    assert [len(item["frame"]) for item in data] == [min(clip, 11 - first) for first in firsts]


def test_sources_of_every_kind(dumps: list[Path]):
    whole = [item["patches"] for item in sc.DumpDataset(dumps)]
    for source in (dumps[0].parent, str(dumps[0].parent), [str(path) for path in dumps], map(sc.Dump, dumps)):
        data = sc.DumpDataset(source)
        assert all(torch.equal(item["patches"], patches) for item, patches in zip(data, whole, strict=True))
    part = sc.DumpDataset(sc.Dump(dumps[0])[3:7], clip=2)
    assert [item["frame"].tolist() for item in part] == [[3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("kind", "t"), [("thw", "frame"), ("thw", "emission"), ("thw", "seconds"), ("uv", "frame"), ("xyl", "frame")]
)
def test_positions_are_those_of_the_emissions(dumps: list[Path], kind: str, t: str):
    dump = sc.Dump(dumps[1])
    item = sc.DumpDataset(dump, clip=5, positions=kind, t=t)[2]
    for i, emission in enumerate(dump[10:15]):
        time = {"frame": None, "emission": i, "seconds": emission.pts_seconds}[t]
        ours = item["positions"][item["emission"] == i]
        np.testing.assert_array_equal(ours, emission.positions(kind, t=time)[emission.visible])
    assert "positions" not in sc.DumpDataset(dump, positions=None)[0]


def test_indices_are_a_sequences(dumps: list[Path]):
    data = sc.DumpDataset(dumps, clip=4)
    assert torch.equal(data[-1]["patches"], data[len(data) - 1]["patches"])
    assert torch.equal(data[np.int64(1)]["patches"], data[1]["patches"])
    for index in (len(data), -len(data) - 1):
        with pytest.raises(IndexError, match=rf"clip {index} of {len(data)}"):
            data[index]


def test_items_own_their_memory(dumps: list[Path]):
    data = sc.DumpDataset(dumps, clip=2)
    before = data[0]["patches"].clone()
    for tensor in data[0].values():
        tensor.zero_()
    assert torch.equal(data[0]["patches"], before)


def test_wrong_arguments_are_named(dumps: list[Path], tmp_path: Path):
    for words, arguments in (
        ("clip is 0", {"clip": 0}),
        ("stride is -1", {"stride": -1}),
        ("positions is 'x'", {"positions": "x"}),
        ("t is 'x'", {"t": "x"}),
    ):
        with pytest.raises(ValueError, match=words):
            sc.DumpDataset(dumps, **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there is no dump"):
        sc.DumpDataset([])
    with pytest.raises(sc.InputError, match="no meta.json"):
        sc.DumpDataset(tmp_path)
    with pytest.raises(TypeError):
        sc.DumpDataset(dumps, clip=2.5)  # type: ignore[arg-type]


def test_incomplete_dumps_only_when_asked_for(copy: Path):
    (copy / "manifest.json").unlink()
    with pytest.raises(sc.InputError, match="incomplete"):
        sc.DumpDataset([copy])
    assert len(sc.DumpDataset([copy], require_complete=False)) > 0


def test_dump_that_shrank_is_an_input_error(copy: Path):
    data = pickle.loads(pickle.dumps(sc.DumpDataset([copy], require_complete=False)))
    (copy / "manifest.json").unlink()
    np.save(copy / "changed.npy", np.load(copy / "changed.npy")[:3])
    with pytest.raises(sc.InputError, match="has fewer emissions than when the DumpDataset was made"):
        data[0]


def first_frame(item: dict[str, Any]) -> int:
    return int(item["frame"][0])


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("layout", ["padded", "packed"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_workers_give_the_same_batches(dumps: list[Path], start: str, layout: str):
    data = sc.DumpDataset(dumps[:2], clip=4, only_changed=True)
    _ = data[0]  # opened before the fork, too
    collate = functools.partial(sc.collate, layout=layout)
    alone, shared = (
        list(DataLoader(data, batch_size=3, collate_fn=collate, num_workers=workers, multiprocessing_context=context))
        for workers, context in ((0, None), (2, start))
    )
    assert len(alone) == len(shared) == 3
    for one, other in zip(alone, shared, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(torch.as_tensor(one[key]), torch.as_tensor(other[key])) for key in one)


def test_transform_is_applied_last(dumps: list[Path]):
    data = sc.DumpDataset(dumps[0], clip=4, transform=first_frame)
    assert list(data) == [0, 4, 8]
    assert list(pickle.loads(pickle.dumps(data))) == [0, 4, 8]


# ---- collate ----


def test_padded_batch_holds_the_items_and_zeros(dumps: list[Path]):
    items = [sc.DumpDataset(path, clip=4, only_changed=True)[1] for path in dumps]
    batch = sc.collate(items)
    longest = max(len(item["patches"]) for item in items)
    assert batch["patches"].shape == (3, longest, 3, 16, 16)
    assert batch["mask"].dtype == torch.bool
    assert batch["mask"].sum(1).tolist() == [len(item["patches"]) for item in items]
    for b, item in enumerate(items):
        count, (emissions, patches) = len(item["patches"]), item["reuse"].shape
        for key in ("patches", "geometry", "positions", "emission"):
            assert torch.equal(batch[key][b, :count], item[key])
            assert not batch[key][b, count:].any()
        assert torch.equal(batch["reuse"][b, :emissions, :patches], item["reuse"])
        assert (batch["reuse"][b, :, patches:] == -1).all()
        assert torch.equal(batch["mask"][b], torch.arange(longest) < count)
    assert batch["dump"].tolist() == [0, 0, 0]


def test_packed_batch_is_the_items_in_a_row(dumps: list[Path]):
    items = [sc.DumpDataset(path, clip=4, only_changed=True)[-1] for path in dumps]  # clips of 3, 4 and 1 emissions
    batch = sc.collate(items, layout="packed")
    tokens = [len(item["patches"]) for item in items]
    assert batch["cu_seqlens"].dtype == batch["cu_emissions"].dtype == torch.int32
    assert batch["cu_seqlens"].tolist() == np.cumsum([0, *tokens]).tolist()
    assert batch["cu_emissions"].tolist() == [0, 3, 7, 8]
    assert batch["max_seqlen"] == max(tokens)
    assert torch.equal(batch["patches"], torch.cat([item["patches"] for item in items]))
    rows = batch["reuse"].split([3, 4, 1])
    for item, padded in zip(items, rows, strict=True):
        seen = item["reuse"] >= 0
        row = padded[:, : seen.shape[1]]
        assert torch.equal(row >= 0, seen)
        assert torch.equal(batch["patches"][row[seen]], item["patches"][item["reuse"][seen]])


@pytest.mark.parametrize("layout", ["padded", "packed"])
def test_emissions_are_batched_too(dumps: list[Path], layout: str):
    emissions = [sc.Dump(dumps[0])[2], sc.Dump(dumps[2])[1].to("cpu")]
    batch = sc.collate(emissions, layout)
    for b, emission in enumerate(emissions):
        own = (
            batch["patches"][b][batch["mask"][b]]
            if layout == "padded"
            else batch["patches"][batch["cu_seqlens"][b] : batch["cu_seqlens"][b + 1]]
        )
        np.testing.assert_array_equal(own, np.asarray(emission.patches)[np.asarray(emission.visible)])


def test_other_keys_are_stacked_or_listed(dumps: list[Path]):
    items = [
        {**item, "label": torch.tensor(i), "text": str(i), "ragged": torch.zeros(i)}
        for i, item in enumerate(sc.DumpDataset(dumps[0], clip=4))
    ]
    batch = sc.collate(items)
    assert batch["label"].tolist() == [0, 1, 2]
    assert batch["text"] == ["0", "1", "2"]
    assert [len(value) for value in batch["ragged"]] == [0, 1, 2]


def test_what_does_not_fit_is_named(dumps: list[Path], run_program, clip: Path, tmp_path: Path):
    with pytest.raises(ValueError, match="collate: there is no item"):
        sc.collate([])
    with pytest.raises(ValueError, match="collate: layout is 'ragged'; it must be one of"):
        sc.collate([sc.DumpDataset(dumps)[0]], layout="ragged")
    run_program("dump", clip, "-o", tmp_path / "f16", "--frames", 2, "--dtype", "f16")
    run_program("dump", clip, "-o", tmp_path / "s8", "--frames", 2, "--lattice", "nested", "--patch-size", 8)
    for name, words in (
        ("f16", "torch.uint8 and .* torch.float16"),
        ("s8", r"\[3, 16, 16\] torch.uint8 and \[3, 8, 8\]"),
    ):
        with pytest.raises(ValueError, match=f"collate: patches of items 0 and 1 differ: .*{words}"):
            sc.collate([sc.DumpDataset(dumps)[0], sc.DumpDataset(tmp_path / name)[0]])
    with pytest.raises(ValueError, match="items 0 and 1 differ in their keys: \\['positions'\\]"):
        sc.collate([sc.DumpDataset(dumps)[0], sc.DumpDataset(dumps, positions=None)[0]])


def _labelled(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "label": 1}


@pytest.mark.parametrize(("workers", "transform"), [(0, None), (1, None), (0, _labelled)])
def test_loader_without_collate_names_the_right_one(dumps: list[Path], workers: int, transform: Any):
    data = sc.DumpDataset(dumps, clip=4, only_changed=True, transform=transform)
    loader = DataLoader(data, batch_size=3, num_workers=workers)
    with pytest.raises(ValueError, match=r"pass collate_fn=sc\.collate"):
        list(loader)


def test_loader_without_collate_stacks_clips_of_one_length(dumps: list[Path]):
    (batch,) = DataLoader(sc.DumpDataset(dumps[2], clip=4, drop_last=True), batch_size=2)
    items = [sc.DumpDataset(dumps[2], clip=4)[index] for index in range(2)]
    assert torch.equal(batch["patches"], torch.stack([item["patches"] for item in items]))


def test_without_torch_it_says_what_to_install():
    code = """if True:
        import sys; sys.modules["torch"] = None
        import pysaccade as sc
        for name in ("DumpDataset", "collate"):
            try: getattr(sc, name)
            except ImportError as error: print(error)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "".join(
        f"{name} needs torch: pip install 'pysaccade[torch]'\n" for name in ("DumpDataset", "collate")
    )


def test_dump_without_emissions_has_no_clip(copy: Path):
    for name in ("patches", "geometry", "changed", "index"):
        np.save(copy / f"{name}.npy", np.load(copy / f"{name}.npy")[:0])
    manifest = json.loads((copy / "manifest.json").read_text())
    (copy / "manifest.json").write_text(json.dumps({**manifest, "emissions": 0}))
    assert len(sc.DumpDataset([copy])) == 0
