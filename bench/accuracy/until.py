"""Until: how long after a word appears the patches of it give it exactly. One never read counts with all its time."""

from __future__ import annotations

from typing import Any

import numpy as np
import ocr
from distract import prepared
from reading import crop, pictures
from samplers import sampler_of, tokens_of


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: words that were read exactly, and the time until then.

    What stands still is read from its patches up to each emission together, else from each emission alone.
    """
    scene, path = prepared(row["kind"], row["seed"], count)
    looks = list(sampler_of(row["sampler"])(scene, path, row["budget"]))
    during = [[x for x in looks if item.t0 <= x.seconds + 1e-6 < item.t1] for item in scene.items]
    until = [item.t1 - item.t0 for item in scene.items]
    unread = set(range(len(scene.items)))
    for k in range(max(len(own) for own in during)):
        tried = [n for n in sorted(unread) if k < len(during[n])]
        crops = []
        for n in tried:
            upto = during[n][k : k + 1] if scene.moves else during[n][: k + 1]
            look, picture = next(pictures(scene, upto, scene.items[n]))
            crops.append(crop(picture, scene.items[n], look.seconds))
        for n, text in zip(tried, ocr.read(crops, row["reader"]), strict=True):
            if text.strip().lower() == scene.items[n].text.lower():
                until[n] = during[n][k].seconds - scene.items[n].t0
                unread.remove(n)
    read = [float(n not in unread) for n in range(len(scene.items))]
    return tokens_of(looks, scene.seconds) | {
        "read": float(np.mean(read)), "seconds": float(np.mean(until)), "scores": read, "until": until,
    }  # fmt: skip
