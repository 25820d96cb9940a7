"""`python -m pysaccade.work`: `saccade plan`, `work`, `status` ... for stores in buckets, and for Parquet."""

import contextlib
import os
import sys
from typing import NoReturn

from pysaccade.many._native_work import DONE, PARTIAL
from pysaccade.many._work import main

__all__ = ["main"]


def _end(code: int) -> NoReturn:
    if code not in (DONE, PARTIAL):  # a thread may hang in a request, and Python would wait for it
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, OSError, ValueError):  # None, nobody reads it, it is closed
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _end(main())
