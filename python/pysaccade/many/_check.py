"""`verify` and `gc` of a bucket: what markers name is there, to the byte; what none names can go.

Its faults are those of the program's `verify`, in its words (app/work/verify.cpp). What can't be read is an OSError,
after some tries: then nothing is said of the store, and nothing is removed.
"""

from __future__ import annotations

import collections
import concurrent.futures
import hashlib
import json
import time
from typing import Any, NamedTuple

from pysaccade._native._errors import InputError
from pysaccade.many._catalog import commits_of, marker_name
from pysaccade.many._markers import PARTS, json_of, marker_of, marker_refusal
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import Store, insist
from pysaccade.many._tally import counted

_CHUNK_BYTES = 16 << 20
_AT_ONCE = 8
_MARKERS_AT_ONCE = 1024
_AT_WORK_S = 3600.0  # from an upload to its marker
_FOLDERS = ("shards", "index", "quarantine")
_SAME_S = 1e-6  # a sum of seconds may differ by its rounding


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
    """Read all that is done again, and compare sizes, hashes, keys and the markers' counts.

    Markers are judged by the plan: where it is not the one that was made, nothing can be said of them.
    """
    if (fault := _plan_fault(plan)) is not None:
        return Verified(0, 0, [fault], 0)
    sound, bad_markers = _sound_markers(plan)
    sizes = _sizes(plan)
    found: list[str] = []
    members = 0
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
        for verifier in threads.map(lambda one: _Unit(plan, one[0], one[1], sizes).verified(), sound):
            found += verifier.faults
            members += verifier.members
    return Verified(len(sound), members, [*bad_markers, *found], len(found))


# Note [Orphans in buckets]
# Nobody sees who is at work in a bucket. A unit's files are uploaded before its marker, and looked for once more behind
# it: what `gc` removes before that is uploaded again. So a file can only be lost that is removed after that look, by a
# `gc` that saw no marker before it. Of units without a marker `gc` therefore leaves what is younger than an hour, which
# an upload and a marker don't take; and as an attempt may upload under the name of an old orphan, both the time and the
# marker are asked for right before a file is removed. Of a unit that is done nobody makes the marker any more.
def remove_orphans(plan: Plan, older_than_s: float, *, dry_run: bool = False) -> list[Orphan]:
    """Remove the files that no marker names and that nobody wrote to for so long: left by attempts that lost or died.

    `dry_run`: only find them.

    Raises:
        InputError: The plan was changed, or a marker is damaged: then what it names isn't known.
        OSError: The store can't be read, or holds files and no marker.
    """
    there = _sizes(plan)
    sound, faults = _sound_markers(plan)  # after the listing: what was committed in between is not in it
    if faults:
        raise InputError(f"{plan.store}: {faults[0]}; nothing was removed: see `saccade status`")
    if there and not sound:
        raise OSError(
            f"{plan.store}: holds {counted(len(there), 'file')}, {min(there)} and others, but no marker: is commits/ "
            "that of this store? Nothing was removed. Once a unit is done by `saccade work`, `gc` knows its files from "
            "others"
        )
    named = {marker[part]["name"] for _, marker in sound for part in PARTS if marker.get(part) is not None}
    committed = {unit.name for unit, _ in sound}
    found = []
    for name in sorted(there.keys() - named):
        unit = name.partition("/")[2].partition(".")[0]
        least_s = older_than_s if unit in committed else max(older_than_s, _AT_WORK_S)
        written = insist(plan.store.written_s, name)
        if written is None or written > time.time() - least_s:
            continue
        if unit in committed or not insist(plan.store.exists, marker_name(unit)):
            if not dry_run:
                insist(plan.store.remove, [name])
            found.append(Orphan(name, there[name]))
    return found


def _sizes(plan: Plan) -> dict[str, int]:
    return {name: size for folder in _FOLDERS for name, size in insist(plan.store.sizes, folder).items()}


def _plan_fault(plan: Plan) -> str | None:
    try:
        insist(plan.check_content)
    except InputError as error:
        return str(error).removeprefix(f"{plan.store}: ")
    return None


