"""Stores in a bucket of a real S3-compatible server, and the folded index."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import pysaccade as sc
from bucket_support import BUCKET, put_tree
from conftest import import_or_skip
from pysaccade.many import _bucket, _catalog, _folded
from pysaccade.many._store import open_store
from store_support import PLAN, HandMade, small_store, video

torch = import_or_skip("torch")
from torch.utils.data import DataLoader  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> HandMade:
    return small_store(tmp_path_factory.mktemp("stores") / "store")


@pytest.fixture(scope="module")
def bucket(s3: str, made: HandMade) -> str:
    put_tree(s3, made.path, "read/store")
    return f"s3://{BUCKET}/read/store"


def same(a: Any, b: Any) -> bool:
    return a.keys() == b.keys() and all(
        torch.equal(a[key], b[key]) if isinstance(a[key], torch.Tensor) else a[key] == b[key] for key in a
    )


@pytest.mark.parametrize(("shuffle", "workers", "prefetch"), [(0, 0, 4), (0, 0, 0), (6, 0, 3), (6, 2, 2)])
def test_bucket_gives_what_the_folder_gives(made: HandMade, bucket: str, shuffle: int, workers: int, prefetch: int):
    def read(store: Any) -> list[Any]:
        data = sc.open_shards(store, clip=4, shuffle=shuffle, prefetch=prefetch)
        return list(DataLoader(data, batch_size=None, num_workers=workers))

    there, here = read(bucket), read(made.path)
    assert len(there) == len(here)
    assert all(same(a, b) for a, b in zip(there, here, strict=True))


def test_a_loop_that_was_left_leaves_no_thread(bucket: str):
    import threading

    for i, _ in enumerate(sc.open_shards(bucket, clip=4)):
        if i == 2:
            break
    import gc

    gc.collect()
    for thread in threading.enumerate():
        if thread.name.startswith("pysaccade-shards"):
            thread.join(30)
            assert not thread.is_alive()


def test_missing_store_is_one_clear_line(s3: str):
    with pytest.raises(sc.InputError, match=r"s3://videos/nothing: no plan/plan\.json in it; make a store with"):
        sc.open_shards(f"s3://{BUCKET}/nothing")


def test_missing_scheme_is_one_clear_line():
    with pytest.raises(sc.UnavailableError, match="nosuch://x"):
        sc.open_shards("nosuch://x/y")


def fold(store: Any, target: Path) -> int:
    stamps = _catalog.stamps_of(store)
    names = [_catalog.marker_name(unit) for unit in sorted(stamps)]
    return _folded.fold(_catalog.lines_of(store, PLAN, names), stamps, PLAN, target)


def test_folded_index_says_what_the_parts_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pq = import_or_skip("pyarrow.parquet")
    made = small_store(tmp_path / "s")
    store = open_store(made.path)
    before = _catalog.read_catalog(store, require_complete=True)
    assert fold(store, made.path / _folded.NAME) == 20
    table = pq.read_table(made.path / _folded.NAME).to_pylist()
    assert [row["key"] for row in table] == made.keys
    for row in table:
        shard = (made.path / row["shard"]).read_bytes()
        samples = made.arrays[row["key"]]["patches"].tobytes()
        assert shard[row["patches_offset"] + 256 : row["patches_offset"] + row["patches_bytes"]] == samples

    def never(*_: Any) -> Any:
        raise AssertionError("the parts were read")

    monkeypatch.setattr(_catalog, "markers_of", never)
    after = _catalog.read_catalog(store, require_complete=True)
    for name, value in vars(before).items():
        assert str(getattr(after, name)) == str(value)


@pytest.mark.parametrize("schema", [1, 2])
def test_folded_index_has_all_that_the_lines_have(tmp_path: Path, schema: int):
    pq = import_or_skip("pyarrow.parquet")
    made = small_store(tmp_path / "s", schema=schema)
    fold(open_store(made.path), made.path / _folded.NAME)
    rows = {row["key"]: row for row in pq.read_table(made.path / _folded.NAME).to_pylist()}
    for part in (made.path / "index").iterdir():
        for text in part.read_text().splitlines():
            line = json.loads(text)
            row = rows.pop(line["key"])
            members = line.pop("members")
            assert json.loads(row.pop("extra")) == line.pop("extra")
            assert {name: row.pop(name) for name in line} == line
            shard = (made.path / line["shard"]).read_bytes()
            assert (row.pop("shard_bytes"), row.pop("shard_sha256")) == (len(shard), sha256(shard).hexdigest())
            whole = shard[row["offset"] : row.pop("offset") + row.pop("bytes")]
            for kind, member in members.items():
                name = kind.removesuffix(".npy").removesuffix(".bin")
                assert {fact: row.pop(f"{name}_{fact}") for fact in ("offset", "bytes", "sha256")} == member
                content = shard[member["offset"] : member["offset"] + member["bytes"]]
                assert content in whole
                assert sha256(content).hexdigest() == member["sha256"]
            assert not any(row.values())  # of the members that only later schemas have
            assert (row == {}) == (schema == 2)
    assert rows == {}


def test_units_that_came_later_are_read_from_their_parts(tmp_path: Path):
    import_or_skip("pyarrow")
    made = HandMade(tmp_path / "s", units=3)
    made.unit(1, {"a": video(1, 5)})
    fold(open_store(made.path), made.path / _folded.NAME)
    made.unit(0, {"b": video(2, 3), "c": video(3, 4)})
    made.unit(2, {"d": video(4, 4)})
    items = list(sc.open_shards(made.path, clip=None))
    assert [item["key"] for item in items] == ["b", "c", "a", "d"]
    assert [len(item["frame"]) for item in items] == [3, 4, 5, 4]


@pytest.mark.parametrize("collected", [False, True])
def test_units_that_were_done_again_are_read_from_their_parts(tmp_path: Path, collected: bool):
    pq = import_or_skip("pyarrow.parquet")
    made = HandMade(tmp_path / "s", units=4)
    for number in range(3):
        made.unit(number, {f"k{number}": video(number, 5)})
    fold(open_store(made.path), made.path / _folded.NAME)
    old = pq.read_table(made.path / _folded.NAME).to_pylist()[1]["shard"]
    (made.path / "commits/00000001.json").unlink()
    assert [item["key"] for item in sc.open_shards(made.path, clip=None, require_complete=False)] == ["k0", "k2"]
    again = video(9, 7)
    made.unit(1, {"k1": again})
    if collected:  # by `gc`
        (made.path / old).unlink()
    made.unit(3, {"k3": video(3, 5)})
    items = list(sc.open_shards(made.path, clip=None))
    assert [item["key"] for item in items] == ["k0", "k1", "k2", "k3"]
    assert [len(item["frame"]) for item in items] == [5, 7, 5, 5]
    assert items[1]["patches"].sum() == again["patches"][again["geometry"][..., 3] > 0].sum()


def test_units_without_videos_are_believed_until_they_have_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import_or_skip("pyarrow")
    made = HandMade(tmp_path / "s", units=2)
    made.unit(0, {"a": video(1, 5)})
    made.unit(1, {"b": video(2, 5)})
    marker, shard = made.path / "commits/00000001.json", next((made.path / "shards").glob("00000001.*"))
    done, kept = json.loads(marker.read_text()), shard.read_bytes()
    marker.write_text(json.dumps({**done, "done": 0, "quarantined": 1, "shard": None, "index": None}))
    shard.unlink()
    fold(open_store(made.path), made.path / _folded.NAME)
    read = _catalog.markers_of

    def never(store: Any, plan: str, names: list[str]) -> Any:
        assert not names
        return read(store, plan, names)

    with monkeypatch.context() as patch:
        patch.setattr(_catalog, "markers_of", never)
        assert [item["key"] for item in sc.open_shards(made.path, clip=None)] == ["a"]
    marker.write_text(json.dumps(done))
    shard.write_bytes(kept)
    assert [item["key"] for item in sc.open_shards(made.path, clip=None)] == ["a", "b"]


@pytest.mark.parametrize("scheme", ["", "local://"])
def test_unit_that_was_given_up_when_done_again_is_gone(tmp_path: Path, scheme: str):
    """Also while the shard of before, which `gc` removes, is the only one that is there."""
    import_or_skip("pyarrow")
    made = HandMade(tmp_path / "s", units=2)
    for number in range(2):
        made.unit(number, {f"k{number}": video(number, 5)})
    fold(open_store(f"{scheme}{made.path}"), made.path / _folded.NAME)
    marker = made.path / "commits/00000001.json"
    done = json.loads(marker.read_text())
    marker.unlink()
    marker.write_text(json.dumps({**done, "done": 0, "quarantined": 1, "shard": None, "index": None}))
    assert len(list((made.path / "shards").glob("00000001.*"))) == 1
    assert [item["key"] for item in sc.open_shards(f"{scheme}{made.path}", clip=None)] == ["k0"]


def test_units_without_stamps_are_read_from_their_parts(tmp_path: Path):
    """As an earlier version folded them, and where a file system tells nothing but sizes."""
    import_or_skip("pyarrow")
    made = HandMade(tmp_path / "s", units=2)
    for number in range(2):
        made.unit(number, {f"k{number}": video(number, 5)})
    old: Any = ["00000000", "00000001"]
    for units in ({"00000000": None, "00000001": None}, old):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_folded, "dict", lambda given: given, raising=False)
            _folded.fold(iter(()), units, PLAN, made.path / _folded.NAME)
        assert [item["key"] for item in sc.open_shards(made.path, clip=None)] == ["k0", "k1"]
    assert _bucket._stamp({"size": 3, "name": "x"}) is None
    assert _bucket._stamp({"size": 3, "ETag": '"ab"', "LastModified": "today"}) == '3 "ab"'


def test_folded_index_of_another_plan_is_not_believed(tmp_path: Path):
    import_or_skip("pyarrow")
    made = HandMade(tmp_path / "s", units=1)
    made.unit(0, {"a": video(1, 5)})
    stamps = _catalog.stamps_of(open_store(made.path))
    _folded.fold(iter(()), stamps, "cd" * 32, made.path / _folded.NAME)
    assert [item["key"] for item in sc.open_shards(made.path, clip=None)] == ["a"]
    (made.path / _folded.NAME).write_bytes(b"PAR1 nonsense")
    with pytest.raises(sc.InputError, match=r"index\.parquet: damaged"):
        sc.open_shards(made.path)
