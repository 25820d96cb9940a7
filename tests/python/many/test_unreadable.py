"""Stores that can't be read: nothing is removed, nothing is called damaged, and the exit code is 1."""

from __future__ import annotations

import concurrent.futures
import errno
import io
import itertools
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import import_or_skip
from many_support import OPTIONS, make_clips, saccade
from pysaccade import InputError, open_shards
from pysaccade.many import _catalog, _folded
from pysaccade.many._bucket import StoreError
from pysaccade.many._store import LocalStore
from store_support import small_store

import_or_skip("fsspec")
DAMAGE = ("remove", "damaged", "cut short", "have changed", "missing", "plan again", "no marker", "given up")

FLAKY = """if True:
    import os, sys
    from pysaccade import _store
    from pysaccade.many import _bucket, _store as stores
    nth, error, failed = int(os.environ["NTH"]), int(os.environ["ERROR"]), os.environ["FAILED"]
    stores._PAUSE_S = 0.0

    class Flaky:
        # The n-th request to read fails, as does each later one for the same.
        failing = None

        def __init__(self, files):
            self._files = files

        def __getattr__(self, name):
            real = getattr(self._files, name)
            if name not in ("ls", "info", "cat_file", "cat", "open", "get_file"):
                return real

            def ask(*given, **more):
                global nth
                nth -= 1
                if nth == 0:
                    Flaky.failing = name, given[0]
                    open(failed, "w").close()
                if Flaky.failing == (name, given[0]):
                    raise OSError(error, os.strerror(error))
                return real(*given, **more)

            return ask

    begin = _bucket.BucketStore.__init__
    def flaky(store, *given):
        begin(store, *given)
        store._fs = Flaky(store._fs)
    _bucket.BucketStore.__init__ = flaky
    sys.exit(_store.main(sys.argv[1:]))
"""


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


@pytest.mark.parametrize("command", ["status", "verify", "gc", "retry"])
@pytest.mark.parametrize("fault", [errno.EIO, errno.EACCES], ids=["EIO", "EACCES"])
def test_each_request_that_fails_is_named_as_such(done: Path, tmp_path: Path, command: str, fault: int):
    """The helper is one whose n-th request fails, for each n."""
    helper = tmp_path / "python"
    helper.write_text(f'#!/bin/sh\nshift 2\nexec {shlex.quote(sys.executable)} -c {shlex.quote(FLAKY)} "$@"\n')
    helper.chmod(0o755)
    failed = tmp_path / "failed"
    for nth in itertools.count(1):
        place = tmp_path / str(nth)
        shutil.copytree(done, place / "s")
        before = content(place / "s")
        ended = saccade(
            command, f"local://{place}/s", *(["-o", place / "again"] if command == "retry" else []), expect=[0, 1],
            SACCADE_PYTHON=str(helper), NTH=str(nth), ERROR=str(fault), FAILED=str(failed),
        )  # fmt: skip
        said, after = ended.stdout + ended.stderr, content(place / "s")
        if not failed.exists():
            assert ended.returncode == 0, said
            assert len(after) == len(before) + {"gc": -1}.get(command, 0)
            break
        failed.unlink()
        assert ended.returncode == 1, said
        assert os.strerror(fault) in said
        assert [word for word in DAMAGE if word in said] == []
        assert after == before
        assert not (place / "again/plan").exists()
    assert nth > 3


@pytest.mark.parametrize("command", ["index", "list"])
def test_each_call_that_fails_is_named_as_such(done: Path, tmp_path: Path, command: str):
    """Of the commands in Python, as tests/app/work/unreadable_test.py of the program's. What fails and is not needed
    changes nothing: the folder of a listing that is known to be one, the command's own file.
    """
    import_or_skip("pyarrow")
    library = tmp_path / "unreadable.so"
    source = Path(__file__).parents[2] / "app/work/unreadable.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    read = done if command == "index" else done.parent / "in"

    def run(nth: int) -> tuple[subprocess.CompletedProcess[str], str, int, bool]:
        place, hit, fault = tmp_path / str(nth), tmp_path / f"hit{nth}", (errno.EIO, errno.EACCES)[nth % 2]
        shutil.copytree(read, place / "read")
        before = content(place / "read")
        env = {**os.environ, "LD_PRELOAD": str(library), "SACCADE_BELOW": f"{place}/read", "SACCADE_NTH": str(nth),
               "SACCADE_ERRNO": str(fault), "SACCADE_HIT": str(hit)}  # fmt: skip
        output = ["-o", str(tmp_path / f"{nth}.jsonl")] if command == "list" else []
        given = [sys.executable, "-m", "pysaccade.work", command, str(place / "read"), "--json", *output]
        ended = subprocess.run(given, env=env, capture_output=True, text=True, check=False)
        after = content(place / "read")
        return ended, hit.read_text() if hit.exists() else "", fault, before.items() <= after.items()

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        whole = run(100_000)[0]
        assert whole.returncode == 0, whole.stderr
        for first in itertools.count(1, 4):
            runs = list(threads.map(run, range(first, first + 4)))
            for ended, call, fault, kept in runs:
                assert kept, call
                if ended.returncode == 0:
                    assert ended.stdout == whole.stdout, call
                else:
                    assert (ended.returncode, os.strerror(fault) in ended.stderr) == (1, True), (call, ended.stderr)
                    assert [word for word in DAMAGE if word in ended.stderr] == [], call
            if not runs[-1][1]:
                break
        assert first > 12


def refuse(error: int) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(error, os.strerror(error))

    return fail


def test_folder_that_cannot_be_listed_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Nor is one that is a file, or of which one more name can't be read."""
    store = LocalStore(small_store(tmp_path / "s").path)
    monkeypatch.setattr(os, "scandir", refuse(errno.EIO))
    with pytest.raises(OSError, match="Input/output error"):
        store.stamps("commits")
    monkeypatch.undo()
    shutil.rmtree(store.path / "commits")
    (store.path / "commits").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        store.stamps("commits")


def test_parts_without_the_folder_of_markers_are_not_an_empty_store(tmp_path: Path):
    made = small_store(tmp_path / "s")
    shutil.rmtree(made.path / "commits")
    with pytest.raises(OSError, match=r"s/commits: there is no such folder, but .* hold files"):
        open_shards(made.path, require_complete=False)
    for folder in ("shards", "index"):
        shutil.rmtree(made.path / folder)
    assert _catalog.stamps_of(LocalStore(made.path)) == {}


def test_gc_of_a_bucket_without_a_marker_stops(done: Path, tmp_path: Path):
    shutil.copytree(done, tmp_path / "s")
    shutil.rmtree(tmp_path / "s/commits")
    before = content(tmp_path / "s")
    saccade("gc", f"local://{tmp_path}/s", "--older-than", "0", expect=[1])
    assert content(tmp_path / "s") == before


def test_folded_index_that_cannot_be_read_is_not_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import_or_skip("pyarrow")

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
