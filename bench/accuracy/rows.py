"""Rows of measurements: one JSON line each, kept by what was measured, so that a run goes on where it was stopped."""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Iterable
from typing import Any

KEY = ("task", "kind", "seed", "sampler", "budget", "count", "reader", "picture", "threshold")


def read_rows(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows so far; of those measured twice the later one."""
    if not path.exists():
        return []
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    return list({key_of(row): row for row in rows}.values())


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in KEY)


def append_row(path: pathlib.Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def write_csv(path: pathlib.Path, rows: Iterable[dict[str, Any]]) -> None:
    """The rows without the lists of each thing in them."""
    flat = [{name: value for name, value in row.items() if not isinstance(value, list)} for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(flat)
