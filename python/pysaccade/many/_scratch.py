"""Folders of this machine for what is being worked on. A process locks its own, and sweeps those that nobody locks."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "saccade-attempt-"
_TRIES = 100


class Scratch:
    """A folder of this process; a context manager. However the process ends, the next one here removes it.

    Args:
        parent: Where; None: where temporary files lie.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        top = Path(parent) if parent is not None else Path(tempfile.gettempdir())
        top.mkdir(parents=True, exist_ok=True)
        sweep(top)
        for _ in range(_TRIES):
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.uname().nodename}.{os.getpid()}.", dir=top))
            lock = _locked(self.path / "lock", fcntl.LOCK_EX)  # until then another process that starts may sweep it
            if lock is not None:
                self._lock = lock
                return
        raise OSError(f"{top}: could not be used: others remove new folders in it again and again")

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
            lock = _locked(folder / "lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)  # not before: whose folder it is must see that it is gone
                count += 1
    return count


def _locked(path: Path, how: int) -> int | None:
    """Lock a file, which is made where it is missing; None: it was removed meanwhile, perhaps with its folder.

    Raises:
        OSError: Another process holds it, or it can't be made.
    """
    try:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, how)
        if os.path.samestat(os.fstat(lock), path.stat()):
            return lock
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(lock)
        raise
    os.close(lock)
    return None
