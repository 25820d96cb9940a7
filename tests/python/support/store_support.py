"""Stores made by hand, as docs/SCALE.md describes them: by NumPy, tarfile and json, not by what readers come with."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

INDEX = np.dtype(
    [
        ("frame", "<i8"),
        ("pts_ns", "<i8"),
        ("fix_u", "<f4"),
        ("fix_v", "<f4"),
        ("in_flight", "|u1"),
        ("damaged_tiles", "<i4"),
    ]
)
SIZE = (96, 160)  # H, W of all videos
NAMES = ("patches", "geometry", "changed", "positions")
PLAN = "ab" * 32


def video(seed: int, emissions: int, patches: int = 6, side: int = 4) -> dict[str, np.ndarray]:
    """Arrays of a dump with random samples; the first two patches stay where they are and change at times."""
    rng = np.random.default_rng(seed)
    geometry = np.zeros((emissions, patches, 4), np.float32)
    cols = rng.integers(6, SIZE[1] // side, (emissions, patches))
    rows = rng.integers(0, SIZE[0] // side, (emissions, patches))
    cols[:, :2], rows[:, :2] = (3, 5), (7, 2)
    geometry[..., 0] = (cols + 0.5) * side / SIZE[1]
    geometry[..., 1] = (rows + 0.5) * side / SIZE[0]
    geometry[..., 3] = 1
    geometry[:, -1, 3] = 0  # outside
    changed = np.ones((emissions, patches), np.uint8)
    samples = rng.integers(0, 256, (emissions, patches, 3, side, side)).astype(np.uint8)
    changed[1:, :2] = rng.random((max(emissions - 1, 0), 2)) < 0.4
    for e, n in zip(*np.nonzero(changed == 0), strict=True):
        samples[e, n] = samples[e - 1, n]
    index = np.zeros(emissions, INDEX)
    index["frame"], index["pts_ns"] = np.arange(emissions) * 6, np.arange(emissions) * 250_000_000
    index["fix_u"], index["fix_v"] = rng.random((2, emissions))
    positions = np.stack([np.broadcast_to(index["frame"][:, None], cols.shape), rows, cols, geometry[..., 2]], -1)
    return {"index": index, "patches": samples, "geometry": geometry, "changed": changed,
            "positions": positions.astype(np.float32)}  # fmt: skip


def npy(array: np.ndarray) -> bytes:
    """An .npy file with a header of 256 bytes."""
    text = (
        f"{{'descr': {np.lib.format.dtype_to_descr(array.dtype)!r}, 'fortran_order': False, 'shape': {array.shape}, }}"
    )
    head = text.ljust(256 - 10 - 1).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + array.tobytes()


def members_of(key: str, arrays: dict[str, np.ndarray], schema: int) -> dict[str, bytes]:
    """A video's members, in their order; schema 1 is the earlier form."""
    extra: Any = {"caption": f"of {key}"}
    index, index_name = arrays["index"], "index.npy" if schema == 1 else "index.bin"
    facts = {"key": key, "uri": f"/videos/{key}.mp4", "extra": extra if schema == 1 else json.dumps(extra),
             "schema": schema, "video": {"height_px": SIZE[0], "width_px": SIZE[1]}}  # fmt: skip
    fields = {} if schema == 1 else {f"{name}.npy": npy(index[name].copy()) for name in INDEX.names or ()}
    return {"json": json.dumps(facts).encode(), index_name: npy(index), **fields,
            **{f"{name}.npy": npy(arrays[name]) for name in NAMES}}  # fmt: skip


class HandMade:
    """A store that is filled unit by unit."""

    def __init__(self, path: Path, units: int, schema: int = 2) -> None:
        self.path, self.keys, self.arrays, self.schema = path, [], {}, schema
        (path / "plan").mkdir(parents=True)
        for folder in ("shards", "index", "quarantine", "commits"):
            (path / folder).mkdir()
        facts = {"format": "saccade-plan", "schema": 1, "saccade": "0", "hash": PLAN, "units": units, "options": {}}
        (path / "plan/plan.json").write_text(json.dumps(facts))

    def unit(self, number: int, videos: dict[str, dict[str, np.ndarray]], damaged: tuple[str, ...] = ()) -> None:
        """Write a unit's shard, index part and marker."""
        tar, where = io.BytesIO(), {}
        with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for key, arrays in videos.items():
                where[key] = {}
                for kind, content in members_of(key, arrays, self.schema).items():
                    member = tarfile.TarInfo(f"{key}.{kind}")
                    member.size = len(content)
                    at = tar.tell() + 512
                    archive.addfile(member, io.BytesIO(content))
                    where[key][kind] = {
                        "offset": at,
                        "bytes": len(content),
                        "sha256": hashlib.sha256(content).hexdigest(),
                    }
        unit, shard = f"{number:08}", self._file("shards", f"{number:08}", "tar", tar.getvalue()[: tar.tell()])
        lines = [
            {"key": key, "uri": f"/videos/{key}.mp4", "start": 0, "end": None, "stream": None, "row": number,
             "piece": 0, "pieces": 1, "media_s": 1.5, "extra": {"caption": f"of {key}"}, "unit": unit,
             "shard": shard["name"],
             "damaged": key in damaged, "damage": "", "emissions": len(arrays["index"]), "frames": 9, "seconds": 1.25,
             "patches": arrays["patches"].shape[1], "patch_size": 4, "dtype": "u8", "width_px": SIZE[1],
             "height_px": SIZE[0], "members": where[key]}
            for key, arrays in videos.items()
        ]  # fmt: skip
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        part = self._file("index", unit, "jsonl", text.encode())
        marker = {"format": "saccade-commit", "schema": 1, "plan": PLAN, "unit": unit, "items": len(videos),
                  "done": len(videos) - len(damaged), "damaged": len(damaged), "quarantined": 0, "shard": shard,
                  "index": part, "quarantine": None}  # fmt: skip
        (self.path / "commits" / f"{unit}.json").write_text(json.dumps(marker))
        self.keys += videos
        self.arrays.update(videos)

    def _file(self, folder: str, unit: str, suffix: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        name = f"{folder}/{unit}.{digest[:12]}.{suffix}"
        (self.path / name).write_bytes(content)
        return {"name": name, "bytes": len(content), "sha256": digest}


def small_store(path: Path, units: int = 4, videos: int = 5, schema: int = 2) -> HandMade:
    """Videos of 1 to 23 emissions in some units; one is damaged, and one has no emission."""
    made = HandMade(path, units, schema)
    lengths = np.random.default_rng(5).integers(1, 24, (units, videos))
    lengths[0, 1] = 0
    for u in range(units):
        group = {f"k{u}-{v}": video(100 * u + v, int(lengths[u, v])) for v in range(videos)}
        made.unit(u, group, damaged=("k1-2",) if u == 1 else ())
    return made
