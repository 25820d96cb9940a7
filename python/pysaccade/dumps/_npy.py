"""An .npy file on disk as an array: mapped, never read, and no file descriptor kept.

A process may have 1024 of them: too few for some hundred dumps.
"""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import InputError
from pysaccade._native._maps import map_private

_WRITTEN_BY = "was it written by `saccade dump`?"


@dataclass(frozen=True)
class NpyFile:
    """The header of an .npy file: what lies where. Opens nothing."""

    path: Path
    dtype: np.dtype[Any]
    row_shape: tuple[int, ...]
    rows: int  # as the header promises
    rows_there: int  # that the file has room for
    offset: int

    def map(self, rows: int) -> np.ndarray[Any, Any]:
        """The first `rows` rows, read-only."""
        array = _map(self.path, self.offset, (rows, *self.row_shape), self.dtype)
        array.flags.writeable = False
        return array


def read_header(path: Path, dtype: np.dtype[Any], row_shape: tuple[int, ...]) -> NpyFile:
    """Read the header of `path`, whose rows must be of this dtype and shape.

    Raises:
        InputError: The file is missing, damaged, or holds something else.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait
            raise InputError(f"{path}: not a file; {_WRITTEN_BY}")
        file = path.open("rb")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; {_WRITTEN_BY}") from None
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: {error.strerror}") from None
    with file:
        try:
            version = np.lib.format.read_magic(file)
            if version != (1, 0):
                raise ValueError(f"unknown .npy version {version[0]}.{version[1]}")
            shape, fortran, have = np.lib.format.read_array_header_1_0(file)
        except Exception as error:  # a damaged header raises whatever its text parses to
            what = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InputError(f"{path}: damaged: {what}; {_WRITTEN_BY}") from None
        offset = file.tell()
        size = os.fstat(file.fileno()).st_size
    if have != dtype:
        raise InputError(f"{path}: dtype {have} where {dtype} was expected; {_WRITTEN_BY}")
    if not shape or tuple(shape[1:]) != row_shape or shape[0] < 0 or (fortran and len(shape) > 1):
        wanted = ("rows", *row_shape)
        raise InputError(f"{path}: shape {shape} where {wanted} was expected; {_WRITTEN_BY}".replace("'", ""))
    row_bytes = math.prod(row_shape) * dtype.itemsize
    return NpyFile(path, dtype, row_shape, int(shape[0]), (size - offset) // row_bytes, offset)


def map_bytes(path: Path, count: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The first `count` bytes of a file, read-only.

    Raises:
        InputError: The file is shorter.
    """
    array = _map(path, 0, (count,), np.dtype(np.uint8))
    array.flags.writeable = False
    return array


def _map(path: Path, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, dtype)
    length = offset + count * dtype.itemsize
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_size < length:  # what lies beyond the end would kill the process when it is read
            raise InputError(f"{path}: became shorter while it was opened")
        buffer = map_private(descriptor, length)
    except OSError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: can't be mapped: {error.strerror}") from None
    finally:
        os.close(descriptor)
    array: np.ndarray[Any, Any] = np.frombuffer(memoryview(buffer).cast("B"), dtype, count, offset)
    return array.reshape(shape)
