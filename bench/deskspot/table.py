"""The table of what was found: a line for each sampler and budget, with intervals over screens and their targets."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

sys.path.append(str(pathlib.Path(__file__).parents[1] / "accuracy"))
from stats import interval

Row = dict[str, Any]
AGAINST = "adaptive"


def spread(groups: list[list[float]], sign: str = "") -> str:
    if sign and not any(map(any, groups)):
        return "none"
    return "{:{s}.2f} ({:{s}.2f} to {:{s}.2f})".format(*interval(groups), s=sign)


def markdown(rows: list[Row]) -> str:
    """Found, and the difference to adaptive at as many tokens, by pairs of the same targets."""
    samplers = list(dict.fromkeys(row["sampler"] for row in rows))
    lines = ["| tokens of all | sampler | tokens, mean | found | more than adaptive |", "|---|---|---|---|---|"]
    for share in sorted({row["share"] for row in rows}, reverse=True):
        base = {row["screen"]: row["found"] for row in rows if (row["sampler"], row["share"]) == (AGAINST, share)}
        for sampler in samplers:
            some = [row for row in rows if (row["sampler"], row["share"]) == (sampler, share) and row["found"]]
            if not some:
                continue
            pairs = [(row["found"], base[row["screen"]]) for row in some if row["screen"] in base]
            more = [[float(a - b) for a, b in zip(*pair, strict=True)] for pair in pairs]
            tokens = [each for row in some for each in row["tokens"]]
            difference = spread(more, "+") if more and sampler != AGAINST else ""
            found = spread([row["found"] for row in some])
            lines.append(
                f"| {100 * share:g} % | {sampler} | {sum(tokens) / len(tokens):.0f} | {found} | {difference} |"
            )
    return "\n".join(lines)
