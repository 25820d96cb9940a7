"""Tesseract: pictures in, words and their boxes out. What it said of a picture is kept by the picture's bytes."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence

import numpy as np
from PIL import Image
from score import Word

CACHE = pathlib.Path(os.environ.get("SACCADE_DESKSPOT_CACHE", "~/.cache/saccade/deskspot")).expanduser()
BATCH = 100  # pictures for one process


def read(pictures: Sequence[np.ndarray], scale: float, page: int) -> list[list[Word]]:
    """The words of each picture [h, w, 3] u8, their boxes in its pixels.

    `scale`: how much larger Tesseract gets it. `page`: its --psm: 7 for one line, 11 for text anywhere.
    """
    keys = [hashlib.sha256(f"{page} {scale} {p.shape}".encode() + p.tobytes()).hexdigest() for p in pictures]
    paths = [CACHE / key[:2] / f"{key}.json" for key in keys]
    missing = {key: n for n, key in enumerate(keys) if not paths[n].exists()}
    todo = list(missing.values())
    for begin in range(0, len(todo), BATCH):
        some = todo[begin : begin + BATCH]
        for n, words in zip(some, _tesseract([pictures[n] for n in some], scale, page), strict=True):
            paths[n].parent.mkdir(parents=True, exist_ok=True)
            part = paths[n].with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps(words))
            part.rename(paths[n])
    return [[Word(text, tuple(box), line) for text, box, line in json.loads(path.read_text())] for path in paths]


def _tesseract(pictures: Sequence[np.ndarray], scale: float, page: int) -> list[list[Word]]:
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for n, picture in enumerate(pictures):
            image = Image.fromarray(picture).convert("L")
            if np.median(np.asarray(image)) < 110:  # it reads dark letters on light ground fastest
                image = image.point(lambda value: 255 - value)
            size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
            names.append(f"{folder}/{n}.png")
            image.resize(size, Image.BICUBIC).save(names[-1], compress_level=1)
        listing = pathlib.Path(folder, "list.txt")
        listing.write_text("\n".join(names) + "\n")
        command = ["tesseract", str(listing), "stdout", "-l", "eng", "--psm", str(page), "--dpi", "150", "tsv"]
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return words_of(done.stdout, len(pictures), scale)


def words_of(table: str, count: int, scale: float) -> list[list[Word]]:
    """Tesseract's TSV of `count` pages as words of each."""
    pages: list[list[Word]] = [[] for _ in range(count)]
    lines: dict[tuple[str, ...], int] = {}
    for row in table.splitlines()[1:]:
        level, page, block, paragraph, line, _, left, top, width, height, _, text = row.split("\t", 11)
        if level == "5" and text.strip():
            number = lines.setdefault((page, block, paragraph, line), len(lines))
            x, y = int(left) / scale, int(top) / scale
            box = (x, y, x + int(width) / scale, y + int(height) / scale)
            pages[int(page) - 1].append(Word(text.strip(), box, number))
    return pages
