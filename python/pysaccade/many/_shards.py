"""`open_shards`: clips out of a store of shards, for torch's DataLoader."""

from __future__ import annotations

import collections
import concurrent.futures
import itertools
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from pysaccade._native._positions import KINDS
from pysaccade.dumps._dataset import TIMES, Item, clip_item
from pysaccade.many._catalog import Catalog, read_catalog
from pysaccade.many._order import Array, Order, Place, Stage
from pysaccade.many._progress import Progress
from pysaccade.many._store import open_store
from pysaccade.many._video import Shards, Video

try:
    import torch
    from torch.utils.data import IterableDataset, get_worker_info
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("open_shards needs torch: pip install 'pysaccade[torch]'", name="torch") from error
from pysaccade.dumps._clip import Clip, finished

_DAMAGED = ("keep", "skip")
_EVEN = (None, "repeat", "drop")
_WHOLE = 2**62  # emissions: a clip that is a whole video


class ShardDataset(IterableDataset[Item]):
    """What `open_shards` gives; see there."""

    def __init__(self, catalog: Catalog, source: tuple[str, dict[str, Any]], *, clip: int | None, stride: int | None,
                 drop_last: bool, shuffle: int, seed: int, even: str | None, rank: int, ranks: int,
                 form: dict[str, Any], transform: Callable[[Item], Any] | None, prefetch: int) -> None:  # fmt: skip
        self._catalog, self._source = catalog, source
        self._clip = _WHOLE if clip is None else clip
        self._stride = self._clip if stride is None else stride
        self._counts = _clips(catalog.emissions.astype(np.int64), self._clip, self._stride, drop_last)
        self._shuffle, self._seed, self._even = shuffle, seed, even
        self._rank, self._ranks = rank, ranks
        self._form, self._transform, self._prefetch = form, transform, prefetch
        epoch: Any = torch.zeros(1, dtype=torch.int64, device="cpu")
        self._epoch = epoch.share_memory_()  # workers that stay see a new one
        kind = {"plan": catalog.plan, "videos": len(catalog), "clip": clip, "stride": stride, "drop_last": drop_last,
                "shuffle": shuffle, "seed": seed}  # fmt: skip
        self._progress = Progress(kind, even, rank)

    @property
    def videos(self) -> int:
        """How many videos are read; of a plan with segments, pieces."""
        return len(self._catalog)

    @property
    def clips(self) -> int:
        """How many clips an epoch has, over all ranks."""
        return int(self._counts.sum())

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch before iterating. The order depends on it: without this call each epoch has the same."""
        number = operator.index(epoch)
        if number < 0:
            raise ValueError(f"set_epoch: {number}; it must be 0 or more")
        self._epoch[0] = number

    def mark(self, batch: Mapping[str, Any] | Any) -> None:
        """Note that this item, or batch of items, was used: `state_dict` goes on behind it.

        Args:
            batch: An item, a batch with the items' key "at", or that value alone.
        """
        at = batch["at"] if isinstance(batch, Mapping) else batch
        rows = at if isinstance(at, torch.Tensor) else torch.stack(list(at))
        self._progress.mark(rows.reshape(-1, 5).tolist())

    def state_dict(self) -> dict[str, Any]:
        """Where reading stands, as plain numbers and texts: after what was marked, else after what was given here."""
        return self._progress.state(int(self._epoch[0]))

    def load_state_dict(self, state: Mapping[str, Any] | list[Mapping[str, Any]]) -> None:
        """Go on where a `state_dict` stood, also with other numbers of ranks and workers.

        Args:
            state: One state; or those of all ranks, which they need where there are now other numbers of them.

        Raises:
            ValueError: It is of another store, or of other clips, another shuffle or seed.
        """
        self._epoch[0] = self._progress.load(state)

    def __iter__(self) -> Iterator[Any]:
        """The clips of this rank and worker in this epoch."""
        worker = get_worker_info()
        workers, number = (1, 0) if worker is None else (worker.num_workers, worker.id)
        epoch, split = int(self._epoch[0]), Stage(self._ranks, workers, self._even)
        before, slot, done = self._progress.begin(epoch, split, number)
        order = Order(self._counts, self._catalog.shard, window=self._shuffle, seed=self._seed, epoch=epoch)
        places, left = order.counted(slot, split, before)
        for place in itertools.islice(places, done):
            left[place.video] -= 1
        for given, (place, video) in enumerate(self._videos(places, left), done + 1):
            item = self._item(place, video)
            at = (epoch, self._ranks, workers, slot, given)
            item["at"] = torch.tensor(at, device="cpu")
            self._progress.given(at)
            yield finished(item, self._transform)

    def _videos(self, places: Iterator[Place], left: Array) -> Iterator[tuple[Place, Video]]:
        """Each place with its video, which is read once while its clips are near each other, and ahead of need.

        left: [V] how many of the places each video has.
        """
        source, options = self._source
        store = open_store(source, options)
        shards, catalog = Shards(store), self._catalog

        def read(video: int) -> Video:
            where = catalog.shards[catalog.shard[video]]
            return shards.video(where, int(catalog.offset[video]), int(catalog.nbytes[video]))

        if store.local:  # mapped: nothing is read ahead of use
            kept: dict[int, Video] = {}
            for place in places:
                if place.video not in kept:
                    while len(kept) > self._shuffle:
                        del kept[next(iter(kept))]
                    kept[place.video] = read(place.video)
                yield place, kept[place.video]
            return
        yield from _read_ahead(places, read, left, self._prefetch)

    def _item(self, place: Place, video: Video) -> Clip:
        first = place.clip * self._stride
        rows = slice(first, first + self._clip)
        arrays = {name: getattr(video, name)[rows] for name in ("patches", "geometry", "changed", "index")}
        item = clip_item(SimpleNamespace(**arrays, size=video.size), **self._form)
        item["video"], item["first"] = torch.tensor(place.video, device="cpu"), torch.tensor(first, device="cpu")
        item["key"], item["extra"] = video.key, video.extra
        return item


def open_shards(
    store: str | os.PathLike[str],
    *,
    clip: int | None = 8,
    stride: int | None = None,
    drop_last: bool = False,
    only_changed: bool = False,
    shuffle: int = 0,
    seed: int = 0,
    damaged: str = "keep",
    even: str | None = None,
    positions: str | None = "thw",
    t: str = "frame",
    rank: int | None = None,
    ranks: int | None = None,
    require_complete: bool = True,
    storage_options: Mapping[str, Any] | None = None,
    prefetch: int = 4,
    transform: Callable[[Item], Any] | None = None,
) -> ShardDataset:
    """Read clips of all videos of a store that `saccade work` filled: an iterable dataset for torch's DataLoader.

    Items are those of `DumpDataset`, without `dump`, and with `key` and `extra` (a text, and the manifest's other
    columns), `video` and `first` (i64: the video's number in the store, and the clip's first emission), and `at` [5]
    i64, for `mark`. `collate` batches them.

    Ranks and workers share the clips of an epoch, equally to one clip. For each new epoch call `set_epoch(n)`. To stop
    and go on: `data.mark(batch)` after each batch, save `data.state_dict()`; later `data.load_state_dict(state)`, which
    reads nothing of what was used. torchdata's StatefulDataLoader needs no `mark`.

    Args:
        store: A folder, or a URL of fsspec's, such as "s3://bucket/patches".
        clip: Emissions of an item; None: a whole video.
        stride: Emissions from one clip's begin to the next's; by default `clip`.
        drop_last: Leave out a video's last clip where it is shorter than `clip`.
        only_changed: Encode a place again only when it changed, as `DumpDataset`.
        shuffle: How many videos' clips mix, at random, in a random order of shards and videos; 0: the store's order.
        seed: Of the shuffle.
        damaged: "keep" or "skip" videos of which only a part could be decoded.
        even: With several readers: "repeat" some clips or "drop" some, so that all get equally many; None: neither, or
            "repeat" where there are several ranks, which would wait for each other.
        positions: "thw", "uv", "xyl", or None for none.
        t: What "thw" begins with: the "frame"'s number, the "emission"'s in its clip, or "seconds".
        rank: This process of `ranks`; both by default of torch.distributed where it is initialized, else RANK and
            WORLD_SIZE of the environment, else 0 of 1.
        ranks: See `rank`.
        require_complete: Refuse a store whose units are not all done.
        storage_options: Of fsspec's file system.
        prefetch: Of a bucket, videos that are read ahead of need.
        transform: Applied to each item last.

    Raises:
        InputError: The store is missing, damaged or incomplete.
        UnavailableError: fsspec is needed and not installed.
        ValueError: An argument is wrong.
    """
    if positions is not None and positions not in KINDS:
        raise ValueError(f"open_shards: positions is {positions!r}; it must be None or one of {KINDS}")
    for name, value, known in (("t", t, TIMES), ("damaged", damaged, _DAMAGED), ("even", even, _EVEN)):
        if value not in known:
            raise ValueError(f"open_shards: {name} is {value!r}; it must be one of {known}")
    numbers = {"clip": (clip, 1), "stride": (stride, 1), "shuffle": (shuffle, 0), "prefetch": (prefetch, 0)}
    for name, (number, least) in numbers.items():
        if number is not None and operator.index(number) < least:
            raise ValueError(f"open_shards: {name} is {number}; it must be {least} or more")
    if clip is None and stride is not None:
        raise ValueError("open_shards: stride needs a clip; a whole video has none")
    rank, ranks = _ranks(rank, ranks)
    path = os.fsdecode(store)
    options = dict(storage_options or {})
    catalog = read_catalog(open_store(path, options), require_complete=require_complete)
    if damaged == "skip":
        catalog = catalog.only(~catalog.damaged)
    return ShardDataset(
        catalog,
        (path if "://" in path else os.path.abspath(path), options),  # noqa: PTH100
        clip=clip,
        stride=stride,
        drop_last=drop_last,
        shuffle=operator.index(shuffle),
        seed=operator.index(seed),
        even="repeat" if even is None and ranks > 1 else even,
        rank=rank,
        ranks=ranks,
        form={"only_changed": only_changed, "kind": positions, "t": t},
        transform=transform,
        prefetch=prefetch,
    )


def _read_ahead(
    places: Iterator[Place], read: Callable[[int], Video], left: Array, prefetch: int
) -> Iterator[tuple[Place, Video]]:
    """Each place with its video; some threads read those of the next places.

    left: [V] how many of the places each video has: it is dropped after the last one.
    """
    queue: collections.deque[Place] = collections.deque()
    queued: collections.Counter[int] = collections.Counter()
    reading: dict[int, concurrent.futures.Future[Video]] = {}
    with concurrent.futures.ThreadPoolExecutor(max(prefetch, 1), "pysaccade-shards") as threads:
        try:
            while True:
                while len(queued) <= prefetch:
                    following = next(places, None)
                    if following is None:
                        break
                    queue.append(following)
                    queued[following.video] += 1
                    if following.video not in reading:
                        reading[following.video] = threads.submit(read, following.video)
                if not queue:
                    return
                place = queue.popleft()
                yield place, reading[place.video].result()
                queued[place.video] -= 1
                if queued[place.video] == 0:
                    del queued[place.video]
                left[place.video] -= 1
                if left[place.video] == 0:
                    del reading[place.video]
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _clips(emissions: Any, clip: int, stride: int, drop_last: bool) -> Any:
    """How many clips videos of so many emissions have; one without emissions has none."""
    if drop_last and clip != _WHOLE:
        return np.maximum((emissions - clip) // stride + 1, 0)
    return np.where(emissions > 0, np.maximum(-(-(emissions - clip) // stride), 0) + 1, 0)


def _ranks(rank: int | None, ranks: int | None) -> tuple[int, int]:
    if (rank is None) != (ranks is None):
        raise ValueError("open_shards: give rank and ranks, or neither")
    if rank is None or ranks is None:
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        rank, ranks = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    if not 0 <= operator.index(rank) < operator.index(ranks):
        raise ValueError(f"open_shards: rank {rank} of {ranks}; it must be 0 to {ranks - 1}")
    return rank, ranks
