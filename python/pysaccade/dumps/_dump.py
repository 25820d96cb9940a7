"""`Dump`: the arrays of a folder that `saccade dump` wrote."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, overload

import numpy as np

from pysaccade._native import _arguments, _display
from pysaccade._native._errors import InputError
from pysaccade.dumps._npy import NpyFile, read_header
from pysaccade.emission._emission import Emission, Triple, pointer_of

_FORMAT = "saccade-dump"
_SCHEMA = 1  # the newest that is known here
_DTYPES = {"u8": "|u1", "f16": "<f2", "f32": "<f4"}
INDEX_DTYPE = np.dtype(
    [
        ("frame", "<i8"),
        ("pts_ns", "<i8"),
        ("fix_u", "<f4"),
        ("fix_v", "<f4"),
        ("in_flight", "|u1"),
        ("damaged_tiles", "<i4"),
    ]
)
_OF_PATCHES = ("patches", "geometry", "changed")
_LIVE = np.dtype([("captured_unix_ns", "<i8"), ("age_ns", "<i8"), ("gaps", "<i4")])


class Dump:
    """A dump on disk: E emissions of N patches each, memory-mapped. Needs NumPy alone.

    A compact dump (`saccade dump --compact`) lacks the patches outside the frame: its emissions have N or fewer.

    `d[i]` is an `Emission`, `d[a:b]` a Dump of those emissions, `d.at(seconds)` what a model holds at that time.
    Opening reads two JSON files and the arrays' headers; samples are read from disk when they are used. No file is kept
    open. Arrays are read-only and outlive the Dump. It pickles as its path, and opens again where it is unpickled.

    Args:
        path: The folder that `saccade dump` or `pysaccade.dump` wrote.
        require_complete: Refuse a dump whose run was cut short or still goes on, or whose arrays were. False gives the
            emissions that all arrays hold.

    Raises:
        InputError: There is no dump, it is damaged, or it is incomplete.
    """

    def __init__(self, path: str | os.PathLike[str], *, require_complete: bool = True) -> None:
        self._path = Path(_arguments.path(path, "Dump"))
        self._absolute = self._path.absolute()  # also where it is unpickled, in another folder
        self._require_complete = bool(require_complete)
        self._rows: slice | None = None
        self._open()

    def _open(self) -> None:
        self._meta = _read_meta(self._path)
        facts = self._facts = _Facts(self._path, self._meta)
        of_row = () if facts.compact else (facts.patches,)  # a row is a patch, or an emission
        files = {
            "patches": (facts.dtype, (*of_row, 3, facts.patch_size, facts.patch_size)),
            "geometry": (np.dtype("<f4"), (*of_row, 4)),
            "changed": (np.dtype("|u1"), of_row),
            "index": (INDEX_DTYPE, ()),
        }
        if facts.live:
            files["live"] = (_LIVE, ())
        if (self._path / "pointer.npy").exists():
            files["pointer"] = (np.dtype("<f4"), (2,))
        if facts.compact:
            files["offsets"] = (np.dtype("<i8"), ())
        headers = {name: read_header(self._path / f"{name}.npy", *what) for name, what in files.items()}
        self._manifest: dict[str, Any] | None = None
        try:
            self._manifest = _read_manifest(self._path)
            rows = _promised_rows(self._path, headers, self._manifest)
        except InputError:
            if self._require_complete:
                raise
            self._manifest = None
            rows = _rows_there(headers)
        arrays = {name: header.map(rows[name]) for name, header in headers.items()}
        arrays["changed"] = arrays["changed"].view(np.bool_)
        offsets = arrays.pop("offsets", None)
        self._ragged: dict[str, np.ndarray[Any, Any]] | None = None
        if offsets is not None:
            _check_offsets(headers["offsets"].path, offsets, facts.patches)
            self._ragged = {name: arrays.pop(name) for name in _OF_PATCHES}
            arrays["bounds"] = np.stack([offsets[:-1], offsets[1:]], axis=1)
        if self._rows is not None:
            arrays = {name: array[self._rows] for name, array in arrays.items()}
        self._arrays = arrays
        self._pts_seconds: np.ndarray[Any, np.dtype[np.float64]] | None = None

    @property
    def path(self) -> Path:
        """The dump's folder."""
        return self._path

    @property
    def meta(self) -> dict[str, Any]:
        """meta.json: the input, its facts, every option in force."""
        return self._meta

    @property
    def manifest(self) -> dict[str, Any] | None:
        """manifest.json: counts, drops, errors, times; None: the dump is incomplete."""
        return self._manifest

    @property
    def is_whole(self) -> bool:
        """All emissions of the folder are in it; False: it is a part, d[a:b]."""
        return self._rows is None

    @property
    def complete(self) -> bool:
        """The run came to its end."""
        return self._manifest is not None

    @property
    def patches(self) -> np.ndarray[Any, Any]:
        """[E, N, 3, S, S] u8, f16 or f32: R'G'B' samples. Of a compact dump [K, 3, S, S]: see `offsets`."""
        return self._of_patches("patches")

    @property
    def geometry(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """[E, N, 4] f32: the centre's u and v, lod, coverage. Of a compact dump [K, 4]."""
        return self._of_patches("geometry")

    @property
    def changed(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """[E, N] bool: False where these are the very bytes that were last emitted at this place. Compact: [K]."""
        return self._of_patches("changed")

    @property
    def offsets(self) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        """[E + 1] i64 of a compact dump: emission e has rows offsets[e] to offsets[e + 1] of the three above.

        None: it is not compact.
        """
        if self._ragged is None:
            return None
        begins, ends = self._arrays["bounds"].T
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)])

    @property
    def index(self) -> np.ndarray[Any, Any]:
        """[E] of frame i8, pts_ns i8, fix_u f4, fix_v f4, in_flight u1, damaged_tiles i4."""
        return self._arrays["index"]

    @property
    def live(self) -> np.ndarray[Any, Any] | None:
        """[E] of captured_unix_ns i8, age_ns i8, gaps i4; None: the source was not live."""
        return self._arrays.get("live")

    @property
    def pointer(self) -> np.ndarray[Any, np.dtype[np.float32]] | None:
        """[E, 2] f32: u, v of what a screen's pointer points at, NaN where it is outside the frame.

        None: the source was not a screen.
        """
        return self._arrays.get("pointer")

    @property
    def pts_seconds(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """[E] f64: presentation times in seconds."""
        if self._pts_seconds is None:
            self._pts_seconds = self._arrays["index"]["pts_ns"] / 1e9
        return self._pts_seconds

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the frame as displayed, in pixels."""
        return self._facts.size

    def __len__(self) -> int:
        """E, the number of emissions."""
        return len(self._arrays["index"])

    @overload
    def __getitem__(self, key: int) -> Emission: ...
    @overload
    def __getitem__(self, key: slice) -> Dump: ...
    def __getitem__(self, key: int | slice) -> Emission | Dump:
        """d[i]: an emission, negative i from the end; d[a:b]: a Dump of these emissions, which shares the memory."""
        if isinstance(key, slice):
            return self._part(key)
        try:
            i = operator.index(key)
        except TypeError:
            raise TypeError(
                f"a Dump is indexed by integers and slices, not by {type(key).__name__}; see at()"
            ) from None
        count = len(self)
        if not -count <= i < count:
            raise IndexError(f"{self._path}: emission {i} of {count}")
        return self._emission(i % count)

    def __iter__(self) -> Iterator[Emission]:
        return (self._emission(i) for i in range(len(self)))

    def at(self, seconds: float) -> Emission:
        """What a model holds at this time: the last emission that was not later.

        Args:
            seconds: Presentation time, as `Emission.pts_seconds`.

        Raises:
            ValueError: It is before the first emission, or not a number.
        """
        seconds = _arguments.number(seconds, "Dump.at", "seconds")
        i = int(np.searchsorted(self.pts_seconds, seconds, side="right")) - 1
        if i < 0 or math.isnan(seconds):
            first = f"the first emission is at {self.pts_seconds[0]:.3f} s" if len(self) else "there is no emission"
            raise ValueError(f"{self._path}: at({seconds}): {first}")
        return self._emission(i)

    def __repr__(self) -> str:
        facts = self._facts
        state = "" if self.complete else ", incomplete"
        count = f"at most {facts.patches}" if facts.compact else f"{facts.patches}"
        return (
            f"Dump({str(self._path)!r}: {len(self)} emissions x {count} patches "
            f"[3x{facts.patch_size}x{facts.patch_size}] {facts.dtype} of {self._meta['input']['name']}{state})"
        )

    def _repr_html_(self) -> str:
        """A few facts and a short film, for a notebook."""
        import html

        film = _display.show(self, width=320, most=24)._img_tag() if len(self) else ""
        return f"<p><code>{html.escape(repr(self))}</code></p>{film}"

    def __getstate__(self) -> dict[str, Any]:
        """Pickle as the path: arrays stay on disk."""
        where = {"_path": self._absolute, "_absolute": self._absolute}
        return {**where, "_require_complete": self._require_complete, "_rows": self._rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._open()

    def _part(self, key: slice) -> Dump:
        if key.step is not None and operator.index(key.step) < 1:
            raise ValueError(f"d[a:b:{key.step}]: time rises in a Dump; the step must be 1 or more")
        begin, end, step = key.indices(len(self))
        part = object.__new__(Dump)
        part.__dict__.update(self.__dict__)
        before = self._rows or slice(0, len(self), 1)
        part._rows = slice(
            before.start + begin * before.step, before.start + max(begin, end) * before.step, step * before.step
        )
        part._arrays = {name: array[begin:end:step] for name, array in self._arrays.items()}
        part._pts_seconds = None
        return part

    def _of_patches(self, name: str) -> np.ndarray[Any, Any]:
        if self._ragged is None:
            return self._arrays[name]
        bounds, rows = self._arrays["bounds"], self._ragged[name]
        if len(bounds) and (bounds[1:, 0] == bounds[:-1, 1]).all():
            return rows[bounds[0, 0] : bounds[-1, 1]]
        parts = [rows[begin:end] for begin, end in bounds]  # of a part with a step: a copy
        return np.concatenate(parts) if parts else rows[:0]

    def _emission(self, i: int) -> Emission:
        arrays, facts = self._arrays, self._facts
        if self._ragged is None:
            patches, geometry, changed = (arrays[name][i] for name in _OF_PATCHES)
        else:
            begin, end = arrays["bounds"][i]
            patches, geometry, changed = (self._ragged[name][begin:end] for name in _OF_PATCHES)
        frame, pts_ns, fix_u, fix_v, in_flight, damaged_tiles = arrays["index"][i].item()
        live = arrays.get("live")
        captured_ns, age_ns, gaps = (0, 0, 0) if live is None else live[i].item()
        pointer = arrays.get("pointer")
        return Emission(
            patches=patches,
            geometry=geometry,
            changed=changed,
            frame=frame,
            pts_ns=pts_ns,
            fixation=(fix_u, fix_v),
            size=facts.size,
            in_flight=bool(in_flight),
            damaged_tiles=damaged_tiles,
            gaps=gaps,
            captured_unix_ns=captured_ns,
            age_seconds=age_ns / 1e9,
            pointer=None if pointer is None else pointer_of(*pointer[i].tolist()),
            sar=facts.sar,
            mean=facts.mean,
            std=facts.std,
        )


class _Facts:
    """What of meta.json the arrays' shapes and meaning need."""

    def __init__(self, folder: Path, meta: dict[str, Any]) -> None:
        try:
            stream = meta["stream"]
            self.size = (int(stream["height_px"]), int(stream["width_px"]))
            self.sar = float(stream["sar"])
            self.live = bool(stream["live"])
            self.compact = bool(meta.get("compact", False))
            self.patches, self.patch_size = int(meta["patches"]), int(meta["patch_size"])
            self.dtype = np.dtype(_DTYPES[meta["dtype"]])
            self.mean, self.std = _triple(meta["mean"]), _triple(meta["std"])
            str(meta["input"]["name"])
        except (KeyError, TypeError, ValueError) as error:
            what = f"{error} is missing or wrong" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{folder}/meta.json: damaged: {what}; dump the video again") from None
        if min(*self.size, self.patches, self.patch_size) < 1 or not self.sar > 0:
            raise InputError(f"{folder}/meta.json: damaged: a size in it is not above 0; dump the video again")


def _triple(values: Any) -> Triple:
    first, second, third = (float(value) for value in values)
    return first, second, third


def _read_json(path: Path) -> Any:
    """The content; FileNotFoundError where there is no such file."""
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged: {error}; dump the video again") from None


def _read_meta(folder: Path) -> dict[str, Any]:
    try:
        meta = _read_json(folder / "meta.json")
    except FileNotFoundError:
        raise InputError(_why_no_dump(folder)) from None
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        raise InputError(f"{folder}/meta.json: not of a dump; give a folder that `saccade dump` wrote")
    if not isinstance(meta.get("schema"), int) or meta["schema"] > _SCHEMA:
        raise InputError(
            f"{folder}: schema {meta.get('schema')} is newer than this pysaccade knows ({_SCHEMA}); upgrade pysaccade"
        )
    return meta


def _why_no_dump(folder: Path) -> str:
    advice = "give a folder that `saccade dump` wrote"
    if not folder.exists():
        return f"{folder}: no such folder; {advice}"
    if not folder.is_dir():
        return f"{folder}: a file; {advice}"
    below = sorted(meta.parent.name for meta in folder.glob("*/meta.json"))
    if below:
        return f"{folder}: holds {len(below)} dumps below it; open one of them, such as {folder / below[0]}"
    return f"{folder}: no meta.json in it; {advice}"


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a dump that is complete."""
    try:
        manifest = _read_json(folder / "manifest.json")
    except FileNotFoundError:
        manifest = {"complete": False}
    if isinstance(manifest, dict) and manifest.get("complete") is False:
        raise InputError(
            f"{folder}: the dump is incomplete: its run was cut short or still goes on; "
            "pass require_complete=False for what is there, or dump the video again"
        )
    if (
        not isinstance(manifest, dict)
        or manifest.get("format") != _FORMAT
        or type(manifest.get("emissions")) is not int
    ):
        raise InputError(f"{folder}/manifest.json: damaged: not of a dump; dump the video again")
    return manifest


def _promised_rows(folder: Path, headers: dict[str, NpyFile], manifest: dict[str, Any]) -> dict[str, int]:
    """Rows of each array, on which the manifest and all arrays agree."""
    emissions: int = manifest["emissions"]
    rows = dict.fromkeys(headers, emissions)
    for name, header in headers.items():
        if header.rows_there < header.rows:
            unit = "patches" if "offsets" in headers and name in _OF_PATCHES else "emissions"
            there = f"{header.rows_there} of {header.rows} {unit}"
            raise InputError(f"{header.path}: cut short: {there}; dump the video again")
    promise = f"{folder}/manifest.json promises {emissions}"
    if "offsets" in headers:
        offsets = headers["offsets"]
        rows["offsets"] = emissions + 1
        if offsets.rows != emissions + 1:
            raise InputError(f"{offsets.path}: {offsets.rows - 1} emissions where {promise}; dump the video again")
        rows.update(dict.fromkeys(_OF_PATCHES, int(offsets.map(emissions + 1)[-1])))
    for name, header in headers.items():
        if header.rows != rows[name] and rows[name] == emissions:
            raise InputError(f"{header.path}: {header.rows} emissions where {promise}; dump the video again")
        if header.rows != rows[name]:
            promise = f"{folder}/offsets.npy promises {rows[name]}"
            raise InputError(f"{header.path}: {header.rows} patches where {promise}; dump the video again")
    return rows


def _rows_there(headers: dict[str, NpyFile]) -> dict[str, int]:
    """Rows of each array of a run that was cut short: those that all arrays hold."""
    there = {name: min(header.rows, header.rows_there) for name, header in headers.items()}
    if "offsets" not in headers:
        return dict.fromkeys(headers, min(there.values()))
    emissions = min(rows - (name == "offsets") for name, rows in there.items() if name not in _OF_PATCHES)
    offsets = headers["offsets"].map(max(emissions, 0) + 1) if there["offsets"] else np.zeros(1, np.int64)
    patches = min(there[name] for name in _OF_PATCHES)
    emissions = max(int(np.searchsorted(offsets, patches, side="right")) - 1, 0)
    rows = dict.fromkeys(headers, emissions) | dict.fromkeys(_OF_PATCHES, int(offsets[emissions]))
    return rows | {"offsets": min(emissions + 1, there["offsets"])}


def _check_offsets(path: Path, offsets: np.ndarray[Any, Any], most: int) -> None:
    counts = np.diff(offsets)
    if offsets[:1].any() or (counts < 0).any() or (counts > most).any():
        raise InputError(f"{path}: damaged: it doesn't rise from 0 by at most {most}; dump the video again")
