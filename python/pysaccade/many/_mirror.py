"""A copy of a bucket's small files, for the program's `status` and `retry`. They never change: each is fetched once.

Copies lie in ~/.cache/saccade/stores. Each command that uses one removes those that nobody has used for 30 days and,
where all of them take more than 5 GB, those that were not used for longest; `gc` removes that of its store.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from pysaccade.many._plan import Plan
from pysaccade.many._store import LocalStore, Store

_AT_ONCE = 1024
_CHUNK_BYTES = 64 << 20
_BLOCK_BYTES = 4096  # of a disk: most files are smaller
_ITEMS = "plan/items.jsonl"
_SIZE = "bytes"  # a file of each copy: what it takes, roughly
_KEPT_S = 30 * 86400.0
_MOST_BYTES = 5_000_000_000


@contextlib.contextmanager
def mirror(plan: Plan, *folders: str, items: bool = False) -> Iterator[Path]:
    """A copy of the plan, and of all files in these folders, such as "commits"; up to date, and there while it is used.

    `items`: with the plan's items, which may be gigabytes.
    """
    top = _top()
    copy = LocalStore(top / f"{_name(plan.store)}-{plan.hash[:12]}")
    copy.path.mkdir(parents=True, exist_ok=True)
    with _lock(top, fcntl.LOCK_SH):
        copy.path.mkdir(exist_ok=True)
        os.utime(copy.path)
        for file in ("plan/units.jsonl", "plan/plan.json"):
            if not (copy.path / file).exists():
                copy.create(file, plan.store.read(file))
        for folder in folders:
            _update(plan.store, copy, folder)
        if items and not (copy.path / _ITEMS).exists():
            _fetch_items(plan, copy.path / _ITEMS)
        sizes = [size for folder in ("plan", *folders) for size in copy.sizes(folder).values()]
        (copy.path / _SIZE).write_text(str(sum(-(-size // _BLOCK_BYTES) * _BLOCK_BYTES for size in sizes)))
        yield copy.path
    with contextlib.suppress(OSError), _lock(top, fcntl.LOCK_EX | fcntl.LOCK_NB):  # held: another one will
        _remove(_outdated(top, copy.path))


def forget(store: Store) -> int:
    """Remove the copies of a store, of whatever plan, unless a command uses one; gives how many."""
    with contextlib.suppress(OSError), _lock(_top(), fcntl.LOCK_EX | fcntl.LOCK_NB):
        return _remove(_top().glob(f"{_name(store)}-*"))
    return 0


def _top() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "saccade/stores"


def _name(store: Store) -> str:
    return hashlib.sha256(str(store).encode()).hexdigest()[:12]


@contextlib.contextmanager
def _lock(top: Path, how: int) -> Iterator[None]:
    """Shared while a copy is used, exclusive while some are removed. OSError: another one holds it."""
    lock = os.open(top / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, how)
        yield
    finally:
        os.close(lock)


def _update(store: Store, copy: LocalStore, folder: str) -> None:
    here = copy.sizes(folder)
    there = store.sizes(folder)  # after it: what another command has just fetched is in it
    copy.remove(here.keys() - there.keys())
    wanted = [file for file, size in there.items() if here.get(file) != size]
    copy.remove(here.keys() & set(wanted))
    for at in range(0, len(wanted), _AT_ONCE):
        for file, content in store.read_many(wanted[at : at + _AT_ONCE]).items():
            copy.create(file, content, lasting=False)
    (copy.path / folder).mkdir(exist_ok=True)


def _fetch_items(plan: Plan, target: Path) -> None:
    draft = target.with_suffix(f".{os.getpid()}")
    with draft.open("wb") as file:
        for at in range(0, plan.units[-1].offset + plan.units[-1].nbytes if plan.units else 0, _CHUNK_BYTES):
            file.write(plan.store.read_part(_ITEMS, at, _CHUNK_BYTES))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)


def _outdated(top: Path, used: Path) -> Iterator[Path]:
    """Copies that can go: of the used one's store under another plan, unused for long, and too much together."""
    others = sorted((path for path in top.iterdir() if path.is_dir() and path != used), key=_used_s, reverse=True)
    taken = _size(used)
    for path in others:
        taken += _size(path)
        same = path.name.partition("-")[0] == used.name.partition("-")[0]
        if same or _used_s(path) < time.time() - _KEPT_S or taken > _MOST_BYTES:
            taken -= _size(path)
            yield path


def _used_s(copy: Path) -> float:
    return copy.stat().st_mtime


def _size(copy: Path) -> int:
    try:
        return int((copy / _SIZE).read_text())
    except (FileNotFoundError, ValueError):
        return 0


def _remove(copies: Iterable[Path]) -> int:
    count = 0
    for path in copies:
        shutil.rmtree(path, ignore_errors=True)
        count += 1
    return count
