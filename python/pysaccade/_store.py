"""`python -m pysaccade._store URL`: the helper by which the program reads and writes what FFmpeg and open(2) can't.

Requests and answers are JSON lines on stdin and stdout; docs/STORE.md describes them. The program starts this process
and ends it by closing its stdin. Signals are the program's business: Ctrl-C in a terminal reaches both.
"""

from __future__ import annotations

import base64
import concurrent.futures
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._bucket import BucketStore, fetch
from pysaccade.many._manifest import copy_manifest
from pysaccade.many._store import insist

_SMALL_AT_ONCE, _LARGE_AT_ONCE = 64, 8
_LARGE = ("fetch", "manifest")
_GRACE_S = 10.0  # for requests in flight once stdin has ended
_OPTIONS = "SACCADE_STORAGE_OPTIONS"

_FAULTS: tuple[tuple[type[Exception], str], ...] = (
    (FileExistsError, "exists"),
    (FileNotFoundError, "missing"),
    (NotADirectoryError, "missing"),
    (PermissionError, "forbidden"),
    (UnavailableError, "unavailable"),
    (InputError, "damaged"),
)


class Helper:
    """Answers requests, many at once.

    Args:
        url: Of the store; "" if only inputs lie in buckets.
        options: Of fsspec's file system.
        out: Gets the answers, a line each.

    Raises:
        UnavailableError: fsspec, or what it needs for such a URL, isn't installed.
    """

    def __init__(self, url: str, options: dict[str, Any], out: BinaryIO) -> None:
        self._store = BucketStore(url, options) if url else None
        self._options, self._out, self._lock = options, out, threading.Lock()
        self._verbs: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "list": self._list, "read": self._read, "create": self._create, "put": self._put, "remove": self._remove,
            "fetch": self._fetch, "manifest": self._manifest,
        }  # fmt: skip

    def serve(self, lines: Iterable[bytes]) -> None:
        """Answer all requests, up to the end of `lines`. Those in flight then are finished."""
        small = concurrent.futures.ThreadPoolExecutor(_SMALL_AT_ONCE, "small")
        large = concurrent.futures.ThreadPoolExecutor(_LARGE_AT_ONCE, "large")
        for line in lines:
            request = json.loads(line)
            is_large = "path" in request or request["do"] in _LARGE
            (large if is_large else small).submit(self._answer, request)
        for pool in (small, large):
            pool.shutdown()

    def say(self, answer: dict[str, Any]) -> None:
        """Write one line. If the program is gone, nobody needs it."""
        line = json.dumps(answer, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._out.write(line)
            self._out.flush()

    def _answer(self, request: dict[str, Any]) -> None:
        try:
            found = self._verbs[request["do"]](request)
        except Exception as error:  # clients have kinds of their own
            self.say({"id": request["id"], "ok": False, **fault_of(error, self._shown(request))})
        else:
            self.say({"id": request["id"], "ok": True, **found})

    def _shown(self, request: dict[str, Any]) -> str:
        name = request.get("name", request.get("folder"))
        return shown_url(request["uri"]) if "uri" in request else f"{self._store}/{name}"

    @property
    def _there(self) -> BucketStore:
        if self._store is None:
            raise ValueError("this helper has no store, only inputs")
        return self._store

    def _list(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"files": insist(self._there.listed, request["folder"])}

    def _read(self, request: dict[str, Any]) -> dict[str, Any]:
        store, name = self._there, request["name"]
        if "path" in request:
            return {"bytes": insist(store.download, name, Path(request["path"]))}
        if "offset" in request:
            content = insist(store.read_part, name, request["offset"], request["count"])
        else:
            content = insist(store.read, name)
        return {"base64": base64.b64encode(content).decode()}

    def _create(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["name"]
        if not insist(self._there.create, name, base64.b64decode(request["base64"])):
            raise FileExistsError
        return {}

    def _put(self, request: dict[str, Any]) -> dict[str, Any]:
        source = Path(request["path"]) if "path" in request else base64.b64decode(request["base64"])
        insist(self._there.put, request["name"], source)
        return {}

    def _remove(self, request: dict[str, Any]) -> dict[str, Any]:
        insist(self._there.remove, [request["name"]])
        return {}

    def _fetch(self, request: dict[str, Any]) -> dict[str, Any]:
        nbytes, etag = insist(fetch, request["uri"], Path(request["path"]), self._options)
        return {"bytes": nbytes, "etag": etag}

    def _manifest(self, request: dict[str, Any]) -> dict[str, Any]:
        insist(copy_manifest, request["uri"], Path(request["path"]), self._options)
        return {}


def fault_of(error: Exception, shown: str) -> dict[str, Any]:
    """What an answer says of an error. `shown`: the object's name."""
    fault = next((name for kind, name in _FAULTS if isinstance(error, kind)), "broken")
    line = (str(error) or type(error).__name__).splitlines()[0]
    line = {"exists": f"{shown}: exists", "missing": f"{shown}: no such file"}.get(fault, line)
    return {"fault": fault, "errno": getattr(error, "errno", None) or 0, "line": line}


def main(arguments: list[str] | None = None) -> int:
    """Serve stdin; gives an exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library or its process prints must not end up between answers
    try:
        helper = Helper(given[0] if given else "", json.loads(os.environ.get(_OPTIONS) or "{}"), out)
    except (UnavailableError, ValueError) as error:
        out.write(json.dumps({"ready": False, "fault": "unavailable", "line": str(error)}).encode() + b"\n")
        out.flush()
        return 69
    helper.say({"ready": True})
    helper.serve(_until_end(sys.stdin.buffer))
    return 0


def _until_end(lines: Iterable[bytes]) -> Iterable[bytes]:
    yield from lines
    timer = threading.Timer(_GRACE_S, os._exit, (0,))  # a request may hang, and Python would wait for it
    timer.daemon = True
    timer.start()


if __name__ == "__main__":
    sys.exit(main())
