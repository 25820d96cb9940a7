"""`python -m pysaccade.work`: `saccade plan`, `work`, `status` ... for stores in buckets, and for Parquet."""

import os
import sys
from typing import NoReturn

from pysaccade.many._native_work import INTERRUPTED
from pysaccade.many._work import main

__all__ = ["main"]


def _end(code: int) -> NoReturn:
    if code == INTERRUPTED:  # a thread may hang in a request, and Python would wait for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    _end(main())
