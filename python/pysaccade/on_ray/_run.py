"""`run`: the units of a plan as tasks of Ray. Markers in the store say what is done; Ray only places the work."""

from __future__ import annotations

import collections
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._asked import check_native
from pysaccade.many._do_unit import Outcome, UnitWork, do_unit, outcome_of, suiting_marker
from pysaccade.many._native_work import DONE, PARTIAL, STOPPED, UNAVAILABLE
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._put_plan import RefusedError
from pysaccade.many._run_units import Trial, pending_of
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import LocalStore, insist, open_store
from pysaccade.many._tally import Tally, counted
from pysaccade.many._witness import Witness, key_of_done, reason
from pysaccade.on_ray._cluster import Nodes

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("pysaccade.ray needs Ray: pip install 'pysaccade[ray]'", name="ray") from error

_LOOK_S = 2.0
_GRACE_S = 30.0
_MOST_REFUSED, _SAMPLE = 20, 20  # units; most are in flight already when the first one ends
_PLACES_EACH_S = 10.0


def run(
    store: str | os.PathLike[str],
    *,
    cpus: float | None = None,
    gpus: float | None = None,
    workers_per_gpu: int = 1,
    arguments: Sequence[str] = (),
    attempts: int = 4,
    scratch: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    max_bad_percent: float = 5.0,
    progress: str = "auto",
) -> dict[str, Any]:
    """Do the units of a store's plan on a Ray cluster, those that are not done yet.

    A unit is a task that runs `saccade work --unit`, whatever its videos do; it commits the unit itself. So this can be
    stopped, killed and run again, also with another engine. A unit whose task, worker or node dies is placed again, up
    to `attempts` times. Starts Ray, or connects to the cluster of RAY_ADDRESS, where the caller didn't.

    Args:
        store: A folder that all nodes see, or a URL of fsspec's.
        cpus: Of a unit: so many videos run side by side in it. By default 1.
        gpus: Of a unit; by default 1 / `workers_per_gpu` where the plan's backend is "cuda", else 0.
        workers_per_gpu: Units that share a GPU.
        arguments: More options of `saccade work`.
        attempts: How often a unit is placed before it is left pending; where the store fails, before the run stops.
        scratch: A folder of each node for what is being worked on; by default where temporary files lie.
        storage_options: Of fsspec's file system.
        max_bad_percent: Stop when more items than this, of all that have ended in the store, are given up.
        progress: "auto" (a line), "json" or "none": on stderr, each 10 s.

    Returns:
        Counts: in = done + damaged + quarantined + pending, and more; `code`, an exit code of docs/SCALE.md, and
        `line`, why it stopped or what is left, else "".

    Raises:
        InputError: There is no plan, or it is damaged; or an option is wrong.
        UnavailableError: fsspec is needed and not installed.
    """
    path, options = os.fsdecode(store), dict(storage_options or {})
    _check_options(path, arguments, max_bad_percent)
    opened = open_store(path, options)
    plan = insist(Plan, opened)
    insist(plan.check_content)
    if isinstance(opened, LocalStore):
        path = os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    on_gpu = plan.facts.get("backend") == "cuda"
    cpus = 1.0 if cpus is None else float(cpus)
    gpus = (1.0 / workers_per_gpu if on_gpu else 0.0) if gpus is None else float(gpus)
    tally = Tally(plan, plan.units, progress=progress, max_bad_percent=max_bad_percent)
    todo = pending_of(plan, plan.units, tally)
    runner = _Runner(plan, todo, tally, Nodes(cpus, gpus), attempts)
    task = ray.remote(_do)
    facts = ray.put(plan.facts)
    given = ([*_places(on_gpu, cpus, gpus, arguments), *arguments], path, options, scratch)

    def submit(unit: Unit, where: Any) -> Any:
        placed = task.options(num_cpus=cpus, num_gpus=gpus, max_retries=0, scheduling_strategy=where)
        return placed.remote(unit, facts, *given)

    witnesses = ray.remote(_why_not)

    def ask(unit: Unit, key: str, where: Any) -> Any:
        placed = witnesses.options(num_cpus=cpus, num_gpus=gpus, max_retries=0, scheduling_strategy=where)
        return placed.remote(unit, key, facts, *given)

    code, line = runner.run(submit, ask)
    tally.say(last=True)
    return {**tally.facts(), "units": tally.units, "units_done": tally.units_done, "code": code, "line": line}


def _check_options(store: str, arguments: Sequence[str], max_bad_percent: float) -> None:
    """Have the program check them, before any unit starts it."""
    try:
        check_native("work", store, ["--unit", "00000000", "--max-bad", f"{max_bad_percent:g}", *arguments])
    except RefusedError as refused:
        raise InputError(str(refused)) from None


