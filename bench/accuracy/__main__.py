"""Accuracy for each token, measured: python bench/accuracy TASK --out DIR

Tasks: reading, looking, finding, fidelity, luma, reuse, each of which ends with its table; plots and seen, which draw;
`claim` is the short form of reading that examples/read_better.py runs.
What was measured stays in DIR/rows.jsonl, and a run goes on where it was stopped. docs/ACCURACY.md has the results.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import multiprocessing
import pathlib
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import distract
import fidelity
import finding
import looking
import ocr
import plots
import reading
import seen
from claim import numbers, show
from rows import append_row, key_of, read_rows, write_csv
from table import markdown
from table_of_kinds import kinds_table, means_table, paired_table

Row = dict[str, Any]


class Task(NamedTuple):
    """What measures a row, and the scenes it takes by default."""

    run: Callable[[Row], Row]
    kinds: list[str]


TASKS = {
    "reading": Task(lambda row: reading.run(row, row["count"]), ["popup"]),
    "looking": Task(lambda row: looking.run(row, row["count"]), ["popup"]),
    "finding": Task(lambda row: finding.run(row, row["count"]), ["codes"]),
    "fidelity": Task(fidelity.run, []),
    "luma": Task(fidelity.luma, []),
    "reuse": Task(fidelity.reuse, []),
}


OF_CLIPS = ("fidelity", "luma", "reuse")
TABLES = {"rows": markdown, "means": means_table, "kinds": kinds_table, "paired": paired_table}


def measured(rows: list[Row]) -> list[Row]:
    """Those of one scene and sampler, one after another: what several readers read is painted once."""
    return [row | TASKS[row["task"]].run(row) for row in rows]


def measure(out: pathlib.Path, rows: list[Row], jobs: int) -> list[Row]:
    """Run what is not yet in the table, in so many processes; write all of it as CSV, and give these rows."""
    path = out / "rows.jsonl"
    done = {key_of(row) for row in read_rows(path)}
    missing = [row for row in rows if key_of(row) not in done]
    work = [list(some) for _, some in itertools.groupby(missing, lambda row: {**row, "reader": None})]
    if jobs > 1 and rows[0]["task"] in ("reading", "looking"):
        # One process writes a scene's clip, else all that need it do.
        scenes = {(row["kind"], row["seed"], row["count"]) for row in missing}
        with multiprocessing.Pool(jobs) as pool:
            pool.starmap(distract.prepared_path, sorted(scenes), chunksize=1)
    with multiprocessing.Pool(jobs) if jobs > 1 else contextlib.nullcontext() as pool:
        for some in pool.imap_unordered(measured, work) if pool else map(measured, work):
            for row in some:
                append_row(path, row)
                shown = ", ".join(f"{k} {v:.3g}" for k, v in row.items() if isinstance(v, float))
                text = f"{row['task']} {row['kind']} {row['seed']} {row['sampler']} {row['budget']}: {shown}"
                print(text, file=sys.stderr, flush=True)
    write_csv(out / "rows.csv", read_rows(path))
    measured_rows = {key_of(row): row for row in read_rows(path)}
    return [measured_rows[key_of(row)] for row in rows]


def rows_of(arguments: argparse.Namespace, kinds: list[str]) -> list[Row]:
    """One for each scene, sampler, picture, seed and reader."""
    rows = []
    readers = arguments.reader if arguments.task == "reading" else [None]
    for kind, sampler, picture, seed, reader in itertools.product(
        arguments.kinds or kinds, arguments.samplers, arguments.picture, numbers(arguments.seeds), readers
    ):
        name, budget = sampler
        row: Row = {"task": arguments.task, "kind": kind, "seed": seed, "sampler": name, "budget": budget}
        row |= {} if arguments.task in OF_CLIPS else {"count": arguments.count}
        row |= {} if picture == "second" else {"picture": picture}
        row |= {"threshold": arguments.threshold} if arguments.threshold else {}
        rows.append(row | ({} if reader is None else {"reader": reader}))
    return rows


def sampler_and_budget(text: str) -> tuple[str, int]:
    """ "nested:273" as ("nested", 273); all pixels are one budget, 0."""
    name, _, budget = text.rpartition(":")
    if text != "full" and not (name and budget.isdigit()):
        raise argparse.ArgumentTypeError(f"{text}: say how many tokens, as nested:273")
    return (name, int(budget)) if name else (text, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=(*TASKS, "plots", "seen", "claim"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/accuracy"))
    parser.add_argument(
        "--kinds", nargs="+", help="of scenes (fidelity, luma, reuse: clips, paths or names in SACCADE_CLIPS)"
    )
    parser.add_argument("--seeds", default="1-3", help="1,2,5-8")
    default = [("full", 0), ("nested", 273), ("nested", 140), ("uniform", 273), ("uniform", 140)]
    parser.add_argument("--samplers", nargs="+", type=sampler_and_budget, default=default, help="full nested:273 ...")
    readers = ("tesseract", "rapidocr", "easyocr", "rapidocr-found")
    parser.add_argument("--reader", nargs="+", choices=readers, default=["tesseract"], help="found: by its detector")
    parser.add_argument("--count", type=int, default=30, help="words of a scene (claim: 6)")
    words = "what of the patches is put together: those of a second, the last emission's alone, or with memory"
    parser.add_argument("--picture", nargs="+", choices=("second", "last", "memory"), default=["second"], help=words)
    parser.add_argument("--threshold", type=int, default=0, help="reading: of every sampler's stream, codes")
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=["rows"], help="reading: what is printed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.task == "plots":
        plots.draw(arguments.out)
    elif arguments.task == "seen":
        seen.draw(arguments.out)
    elif arguments.task == "claim":
        return show(numbers(arguments.seeds), arguments.count)
    else:
        task = TASKS[arguments.task]
        rows = rows_of(arguments, task.kinds)
        if not rows:
            parser.error(f"{arguments.task} needs --kinds: clips")
        if arguments.task == "reading":
            print(*map(ocr.version, arguments.reader), sep=", ", file=sys.stderr)
        found = measure(arguments.out, rows, arguments.jobs)
        print("\n\n".join(TABLES[name](found) for name in arguments.tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
