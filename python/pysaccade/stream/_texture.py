"""The texture of a stream: the last frame with all its mip levels, to look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pysaccade.stream._info import Geometry


class StreamTexture:
    """The texture that a stream samples patches from, as the last frame that was taken left it.

    Plane 0 is luma (or RGBA), plane 1 chroma (Cb, Cr), which has half the size and a level less. Level l holds the true
    means of 4^l texels of level 0, rounded once.
    """

    def __init__(
        self, size: tuple[int, int], geometry: Geometry, read: Callable[[int, int], np.ndarray[Any, Any]]
    ) -> None:
        """`stream.texture` makes it; `read`: of a level and a plane."""
        self._size, self._geometry, self._read = size, geometry, read

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the frame in pixels."""
        return self._size

    @property
    def levels(self) -> int:
        """Of plane 0."""
        return self._geometry.levels

    @property
    def planes(self) -> int:
        """2: luma and chroma; 1: RGBA."""
        return self._geometry.plane_count

    def level(self, level: int = 0, plane: int = 0) -> np.ndarray[Any, np.dtype[Any]]:
        """Copy a level to the host: [H, W] of luma, [H, W, 2] of chroma, [H, W, 4] of RGBA, u8 or u16.

        Without what pads the frame to whole levels.

        Raises:
            ValueError: There is no such level or plane, or no frame was taken yet.
        """
        return self._read(level, plane)

    def __repr__(self) -> str:
        height, width = self.size
        return f"StreamTexture({width}x{height}, {self.levels} levels, {self._geometry.texture})"
