"""Folders of this machine for what is being worked on. A process locks its own, and sweeps those that nobody locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "saccade-attempt-"


class Scratch:
    """A folder of this process; a context manager. However the process ends, the next one here removes it.

    Args:
        parent: Where; None: where temporary files lie.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        top = Path(parent) if parent is not None else Path(tempfile.gettempdir())
        top.mkdir(parents=True, exist_ok=True)
        sweep(top)
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.uname().nodename}.{os.getpid()}.", dir=top))
        self._lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep(top: Path) -> int:
    """Remove the folders in `top` whose process is gone; gives how many."""
    count = 0
    for folder in top.glob(f"{_PREFIX}{os.uname().nodename}.*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                count += 1
            finally:
                os.close(lock)
    return count
