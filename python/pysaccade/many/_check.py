"""`verify` and `gc` of a bucket: what markers name is there, to the byte; what none names can go.

Its faults are those of the program's `verify`, in its words (app/work/verify.cpp and markers.cpp).
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from pysaccade._native._errors import InputError
from pysaccade.many._catalog import commits_of, marker_name
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import Store
from pysaccade.many._tally import counted

_CHUNK_BYTES = 16 << 20
_AT_ONCE = 8
_MARKERS_AT_ONCE = 1024
_AT_WORK_S = 3600.0  # from an upload to its marker
_FOLDERS = ("shards", "index", "quarantine")
_PARTS = ("shard", "index", "quarantine")


class Verified(NamedTuple):
    """What was read again. `of_units`: how many of the faults are those of units, which `work` can do again."""

    units: int
    members: int
    faults: list[str]
    of_units: int


class Orphan(NamedTuple):
    """A file that no marker names."""

    name: str
    nbytes: int


def verify(plan: Plan) -> Verified:
    """Read all that is done again, and compare sizes, hashes and keys."""
    faults = list(_plan_faults(plan))
    sound, bad_markers = _sound_markers(plan)
    sizes = {name: size for folder in _FOLDERS for name, size in plan.store.sizes(folder).items()}
    found: list[str] = []
    members = 0
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
        for verifier in threads.map(lambda one: _Unit(plan, one[0], one[1], sizes).verified(), sound):
            found += verifier.faults
            members += verifier.members
    return Verified(len(sound), members, [*faults, *bad_markers, *found], len(found))


# Note [Orphans in buckets]
# Nobody sees who is at work in a bucket. A unit's files are uploaded before its marker, and looked for once more behind
# it: what `gc` removes before that is uploaded again. So a file can only be lost that is removed after that look, by a
# `gc` that saw no marker before it. Of units without a marker `gc` therefore leaves what is younger than an hour, which
# an upload and a marker don't take; and as an attempt may upload under the name of an old orphan, both the time and the
# marker are asked for right before a file is removed. Of a unit that is done nobody makes the marker any more.
def remove_orphans(plan: Plan, older_than_s: float) -> list[Orphan]:
    """Remove the files that no marker names and that nobody wrote to for so long: left by attempts that lost or died.

    Raises:
        InputError: A marker is damaged: then what it names isn't known.
    """
    there = {name: size for folder in _FOLDERS for name, size in plan.store.sizes(folder).items()}
    sound, faults = _sound_markers(plan)  # after the listing: what was committed in between is not in it
    if faults:
        raise InputError(f"{plan.store}: {faults[0]}; nothing was removed: see `saccade status`")
    named = {marker[part]["name"] for _, marker in sound for part in _PARTS if marker.get(part) is not None}
    committed = {unit.name for unit, _ in sound}
    found = []
    for name in sorted(there.keys() - named):
        unit = name.partition("/")[2].partition(".")[0]
        least_s = older_than_s if unit in committed else max(older_than_s, _AT_WORK_S)
        written = plan.store.written_s(name)
        if written is None or written > time.time() - least_s:
            continue
        if unit in committed or not plan.store.exists(marker_name(unit)):
            plan.store.remove([name])
            found.append(Orphan(name, there[name]))
    return found


def _plan_faults(plan: Plan) -> Iterator[str]:
    try:
        plan.check_content()
    except InputError as error:
        yield str(error).removeprefix(f"{plan.store}: ")


def _sound_markers(plan: Plan) -> tuple[list[tuple[Unit, dict[str, Any]]], list[str]]:
    """The units that are done with their markers, in the plan's order; and what is wrong with other markers."""
    units = {unit.name: unit for unit in plan.units}
    commits = commits_of(plan.store)
    names = [commits[unit] for unit in sorted(commits)]
    sound: list[tuple[Unit, dict[str, Any]]] = []
    faults: list[str] = []
    for at in range(0, len(names), _MARKERS_AT_ONCE):
        contents = plan.store.read_many(names[at : at + _MARKERS_AT_ONCE])
        for name in names[at : at + _MARKERS_AT_ONCE]:
            unit, marker = units.get(name[len("commits/") : -len(".json")]), json_of(contents[name])
            fault = marker_refusal(plan, unit, marker)
            if fault is not None:
                faults.append(f"{name}: {fault}")
            elif unit is not None:
                sound.append((unit, marker))
    return sound, faults


def marker_refusal(plan: Plan, unit: Unit | None, marker: Any) -> str | None:
    """What is wrong with a unit's marker, and what to do; None: nothing."""
    fault = _marker_fault(plan, unit, marker)
    if fault is None:
        return None
    of = marker.get("plan") if isinstance(marker, dict) else None
    foreign = isinstance(of, str) and of not in {"", plan.hash}
    if unit is None and not foreign:
        return f"{fault}; remove it"
    return f"{fault}; {'use a store of its own' if foreign else 'remove it, and `work` does the unit again'}"


def _marker_fault(plan: Plan, unit: Unit | None, marker: Any) -> str | None:
    if not isinstance(marker, dict) or marker.get("format") != "saccade-commit":
        return "is no marker"
    if unit is None:
        return "is of no unit of the plan"
    if marker.get("plan") != plan.hash:
        return "is of another plan"
    if marker.get("unit") != unit.name:
        return "names another unit"
    items, done, damaged, bad = (_count(marker, name) for name in ("items", "done", "damaged", "quarantined"))
    if items != unit.items:
        return f"counts {items} items, the plan {unit.items}"
    if min(done, damaged, bad) < 0 or done + damaged + bad != items:
        return f"does not add up: {items} items, {done} done, {damaged} damaged, {bad} quarantined"
    for part in _PARTS:
        if not _is_part(marker, part):
            return f"says nothing of its {part}"
    return None


