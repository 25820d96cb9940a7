"""The texture of a stream: the last frame with all its mip levels, to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pysaccade.stream._stream import Stream


class StreamTexture:
    """The texture that a stream samples patches from, as the last frame that was taken left it.

    Plane 0 is luma (or RGBA), plane 1 chroma (Cb, Cr), which has half the size and a level less. Level l holds the true
    means of 4^l texels of level 0, rounded once.
    """

    def __init__(self, stream: Stream) -> None:
        """`stream.texture` makes it."""
        self._stream = stream

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the frame in pixels."""
        return self._stream.info.size

    @property
    def levels(self) -> int:
        """Of plane 0."""
        return self._stream.geometry.levels

    @property
    def planes(self) -> int:
        """2: luma and chroma; 1: RGBA."""
        return self._stream.geometry.plane_count

    def level(self, level: int = 0, plane: int = 0) -> np.ndarray[Any, np.dtype[Any]]:
        """Copy a level to the host: [H, W] of luma, [H, W, 2] of chroma, [H, W, 4] of RGBA, u8 or u16.

        Without what pads the frame to whole levels.

        Raises:
            ValueError: There is no such level or plane, or no frame was taken yet.
        """
        return self._stream._read_level(level, plane)

    def __repr__(self) -> str:
        height, width = self.size
        return f"StreamTexture({width}x{height}, {self.levels} levels, {self._stream.geometry.texture})"
