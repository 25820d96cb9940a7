"""How far an epoch was read, and by which readers: what a dataset's state holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pysaccade.many._order import Stage

_FORMAT, _SCHEMA = "saccade-shards", 1
Row = tuple[int, int, int, int, int]  # an item's `at`: epoch, ranks, workers, slot, how many clips the slot has given


class Progress:
    """Counts of what readers took, in stages of an epoch: one ends where the number of readers changes.

    `kind`: what of a dataset must be the same for a place in it to mean the same. `rank`: whose counts these are.
    """

    def __init__(self, kind: Mapping[str, Any], even: str | None, rank: int) -> None:
        self._kind, self._even, self._rank = dict(kind), even, rank
        self._loaded: tuple[int, list[Stage], frozenset[int]] = (0, [], frozenset())
        self._given: dict[int, Row] = {}  # slot -> its last clip, in this process
        self._marked: dict[int, Row] = {}
        self._last: Row | None = None  # of what was marked

    def begin(self, epoch: int, split: Stage, worker: int) -> tuple[list[Stage], int, int]:
        """The stages before, the slot that this worker of the rank reads, and how many of its clips were taken.

        A DataLoader begins with worker 0, which therefore reads the slot that comes next.
        """
        self._given = {}
        loaded_epoch, stages, ranks = self._loaded
        slot = self._rank * split.workers + worker
        if epoch != loaded_epoch or not stages:
            return [], slot, 0
        last = stages[-1]
        if _split(last) == _split(split):
            slot = self._rank * split.workers + (worker + last.next_worker.get(self._rank, 0)) % split.workers
            return stages[:-1], slot, last.taken.get(slot, 0)
        if len(ranks) < last.ranks:
            raise ValueError(
                f"open_shards: this state is of {len(ranks)} of {last.ranks} ranks; to go on with other numbers of "
                "ranks or workers give load_state_dict a list of the states of all ranks"
            )
        return stages, slot, 0

    def given(self, at: Row) -> None:
        """A clip was given by this process."""
        self._given[at[3]] = at

    def mark(self, rows: Iterable[Sequence[int]]) -> None:
        """Clips were used; in the order in which they came."""
        for epoch, ranks, workers, slot, count in rows:
            if any(row[:3] != (epoch, ranks, workers) for row in self._marked.values()):
                self._marked = {}
            self._last = self._marked[slot] = (epoch, ranks, workers, slot, count)

    def state(self, epoch: int) -> dict[str, Any]:
        """What was loaded, and what was marked since; where nothing was marked, what was given by this process."""
        rows = self._marked or self._given
        loaded_epoch, loaded, known = self._loaded
        of_epoch = next(iter(rows.values()))[0] if rows else epoch
        stages = list(loaded) if loaded_epoch == of_epoch else []
        for _, ranks, workers, slot, count in rows.values():
            stage = Stage(ranks, workers, self._even)
            if stages and _split(stages[-1]) == _split(stage):
                before = stages.pop()
                stage.taken.update(before.taken)
                stage.next_worker.update(before.next_worker)
            stage.taken[slot] = count
            if self._last is not None:
                stage.next_worker[self._rank] = (self._last[3] + 1) % workers
            stages.append(stage)
            known = frozenset()
        written = [
            {
                "ranks": s.ranks,
                "workers": s.workers,
                "even": s.even,
                "taken": {str(slot): count for slot, count in s.taken.items()},
                "next_worker": {str(rank): worker for rank, worker in s.next_worker.items()},
            }
            for s in stages
        ]
        of_ranks = sorted(known | {self._rank})
        return {
            "format": _FORMAT,
            "schema": _SCHEMA,
            **self._kind,
            "epoch": of_epoch,
            "stages": written,
            "rank": self._rank,
            "of_ranks": of_ranks,
        }

    def load(self, state: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> int:
        """Take over a state, or those of several ranks; gives the epoch.

        Raises:
            ValueError: They are none, or of something else.
        """
        states = [state] if isinstance(state, Mapping) else list(state)
        if not states:
            raise ValueError("load_state_dict: there is no state")
        for one in states:
            self._check(one)
        parts = [[_stage(stage) for stage in one["stages"]] for one in states]
        stages: list[Stage] = max(parts, key=len)
        # A rank that took nothing since others resumed in other numbers has one stage less, or none.
        short = [bool(stages) and len(part) < len(stages) for part in parts]
        for part, is_short in zip(parts, short, strict=True):
            if part and part != stages[:-1] if is_short else len(part) != len(stages):
                raise ValueError("load_state_dict: these states were not saved at the same time by ranks of one run")
            if part and not is_short:
                if _split(part[-1]) != _split(stages[-1]):
                    raise ValueError("load_state_dict: these states are of different numbers of ranks or workers")
                stages[-1].taken.update(part[-1].taken)
                stages[-1].next_worker.update(part[-1].next_worker)
        epochs = {int(one["epoch"]) for one in states}
        if len(epochs) > 1:
            raise ValueError("load_state_dict: these states were not saved at the same time by ranks of one run")
        ranks = frozenset(
            rank
            for one, is_short in zip(states, short, strict=True)
            for rank in ([one["rank"]] if is_short and "rank" in one else one["of_ranks"])
        )
        epoch = epochs.pop()
        self._loaded, self._given, self._marked, self._last = (epoch, stages, ranks), {}, {}, None
        return epoch

    def _check(self, state: Mapping[str, Any]) -> None:
        if state.get("format") != _FORMAT or state.get("schema") != _SCHEMA:
            raise ValueError("load_state_dict: not a state of open_shards")
        for name, value in self._kind.items():
            if state.get(name) != value:
                raise ValueError(f"load_state_dict: the state has {name} {state.get(name)!r}, this dataset {value!r}")


def _split(stage: Stage) -> tuple[int, int, str | None]:
    return stage.ranks, stage.workers, stage.even


def _stage(written: Mapping[str, Any]) -> Stage:
    taken = {int(slot): int(count) for slot, count in written["taken"].items()}
    next_worker = {int(rank): int(worker) for rank, worker in written.get("next_worker", {}).items()}
    return Stage(int(written["ranks"]), int(written["workers"]), written["even"], taken, next_worker)
