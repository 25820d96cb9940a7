"""Readers: crops in, text out. What a reader made of a crop is kept by the crop's bytes."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np
from clips import CACHE
from PIL import Image

SCALE = 3  # Tesseract reads letters of 30 to 60 pixels best


def read(crops: Sequence[np.ndarray], reader: str = "tesseract") -> list[str]:
    """The text of each crop [h, w, 3] u8, one line each."""
    texts: list[str | None] = []
    missing: dict[str, np.ndarray] = {}
    kept = CACHE / "ocr" / reader
    kept.mkdir(parents=True, exist_ok=True)
    keys = [
        hashlib.sha256(str(crop.shape).encode() + np.ascontiguousarray(crop).tobytes()).hexdigest() for crop in crops
    ]
    for key, crop in zip(keys, crops, strict=True):
        path = kept / key[:2] / key
        texts.append(path.read_text() if path.exists() else None)
        if texts[-1] is None:
            missing[key] = crop
    if missing:
        read_all = {"tesseract": _tesseract, "rapidocr": _rapidocr}[reader]
        found = dict(zip(missing, read_all(list(missing.values())), strict=True))
        for key, text in found.items():
            path = kept / key[:2] / key
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        texts = [found[key] if text is None else text for key, text in zip(keys, texts, strict=True)]
    return [text or "" for text in texts]


def version(reader: str) -> str:
    if reader == "tesseract":
        return subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )[0]
    import importlib.metadata

    return "rapidocr " + importlib.metadata.version("rapidocr")


def _tesseract(crops: list[np.ndarray]) -> list[str]:
    """All in one process: it takes a list of pictures, and ends each page with a form feed."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for n, crop in enumerate(crops):
            image = Image.fromarray(crop).convert("L")
            image = image.resize((image.width * SCALE, image.height * SCALE), Image.BICUBIC)
            names.append(f"{folder}/{n}.png")
            image.save(names[-1], compress_level=1)
        listing = pathlib.Path(folder, "list.txt")
        listing.write_text("\n".join(names) + "\n")
        command = ["tesseract", str(listing), "stdout", "-l", "eng", "--psm", "7", "--dpi", "150"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "OMP_THREAD_LIMIT": "1"}
        )
        pages = done.stdout.split("\f")
        if len(pages) < len(crops):
            raise RuntimeError(f"tesseract gave {len(pages)} pages for {len(crops)} crops: {done.stderr[-300:]}")
        return [" ".join(page.split()) for page in pages[: len(crops)]]


@functools.cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    return RapidOCR(params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": 1})


def _rapidocr(crops: list[np.ndarray]) -> list[str]:
    """Its recogniser alone: where the word is, is known."""
    texts = []
    for crop in crops:
        result = _engine()(crop[..., ::-1], use_det=False, use_cls=False, use_rec=True)
        texts.append(" ".join(result.txts or ()))
    return texts


def distance(a: str, b: str) -> int:
    """Levenshtein's."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def characters_right(read_text: str, truth: str) -> float:
    """1 less the edits that are needed, of the truth's length; at least 0. Case counts for nothing."""
    edits = distance(read_text.strip().lower(), truth.lower())
    return max(0.0, 1 - edits / len(truth))
