"""A video's members in a shard: one after the other, each behind a header of one block."""

from __future__ import annotations

from typing import Any

from pysaccade.dumps._dump import INDEX_DTYPE

ARRAYS = ("patches", "geometry", "changed", "positions")
INDEX = "index.bin"
EARLIER_INDEX = "index.npy"  # of items of schema 1, which have no arrays of the index's fields
MEMBERS = ("json", INDEX, *(f"{name}.npy" for name in (*(INDEX_DTYPE.names or ()), *ARRAYS)))
BLOCK = 512  # bytes, of tar


def extent(line: dict[str, Any]) -> tuple[int, int]:
    """Where an item's members lie in its shard, with their headers: offset and bytes."""
    first, last = line["members"][MEMBERS[0]], line["members"][MEMBERS[-1]]
    offset = first["offset"] - BLOCK
    return offset, last["offset"] + last["bytes"] - offset
