"""When a run over many units stops: too many bad videos, crashes, inputs that vanish late; in buckets and on Ray."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from many_support import OPTIONS, counts, make_clips, markers_of, work
from pysaccade.many import _do_unit, _run_units
from pysaccade.many._native_work import STOPPED, stop_line
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import open_store
from pysaccade.many._tally import Tally
from pysaccade.many._witness import Witness, key_of_done

pytest.importorskip("fsspec")


class NoPlan:
    """All that `Tally` asks."""

    def __str__(self) -> str:
        return "store"


def tally_of(**given: Any) -> Tally:
    return Tally(cast("Plan", NoPlan()), [Unit("00000000", 0, 1, 9999, 1.0)], progress="none", **given)


def add(tally: Tally, items: int, bad: int, kind: str = "input", name: str = "00000000") -> None:
    marker = {"unit": name, "items": items, "done": items - bad, "damaged": 0, "quarantined": bad}
    tally.add({**marker, "classes": {kind: bad} if bad else {}})


def test_more_bad_videos_than_may_be_stop_the_run():
    tally = tally_of()
    add(tally, 99, 99)
    assert tally.why_stop() is None  # too few to tell
    add(tally, 1, 0)
    assert tally.why_stop() == (
        "99 of 100 videos were given up, more than 5 %: is the installation broken? Once it is mended, or where it is "
        "the videos, max_bad_percent=100 goes on"
    )
    tally = tally_of()
    add(tally, 100, 5)
    assert tally.why_stop() is None
    add(tally, 1, 1)
    assert "6 of 101 videos" in str(tally.why_stop())
    tally = tally_of(max_bad_percent=100)
    add(tally, 200, 200)
    assert tally.why_stop() is None


def test_videos_of_earlier_runs_count():
    tally = tally_of()
    tally.add({"unit": "0", "items": 60, "done": 0, "damaged": 0, "quarantined": 60}, here=False)
    add(tally, 39, 39)
    assert (tally.why_stop(), tally.asks()) == (None, None)
    add(tally, 1, 1)
    assert "100 of 100 videos were given up" in str(tally.why_stop())
    tally = tally_of()
    tally.add({"unit": "0", "items": 4000, "done": 4000, "damaged": 0, "quarantined": 0}, here=False)
    tally.add({"unit": "1", "items": 100, "done": 0, "damaged": 0, "quarantined": 100}, here=False)
    done = tally.asks()
    assert done is not None
    assert done["unit"] == "0"


def test_nothing_stops_where_nothing_is_left():
    for kind in ("input", "crash"):
        tally = tally_of()
        add(tally, 9998, 9998, kind)
        assert tally.why_stop() is not None
        add(tally, 1, 1, kind)
        assert tally.why_stop() is None


def test_units_that_hold_videos_back_stop_the_run_where_none_was_done_in_between():
    tally = tally_of()
    assert tally.held() is None
    said = "no video in /in can be read here: {} held back, the first one, k: /in/k.mp4: no such file"
    assert tally.hold("00000001", said.format("12 videos")) is None
    assert tally.held() == f"unit 00000001: {said.format('12 videos')}"
    add(tally, 1, 0)
    assert tally.hold("00000002", said.format("18 videos")) is None
    add(tally, 1, 1)
    assert tally.hold("00000003", said.format("1 video")) is None
    assert tally.hold("00000004", said.format("1 video")) == f"unit 00000004: {said.format('1 video')}"
    assert str(tally.held()).startswith("4 units wait; unit 00000001: no video in /in")


def test_crashes_in_a_row_stop_the_run():
    tally = tally_of()
    add(tally, 10, 10, "crash")
    add(tally, 10, 9, "crash")
    add(tally, 10, 10, "crash")
    add(tally, 9, 9, "crash")
    assert tally.why_stop() is None
    add(tally, 1, 1, "crash")
    assert tally.why_stop() == "the last 20 videos all crashed the program; is the installation broken?"
    tally = tally_of(max_bad_percent=100)
    add(tally, 30, 30, "crash")
    assert tally.why_stop() is None


def test_one_is_asked_where_most_of_the_last_hundred_are_bad():
    tally = tally_of()
    for number in range(400):
        add(tally, 10, 0, name=f"{number:08}")
    for _ in range(5):
        add(tally, 10, 10)
        assert (tally.asks(), tally.why_stop()) == (None, None)
    add(tally, 10, 10)
    done = tally.asks()
    assert done is not None
    assert done["unit"] == "00000399"
    assert tally.answered("k", None) is None
    why = tally.answered("k", "no such file")
    assert why == (
        "60 of the last 100 videos were given up, and k, which was done before, can't be done any more: no such file: "
        "are the inputs still there? Where it is the videos, max_bad_percent=100 goes on"
    )
    assert "Where it is the videos, --max-bad 100 goes on; the same command goes on" in stop_line(STOPPED, why)
    for _ in range(9):  # it could be done: the next hundred are waited for
        add(tally, 10, 10)
        assert tally.asks() is None
    add(tally, 10, 10)
    assert tally.asks() == done
    assert tally.why_stop() is None  # 4 % of all


def test_nobody_is_asked_where_nothing_was_done_or_all_may_be_bad():
    for given in ({}, {"max_bad_percent": 100}, {"max_bad_percent": 70}):
        tally = tally_of(**given)
        if given:
            add(tally, 10_000, 0)
        add(tally, 100, 100 if not given or given["max_bad_percent"] == 100 else 69)
        assert tally.asks() is None


def planned(folder: Path, ffmpeg: str, good: int, bad: int, scheme: str = "local://") -> Path:
    """A store whose last units hold many videos that are none; all inputs are fetched, or none."""
    clips = make_clips(ffmpeg, folder / "in", good)
    rows = [{"uri": f"{scheme}{clip}", "duration": 2, "key": clip.stem} for clip in clips]
    for number in range(bad):
        (folder / f"in/bad{number:03}.mp4").write_text("no video\n" * 10)
        rows.append({"uri": f"{scheme}{folder}/in/bad{number:03}.mp4", "duration": 0.1, "key": f"bad{number:03}"})
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work("plan", folder / "m.jsonl", "-o", folder / "store", *OPTIONS)
    return folder / "store"


def test_run_of_units_with_too_many_bad_videos_stops_and_can_go_on(tmp_path: Path, ffmpeg: str):
    store = planned(tmp_path, ffmpeg, 1, 220)
    said = work("work", store, "--jobs", 2, "--scratch", tmp_path / "scratch", "--progress", "none", expect=[1]).stderr
    assert said.startswith(f"saccade: {store}: stopped: ")
    assert "videos were given up, more than --max-bad 5 %: is the installation broken? Once it is mended" in said
    assert "the same command" not in said
    before = counts(markers_of(store))
    assert 0 < before["items"] < 221
    said = work("work", store, "--scratch", tmp_path / "scratch", "--progress", "none", expect=[1]).stderr
    assert "is the installation broken?" in said
    assert counts(markers_of(store)) == before
    work("work", store, "--jobs", 2, "--max-bad", 100, expect=[3])
    assert counts(markers_of(store)) == {"items": 221, "done": 1, "damaged": 0, "quarantined": 220}


@pytest.mark.parametrize("scheme", ["local://", ""])
def test_video_that_was_done_tells_whether_inputs_are_gone(tmp_path: Path, ffmpeg: str, scheme: str):
    store = planned(tmp_path, ffmpeg, 2, 1, scheme)
    work("work", store, "--progress", "none", "--max-bad", "100", expect=[3])
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    plan = Plan(open_store(store))
    marker = next(marker for marker in markers_of(store) if marker["done"])
    (unit,) = (unit for unit in plan.units if unit.name == marker["unit"])
    key = key_of_done(plan, marker)

    def why_not() -> str | None:
        return Witness(plan, unit, key, tmp_path / "scratch", engine="test", arguments=[]).why_not()

    assert why_not() is None
    clip = tmp_path / f"in/{key}.mp4"
    content = clip.read_bytes()
    clip.unlink()
    assert "o such file" in str(why_not())
    clip.write_text("no video\n" * 10)
    assert why_not()
    clip.write_bytes(content)
    assert why_not() is None
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before
    assert not list((tmp_path / "scratch").rglob("*.mp4"))


@pytest.mark.parametrize(
    ("code", "said", "why"),
    [(69, "backend cuda: no device", None), (1, "plan.json: Input/output error", None), (4, "", None), (-9, "", None),
     (1, "stopped", "stopped"), (2, "", "saccade ended with 2")],
)  # fmt: skip
def test_what_is_missing_here_says_nothing_of_inputs(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch, code: int, said: str, why: str | None
):
    plan = Plan(open_store(planned(tmp_path, ffmpeg, 1, 0)))
    monkeypatch.setattr(_do_unit, "run", lambda *_: (code, said))
    witness = Witness(plan, plan.units[0], "clip00", tmp_path / "scratch", engine="test", arguments=[])
    assert witness.why_not() == why


def test_index_part_that_is_damaged_meanwhile_stops_with_a_line(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch
):
    store = planned(tmp_path, ffmpeg, 1, 120)
    plan = Plan(open_store(store))
    tally = Tally(plan, plan.units, progress="none")
    tally._judged_items = 100_000
    count = _run_units._count

    def count_and_damage(*given: Any) -> Any:
        for part in (store / "index").iterdir():
            part.write_text("{}\n")
        return count(*given)

    monkeypatch.setattr(_run_units, "_count", count_and_damage)
    code, line = _run_units.run_units(
        plan, plan.units, tmp_path / "scratch", tally, engine="test", arguments=["--jobs", "2"]
    )
    assert code == STOPPED
    assert ": damaged: its first line has no key; run `saccade verify`" in line


@pytest.mark.parametrize("gone", [False, True])
def test_inputs_that_vanish_late_stop_the_run(tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch, gone: bool):
    """As if a hundred thousand videos had been done before: the bad ones are few of all."""
    store = planned(tmp_path, ffmpeg, 1, 120)
    plan = Plan(open_store(store))
    tally = Tally(plan, plan.units, progress="none")
    tally._judged_items = 100_000
    if gone:
        count = _run_units._count

        def count_and_vanish(*given: Any) -> Any:
            for clip in (tmp_path / "in").glob("clip*"):
                clip.unlink()
            return count(*given)

        monkeypatch.setattr(_run_units, "_count", count_and_vanish)
    stopped = _run_units.run_units(
        plan, plan.units, tmp_path / "scratch", tally, engine="test", arguments=["--jobs", "2"]
    )
    if gone:
        assert stopped[0] == 1
        assert "videos were given up, and clip00, which was done before, can't be done any more: " in stopped[1]
    else:
        assert stopped == (3, "")
