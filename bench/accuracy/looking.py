"""Looking: how long until a word that appears is seen whole at full resolution, and how many never are. No reader."""

from __future__ import annotations

from typing import Any

import numpy as np
from distract import prepared
from samplers import Look, sampler_of, tokens_of
from scenes import Box

WHOLE = 0.9  # of the word's box


def sharp(look: Look, box: Box) -> np.ndarray:
    """Of each pixel of the box whether a patch of full resolution shows it."""
    left, top, right, bottom = (round(v) for v in box)
    seen = np.zeros((bottom - top, right - left), bool)
    height, width = look.size
    for u, v, lod, _ in look.geometry[look.geometry[:, 2] < 0.5]:
        half = 8 * 2**lod
        x0, x1 = round(u * width - half) - left, round(u * width + half) - left
        y0, y1 = round(v * height - half) - top, round(v * height + half) - top
        seen[max(y0, 0) : max(y1, 0), max(x0, 0) : max(x1, 0)] = True
    return seen


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: words seen whole, and the time until then; those never seen count with all theirs."""
    scene, path = prepared(row["kind"], row["seed"], count)
    looks = list(sampler_of(row["sampler"])(scene, path, row["budget"]))
    scores, until = [], []
    for item in scene.items:
        seen, found = None, None
        for look in looks:
            if not item.t0 <= look.seconds + 1e-6 < item.t1:
                continue
            now = sharp(look, item.box(look.seconds))
            seen = now if seen is None or scene.moves else seen | now
            if seen.mean() >= WHOLE:
                found = look.seconds - item.t0
                break
        scores.append(float(found is not None))
        until.append(item.t1 - item.t0 if found is None else found)
    return tokens_of(looks, scene.seconds) | {
        "seen": float(np.mean(scores)), "seconds": float(np.mean(until)), "scores": scores, "until": until,
    }  # fmt: skip
