"""Units whose store, inputs or disk fail: what is tried again, what stops the run, and what a signal ends."""

from __future__ import annotations

import collections
import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from many_support import OPTIONS, counts, environment, make_clips, markers_of, work
from patience import wait_for
from pysaccade.many import _do_unit, _store
from pysaccade.many._bucket import BucketStore
from pysaccade.many._do_unit import Outcome, UnitWork, do_unit, outcome_of, suiting_marker
from pysaccade.many._plan import Plan
from pysaccade.many._store import open_store
from pysaccade.work import main

pytest.importorskip("fsspec")
READS = ("read", "read_many", "open", "read_part", "exists", "sizes", "stamps", "upload", "create")


def planned(folder: Path, ffmpeg: str, count: int = 1) -> Path:
    """A store of units of a clip each, whose inputs are fetched."""
    clips = make_clips(ffmpeg, folder / "in", count)
    rows = [{"uri": f"local://{clip}", "duration": 2, "key": clip.stem} for clip in clips]
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work("plan", folder / "m.jsonl", "-o", folder / "store", *OPTIONS)
    return folder / "store"


def flaky(monkeypatch: pytest.MonkeyPatch, error: OSError, times: int) -> collections.Counter[Any]:
    """Have the first requests for each file of a bucket fail."""
    asked: collections.Counter[Any] = collections.Counter()

    def failing(name: str) -> Any:
        real = getattr(BucketStore, name)

        def ask(store: BucketStore, *given: Any) -> Any:
            asked[name, str(given)] += 1
            if asked[name, str(given)] <= times:
                raise error
            return real(store, *given)

        return ask

    for name in READS:
        monkeypatch.setattr(BucketStore, name, failing(name))
    monkeypatch.setattr(_store, "_PAUSE_S", 0.001)
    return asked


def outcome_in(store: Path, scratch: Path) -> Outcome:
    plan = Plan(open_store(store))
    plan.store = open_store(f"local://{store}")
    return do_unit(UnitWork(plan, plan.units[0], scratch, engine="test", arguments=[]))


def test_requests_that_fail_some_times_are_sent_again(tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch):
    store = planned(tmp_path, ffmpeg)
    asked = flaky(monkeypatch, OSError("503 Slow Down"), 3)
    outcome = outcome_in(store, tmp_path / "scratch")
    assert outcome.marker is not None, outcome.line
    assert {name for name, _ in asked} >= {"read", "read_part", "exists", "upload", "create"}
    plan = Plan(open_store(store))
    plan.store = open_store(f"local://{store}")
    assert suiting_marker(plan) is not None
    assert counts(markers_of(store)) == {"items": 1, "done": 1, "damaged": 0, "quarantined": 0}


def test_store_that_fails_some_times_at_the_start_is_asked_again(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch
):
    store = planned(tmp_path, ffmpeg)
    work("work", store, "--progress", "none")
    asked = flaky(monkeypatch, OSError("503 Slow Down"), 1)
    assert main(["work", f"local://{store}", "--progress", "none"]) == 0
    assert {name for name, _ in asked} >= {"read", "read_many", "open", "stamps"}


@pytest.mark.parametrize(
    ("error", "passing", "requests"),
    [(OSError("503"), True, 4), (OSError(errno.EIO, "Input/output error"), True, 4),
     (OSError(errno.ENOSPC, "No space left on device"), False, 1), (PermissionError("403"), False, 1)],
)  # fmt: skip
def test_requests_that_always_fail_end_the_unit(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch, error: OSError, passing: bool, requests: int
):
    store = planned(tmp_path, ffmpeg)
    asked = flaky(monkeypatch, error, 99)
    outcome = outcome_in(store, tmp_path / "scratch")
    assert (outcome.marker, outcome.code, outcome.passing) == (None, 1, passing)
    assert outcome.line == str(error)
    assert set(asked.values()) == {requests}
    assert outcome_of("0", error) == Outcome("0", None, 1, str(error), passing)


