"""Means with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Z = 1.96  # of 95 %


def interval(groups: Sequence[Sequence[float]], draws: int = 2000, seed: int = 0) -> tuple[float, float, float]:
    """The mean and a 95 % bootstrap interval: scenes are drawn, then their words, for words of a scene are alike.

    Where all are right (1), or none is (0), draws do not differ. The interval is then Wilson's (1927), of single words.
    """
    groups = [np.asarray(group, float) for group in groups if len(group)]
    if not groups:
        return (float("nan"),) * 3
    whole = np.concatenate(groups)
    if (whole == 1).all() or (whole == 0).all():
        reach = Z**2 / (len(whole) + Z**2)
        return (1.0, 1 - reach, 1.0) if whole[0] else (0.0, 0.0, reach)
    rng = np.random.default_rng(seed)
    means = np.empty(draws)
    for draw in range(draws):
        picked = [groups[i] for i in rng.integers(len(groups), size=len(groups))]
        means[draw] = np.concatenate([group[rng.integers(len(group), size=len(group))] for group in picked]).mean()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(whole.mean()), float(low), float(high)


def ratio_interval(
    above: Sequence[Sequence[float]], below: Sequence[Sequence[float]], draws: int = 2000, seed: int = 0
) -> tuple[float, float, float]:
    """The ratio of two means over the same groups, and its interval: the groups are drawn in pairs."""
    a, b = [np.asarray(g, float) for g in above], [np.asarray(g, float) for g in below]
    rng = np.random.default_rng(seed)
    ratios = np.empty(draws)
    for draw in range(draws):
        picked = rng.integers(len(a), size=len(a))
        within = [rng.integers(len(a[i]), size=len(a[i])) for i in picked]
        top = np.concatenate([a[i][w] for i, w in zip(picked, within, strict=True)]).mean()
        bottom = np.concatenate([b[i][w] for i, w in zip(picked, within, strict=True)]).mean()
        ratios[draw] = top / max(bottom, 1e-9)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(np.concatenate(a).mean() / max(np.concatenate(b).mean(), 1e-9)), float(low), float(high)


def mean_interval(values: Sequence[float], draws: int = 2000, seed: int = 0) -> tuple[float, float, float]:
    """The mean of one number a scene, and its 95 % bootstrap interval over scenes."""
    each = np.asarray(values, float)
    means = each[np.random.default_rng(seed).integers(len(each), size=(draws, len(each)))].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(each.mean()), float(low), float(high)
