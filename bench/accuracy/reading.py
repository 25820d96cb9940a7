"""Reading: of each word, how many characters a reader gets right from the patches of a sampler."""

from __future__ import annotations

import functools
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


def painted(looks: list[Look], picture: str, sampler: str) -> list[np.ndarray]:
    """Of each look: "last": what it shows alone; "memory": with what earlier ones showed. Else nothing.

    Patches of one size show all of the frame each time: there is nothing to remember.
    """
    if picture == "second":
        return []
    whole = sampler.partition("+")[0] in ("uniform", "full")
    memory = sc.PictureMemory() if picture == "memory" and not whole else False
    return [sc.paint(look.patches, look.geometry, look.size, memory=memory) for look in looks]


@functools.lru_cache(maxsize=1)
def seen(kind: str, seed: int, count: int, sampler: str, budget: int, picture: str, threshold: int) -> Any:
    """A scene, its tokens by one sampler, and of each thing to be read (its number, the look's time, the picture)."""
    scene, path = prepared(kind, seed, count)
    options = {"threshold": threshold} if threshold else {}
    looks = list(sampler_of(sampler)(scene, path, budget, **options))
    kept = painted(looks, picture, sampler)
    shown = [
        (n, look.seconds, whole)
        for n, item in enumerate(scene.items)
        for look, whole in pictures(scene, looks, item, kept)
    ]
    return scene, tokens_of(looks, scene.seconds), shown


def run(row: dict[str, Any], count: int = 30) -> dict[str, Any]:
    """One scene by one sampler: the tokens inside the frame, and each word's characters right."""
    what = row["kind"], row["seed"], count, row["sampler"], row["budget"]
    scene, tokens, shown = seen(*what, row.get("picture", "second"), row.get("threshold", 0))
    items = [scene.items[n] for n, _, _ in shown]
    if row["reader"] == "rapidocr-found":
        lines = ocr.find([whole for _, _, whole in shown])
        boxes = [item.box(t) for item, (_, t, _) in zip(items, shown, strict=True)]
        each = [ocr.characters_found(*found, item.text) for *found, item in zip(lines, boxes, items, strict=True)]
    else:
        crops = [crop(whole, item, t, scene.margin) for item, (_, t, whole) in zip(items, shown, strict=True)]
        texts = ocr.read(crops, row["reader"])
        each = [ocr.characters_right(text, item.text) for text, item in zip(texts, items, strict=True)]
    scores = [0.0] * len(scene.items)
    for (n, _, _), score in zip(shown, each, strict=True):
        scores[n] = max(scores[n], score)
    exacts = [int(score == 1) for score in scores]
    return tokens | {
        "characters": float(np.mean(scores)), "exact": float(np.mean(exacts)), "scores": scores, "exacts": exacts,
    }  # fmt: skip
