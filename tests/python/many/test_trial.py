"""Which units are tried when some refuse the plan's options."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from many_support import OPTIONS, make_clips, work
from pysaccade.many._do_unit import Outcome, UnitWork
from pysaccade.many._native_work import GOES_ON, REFUSED, STOPPED, USAGE, stop_line
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._run_units import Trial, _do_all
from pysaccade.many._tally import Tally
from pysaccade.on_ray._patches import Patches

SUITS, REFUSES, NEITHER = "suits", "refuses", "neither"


def run(count: int, kind_of: Callable[[int], str], *, in_flight: int = 1, suit: bool = False) -> tuple[list[int], bool]:
    """The units in the order in which they were done, and whether all were."""
    trial = Trial([Unit(f"{n:08}", 0, 1, 1, 1.0) for n in range(count)], 2, 8, options_suit=suit)
    order: list[int] = []
    flying: list[tuple[Unit, bool]] = []
    suits = suit
    while flying or not trial.over():
        while trial.waiting() and len(flying) < in_flight:
            unit = trial.next()
            assert unit is not None
            flying.append((unit, suits))
        if not flying:
            if trial.decide() is not None:
                return order, False
            continue
        unit, suited = flying.pop(0)
        kind = kind_of(int(unit.name))
        if kind == REFUSES and not suited:
            assert trial.refuse(unit, Outcome(unit.name, None, USAGE, REFUSED))
            continue
        order.append(int(unit.name))
        if kind == SUITS:
            suits = True
            trial.suit()
    return order, True


@pytest.mark.parametrize("in_flight", [1, 3, 40])
@pytest.mark.parametrize("good", [0, 1, 7, 30, 99])
def test_all_are_done_once_where_all_from_some_unit_on_suit(good: int, in_flight: int):
    order, whole = run(100, lambda n: SUITS if n >= good else REFUSES, in_flight=in_flight)
    assert whole
    assert sorted(order) == list(range(100))


@pytest.mark.parametrize("in_flight", [1, 3])
def test_few_are_tried_where_all_refuse(in_flight: int):
    tried: list[int] = []

    def kind_of(n: int) -> str:
        tried.append(n)
        return REFUSES

    assert run(1000, kind_of, in_flight=in_flight) == ([], False)
    assert len(tried) <= 10 + in_flight
    assert max(tried) == 999
    assert len(set(tried)) == len(tried)


def test_units_that_tell_nothing_are_no_answer():
    order, whole = run(60, lambda n: REFUSES if n < 3 else SUITS if n == 40 else NEITHER)
    assert whole
    assert sorted(order) == list(range(60))


def test_few_units_are_all_tried():
    assert run(2, lambda _: REFUSES) == ([], False)
    assert run(1, lambda _: REFUSES) == ([], False)
    assert run(0, lambda _: REFUSES) == ([], True)


def test_where_others_have_taken_them_nothing_is_put_aside():
    trial = Trial([], 2, 8, options_suit=True)
    assert not trial.refuse(Unit("00000000", 0, 1, 1, 1.0), Outcome("00000000", None, USAGE, REFUSED))


def test_unit_that_was_begun_before_is_done_again_once():
    trial = Trial([Unit(f"{n:08}", 0, 1, 1, 1.0) for n in range(2)], 2, 8, options_suit=False)
    trial.next()
    late = trial.next()
    assert late is not None
    trial.suit()
    refused = Outcome(late.name, None, USAGE, REFUSED)
    assert trial.refuse(late, refused)
    assert trial.next() == late
    assert not trial.refuse(late, refused)


def test_what_another_run_found_counts_before_all_stops():
    trial = Trial([Unit("00000000", 0, 1, 1, 1.0)], 2, 8, options_suit=False)
    unit = trial.next()
    assert unit is not None
    assert trial.refuse(unit, Outcome(unit.name, None, USAGE, REFUSED))
    assert trial.decide(lambda: True) is None
    assert trial.next() == unit


class SlowWork:
    """A unit that is in the store only once the next one was computed; and one that refuses until it is there."""

    def __init__(self, unit: Unit, computed: threading.Event, stored: threading.Event) -> None:
        self._unit, self._computed, self._stored = unit, computed, stored
        self._outcome: Outcome | None = None

    def prepare(self) -> None:
        pass

    def compute(self) -> None:
        good = self._unit.name == "00000000"
        if not good and not self._stored.is_set():
            self._outcome = Outcome(self._unit.name, None, USAGE, REFUSED)
        else:
            counts = {"items": 1, "done": int(good), "damaged": 0, "quarantined": int(not good)}
            self._outcome = Outcome(self._unit.name, {"unit": self._unit.name, **counts})
        if not good:
            self._computed.set()

    def finish(self) -> Outcome:
        assert self._outcome is not None
        if self._unit.name == "00000000":
            assert self._computed.wait(60)
            self._stored.set()
        return self._outcome


class NoPlan:
    """All that `Tally` asks."""

    def __str__(self) -> str:
        return "store"


def test_strange_unit_beside_the_upload_of_the_first_good_one_is_done_again():
    units = [Unit(f"{n:08}", 0, 1, 1, 1.0) for n in range(2)]
    tally = Tally(cast("Plan", NoPlan()), units, progress="none")
    computed, stored = threading.Event(), threading.Event()
    trial = Trial(units, 2, 8, options_suit=False)
    works = [cast("UnitWork", SlowWork(unit, computed, stored)) for unit in units]
    assert _do_all(trial, tally, lambda unit: works[int(unit.name)], stored.is_set, lambda _: None) is None
    assert (tally.done, tally.quarantined) == (1, 1)


def test_too_many_bad_videos_stop_in_words_of_each_caller():
    units = [Unit("00000000", 0, 1, 100, 1.0), Unit("00000001", 1, 1, 1, 1.0)]
    tally = Tally(cast("Plan", NoPlan()), units, progress="none", max_bad_percent=7.5)
    tally.add({"unit": "00000000", "items": 100, "done": 92, "damaged": 0, "quarantined": 8})
    why, way = tally.why_stop(), "is the installation broken? Once it is mended, or where it is the videos,"
    assert why == f"8 of 100 videos were given up, more than 7.5 %: {way} max_bad_percent=100 goes on"  # of a call
    said = f"8 of 100 videos were given up, more than --max-bad 7.5 %: {way} --max-bad 100 goes on"
    assert stop_line(STOPPED, why) == f"stopped: {said}"
    assert stop_line(STOPPED, "the disk is full") == f"stopped: the disk is full; {GOES_ON}"


def statuses(patches: Patches, clips: list[Path]) -> list[Any]:
    batch = {"uri": np.array([str(clip) for clip in clips]), "key": np.array([clip.name for clip in clips])}
    rows = [row for found in patches(batch) for row in zip(found["key"], found["status"], found["error"], strict=True)]
    return sorted({(str(key), str(status), "outside the frame" in str(error)) for key, status, error in rows})


def test_strange_videos_are_rows_and_no_error_of_a_batch(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    strange = [tmp_path / f"small{i}.mp4" for i in range(3)]
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x24:r=10:d=1", strange[0]], check=True)
    for other in strange[1:]:
        other.write_bytes(strange[0].read_bytes())
    patches = Patches(patches=48, rate=2, backend="cpu", ignore="140,80,8,8")
    given_up = [(clip.name, "input", True) for clip in strange]
    assert statuses(patches, strange[:2]) == given_up[:2]  # before any has taken them
    assert statuses(patches, [good]) == [(good.name, "done", False)]
    assert statuses(patches, [good, *strange]) == [(good.name, "done", False), *given_up]
    assert not [error for error in errors(patches, strange[:1]) if "plan.json" in error or "attempt" in error]


def errors(patches: Patches, clips: list[Path]) -> list[str]:
    batch = {"uri": np.array([str(clip) for clip in clips])}
    return [str(error) for found in patches(batch) for error in found["error"]]


def test_options_that_no_video_takes_are_rows_and_one_warning(
    ffmpeg: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    wrong = Patches(patches=48, rate=2, backend="cpu", jobs=4, ignore="1000,1000,8,8")
    for count, warnings in ((1, 0), (38, 0), (45, 1), (2, 1)):
        said = errors(wrong, [good] * count)
        assert [text.count(": ignore 1000,1000,8,8: lies outside the frame") for text in said] == [1] * count
        assert len(caplog.records) == warnings
    assert "none of the first 40 videos could be used; are the options right?" in caplog.text
    with pytest.raises(ValueError, match="No such filter"):
        errors(Patches(vf="nosuch", backend="cpu"), [good])


def test_broken_videos_are_no_refusals_of_options(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    junk = tmp_path / "junk.mp4"
    junk.write_text("no video\n" * 100)
    patches = Patches(patches=48, rate=2, backend="cpu", jobs=4, ignore="140,80,8,8")
    assert len(errors(patches, [junk] * 110)) == 110  # more than --max-bad of them
    assert set(errors(patches, [good])) == {""}


def test_rows_that_no_plan_takes_are_rows_of_the_result(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    patches = Patches(patches=48, rate=2, backend="cpu", dtype="f32")
    batch = {
        "uri": np.array([str(good), None, str(good), str(good), str(good)], dtype=object),
        "start": np.array([0.5, 0.0, "soon", 0.0, 0.0], dtype=object),
        "end": np.array([0.1, 1.0, 1.0, 1.0, np.nan]),
        "n": np.arange(5),
    }
    found = {int(rows["n"][0]): rows for rows in patches(batch)}
    assert [str(found[n]["status"][0]) for n in range(5)] == ["input", "input", "input", "done", "done"]
    said = ["end is not after start", "has no uri", 'start "soon": is not a number of seconds from 0 to 1e9']
    assert [str(found[n]["error"][0]) for n in range(3)] == said
    assert found[0]["patches"].dtype == found[3]["patches"].dtype == np.float32
    nothing = list(patches({name: column[:2] for name, column in batch.items()}))
    assert [str(rows["status"][0]) for rows in nothing] == ["input"] * 2


def test_faults_of_a_row_name_no_file_of_the_plan(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    batch = {"uri": np.array([str(good)]), "stream": np.array([3])}
    (found,) = Patches(patches=48, rate=2, backend="cpu")(batch)
    assert "stream 3" in str(found["error"][0])
    assert "plan/" not in str(found["error"][0])


def test_keys_are_those_of_a_plan(ffmpeg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (good,) = make_clips(ffmpeg, tmp_path / "in", 1)
    (tmp_path / "in/a:b.mp4").write_bytes(good.read_bytes())
    monkeypatch.chdir(tmp_path)
    rows: list[dict[str, Any]] = [
        {"uri": str(good)}, {"uri": "in/clip00.mp4"}, {"uri": f"  {good}\t"},
        {"uri": "././in/clip00.mp4", "start": 0.25},
        {"uri": "in/clip00.mp4", "start": "0.50", "end": 1}, {"uri": "in/a:b.mp4", "stream": 0}, {"uri": "in/none.mp4"},
        {"uri": f"file://{good}", "end": 0.123456789}, {"uri": "in/clip00.mp4", "end": 0.9, "key": " mine "},
        {"uri": "in/clip00.mp4", "start": 0.1, "end": 0.3, "key": 7}, {"uri": "in/clip00.mp4", "start": "", "key": ""},
    ]  # fmt: skip
    manifest = tmp_path / "m.jsonl"
    for segment in ({}, {"segment": "0.4"}):
        # A plan a row: there the second of two rows of the same content is a duplicate.
        for number, row in enumerate(rows):
            manifest.write_text(json.dumps(row) + "\n")
            store = tmp_path / f"s{len(segment)}-{number}"
            work("plan", manifest, "-o", store, *OPTIONS, *(f"--{name}={text}" for name, text in segment.items()))
            wanted = {json.loads(line)["key"] for line in (store / "plan/items.jsonl").read_text().splitlines()}
            batch = {name: np.array([value], dtype=object) for name, value in row.items()}
            patches = Patches(patches=48, rate=2, backend="cpu", **segment)
            assert {str(key) for found in patches(batch) for key in found["key"]} == wanted, row
