"""Inputs in buckets: fetched before a unit is worked on, since FFmpeg opens files and common protocols alone."""

from __future__ import annotations

import concurrent.futures
import json
import os
import random
import threading
from pathlib import Path, PurePosixPath
from typing import Any

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import UnavailableError
from pysaccade.many._bucket import asked, etag_of, file_system
from pysaccade.many._plan import Plan
from pysaccade.many._store import OUR_DISK, is_remote

_OWN = ("http://", "https://", "rtsp://", "rtsps://", "rtmp://", "srt://", "udp://", "tcp://", "ftp://", "test://")
_TRIES = 3
_PAUSE_S = 1.0
_AT_ONCE = 8
_MOST, _MOST_FETCHED = 20, 3  # of a folder
_MISSING = (FileNotFoundError, PermissionError, NotADirectoryError)


def is_fetched(uri: str) -> bool:
    """Whether an input is fetched by fsspec: it has a scheme that FFmpeg doesn't open."""
    return is_remote(uri) and not uri.startswith(_OWN)


def fetch(uri: str, target: Path, options: dict[str, Any]) -> tuple[int, str]:
    """Copy an input to a file of this machine; gives its bytes and its ETag, "" if there is none.

    Raises:
        FileNotFoundError, PermissionError, StoreError: As `asked` has them.
        UnavailableError: fsspec, or what it needs for such a URL, isn't installed.
    """
    files, path = file_system(uri, {"use_listings_cache": False, **options})
    with asked(shown_url(uri)):
        files.get_file(path, os.fspath(target))
        return target.stat().st_size, etag_of(files.info(path))


class StoppedError(Exception):
    """Inputs are not wanted any more."""


def fetch_inputs(
    items: list[dict[str, Any]], folder: Path, options: dict[str, Any], stop: threading.Event
) -> list[dict[str, Any]]:
    """The items with `local`, a file in `folder`, or `fault`, why there is none. `stop`: set by who doesn't want them.

    Raises:
        UnavailableError: fsspec, or what it needs for such a URL, isn't installed.
        StoppedError: `stop` was set.
    """
    planned = {item["uri"]: item.get("input") or {} for item in items if is_fetched(item["uri"])}
    uris = list(planned)
    targets = [folder / f"{number}{PurePosixPath(uri).suffix[:16]}" for number, uri in enumerate(uris)]
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
        try:
            faults = list(threads.map(
                lambda uri, target: _fetch(uri, target, planned[uri], options, stop), uris, targets
            ))  # fmt: skip
        except BaseException:
            stop.set()  # the others would be waited for
            raise
    fetched = {
        uri: {"local": os.fspath(target)} if fault is None else {"fault": fault}
        for uri, target, fault in zip(uris, targets, faults, strict=True)
    }
    return [{**item, **fetched.get(item["uri"], {})} for item in items]


def _fetch(
    uri: str, target: Path, planned: dict[str, Any], options: dict[str, Any], stop: threading.Event
) -> dict[str, str] | None:  # fmt: skip
    """Fetch a file; gives the fault where it can't be had, or is another one than was `planned`."""
    name = shown_url(uri)
    try:
        import fsspec.callbacks
        import fsspec.core
    except ModuleNotFoundError:
        raise UnavailableError(f"{name}: inputs in buckets need fsspec: pip install 'pysaccade[buckets]'") from None
    try:
        files, path = fsspec.core.url_to_fs(uri, use_listings_cache=False, **options)
    except (ImportError, ValueError) as error:
        raise UnavailableError(f"{name}: {str(error).splitlines()[0]}") from None

    def check(*_: Any, **__: Any) -> None:
        if stop.is_set():
            raise StoppedError

    watch = fsspec.callbacks.Callback(hooks={"stop": check})  # called for each part that came
    for attempt in range(_TRIES):
        check()
        try:
            files.get_file(path, os.fspath(target), callback=watch)
            etag = etag_of(files.info(path)) if "etag" in planned else ""
        except _MISSING as error:
            why = "no such file" if isinstance(error, FileNotFoundError) else _line(error)
            return {"class": "missing", "line": f"{name}: {why}"}
        except StoppedError:
            raise
        except Exception as error:  # clients have kinds of their own
            if isinstance(error, OSError) and error.errno in OUR_DISK:
                raise
            fault = error
            if attempt + 1 < _TRIES:
                stop.wait(_PAUSE_S * 4**attempt)
        else:
            return _change(name, planned, target.stat().st_size, etag)
    return {"class": "io", "line": f"{name}: can't be fetched: {_line(fault)}"}


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _change(name: str, planned: dict[str, Any], nbytes: int, etag: str) -> dict[str, str] | None:
    """The fault of an input that has changed since the plan; None: it is as it was, or that isn't known."""
    then, now = planned.get("bytes", nbytes), nbytes
    if then != now:
        what = f"{then} bytes then, {now} now"
    elif etag and etag != planned["etag"]:
        what = f"ETag {planned['etag']} then, {etag} now"
    else:
        return None
    return {"class": "changed", "line": f"{name}: changed after `plan`: {what}; `retry` plans it as it is"}


def siblings_of(plan: Plan, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of the plan with other inputs in the folders of these, at most some of each, chosen by chance."""
    chosen: dict[str, list[dict[str, Any]]] = {_folder(item["uri"]): [] for item in items}
    seen = dict.fromkeys(chosen, 0)
    own = {item["uri"] for item in items}
    with plan.store.open("plan/items.jsonl") as file:
        for line in file:
            item = json.loads(line)
            folder = _folder(item["uri"])
            if folder not in chosen or item["uri"] in own:
                continue
            some, most = chosen[folder], _MOST_FETCHED if is_fetched(item["uri"]) else _MOST
            seen[folder] += 1
            if len(some) < most:
                some.append(item)
            elif (at := random.randrange(seen[folder])) < most:
                some[at] = item
    return [item for some in chosen.values() for item in some]


def _folder(uri: str) -> str:
    """As app/work/judge/folder.cpp has it, by the text alone; what FFmpeg opens by itself lies in "the network"."""
    scheme, found, rest = uri.partition("://")
    if not found or scheme == "file":
        return uri.removeprefix("file://").rpartition("/")[0]
    if not is_fetched(uri):
        return "the network"
    bucket = rest.partition("/")[0]
    return f"{scheme}://{bucket}" if bucket else uri.rpartition("/")[0]
