"""`python -m pysaccade dump clip.mp4 -o out/clip`: the program `saccade`."""

import sys

from pysaccade.dumps._program import main

if __name__ == "__main__":
    sys.exit(main())
