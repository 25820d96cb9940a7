"""Find DeskSpot's targets by their names, from B tokens: python bench/deskspot/find.py --screens DIR

Of each sampler and budget: what share of the targets Tesseract finds. Rows stay in SCREENS/found.jsonl, and a run goes
on where it was stopped. `--table` prints what was measured so far. `--in-box READER` asks less: the reader gets each
target's box, from samplers that do not know the question, and need only read it.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import asked
import numpy as np
import reader
from eyes import EYES, tokens_of
from PIL import Image
from score import Word, best_match, holds, plain
from table import markdown

SHARES = (0.1, 0.03, 0.01)  # of all patches
READ_AT = 2  # how much larger the reader gets a picture of the screen's size
Row = dict[str, Any]


def sample_of(targets: list[Row], count: int, name: str) -> list[Row]:
    """`count` of the targets, or all, by the screen's name as the seed."""
    rng = np.random.default_rng(list(name.encode()))
    return [targets[n] for n in sorted(rng.permutation(len(targets))[:count])]


def blind(screen: np.ndarray, targets: Sequence[Row], eye: str, budget: int) -> Row:
    """What a sampler that does not know the question shows: one reading for all targets."""
    view = EYES[eye](screen, budget)
    words = reader.read([view.picture], READ_AT if view.scale == 1 else 3, 11)[0]
    found = []
    for target in targets:
        match = best_match(target["text"], words)
        box = match and [view.scale * value for value in match.box]
        found.append(int(box is not None and holds(target["box"], box)))
    return {"tokens": [view.tokens] * len(targets), "found": found}


def in_box(screen: np.ndarray, targets: Sequence[Row], eye: str, budget: int, reader_name: str) -> Row:
    """What a reader that gets each box makes of it: an upper bound of what it would find."""
    import ocr

    view, parts = EYES[eye](screen, budget), []
    for target in targets:
        left, top, right, bottom = (int(value / view.scale) for value in target["box"])
        part = view.picture[max(top - 3, 0) : bottom + 4, max(left - 3, 0) : right + 4]
        size = round(part.shape[1] * view.scale), round(part.shape[0] * view.scale)
        parts.append(np.asarray(Image.fromarray(part).resize(size, Image.BICUBIC)))
    words = [[Word(text, (0, 0, 1, 1), 0) for text in line.split()] for line in ocr.read(parts, reader_name)]
    found = [int(best_match(t["text"], texts) is not None) for t, texts in zip(targets, words, strict=True)]
    return {"tokens": [view.tokens] * len(targets), "found": found}


def by_question(screen: np.ndarray, targets: Sequence[Row], budget: int) -> Row:
    """find:TEXT, asked for each target."""
    first = asked.overview(screen, budget)
    answers = [asked.find(target["text"], screen, first, budget) for target in targets]
    found = [int(a.match is not None and holds(t["box"], a.match.box)) for a, t in zip(answers, targets, strict=True)]
    return {"tokens": [answer.tokens for answer in answers], "found": found}


def measured(job: tuple[pathlib.Path, str, float, int, str]) -> Row:
    """A screen, a sampler, its share of all tokens, how many targets, and who reads boxes, or ""."""
    path, sampler, share, count, box = job
    targets = sample_of(json.loads(path.with_suffix(".json").read_text())["targets"], count, path.stem)
    screen = np.asarray(Image.open(path).convert("RGB"))
    budget = int(share * tokens_of(screen.shape[1], screen.shape[0]))
    row = {"screen": path.stem, "sampler": sampler, "share": share, "count": count}
    row["names"] = [plain(target["text"]) for target in targets]
    if box:
        return row | in_box(screen, targets, sampler, budget, box)
    if sampler == "find":
        return row | by_question(screen, targets, budget)
    return row | blind(screen, targets, sampler, budget)


def measure(work: Sequence[tuple[pathlib.Path, str, float, int, str]], rows: pathlib.Path, jobs: int) -> None:
    """What is not measured yet, in so many processes."""
    done = {(row["screen"], row["sampler"], row["share"], row["count"]) for row in read_rows(rows)}
    missing = [job for job in work if (job[0].stem, *job[1:4]) not in done]
    with multiprocessing.Pool(jobs) if jobs > 1 else contextlib.nullcontext() as pool:
        for row in pool.imap_unordered(measured, missing) if pool else map(measured, missing):
            with rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
            shown = f"{row['screen']} {row['sampler']} {row['share']:g}: {sum(row['found'])} of {len(row['found'])}"
            print(f"{shown}, {np.mean(row['tokens'] or [0]):.0f} tokens", file=sys.stderr, flush=True)


def read_rows(path: pathlib.Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screens", type=pathlib.Path, default=pathlib.Path("out/deskspot"))
    parser.add_argument("--names", nargs="+", help="of some screens; by default all that were captured")
    parser.add_argument("--count", type=int, default=20, help="targets of a screen (default 20)")
    parser.add_argument("--samplers", nargs="+", choices=(*EYES, "find"), default=[*EYES, "find"])
    parser.add_argument("--in-box", choices=("tesseract", "rapidocr"), default="", help="read boxes, find nothing")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--table", action="store_true", help="only print what was measured")
    arguments = parser.parse_args()
    rows = arguments.screens / (f"in-box-{arguments.in_box}.jsonl" if arguments.in_box else "found.jsonl")
    paths = [arguments.screens / f"{name}.png" for name in arguments.names or ()]
    paths = paths or sorted(arguments.screens.glob("*.png"))
    if absent := [str(path) for path in paths if not path.exists()] or ([] if paths else [str(arguments.screens)]):
        parser.exit(1, f"find: no screen at {absent[0]}; make them with bench/deskspot/capture.py\n")
    skipped = ("full", "find") if arguments.in_box else ("full",)
    jobs = [job for job in itertools.product(arguments.samplers, SHARES) if job[0] not in skipped]
    jobs += [("full", 1.0)] if "full" in arguments.samplers else []
    if not arguments.table:
        work = [(path, *job, arguments.count, arguments.in_box) for path in paths for job in jobs]
        measure(work, rows, arguments.jobs)
    found = [row for row in read_rows(rows) if row["count"] == arguments.count and row["sampler"] in arguments.samplers]
    print(markdown(sorted(found, key=lambda row: arguments.samplers.index(row["sampler"]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
