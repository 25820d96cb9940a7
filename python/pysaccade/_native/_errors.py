"""What pysaccade raises beside ValueError, TypeError and KeyboardInterrupt."""

from __future__ import annotations


class InputError(OSError):
    """A video or a dump can't be used or broke: it is missing, damaged, cut short or not what it should be.

    The text names the input, what is wrong with it and what to try.
    """


class UnavailableError(RuntimeError):
    """A device or a library is missing or has failed. The input may be whole."""


class DamagedInputWarning(UserWarning):
    """The input is damaged or was cut short; what could be decoded was kept."""
