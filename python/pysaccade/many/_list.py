"""Manifests of what lies in a bucket or a folder."""

from __future__ import annotations

import csv
import errno
import fnmatch
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TextIO

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError
from pysaccade.many._bucket import asked, etag_of, file_system, protocols
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import is_remote, open_store

_VIDEOS = (
    "3gp", "avi", "flv", "h264", "hevc", "m2ts", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "mxf", "ogv", "ts",
    "webm", "wmv", "y4m",
)  # fmt: skip


_FLAT = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss"}  # find() is one listing there, which fails as a whole


class File(NamedTuple):
    """A line of a manifest. `etag`: what the bucket says of the content, "" where it says nothing."""

    uri: str
    nbytes: int
    etag: str


class Listed(NamedTuple):
    """What a manifest was made of."""

    videos: int
    nbytes: int
    left_out: int


def write_list(
    where: str, target: str, *, glob: str | None, suffixes: Sequence[str] | None, options: Mapping[str, Any]
) -> Listed:
    """Write a manifest of the files below a URL or folder, in the order of their names. Whole, or not at all.

    Args:
        where: A folder, or a URL of fsspec's.
        target: A .jsonl, .csv or .txt, here or in a bucket.
        glob: Files whose name below `where` it matches; `*` also matches "/".
        suffixes: Files whose name ends so, capitals or not; by default, where there is no `glob`, those of videos.
        options: Of fsspec's file system.

    Raises:
        InputError: Nothing is found, or a name can't stand in such a manifest.
        UnavailableError: fsspec is needed and not installed.
    """
    write = _writer(target)
    if suffixes is None and glob is None:
        suffixes = _VIDEOS
    ends = None if suffixes is None else tuple("." + suffix.strip().lstrip(".").lower() for suffix in suffixes)
    chosen: list[File] = []
    left_out = 0
    for name, file in _files(where.removeprefix("file://"), options):
        if (ends is None or name.lower().endswith(ends)) and (glob is None or fnmatch.fnmatchcase(name, glob)):
            chosen.append(file)
        else:
            left_out += 1
    if not chosen:
        raise InputError(
            f"{shown_url(where)}: no videos in it, {left_out} other files; --glob '*' takes all"
            if left_out else f"{shown_url(where)}: no files in it"
        )  # fmt: skip
    _put(target, sorted(chosen), write, options)
    return Listed(len(chosen), sum(file.nbytes for file in chosen), left_out)


def _files(where: str, options: Mapping[str, Any]) -> Iterator[tuple[str, File]]:
    """The files below `where`: the name from there, and what goes into the manifest."""
    if not is_remote(where):
        yield from _local_files(Path(os.path.abspath(where)))  # noqa: PTH100
        return
    files, root = file_system(where, options)
    with asked(shown_url(where)):
        found = _found(files, root)
    top = root.strip("/")
    for path, facts in found.items():
        if facts.get("type") == "directory" or path.endswith("/"):
            continue
        name = path.strip("/").removeprefix(top).lstrip("/") or PurePosixPath(path).name
        yield name, File(files.unstrip_protocol(path), int(facts.get("size") or 0), etag_of(facts))


def _found(files: Any, root: str) -> dict[str, Any]:
    """Path of each file below `root` -> its facts. Raises if a folder can't be listed, where fsspec omits it."""
    if protocols(files) & _FLAT:
        flat: dict[str, Any] = files.find(root, detail=True)
        return flat
    found: dict[str, Any] = {}
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            listed = files.ls(folder, detail=True)
        except FileNotFoundError:
            if folder != root:
                raise
            break
        for facts in listed:
            if facts["type"] != "directory":
                found[facts["name"]] = facts
            elif facts["name"].rstrip("/") != folder.rstrip("/"):
                folders.append(facts["name"])
    if not found and files.isfile(root):
        found[root] = {}
    return found


def _local_files(top: Path) -> Iterator[tuple[str, File]]:
    if top.is_file():
        yield top.name, File(str(top), top.stat().st_size, "")
        return

    def refuse(error: OSError) -> None:
        raise error

    for folder, _, names in os.walk(top, onerror=refuse):
        for name in names:
            path = Path(folder, name)
            if path.is_file():
                yield path.relative_to(top).as_posix(), File(str(path), path.stat().st_size, "")


def _writer(target: str) -> Callable[[TextIO, list[File]], None]:
    """How such a manifest is written."""
    suffix = PurePosixPath(target).suffix.lower()
    writers = {".jsonl": _write_jsonl, ".ndjson": _write_jsonl, ".csv": _write_csv, ".txt": _write_txt}
    if suffix not in writers:
        raise InputError(f"-o {shown_url(target)}: a manifest ends in .jsonl, .csv or .txt")
    return writers[suffix]


def _write_jsonl(lines: TextIO, files: list[File]) -> None:
    for file in files:
        row = {"uri": file.uri, "bytes": file.nbytes, **({"etag": file.etag} if file.etag else {})}
        lines.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")


def _write_csv(lines: TextIO, files: list[File]) -> None:
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("uri", "bytes", "etag"))
    writer.writerows(files)


def _write_txt(lines: TextIO, files: list[File]) -> None:
    for file in files:
        if file.uri != file.uri.strip() or file.uri.startswith("#") or len(file.uri.splitlines()) != 1:
            raise InputError(f"{file.uri!r}: can't stand in a list of a name a line; write a .jsonl")
        lines.write(file.uri + "\n")


def _put(
    target: str, files: list[File], write: Callable[[TextIO, list[File]], None], options: Mapping[str, Any]
) -> None:
    """Put the manifest in its place as a store's files are put: it appears whole."""
    target = target.removeprefix("file://")
    if is_remote(target):
        folder, _, name = target.rpartition("/")
    else:
        folder, name = str(Path(target).parent), Path(target).name
        if not Path(folder).is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    with Scratch() as scratch:
        with (scratch / name).open("x", encoding="utf-8", newline="") as lines:
            try:
                write(lines, files)
            except UnicodeEncodeError as error:
                raise InputError(f"{error.object!r}: the name is not UTF-8; rename the file") from None
        open_store(folder, options).put(name, scratch / name)