def _sound_markers(plan: Plan) -> tuple[list[tuple[Unit, dict[str, Any]]], list[str]]:
    """The units that are done with their markers, in the plan's order; and what is wrong with other markers.

    Where something is, and the plan is not the one that was made, only the plan's fault.
    """
    units = {unit.name: unit for unit in plan.units}
    commits = insist(commits_of, plan.store)
    names = [commits[unit] for unit in sorted(commits)]
    sound: list[tuple[Unit, dict[str, Any]]] = []
    faults: list[str] = []
    for at in range(0, len(names), _MARKERS_AT_ONCE):
        contents = insist(plan.store.read_many, names[at : at + _MARKERS_AT_ONCE])
        for name in names[at : at + _MARKERS_AT_ONCE]:
            unit, marker = units.get(name[len("commits/") : -len(".json")]), marker_of(contents[name])
            fault = marker_refusal(plan, unit, marker)
            if fault is not None:
                faults.append(f"{name}: {fault}")
            elif unit is not None:
                sound.append((unit, marker))
    if faults and (fault := _plan_fault(plan)) is not None:
        return sound, [fault]
    return sound, faults


class _Unit:
    """A unit that is read again."""

    def __init__(self, plan: Plan, unit: Unit, marker: dict[str, Any], sizes: dict[str, int]) -> None:
        self._plan, self._unit, self._marker, self._sizes = plan, unit, marker, sizes
        self._keys: set[str] = set()
        self.faults: list[str] = []
        self.members = 0

    def verified(self) -> _Unit:
        marker, done = self._marker, self._marker["done"] + self._marker["damaged"]
        lines = self._lines("index", done)
        if len(lines) == done:
            self._compare_sums(lines)
        of_index, self.faults = self.faults, []
        of_members = self._shard(done > 0, lines)
        self.faults += of_index + of_members
        given_up = self._lines("quarantine", marker["quarantined"])
        if len(given_up) == marker["quarantined"]:
            self._compare("classes", dict(collections.Counter(line.get("class", "") for line in given_up)))
        for item in insist(self._plan.items, self._unit):
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
        content = insist(self._plan.store.read, found[0])
        if hashlib.sha256(content).hexdigest() != self._marker[part]["sha256"]:
            self._fault(f"{self._plan.store}/{found[0]}: its bytes have changed")
            return None
        return content

    def _lines(self, part: str, wanted: int) -> list[dict[str, Any]]:
        """The lines of index or quarantine. Each key stands there once."""
        content, found = self._file(part, wanted > 0), list[dict[str, Any]]()
        if content is None:
            return found
        name = self._marker[part]["name"]
        for line in content.splitlines():
            value = json_of(line)
            if not isinstance(value, dict) or "key" not in value:
                self._fault(f"{name}: line {len(found) + 1} is damaged")
                return []
            if value["key"] in self._keys:
                self._fault(f"{value['key']}: stands there twice")
            self._keys.add(value["key"])
            found.append(value)
        if len(found) != wanted:
            self._fault(f"{name}: has {counted(len(found), 'line')}, the marker says {wanted}")
        return found

    def _compare_sums(self, lines: list[dict[str, Any]]) -> None:
        """What `status` adds up."""
        self._compare("damaged", sum(bool(line["damaged"]) for line in lines))
        for name in ("emissions", "frames"):
            self._compare(name, sum(line[name] for line in lines))
        seconds, said = sum(line["seconds"] for line in lines), self._marker.get("media_s")
        if not isinstance(said, (int, float)) or abs(said - seconds) > _SAME_S:
            self._compare("media_s", float(seconds))

    def _compare(self, name: str, there: Any) -> None:
        said = self._marker.get(name)
        if said != there:
            texts = [json.dumps(value, separators=(",", ":"), sort_keys=True) for value in (said, there)]
            self._fault(f"the marker says {name} {texts[0]}, its files {texts[1]}")

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
        chunk = insist(store.read_part, name, at, min(_CHUNK_BYTES, size - at))
        whole.update(chunk)
        for member, part in zip(members, parts, strict=True):
            begin, end = member["offset"] - at, member["offset"] + member["bytes"] - at
            if begin < len(chunk) and end > 0:
                part.update(chunk[max(begin, 0) : max(end, 0)])
    return whole.hexdigest(), [
        part.hexdigest() if member["offset"] + member["bytes"] <= size else None
        for member, part in zip(members, parts, strict=True)
    ]
