"""The Markdown table of a task's rows: a line for each scene or clip and sampler, with 95 % intervals over seeds."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
from stats import interval, ratio_interval

Rows = list[dict[str, Any]]  # of one kind and sampler, one a seed
Column = tuple[str, Callable[[Rows], str]]

PICTURES = {"last": "last emission alone", "memory": "with memory"}


def mean(rows: Rows, name: str) -> float:
    return float(np.mean([row[name] for row in rows]))


def spread(found: tuple[float, float, float]) -> str:
    """A mean and its interval, by three figures where it is small; the mean alone where draws do not differ."""
    digits = 2 if found[0] >= 0.1 else 3
    if found[1] == found[2]:
        return f"{found[0]:.{digits}f}"
    return "{:.{d}f} ({:.{d}f} to {:.{d}f})".format(*found, d=digits)


def scores(rows: Rows) -> str:
    return spread(interval([row["scores"] for row in rows]))


def after(rows: Rows) -> str:
    """The mean of all times until something was seen, ms."""
    times = [each for row in rows for each in row["until"]]
    return f"{1000 * np.mean(times):.0f} ms" if times else ""


def near(rows: Rows, name: str) -> str:
    """PSNR and SSIM; 60 dB and above is exact."""
    decibels = mean(rows, f"psnr_{name}")
    return "exact" if decibels >= 60 else f"{decibels:.1f}; {mean(rows, f'ssim_{name}'):.3f}"


def luma_of(rows: Rows) -> tuple[float, float, float]:
    looks = [look for row in rows for look in row["scores"]]
    return mean(rows, "luma"), min(looks), max(looks)


TOKENS: Column = (
    "tokens a fixation, mean (most)",
    lambda rows: f"{mean(rows, 'tokens'):.0f} ({max(row['tokens_most'] for row in rows)})",
)
SECOND: Column = (
    "of a second, all; to encode",
    lambda rows: f"{mean(rows, 'inside_s'):.0f}; {mean(rows, 'tokens_s'):.0f}",
)
COLUMNS: dict[str, list[Column]] = {
    "reading": [
        TOKENS,
        SECOND,
        ("characters right", scores),
        ("words exact", lambda rows: f"{mean(rows, 'exact'):.2f}"),
    ],
    "looking": [TOKENS, ("seen whole", scores), ("after", after)],
    "finding": [TOKENS, ("found", scores), ("after", after)],
    "fidelity": [
        TOKENS,
        ("at the fixation: PSNR; SSIM", lambda rows: near(rows, "near")),
        ("frame: PSNR; SSIM", lambda rows: near(rows, "frame")),
        ("what moves: PSNR", lambda rows: f"{mean(rows, 'psnr_moving'):.1f}"),
    ],
    "luma": [
        TOKENS,
        SECOND,
        ("luma: PSNR, mean (least to most)", lambda rows: "{:.1f} ({:.1f} to {:.1f})".format(*luma_of(rows))),
    ],
    "reuse": [SECOND, ("ratio", lambda rows: f"{mean(rows, 'inside_s') / mean(rows, 'tokens_s'):.1f}")],
}


def kind_label(kind: str) -> str:
    """As a reader knows it: clips without their folder."""
    name, _, rest = kind.rpartition(":")
    if name == "popup":
        return f"{rest} px"
    return f"words over {pathlib.Path(rest).name}" if name == "natural" else pathlib.Path(kind).name


def sampler_label(row: dict[str, Any]) -> str:
    base, *options = row["sampler"].split("+")
    parts = ["every pixel" if base == "full" else f"{base}, {row['budget']}"]
    if options:
        parts.append("`" + " ".join("--" + option.replace("_", "-").replace("=", " ") for option in options) + "`")
    if "picture" in row:
        parts.append(PICTURES[row["picture"]])
    return ", ".join(parts)


def of_every_pixel(full: Rows) -> Column:
    """How much of what the reader gets from every pixel, by pairs of the same scene."""
    whole = {row["seed"]: row["scores"] for row in full}

    def cell(rows: Rows) -> str:
        pairs = [(row["scores"], whole[row["seed"]]) for row in rows]
        return spread(ratio_interval([a for a, _ in pairs], [b for _, b in pairs]))

    return "of every pixel's", cell


def is_whole(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a row is of every pixel, read as the other is."""
    return row["sampler"] == "full" and all(row.get(name) == other.get(name) for name in ("picture", "reader"))


def groups_of(rows: Rows) -> dict[tuple[str, str], Rows]:
    """By kind and sampler, and reader where there are several, in the order of the rows."""
    groups: dict[tuple[str, str], Rows] = {}
    several = len({row.get("reader") for row in rows}) > 1
    for row in rows:
        label = sampler_label(row) + (f", {row['reader']}" if several else "")
        groups.setdefault((row["kind"], label), []).append(row)
    return groups


def markdown(rows: Rows) -> str:
    """The table of one task's rows; the scene is a column where there are several."""
    groups = groups_of(rows)
    task, several = rows[0]["task"], len({kind for kind, _ in groups}) > 1
    lines: list[list[str]] = []
    for (kind, sampler), some in groups.items():
        columns = list(COLUMNS[task])
        full = next((each for (other, _), each in groups.items() if other == kind and is_whole(each[0], some[0])), None)
        if task == "reading" and full:
            columns.insert(3, of_every_pixel(full))
        if not lines:
            titles = ["clip" if task in ("fidelity", "luma", "reuse") else "scene"] * several + ["sampler"]
            titles += [title for title, _ in columns]
            lines += [titles]
        lines.append([kind_label(kind)] * several + [sampler] + [cell(some) for _, cell in columns])
    table = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([table[0], "|---" * len(lines[0]) + "|", *table[1:]])
