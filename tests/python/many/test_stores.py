"""Stores in folders and buckets: what is on disk when, what is listed, what a client's library raises."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path
from typing import Any

import pytest

from conftest import import_or_skip
from pysaccade.many._bucket import BucketStore
from pysaccade.many._store import LocalStore, open_store
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
    store.put(name, source)


def test_file_and_then_its_name_are_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = LocalStore(tmp_path / "store")
    target = store.path / "shards/a.tar"
    disk = Disk(target, monkeypatch)
    put(store, "shards/a.tar")
    assert target.read_bytes() == b"content"
    draft, *names = disk.synced
    assert draft[0].startswith(str(store.path / "shards/.a.tar."))
    assert not draft[1]  # its bytes come first
    assert names == [(str(folder), True) for folder in (store.path / "shards", store.path, tmp_path)]
    disk.synced.clear()
    put(store, "shards/b.tar")
    assert [name for name, _ in disk.synced[1:]] == [str(store.path / "shards")]  # no other folder is new


@pytest.mark.parametrize("fault", [errno.EINVAL, errno.ENOTSUP])
def test_file_system_that_syncs_no_folder_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: int):
    sync = os.fsync

    def refuse(file: int) -> None:
        if Path(f"/proc/self/fd/{file}").is_dir():
            raise OSError(fault, os.strerror(fault))
        sync(file)

    monkeypatch.setattr(os, "fsync", refuse)
    store = LocalStore(tmp_path / "store")
    put(store, "shards/a.tar")
    assert store.read("shards/a.tar") == b"content"

    def broken(_: int) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match=os.strerror(fault)):
        put(store, "shards/b.tar")  # its bytes are not on disk


def test_drafts_are_not_listed(tmp_path: Path):
    store = LocalStore(tmp_path)
    put(store, "commits/a.json")
    (tmp_path / "commits/.b.json.0123456789ab").write_text("half of it")
    assert list(store.stamps("commits")) == ["commits/a.json"]


class Broken(io.RawIOBase):
    """A file of a bucket whose server goes away."""

    def read(self, _: int = -1) -> Any:
        raise ValueError("a fault of the client's own kind\nand more")


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store in a "bucket" whose files can be opened and not read."""
    import_or_skip("fsspec")
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


def test_open_file_of_a_bucket_is_read_from_here_and_there(tmp_path: Path):
    import_or_skip("fsspec")
    (tmp_path / "file").write_bytes(bytes(range(256)))
    with open_store(f"local://{tmp_path}").open("file") as file:
        assert file.seek(-6, os.SEEK_END) == 250
        assert file.read(3) == b"\xfa\xfb\xfc"
        assert file.tell() == 253
        assert file.read() == b"\xfd\xfe\xff"
