"""The program `saccade` as it comes with the package."""

from __future__ import annotations

import os
import sys

from pysaccade._errors import UnavailableError
from pysaccade._library import program


def main() -> int:
    """Become the program `saccade`, with this process's arguments: the console script of the package."""
    try:
        path = program()
    except UnavailableError as error:
        print(f"saccade: {error}", file=sys.stderr)
        return 69
    os.execv(path, [str(path), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
