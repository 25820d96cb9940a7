"""`DumpDataset`: clips of dumps for torch's DataLoader."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native import _arguments
from pysaccade._native._arguments import quoted
from pysaccade._native._errors import InputError
from pysaccade._native._positions import KINDS, positions
from pysaccade.dumps._dump import Dump
from pysaccade.dumps._reuse import Array, plan_tokens

try:
    import torch
    from torch.utils.data import Dataset
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("DumpDataset needs torch: pip install 'pysaccade[torch]'", name="torch") from error
from pysaccade.dumps._clip import Clip, finished
from pysaccade.dumps._shared import Lease, lend, pads

Item = dict[str, Any]
Source = str | os.PathLike[str] | Dump
TIMES = ("frame", "emission", "seconds")
_TORCH = {"|u1": torch.uint8, "<f2": torch.float16, "<f4": torch.float32}
_SMALL_BYTES = 64  # of a token or an emission, without its patch
_MOST_OPEN = 1024  # a process may hold some 65,000 maps, and a dump has four


class Plan(NamedTuple):
    """What a clip's item is made of: K tokens."""

    rows: Array  # [K] i64: in the clip's patches, geometry and changed, emissions joined
    emission: Array  # [K] i64
    reuse: Array  # [T, N] i64: the token of each patch, -1: none


