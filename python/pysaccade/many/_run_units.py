"""Many units one after another: the next one's inputs are fetched and the last one's files uploaded meanwhile."""

from __future__ import annotations

import collections
import concurrent.futures
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pysaccade.many._catalog import commits_of, markers_of
from pysaccade.many._do_unit import Outcome, UnitWork
from pysaccade.many._native_work import DONE, PARTIAL, STOPPED
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._tally import Tally

_SHARD = re.compile(r"(\d+)/(\d+)")
_AUTO = re.compile(r"auto(/\d+)?")
_MOST_REFUSED = 2  # units that are left for the end: the inputs of each are fetched


def share_of(units: Sequence[Unit], shard: str | None, environment: Mapping[str, str] = os.environ) -> list[Unit]:
    """The I-th of N shares, "I/N" from 0; None or "auto": as Slurm or Kubernetes say, else all.

    Raises:
        ValueError: It is no share, or "auto" where nothing says which.
    """
    index, count = _index_and_count(shard, environment)
    return [unit for number, unit in enumerate(units) if number % count == index]


def _index_and_count(shard: str | None, environment: Mapping[str, str]) -> tuple[int, int]:
    if shard is not None and (found := _SHARD.fullmatch(shard)):
        return _checked(f"share {shard}", int(found[1]), int(found[2]))
    if shard is not None and not _AUTO.fullmatch(shard):
        raise ValueError(f"share {shard}: write I/N, such as 3/64, auto or auto/N")
    given = int(shard.partition("/")[2]) if shard is not None and "/" in shard else None
    if (task := _number(environment, "SLURM_ARRAY_TASK_ID")) is not None:
        return _slurm_share(task, given, environment)
    if (pod := _number(environment, "JOB_COMPLETION_INDEX")) is not None:
        if given is None:
            raise ValueError(
                f"JOB_COMPLETION_INDEX={pod} is set, but not how many there are; give --shard auto/N for one of N "
                "shares, or --shard 0/1 for all that is left"
            )
        return _checked("JOB_COMPLETION_INDEX", pod, given)
    if shard is None:
        return 0, 1
    raise ValueError(f"share {shard}: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; write I/N")


def _slurm_share(task: int, given: int | None, environment: Mapping[str, str]) -> tuple[int, int]:
    """Which share a task of an array does; it may begin anywhere and have a step: 10-40:10 are four tasks.

    A task that stands alone is most likely one of an earlier array that is tried again: its number is the share's, but
    nothing says of how many. So it is with a part of an array whose number of shares was given.
    """
    name = "SLURM_ARRAY_TASK_ID"
    first = _number(environment, "SLURM_ARRAY_TASK_MIN") or 0
    step = _number(environment, "SLURM_ARRAY_TASK_STEP") or 1
    last, count = (_number(environment, f"SLURM_ARRAY_TASK_{part}") for part in ("MAX", "COUNT"))
    place, rest = divmod(task - first, step)
    counted = count is None or (place < count and (last is None or (last - first) // step + 1 == count))
    if place < 0 or rest or not counted:
        raise ValueError(
            f"{name}={task}: the array from {first} has gaps or other tasks, so that its shares are unknown; submit "
            f"one without gaps, as --array=0-63, or give --shard {task}/N"
        )
    if given is not None:
        return _checked(name, place if given == count else task, given)
    if count is None:
        raise ValueError(f"{name} is set, SLURM_ARRAY_TASK_COUNT is not; give --shard auto/N")
    if count == 1 and task:
        raise ValueError(
            f"{name}={task}: is the only task of its array, so that the number of shares is unknown; give --shard "
            f"{task}/N for one of N shares, or --shard 0/1 for all that is left"
        )
    return _checked(name, place, count)


def _checked(source: str, index: int, count: int) -> tuple[int, int]:
    if not 0 <= index < count:
        raise ValueError(f"{source}: there is no share {index} of {count}; shares count from 0")
    return index, count


def _number(environment: Mapping[str, str], name: str) -> int | None:
    text = environment.get(name, "")
    if text and not text.isdecimal():
        raise ValueError(f"{name}={text}: is not a whole number; write I/N")
    return int(text) if text else None


def pending_of(plan: Plan, units: Sequence[Unit], tally: Tally) -> list[Unit]:
    """The units without a marker, by one listing; the others are counted."""
    commits = commits_of(plan.store)
    names = [commits[unit.name] for unit in units if unit.name in commits]
    for at in range(0, len(names), 1024):
        for marker in markers_of(plan.store, plan.hash, names[at : at + 1024]):
            tally.add(marker, here=False)
    return [unit for unit in units if unit.name not in commits]


def run_units(
    plan: Plan, units: Sequence[Unit], folder: Path, tally: Tally, *, engine: str, arguments: Sequence[str],
    input_options: Any = None,
) -> tuple[int, str]:  # fmt: skip
    """Do units in their order; gives an exit code of docs/SCALE.md, and why it stopped early, else "".

    Units that refuse the plan's options are left for the end: once a video has taken them it is their videos' fault.
    """

    def do(some: Sequence[Unit], most_refused: int) -> tuple[int, str] | list[Outcome]:
        works = (UnitWork(plan, unit, folder, engine=engine, arguments=arguments, input_options=input_options)
                 for unit in some)  # fmt: skip
        return _in_order(works, tally, most_refused)

    ended = do(units, _MOST_REFUSED)
    if isinstance(ended, list) and ended:
        if not tally.done + tally.damaged:
            return ended[0].code, f"unit {ended[0].unit}: {ended[0].line}"
        names = {outcome.unit for outcome in ended}
        ended = do([unit for unit in units if unit.name in names], 0)
    if not isinstance(ended, list):
        return ended
    return (PARTIAL if tally.damaged or tally.quarantined else DONE), ""


def _in_order(works: Iterator[UnitWork], tally: Tally, most_refused: int) -> tuple[int, str] | list[Outcome]:
    """Do all; gives code and line where it stopped early, else what was refused."""
    refused: list[Outcome] = []
    finishing: collections.deque[concurrent.futures.Future[Outcome]] = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(1) as before, concurrent.futures.ThreadPoolExecutor(1) as behind:
        following = _prepared(before, works)
        while following is not None:
            work = following.result()
            following = _prepared(before, works)
            work.compute()
            finishing.append(behind.submit(work.finish))
            while finishing and (len(finishing) > 1 or finishing[0].done() or following is None):
                outcome = finishing.popleft().result()
                if outcome.refused and len(refused) < most_refused:
                    refused.append(outcome)
                    continue
                stop = _count(outcome, tally)
                if stop is not None:
                    if following is not None:
                        following.cancel()
                    return stop
    return refused


def _prepared(threads: concurrent.futures.Executor, works: Any) -> concurrent.futures.Future[UnitWork] | None:
    work = next(works, None)
    if work is None:
        return None

    def prepare() -> UnitWork:
        work.prepare()
        return work  # type: ignore[no-any-return]

    return threads.submit(prepare)


def _count(outcome: Outcome, tally: Tally) -> tuple[int, str] | None:
    """Count a unit; gives code and line where the run must stop."""
    if outcome.marker is None:
        code = outcome.code if outcome.code > 0 else STOPPED
        return code, f"unit {outcome.unit}: {outcome.line or f'saccade ended with {outcome.code}'}"
    tally.add(outcome.marker)
    why = tally.why_stop()
    return None if why is None else (STOPPED, why)
