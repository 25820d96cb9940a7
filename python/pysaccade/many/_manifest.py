"""Manifests that the program doesn't read itself: Parquet, and files in buckets."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._bucket import asked, file_system
from pysaccade.many._store import is_remote

_KNOWN = ("uri", "start", "end", "stream", "key", "duration")
_PARQUET = (".parquet", ".pq")


def copy_manifest(manifest: str, target: Path, options: dict[str, Any]) -> None:
    """Copy a manifest to a file of this machine. A table becomes JSON lines, other files keep their bytes.

    Raises:
        InputError: It is damaged.
        FileNotFoundError, PermissionError, StoreError: As `asked` has them.
        UnavailableError: pyarrow or fsspec are needed and missing.
    """
    manifest = manifest.removeprefix("file://")
    if PurePosixPath(manifest).suffix.lower() in _PARQUET or Path(manifest).is_dir():
        _convert(manifest, target, options)
    elif is_remote(manifest):
        files, path = file_system(manifest, options)
        with asked(shown_url(manifest)):
            files.get_file(path, os.fspath(target))
    else:
        shutil.copyfile(manifest, target)


def _convert(manifest: str, target: Path, options: dict[str, Any]) -> None:
    """Write a Parquet file, or a folder of them, as JSON lines; what is null is left out."""
    try:
        import pyarrow.dataset
    except ImportError:
        raise UnavailableError(
            f"{shown_url(manifest)}: Parquet needs pyarrow: pip install 'pysaccade[buckets]'"
        ) from None
    files, path = file_system(manifest, options) if is_remote(manifest) else (None, manifest)
    with _asked(manifest):
        rows = pyarrow.dataset.dataset(path, filesystem=files, format="parquet")
        batches = iter(rows.to_batches())
    if "uri" not in rows.schema.names:
        raise InputError(f"{shown_url(manifest)}: no column uri; its columns are {', '.join(rows.schema.names)}")
    with target.open("w", encoding="utf-8") as lines:
        while (batch := _next(manifest, batches)) is not None:
            for row in batch.to_pylist():
                line = json.dumps(_plain(manifest, row), ensure_ascii=False, separators=(",", ":"))
                lines.write(line + "\n")


def _next(manifest: str, batches: Iterator[Any]) -> Any:
    with _asked(manifest):
        return next(batches, None)


@contextlib.contextmanager
def _asked(manifest: str) -> Iterator[None]:
    """A request for Parquet: what its library or a bucket's client raises names the manifest."""
    import pyarrow as pa

    with asked(shown_url(manifest)) if is_remote(manifest) else contextlib.nullcontext():
        try:
            yield
        except pa.ArrowInvalid as error:
            raise InputError(
                f"{shown_url(manifest)}: not Parquet, or damaged: {str(error).splitlines()[0]}; of a folder of videos "
                "make a list: ls FOLDER/*.mp4 > list.txt"
            ) from None


def _plain(manifest: str, row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _value(manifest, name, value) for name, value in row.items() if value is not None or name not in _KNOWN
    }


def _value(manifest: str, name: str, value: Any) -> Any:
    """A value as JSON has it; numbers that are none become null, times ISO 8601."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, list):
        return [_value(manifest, name, one) for one in value]
    if isinstance(value, dict):
        return {key: _value(manifest, name, one) for key, one in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, bytes):
        raise InputError(f"{shown_url(manifest)}: column {name} holds bytes, which a plan can't carry; leave it out")
    return str(value)
