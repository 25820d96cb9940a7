"""Reading: of each word, how many characters a reader gets right from the patches of a sampler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import ocr
from distract import prepared
from PIL import Image
from samplers import Look, sampler_of, tokens_of
from scenes import Item, Scene

import pysaccade as sc


def crop(picture: np.ndarray, item: Item, t: float, margin: int) -> np.ndarray:
    """The word and a little around it; one at an angle is made upright."""
    height, width = picture.shape[:2]
    if item.corners is not None:
        return _upright(picture, item.corners)
    left, top, right, bottom = item.box(t)
    x0, y0 = max(int(left) - margin, 0), max(int(top) - margin, 0)
    x1, y1 = min(int(right) + margin, width), min(int(bottom) + margin, height)
    return picture[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)]


def _upright(picture: np.ndarray, corners: np.ndarray) -> np.ndarray:
    width = int(np.hypot(*(corners[1] - corners[0])) + 12)
    height = int(np.hypot(*(corners[3] - corners[0])) + 8)
    quad = corners + np.array([[-6, -4], [6, -4], [6, 4], [-6, 4]])
    flat = tuple(quad[[0, 3, 2, 1]].ravel())  # PIL: left top, left bottom, right bottom, right top
    return np.asarray(Image.fromarray(picture).transform((width, height), Image.QUAD, flat, Image.BICUBIC))


def pictures(
    scene: Scene, looks: list[Look], item: Item, kept: Sequence[np.ndarray] = ()
) -> Iterator[tuple[Look, np.ndarray]]:
    """What there is to read of an item: of what stands still the patches of its time together, else each look alone.

    `kept`: of each look the picture to read in place of that; where a thing stands still, the last one.
    """
    during = [n for n, look in enumerate(looks) if item.t0 <= look.seconds + 1e-6 < item.t1]
    if not during:
        return
    if not scene.moves and not kept:
        own = [looks[n] for n in during]
        patches, geometry = np.concatenate([x.patches for x in own]), np.concatenate([x.geometry for x in own])
        yield own[-1], sc.paint(patches, geometry, own[0].size)
        return
    for n in during if scene.moves else during[-1:]:
        yield looks[n], kept[n] if kept else sc.paint(looks[n].patches, looks[n].geometry, looks[n].size)


def painted(looks: list[Look], picture: str) -> list[np.ndarray]:
    """Of each look: "last": what it shows alone; "memory": with what earlier ones showed. Else nothing."""
    if picture == "second":
        return []
    memory = sc.PictureMemory() if picture == "memory" else False
    return [sc.paint(look.patches, look.geometry, look.size, memory=memory) for look in looks]


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: the tokens inside the frame, and each word's characters right."""
    scene, path = prepared(row["kind"], row["seed"], count)
    looks = list(sampler_of(row["sampler"])(scene, path, row["budget"]))
    kept = painted(looks, row.get("picture", "second"))
    crops, owners = [], []
    for n, item in enumerate(scene.items):
        for look, picture in pictures(scene, looks, item, kept):
            crops.append(crop(picture, item, look.seconds, scene.margin))
            owners.append(n)
    scores, exact = [0.0] * len(scene.items), [0] * len(scene.items)
    for n, text in zip(owners, ocr.read(crops, row["reader"]), strict=True):
        scores[n] = max(scores[n], ocr.characters_right(text, scene.items[n].text))
        if text.strip().lower() == scene.items[n].text.lower():
            exact[n] = 1
    return tokens_of(looks, scene.seconds) | {
        "characters": float(np.mean(scores)), "exact": float(np.mean(exact)), "scores": scores, "exacts": exact,
    }  # fmt: skip