class DumpDataset(Dataset[Item]):
    """Clips of consecutive emissions from dumps on disk, a map-style dataset.

    An item is a dict of tensors. T emissions of N patches make K tokens; patches wholly outside the frame make none.

    | key | shape, type | |
    |---|---|---|
    | patches | [K, 3, S, S], the dumps' | samples of the tokens, in the order of emissions |
    | geometry | [K, 4] f32 | u, v, lod, coverage |
    | positions | [K, 3] or [K, 2] f32 | as `Emission.positions` |
    | emission | [K] i64 | 0 to T - 1: the emission that the token comes from |
    | reuse | [T, N] i64 | the token of each patch, -1: outside the frame |
    | frame, pts_seconds | [T] i64, [T] f64 | the emissions' frames and times |
    | fixation | [T, 2] f32 | u, v of where the eye looks |
    | dump, first | i64 | which dump, and which of its emissions begins the clip |

    With `only_changed` a patch that did not change makes no new token: `reuse` names the one in this clip that has its
    very bytes. `encoder(item["patches"])[item["reuse"]]` are then the tokens of all patches, [T, N, D].

    Dumps are opened where they are first used: workers may be forked or spawned.

    Args:
        dumps: Folders of dumps, or Dumps, whole or in part; or one such; or a folder that holds dumps.
        clip: T, emissions of a clip.
        stride: Emissions from one clip's begin to the next's; by default `clip`.
        only_changed: Encode a place again only when it changed.
        drop_last: Leave out a dump's last clip where it is shorter than `clip`.
        positions: "thw", "uv", "xyl", or None for none.
        t: What "thw" begins with: the "frame"'s number, the "emission"'s in its clip, or "seconds".
        require_complete: As `Dump`'s.
        transform: Applied to each item last.

    Raises:
        InputError: A dump is missing, damaged or incomplete.
        ValueError: There is no dump, or an argument is wrong.
    """

    def __init__(
        self,
        dumps: Source | Iterable[Source],
        *,
        clip: int = 8,
        stride: int | None = None,
        only_changed: bool = False,
        drop_last: bool = False,
        positions: str | None = "thw",
        t: str = "frame",
        require_complete: bool = True,
        transform: Callable[[Item], Any] | None = None,
    ) -> None:
        self._clip = _at_least_one("clip", clip)
        self._stride = self._clip if stride is None else _at_least_one("stride", stride)
        if positions is not None and positions not in KINDS:
            raise ValueError(f"DumpDataset: positions is {quoted(positions)}; it must be None or one of {KINDS}")
        if t not in TIMES:
            raise ValueError(f"DumpDataset: t is {quoted(t)}; it must be one of {TIMES}")
        self._only_changed, self._positions, self._t, self._transform = only_changed, positions, t, transform
        opened = [
            source if isinstance(source, Dump) else Dump(source, require_complete=require_complete)
            for source in _sources(dumps)
        ]
        self._states = [dump.__getstate__() for dump in opened]
        self._lengths = [len(dump) for dump in opened]
        counts = [self._clips_of(length, drop_last) for length in self._lengths]
        self._ends = np.cumsum(counts)  # clips of the dumps up to each one
        self._open: dict[int, Dump] = {}

    def _clips_of(self, emissions: int, drop_last: bool) -> int:
        if drop_last or emissions == 0:
            return max((emissions - self._clip) // self._stride + 1, 0)
        return max(-(-(emissions - self._clip) // self._stride), 0) + 1

    def __len__(self) -> int:
        """How many clips."""
        return int(self._ends[-1])

    def __getitem__(self, index: int) -> Any:
        """The clip of this number; what it holds stands above."""
        return self._finished(*self._clip_of(index), None)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The clips of these numbers: a DataLoader asks for a batch at once.

        In its worker their patches lie one after the other, in memory that the main process shares: `collate` hands
        them over as they are. Where it padded the last batch, each has the longest one's room.
        """
        clips = [self._clip_of(index) for index in indices]
        tokens = [len(plan.rows) for _, _, _, plan in clips]
        room = max(tokens, default=0) if pads() else 0
        lease = lend(sum(_bytes_of(of[2], max(room, count)) for of, count in zip(clips, tokens, strict=True)), room)
        return [self._finished(*clip, lease) for clip in clips]

    def _clip_of(self, index: int) -> tuple[int, int, Dump, Plan]:
        """(which dump, the clip's first emission, the clip, its tokens)."""
        number = _arguments.whole(index, "DumpDataset", "index", -(1 << 62), 1 << 62)
        if not -len(self) <= number < len(self):
            raise IndexError(f"DumpDataset: clip {number} of {len(self)}")
        number %= len(self)
        which = int(np.searchsorted(self._ends, number, side="right"))
        first = (number - (int(self._ends[which - 1]) if which else 0)) * self._stride
        clip = self._dump(which)[first : first + self._clip]
        return which, first, clip, _plan_of(clip, only_changed=self._only_changed)

    def _finished(self, which: int, first: int, clip: Dump, plan: Plan, lease: Lease | None) -> Any:
        item = _item_of(clip, plan, kind=self._positions, t=self._t, lease=lease)
        item["dump"], item["first"] = torch.tensor(which, device="cpu"), torch.tensor(first, device="cpu")
        return finished(item, self._transform)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the maps: a worker opens its own."""
        return {**self.__dict__, "_open": {}}

    def _dump(self, which: int) -> Dump:
        dump = self._open.get(which)
        if dump is None:
            dump = object.__new__(Dump)
            dump.__setstate__(self._states[which])
            if len(dump) < self._lengths[which]:
                raise InputError(f"{dump.path}: has fewer emissions than when the DumpDataset was made")
            while len(self._open) >= _MOST_OPEN:
                del self._open[next(iter(self._open))]
            self._open[which] = dump
        return dump


def clip_item(clip: Any, *, only_changed: bool, kind: str | None, t: str) -> Clip:
    """The item of a clip, which stands at `DumpDataset`.

    `clip` has `patches`, `geometry`, `changed`, `index` and `size`, as a `Dump`. `kind`: of positions, `t`: what "thw"
    begins with.
    """
    return _item_of(clip, _plan_of(clip, only_changed=only_changed), kind=kind, t=t, lease=None)


def _plan_of(clip: Any, *, only_changed: bool) -> Plan:
    offsets = getattr(clip, "offsets", None)
    if offsets is None:
        tokens, reuse = plan_tokens(clip.geometry, clip.changed, only_changed=only_changed)
        return Plan(tokens, tokens // clip.changed.shape[1], reuse)
    most = clip.meta["patches"]  # so many as if the others were there, behind those that are
    there = np.arange(most) < np.diff(offsets)[:, None]
    geometry, changed = np.zeros((*there.shape, 4), np.float32), np.zeros(there.shape, bool)
    geometry[there], changed[there] = clip.geometry, clip.changed
    tokens, reuse = plan_tokens(geometry, changed, only_changed=only_changed)
    emission = tokens // most
    return Plan(offsets[emission] + tokens % most, emission, reuse)


def _joined(array: Array, axes: int) -> Array:
    """[T, N, ...] as [T x N, ...], where `axes` follow; what is joined already as it is."""
    flat: Array = array.reshape(-1, *array.shape[array.ndim - axes :])
    return flat


def _item_of(clip: Any, plan: Plan, *, kind: str | None, t: str, lease: Lease | None) -> Clip:
    index, (rows, emission, reuse) = clip.index, plan
    geometry = _rows(_joined(clip.geometry, 1), rows)
    patches = _joined(clip.patches, 3)
    item = Clip(
        {
            "patches": _patches(patches, rows, lease),
            "geometry": torch.from_numpy(geometry),
            "emission": torch.from_numpy(emission),
            "reuse": torch.from_numpy(reuse),
            "frame": torch.from_numpy(index["frame"].copy()),
            "pts_seconds": torch.from_numpy(index["pts_ns"] / 1e9),
            "fixation": torch.from_numpy(np.stack([index["fix_u"], index["fix_v"]], axis=-1)),
        }
    )
    if kind is not None:
        times = {"frame": index["frame"], "emission": np.arange(len(index)), "seconds": index["pts_ns"] / 1e9}
        where = positions(geometry, kind, size=clip.size, patch_size=patches.shape[-1], t=times[t][emission])
        item["positions"] = torch.from_numpy(where)
    return item


def _rows(flat: Array, tokens: Array, out: Array | None = None) -> Array:
    """Rows by their indices, in memory of their own."""
    if out is None:
        out = np.empty((len(tokens), *flat.shape[1:]), flat.dtype)
    if len(tokens) == len(flat):  # all, in their order
        out[:] = flat
    else:
        flat.take(tokens, axis=0, out=out, mode="clip")  # "raise" would gather in memory of its own first
    return out


def _patches(array: Array, tokens: Array, lease: Lease | None) -> torch.Tensor:
    if lease is not None:
        memory = lease.item((len(tokens), *array.shape[1:]), _TORCH[array.dtype.str])
        if memory is not None:
            _rows(array, tokens, memory.numpy())
            return memory
    return torch.from_numpy(_rows(array, tokens))


def _bytes_of(clip: Dump, tokens: int) -> int:
    """What a clip takes in a batch, more or less."""
    patches = clip.patches
    of_token = math.prod(patches.shape[-3:]) * patches.itemsize
    of_emission = clip.meta["patches"] * 8 + _SMALL_BYTES
    return int(tokens * (of_token + _SMALL_BYTES) + len(clip) * of_emission)


def _at_least_one(name: str, value: int) -> int:
    return _arguments.whole(value, "DumpDataset", name, 1, 1 << 40)


def _sources(dumps: Source | Iterable[Source]) -> list[Source]:
    if isinstance(dumps, Dump):
        return [dumps]
    if isinstance(dumps, (str, bytes, os.PathLike)):
        folder = Path(_arguments.path(dumps, "DumpDataset", "dumps"))
        below = (
            sorted(meta.parent for meta in folder.glob("*/meta.json")) if not (folder / "meta.json").exists() else []
        )
        return list(below) or [folder]
    if not isinstance(dumps, Iterable):
        raise TypeError(f"DumpDataset: dumps takes folders or Dumps, not {_arguments.shown(dumps)}")
    found = list(dumps)
    if not found:
        raise ValueError("DumpDataset: there is no dump")
    return found
