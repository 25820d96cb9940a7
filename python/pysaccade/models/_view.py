"""`View`: one picture of those that show a frame to a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """One picture: all of a frame, smaller, or a part of it."""

    image: np.ndarray[Any, np.dtype[np.uint8]]
    """[height, width, 3] R'G'B'. What lies beyond the frame is grey."""
    box: tuple[int, int, int, int]
    """(left, top, right, bottom) in pixels of the frame; may reach beyond its right and lower edges."""
    scale: float
    """Pixels of the view a pixel of the frame: 1, 1/2, 1/4 ..."""
    level: int
    """Of the texture: each pixel is the true mean of 4^level pixels of the frame."""
    tokens: int
    """What the model counts for it."""
    reason: str
    """"overview", "new" (it changed), "looked at", or "detail" (it was never sent as finely)."""

    def __repr__(self) -> str:
        height, width = self.image.shape[:2]
        return f"View({width}x{height}, box {self.box}, scale {self.scale:g}, {self.tokens} tokens, {self.reason})"