def _places(on_gpu: bool, cpus: float, gpus: float, arguments: Sequence[str]) -> list[str]:
    """Options of `saccade work` for what a task has: so many cores, or so many devices, which Ray numbers from 0."""
    given = {argument.partition("=")[0] for argument in arguments}
    if on_gpu:
        devices = ",".join(str(device) for device in range(max(int(gpus), 1)))
        return [] if "--gpus" in given else ["--gpus", devices]
    return [] if given & {"--cores", "--jobs"} else ["--cores", str(max(int(cpus), 1))]


def _do(
    unit: Unit, facts: dict[str, Any], arguments: list[str], path: str, options: dict[str, Any], scratch: str | None
) -> tuple[Outcome, str]:
    """A task: one unit. Gives what became of it, and the node's name."""
    node = ray.get_runtime_context().get_node_id()
    try:
        plan = Plan(open_store(path, options), facts)
        with Scratch(scratch) as folder:
            work = UnitWork(plan, Unit(*unit), folder, engine="ray", arguments=arguments, input_options=options)
            return do_unit(work), node
    except Exception as error:  # of whatever kind: the driver says it, and Ray has nothing to unpickle
        return outcome_of(unit[0], error), node


def _why_not(
    unit: Unit, key: str, facts: dict[str, Any], arguments: list[str], path: str, options: dict[str, Any],
    scratch: str | None,
) -> str | None:  # fmt: skip
    """A task: a video that was done is done again; gives why it can't be."""
    try:
        plan = Plan(open_store(path, options), facts)
        with Scratch(scratch) as folder:
            witness = Witness(plan, Unit(*unit), key, folder, engine="ray", arguments=arguments, input_options=options)
            return witness.why_not()
    except Exception as error:
        return reason(outcome_of(unit[0], error))


class _Interrupts:
    """Ctrl-C between two calls of Ray: one that came inside of a call could end the process in Ray's own code.

    The second one acts at once. Where this is not the main thread, nothing changes.
    """

    def __enter__(self) -> _Interrupts:
        self._seen = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: Any) -> None:
        if self._seen:
            raise KeyboardInterrupt
        self._seen = True

    def check(self) -> None:
        """Raise KeyboardInterrupt where one came."""
        if self._seen:
            raise KeyboardInterrupt


