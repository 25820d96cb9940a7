"""`Patches`: a stage of Ray Data from rows of videos to rows of patches, which no video can kill."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import UnavailableError
from pysaccade.dumps._program import command_line
from pysaccade.many._catalog import commits_of, facts_of, lines_of, markers_of
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import LocalStore
from pysaccade.many._video import Shards, Video, extent
from pysaccade.on_ray._child import DONE, PARTIAL, UNAVAILABLE, USAGE, environment, run

_ATTEMPTS = 3
_MANY = 40  # videos
_REFUSED = "no video takes the plan's options"
_LOG = logging.getLogger("pysaccade")
_COLUMNS = ("uri", "start", "end", "stream", "duration")


class _RefusedError(Exception):
    """Some videos of a batch refuse the options, and none that was tried takes them."""


class Patches:
    """Rows of videos become rows of patches, for `Dataset.map_batches`; see `map_patches`, which calls it safely.

    A row of the input has `uri`, and may have `start`, `end`, `stream`, `duration`, `key`; other columns are carried
    through. Each emission becomes a row:

    | column | |
    |---|---|
    | patches | [N, 3, S, S] |
    | geometry, positions | [N, 4] f32: u, v, lod, coverage; t, h, w, level |
    | changed | [N] bool |
    | key, emission, frame, pts_seconds | whose, and which; `key` as a plan has it, "" where no plan takes the row |
    | status | "done", "damaged", or why a video was given up: "input", "missing", "io" ... (docs/SCALE.md) |
    | error | what is wrong, else "" |

    A video that was given up is one row without patches (N = 0). Decoding runs in processes of its own, with the
    time-outs and retries of `saccade work`: this actor never dies of a video. It sees its own batches alone, so videos
    that don't take the options are such rows, too. If none of its first 40 videos could be used it logs a warning.
    ValueError: the options are wrong whatever the video.

    Args:
        jobs: Videos that are decoded side by side.
        scratch: A folder of the node for what is being worked on.
        storage_options: Of fsspec's file system, where videos lie in buckets.
        **options: Of `saccade plan`, with underscores: `every="frame"`, `tokens=200`.
    """

    def __init__(
        self,
        *,
        jobs: int = 1,
        scratch: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._jobs, self._scratch, self._storage_options = jobs, scratch, dict(storage_options or {})
        self._options = command_line(options)
        given = (option.removeprefix("--set=").partition("=") for option in self._options)
        self._given = {name: value for name, _, value in given}
        self._used, self._given_up = False, 0

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A batch of videos to batches of emissions, one a video."""
        rows = [{name: _plain(column[i]) for name, column in batch.items()} for i in range(len(batch["uri"]))]
        yield from self._batches(rows)

    def _batches(self, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        with Scratch(self._scratch) as folder:
            try:
                faults = self._plan(rows, folder)
            except _RefusedError as refused:  # by eight of them; halves tell which of the others take the options
                if len(rows) == 1:
                    yield self._bad(rows[0], str(rows[0].get("key") or ""), "options", str(refused))
                else:
                    for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
                        yield from self._batches(half)
                return
            for i, fault in faults.items():
                yield self._bad(rows[i], str(rows[i].get("key") or ""), "input", fault)
            rows = [row for i, row in enumerate(rows) if i not in faults]
            if rows:
                self._work(folder)
                yield from self._results(LocalStore(folder / "store"), rows)

    def _work(self, folder: Path) -> None:
        """Do the plan. The program itself may be killed, by whoever frees memory: then it runs again."""
        # --gone: a missing video is a row, whatever its folder holds
        command = ["work", "store", "--jobs", str(self._jobs), "--set", "engine=patches", "--progress", "none",
                   "--max-bad", "100", "--gone", "all"]  # fmt: skip
        for _ in range(_ATTEMPTS):
            ended = run(command, environment(self._storage_options, self._scratch), folder)
            if ended.code in (DONE, PARTIAL):
                return
            if ended.code >= 0:
                break
        raise _failure(ended.code, ended.why)

    def _plan(self, rows: list[dict[str, Any]], folder: Path) -> dict[int, str]:
        """Freeze what is to be done. Gives the numbers of rows that no plan takes, and why: they are left out."""
        manifest = folder / "rows.jsonl"
        lines = {
            i: {**{name: row[name] for name in _COLUMNS if row.get(name) is not None}, "key": f"row{i}"}
            for i, row in enumerate(rows)
        }
        faults: dict[int, str] = {}
        while lines:
            manifest.write_text("".join(json.dumps(line) + "\n" for line in lines.values()))
            command = ["plan", str(manifest), "-o", str(folder / "store"), *self._options]
            ended = run(command, environment(self._storage_options, self._scratch))
            if ended.code == DONE:
                break
            of_row = re.match(re.escape(str(manifest)) + r":(\d+): (.*)", ended.line)
            if of_row is None and ended.code == USAGE and ended.line.endswith(_REFUSED):
                raise _RefusedError(ended.line)
            if of_row is None:
                raise _failure(ended.code, ended.why)
            row = list(lines)[int(of_row[1]) - 1]
            faults[row] = of_row[2]
            del lines[row]
        return faults

    def _bad(self, row: dict[str, Any], key: str, status: str, error: str) -> dict[str, Any]:
        """The row of a video that was given up; warns once if there was never another kind."""
        self._given_up += 1
        if self._given_up == _MANY and not self._used:
            _LOG.warning("Patches: none of the first %d videos could be used; are the options right? %s", _MANY, error)
        return _batch(row, key, None, status, error, self._given)

    def _results(self, store: LocalStore, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        shards, plan = Shards(store), facts_of(store)["hash"]
        items = (json.loads(line) for line in store.read("plan/items.jsonl").splitlines())
        keys = {item["key"]: _key(rows[item["row"]], item) for item in items}
        commits = sorted(commits_of(store).values())
        for line in lines_of(store, plan, commits):
            self._used = True
            video = shards.video(line["shard"], *extent(line))
            status = "damaged" if line["damaged"] else "done"
            yield _batch(rows[line["row"]], keys[line["key"]], video, status, line["damage"], self._given)
        parts = [marker["quarantine"] for marker in markers_of(store, plan, commits)]
        for text in (text for part in parts if part for text in store.read(part["name"]).splitlines()):
            line = json.loads(text)
            yield self._bad(rows[line["row"]], keys[line["key"]], line["class"], line["line"])


_DTYPES = {"u8": np.uint8, "f16": np.float16, "f32": np.float32}


def _batch(
    row: dict[str, Any], key: str, video: Video | None, status: str, error: str, options: Mapping[str, str]
) -> dict[str, Any]:
    """The rows of a video's emissions; of one that was given up, or has none, a row without patches."""
    found: dict[str, Any]
    if video is None or len(video.index) == 0:
        side = int(options.get("patch-size", "16"))
        empty = np.zeros((1, 0, 3, side, side), _DTYPES[options.get("dtype", "u8")])
        found = {"patches": empty, "geometry": np.zeros((1, 0, 4), np.float32),
                 "positions": np.zeros((1, 0, 4), np.float32), "changed": np.zeros((1, 0), bool),
                 "emission": np.array([-1]), "frame": np.array([-1]), "pts_seconds": np.array([-1.0])}  # fmt: skip
    else:
        index = video.index
        # Copies: the shard is removed when the batch is done.
        found = {name: np.array(getattr(video, name)) for name in ("patches", "geometry", "positions", "changed")}
        found |= {
            "emission": np.arange(len(index)),
            "frame": index["frame"].copy(),
            "pts_seconds": index["pts_ns"] / 1e9,
        }
    count = len(found["emission"])
    carried = {name: value for name, value in row.items() if name not in (*_COLUMNS[1:], "key")}
    labels = {**carried, "key": key, "status": status, "error": error}
    return found | {name: np.array([value] * count) for name, value in labels.items()}


def _key(row: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """The key that a plan of `row` as it came gives this item of it; here all rows have keys of ours.

    item: a line of items.jsonl, whose URI is a whole path, and whose numbers are read.
    """
    given = row.get("key")
    if given is None or not str(given).strip():
        return default_key(item)
    return f"{str(given).strip()}-{item['piece']:05}" if item["pieces"] > 1 else str(given).strip()


def default_key(item: Mapping[str, Any]) -> str:
    """The key of an item without a given one, as `saccade plan` makes it. item: a line of items.jsonl."""
    texts = [item["uri"], _decimal(item["start"]), "" if item["end"] is None else _decimal(item["end"])]
    texts.append("" if item["stream"] is None else str(item["stream"]))
    return hashlib.sha256("|".join(texts).encode()).hexdigest()[:20]


def _decimal(seconds: float) -> str:
    ns = round(seconds * 1e9)
    return f"{ns // 10**9}.{ns % 10**9:09}".rstrip("0").rstrip(".")


def _plain(value: Any) -> Any:
    """A cell of a batch as JSON has it."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    return None if isinstance(value, float) and np.isnan(value) else value


def _failure(code: int, line: str) -> Exception:
    kind = {USAGE: ValueError, UNAVAILABLE: UnavailableError}.get(code, OSError)
    return kind(f"Patches: {line or f'saccade ended with {code}'}")
