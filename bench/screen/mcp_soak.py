"""Random boxes by the MCP server: each pixel of each answer must be the screen's.

python bench/screen/mcp_soak.py --calls 1000 --size 3840x2160
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time

import numpy as np
from asking import server
from desktop import Desktop


async def soak(desktop: Desktop, calls: int, rng: random.Random) -> int:
    width, height = desktop.size
    screen = desktop.grab()
    wrong = 0
    async with server(f"screen:{desktop.display}?pointer=no") as tools:
        for _ in range(calls):
            x, y = rng.randrange(-50, width), rng.randrange(-50, height)
            box = [x, y, x + rng.randrange(51, 400), y + rng.randrange(51, 300)]
            facts, images = await tools.ask("zoom", box=box)
            left, top, right, bottom = facts["box"]
            wanted = [max(x, 0), max(y, 0), min(box[2], width), min(box[3], height)]
            wrong += facts["box"] != wanted or not np.array_equal(images[0], screen[top:bottom, left:right])
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--size", default="3840x2160")
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    with Desktop(width, height) as desktop:
        for place in ("+0+0", "+1300+100", "+200+900"):
            desktop.run("xterm", "-geometry", f"200x60{place}", "-e", "cat README.md docs/*.md; sleep 9999")
        time.sleep(4)
        begin = time.monotonic()
        wrong = asyncio.run(soak(desktop, arguments.calls, random.Random(1)))
        print(json.dumps({"calls": arguments.calls, "wrong": wrong, "seconds": round(time.monotonic() - begin)}))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
