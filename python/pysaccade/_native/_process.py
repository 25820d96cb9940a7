"""What this process has gone through: its forks, and whether CUDA was used before them."""

from __future__ import annotations

import logging
import os
import sys

LOGGER = logging.getLogger("pysaccade")

_forks = 0


def _note_fork() -> None:
    global _forks  # noqa: PLW0603
    _forks += 1


os.register_at_fork(after_in_child=_note_fork)


def forks() -> int:
    """How often this process, or one before it, was forked: another number is another process."""
    return _forks


_cuda_was_used = False  # by a stream of this process, or of one that it was forked from


def note_backend(backend: str) -> None:
    """Remember what the child of a fork can't use any more."""
    global _cuda_was_used  # noqa: PLW0603
    _cuda_was_used = _cuda_was_used or backend == "cuda"


def cuda_is_lost() -> bool:
    """Whether CUDA was used before this process was forked: CUDA can't be used in such a child."""
    torch = sys.modules.get("torch")
    lost_by_torch = torch is not None and bool(getattr(torch.cuda, "_is_in_bad_fork", bool)())
    return lost_by_torch or (_cuda_was_used and _forks > 0)
