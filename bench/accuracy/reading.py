"""Reading: of each word, how many characters a reader gets right from the patches of a sampler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import ocr
from clips import clip
from PIL import Image
from samplers import SAMPLERS, Look, tokens_of
from scenes import READING, Item, Scene

import pysaccade as sc

MARGIN = 10  # pixels around the word's box


def crop(picture: np.ndarray, item: Item, t: float) -> np.ndarray:
    """The word and a little around it; one at an angle is made upright."""
    height, width = picture.shape[:2]
    if item.corners is not None:
        return _upright(picture, item.corners)
    left, top, right, bottom = item.box(t)
    x0, y0 = max(int(left) - MARGIN, 0), max(int(top) - MARGIN, 0)
    x1, y1 = min(int(right) + MARGIN, width), min(int(bottom) + MARGIN, height)
    return picture[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)]


def _upright(picture: np.ndarray, corners: np.ndarray) -> np.ndarray:
    width = int(np.hypot(*(corners[1] - corners[0])) + 12)
    height = int(np.hypot(*(corners[3] - corners[0])) + 8)
    quad = corners + np.array([[-6, -4], [6, -4], [6, 4], [-6, 4]])
    flat = tuple(quad[[0, 3, 2, 1]].ravel())  # PIL: left top, left bottom, right bottom, right top
    return np.asarray(Image.fromarray(picture).transform((width, height), Image.QUAD, flat, Image.BICUBIC))


def pictures(scene: Scene, looks: list[Look], item: Item) -> Iterator[tuple[Look, np.ndarray]]:
    """What there is to read of an item: of what stands still the patches of its time together, else each look alone."""
    during = [look for look in looks if item.t0 <= look.seconds + 1e-6 < item.t1]
    if not during:
        return
    if not scene.moves:
        patches, geometry = np.concatenate([x.patches for x in during]), np.concatenate([x.geometry for x in during])
        yield during[-1], sc.paint(patches, geometry, during[0].size)
        return
    for look in during:
        yield look, sc.paint(look.patches, look.geometry, look.size)


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: the tokens inside the frame, and each word's characters right."""
    scene = READING[row["kind"]](row["seed"], count=count)
    looks = list(SAMPLERS[row["sampler"]](scene, clip(scene), row["budget"]))
    crops, owners = [], []
    for n, item in enumerate(scene.items):
        for look, picture in pictures(scene, looks, item):
            crops.append(crop(picture, item, look.seconds))
            owners.append(n)
    scores, exact = [0.0] * len(scene.items), [0] * len(scene.items)
    for n, text in zip(owners, ocr.read(crops, row["reader"]), strict=True):
        scores[n] = max(scores[n], ocr.characters_right(text, scene.items[n].text))
        if text.strip().lower() == scene.items[n].text.lower():
            exact[n] = 1
    return tokens_of(looks, scene.seconds) | {
        "characters": float(np.mean(scores)), "exact": float(np.mean(exact)), "scores": scores, "exacts": exact,
    }  # fmt: skip
