"""Where a store lies: a folder of this machine, or a prefix of a bucket through fsspec; with the same few verbs."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import itertools
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError

_AT_ONCE = 64  # requests to a bucket in flight
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "modified", "created")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)
_NO_RENAME = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
_AT_FDCWD, _RENAME_NOREPLACE = -100, 1
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

    def sizes(self, folder: str) -> dict[str, int]:
        """Name of each file below a folder -> its bytes, in the order of names; {} where there is none. No drafts."""
        return {name: facts.st_size for name, facts in self._found(folder)}

    def stamps(self, folder: str) -> dict[str, str | None]:
        """Name of each file below a folder -> what changes when it is written again. No drafts."""
        return {name: f"{facts.st_size} {facts.st_mtime_ns}" for name, facts in self._found(folder)}

    def _found(self, folder: str) -> list[tuple[str, os.stat_result]]:
        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):  # of a folder that can't be listed nothing is known
                raise error

        found = {}
        for where, _, files in os.walk(self.path / folder, onerror=refuse):
            for file in files:
                path = Path(where, file)
                if file.startswith("."):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    found[path.relative_to(self.path).as_posix()] = path.stat()
        return sorted(found.items())

    def exists(self, name: str) -> bool:
        """Whether a file is there."""
        try:
            return stat.S_ISREG((self.path / name).stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def make_folder(self, name: str) -> None:
        """Make a folder of the store, unless it is there."""
        _sync(*_make_folder(self.path / name))

    def create(self, name: str, content: bytes, *, lasting: bool = True) -> bool:
        """Make a file that must not exist yet. False: it was there. Never seen half-written, and on disk.

        `lasting`: its name outlives a loss of power, too.
        """
        target = self.path / name
        made = _make_folder(target.parent)
        draft = target.parent / f".{target.name}.{secrets.token_hex(6)}"
        try:
            with draft.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            new = _give_name(draft, target)
            if lasting:
                _sync(target.parent, *made)
            return new
        finally:
            draft.unlink(missing_ok=True)

    def upload(self, source: Path, name: str) -> None:
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

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are no error."""
        for name in names:
            (self.path / name).unlink(missing_ok=True)

    def written_s(self, name: str) -> float | None:
        """When a file was last written, in seconds since 1970; None: unknown."""
        try:
            return (self.path / name).stat().st_mtime
        except FileNotFoundError:
            return None


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it; gives the folders in which one is new."""
    missing = list(itertools.takewhile(lambda path: not path.exists(), (folder, *folder.parents)))
    folder.mkdir(parents=True, exist_ok=True)
    return [path.parent for path in missing]


def _give_name(draft: Path, target: Path) -> bool:
    """Have a file's name where there is none yet; False: there is one. The draft may be gone then.

    Where the file system has neither hard links nor a rename that replaces nothing, a look beforehand must do, as in
    buckets. No reader sees half a file.
    """
    try:
        target.hardlink_to(draft)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        return True
    fault = _rename_to_new(draft, target)
    if fault == errno.EEXIST or (fault in _NO_RENAME and target.exists()):
        return False
    if fault in _NO_RENAME:
        draft.replace(target)
    elif fault:
        raise OSError(fault, os.strerror(fault), os.fspath(target))
    return True


def _rename_to_new(source: Path, target: Path) -> int:
    """renameat2 with RENAME_NOREPLACE; gives 0 or errno."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # an old C library
        return errno.ENOSYS
    ended = rename(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), _RENAME_NOREPLACE)
    return ctypes.get_errno() if ended else 0


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


