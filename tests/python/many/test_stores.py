"""Stores in folders and buckets: what is on disk when, what is listed, what a client's library raises."""

from __future__ import annotations

import errno
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pysaccade.many import _store
from pysaccade.many._bucket import BucketStore
from pysaccade.many._manifest import local_manifest
from pysaccade.many._plan import Plan
from pysaccade.many._store import LocalStore, open_store
from pysaccade.work import main
from store_support import small_store


class Disk:
    """What was synced, in its order: a file's name, and whether `wanted` was there by then."""

    def __init__(self, wanted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: list[tuple[str, bool]] = []
        sync = os.fsync

        def note(file: int) -> None:
            self.synced.append((str(Path(f"/proc/self/fd/{file}").readlink()), wanted.exists()))
            sync(file)

        monkeypatch.setattr(os, "fsync", note)


def put(store: LocalStore, name: str) -> None:
    source = store.path.parent / "source"
    source.write_bytes(b"content")
    store.upload(source, name)


def make(store: LocalStore, name: str) -> None:
    assert store.create(name, b"content")


@pytest.mark.parametrize("how", [put, make])
def test_file_and_then_its_name_are_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[[LocalStore, str], None]
):
    store = LocalStore(tmp_path / "store")
    target = store.path / "shards/a.tar"
    disk = Disk(target, monkeypatch)
    how(store, "shards/a.tar")
    assert target.read_bytes() == b"content"
    draft, *names = disk.synced
    assert draft[0].startswith(str(store.path / "shards/.a.tar."))
    assert not draft[1]  # its bytes come first
    assert names == [(str(folder), True) for folder in (store.path / "shards", store.path, tmp_path)]
    disk.synced.clear()
    how(store, "shards/b.tar")
    assert [name for name, _ in disk.synced[1:]] == [str(store.path / "shards")]  # no other folder is new


def test_marker_that_another_has_made_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = LocalStore(tmp_path)
    make(store, "commits/a.json")
    disk = Disk(tmp_path / "commits/a.json", monkeypatch)
    assert not store.create("commits/a.json", b"other")
    assert (str(tmp_path / "commits"), True) in disk.synced


@pytest.mark.parametrize("how", [put, make])
@pytest.mark.parametrize("fault", [errno.EINVAL, errno.ENOTSUP])
def test_file_system_that_syncs_no_folder_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[[LocalStore, str], None], fault: int
):
    sync = os.fsync

    def refuse(file: int) -> None:
        if Path(f"/proc/self/fd/{file}").is_dir():
            raise OSError(fault, os.strerror(fault))
        sync(file)

    monkeypatch.setattr(os, "fsync", refuse)
    store = LocalStore(tmp_path / "store")
    how(store, "shards/a.tar")
    assert store.read("shards/a.tar") == b"content"

    def broken(_: int) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=os.strerror(fault)):
        how(store, "shards/b.tar")  # its bytes are not on disk


@pytest.mark.parametrize("renames", [True, False])
@pytest.mark.parametrize("fault", [errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK])
def test_file_is_created_once_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int, renames: bool
):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(os, "link", refuse)
    if not renames:
        monkeypatch.setattr(_store, "_rename_to_new", lambda *_: errno.EINVAL)
    store = LocalStore(tmp_path)
    assert store.create("commits/a.json", b"first")
    assert not store.create("commits/a.json", b"second")
    assert store.read("commits/a.json") == b"first"
    assert [path.name for path in (tmp_path / "commits").iterdir()] == ["a.json"]  # no drafts


def test_other_faults_of_a_name_are_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        LocalStore(tmp_path).create("a", b"content")
    monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(OSError(errno.EPERM, "no links")))
    monkeypatch.setattr(_store, "_rename_to_new", lambda *_: errno.EROFS)
    with pytest.raises(OSError, match=os.strerror(errno.EROFS)):
        LocalStore(tmp_path).create("a", b"content")
    assert list(tmp_path.iterdir()) == []


def test_drafts_are_not_listed(tmp_path: Path):
    store = LocalStore(tmp_path)
    make(store, "commits/a.json")
    (tmp_path / "commits/.b.json.0123456789ab").write_text("half of it")
    assert store.sizes("commits") == {"commits/a.json": 7}


class Broken(io.RawIOBase):
    """A file of a bucket whose server goes away."""

    def read(self, _: int = -1) -> Any:
        raise ValueError("a fault of the client's own kind\nand more")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store in a "bucket" whose files can be opened and not read."""
    pytest.importorskip("fsspec")
    small_store(tmp_path / "store")
    for name in ("units", "items"):
        (tmp_path / f"store/plan/{name}.jsonl").write_text("{}\n")
    store = BucketStore(f"local://{tmp_path}/store", {})
    monkeypatch.setattr(type(store._fs), "_open", lambda *_, **__: Broken())
    return str(store)


def test_fault_in_an_open_file_names_it(broken: str):
    store = open_store(broken)
    with pytest.raises(OSError, match=f"^{broken}/plan/items.jsonl: a fault of the client's own kind$"):
        store.open("plan/items.jsonl").read(9)
    facts = {"hash": "ab" * 32, "options": {}, "settings": {}, "units": 0}
    with pytest.raises(OSError, match="items.jsonl: a fault of the client's own kind$"):
        Plan(store, facts).check_content()


def test_fault_of_a_files_time_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("fsspec")
    store = BucketStore(f"local://{tmp_path}", {})

    def fail(*_: Any) -> Any:
        raise ValueError("no answer")

    monkeypatch.setattr(type(store._fs), "modified", fail)
    with pytest.raises(OSError, match=f"^local://{tmp_path}/x: no answer$"):
        store.written_s("x")


@pytest.mark.parametrize("name", ["m.jsonl", "m.parquet"])
def test_fault_of_a_manifest_in_a_bucket_is_one_line(
    broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
):
    pytest.importorskip("pyarrow")
    (tmp_path / name).write_text(json.dumps({"uri": "a"}))
    assert main(["plan", f"local://{tmp_path}/{name}", "-o", f"{tmp_path}/new"]) != 0
    (line,) = capsys.readouterr().err.splitlines()
    assert f"local://{tmp_path}/{name}" in line


@pytest.mark.parametrize("name", ["m.jsonl", "m.parquet"])
def test_full_disk_beside_a_manifest_is_not_the_buckets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    pytest.importorskip("fsspec")
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "m.jsonl").write_text(json.dumps({"uri": "a"}))
    pq.write_table(pa.table({"uri": ["a"]}), tmp_path / "m.parquet")

    class Full(io.BytesIO):
        def write(self, *_: Any) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "open", lambda *_, **__: Full())
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as raised:
        local_manifest(f"local://{tmp_path}/{name}", tmp_path / "copies", {})
    assert raised.value.errno == errno.ENOSPC
    assert "local://" not in str(raised.value)


def test_open_file_of_a_bucket_is_read_from_here_and_there(tmp_path: Path):
    pytest.importorskip("fsspec")
    (tmp_path / "file").write_bytes(bytes(range(256)))
    with open_store(f"local://{tmp_path}").open("file") as file:
        assert file.seek(-6, os.SEEK_END) == 250
        assert file.read(3) == b"\xfa\xfb\xfc"
        assert file.tell() == 253
        assert file.read() == b"\xfd\xfe\xff"
