"""A prefix of a bucket, or of whatever fsspec opens, by the verbs of a store; and the faults of its clients."""

from __future__ import annotations

import contextlib
import datetime
import errno
import io
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError

_AT_ONCE = 64  # requests in flight
_OBJECTS = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oss", "oci", "memory"}  # of fsspec: no folders, no drafts
_WRITTEN = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
_FORBIDDEN = (401, 403)
_NOT_IMPLEMENTED = 501
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "modified", "created")


class Found(NamedTuple):
    """A file of a listing. `stamp` changes when it is written again; `written_s` is since 1970; None: unknown."""

    name: str
    nbytes: int
    stamp: str | None
    written_s: float | None


class BucketStore:
    """A store in a bucket, or in whatever fsspec opens."""

    local = False

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._shown = shown_url(url).rstrip("/")
        options = {"use_listings_cache": False, **options}
        if url.startswith(("s3://", "s3a://")):  # its client has ten connections by default
            options["config_kwargs"] = {"max_pool_connections": _AT_ONCE, **options.get("config_kwargs", {})}
        try:
            self._fs, root = file_system(url, options)
        except ValueError as error:
            raise UnavailableError(str(error)) from None
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
        """`count` bytes from `offset`, fewer at the file's end, and none beyond it."""
        path = self._at(name)
        with self._asked(name):
            try:
                content: bytes = self._fs.cat_file(path, start=offset, end=offset + count)
            except Exception as error:
                if isinstance(error, FileNotFoundError) or not _ends_before(self._fs.info(path), offset):
                    raise
                return b""  # object stores refuse a range that begins at the end
        return content

    def open(self, name: str) -> BinaryIO:
        """A file to read from here and there. Raises FileNotFoundError."""
        with self._asked(name):
            file = self._fs.open(self._at(name), "rb")
        return cast("BinaryIO", BucketFile(file, f"{self._shown}/{name}"))

    def stamps(self, folder: str) -> dict[str, str | None]:
        """Name of each file below a folder -> what changes when it is written again, by one listing; None: unknown."""
        return {name: _stamp(facts) for name, facts in self._found(folder)}

    def listed(self, folder: str) -> list[Found]:
        """The files of a folder in the order of their names, by one listing; none if there is no such folder."""
        return [
            Found(name.rpartition("/")[2], int(facts["size"]), _stamp(facts), _written_s(facts))
            for name, facts in self._found(folder)
        ]

    def _found(self, folder: str) -> list[tuple[str, dict[str, Any]]]:
        try:
            with self._asked(folder):  # not find(): most file systems of fsspec's hide there that a listing failed
                listed = self._fs.ls(self._at(folder), detail=True)
        except FileNotFoundError:
            return []
        top = len(self._root.lstrip("/")) + 1
        names = {facts["name"].lstrip("/")[top:]: facts for facts in listed if facts["type"] == "file"}
        return sorted((name, facts) for name, facts in names.items() if not _is_draft(name))

    def create(self, name: str, content: bytes) -> bool:
        """Make a file that must not exist yet. False: it was there, with other bytes.

        If the file system can't do this in one step, a look beforehand must do: two who race may both get True.
        """
        path = self._at(name)
        with self._asked(name):
            try:
                self._in_folder(path, lambda: self._create(path, content))
            except OSError as error:
                if not _was_there(error):
                    raise
                return self._holds(path, content)  # a request whose answer was lost finds its own file
        return True

    def _holds(self, path: str, content: bytes) -> bool:
        try:
            held: bytes = self._fs.cat_file(path)
        except FileNotFoundError:  # it was removed meanwhile
            return False
        return held == content

    def _create(self, path: str, content: bytes) -> None:
        if self._is_local:
            draft = self._draft(path)
            try:
                self._fs.pipe_file(draft, content)
                self._fs.link(draft, path)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    self._fs.rm_file(draft)
            return
        try:
            self._fs.pipe_file(path, content, mode="create")
        except Exception as error:
            if not _is_unsupported(error):
                raise
            with contextlib.suppress(FileNotFoundError):
                self._fs.info(path)  # not exists(): most file systems of fsspec's take any error for a no there
                raise FileExistsError(path) from None
            self._fs.pipe_file(path, content)

    def put(self, name: str, source: Path | bytes) -> None:
        """Write a file, from a file of this machine or from memory. It appears whole."""
        path = self._at(name)
        draft = path if self._is_objects else self._draft(path)
        with self._asked(name):
            if isinstance(source, bytes):
                self._in_folder(draft, lambda: self._fs.pipe_file(draft, source))
            else:
                self._in_folder(draft, lambda: self._fs.put_file(str(source), draft))
            if draft != path:
                self._fs.mv(draft, path)

    @property
    def _is_objects(self) -> bool:
        return bool(_OBJECTS & protocols(self._fs))

    @property
    def _is_local(self) -> bool:
        return "local" in protocols(self._fs)

    @staticmethod
    def _draft(path: str) -> str:
        folder, _, name = path.rpartition("/")
        return f"{folder}/.{name}.{secrets.token_hex(6)}"

    def _in_folder(self, path: str, write: Callable[[], object]) -> None:
        """Write a file. If folders are more than prefixes, its folder is made when it is missing; a bucket never is."""
        try:
            write()
        except FileNotFoundError:
            if self._is_objects:
                raise
            self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
            write()

    def download(self, name: str, target: Path) -> int:
        """Copy a file to this machine; gives its bytes. Raises FileNotFoundError."""
        with self._asked(name):
            self._fs.get_file(self._at(name), str(target))
        return target.stat().st_size

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are gone are no error."""
        for name in names:
            with contextlib.suppress(FileNotFoundError), self._asked(name):
                self._fs.rm_file(self._at(name))


def _is_draft(name: str) -> bool:
    """Of a file that is being written, or of a folder itself, which some consoles make an object of."""
    return name.rpartition("/")[2][:1] in ("", ".")


def _was_there(error: OSError) -> bool:
    """Whether an exclusive write failed because the file exists; some servers don't name the condition that failed."""
    response = getattr(error.__cause__, "response", None) or {}
    return isinstance(error, FileExistsError) or response.get("Error", {}).get("Code") == "PreconditionFailed"


