"""Folders for what is being worked on: whoever makes and sweeps them at the same time, each keeps its own."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from many_support import environment
from patience import wait_for
from pysaccade.many import _scratch
from pysaccade.many._scratch import Scratch, sweep

MANY = """if True:
    import sys
    from pysaccade.many._scratch import Scratch
    for _ in range(int(sys.argv[2])):
        with Scratch(sys.argv[1]) as folder:
            (folder / "mine").write_text("kept")
            assert (folder / "mine").read_text() == "kept"
"""
HELD = """if True:
    import sys
    from pysaccade.many._scratch import Scratch
    with Scratch(sys.argv[1]) as folder:
        print(folder, flush=True)
        sys.stdin.read()
"""


def test_many_that_begin_and_end_at_once_keep_their_own(tmp_path: Path):
    command = [sys.executable, "-c", MANY, str(tmp_path), "300"]
    running = [subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate()[1] for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    assert list(tmp_path.iterdir()) == []


def test_folder_of_a_process_that_is_gone_is_removed(tmp_path: Path):
    with subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path)], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        wait_for(lambda: list(tmp_path.glob("*/lock")), seconds=60, missing="no folder")
        assert process.stdout is not None
        process.stdout.readline()
        assert sweep(tmp_path) == 0
        process.send_signal(signal.SIGKILL)
    assert sweep(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_swept_before_its_lock_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = _scratch.tempfile.mkdtemp
    swept = []

    def and_sweep(**given: object) -> str:
        folder = made(**given)  # type: ignore[call-overload]
        if len(swept) < 3:
            swept.append(sweep(tmp_path))
        return str(folder)

    monkeypatch.setattr(_scratch.tempfile, "mkdtemp", and_sweep)
    with Scratch(tmp_path) as folder:
        assert swept == [1, 1, 1]
        assert sweep(tmp_path) == 0
        assert folder.is_dir()


def test_sweeper_that_was_late_leaves_a_new_lock_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It opened the lock of a folder that is gone, and locks it when another one of that name is there."""
    with Scratch(tmp_path) as folder:
        lock = fcntl.flock

        def late(file: int, how: int) -> None:
            (folder / "lock").rename(tmp_path / "old")
            (folder / "lock").touch()
            monkeypatch.setattr(_scratch.fcntl, "flock", lock)
            with (tmp_path / "old").open() as held:
                assert os.path.samestat(os.fstat(file), os.fstat(held.fileno()))

        monkeypatch.setattr(_scratch.fcntl, "flock", late)
        assert sweep(tmp_path) == 0
        assert folder.is_dir()
