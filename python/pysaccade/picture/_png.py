"""PNG pictures and APNG films (PNG third edition, 11.3.5), with what Python has."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Image = np.ndarray[Any, np.dtype[np.uint8]]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LEVEL = 4  # of zlib: twice as fast as 6 for a few percent


def encode_png(images: Sequence[Image], seconds: Sequence[float] = ()) -> bytes:
    """One picture as a PNG, several as an APNG that plays for ever.

    Args:
        images: [H, W, 3] u8 each, all of one size.
        seconds: How long each is shown, to the millisecond, 65 s at most; unused for one picture.
    """
    height, width = images[0].shape[:2]
    chunks = [_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))]
    if len(images) == 1:
        chunks.append(_chunk(b"IDAT", _pixels(images[0])))
    else:
        chunks.append(_chunk(b"acTL", struct.pack(">II", len(images), 0)))
        number = 0  # of a chunk in the film
        for i, (image, duration) in enumerate(zip(images, seconds, strict=True)):
            milliseconds = min(max(round(duration * 1000), 1), 0xFFFF)
            control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, milliseconds, 1000, 0, 0)
            chunks.append(_chunk(b"fcTL", control))
            number += 1
            if i == 0:  # what programs without APNG show
                chunks.append(_chunk(b"IDAT", _pixels(image)))
                continue
            chunks.append(_chunk(b"fdAT", struct.pack(">I", number) + _pixels(image)))
            number += 1
    return b"".join([_SIGNATURE, *chunks, _chunk(b"IEND", b"")])


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixels(image: Image) -> bytes:
    """The rows with filter 2, "Up": each byte less the one above it."""
    rows = image.reshape(image.shape[0], -1)
    filtered = np.empty((rows.shape[0], rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = 2
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    return zlib.compress(filtered.tobytes(), _LEVEL)
