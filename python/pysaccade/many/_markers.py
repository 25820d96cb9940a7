"""A unit's marker, commits/U.json: its bytes, and what is wrong with it.

The faults are those of the program, in its words (app/work/markers.cpp and app/work/store/marker_file.cpp).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pysaccade.many._plan import Plan, Unit

PARTS = ("shard", "index", "quarantine")
_CHECK = b'"check"'


def json_of(content: bytes) -> Any:
    """None where it is not JSON."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def marker_of(content: bytes) -> Any:
    """A marker; None where it is not JSON, or its bytes are not those that were written."""
    marker = json_of(content)
    if isinstance(marker, dict) and marker.get("check", check := _check_of(content)) != check:
        return None
    return marker


def marker_text(marker: Mapping[str, Any]) -> bytes:
    """A marker's bytes, which end in the SHA-256 of all that stands before it."""
    rest = {name: value for name, value in marker.items() if name != "check"}
    content = json.dumps({**rest, "check": ""}, ensure_ascii=False, indent=1).encode()
    return content[: content.rindex(_CHECK)] + _CHECK + f': "{_check_of(content)}"\n}}\n'.encode()


def _check_of(content: bytes) -> str:
    at = content.rfind(_CHECK)
    return hashlib.sha256(content[: at if at >= 0 else len(content)]).hexdigest()


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
        return "is damaged or cut short"
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
    for part in PARTS:
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
