"""Many videos on Ray: `run`, a store's units as tasks; `map_patches`, videos to patches as a stage of Ray Data.

    python -m pysaccade.ray STORE          # the units of `saccade plan`, with the markers of `saccade work`

docs/SCALE.md has the rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._native_work import GOES_ON, stop_line
from pysaccade.many._tally import counts_line, json_line, only_counts
from pysaccade.on_ray._map import map_patches
from pysaccade.on_ray._patches import Patches
from pysaccade.on_ray._run import run

__all__ = ["Patches", "map_patches", "run"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a store's units; gives an exit code, as docs/SCALE.md lists them."""
    import json

    parser = argparse.ArgumentParser(
        prog="python -m pysaccade.ray",
        allow_abbrev=False,
        description="Do a store's units on a Ray cluster: that of RAY_ADDRESS, else one on this machine.",
        epilog="Other options are those of `saccade work`.",
    )
    parser.add_argument("store", help="a folder that all nodes see, or a URL such as s3://bucket/prefix")
    parser.add_argument("--cpus", type=float, help="of a unit (default: 1)")
    parser.add_argument("--gpus", type=float, help="of a unit (default for backend cuda: 1 / WORKERS_PER_GPU)")
    parser.add_argument("--workers-per-gpu", type=int, default=1)
    parser.add_argument("--attempts", type=int, default=4, help="how often a unit is placed when workers or nodes die")
    parser.add_argument("--scratch", help="a folder of each node for what is being worked on")
    parser.add_argument("--storage-options", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--max-bad", type=float, default=5.0, metavar="PERCENT")
    parser.add_argument("--progress", choices=("auto", "json", "none"), default="auto")
    parser.add_argument("--json", action="store_true", help="the counts at the end as JSON")
    options, rest = parser.parse_known_args(arguments)
    try:
        result = run(
            options.store, cpus=options.cpus, gpus=options.gpus, workers_per_gpu=options.workers_per_gpu,
            arguments=rest, attempts=options.attempts, scratch=options.scratch, storage_options=options.storage_options,
            max_bad_percent=options.max_bad, progress=options.progress,
        )  # fmt: skip
    except (InputError, UnavailableError) as error:
        print(f"saccade: {error}", file=sys.stderr)
        return 2 if isinstance(error, InputError) else 69
    except OSError as error:  # of the store, before any unit is placed or while the markers are read
        print(f"saccade: {(str(error) or type(error).__name__).splitlines()[0]}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"saccade: {options.store}: interrupted; {GOES_ON}", file=sys.stderr)
        return 4
    code = int(result["code"])
    if result["line"]:
        print(f"saccade: {options.store}: {stop_line(code, result['line'])}", file=sys.stderr)
    elif options.json:
        print(json_line(only_counts(result)))
    else:
        print(f"{options.store}: {counts_line(result)}")
    return code


if __name__ == "__main__":
    sys.exit(main())
