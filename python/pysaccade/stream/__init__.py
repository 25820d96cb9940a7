"""Videos as emissions: `Stream`, its options, its sources and its fixations."""

from __future__ import annotations

from pysaccade.stream._stream import Stream

__all__ = ["Stream"]
