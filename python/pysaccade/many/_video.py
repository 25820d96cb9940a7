"""A video's arrays out of a shard: a slice of a mapped file, or one range read of a bucket."""

from __future__ import annotations

import io
import json
import tarfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import InputError
from pysaccade.dumps._dump import INDEX_DTYPE
from pysaccade.dumps._npy import map_bytes
from pysaccade.many._store import LocalStore, Store

Array = np.ndarray[Any, Any]

# Members in a shard: one after the other, each behind a header of one block.
ARRAYS = ("patches", "geometry", "changed", "positions")
INDEX = "index.bin"
EARLIER_INDEX = "index.npy"  # of items of schema 1, which have no arrays of the index's fields
MEMBERS = ("json", INDEX, *(f"{name}.npy" for name in (*(INDEX_DTYPE.names or ()), *ARRAYS)))
BLOCK = 512  # bytes, of tar
_MOST_MAPPED = 256  # shards


def extent(line: dict[str, Any]) -> tuple[int, int]:
    """Where an item's members lie in its shard, with their headers: offset and bytes."""
    first, last = line["members"][MEMBERS[0]], line["members"][MEMBERS[-1]]
    offset = first["offset"] - BLOCK
    return offset, last["offset"] + last["bytes"] - offset


class Video:
    """One item of a shard: `facts` (KEY.json), `extra` (a dict), and the arrays of a dump, read-only."""

    def __init__(self, where: str, content: Any) -> None:
        """`content`: the bytes of all of its members, headers included."""
        members = _members(where, content)
        try:
            self.key, facts = members.pop("json")
            self.facts: dict[str, Any] = json.loads(bytes(facts))
            extra = self.facts.get("extra", {})
            self.extra: dict[str, Any] = json.loads(extra) if isinstance(extra, str) else extra  # schema 1: a dict
            arrays = {name: _array(members[f"{name}.npy"][1]) for name in ARRAYS}
            self.index = _array(members[EARLIER_INDEX if EARLIER_INDEX in members else INDEX][1])
            video = self.facts["video"]
            self.size = (int(video["height_px"]), int(video["width_px"]))
        except (KeyError, ValueError, TypeError) as error:
            raise InputError(f"{where}: damaged: {_line(error)}; run `saccade verify`") from None
        self.patches, self.geometry, self.positions = arrays["patches"], arrays["geometry"], arrays["positions"]
        self.changed = arrays["changed"].view(np.bool_)
        rows = self.patches.shape[:2]
        whole = self.patches.ndim == 5 and self.geometry.shape == (*rows, 4) == self.positions.shape
        if not whole or self.changed.shape != rows or self.index.shape != rows[:1] or self.index.dtype != INDEX_DTYPE:
            raise InputError(f"{where}: damaged: its arrays don't fit together; run `saccade verify`")


class Shards:
    """Reads videos out of shards. Files of this machine are mapped, and stay so while they are used."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._maps: OrderedDict[str, Array] = OrderedDict()

    def video(self, shard: str, offset: int, nbytes: int) -> Video:
        """The video whose members lie there. May be called from several threads for a bucket.

        Raises:
            InputError: The shard is missing, cut short or damaged.
        """
        where = f"{self._store}/{shard}"
        try:
            content = self._content(shard, offset, nbytes)
        except FileNotFoundError:
            raise InputError(f"{where}: no such file; run `saccade verify`") from None
        if len(content) != nbytes:
            raise InputError(f"{where}: cut short: {len(content)} of {nbytes} bytes at {offset}; run `saccade verify`")
        return Video(where, content)

    def _content(self, shard: str, offset: int, nbytes: int) -> Any:
        if not isinstance(self._store, LocalStore):
            return self._store.read_part(shard, offset, nbytes)
        if shard not in self._maps:
            path = Path(self._store.path, shard)
            self._maps[shard] = map_bytes(path, path.stat().st_size)
            while len(self._maps) > _MOST_MAPPED:
                self._maps.popitem(last=False)
        self._maps.move_to_end(shard)
        return self._maps[shard][offset : offset + nbytes].data


def _members(where: str, content: Any) -> dict[str, tuple[str, Any]]:
    """Kind, such as "patches.npy" -> (the key, the bytes), of a part of a tar."""
    view, at, found = memoryview(content), 0, {}
    while at + BLOCK <= len(view):
        try:
            header = tarfile.TarInfo.frombuf(bytes(view[at : at + BLOCK]), "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as error:
            raise InputError(f"{where}: damaged: no member of a tar where the index has one: {error}") from None
        key, _, kind = header.name.partition(".")
        at += BLOCK
        found[kind] = (key, view[at : at + header.size])
        at += -(-header.size // BLOCK) * BLOCK
    return found


def _array(content: memoryview) -> Array:
    """The array of an .npy file in memory, not copied, read-only."""
    head = io.BytesIO(bytes(content[:4096]))
    np.lib.format.read_magic(head)
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(head)
    if fortran or dtype.hasobject:
        raise ValueError("an array that `saccade` doesn't write")
    count = int(np.prod(shape, dtype=np.int64))
    array: Array = np.frombuffer(content, dtype, count, head.tell()).reshape(shape)
    array.flags.writeable = False
    return array


def _line(error: Exception) -> str:
    text = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return (text or type(error).__name__).splitlines()[0]
