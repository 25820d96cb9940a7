"""What is in a store: the lines of all index parts that markers name, as compact arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pysaccade._native._errors import InputError
from pysaccade.many import _folded
from pysaccade.many._store import LocalStore, Store
from pysaccade.many._video import extent

Array = np.ndarray[Any, Any]
_PARTS_AT_ONCE = 512
_CHECK = b'"check"'
_WAY_BACK = "put plan/ back from a copy, or plan again, into another STORE"


@dataclass
class Catalog:
    """V videos of a store, in the plan's order.

    shard: [V] i32, a number in `shards`; offset, nbytes: [V] i64, the video's members with their headers in its shard;
    emissions: [V] i32; damaged: [V] bool.
    """

    plan: str
    shards: list[str]
    shard: Array
    offset: Array
    nbytes: Array
    emissions: Array
    damaged: Array

    def __len__(self) -> int:
        """V."""
        return len(self.shard)

    def only(self, keep: Array) -> Catalog:
        """The videos where `keep` [V] is True."""
        columns = (self.shard, self.offset, self.nbytes, self.emissions, self.damaged)
        return Catalog(self.plan, self.shards, *(column[keep] for column in columns))


def read_catalog(store: Store, *, require_complete: bool) -> Catalog:
    """Read what a store holds.

    Raises:
        InputError: There is no store, it is damaged, or, with `require_complete`, some units are not done yet.
    """
    facts = facts_of(store)
    stamps = stamps_of(store)
    commits = {unit: marker_name(unit) for unit in stamps}
    if require_complete and len(commits) != facts["units"]:
        raise InputError(
            f"{store}: {len(commits)} of {facts['units']} units are done; finish it with `saccade work`, "
            "or pass require_complete=False"
        )
    folded = _folded.columns(store, facts["hash"], stamps)
    names = list(folded.pop("shard"))
    units = list(folded.pop("unit"))
    rest = [commits[unit] for unit in sorted(commits.keys() - folded.pop("units"))]
    rows: list[tuple[int, int, int, bool]] = []
    for line in lines_of(store, facts["hash"], rest):
        offset, nbytes = extent(line)
        names.append(line["shard"])
        units.append(line["unit"])
        rows.append((offset, nbytes, line["emissions"], bool(line["damaged"])))
    parts = list(zip(*rows, strict=True)) or [()] * 4
    order = np.argsort(np.array(units, "S8"), kind="stable")
    shards, shard = np.unique(np.array(names, "U64"), return_inverse=True)
    columns: list[Array] = [
        np.concatenate([folded[name], np.array(part, kind)])[order].astype(kind)
        for name, part, kind in zip(("offset", "bytes", "emissions", "damaged"), parts,
                                    (np.int64, np.int64, np.int32, np.bool_), strict=True)
    ]  # fmt: skip
    return Catalog(facts["hash"], shards.tolist(), shard.astype(np.int32)[order], *columns)


def commits_of(store: Store) -> dict[str, str]:
    """Unit -> the name of its marker, of all units that are done; one listing."""
    return {unit: marker_name(unit) for unit in stamps_of(store)}


def stamps_of(store: Store) -> dict[str, str | None]:
    """Unit -> what changes when its marker is made again, of all units that are done; one listing. None: unknown.

    Raises:
        OSError: The store can't be read, or there are parts without the folder of markers, which is made before them.
    """
    found = store.stamps("commits")
    if not found and isinstance(store, LocalStore) and _lacks_commits(store):
        raise OSError(
            f"{store}/commits: there is no such folder, but shards, index or quarantine beside it hold files: is the "
            "whole store there? Where no unit was ever committed, make that folder"
        )
    return {
        name[len("commits/") : -len(".json")]: stamp
        for name, stamp in found.items()
        if name.endswith(".json") and "/." not in name
    }


def _lacks_commits(store: LocalStore) -> bool:
    """Another run may have begun between two looks."""
    commits = store.path / "commits"
    parts = not commits.exists() and any(store.stamps(folder) for folder in ("shards", "index", "quarantine"))
    return parts and not commits.exists()


def marker_name(unit: str) -> str:
    """The name of a unit's marker."""
    return f"commits/{unit}.json"


def lines_of(store: Store, plan: str, commits: list[str]) -> Iterator[dict[str, Any]]:
    """The lines of the index parts that these markers name, in the markers' order.

    They have two members more, from their marker: "shard_bytes" and "shard_sha256".
    """
    for at in range(0, len(commits), _PARTS_AT_ONCE):
        markers = markers_of(store, plan, commits[at : at + _PARTS_AT_ONCE])
        done = [marker for marker in markers if marker["index"] is not None]
        parts = [marker["index"] for marker in done]
        try:
            contents = store.read_many(part["name"] for part in parts)
        except FileNotFoundError as error:
            raise InputError(f"{store}: {error}: a marker names this file; run `saccade verify`") from None
        for part, marker in zip(parts, done, strict=True):
            shard = {f"shard_{name}": marker["shard"][name] for name in ("bytes", "sha256")}
            where, content = f"{store}/{part['name']}", contents[part["name"]]
            if len(content) != part["bytes"]:
                raise InputError(f"{where}: {len(content)} bytes where its marker has {part['bytes']}; it is damaged")
            for line in content.splitlines():
                yield _object(where, line) | shard


def markers_of(store: Store, plan: str, commits: Iterable[str]) -> list[dict[str, Any]]:
    """The markers of these names.

    Raises:
        InputError: One is damaged, or of another plan.
    """
    markers = []
    for name, content in store.read_many(commits).items():
        marker = marker_of(content)
        if not isinstance(marker, dict) or marker.get("format") != "saccade-commit":
            raise InputError(f"{store}/{name}: damaged: not a unit's marker, or not as it was written")
        if marker.get("plan") != plan:
            raise InputError(f"{store}/{name}: of another plan than plan/plan.json; a store has one plan")
        markers.append(marker)
    return markers


def _object(where: str, content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError as error:
        raise InputError(f"{where}: damaged: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: damaged: no JSON object")
    return value


def facts_of(store: Store) -> dict[str, Any]:
    """plan/plan.json of a store.

    Raises:
        InputError: There is no plan, or it is damaged.
    """
    advice = "make a store with `saccade plan`"
    try:
        facts = json.loads(store.read("plan/plan.json"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{store}: no plan/plan.json in it; {advice}") from None
    except ValueError as error:
        raise InputError(f"{store}/plan/plan.json: damaged: {error}; {_WAY_BACK}") from None
    if not isinstance(facts, dict) or facts.get("format") != "saccade-plan" or "hash" not in facts:
        raise InputError(f"{store}/plan/plan.json: not of a plan; {advice}")
    if not isinstance(facts.get("schema"), int) or facts["schema"] > 1:
        raise InputError(
            f"{store}: schema {facts.get('schema')} is newer than this pysaccade knows (1); upgrade pysaccade"
        )
    return facts


def _json_of(content: bytes) -> Any:
    """None: it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def marker_of(content: bytes) -> Any:
    """A marker; None: it is not JSON, or its bytes are not those that were written."""
    marker = _json_of(content)
    if isinstance(marker, dict) and marker.get("check", check := _check_of(content)) != check:
        return None
    return marker


def _check_of(content: bytes) -> str:
    at = content.rfind(_CHECK)
    return hashlib.sha256(content[: at if at >= 0 else len(content)]).hexdigest()