@pytest.mark.parametrize(
    ("said", "passing"), [("plan.json: Input/output error", True), ("the disk is full: No space left on device", False)]
)
def test_what_the_program_says_of_a_disk_is_told_apart(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch, said: str, passing: bool
):
    store = planned(tmp_path, ffmpeg)
    monkeypatch.setattr(_do_unit, "run", lambda *_: (1, said))
    assert outcome_in(store, tmp_path / "scratch") == Outcome("00000000", None, 1, said, passing)


def test_full_scratch_stops_the_run_and_gives_nothing_up(tmp_path: Path, ffmpeg: str):
    store = planned(tmp_path, ffmpeg, 2)
    code = """if True:
        import errno, sys
        from fsspec.implementations.local import LocalFileSystem
        from pysaccade.work import main
        def full(*_, **__): raise OSError(errno.ENOSPC, "No space left on device")
        LocalFileSystem.get_file = full
        sys.exit(main(sys.argv[1:]))"""
    command = [sys.executable, "-c", code, "work", str(store), "--scratch", str(tmp_path / "scratch")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "No space left on device; the same command goes on" in done.stderr.splitlines()[-1]
    assert markers_of(store) == []
    assert list((store / "quarantine").glob("*")) == []
    assert list((tmp_path / "scratch").iterdir()) == []
    work("work", store)
    assert counts(markers_of(store)) == {"items": 2, "done": 2, "damaged": 0, "quarantined": 0}


SLOW = """if True:
    import runpy, sys, time
    from pathlib import Path
    from fsspec.implementations.local import LocalFileSystem
    real = LocalFileSystem.get_file
    def slow(self, source, target, callback=None, **_):
        if not source.endswith("clip00.mp4"):
            Path(BEGUN).touch()
            while True:
                time.sleep(0.05)
                HEED
        real(self, source, target)
    LocalFileSystem.get_file = slow
    from pysaccade.many import _run_units
    _run_units._GRACE_S = GRACE
    runpy.run_module("pysaccade.work", run_name="__main__")
"""


@pytest.mark.parametrize(("heed", "grace_s"), [("callback.relative_update(1)", 60), ("pass", 2)])
def test_signal_does_not_wait_for_what_is_fetched(tmp_path: Path, ffmpeg: str, heed: str, grace_s: int):
    """The next unit's inputs: a client that tells of each part is stopped there, another one is left."""
    store, begun, scratch = planned(tmp_path, ffmpeg, 3), tmp_path / "begun", tmp_path / "scratch"
    code = SLOW.replace("HEED", heed).replace("BEGUN", repr(str(begun))).replace("GRACE", str(grace_s))
    command = [sys.executable, "-c", code, "work", str(store), "--scratch", str(scratch)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        wait_for(lambda: begun.exists() and markers_of(store), seconds=60, missing="nothing is fetched ahead")
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=100)[1]
    assert process.returncode == 4, said
    assert time.monotonic() - begin < 30
    assert "interrupted" in said.splitlines()[-1]
    assert list(scratch.iterdir()) == []


FULL = """if True:
    import runpy, sys, time
    from pathlib import Path
    from fsspec.implementations.local import LocalFileSystem
    from pysaccade.many import _do_unit, _run_units
    real, begun = LocalFileSystem.get_file, []
    def slow(self, source, target, callback=None, **_):
        begun.append(source)
        if len(begun) > 1:
            time.sleep(200)
        real(self, source, target)
    def full(*_):
        while len(begun) < 2:
            time.sleep(0.05)
        return 1, "the disk is full: No space left on device"
    LocalFileSystem.get_file, _do_unit.run, _run_units._GRACE_S = slow, full, 1
    runpy.run_module("pysaccade.work", run_name="__main__")
"""


def test_run_that_stops_does_not_wait_for_what_is_fetched(tmp_path: Path, ffmpeg: str):
    """As a full disk stops it, while a client hangs in a request for the next unit's inputs."""
    store, scratch = planned(tmp_path, ffmpeg, 3), tmp_path / "scratch"
    command = [sys.executable, "-c", FULL, "work", str(store), "--scratch", str(scratch), "--progress", "none"]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stderr
    assert "No space left on device; the same command goes on" in done.stderr.splitlines()[-1]
    assert markers_of(store) == []
