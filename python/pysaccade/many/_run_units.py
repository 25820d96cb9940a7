"""Many units one after another: the next one's inputs are fetched and the last one's files uploaded meanwhile."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import os
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._catalog import commits_of, markers_of
from pysaccade.many._do_unit import Outcome, UnitWork, do_unit, outcome_of, suiting_marker
from pysaccade.many._markers import marker_refusal
from pysaccade.many._native_work import DONE, PARTIAL, STOPPED, USAGE
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import insist
from pysaccade.many._tally import Tally, counted
from pysaccade.many._witness import Witness, key_of_done

_MARKERS_AT_ONCE = 1024
_GRACE_S = 10.0
_MOST_REFUSED, _SAMPLE = 2, 8  # units: the inputs of each are fetched


# The rules and the words of app/work/share.cpp; a test runs one table through both.
def share_of(units: Sequence[Unit], shard: str | None, environment: Mapping[str, str] = os.environ) -> list[Unit]:
    """The I-th of N shares, "I/N" from 0; None or "auto": as Slurm or Kubernetes say, else all.

    Raises:
        ValueError: It is no share, or "auto" where nothing says which.
    """
    index, count = _index_and_count(shard, environment)
    return [unit for number, unit in enumerate(units) if number % count == index]


def _index_and_count(shard: str | None, environment: Mapping[str, str]) -> tuple[int, int]:
    if shard is None:
        return _share_of_engine(None, environment) or (0, 1)
    first, slash, last = shard.partition("/")
    index, count = _whole(first), _whole(last)
    if (index is None and first != "auto") or (count is None and (slash or index is not None)):
        raise ValueError(f"--shard {shard}: is not I/N, auto or auto/N, as 3/64")
    if index is not None and count is not None:
        return _checked(f"--shard {shard}", index, count)
    if (found := _share_of_engine(count, environment)) is None:
        raise ValueError(f"--shard {shard}: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; give I/N")
    return found


def _share_of_engine(given: int | None, environment: Mapping[str, str]) -> tuple[int, int] | None:
    if (task := _number(environment, "SLURM_ARRAY_TASK_ID")) is not None:
        return _slurm_share(task, given, environment)
    if (pod := _number(environment, "JOB_COMPLETION_INDEX")) is None:
        return None
    if given is None:
        raise ValueError(
            f"JOB_COMPLETION_INDEX={pod} is set, but not how many there are; give --shard auto/N for one of N "
            "shares, or --shard 0/1 for all that is left"
        )
    return _checked("JOB_COMPLETION_INDEX", pod, given)


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
        of = "" if count is None else f" of {count} tasks"
        raise ValueError(
            f"{name}={task}: the array from {first}{of} has gaps or other tasks, so that its shares are unknown; "
            f"submit one without gaps, as --array=0-63, or give --shard {task}/N"
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
    if (number := _whole(text)) is None and text:
        raise ValueError(f"{name}={text}: is not a whole number; give --shard I/N")
    return number


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]+", text) and int(text) < 2**63 else None


def pending_of(plan: Plan, units: Sequence[Unit], tally: Tally) -> list[Unit]:
    """The units without a marker, by one listing; the others are counted, the oldest first."""
    commits = insist(commits_of, plan.store)
    ended = [unit for unit in units if unit.name in commits]
    found: list[dict[str, Any]] = []
    for some in (ended[at : at + _MARKERS_AT_ONCE] for at in range(0, len(ended), _MARKERS_AT_ONCE)):
        markers = insist(markers_of, plan.store, plan.hash, [commits[unit.name] for unit in some])
        for unit, marker in zip(some, markers, strict=True):
            fault = marker_refusal(plan, unit, marker)
            if fault is not None:
                raise InputError(f"{plan.store}: {commits[unit.name]}: {fault}")
            assert isinstance(marker, dict)
            found.append(marker)
    for marker in sorted(found, key=lambda marker: (marker.get("unix_s", 0), marker["quarantined"])):
        tally.add(marker, here=False)
    return [unit for unit in units if unit.name not in commits]


class Trial:
    """The units that are to be done, in the plan's order, as long as videos take its options.

    A unit that refuses them, with all of its videos, is put aside until a video of another one has taken them; then it
    is done again, and its videos are given up. After `most` such units only some that are spread over all others are
    tried, `sample` of them. Where these refuse, too, the options are wrong, and nothing is given up.
    """

    def __init__(self, units: Sequence[Unit], most: int, sample: int, *, options_suit: bool) -> None:
        self._waiting = collections.deque(units)
        self._held: list[Unit] = []
        self._refused: list[tuple[Unit, Outcome]] = []
        self._most, self._enough = most, most + sample
        self._options_suit = options_suit
        self._early: set[str] = set()  # given out before any video had taken the options

    def over(self) -> bool:
        """No unit is left here."""
        return not (self._waiting or self._held or self._refused)

    def waiting(self) -> bool:
        """Whether `next` has a unit now."""
        return bool(self._waiting)

    def next(self) -> Unit | None:
        """The unit to be done next; None: none, until more is known of those that were given out."""
        if not self._waiting:
            return None
        unit = self._waiting.popleft()
        if not self._options_suit:
            self._early.add(unit.name)
        return unit

    def again(self, unit: Unit, *, at_once: bool = False) -> None:
        """A unit is to be done again, after all others or before."""
        if at_once:
            self._waiting.appendleft(unit)
        else:
            self._waiting.append(unit)

    def suit(self) -> None:
        """A video has taken the options."""
        self._options_suit = True
        self._waiting.extend(self._held)
        self._waiting.extend(unit for unit, _ in self._refused)
        self._held, self._refused = [], []

    def refuse(self, unit: Unit, outcome: Outcome) -> bool:
        """Put a unit aside that refused the options; False: others have taken them, and yet it can't be done.

        One that was begun before they had is done again.
        """
        early = unit.name in self._early
        self._early.discard(unit.name)
        if self._options_suit:
            if early:
                self._waiting.append(unit)
            return early
        self._refused.append((unit, outcome))
        if len(self._refused) == self._most:
            self._held, self._waiting = [*self._waiting], collections.deque()
            self._draw()
        return True

    def decide(self, suit_elsewhere: Callable[[], bool] = lambda: False) -> tuple[int, str] | None:
        """Where nothing waits, and nothing is being done: code and line with which all stops; None: it goes on.

        `suit_elsewhere`: whether a video of the plan has taken the options by now, perhaps in another run.
        """
        if self._waiting or self.over():
            return None
        self._draw()
        if not self._waiting and suit_elsewhere():
            self.suit()
        if self._waiting:
            return None
        first = self._refused[0][1]
        return first.code, f"{counted(len(self._refused), 'unit')} tried, first {first.unit}: {first.line}"

    def _draw(self) -> None:
        """Take as many units as are to be tried yet, from all over those that are held."""
        count = min(max(self._enough - len(self._refused), 0), len(self._held))
        chosen = {(k + 1) * len(self._held) // count - 1 for k in range(count)}
        self._waiting.extend(unit for at, unit in enumerate(self._held) if at in chosen)
        self._held = [unit for at, unit in enumerate(self._held) if at not in chosen]


def run_units(
    plan: Plan, units: Sequence[Unit], folder: Path, tally: Tally, *, engine: str, arguments: Sequence[str],
    input_options: Any = None, others: Sequence[Unit] = (),
) -> tuple[int, str]:  # fmt: skip
    """Do units; gives an exit code of docs/SCALE.md, and why it stopped early, else "".

    `others`: those of other shares. Where all of `units` refuse the options some of these are done first: a share that
    holds only strange videos must not end a job that is well.
    """

    def work_of(unit: Unit) -> UnitWork:
        return UnitWork(plan, unit, folder, engine=engine, arguments=arguments, input_options=input_options)

    def ask(marker: dict[str, Any]) -> str | None:
        (unit,) = (unit for unit in plan.units if unit.name == marker["unit"])
        given = {"engine": engine, "arguments": arguments, "input_options": input_options}
        try:
            key = key_of_done(plan, marker)
            return tally.answered(key, Witness(plan, unit, key, folder, **given).why_not())
        except (OSError, UnavailableError) as error:  # of the store, or of an index part that is damaged
            return outcome_of(unit.name, error).line

    if (why := _why_stop(tally, ask)) is not None:  # what ended before says enough
        return STOPPED, why
    trial = Trial(units, _MOST_REFUSED, _SAMPLE, options_suit=tally.options_suit)
    stop = _do_all(trial, tally, work_of, lambda: suiting_marker(plan) is not None or _any_suits(others, work_of), ask)
    if (held := tally.held()) is not None and (stop is None or stop[0] == USAGE):  # it may be this machine's fault
        return STOPPED, held
    return stop or ((PARTIAL if tally.damaged or tally.quarantined else DONE), "")


def _why_stop(tally: Tally, ask: Callable[[dict[str, Any]], str | None]) -> str | None:
    if (why := tally.why_stop()) is None and (marker := tally.asks()) is not None:
        why = ask(marker)
    return why


def _any_suits(others: Sequence[Unit], work_of: Callable[[Unit], UnitWork]) -> bool:
    """Do one of each of some equal parts, until a video has taken the options."""
    count = min(_SAMPLE, len(others))
    ends = [k * len(others) // count for k in range(count + 1)] if count else []
    for first, end in itertools.pairwise(ends):  # by chance, as shares go round the plan in step
        marker = do_unit(work_of(others[random.randrange(first, end)])).marker
        if marker is not None and marker["done"] + marker["damaged"] > 0:
            return True
    return False


# Note [Done twice, never lost]
# Between the look for a unit's marker and its own there is all of the work. Who commits the unit meanwhile is not seen:
# then both have worked, and one marker counts, since a store creates it once. So that this stays rare the look is taken
# three times: before inputs are fetched, before the program runs, and before files are uploaded. Nothing is lost by it:
# a file's name holds its hash, so that two attempts write the same bytes under one name, or two names, of which the
# marker has the winner's and `gc` removes the other. A marker is made last, and the files that it names are looked for
# once more: a `gc` beside it may have taken them for orphans (Note [Orphans in buckets]); they are then uploaded again.
def _do_all(
    trial: Trial, tally: Tally, work_of: Callable[[Unit], UnitWork], suit_elsewhere: Callable[[], bool],
    ask: Callable[[dict[str, Any]], str | None],
) -> tuple[int, str] | None:  # fmt: skip
    """Do all: one is prepared and one is finished while another is worked on. Gives code and line of an early stop.

    An exception, as KeyboardInterrupt, waits for what is fetched or uploaded, but not for long: the process then must
    not wait for these threads, either.
    """
    finishing: collections.deque[tuple[Unit, concurrent.futures.Future[Outcome]]] = collections.deque()
    before, behind = concurrent.futures.ThreadPoolExecutor(1), concurrent.futures.ThreadPoolExecutor(1)
    following: _Prepared | None = None

    def count_first() -> tuple[int, str] | None:
        outcome = finishing[0][1].result()
        stop = _count(finishing.popleft()[0], outcome, trial, tally)
        if stop is None and (why := _why_stop(tally, ask)) is not None:
            stop = STOPPED, why
        if stop is not None:
            _count_rest(finishing, tally)
        return stop

    try:
        following = _prepared(before, trial, work_of)
        while following is not None or not trial.over():
            if following is not None:
                unit, work = following.unit, following.work
                while finishing and not _is_first(following.ready, finishing[0][1]):
                    if (stop := count_first()) is not None:
                        return stop
                following.ready.result()
                following = _prepared(before, trial, work_of)
                work.compute()
                finishing.append((unit, behind.submit(work.finish)))
            while finishing and (len(finishing) > 1 or finishing[0][1].done() or following is None):
                if (stop := count_first()) is not None:
                    return stop
            if following is None:
                if (stop := trial.decide(suit_elsewhere)) is not None:
                    return stop
                following = _prepared(before, trial, work_of)
        return None
    finally:  # where all went well nothing is left here
        if following is not None:
            following.work.cancel()
        left: list[concurrent.futures.Future[Any]] = [future for _, future in finishing]
        left += [] if following is None else [following.ready]
        concurrent.futures.wait(left, timeout=_GRACE_S)
        before.shutdown(wait=False, cancel_futures=True)
        behind.shutdown(wait=False, cancel_futures=True)


def _is_first(one: concurrent.futures.Future[None], other: concurrent.futures.Future[Outcome]) -> bool:
    """Wait for one of the two; gives whether it is the first alone: what the other one says may stop the run."""
    both: tuple[concurrent.futures.Future[Any], ...] = (one, other)
    concurrent.futures.wait(both, return_when=concurrent.futures.FIRST_COMPLETED)
    return not other.done()


class _Prepared(NamedTuple):
    """A unit of which the inputs are being fetched."""

    unit: Unit
    work: UnitWork
    ready: concurrent.futures.Future[None]


def _prepared(
    threads: concurrent.futures.Executor, trial: Trial, work_of: Callable[[Unit], UnitWork]
) -> _Prepared | None:
    unit = trial.next()
    if unit is None:
        return None
    work = work_of(unit)
    return _Prepared(unit, work, threads.submit(work.prepare))


def _count(unit: Unit, outcome: Outcome, trial: Trial, tally: Tally) -> tuple[int, str] | None:
    """Count a unit; gives code and line where the run must stop."""
    if outcome.marker is not None:
        tally.add(outcome.marker)
        if tally.options_suit:
            trial.suit()
        return None
    if outcome.held:
        why = tally.hold(unit.name, outcome.line)
        return None if why is None else (STOPPED, why)
    if outcome.refused and trial.refuse(unit, outcome):
        return None
    code = outcome.code if outcome.code > 0 else STOPPED
    return code, f"unit {outcome.unit}: {outcome.line or f'saccade ended with {outcome.code}'}"


def _count_rest(finishing: Iterable[tuple[Unit, concurrent.futures.Future[Outcome]]], tally: Tally) -> None:
    """What was on its way into the store when the run stopped is there, and counts."""
    for _, future in finishing:
        if (marker := future.result().marker) is not None:
            tally.add(marker)
