"""`Patches`: a stage of Ray Data from rows of videos to rows of patches, which no video can kill."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import UnavailableError
from pysaccade._native._library import program
from pysaccade.dumps._program import command_line
from pysaccade.many._catalog import lines_of, marker_name
from pysaccade.many._do_unit import UnitWork, do_unit
from pysaccade.many._native_work import UNAVAILABLE, USAGE
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import LocalStore
from pysaccade.many._video import Shards, Video, extent

_ATTEMPTS = 3
_MANY = 40  # videos
_LOG = logging.getLogger("pysaccade")
_COLUMNS = ("uri", "start", "end", "stream", "duration")


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
    that don't take the options are such rows, too; where none of its first 40 videos could be used it logs a warning.
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
        self._given = {name[2:]: value for name, _, value in (option.partition("=") for option in self._options)}
        self._used, self._given_up = False, 0

    def __call__(self, batch: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """A batch of videos to batches of emissions, one a video."""
        rows = [{name: _plain(column[i]) for name, column in batch.items()} for i in range(len(batch["uri"]))]
        with Scratch(self._scratch) as folder:
            faults = self._plan(rows, folder)
            for i, fault in faults.items():
                yield _batch(rows[i], str(rows[i].get("key") or ""), None, "input", self._noted(fault), self._given)
            rows = [row for i, row in enumerate(rows) if i not in faults]
            if not rows:
                return
            plan = Plan(LocalStore(folder / "store"))
            _tell_that_options_suit(plan)
            for unit in plan.units:
                yield from self._rows_of(plan, unit, self._do(plan, unit, folder), rows)

    def _do(self, plan: Plan, unit: Unit, folder: Path) -> dict[str, Any]:
        """The unit's marker. The program itself may be killed, by whoever frees memory: then it runs again."""
        gone = ",".join(item["key"] for item in plan.items(unit))  # a missing one is a row, whatever its folder holds
        for attempt in range(_ATTEMPTS):
            work = UnitWork(plan, unit, folder, engine="patches", input_options=self._storage_options,
                            arguments=["--jobs", str(self._jobs), "--gone", gone])  # fmt: skip
            outcome = do_unit(work)
            if outcome.marker is not None:
                self._used |= outcome.marker["done"] + outcome.marker["damaged"] > 0
                return outcome.marker
            if outcome.code >= 0 or attempt + 1 == _ATTEMPTS:
                break
        raise _failure(outcome.code, outcome.line)

    def _plan(self, rows: list[dict[str, Any]], folder: Path) -> dict[int, str]:
        """Freeze what is to be done. Gives the numbers of rows that no plan takes, and why: they are left out."""
        manifest = folder / "rows.jsonl"
        lines = {
            i: {**{name: row[name] for name in _COLUMNS if row.get(name) is not None}, "key": f"row{i}"}
            for i, row in enumerate(rows)
        }
        faults: dict[int, str] = {}
        command = [str(program()), "plan", str(manifest), "-o", str(folder / "store"), *self._options]
        while lines:
            manifest.write_text("".join(json.dumps(line) + "\n" for line in lines.values()))
            done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            if done.returncode == 0:
                break
            said = done.stderr.strip().removeprefix("saccade: ")
            of_row = re.match(re.escape(str(manifest)) + r":(\d+): (.*)", said)
            if of_row is None:
                raise _failure(done.returncode, said)
            row = list(lines)[int(of_row[1]) - 1]
            faults[row] = of_row[2]
            del lines[row]
        return faults

    def _noted(self, fault: str) -> str:
        """Count a video that was given up; warns once where there was never another kind."""
        self._given_up += 1
        if self._given_up == _MANY and not self._used:
            _LOG.warning("Patches: none of the first %d videos could be used; are the options right? %s", _MANY, fault)
        return fault

    def _rows_of(
        self, plan: Plan, unit: Unit, marker: dict[str, Any], rows: list[dict[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        store = plan.store
        shards = Shards(store)
        keys = {item["key"]: _key(rows[item["row"]], item) for item in plan.items(unit)}
        for line in lines_of(store, plan.hash, [marker_name(marker["unit"])]):
            video = shards.video(line["shard"], *extent(line))
            status = "damaged" if line["damaged"] else "done"
            yield _batch(rows[line["row"]], keys[line["key"]], video, status, line["damage"], self._given)
        if marker["quarantine"] is not None:
            for text in store.read(marker["quarantine"]["name"]).splitlines():
                line = json.loads(text)
                fault = line["line"]
                for file in ("plan.json", "items.jsonl"):
                    fault = fault.replace(f"{store}/plan/{file}: ", "")
                fault = self._noted(fault)
                yield _batch(rows[line["row"]], keys[line["key"]], None, line["class"], fault, self._given)


def _tell_that_options_suit(plan: Plan) -> None:
    """As a video of another unit would that is done: then the program gives up those alone that don't take them."""
    plan.store.create("commits/elsewhere.json", json.dumps({"plan": plan.hash, "done": 1, "damaged": 0}).encode())


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
