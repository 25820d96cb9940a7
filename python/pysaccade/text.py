"""Where text runs."""

from __future__ import annotations

from pysaccade.tensors.text import text_direction

__all__ = ["text_direction"]
