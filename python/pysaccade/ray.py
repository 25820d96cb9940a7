"""Many videos on Ray: `run`, a store's work on a cluster; `map_patches`, videos to patches as a stage of Ray Data.

    python -m pysaccade.ray STORE          # what is left of the plan, by `saccade work STORE` on each node

docs/SCALE.md has the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.on_ray._child import DONE, INTERRUPTED, PARTIAL, STOPPED, UNAVAILABLE, USAGE, environment
from pysaccade.on_ray._child import run as run_program
from pysaccade.on_ray._map import map_patches
from pysaccade.on_ray._patches import Patches
from pysaccade.on_ray._run import run

__all__ = ["Patches", "map_patches", "run"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do a store's work; gives an exit code, as docs/SCALE.md lists them."""
    parser = argparse.ArgumentParser(
        prog="python -m pysaccade.ray",
        allow_abbrev=False,
        description="Do what is left of a store's plan on the Ray cluster of RAY_ADDRESS, else on one on this machine.",
        epilog="Other options are those of `saccade work`.",
    )
    parser.add_argument("store", help="a folder that all nodes see, or a URL such as s3://bucket/prefix")
    parser.add_argument("--cpus", type=float, help="of a process (default: 1)")
    parser.add_argument("--gpus", type=float, help="of a process (default for backend cuda: 1 / WORKERS_PER_GPU)")
    parser.add_argument("--workers-per-gpu", type=int, default=1)
    parser.add_argument("--attempts", type=int, default=4, help="stop after so many deaths a place without a unit done")
    parser.add_argument("--scratch", help="a folder of each node for what is being worked on")
    parser.add_argument("--storage-options", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--json", action="store_true", help="the counts at the end as JSON")
    options, rest = parser.parse_known_args(arguments)
    code, line = STOPPED, ""
    try:
        result = run(
            options.store, cpus=options.cpus, gpus=options.gpus, workers_per_gpu=options.workers_per_gpu,
            arguments=rest, attempts=options.attempts, scratch=options.scratch, storage_options=options.storage_options,
        )  # fmt: skip
        code, line = int(result["code"]), result["line"]
    except InputError as error:
        code, line = USAGE, str(error)
    except UnavailableError as error:
        code, line = UNAVAILABLE, str(error)
    except OSError as error:  # of the store
        line = (str(error) or type(error).__name__).splitlines()[0]
    except KeyboardInterrupt:
        code, line = INTERRUPTED, "interrupted; the same command goes on where it was left"
    if code in (DONE, PARTIAL):
        status = ["status", options.store, *(["--json"] if options.json else [])]
        sys.stdout.write(run_program(status, environment(options.storage_options)).said)
    else:
        print(f"saccade: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
