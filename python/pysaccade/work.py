"""`python -m pysaccade.work`: `saccade plan`, `work`, `status` ... for stores in buckets, and for Parquet."""

import os
import sys

from pysaccade.many._native_work import INTERRUPTED
from pysaccade.many._work import main

__all__ = ["main"]

if __name__ == "__main__":
    code = main()
    if code == INTERRUPTED:  # a thread may hang in a request, and Python would wait for it
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
