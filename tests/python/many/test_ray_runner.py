"""The driver of `pysaccade.ray.run`: where processes are placed, and when that ends. Ray itself is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from conftest import import_or_skip

import_or_skip("ray")
from pysaccade.on_ray import _run  # noqa: E402
from pysaccade.on_ray._child import Ended  # noqa: E402
from pysaccade.on_ray._run import _Runner  # noqa: E402

DONE, NO_GPU, KILLED = Ended(0, "", ""), Ended(69, "", "no device"), Ended(-9, "", "")


class Cluster:
    """Tasks that end, in the order in which they were placed, as `ends` says of their node."""

    def __init__(self, places: dict[str, int], ends: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
        self.places, self.ends, self.placed, self.cancelled = places, ends, list[str](), list[int]()
        self.units = [20] * 3
        for name in ("wait", "get", "cancel"):
            monkeypatch.setattr(_run.ray, name, getattr(self, name))
        monkeypatch.setattr(_run, "_LOOK_S", 0.0)
        monkeypatch.setattr(_run, "_PLACES_EACH_S", 0.0)

    def place(self, node: str) -> int:
        self.placed.append(node)
        return len(self.placed) - 1

    def wait(self, tasks: list[int], **_: Any) -> tuple[list[int], list[int]]:
        return sorted(tasks)[:1], []

    def get(self, task: int) -> Any:
        end = self.ends(self.placed[task])
        if isinstance(end, Exception):
            raise end
        return end, self.placed[task]

    def cancel(self, task: int) -> None:
        self.cancelled.append(task)

    def run(self, attempts: int = 4) -> Ended:
        left: Iterator[int] = iter(self.units)
        return _Runner("store", self.place, lambda: next(left, self.units[-1]), lambda: self.places, attempts).run()


def test_each_place_gets_a_process_and_one_more_waits(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster({"a": 2, "b": 1}, lambda _: DONE, monkeypatch)
    assert cluster.run() == DONE
    assert sorted(cluster.placed) == ["", "a", "a", "b"]
    assert cluster.placed.index("") in cluster.cancelled  # it waits for a place that is not needed


def test_no_more_processes_than_units(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster({"a": 8}, lambda _: DONE, monkeypatch)
    cluster.units = [3]
    cluster.run()
    assert cluster.placed == ["a"] * 3


def test_nothing_is_placed_if_others_did_the_rest(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster({"a": 2}, lambda _: DONE, monkeypatch)
    cluster.units = [5, 0]  # between the first look and the cluster's start
    assert cluster.run() == DONE
    assert cluster.placed == []
    cluster = Cluster({"a": 1}, lambda _: KILLED, monkeypatch)
    cluster.units = [5, 5, 0]  # the last process of all is killed
    assert cluster.run() == DONE


def test_node_that_lacks_something_is_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    ends = iter([NO_GPU, NO_GPU, DONE])
    cluster = Cluster({"bad": 2, "good": 1}, lambda node: next(ends), monkeypatch)
    assert cluster.run() == DONE
    assert cluster.placed.count("bad") == 2  # not once more
    assert capsys.readouterr().err.count("is left out: no device") == 1


def test_no_node_can_work(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster({"a": 1, "b": 1}, lambda _: NO_GPU, monkeypatch)
    assert cluster.run() == NO_GPU


def test_wrong_options_end_all(monkeypatch: pytest.MonkeyPatch):
    cluster = Cluster({"a": 2}, lambda _: Ended(2, "", "unknown option"), monkeypatch)
    assert cluster.run() == Ended(2, "", "unknown option")
    assert len(cluster.cancelled) == 2


def test_what_dies_is_placed_again_as_long_as_units_get_done(monkeypatch: pytest.MonkeyPatch):
    died = _run.ray.exceptions.WorkerCrashedError()
    ends = iter([died, KILLED] * 20 + [DONE])
    cluster = Cluster({"a": 1}, lambda _: next(ends), monkeypatch)
    cluster.units = list(range(60, 2, -1))  # one is done between each two
    assert cluster.run(attempts=2) == DONE
    cluster = Cluster({"a": 1}, lambda _: died, monkeypatch)
    stopped = cluster.run(attempts=3)
    assert stopped.code == 1
    assert stopped.line == "3 processes died, and no unit was done between: WorkerCrashedError"


def test_messages_hold_no_secrets(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    cluster = Cluster({"a": 1}, lambda _: NO_GPU, monkeypatch)
    url = "s3://user:secret@bucket/store?token=secret"
    assert _Runner(url, cluster.place, lambda: 20, lambda: cluster.places, 4).run() == NO_GPU
    assert capsys.readouterr().err == "s3://bucket/store: node a is left out: no device\n"


def test_driver_does_not_load_ray_data():
    import subprocess
    import sys

    from many_support import environment

    code = "import sys, pysaccade.ray; sys.exit('ray.data' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0
