"""Where a store lies: a folder of this machine, or a prefix of a bucket through fsspec; with the same few verbs."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pysaccade._native._errors import InputError
from pysaccade.many._bucket import BucketStore

_TRIES = 4
_PAUSE_S = 1.0
LASTING = (PermissionError, FileNotFoundError, NotADirectoryError, InputError)
"""Errors that no waiting cures."""
OUR_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
T = TypeVar("T")


class LocalStore:
    """A store on a file system of this machine. Needs nothing but Python."""

    local = True

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes:
        """A file's content. Raises FileNotFoundError."""
        return (self.path / name).read_bytes()

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """The content of many small files."""
        return {name: self.read(name) for name in names}

    def read_part(self, name: str, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`, fewer at the file's end."""
        with (self.path / name).open("rb") as file:
            file.seek(offset)
            return file.read(count)

    def open(self, name: str) -> BinaryIO:
        """A file to read from here and there. Raises FileNotFoundError."""
        return (self.path / name).open("rb")

    def stamps(self, folder: str) -> dict[str, str | None]:
        """Name of each file below a folder -> what changes when it is written again; {} where there is none.

        In the order of names, without drafts.
        """

        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):  # of a folder that can't be listed nothing is known
                raise error

        found: dict[str, str | None] = {}
        for where, _, files in os.walk(self.path / folder, onerror=refuse):
            for file in files:
                path = Path(where, file)
                if file.startswith("."):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    facts = path.stat()
                    found[path.relative_to(self.path).as_posix()] = f"{facts.st_size} {facts.st_mtime_ns}"
        return dict(sorted(found.items()))

    def put(self, name: str, source: Path) -> None:
        """Copy a file of this machine into the store. It is on disk then."""
        target = self.path / name
        made = _make_folder(target.parent)
        draft = target.parent / f".{target.name}.{secrets.token_hex(6)}"
        try:
            shutil.copyfile(source, draft)
            _sync(draft)
            draft.replace(target)
            _sync(target.parent, *made)
        finally:
            draft.unlink(missing_ok=True)


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it; gives the folders in which one is new."""
    missing = list(itertools.takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    return [path.parent for path in missing]


def _sync(*paths: Path) -> None:
    """Have files, or folders with the names in them, on disk; some file systems sync no folder."""
    for path in paths:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP) or not path.is_dir():
                raise
        finally:
            os.close(file)


Store = LocalStore | BucketStore


def open_store(store: str | os.PathLike[str], options: Mapping[str, Any] | None = None) -> Store:
    """The store at a path or URL; looks at nothing yet.

    Args:
        store: A folder, "file:///folder", or a URL of fsspec's: "s3://bucket/prefix".
        options: Of fsspec's file system, such as {"endpoint_url": ...}.

    Raises:
        UnavailableError: fsspec, or what it needs for such a URL, isn't installed.
    """
    text = os.fsdecode(store)
    if not is_remote(text):
        return LocalStore(Path(text.removeprefix("file://")))
    return BucketStore(text, options or {})


def is_remote(text: str) -> bool:
    """Whether this is a URL of something else than a file of this machine."""
    return "://" in text and not text.startswith("file://")


def insist(step: Callable[..., T], *given: object) -> T:
    """Do a step with a store, some times where it fails as the network and disks do."""
    for attempt in itertools.count(1):
        try:
            return step(*given)
        except LASTING:
            raise
        except OSError as error:
            if attempt == _TRIES or error.errno in OUR_DISK:
                raise
        time.sleep(_PAUSE_S * 2 ** (attempt - 1))
    raise AssertionError
