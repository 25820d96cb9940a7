"""A video's members in a shard: one after the other, each behind a header of one block."""

from __future__ import annotations

from typing import Any

MEMBERS = ("json", "index.npy", "patches.npy", "geometry.npy", "changed.npy", "positions.npy")
BLOCK = 512  # bytes, of tar


def extent(line: dict[str, Any]) -> tuple[int, int]:
    """Where an item's members lie in its shard, with their headers: offset and bytes."""
    first, last = line["members"][MEMBERS[0]], line["members"][MEMBERS[-1]]
    offset = first["offset"] - BLOCK
    return offset, last["offset"] + last["bytes"] - offset
