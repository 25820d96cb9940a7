"""Tables of reading over several kinds of scenes: means of kinds, a line a kind, and differences by pairs of scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
from stats import mean_interval
from table import kind_label, mean, sampler_label

Rows = list[dict[str, Any]]


def _by(rows: Rows, *names: str) -> dict[tuple[Any, ...], Rows]:
    groups: dict[tuple[Any, ...], Rows] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _markdown(titles: list[str], lines: list[list[str]]) -> str:
    table = [f"| {' | '.join(line)} |" for line in [titles, *lines]]
    return "\n".join([table[0], "|---" * len(titles) + "|", *table[1:]])


def _name(sampler: str) -> str:
    """As in the other tables, without the budget."""
    return sampler_label({"sampler": sampler, "budget": ""}).replace(", ,", ",").removesuffix(", ")


def _mean_of_kinds(rows: Rows, name: str) -> float:
    return float(np.mean([mean(some, name) for some in _by(rows, "kind").values()]))


def means_table(rows: Rows) -> str:
    """A line for each sampler and reader, a column for each budget: characters right, tokens to encode a second."""
    budgets = sorted({row["budget"] for row in rows} - {0})
    readers = len({row["reader"] for row in rows}) > 1
    titles = ["reader"] * readers + ["sampler"] + [str(budget) for budget in budgets]
    lines = []
    for (reader, sampler), some in _by(rows, "reader", "sampler").items():
        cells = {}
        for (budget,), each in _by(some, "budget").items():
            cells[budget] = f"{_mean_of_kinds(each, 'characters'):.2f}; {_mean_of_kinds(each, 'tokens_s'):.0f}"
        shown = [cells.get(budget, cells.get(0, "")) for budget in budgets]
        lines.append([reader] * readers + [_name(sampler)] + shown)
    return _markdown(titles, lines)


def kinds_table(rows: Rows) -> str:
    """A line for each kind and reader, a column for each sampler and budget: characters right."""
    columns = list(_by(rows, "sampler", "budget"))
    readers = len({row["reader"] for row in rows}) > 1
    titles = ["scene"] + ["reader"] * readers
    titles += [f"{_name(sampler)}, {budget}" if budget else _name(sampler) for sampler, budget in columns]
    lines = []
    for (kind, reader), some in _by(rows, "kind", "reader").items():
        cells = _by(some, "sampler", "budget")
        shown = [f"{mean(cells[column], 'characters'):.2f}" if column in cells else "" for column in columns]
        lines.append([kind_label(kind)] + [reader] * readers + shown)
    for (reader,), some in _by(rows, "reader").items():
        cells = _by(some, "sampler", "budget")
        shown = [f"{_mean_of_kinds(cells[column], 'characters'):.2f}" for column in columns]
        lines.append(["mean"] + [reader] * readers + shown)
    return _markdown(titles, lines)


def paired_table(rows: Rows) -> str:
    """How much more of the characters the first sampler reads than each other at its budget, by pairs of scenes."""
    first = rows[0]["sampler"]
    others = [key for key in _by(rows, "sampler", "budget") if key[0] != first and key[1]]
    readers = len({row["reader"] for row in rows}) > 1
    titles = ["scene"] + ["reader"] * readers + [f"{_name(first)} less {_name(s)}, {b}" for s, b in others]
    lines = []
    for (kind, reader), some in _by(rows, "kind", "reader").items():
        cells = _by(some, "sampler", "budget")
        shown = []
        for sampler, budget in others:
            own = {row["seed"]: row["characters"] for row in cells[first, budget]}
            less = [own[row["seed"]] - row["characters"] for row in cells[sampler, budget]]
            shown.append("{:+.2f} ({:+.2f} to {:+.2f})".format(*mean_interval(less)))
        lines.append([kind_label(kind)] + [reader] * readers + shown)
    return _markdown(titles, lines)
