"""What the driver of `pysaccade.ray.run` makes of units' outcomes; without a cluster."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from conftest import import_or_skip
from many_support import environment
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many import _store
from pysaccade.many._bucket import BucketStore
from pysaccade.many._do_unit import Outcome
from pysaccade.many._native_work import STOPPED, UNAVAILABLE
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import LocalStore
from pysaccade.many._tally import Tally

import_or_skip("ray")
from pysaccade.on_ray import _run  # noqa: E402
from pysaccade.on_ray._cluster import Nodes  # noqa: E402
from pysaccade.on_ray._run import _Interrupts, _Runner  # noqa: E402

UNITS = [Unit(f"{n:08}", 0, 1, 9999, 1.0) for n in range(5)]


class NoPlan:
    """All that is asked of a plan here."""

    store = "store"
    units = UNITS


class NoCluster(Nodes):
    """Nodes with a slot each."""

    def __init__(self, *names: str) -> None:
        super().__init__(1.0, 0.0)
        self._names = names

    def slots(self) -> dict[str, int]:
        return {name: 1 for name in self._names if self._lost[name] < 3}


def runner_of(*nodes: str, attempts: int = 3) -> _Runner:
    plan = cast("Plan", NoPlan())
    return _Runner(plan, UNITS, Tally(plan, UNITS, progress="none"), NoCluster(*nodes), attempts)


def place(runner: _Runner) -> Unit:
    """Place a unit, as if its task had ended already."""
    runner._place(lambda *_: object())
    unit, _ = runner._in_flight.popitem()[1]
    return unit


def test_driver_of_units_does_not_load_ray_data():
    code = "import sys, pysaccade.ray; sys.exit(sum(name in sys.modules for name in ('ray.data', 'pandas')))"
    subprocess.run([sys.executable, "-c", code], env=environment(), check=True)


def test_store_that_fails_at_the_start_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("fsspec")
    import pysaccade.ray

    def fail(*_: Any) -> Any:
        raise OSError("local://store/plan/plan.json: 503")

    monkeypatch.setattr(BucketStore, "read", fail)
    monkeypatch.setattr(_store, "_PAUSE_S", 0.001)
    assert pysaccade.ray.main([f"local://{tmp_path}"]) == STOPPED
    assert capsys.readouterr().err == "saccade: local://store/plan/plan.json: 503\n"


def test_unit_whose_store_failed_is_placed_again_before_others():
    runner = runner_of("a")
    failed = Outcome(UNITS[0].name, None, STOPPED, "s3://store/commits: 503", passing=True)
    for _ in range(2):
        assert place(runner) == UNITS[0]
        assert runner._count(UNITS[0], failed, "a") is None
    assert place(runner) == UNITS[0]
    assert runner._count(UNITS[0], failed, "a") == (STOPPED, "unit 00000000: s3://store/commits: 503")


def test_full_disk_stops_at_once():
    runner = runner_of("a")
    full = Outcome(place(runner).name, None, STOPPED, "No space left on device")
    assert runner._count(UNITS[0], full, "a") == (STOPPED, "unit 00000000: No space left on device")


def test_node_that_lacks_a_library_is_left_out_and_its_line_is_kept(capsys: pytest.CaptureFixture[str]):
    runner = runner_of("a", "b")
    lacks: Any = None
    for node, count in (("a", 2), ("b", 3)):
        for _ in range(count):
            lacks = Outcome(place(runner).name, None, UNAVAILABLE, f"{node} has no fsspec")
            assert runner._count(UNITS[0], lacks, node) is None
    assert not runner._nodes.all_left_out()
    assert capsys.readouterr().err == "store: node b is left out: b has no fsspec\n"
    runner._count(UNITS[0], Outcome(place(runner).name, None, UNAVAILABLE, "a has no fsspec"), "a")
    with _Interrupts() as interrupts:
        stopped = runner._run(lambda *_: object(), interrupts)
    assert stopped == (UNAVAILABLE, "no node is left that can do a unit: a has no fsspec")


HELD = "no video in /in can be read here: 3 videos held back, the first one, k: /in/k.mp4: no such file"


def done(unit: Unit) -> Outcome:
    return Outcome(unit.name, {"unit": unit.name, "items": 1, "done": 1, "damaged": 0, "quarantined": 0})


def test_node_without_the_inputs_is_left_out_and_nothing_is_given_up(capsys: pytest.CaptureFixture[str]):
    runner = runner_of("a", "b", attempts=9)
    for _ in range(3):
        unit = place(runner)
        assert runner._count(unit, Outcome(unit.name, None, STOPPED, HELD), "a") is None
    assert capsys.readouterr().err == f"store: node a is left out: {HELD}\n"
    while not runner._trial.over():
        unit = place(runner)
        assert runner._count(unit, done(unit), "b") is None
    assert (runner._tally.done, runner._tally.quarantined, runner._left) == (5, 0, [])


def test_unit_of_a_folder_that_no_node_has_is_left_and_holds_up_no_other(capsys: pytest.CaptureFixture[str]):
    runner = runner_of("a", attempts=3)
    while not runner._trial.over():
        unit = place(runner)
        outcome = Outcome(unit.name, None, STOPPED, HELD) if unit == UNITS[1] else done(unit)
        assert runner._count(unit, outcome, "a") is None
    assert runner._tally.done == 4
    with _Interrupts() as interrupts:
        stopped = runner._run(lambda *_: object(), interrupts)
    assert stopped[0] == STOPPED
    assert stopped[1].startswith("1 unit pending: unit 00000001 was placed 3 times; unit 00000001: no video in /in")


def test_no_node_has_the_inputs_the_run_stops_with_its_line(capsys: pytest.CaptureFixture[str]):
    runner = runner_of("a")
    for _ in range(3):
        unit = place(runner)
        assert runner._count(unit, Outcome(unit.name, None, STOPPED, HELD), "a") is None
    with _Interrupts() as interrupts:
        assert runner._run(lambda *_: object(), interrupts) == (
            STOPPED, f"no node is left that can do a unit: {HELD}"
        )  # fmt: skip


def test_what_ended_before_stops_the_run_before_anything_is_placed():
    runner = runner_of("a")
    runner._tally.add({"unit": "00000000", "items": 200, "done": 0, "damaged": 0, "quarantined": 200}, here=False)
    with _Interrupts() as interrupts:
        code, line = runner._run(lambda *_: pytest.fail("placed"), interrupts)
    assert code == STOPPED
    assert "200 of 200 videos were given up" in line


def test_cluster_that_is_gone_for_a_while_is_waited_for():
    runner = runner_of()
    runner._count(UNITS[0], Outcome(place(runner).name, None, UNAVAILABLE, "no device"), "a")
    assert not runner._nodes.all_left_out()


def test_videos_that_are_bad_or_crash_stop_the_run():
    for marker, says in (
        ({"items": 20, "quarantined": 20, "classes": {"crash": 20}}, "the last 20 videos all crashed the program"),
        ({"items": 100, "quarantined": 6, "classes": {"input": 6}}, "6 of 100 videos were given up, more than"),
    ):
        runner = runner_of("a")
        unit = place(runner)
        whole = {"unit": unit.name, "done": marker["items"] - marker["quarantined"], "damaged": 0, **marker}
        stopped = runner._count(unit, Outcome(unit.name, whole), "a")
        assert stopped is not None
        assert stopped[0] == STOPPED
        assert says in stopped[1]


@pytest.mark.parametrize("why", [None, "no such file"])
def test_video_that_was_done_is_tried_again_where_many_are_bad(monkeypatch: pytest.MonkeyPatch, why: str | None):
    runner, asked = runner_of("a"), []
    monkeypatch.setattr(_run, "key_of_done", lambda _, marker: f"key of {marker['unit']}")
    monkeypatch.setattr(_run.ray, "get", lambda _: why)
    runner._ask = lambda unit, key, where: asked.append((unit, key, where)) or "task"
    for unit, good in zip(UNITS, (4000, 0, 0), strict=False):
        bad = 0 if good else 60
        marker = {"unit": unit.name, "items": good + bad, "done": good, "damaged": 0, "quarantined": bad}
        assert runner._count(place(runner), Outcome(unit.name, marker), "a") is None
    assert asked == [(tuple(UNITS[0]), "key of 00000000", "SPREAD")]
    monkeypatch.setattr(_run.ray, "wait", lambda tasks, **_: (tasks, []))
    stopped = runner._collect()
    assert runner._asked == {}
    if why is None:
        assert stopped is None
    else:
        assert stopped is not None
        assert stopped[0] == STOPPED
        assert "120 of the last 120 videos were given up, and key of 00000000" in stopped[1]


def many_bad(runner: _Runner) -> tuple[int, str] | None:
    """Have a unit of good videos end, and two of bad ones; gives what the driver makes of the last one."""
    stopped = None
    for unit, good in zip(UNITS, (4000, 0, 0), strict=False):
        bad = 0 if good else 60
        marker = {"unit": unit.name, "items": good + bad, "done": good, "damaged": 0, "quarantined": bad,
                  "index": {"name": "index/part"}}  # fmt: skip
        stopped = runner._count(place(runner), Outcome(unit.name, marker), "a")
    return stopped


def test_nodes_that_are_left_out_are_asked_nothing(monkeypatch: pytest.MonkeyPatch):
    runner, asked = runner_of("aa" * 28, "bb" * 28), []
    for _ in range(3):
        runner._nodes.lacks("aa" * 28)
    runner._look()
    monkeypatch.setattr(_run, "key_of_done", lambda *_: "key")
    runner._ask = lambda unit, key, where: asked.append(where.node_id) or "task"
    assert many_bad(runner) is None
    assert asked == ["bb" * 28]


@pytest.mark.parametrize("content", [b"", b"{", b"3\n", b"{}\n", b"\xff\n"])
def test_damaged_index_part_is_a_line(tmp_path: Path, content: bytes):
    runner = runner_of("a")
    (tmp_path / "index").mkdir()
    (tmp_path / "index/part").write_bytes(content)
    cast("Any", runner._plan).store = LocalStore(tmp_path)
    stopped = many_bad(runner)
    assert stopped == (STOPPED, f"{tmp_path}/index/part: damaged: its first line has no key; run `saccade verify`")


@pytest.mark.parametrize(
    ("error", "says"),
    [(UnavailableError("buckets need fsspec"), None), (OSError("503 Slow Down"), None),
     (FileNotFoundError("no such file"), "no such file"), (InputError("damaged"), "damaged")],
)  # fmt: skip
def test_node_that_lacks_something_says_nothing_of_videos(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, says: str | None
):
    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(_run, "open_store", fail)
    assert _run._why_not(UNITS[0], "key", {"hash": "x"}, [], "store", {}, str(tmp_path)) == says
