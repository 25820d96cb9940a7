"""`run`: processes of `saccade work` as tasks of Ray. Ray places them; the store says what is done."""

from __future__ import annotations

import collections
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._catalog import commits_of, facts_of
from pysaccade.many._store import insist, is_remote, open_store
from pysaccade.on_ray._child import DONE, PARTIAL, STOPPED, UNAVAILABLE, USAGE, Ended, environment
from pysaccade.on_ray._child import run as run_program

try:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("pysaccade.ray needs Ray: pip install 'pysaccade[ray]'", name="ray") from error

_LOOK_S = 2.0
_GRACE_S = 30.0
_PLACES_EACH_S = 10.0
_ANYWHERE = ""  # in place of a node: by this a cluster that grows by itself sees that more is wanted


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
) -> dict[str, Any]:
    """Do what is left of a store's plan on a Ray cluster: on each node as many `saccade work STORE` as it holds.

    These take units by claims in the store and help each other, with others outside of Ray too. So this can be stopped,
    killed and run again, also with another engine. When a node is added it gets its processes; when one is lost, others
    take over its units. A node whose process ends for want of something (exit code 1 or 69) gets no more. Starts Ray,
    or connects to the cluster of RAY_ADDRESS, if the caller did not.

    Args:
        store: A folder that all nodes see, or a URL of fsspec's.
        cpus: Of a process: so many videos run side by side in it. By default 1.
        gpus: Of a process; by default 1 / `workers_per_gpu` if the plan's backend is "cuda", else 0.
        workers_per_gpu: Processes that share a GPU.
        arguments: More options of `saccade work`, such as ["--max-bad", "10"].
        attempts: The run stops after so many deaths for each place, one after another, without a unit done between.
        scratch: A folder of each node for what is being worked on; by default where temporary files lie.
        storage_options: Of fsspec's file system.

    Returns:
        What `saccade status --json` prints, and `code`, an exit code of docs/SCALE.md, and `line`, why it stopped,
        else "".

    Raises:
        InputError: There is no plan, or it is damaged; or an option is wrong.
        UnavailableError: fsspec is needed and not installed.
        OSError: The store can't be read.
    """
    path = os.fsdecode(store)
    path = path if is_remote(path) else os.path.abspath(path.removeprefix("file://"))  # noqa: PTH100
    more = environment(storage_options, scratch)
    counts = _status(path, more)
    if counts["units_done"] == counts["units"]:
        return {**counts, **_ended(counts)}
    opened = open_store(path, storage_options)
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    on_gpu = insist(facts_of, opened).get("backend") == "cuda"
    cpus = 1.0 if cpus is None else float(cpus)
    gpus = (1.0 / workers_per_gpu if on_gpu else 0.0) if gpus is None else float(gpus)
    options = ["--set", "engine=ray", "--progress", "none", *_places(on_gpu, cpus, gpus, arguments), *arguments]
    task = ray.remote(_work)

    def place(node: str) -> Any:
        where: Any = NodeAffinitySchedulingStrategy(node, soft=False) if node else "SPREAD"
        placed = task.options(num_cpus=cpus, num_gpus=gpus, max_retries=0, scheduling_strategy=where)
        return placed.remote(path, options, more)

    def left() -> int:
        return int(counts["units"]) - len(insist(commits_of, opened))

    ended = _Runner(path, place, left, lambda: _places_of(cpus, gpus), attempts).run()
    if ended.code == USAGE:
        raise InputError(ended.why)
    counts = _status(path, more)
    if ended.code in (DONE, PARTIAL):
        return {**counts, **_ended(counts)}
    return {**counts, "code": ended.code, "line": ended.why}


def _ended(counts: Mapping[str, Any]) -> dict[str, Any]:
    return {"code": PARTIAL if counts["damaged"] or counts["quarantined"] else DONE, "line": ""}


def _status(path: str, more: Mapping[str, str]) -> dict[str, Any]:
    ended = run_program(["status", path, "--json"], more)
    if ended.code == DONE:
        found: dict[str, Any] = json.loads(ended.said)
        return found
    raise {USAGE: InputError, UNAVAILABLE: UnavailableError}.get(ended.code, OSError)(ended.why)


def _places(on_gpu: bool, cpus: float, gpus: float, arguments: Sequence[str]) -> list[str]:
    """Options of `saccade work` for what a task has: so many cores, or so many devices, which Ray numbers from 0."""
    given = {argument.partition("=")[0] for argument in arguments}
    if on_gpu:
        devices = ",".join(str(device) for device in range(max(int(gpus), 1)))
        return [] if "--gpus" in given else ["--gpus", devices]
    return [] if given & {"--cores", "--jobs"} else ["--cores", str(max(int(cpus), 1))]


def _places_of(cpus: float, gpus: float) -> dict[str, int]:
    """Node -> how many processes it holds at once; those that hold none are not in it."""
    found = {}
    nodes: Any = ray.nodes
    for node in nodes():
        has, wants = node["Resources"], {"CPU": cpus, "GPU": gpus}
        counts = [has.get(name, 0.0) / each for name, each in wants.items() if each]
        count = int(min(counts, default=1.0) + 1e-6)
        if node["Alive"] and count:
            found[node["NodeID"]] = count
    return found


def _work(path: str, options: list[str], more: dict[str, str]) -> tuple[Ended, str]:
    """A task: works on the store until it is done. Gives how it ended, and the node's name."""
    node = ray.get_runtime_context().get_node_id()
    try:
        return run_program(["work", path, *options], {**more, "SACCADE_PYTHON": sys.executable}), node
    except UnavailableError as error:  # of this node
        return Ended(UNAVAILABLE, "", str(error)), node


