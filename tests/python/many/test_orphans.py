"""`gc` of a bucket beside others at work: nothing that a marker names, or is about to, is removed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pysaccade.many import _check, _do_unit
from pysaccade.many._bucket import BucketStore
from pysaccade.many._plan import Plan
from store_support import HandMade, video

pytest.importorskip("fsspec")
HOUR_S = 3600


class Between(BucketStore):
    """Does something else right before it asks when a file was written, once, or right behind a marker."""

    before_look: Callable[[], Any] = staticmethod(lambda: None)
    behind_marker: Callable[[], Any] = staticmethod(lambda: None)

    def written_s(self, name: str) -> float | None:
        then, self.before_look = self.before_look, lambda: None
        then()
        return super().written_s(name)

    def create(self, name: str, content: bytes) -> bool:
        made = super().create(name, content)
        self.behind_marker()
        return made


@pytest.fixture
def made(tmp_path: Path) -> HandMade:
    """A store of two units, of which the first one is done."""
    made = HandMade(tmp_path / "s", units=2)
    made.unit(0, {"a": video(1, 5)})
    units = [{"unit": f"{n:08}", "offset": 0, "bytes": 1, "items": 1, "media_s": 1} for n in range(2)]
    (made.path / "plan/units.jsonl").write_text("".join(json.dumps(unit) + "\n" for unit in units))
    return made


def opened(made: HandMade) -> tuple[Plan, Between]:
    store = Between(f"local://{made.path}", {})
    return Plan(store), store


def staged(folder: Path) -> Path:
    """What `saccade work --staging` made of the second unit."""
    other = HandMade(folder, units=2)
    other.unit(1, {"b": video(2, 5)})
    return folder


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def files(made: HandMade) -> set[str]:
    return {path.relative_to(made.path).as_posix() for path in made.path.glob("[siq]*/*")}


def test_young_files_of_units_without_a_marker_stay(made: HandMade):
    kept = files(made)
    for unit, seconds in (("00000000", 5), ("00000001", HOUR_S - 60), ("00000002", HOUR_S + 60)):
        path = made.path / f"shards/{unit}.0123456789ab.tar"
        path.write_text("left")
        age(path, seconds)
    young = "shards/00000001.0123456789ab.tar"
    plan, _ = opened(made)
    assert _check.remove_orphans(plan, 86400) == []
    removed = [orphan.name for orphan in _check.remove_orphans(plan, 0)]
    assert removed == ["shards/00000000.0123456789ab.tar", "shards/00000002.0123456789ab.tar"]
    assert files(made) == kept | {young}


def commit(plan: Plan, place: Path) -> None:
    assert _do_unit.commit(plan, plan.units[1], place)["unit"] == "00000001"


def test_unit_that_is_committed_meanwhile_keeps_its_files(made: HandMade, tmp_path: Path):
    """They have the names of an old attempt's, which `gc` has listed."""
    place = staged(tmp_path / "staged")
    for old in [*place.glob("shards/00000001.*"), *place.glob("index/00000001.*")]:
        there = made.path / old.relative_to(place)
        there.write_bytes(old.read_bytes())
        age(there, 2 * HOUR_S)
    kept = files(made)
    plan, store = opened(made)
    store.before_look = lambda: commit(opened(made)[0], place)
    assert _check.remove_orphans(plan, 0) == []
    assert files(made) == kept


def test_files_that_were_removed_before_the_last_look_are_uploaded_again(made: HandMade, tmp_path: Path):
    plan, store = opened(made)

    def remove() -> None:
        for path in [*made.path.glob("shards/00000001.*"), *made.path.glob("index/00000001.*")]:
            path.unlink()

    store.behind_marker = remove
    commit(plan, staged(tmp_path / "staged"))
    assert sum("00000001" in path for path in files(made)) == 2
