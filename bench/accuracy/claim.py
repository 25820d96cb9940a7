"""The claim in short: words of a few scenes, read from foveated patches, from uniform ones, and from every pixel."""

from __future__ import annotations

import itertools

import reading
from stats import interval

Interval = tuple[float, float, float]  # mean, least, most

SAMPLERS = (("full", 0), ("nested", 140), ("nested", 273), ("uniform", 140), ("uniform", 273), ("uniform", 1092))


def numbers(text: str) -> list[int]:
    """ "1,2,5-8" as [1, 2, 5, 6, 7, 8]."""
    spans = [part.split("-") for part in text.split(",")]
    return list(itertools.chain.from_iterable(range(int(span[0]), int(span[-1]) + 1) for span in spans))


def compared(above: Interval, below: Interval) -> str:
    """How the first stands to the second: "better" or "worse" only where the intervals lie apart."""
    if above[1] > below[2]:
        return "read better than"
    if above[2] < below[1]:
        return "read worse than"
    more = "more" if above[0] > below[0] else "no more"
    return f"read {more}, as far as these few scenes tell (the intervals overlap), than"


def show(seeds: list[int], count: int, reader: str = "tesseract") -> int:
    """Print a line a sampler, with a 95 % interval over scenes and words, and what they tell.

    0 when nested 273 reads more on average than 273 uniform patches, and than four times as many.
    """
    print(f"{len(seeds)} scenes of {count} words, {reader}\n")
    print("| sampler | tokens a fixation | characters right |\n|---|---|---|")
    read: dict[tuple[str, int], Interval] = {}
    for sampler, budget in SAMPLERS:
        rows = [
            reading.run({"kind": "popup", "seed": seed, "sampler": sampler, "budget": budget, "reader": reader}, count)
            for seed in seeds
        ]
        mean, low, high = read[sampler, budget] = interval([row["scores"] for row in rows])
        tokens = sum(row["tokens"] for row in rows) / len(rows)
        name = f"{sampler} {budget}" if budget else "every pixel"
        print(f"| {name} | {tokens:.0f} | {mean:.3f} ({low:.3f} to {high:.3f}) |", flush=True)
    print()
    for budget, other, words in ((140, 140, "as many"), (273, 273, "as many"), (273, 1092, "four times as many")):
        a, b = read["nested", budget], read["uniform", other]
        print(f"At most {budget} nested patches {compared(a, b)} {words} uniform ones ({other}): "
              f"{a[0]:.3f} ({a[1]:.3f} to {a[2]:.3f}), {b[0]:.3f} ({b[1]:.3f} to {b[2]:.3f}).")  # fmt: skip
    return 0 if read["nested", 273][0] > max(read["uniform", 273][0], read["uniform", 1092][0]) else 1
