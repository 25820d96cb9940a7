"""`python -m pysaccade dump clip.mp4 -o out/clip`: the program `saccade`."""

import sys

from pysaccade._program import main

sys.exit(main())
