"""The claim in short: words of a few scenes, read from foveated patches, from uniform ones, and from every pixel."""

from __future__ import annotations

import itertools

import reading
from stats import interval

SAMPLERS = (("full", 0), ("nested", 140), ("nested", 273), ("uniform", 140), ("uniform", 273), ("uniform", 1092))


def numbers(text: str) -> list[int]:
    """ "1,2,5-8" as [1, 2, 5, 6, 7, 8]."""
    spans = [part.split("-") for part in text.split(",")]
    return list(itertools.chain.from_iterable(range(int(span[0]), int(span[-1]) + 1) for span in spans))


def show(seeds: list[int], count: int, reader: str = "tesseract") -> int:
    """Print a line a sampler, with a 95 % interval over scenes and words. 0 when foveated patches read better."""
    print(f"{len(seeds)} scenes of {count} words, {reader}\n")
    print("| sampler | tokens a fixation | characters right |\n|---|---|---|")
    means = {}
    for sampler, budget in SAMPLERS:
        rows = [
            reading.run({"kind": "popup", "seed": seed, "sampler": sampler, "budget": budget, "reader": reader}, count)
            for seed in seeds
        ]
        mean, low, high = interval([row["scores"] for row in rows])
        means[sampler, budget] = mean
        tokens = sum(row["tokens"] for row in rows) / len(rows)
        name = f"{sampler} {budget}" if budget else "every pixel"
        print(f"| {name} | {tokens:.0f} | {mean:.3f} ({low:.3f} to {high:.3f}) |", flush=True)
    holds = means["nested", 273] > means["uniform", 1092] and means["nested", 140] > means["uniform", 273]
    print(f"\nFoveated patches read {'better' if holds else 'no better'} than four times as many uniform ones.")
    return 0 if holds else 1
