"""Copies of buckets' small files in the user's cache: what they hold, and when they go."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from many_support import work
from pysaccade.many import _mirror
from pysaccade.many._plan import Plan
from pysaccade.many._store import open_store
from store_support import small_store

pytest.importorskip("fsspec")
DAY_S = 86400


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/saccade/stores"


def plan_of(folder: Path) -> Plan:
    """Of a store that is used as a bucket is, and lies in a folder."""
    if not folder.exists():
        made = small_store(folder)
        (made.path / "plan/units.jsonl").write_text(
            "".join(f'{{"unit":"{n:08}","offset":0,"bytes":1,"items":5,"media_s":1}}\n' for n in range(4))
        )
    return Plan(open_store(f"local://{folder}"))


def use(folder: Path, ago_s: float = 0.0) -> Path:
    """Use the copy of a store; as if so long ago."""
    with _mirror.mirror(plan_of(folder), "commits", "quarantine") as copy:
        assert sorted(path.name for path in (copy / "commits").iterdir()) == [f"{n:08}.json" for n in range(4)]
    os.utime(copy, (time.time() - ago_s,) * 2)
    return copy


def test_copies_that_nobody_used_for_thirty_days_go(tmp_path: Path, cache: Path):
    recent, old = use(tmp_path / "recent", 29 * DAY_S), use(tmp_path / "old", 31 * DAY_S)
    assert old.exists()
    used = use(tmp_path / "used")
    assert {path for path in cache.iterdir() if path.is_dir()} == {recent, used}
    assert use(tmp_path / "old") == old  # it is made again


def test_copies_that_take_too_much_go_the_longest_unused_first(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
):
    copies = [use(tmp_path / f"s{n}", (9 - n) * DAY_S) for n in range(3)]
    each = int((copies[0] / "bytes").read_text())
    files = [path for path in copies[0].rglob("*") if path.is_file() and path.name != "bytes"]
    assert each == 4096 * len(files)
    monkeypatch.setattr(_mirror, "_MOST_BYTES", 3 * each)
    used = use(tmp_path / "s3")
    assert {path for path in cache.iterdir() if path.is_dir()} == {copies[1], copies[2], used}
    monkeypatch.setattr(_mirror, "_MOST_BYTES", each - 1)
    use(tmp_path / "s3")
    assert {path for path in cache.iterdir() if path.is_dir()} == {used}  # never that which is used


@pytest.mark.usefixtures("cache")
def test_copy_that_is_used_stays(tmp_path: Path):
    with _mirror.mirror(plan_of(tmp_path / "old"), "commits") as copy:
        os.utime(copy, (0, 0))
        use(tmp_path / "other")
        assert (copy / "commits/00000000.json").exists()
        assert _mirror.forget(plan_of(tmp_path / "old").store) == 0
    use(tmp_path / "other")
    assert not copy.exists()


def test_what_another_command_fetches_meanwhile_stays(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Drafts of its, and files that came into the store after this one's look at the copy."""
    copy = use(tmp_path / "store")
    draft = copy / "commits/.00000001.json.0123456789ab"
    draft.write_text("half of it")
    with _mirror.mirror(plan_of(tmp_path / "store"), "commits"):
        assert draft.exists()
    plan = plan_of(tmp_path / "store")
    listing = type(plan.store).sizes

    def and_another(store: object, folder: str) -> dict[str, int]:
        found = listing(plan.store, folder)
        (tmp_path / "store" / folder / "late.json").write_text("{}")
        _mirror.LocalStore(copy).create(f"{folder}/late.json", b"{}")
        return found

    monkeypatch.setattr(type(plan.store), "sizes", and_another)
    with _mirror.mirror(plan, "commits"):
        assert (copy / "commits/late.json").exists()
    assert cache.is_dir()


def test_another_plan_of_a_store_replaces_its_copy(tmp_path: Path, cache: Path):
    first = use(tmp_path / "store")
    for path in (tmp_path / "store").rglob("*.json"):
        path.write_text(path.read_text().replace("ab" * 32, "cd" * 32))
    second = use(tmp_path / "store")
    assert first != second
    assert [path for path in cache.iterdir() if path.is_dir()] == [second]


def test_gc_removes_the_copies_of_its_store(tmp_path: Path, cache: Path):
    copy, other = use(tmp_path / "store"), use(tmp_path / "other")
    said = work("gc", f"local://{tmp_path}/store", XDG_CACHE_HOME=str(cache.parents[1])).stdout
    removed = "removed 0 attempts and 0 files (0.0 MB), and its copy on this machine"
    assert said == f"local://{tmp_path}/store: {removed}\n"
    assert (copy.exists(), other.exists()) == (False, True)
    assert (tmp_path / "store/commits/00000000.json").exists()
