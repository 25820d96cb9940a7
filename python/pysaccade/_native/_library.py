"""Where libsaccade and the program `saccade` lie: in this package, in a checkout's build folder, or installed."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.metadata
import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pysaccade._native._errors import UnavailableError

_PACKAGE = Path(__file__).resolve().parents[1]


def package_folders() -> list[Path]:
    """Folders that hold this package's parts: its own, and of an editable install also what was compiled."""
    folders = [_PACKAGE]
    root = checkout()
    if root:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, ValueError):
            installed = importlib.metadata.distribution("pysaccade")
            origin = json.loads(installed.read_text("direct_url.json") or "{}")
            is_editable = origin.get("dir_info", {}).get("editable", False)
            if is_editable and Path(unquote(urlsplit(origin["url"]).path)).resolve() == root:
                folders.append(Path(str(installed.locate_file("pysaccade"))))
    return folders


def checkout() -> Path | None:
    """The root of the checkout that this package lies in, or None where it is installed."""
    root = _PACKAGE.parent.parent
    return root if (root / "include" / "saccade" / "saccade.h").is_file() else None


def package_version() -> str:
    """The version of the package, for example "0.2.0"."""
    try:
        return importlib.metadata.version("pysaccade")
    except importlib.metadata.PackageNotFoundError:
        root = checkout()
        text = (root / "CMakeLists.txt").read_text() if root else ""
        found = re.search(r"project\(saccade VERSION ([0-9.]+)", text)
        return found[1] if found else "0"


def _soname() -> str:
    """The versioned name that an installed library has: below 1.0 each minor version has an interface of its own."""
    major, minor = ([*package_version().split("."), "0"])[:2]
    return f"libsaccade.so.{major}.{minor}" if major == "0" else f"libsaccade.so.{major}"


def _candidates(in_package: str, in_build: str) -> Iterator[Path]:
    """Files that may be ours, the best first."""
    for folder in package_folders():
        yield folder / in_package
    root = checkout()
    if root:
        for preset in ("release", "ci", "dev", "no-cuda"):
            yield root / "build" / preset / in_build


def _named(variable: str) -> Path | None:
    text = os.environ.get(variable)
    if not text:
        return None
    if not Path(text).is_file():
        raise UnavailableError(f"{variable}={text}: no such file")
    return Path(text)


@lru_cache(maxsize=1)
def load() -> ctypes.CDLL:
    """Open libsaccade, once for the process. No CUDA call is made by that.

    Looked for in this order: $SACCADE_LIBRARY, this package, a checkout's build folders, the system's libraries.

    Raises:
        UnavailableError: It isn't there, or one of the libraries that it needs isn't.
    """
    named = _named("SACCADE_LIBRARY")
    path = named or next(filter(Path.is_file, _candidates("lib/libsaccade.so", "capi/libsaccade.so")), None)
    target = str(path or _soname())
    try:
        return ctypes.CDLL(target)
    except OSError as error:
        raise UnavailableError(f"libsaccade: {_why(target, path is not None, str(error))}") from None


def _why(target: str, is_there: bool, message: str) -> str:
    """Put the dynamic linker's `message` into one line that says what to try."""
    first_line = message.splitlines()[0] if message else "can't be loaded"
    if "cannot open shared object file" not in first_line:
        return first_line
    if is_there:
        missing = first_line.split(":")[0]
        return f"{target} needs {missing}, which is missing; install FFmpeg, or use the wheel that holds it"
    return (
        f"{target} is neither in the package nor among the system's libraries; "
        "reinstall pysaccade, or set SACCADE_LIBRARY to its path"
    )


def program() -> Path:
    """The program `saccade`: $SACCADE_PROGRAM, this package's, a checkout's, or the one on PATH.

    Raises:
        UnavailableError: It is nowhere.
    """
    named = _named("SACCADE_PROGRAM")
    if named:
        return named
    for path in _candidates("bin/saccade", "app/saccade"):
        if path.is_file():
            return path
    found = shutil.which("saccade")
    if found and not _is_script(Path(found)):  # the console script of this package would call itself for ever
        return Path(found)
    raise UnavailableError(
        "the program `saccade` is neither in the package nor on PATH; reinstall pysaccade, or set SACCADE_PROGRAM"
    )


def _is_script(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"#!"