def _is_part(marker: dict[str, Any], name: str) -> bool:
    """Null, or a file with all that is said of one."""
    part = marker.get(name, "")
    if not isinstance(part, dict):
        return part is None
    texts = all(isinstance(part.get(each), str) and part[each] for each in ("name", "sha256"))
    return texts and _count(part, "bytes") >= 0


def _count(marker: dict[str, Any], name: str) -> int:
    value = marker.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def json_of(content: bytes) -> Any:
    """None where it is no JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


class _Unit:
    """A unit that is read again."""

    def __init__(self, plan: Plan, unit: Unit, marker: dict[str, Any], sizes: dict[str, int]) -> None:
        self._plan, self._unit, self._marker, self._sizes = plan, unit, marker, sizes
        self._keys: set[str] = set()
        self.faults: list[str] = []
        self.members = 0

    def verified(self) -> _Unit:
        marker, done = self._marker, self._marker["done"] + self._marker["damaged"]
        index = self._file("index", done > 0)
        lines = self._lines(marker["index"]["name"], index, done) if index is not None else []
        of_index, self.faults = self.faults, []
        of_members = self._shard(done > 0, lines)
        self.faults += of_index + of_members
        quarantine = self._file("quarantine", marker["quarantined"] > 0)
        if quarantine is not None:
            self._lines(marker["quarantine"]["name"], quarantine, marker["quarantined"])
        for item in self._plan.items(self._unit):
            if item["key"] not in self._keys:
                self._fault(f"{item['key']}: neither done nor quarantined")
            self._keys.discard(item["key"])
        for key in sorted(self._keys):
            self._fault(f"{key}: is not of this unit")
        return self

    def _fault(self, text: str) -> None:
        self.faults.append(f"unit {self._unit.name}: {text}")

    def _size_of(self, part: str, wanted: bool) -> tuple[str, int] | None:
        """A file's name and its bytes in the store; None: there is none."""
        file = self._marker.get(part)
        if file is None:
            if wanted:
                self._fault(f"the marker names no {part}")
            return None
        name, size = file["name"], self._sizes.get(file["name"])
        if size is None:
            self._fault(f"{self._plan.store}/{name}: is missing")
            return None
        if size != file["bytes"]:
            self._fault(f"{self._plan.store}/{name}: has {size} bytes, the marker says {file['bytes']}")
        return name, size

    def _file(self, part: str, wanted: bool) -> bytes | None:
        """A small file's content, where it is what the marker says."""
        found = self._size_of(part, wanted)
        if found is None or found[1] != self._marker[part]["bytes"]:
            return None
        content = self._plan.store.read(found[0])
        if hashlib.sha256(content).hexdigest() != self._marker[part]["sha256"]:
            self._fault(f"{self._plan.store}/{found[0]}: its bytes have changed")
            return None
        return content if wanted else None

    def _lines(self, name: str, content: bytes, wanted: int) -> list[dict[str, Any]]:
        """The lines of a file, whose keys stand there once."""
        found: list[dict[str, Any]] = []
        for line in content.splitlines():
            value = json_of(line)
            if not isinstance(value, dict) or "key" not in value:
                self._fault(f"{name}: line {len(found) + 1} is damaged")
                return found
            if value["key"] in self._keys:
                self._fault(f"{value['key']}: stands there twice")
            self._keys.add(value["key"])
            found.append(value)
        if len(found) != wanted:
            self._fault(f"{name}: has {counted(len(found), 'line')}, the marker says {wanted}")
        return found

    def _shard(self, wanted: bool, lines: list[dict[str, Any]]) -> list[str]:
        """The shard, and in it each member where the index says: one reading for both. Gives the members' faults."""
        members = [(line["key"], kind, member) for line in lines for kind, member in line["members"].items()]
        found = self._size_of("shard", wanted)
        name, size = found if found is not None else ("", 0)
        whole, digests = _hashes(self._plan.store, name, size, [member for _, _, member in members])
        file = self._marker.get("shard") or {}
        if found is not None and size == file["bytes"] and whole != file["sha256"]:
            self._fault(f"{self._plan.store}/{name}: its bytes have changed")
        self.members += len(members)
        return [
            f"unit {self._unit.name}: {key}.{kind}: differs from the index"
            for (key, kind, member), digest in zip(members, digests, strict=True)
            if digest != member["sha256"]
        ]


def _hashes(store: Store, name: str, size: int, members: list[dict[str, Any]]) -> tuple[str, list[str | None]]:
    """SHA-256 of a whole file and of its members; None for a member that the file ends before."""
    whole, parts = hashlib.sha256(), [hashlib.sha256() for _ in members]
    for at in range(0, size, _CHUNK_BYTES):
        chunk = store.read_part(name, at, min(_CHUNK_BYTES, size - at))
        whole.update(chunk)
        for member, part in zip(members, parts, strict=True):
            begin, end = member["offset"] - at, member["offset"] + member["bytes"] - at
            if begin < len(chunk) and end > 0:
                part.update(chunk[max(begin, 0) : max(end, 0)])
    return whole.hexdigest(), [
        part.hexdigest() if member["offset"] + member["bytes"] <= size else None
        for member, part in zip(members, parts, strict=True)
    ]
