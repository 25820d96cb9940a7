"""Files in memory without a file descriptor that stays: Python's mmap keeps one of each map up to 3.12."""

from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any

_PROT_READ_WRITE, _MAP_SHARED, _MAP_PRIVATE = 3, 0x01, 0x02
_MAP_NORESERVE, _MAP_POPULATE, _FAILED = 0x4000, 0x8000, ctypes.c_void_p(-1).value


def map_private(descriptor: int, length: int) -> Any:
    """A file's first bytes, c_ubyte[length]: whoever writes changes a copy of his own. Unmapped with the last user.

    Raises:
        OSError: It can't be mapped.
    """
    return _mapped(descriptor, length, _MAP_PRIVATE | _MAP_NORESERVE)


def map_shared(descriptor: int, length: int) -> Any:
    """The same of memory that processes share, with all its pages at once: who writes, writes for all."""
    return _mapped(descriptor, length, _MAP_SHARED | _MAP_POPULATE)


def _mapped(descriptor: int, length: int, flags: int) -> Any:
    libc = _libc()
    address = libc.mmap(None, length, _PROT_READ_WRITE, flags, descriptor, 0)
    if address == _FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    buffer = (ctypes.c_ubyte * length).from_address(address)
    # Not at the interpreter's end, which arrays may outlive.
    weakref.finalize(buffer, libc.munmap, address, length).atexit = False
    return buffer


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
    )  # fmt: skip
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return libc
