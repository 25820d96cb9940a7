"""The order of an epoch's clips, and who reads which: arithmetic alone. Going on where one stopped reads nothing."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class Place(NamedTuple):
    """A clip: the video's number in the store, and which of the video's clips."""

    video: int
    clip: int


@dataclass(frozen=True)
class Stage:
    """What readers of one split took: `taken[slot]` clips of each slot. A slot is a worker of a rank.

    `next_worker[rank]`: the worker that gives the rank's next batch, since a DataLoader asks one after the other.
    """

    ranks: int
    workers: int
    even: str | None
    taken: dict[int, int] = field(default_factory=dict)
    next_worker: dict[int, int] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """How many readers share an epoch."""
        return self.ranks * self.workers


class Order:
    """The order of one epoch.

    Videos stay by shards, in an order of shards and of a shard's videos that `seed` and `epoch` decide. What is left of
    the epoch is cut into slots that are equal to one clip; within a slot the clips of `window` videos mix.

    Args:
        clips: [V] how many clips each video has.
        shard: [V] which shard holds each.
        window: How many videos mix; 0: the store's order.
        seed: Of the shuffle.
        epoch: Which epoch.
    """

    def __init__(self, clips: Array, shard: Array, *, window: int, seed: int, epoch: int) -> None:
        self._clips, self._window, self._seed, self._epoch = clips.astype(np.int64), window, seed, epoch
        self._first = np.concatenate([[0], np.cumsum(self._clips)])  # the number of each video's first clip
        if window == 0:
            self._videos = np.arange(len(clips))
        else:
            rng = np.random.default_rng([seed, epoch])
            shards = rng.permutation(int(shard.max()) + 1 if len(shard) else 0)
            self._videos = np.lexsort((rng.random(len(clips)), shards[shard]))

    def __len__(self) -> int:
        """Clips of the epoch."""
        return int(self._first[-1])

    def of_slot(self, slot: int, split: Stage, before: list[Stage]) -> Iterator[Place]:
        """The clips of a slot of `split` in their order, after what the stages before took."""
        return self.counted(slot, split, before)[0]

    def counted(self, slot: int, split: Stage, before: list[Stage]) -> tuple[Iterator[Place], Array]:
        """`of_slot`, and [V] i64 how many of these clips each video has."""
        left = self._left(before)
        numbers = self._cut(slot, split, left)
        videos = np.searchsorted(self._first, numbers, side="right") - 1
        counts = np.bincount(videos, minlength=len(self._clips)).astype(np.int64)
        places = (Place(video, clip) for video, clip in zip(videos.tolist(), (numbers - self._first[videos]).tolist(),
                                                              strict=True))  # fmt: skip
        if self._window == 0:
            return places, counts
        return _mix(places, self._window, random.Random(f"{self._seed} {self._epoch} {slot} {len(before)}")), counts

    def _left(self, before: list[Stage]) -> Array | None:
        """[clips] bool: not yet taken; None: all."""
        left: Array | None = None
        for i, stage in enumerate(before):
            taken = [
                self._first[place.video] + place.clip
                for slot, count in stage.taken.items()
                for place in itertools.islice(self.of_slot(slot, stage, before[:i]), count)
            ]
            left = np.ones(len(self), bool) if left is None else left
            left[np.array(taken, np.int64)] = False
        return left

    def _cut(self, slot: int, split: Stage, left: Array | None) -> Array:
        """The numbers of a slot's clips, in the epoch's order of videos."""
        counts = (
            self._clips if left is None else np.add.reduceat(np.append(left, False), self._first[:-1], dtype=np.int64)
        )
        if left is not None:
            counts[self._clips == 0] = 0  # reduceat gives an empty range its next element
        ends = np.cumsum(counts[self._videos])
        total = int(ends[-1]) if len(ends) else 0
        if split.even is None:
            at = np.arange(total * slot // split.slots, total * (slot + 1) // split.slots)
        else:
            each = total // split.slots if split.even == "drop" else -(-total // split.slots)
            at = np.arange(slot * each, (slot + 1) * each) % max(total, 1)
        which = np.searchsorted(ends, at, side="right")
        video = self._videos[which]
        nth = at - (ends[which] - counts[video])  # which of the video's clips that are left
        if left is None:
            numbers: Array = self._first[video] + nth
            return numbers
        before_video = np.cumsum(np.append(0, left))[self._first[video]]
        rest: Array = np.flatnonzero(left)[before_video + nth]
        return rest


def _mix(places: Iterator[Place], window: int, rng: random.Random) -> Iterator[Place]:
    """Draw from the clips of `window` videos at random; when all of one are drawn, the next video joins."""
    videos = (list(of_video) for _, of_video in itertools.groupby(places, key=lambda place: place.video))
    pool: list[Place] = []
    waiting: dict[int, int] = {}
    for of_video in itertools.islice(videos, window):
        pool += of_video
        waiting[of_video[0].video] = waiting.get(of_video[0].video, 0) + len(of_video)
    while pool:
        i = rng.randrange(len(pool))
        pool[i], pool[-1] = pool[-1], pool[i]
        place = pool.pop()
        yield place
        waiting[place.video] -= 1
        if waiting[place.video] == 0:
            del waiting[place.video]
            for of_video in itertools.islice(videos, 1):
                pool += of_video
                waiting[of_video[0].video] = waiting.get(of_video[0].video, 0) + len(of_video)
