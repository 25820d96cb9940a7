"""Stores that can't be read: nothing is removed, nothing is called damaged, and the exit code is 1."""

from __future__ import annotations

import errno
import io
import itertools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from many_support import OPTIONS, make_clips
from pysaccade import InputError, open_shards
from pysaccade.many import _catalog, _folded, _store
from pysaccade.many._bucket import BucketStore, StoreError
from pysaccade.many._store import LocalStore
from pysaccade.work import main
from store_support import small_store

pytest.importorskip("fsspec")
DAMAGE = ("remove", "damaged", "cut short", "have changed", "missing", "plan again", "no marker", "given up")
REQUESTS = ("ls", "info", "cat_file", "cat", "open", "modified")
FAULTS = {error: OSError(error, os.strerror(error)) for error in (errno.EIO, errno.EACCES)}


class Flaky:
    """A file system of fsspec's whose n-th request to read fails, as does each later one for the same."""

    def __init__(self, files: Any, nth: int, fault: OSError) -> None:
        self._files, self._nth, self._fault = files, nth, fault
        self.failing: tuple[str, str] | None = None

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._files, name)
        if name not in REQUESTS:
            return real

        def ask(*given: Any, **more: Any) -> Any:
            self._nth -= 1
            if self._nth == 0:
                self.failing = (name, str(given))
            if self.failing == (name, str(given)):
                raise self._fault
            return real(*given, **more)

        return ask


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, program: Path) -> Path:
    """A store of two units that are done, with a video that was given up and an orphan."""
    folder = tmp_path_factory.mktemp("done")
    clips = make_clips(ffmpeg, folder / "in", 3)
    clips[2].write_bytes(b"no video" * 100)
    (folder / "list.csv").write_text("uri,end\n" + "".join(f"{clip},1\n" for clip in clips))
    for command in (["plan", folder / "list.csv", "-o", folder / "s", *OPTIONS], ["work", folder / "s"]):
        subprocess.run([program, *command], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    (folder / "s/shards/00000000.aaaaaaaaaaaa.tar").write_bytes(b"of an attempt that lost")
    os.utime(folder / "s/shards/00000000.aaaaaaaaaaaa.tar", (0, 0))
    return folder / "s"


@pytest.mark.parametrize("command", ["status", "verify", "gc", "retry", "index"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=["EIO", "EACCES"])
def test_each_request_that_fails_is_named_as_such(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str,
    fault: OSError,
):  # fmt: skip
    monkeypatch.setattr(_store, "_PAUSE_S", 0.0)
    begin = BucketStore.__init__
    for nth in itertools.count(1):
        place = tmp_path / str(nth)
        shutil.copytree(done, place / "s")
        monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        made: list[Flaky] = []

        def flaky(store: BucketStore, *given: Any, nth: int = nth, made: list[Flaky] = made) -> None:
            begin(store, *given)
            store._fs = Flaky(store._fs, nth, fault)
            made.append(store._fs)

        monkeypatch.setattr(BucketStore, "__init__", flaky)
        before = content(place / "s")
        code = main([command, f"local://{place}/s", *(["-o", str(place / "again")] if command == "retry" else [])])
        said = "".join(capsys.readouterr())
        after = content(place / "s")
        if not any(files.failing for files in made):
            assert code == 0, said
            assert len(after) == len(before) + {"gc": -1, "index": 1}.get(command, 0)
            break
        assert code == 1, said
        assert os.strerror(fault.errno or 0) in said
        assert [word for word in DAMAGE if word in said] == []
        assert after == before
        assert not (place / "again/plan").exists()
    assert nth > 3


def refuse(error: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(error, os.strerror(error))

    return fail


def test_folder_that_cannot_be_listed_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nor is one that is a file, or of which one more name can't be read."""
    store = LocalStore(small_store(tmp_path / "s").path)
    monkeypatch.setattr(os, "scandir", refuse(errno.EIO))
    for ask in (store.sizes, store.stamps):
        with pytest.raises(OSError, match="Input/output error"):
            ask("commits")
    monkeypatch.undo()
    shutil.rmtree(store.path / "commits")
    (store.path / "commits").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        store.stamps("commits")


def test_file_that_cannot_be_looked_at_may_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = LocalStore(tmp_path)
    assert not store.exists("commits/00000000.json")
    (tmp_path / "commits").write_bytes(b"")
    assert not store.exists("commits/00000000.json")
    monkeypatch.setattr(Path, "stat", refuse(errno.EACCES))
    with pytest.raises(PermissionError):
        store.exists("commits/00000000.json")


def test_parts_without_the_folder_of_markers_are_not_an_empty_store(tmp_path: Path):
    made = small_store(tmp_path / "s")
    shutil.rmtree(made.path / "commits")
    with pytest.raises(OSError, match=r"s/commits: there is no such folder, but .* hold files"):
        open_shards(made.path, require_complete=False)
    for folder in ("shards", "index"):
        shutil.rmtree(made.path / folder)
    assert _catalog.stamps_of(LocalStore(made.path)) == {}


def test_gc_of_a_bucket_without_a_marker_stops(done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    shutil.copytree(done, tmp_path / "s")
    shutil.rmtree(tmp_path / "s/commits")
    before = content(tmp_path / "s")
    assert main(["gc", f"local://{tmp_path}/s", "--older-than", "0"]) == 1
    assert "but no marker: is commits/ that of this store? Nothing was removed" in capsys.readouterr().err
    assert content(tmp_path / "s") == before


def test_folded_index_that_cannot_be_read_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pyarrow")

    class Broken(io.RawIOBase):
        def __init__(self, fault: OSError) -> None:
            self.fault = fault

        def readable(self) -> bool:
            return True

        def seek(self, *_: int) -> int:
            raise self.fault

        tell = read = seek

    store = LocalStore(tmp_path)
    for fault in (OSError(errno.EIO, "Input/output error"), StoreError("503 Slow Down")):
        broken = Broken(fault)
        monkeypatch.setattr(LocalStore, "open", lambda *_, broken=broken: broken)
        with pytest.raises(OSError, match="^(.Errno 5. Input/output error|503 Slow Down)$") as raised:
            _folded.columns(store, "ab" * 32, {})
        assert not isinstance(raised.value, InputError)
    monkeypatch.setattr(LocalStore, "open", lambda *_: io.BytesIO(b"PAR1, and then nothing that is Parquet"))
    with pytest.raises(InputError, match="damaged: .*; remove it"):
        _folded.columns(store, "ab" * 32, {})