class _Runner:
    """Keeps as many units in flight as the cluster has slots, and places those again whose task died."""

    def __init__(self, plan: Plan, todo: Sequence[Unit], tally: Tally, nodes: Nodes, attempts: int) -> None:
        self._plan, self._tally, self._nodes, self._attempts = plan, tally, nodes, attempts
        self._trial = Trial(todo, _MOST_REFUSED, _SAMPLE, options_suit=tally.options_suit)
        self._placed: collections.Counter[str] = collections.Counter()
        self._in_flight: dict[Any, tuple[Unit, str | None]] = {}
        self._left: list[str] = []
        self._slots: dict[str, int] = {}
        self._looked_s = -_PLACES_EACH_S
        self._told = False
        self._lacking = UNAVAILABLE, ""  # why a node was left out: code and line
        self._ask: Any = None
        self._asked: dict[Any, str] = {}  # task -> the key of the video that it does again

    def run(self, submit: Any, ask: Any) -> tuple[int, str]:
        """Do all; gives code and line. `ask`: has a video that was done tried again."""
        self._ask = ask
        try:
            with _Interrupts() as interrupts:
                return self._run(submit, interrupts)
        except BaseException:
            self._stop(STOPPED, "")
            raise

    def _run(self, submit: Any, interrupts: _Interrupts) -> tuple[int, str]:
        if (stop := self._judge()) is not None:  # what ended before says enough
            return stop
        while self._in_flight or not self._trial.over():
            interrupts.check()
            if not self._in_flight and (stop := self._trial.decide(self._suit_elsewhere)) is not None:
                return self._unless_left(stop)
            self._look()
            if self._nodes.all_left_out():
                code, line = self._lacking
                return self._stop(code, f"no node is left that can do a unit: {line}")
            while self._trial.waiting() and not self._asked and len(self._in_flight) < self._most():
                self._place(submit)
            stop = self._collect()
            if stop is not None:
                return self._stop(*stop)
        for task in self._asked:
            ray.cancel(task)
        return self._unless_left((PARTIAL if self._tally.damaged or self._tally.quarantined else DONE, ""))

    def _unless_left(self, ended: tuple[int, str]) -> tuple[int, str]:
        return (STOPPED, f"{counted(len(self._left), 'unit')} pending: {self._left[0]}") if self._left else ended

    def _suit_elsewhere(self) -> bool:
        return suiting_marker(self._plan) is not None

    def _most(self) -> int:
        """Units in flight: some wait in Ray's queue, by which a cluster that grows by itself sees what is wanted."""
        slots = sum(self._slots.values())
        return slots + max(slots // 4, 2)

    def _look(self) -> None:
        """Ask which nodes there are, now and then: they come and go."""
        now = time.monotonic()
        if now - self._looked_s < (_LOOK_S if not self._slots else _PLACES_EACH_S):
            return
        self._looked_s, self._slots = now, self._nodes.slots()
        if not self._slots and not self._told:
            self._told = True
            print(f"{self._plan.store}: no node of the cluster has room for a unit; waiting for one", file=sys.stderr)

    def _place(self, submit: Any) -> None:
        unit = self._trial.next()
        assert unit is not None
        self._placed[unit.name] += 1
        where = self._where()
        self._in_flight[submit(tuple(unit), where)] = (unit, getattr(where, "node_id", None))

    def _where(self) -> Any:
        busy = collections.Counter(node for _, node in self._in_flight.values() if node is not None)
        return self._nodes.placement(busy, self._slots)

    def _collect(self) -> tuple[int, str] | None:
        """Wait a little for tasks that ended; gives code and line where all must stop."""
        if not (self._in_flight or self._asked):
            time.sleep(_LOOK_S)
            return None
        for task in ray.wait([*self._in_flight, *self._asked], timeout=_LOOK_S)[0]:
            if task in self._asked:
                if (why := self._answer(task)) is not None:
                    return STOPPED, why
                continue
            unit, _ = self._in_flight.pop(task)
            try:
                outcome, node = ray.get(task)
            except ray.exceptions.RayError as error:  # the worker or the node died, not the video
                self._looked_s = -_PLACES_EACH_S
                self._again(unit, f"{type(error).__name__}")
                continue
            stop = self._count(unit, outcome, node)
            if stop is not None:
                return stop
        return None

    def _count(self, unit: Unit, outcome: Outcome, node: str) -> tuple[int, str] | None:
        if outcome.marker is not None:
            self._tally.add(outcome.marker)
            if outcome.marker["done"] + outcome.marker["damaged"] > 0:
                self._nodes.does(node)
            if self._tally.options_suit:
                self._trial.suit()
            return self._judge()
        why = f"unit {unit.name}: {outcome.line or f'saccade ended with {outcome.code}'}"
        if outcome.refused and self._trial.refuse(unit, outcome):
            self._placed[unit.name] -= 1  # nothing died
            return None
        if outcome.code == UNAVAILABLE or outcome.held:
            if self._nodes.lacks(node):
                self._lacking = outcome.code, outcome.line
                print(f"{self._plan.store}: node {node} is left out: {outcome.line}", file=sys.stderr)
            self._looked_s = -_PLACES_EACH_S
            if outcome.held:  # by this node's fault, or the folder's
                self._again(unit, why)
            else:
                self._placed[unit.name] -= 1  # it was not the unit's
                self._trial.again(unit)
            return None
        if outcome.code < 0 or outcome.code == 4:  # a signal that was not ours
            self._again(unit, why)
            return None
        if outcome.passing and self._placed[unit.name] < self._attempts:
            self._trial.again(unit, at_once=True)  # a store that always refuses stops the run, whatever else waits
            return None
        return outcome.code, why

    def _judge(self) -> tuple[int, str] | None:
        """Code and line where what has ended says that all must stop; or has a video that was done tried again."""
        if (why := self._tally.why_stop()) is not None:
            return STOPPED, why
        if (done := self._tally.asks()) is not None:
            try:
                key = key_of_done(self._plan, done)
            except (OSError, UnavailableError) as error:  # of the store, or of an index part that is damaged
                return STOPPED, outcome_of(done["unit"], error).line
            (unit,) = (unit for unit in self._plan.units if unit.name == done["unit"])
            self._asked[self._ask(tuple(unit), key, self._where())] = key
        return None

    def _answer(self, task: Any) -> str | None:
        """Why to stop, where a video that was done can't be done any more."""
        key = self._asked.pop(task)
        try:
            return self._tally.answered(key, ray.get(task))
        except ray.exceptions.RayError:  # the worker or the node died
            return None

    def _again(self, unit: Unit, why: str) -> None:
        if self._placed[unit.name] < self._attempts:
            self._trial.again(unit)
        else:
            self._left.append(f"unit {unit.name} was placed {self._attempts} times; {why}")

    def _stop(self, code: int, line: str) -> tuple[int, str]:
        """End what is in flight: gently first, so that nothing is left on the nodes."""
        tasks = [*self._in_flight, *self._asked]
        for task in tasks:
            ray.cancel(task)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=_GRACE_S)
        return code, line
