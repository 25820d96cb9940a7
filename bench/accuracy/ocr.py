"""Readers: crops in, text out; or whole pictures in, lines out. What a reader made of one is kept by its bytes."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from clips import CACHE
from edits import distance
from PIL import Image

SCALE = 3  # Tesseract reads letters of 30 to 60 pixels best
Line = tuple[list[float], str]  # left, top, right, bottom in pixels, and what it says


def read(crops: Sequence[np.ndarray], reader: str = "tesseract") -> list[str]:
    """The text of each crop [h, w, 3] u8, one line each."""
    return _kept(crops, reader, {"tesseract": _tesseract, "rapidocr": _rapidocr, "easyocr": _easyocr}[reader])


def find(pictures: Sequence[np.ndarray]) -> list[list[Line]]:
    """The lines that RapidOCR's detector and recogniser find in each picture [H, W, 3] u8."""
    texts = _kept(pictures, "rapidocr-found", lambda some: [json.dumps(_found(picture)) for picture in some])
    return [[(box, text) for box, text in json.loads(each)] for each in texts]


def _kept(crops: Sequence[np.ndarray], name: str, read_all: Callable[[list[np.ndarray]], list[str]]) -> list[str]:
    texts: list[str | None] = []
    missing: dict[str, np.ndarray] = {}
    kept = CACHE / "ocr" / name
    keys = [
        hashlib.sha256(str(crop.shape).encode() + np.ascontiguousarray(crop).tobytes()).hexdigest() for crop in crops
    ]
    for key, crop in zip(keys, crops, strict=True):
        path = kept / key[:2] / key
        texts.append(path.read_text() if path.exists() else None)
        if texts[-1] is None:
            missing[key] = crop
    if missing:
        found = dict(zip(missing, read_all(list(missing.values())), strict=True))
        for key, text in found.items():
            path = kept / key[:2] / key
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(text)
            part.rename(path)
        texts = [found[key] if text is None else text for key, text in zip(keys, texts, strict=True)]
    return [text or "" for text in texts]


def version(reader: str) -> str:
    if reader == "tesseract":
        return subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )[0]
    package = reader.removesuffix("-found")
    return f"{package} {importlib.metadata.version(package)}"


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


def _found(picture: np.ndarray) -> list[Line]:
    result = _engine()(picture[..., ::-1], use_det=True, use_cls=False, use_rec=True)
    if result.boxes is None:
        return []
    corners = [np.asarray(box, float) for box in result.boxes]
    return [([*c.min(0).tolist(), *c.max(0).tolist()], text) for c, text in zip(corners, result.txts, strict=True)]


@functools.cache
def _easy() -> Any:
    import easyocr
    import easyocr_en_models
    import torch

    torch.set_num_threads(1)
    weights = pathlib.Path(easyocr_en_models.__file__).parent / "models"
    return easyocr.Reader(["en"], model_storage_directory=str(weights), download_enabled=False, detector=False,
                          gpu=torch.cuda.is_available(), quantize=False, verbose=False)  # fmt: skip


def _easyocr(crops: list[np.ndarray]) -> list[str]:
    """Its recogniser alone, as with RapidOCR."""
    texts = []
    for crop in crops:
        grey = np.asarray(Image.fromarray(crop).convert("L"))
        whole = [[0, grey.shape[1], 0, grey.shape[0]]]
        texts.append(" ".join(_easy().recognize(grey, horizontal_list=whole, free_list=[], detail=0)))
    return texts


def characters_right(read_text: str, truth: str) -> float:
    """1 less the edits that are needed, of the truth's length; at least 0. Case counts for nothing."""
    edits = distance(read_text.strip().lower(), truth.lower())
    return max(0.0, 1 - edits / len(truth))


def characters_found(lines: Sequence[Line], box: Sequence[float], truth: str) -> float:
    """As characters_right, of what stands in the lines that overlap a box: of their text the part that is nearest."""
    left, top, right, bottom = box
    inside = [(at, text) for at, text in lines if at[0] < right and at[2] > left and at[1] < bottom and at[3] > top]
    read_text = " ".join(text for _, text in sorted(inside)).lower()
    row = [0] * (len(read_text) + 1)  # Sellers (1980): a match may begin and end anywhere
    for i, x in enumerate(truth.lower()):
        last, row[0] = row[0], i + 1
        for j, y in enumerate(read_text):
            last, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, last + (x != y))
    return max(0.0, 1 - min(row) / len(truth))