def _is_unsupported(error: Exception) -> bool:
    """Whether a client or its server lacks exclusive writes. Servers answer 501, of which s3fs makes ENOSYS."""
    lacks = isinstance(error, (TypeError, ValueError, NotImplementedError))
    return lacks or getattr(error, "errno", None) == errno.ENOSYS or _NOT_IMPLEMENTED in _statuses(error)


def _ends_before(facts: Mapping[str, Any], offset: int) -> bool:
    """Whether a file has no byte at `offset`. Some file systems don't know a file's size."""
    size = facts.get("size")
    return size is not None and int(size) <= offset


def _written_s(facts: Mapping[str, Any]) -> float | None:
    for name in _WRITTEN:
        when = facts.get(name)
        if isinstance(when, str):
            when = datetime.datetime.fromisoformat(when.replace("Z", "+00:00"))
        if isinstance(when, datetime.datetime):
            return when.timestamp()
        if isinstance(when, (int, float)):
            return float(when)
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


def protocols(files: Any) -> set[str]:
    """By which a file system of fsspec's is known."""
    return {files.protocol} if isinstance(files.protocol, str) else set(files.protocol)


def file_system(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of a URL, and the path in it.

    Raises:
        ValueError: It isn't a URL that fsspec opens, whatever is installed.
        UnavailableError: fsspec, or what it needs for such a URL, isn't installed.
    """
    shown = shown_url(url)
    fsspec = _import_fsspec(shown)
    try:
        files, path = fsspec.core.url_to_fs(url, **options)
    except ImportError as error:
        raise UnavailableError(f"{shown}: {str(error).splitlines()[0]}") from None
    except ValueError as error:
        what = str(error).splitlines()[0].replace(url, shown)
        raise ValueError(f"{shown}: {what}; check the URL, its scheme first") from None
    return files, path


def fetch(uri: str, target: Path, options: dict[str, Any]) -> tuple[int, str]:
    """Copy an input to a file of this machine; gives its bytes and its ETag, "" if there is none.

    Raises:
        FileNotFoundError, PermissionError, StoreError: As `asked` has them.
        UnavailableError, ValueError: As `file_system` has them.
    """
    files, path = file_system(uri, {"use_listings_cache": False, **options})
    with asked(shown_url(uri)):
        files.get_file(path, os.fspath(target))
        nbytes, facts = target.stat().st_size, files.info(path)
        if facts.get("size") is not None and nbytes < facts["size"]:
            raise OSError(f"only {nbytes} of {facts['size']} bytes arrived")
    return nbytes, etag_of(facts)


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
        kind = PermissionError if _is_forbidden(error) else StoreError
        fault = kind(f"{shown}: {(str(error) or type(error).__name__).splitlines()[0]}")
        fault.errno = getattr(error, "errno", None)
        raise fault from error


def _is_forbidden(error: Exception) -> bool:
    """For it gcsfs has a plain OSError, aiohttp and Google's client a status."""
    if isinstance(error, PermissionError):
        return True
    return any(status in _FORBIDDEN for status in _statuses(error)) or str(error).startswith("Forbidden: ")


def _statuses(error: Exception) -> list[Any]:
    return [getattr(error, name, None) for name in ("code", "status")]


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
