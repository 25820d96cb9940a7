"""The index of a whole store as one Parquet file, so that ten million videos are one read, and DuckDB can ask it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._bucket import StoreError
from pysaccade.many._store import Store
from pysaccade.many._video import INDEX, MEMBERS, extent

NAME = "index.parquet"
_SMALL = {"offset": np.int64, "bytes": np.int64, "emissions": np.int32, "damaged": np.bool_}
_ROWS_AT_ONCE = 50_000
_PLAN, _UNITS = b"saccade.plan", b"saccade.units"


def columns(store: Store, plan: str, stamps: Mapping[str, str | None]) -> dict[str, Any]:
    """What the folded file knows: "unit" and "shard" lists, `_SMALL` arrays, and "units", a set of those it covers.

    Nothing where there is no such file, no pyarrow, or it is of another plan: the parts are the truth. They alone tell
    of a unit that was done again since: then its marker has another stamp. `stamps`: those of the markers now.
    """
    nothing: dict[str, Any] = {name: np.empty(0, kind) for name, kind in _SMALL.items()}
    nothing |= {"unit": [], "shard": [], "units": frozenset()}
    try:
        import pyarrow.parquet as pq

        file = store.open(NAME)
    except (ImportError, FileNotFoundError, NotADirectoryError):
        return nothing
    with file:
        try:
            parquet = pq.ParquetFile(file)
            notes = parquet.schema_arrow.metadata or {}
            if notes.get(_PLAN) != plan.encode():
                return nothing
            folded = json.loads(notes[_UNITS])
            if not isinstance(folded, dict):  # of an earlier version: it has no stamps
                return nothing
            table = parquet.read(columns=["unit", "shard", *_SMALL])
        except (OSError, ValueError, KeyError) as error:
            if isinstance(error, StoreError) or getattr(error, "errno", None) is not None:  # pyarrow's own has none
                raise
            raise InputError(f"{store}/{NAME}: damaged: {error}; remove it: it is made of index/") from None
    found: dict[str, Any] = {name: table[name].to_numpy() for name in _SMALL}
    found |= {"unit": table["unit"].to_pylist(), "shard": table["shard"].to_pylist()}
    current = frozenset(unit for unit, stamp in folded.items() if stamp is not None and stamp == stamps.get(unit))
    if len(current) != len(folded):
        keep = np.fromiter((unit in current for unit in found["unit"]), np.bool_, len(found["unit"]))
        found = {
            name: column[keep] if isinstance(column, np.ndarray) else list(itertools.compress(column, keep))
            for name, column in found.items()
        }
    return found | {"units": current}


def fold(lines: Iterator[dict[str, Any]], stamps: Mapping[str, str | None], plan: str, target: Path) -> int:
    """Write the lines of index parts as a Parquet file and give their number. docs/SCALE.md has the columns.

    `stamps`: the units, with those that their markers had before they were read.
    `members` become columns: offset and bytes of all of a video's members together; offset, bytes and SHA-256 of each.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnavailableError("the folded index needs pyarrow: pip install 'pysaccade[buckets]'") from None
    schema = _schema(pa).with_metadata({_PLAN: plan, _UNITS: json.dumps(dict(stamps))})
    count = 0
    alike = [name for name in schema.names if not name.endswith("_sha256") or name == "shard_sha256"]
    with pq.ParquetWriter(target, schema, compression="zstd", use_dictionary=alike) as writer:
        rows: list[dict[str, Any]] = []
        for line in lines:
            rows.append(_row(line))
            if len(rows) == _ROWS_AT_ONCE:
                writer.write_table(pa.Table.from_pylist(rows, schema))
                count, rows = count + len(rows), []
        writer.write_table(pa.Table.from_pylist(rows, schema))
    return count + len(rows)


def _schema(pa: Any) -> Any:
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    fields = {"key": text, "uri": text, "start": real, "end": real, "stream": whole, "row": whole, "piece": whole,
              "pieces": whole, "media_s": real, "extra": text, "unit": text, "shard": text, "damaged": pa.bool_(),
              "damage": text, "emissions": pa.int32(), "frames": whole, "seconds": real, "patches": pa.int32(),
              "patch_size": pa.int32(), "dtype": text, "width_px": pa.int32(), "height_px": pa.int32(),
              "shard_bytes": whole, "shard_sha256": text, "offset": whole, "bytes": whole}  # fmt: skip
    for member in MEMBERS:
        name = _column(member)
        fields |= {f"{name}_offset": whole, f"{name}_bytes": whole, f"{name}_sha256": text}
    return pa.schema(list(fields.items()))


def _column(member: str) -> str:
    return "index" if member == INDEX else member.removesuffix(".npy")


def _row(line: dict[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in line.items() if name != "members"}
    row["extra"] = json.dumps(line["extra"], ensure_ascii=False)
    row["offset"], row["bytes"] = extent(line)
    for member, where in line["members"].items():
        row |= {f"{_column(member)}_{name}": value for name, value in where.items()}
    return row