class _Interrupts:
    """Ctrl-C between two calls of Ray: one that came inside of a call could end the process in Ray's own code.

    The second one acts at once. In a thread that is not the main one nothing changes.
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
        self.check()
        self._seen = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if one came."""
        if self._seen:
            raise KeyboardInterrupt


class _Runner:
    """Keeps a process in each place of the cluster, until one of them finds the store done.

    Args:
        store: Its name, for messages.
        place: Starts a task on a node; gives Ray's reference.
        left: How many units are not done.
        places: Node -> how many processes it holds.
        attempts: Of `run`.
    """

    def __init__(self, store: str, place: Any, left: Any, places: Any, attempts: int) -> None:
        self._store, self._attempts = shown_url(store), attempts
        self._place, self._left, self._places_of = place, left, places
        self._places: dict[str, int] = {}
        self._looked_s = -_PLACES_EACH_S
        self._units = left()
        self._in_flight: dict[Any, str] = {}  # task -> node
        self._lacking: set[str] = set()
        self._deaths = 0
        self._last = Ended(UNAVAILABLE, "", "no node can work")

    def run(self) -> Ended:
        """Gives how the first process ended that ends for all, else the last one."""
        try:
            with _Interrupts() as interrupts:
                while True:
                    interrupts.check()
                    self._look()
                    if not self._in_flight and self._nothing_is_left():
                        return Ended(DONE, "", "")
                    self._fill()
                    if self._lacking and not any(self._in_flight.values()) and not self._free():
                        return self._last
                    if (ended := self._collect()) is not None:
                        return ended
        finally:
            self._stop()

    def _nothing_is_left(self) -> bool:
        """Others may have done the rest."""
        self._units = self._left()
        return bool(self._units == 0)

    def _look(self) -> None:
        """Ask which nodes there are, now and then: they come and go."""
        now = time.monotonic()
        if now - self._looked_s < _PLACES_EACH_S:
            return
        first, self._looked_s, self._places = self._looked_s < 0, now, self._places_of()
        if first and not self._places:
            print(f"{self._store}: no node of the cluster has room for a process; waiting for one", file=sys.stderr)

    def _free(self) -> list[str]:
        """The places without a process, a node's name each."""
        busy = collections.Counter(self._in_flight.values())
        usable = {node: count for node, count in self._places.items() if node not in self._lacking}
        return [node for node, count in usable.items() for _ in range(count - busy[node])]

    def _fill(self) -> None:
        """Fill what is free. One process more waits in Ray's queue, as long as there are more units than processes."""
        wanted = [*self._free(), *([] if _ANYWHERE in self._in_flight.values() or self._lacking else [_ANYWHERE])]
        for node in wanted[: max(self._units - len(self._in_flight), 0)]:
            self._in_flight[self._place(node)] = node

    def _collect(self) -> Ended | None:
        """Wait a little for tasks that ended; gives how, if that is for all."""
        if not self._in_flight:
            time.sleep(_LOOK_S)
            return None
        for task in ray.wait(list(self._in_flight), timeout=_LOOK_S)[0]:
            del self._in_flight[task]
            ended: Ended
            try:
                ended, node = ray.get(task)
            except ray.exceptions.RayError as error:  # the worker or the node died
                ended, node = Ended(-signal.SIGKILL, "", type(error).__name__), _ANYWHERE
            if ended.code in (DONE, PARTIAL):
                self._let_others_end()
                return ended
            if ended.code == USAGE:
                return ended
            if ended.code in (STOPPED, UNAVAILABLE):
                self._leave_out(node, ended)
            elif (stop := self._note_death(ended)) is not None:
                return stop
        return None

    def _leave_out(self, node: str, ended: Ended) -> None:
        if node not in self._lacking:
            print(f"{self._store}: node {node} is left out: {ended.why}", file=sys.stderr)
        self._lacking.add(node)
        self._last = ended

    def _note_death(self, ended: Ended) -> Ended | None:
        """Count a process that somebody killed; gives why to stop."""
        self._looked_s = -_PLACES_EACH_S
        left = self._left()
        self._deaths = self._deaths + 1 if left == self._units else 1
        self._units = left
        if self._deaths < self._attempts * max(sum(self._places.values()), 1):
            return None
        return Ended(STOPPED, "", f"{self._deaths} processes died, and no unit was done between: {ended.why}")

    def _let_others_end(self) -> None:
        """The store is done, which all find by themselves once they run. What finds no place is cancelled.

        Not at once: Ray 2.52 to 2.60 aborts the driver if a task is cancelled while it is being placed ("Tried to
        complete task that was not pending").
        """
        if tasks := [task for task, node in self._in_flight.items() if node != _ANYWHERE]:
            ray.wait(tasks, num_returns=len(tasks), timeout=_GRACE_S)
        if waiting := [task for task, node in self._in_flight.items() if node == _ANYWHERE]:
            _, without_place = ray.wait(waiting, num_returns=len(waiting), timeout=_PLACES_EACH_S)
            for task in without_place:
                ray.cancel(task)

    def _stop(self) -> None:
        """End what is in flight: gently first, so that nothing is left on the nodes."""
        tasks = list(self._in_flight)
        for task in tasks:
            ray.cancel(task)
        if tasks:
            ray.wait(tasks, num_returns=len(tasks), timeout=_GRACE_S)
