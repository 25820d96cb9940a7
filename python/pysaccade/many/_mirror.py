"""A copy of a bucket's small files, for the program's `status` and `retry`. They never change: each is fetched once."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from pysaccade.many._plan import Plan
from pysaccade.many._store import LocalStore

_AT_ONCE = 1024
_CHUNK_BYTES = 64 << 20
_ITEMS = "plan/items.jsonl"


def mirror(plan: Plan, *folders: str, items: bool = False) -> Path:
    """A copy of the plan, and of all files in these folders, such as "commits"; up to date.

    `items`: with the plan's items, which may be gigabytes.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    name = f"{hashlib.sha256(str(plan.store).encode()).hexdigest()[:12]}-{plan.hash[:12]}"
    copy = LocalStore(cache / "saccade" / "stores" / name)
    for file in ("plan/units.jsonl", "plan/plan.json"):
        if not (copy.path / file).exists():
            copy.create(file, plan.store.read(file))
    for folder in folders:
        there, here = plan.store.sizes(folder), copy.sizes(folder)
        copy.remove(here.keys() - there.keys())
        wanted = [file for file, size in there.items() if here.get(file) != size]
        copy.remove(here.keys() & set(wanted))
        for at in range(0, len(wanted), _AT_ONCE):
            for file, content in plan.store.read_many(wanted[at : at + _AT_ONCE]).items():
                copy.create(file, content)
        (copy.path / folder).mkdir(exist_ok=True)
    if items and not (copy.path / _ITEMS).exists():
        _fetch_items(plan, copy.path / _ITEMS)
    return copy.path


def _fetch_items(plan: Plan, target: Path) -> None:
    draft = target.with_suffix(f".{os.getpid()}")
    with draft.open("wb") as file:
        for at in range(0, plan.units[-1].offset + plan.units[-1].nbytes if plan.units else 0, _CHUNK_BYTES):
            file.write(plan.store.read_part(_ITEMS, at, _CHUNK_BYTES))
    draft.replace(target)
