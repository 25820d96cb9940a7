"""`verify` and `gc` of a bucket: what markers name is there, to the byte; what none names can go."""

from __future__ import annotations

import concurrent.futures
import hashlib
import time
from collections.abc import Iterator
from typing import Any

from pysaccade._native._errors import InputError
from pysaccade.many._catalog import commits_of, markers_of
from pysaccade.many._plan import Plan
from pysaccade.many._store import Store

_CHUNK_BYTES = 16 << 20
_AT_ONCE = 8
_FOLDERS = ("shards", "index", "quarantine")


def named_files(plan: Plan) -> dict[str, dict[str, Any]]:
    """Name -> {"name", "bytes", "sha256", "unit"} of each file that a marker names."""
    commits = commits_of(plan.store)
    found: dict[str, dict[str, Any]] = {}
    for marker in markers_of(plan.store, plan.hash, [commits[unit] for unit in sorted(commits)]):
        for kind in ("shard", "index", "quarantine"):
            if marker[kind] is not None:
                found[marker[kind]["name"]] = {**marker[kind], "unit": marker["unit"]}
    return found


def plan_faults(plan: Plan) -> Iterator[str]:
    """A line where the plan's files do not belong together."""
    try:
        plan.check_content()
    except InputError as error:
        yield str(error)


def damages(plan: Plan) -> Iterator[str]:
    """A line for each file that a marker names and that is missing or has other bytes. Reads everything."""
    named = named_files(plan)
    sizes = {name: size for folder in _FOLDERS for name, size in plan.store.sizes(folder).items()}
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
        for file, fault in zip(
            named.values(), threads.map(lambda file: _fault(plan.store, file, sizes), named.values()), strict=True
        ):
            if fault:
                yield f"{plan.store}/{file['name']}: {fault}; without commits/{file['unit']}.json `work` does it again"


def _fault(store: Store, file: dict[str, Any], sizes: dict[str, int]) -> str | None:
    name, nbytes = file["name"], file["bytes"]
    if name not in sizes:
        return "missing"
    if sizes[name] != nbytes:
        return f"{sizes[name]} bytes where its marker has {nbytes}"
    digest = hashlib.sha256()
    for at in range(0, nbytes, _CHUNK_BYTES):
        digest.update(store.read_part(name, at, min(_CHUNK_BYTES, nbytes - at)))
    return None if digest.hexdigest() == file["sha256"] else "other bytes than its marker has"


def orphans(plan: Plan, older_than_s: float) -> list[str]:
    """Files that no marker names and that nobody wrote to for so long: left by attempts that lost or died."""
    there = [name for folder in _FOLDERS for name in plan.store.sizes(folder)]
    named = named_files(plan)  # after the listing: what was committed in between is not there
    latest = time.time() - older_than_s
    found = []
    for name in there:
        if name not in named:
            written = plan.store.written_s(name)
            if written is not None and written <= latest:
                found.append(name)
    return found
