"""Accuracy for each token, measured: python bench/accuracy TASK --out DIR

Tasks: reading, until, looking, finding, fidelity, plots, seen; `claim` is the short form of reading that
examples/read_better.py runs.
What was measured stays in DIR/rows.jsonl, and a run goes on where it was stopped. docs/ACCURACY.md has the results.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import fidelity
import finding
import looking
import ocr
import plots
import reading
import seen
import until
from claim import numbers, show
from table import append_row, key_of, read_rows, write_csv

TASKS = ("reading", "until", "looking", "finding", "fidelity", "plots", "seen", "claim")


def measure(out: pathlib.Path, rows: list[dict[str, Any]], run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Run what is not yet in the table, and write it as CSV."""
    path = out / "rows.jsonl"
    done = {key_of(row) for row in read_rows(path)}
    for row in rows:
        if key_of(row) in done:
            continue
        measured = row | run(row)
        append_row(path, measured)
        shown = ", ".join(f"{k} {v:.3g}" for k, v in measured.items() if isinstance(v, float))
        print(f"{row['task']} {row['kind']} {row['seed']} {row['sampler']} {row['budget']}: {shown}", flush=True)
    write_csv(out / "rows.csv", read_rows(path))


def rows_of(arguments: argparse.Namespace, kinds: list[str], reader: str | None = None) -> list[dict[str, Any]]:
    """One for each scene, sampler and budget; all pixels are one budget."""
    asked = itertools.product(arguments.kinds.split(",") if arguments.kinds else kinds, numbers(arguments.seeds))
    rows = []
    for kind, seed in asked:
        for sampler in arguments.samplers.split(","):
            for budget in [0] if sampler == "full" else numbers(arguments.budgets):
                row = {"task": arguments.task, "kind": kind, "seed": seed, "sampler": sampler, "budget": budget}
                kept = {} if arguments.picture == "second" else {"picture": arguments.picture}
                rows.append(row | kept | ({"reader": reader} if reader else {}))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/accuracy"))
    parser.add_argument("--kinds", help="of scenes, joined by commas (fidelity: clips)")
    parser.add_argument("--seeds", default="1-3", help="1,2,5-8")
    parser.add_argument("--samplers", default="full,nested,uniform")
    parser.add_argument("--budgets", default="140,273")
    parser.add_argument("--reader", choices=("tesseract", "rapidocr"), default="tesseract")
    parser.add_argument("--count", type=int, default=30, help="words of a scene (claim: 6)")
    words = "what of the patches is put together: those of a second, the last emission's alone, or with memory"
    parser.add_argument("--picture", choices=("second", "last", "memory"), default="second", help=words)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.task == "reading":
        print(ocr.version(arguments.reader))
        measure(
            arguments.out,
            rows_of(arguments, ["popup"], arguments.reader),
            lambda row: reading.run(row, arguments.count),
        )
    elif arguments.task == "until":
        rows = rows_of(arguments, ["popup"], arguments.reader)
        measure(arguments.out, rows, lambda row: until.run(row, arguments.count))
    elif arguments.task == "looking":
        measure(arguments.out, rows_of(arguments, ["popup"]), lambda row: looking.run(row, arguments.count))
    elif arguments.task == "finding":
        measure(arguments.out, rows_of(arguments, ["faces", "codes"]), lambda row: finding.run(row, arguments.count))
    elif arguments.task == "fidelity":
        measure(arguments.out, rows_of(arguments, []), fidelity.run)
    elif arguments.task == "plots":
        plots.draw(arguments.out)
    elif arguments.task == "seen":
        seen.draw(arguments.out)
    else:
        return show(numbers(arguments.seeds), arguments.count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