class BucketStore:
    """A store in a bucket, or in whatever fsspec opens."""

    local = False

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._shown = shown_url(url).rstrip("/")
        fsspec = _import_fsspec(self._shown)
        try:
            self._fs, root = fsspec.core.url_to_fs(url, use_listings_cache=False, **options)
        except (ImportError, ValueError) as error:
            what = str(error).splitlines()[0].replace(url, self._shown)
            raise UnavailableError(f"{self._shown}: {what}") from None
        self._root = root.rstrip("/")

    def __str__(self) -> str:
        return self._shown

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _asked(self, name: str) -> contextlib.AbstractContextManager[None]:
        return asked(f"{self._shown}/{name}")

    def read(self, name: str) -> bytes:
        """A file's content. Raises FileNotFoundError."""
        with self._asked(name):
            content: bytes = self._fs.cat_file(self._at(name))
        return content

    def read_many(self, names: Iterable[str]) -> dict[str, bytes]:
        """The content of many small files, several at once."""
        wanted = {self._at(name): name for name in names}
        if not wanted:
            return {}
        paths = list(wanted)
        if len(paths) == 1:  # of one path fsspec gives the content alone
            return {wanted[paths[0]]: self.read(wanted[paths[0]])}
        options = {"batch_size": _AT_ONCE} if getattr(self._fs, "async_impl", False) else {}
        with self._asked(wanted[paths[0]]):
            contents = self._fs.cat(paths, **options)
        found = {wanted[path.removeprefix("/") if path not in wanted else path]: contents[path] for path in contents}
        return {name: found[name] for name in wanted.values()}  # fsspec sorts them

    def read_part(self, name: str, offset: int, count: int) -> bytes:
        """`count` bytes from `offset`, fewer at the file's end."""
        with self._asked(name):
            content: bytes = self._fs.cat_file(self._at(name), start=offset, end=offset + count)
        return content

    def open(self, name: str) -> BinaryIO:
        """A file to read from here and there. Raises FileNotFoundError."""
        with self._asked(name):
            file = self._fs.open(self._at(name), "rb")
        return cast("BinaryIO", BucketFile(file, f"{self._shown}/{name}"))

    def sizes(self, folder: str) -> dict[str, int]:
        """Name of each file below a folder -> its bytes, in the order of names, by one listing."""
        return {name: int(facts["size"]) for name, facts in self._found(folder)}

    def stamps(self, folder: str) -> dict[str, str | None]:
        """Name of each file below a folder -> what changes when it is written again, by one listing; None: unknown."""
        return {name: _stamp(facts) for name, facts in self._found(folder)}

    def _found(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        try:
            with self._asked(folder):  # not find(): most file systems of fsspec's hide there that a listing failed
                listed = self._fs.ls(self._at(folder), detail=True)
        except FileNotFoundError:
            return []
        top = len(self._root.lstrip("/")) + 1
        return sorted((facts["name"].lstrip("/")[top:], facts) for facts in listed if facts["type"] == "file")

    def exists(self, name: str) -> bool:
        """Whether a file is there."""
        with contextlib.suppress(FileNotFoundError), self._asked(name):
            self._fs.info(self._at(name))  # not exists(): most file systems of fsspec's take any error for a no there
            return True
        return False

    def make_folder(self, name: str) -> None:
        """A bucket has none."""

    def create(self, name: str, content: bytes) -> bool:
        """Make a file that must not exist yet. False: it was there, with other bytes or by another hand.

        Where the file system can't do so in one step, a look beforehand must do: markers of two who race differ in who
        wrote them alone.
        """
        path = self._at(name)
        with self._asked(name):
            try:
                self._in_folder(path, lambda: self._fs.pipe_file(path, content, mode="create"))
            except FileExistsError:
                return self._was_mine(name, content)
            except (TypeError, ValueError, NotImplementedError):
                if self.exists(name):
                    return self._was_mine(name, content)
                self._in_folder(path, lambda: self._fs.pipe_file(path, content))
        return True

    def _in_folder(self, path: str, write: Callable[[], object]) -> None:
        """Write a file; where folders are no mere prefixes, its folder is made when it is missing."""
        try:
            write()
        except FileNotFoundError:
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            write()

    def _was_mine(self, name: str, content: bytes) -> bool:
        """A request whose answer was lost is sent again, and then finds its own file."""
        return self.read(name) == content

    def upload(self, source: Path, name: str) -> None:
        """Copy a file of this machine into the store."""
        path = self._at(name)
        with self._asked(name):
            self._in_folder(path, lambda: self._fs.put_file(str(source), path))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are no error."""
        for name in names:
            with contextlib.suppress(FileNotFoundError), self._asked(name):
                self._fs.rm_file(self._at(name))

    def written_s(self, name: str) -> float | None:
        """When a file was last written, in seconds since 1970; None: unknown."""
        with contextlib.suppress(FileNotFoundError), self._asked(name):
            try:
                return float(self._fs.modified(self._at(name)).timestamp())
            except NotImplementedError:
                return None
        return None


def _stamp(facts: Mapping[str, Any]) -> str | None:
    """Of what a file system of fsspec's says of a file, in names of its own."""
    for name in _STAMPS:
        if facts.get(name):
            return f"{facts['size']} {facts[name]}"
    return None


class BucketFile(io.RawIOBase):
    """A file of a bucket to read. What goes wrong is said of it."""

    def __init__(self, file: Any, name: str) -> None:
        super().__init__()
        self._file, self._name = file, name

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with asked(self._name):
            content: bytes = self._file.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with asked(self._name):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


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


class StoreError(OSError):
    """A request failed. Nothing is known of what was asked for."""


@contextlib.contextmanager
def asked(shown: str) -> Iterator[None]:
    """Whatever a client's library raises is an OSError that names the file, which may be shown."""
    try:
        yield
    except (FileNotFoundError, FileExistsError, InputError, UnavailableError):
        raise
    except Exception as error:
        kind = PermissionError if isinstance(error, PermissionError) else StoreError
        fault = kind(f"{shown}: {(str(error) or type(error).__name__).splitlines()[0]}")
        fault.errno = getattr(error, "errno", None)
        raise fault from error


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


def etag_of(facts: Mapping[str, Any]) -> str:
    """Of what a file system of fsspec's says of a file; "": it says nothing."""
    return str(facts.get("ETag") or facts.get("etag") or "").strip('"')


def _import_fsspec(url: str) -> Any:
    try:
        import fsspec
        import fsspec.core
    except ModuleNotFoundError:
        raise UnavailableError(f"{url}: buckets need fsspec: pip install 'pysaccade[buckets]'") from None
    return fsspec
