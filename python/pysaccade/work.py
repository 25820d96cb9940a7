"""`python -m pysaccade.work`: `saccade plan`, `work`, `status` ... for stores in buckets, and for Parquet."""

import sys

from pysaccade.many._work import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
