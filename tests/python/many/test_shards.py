"""`open_shards`: all clips once, the bytes of the arrays; ranks, workers, shuffles; going on where one stopped."""

from __future__ import annotations

import itertools
import json
import pickle
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pysaccade as sc
from conftest import import_or_skip
from store_support import HandMade, small_store, video

torch = import_or_skip("torch")
from torch.utils.data import DataLoader  # noqa: E402

from pysaccade.many import _video  # noqa: E402
from pysaccade.many._order import Order, Stage  # noqa: E402

# torch advises against more workers than this machine has cores.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")]
Clip = tuple[str, int]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> HandMade:
    return small_store(tmp_path_factory.mktemp("stores") / "store")


@pytest.fixture(scope="module", params=[1, 2])
def of_each_schema(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> HandMade:
    return small_store(tmp_path_factory.mktemp("stores") / "store", schema=request.param)


def expected(made: HandMade, clip: int = 4, leave_out: tuple[str, ...] = ()) -> list[Clip]:
    return [
        (key, first)
        for key in made.keys
        if key not in leave_out
        for first in range(0, len(made.arrays[key]["index"]), clip)
    ]


def clips(items: Any) -> list[Clip]:
    return [(item["key"], int(item["first"])) for item in items]


@pytest.mark.parametrize("only_changed", [False, True])
def test_items_hold_the_arrays_samples(of_each_schema: HandMade, only_changed: bool):
    made = of_each_schema
    data = sc.open_shards(made.path, clip=4, only_changed=only_changed)
    items = list(data)
    assert clips(items) == expected(made)
    assert data.clips == len(items)
    tokens = 0
    for item in items:
        rows = slice(int(item["first"]), int(item["first"]) + 4)
        arrays = {name: array[rows] for name, array in made.arrays[item["key"]].items()}
        visible = arrays["geometry"][..., 3] > 0
        patches, reuse = item["patches"].numpy(), item["reuse"].numpy()
        np.testing.assert_array_equal(patches[reuse[visible]], arrays["patches"][visible])
        assert item["frame"].tolist() == arrays["index"]["frame"].tolist()
        assert item["extra"] == {"caption": f"of {item['key']}"}
        if not only_changed:
            np.testing.assert_array_equal(item["positions"].numpy(), arrays["positions"][visible][:, :3])
        tokens += len(patches)
    visible = sum(int((arrays["geometry"][..., 3] > 0).sum()) for arrays in made.arrays.values())
    assert (tokens < 0.9 * visible) if only_changed else (tokens == visible)


def test_clip_of_none_is_a_whole_video(made: HandMade):
    items = list(sc.open_shards(made.path, clip=None))
    assert clips(items) == [(key, 0) for key in made.keys if len(made.arrays[key]["index"])]
    assert [len(item["frame"]) for item in items] == [len(a["index"]) for a in made.arrays.values() if len(a["index"])]


@pytest.mark.parametrize(
    ("clip", "stride", "drop_last"), [(8, None, True), (8, 3, False), (30, None, False), (30, 1, True)]
)
def test_clips_are_those_of_a_dump_dataset(made: HandMade, clip: int, stride: int | None, drop_last: bool):
    found = clips(sc.open_shards(made.path, clip=clip, stride=stride, drop_last=drop_last))
    truth = []
    for key in made.keys:
        n, step = len(made.arrays[key]["index"]), stride or clip
        starts = [first for first in range(0, n, step) if first + clip <= n or not drop_last]
        while len(starts) > 1 and starts[-2] + clip >= n:  # all of it was seen
            starts.pop()
        truth += [(key, first) for first in starts]
    assert found == truth


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("shuffle", [0, 1, 5, 1000])
def test_each_clip_comes_once(made: HandMade, workers: int, shuffle: int):
    data = sc.open_shards(made.path, clip=4, shuffle=shuffle, seed=3)
    found = clips(DataLoader(data, batch_size=None, num_workers=workers))
    assert sorted(found) == sorted(expected(made))
    assert (found == expected(made)) == (shuffle == 0 and workers < 2)


def test_spawned_workers_read_the_same(made: HandMade):
    data = sc.open_shards(made.path, clip=4, shuffle=4)
    loader = DataLoader(data, batch_size=None, num_workers=1, multiprocessing_context="spawn")
    assert clips(loader) == clips(data)
    assert clips(pickle.loads(pickle.dumps(data))) == clips(data)


def test_epochs_differ_and_repeat(made: HandMade):
    data = sc.open_shards(made.path, clip=4, shuffle=4, seed=9)
    orders = []
    for epoch in (0, 1, 0):
        data.set_epoch(epoch)
        orders.append(clips(data))
    assert orders[0] == orders[2] != orders[1]
    assert orders[0] != clips(sc.open_shards(made.path, clip=4, shuffle=4, seed=10))


def test_set_epoch_reaches_workers_that_stay(made: HandMade):
    data = sc.open_shards(made.path, clip=4, shuffle=4)
    loader = DataLoader(data, batch_size=None, num_workers=1, persistent_workers=True)
    first = clips(loader)
    data.set_epoch(1)
    second = clips(loader)
    assert first != second
    assert sorted(first) == sorted(second)


def test_shuffle_mixes_videos_of_its_window(made: HandMade):
    keys = [key for key, _ in clips(sc.open_shards(made.path, clip=1, shuffle=4))]
    runs = sum(a != b for a, b in itertools.pairwise(keys))
    assert runs > len(keys) / 2
    shards_in_order = [key.split("-")[0] for key in dict.fromkeys(keys)]
    assert shards_in_order != sorted(shards_in_order)


@pytest.mark.parametrize("even", [None, "repeat", "drop"])
def test_ranks_share_an_epoch(made: HandMade, even: str | None):
    parts = [clips(sc.open_shards(made.path, clip=4, shuffle=3, rank=r, ranks=3, even=even)) for r in range(3)]
    found, truth = [c for part in parts for c in part], expected(made)
    sizes = {len(part) for part in parts}
    if even == "drop":
        assert sizes == {len(truth) // 3}
        assert len(set(found)) == len(found)
    else:  # several ranks repeat by default
        assert sizes == {-(-len(truth) // 3)}
        assert set(found) == set(truth)
        assert len(found) - len(truth) < 3


def test_ranks_come_from_the_environment(made: HandMade, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert clips(sc.open_shards(made.path, clip=4)) == clips(sc.open_shards(made.path, clip=4, rank=1, ranks=2))


def test_damaged_videos_are_kept_or_skipped(made: HandMade):
    assert ("k1-2", 0) in clips(sc.open_shards(made.path, clip=4))
    assert clips(sc.open_shards(made.path, clip=4, damaged="skip")) == expected(made, leave_out=("k1-2",))


def test_loader_without_collate_names_the_right_one(made: HandMade):
    loader = DataLoader(sc.open_shards(made.path, clip=4, only_changed=True), batch_size=4)
    with pytest.raises(ValueError, match=r"pass collate_fn=sc\.collate"):
        list(loader)


def test_batches_collate(made: HandMade):
    data = sc.open_shards(made.path, clip=4, only_changed=True)
    for batch in DataLoader(data, batch_size=3, collate_fn=sc.collate, num_workers=1):
        assert batch["at"].shape == (len(batch["key"]), 5)
        assert batch["mask"].sum() == sum(len(set(r[r >= 0].tolist())) for r in batch["reuse"])


def take(data: Any, count: int, *, workers: int, batch: int = 2) -> list[Clip]:
    """Use `count` batches as a training loop does, which reads ahead, and mark them."""
    found: list[Clip] = []
    for items in itertools.islice(DataLoader(data, batch_size=batch, num_workers=workers, collate_fn=list), count):
        found += clips(items)
        data.mark(torch.stack([item["at"] for item in items]))
    return found


@pytest.mark.parametrize(("before", "after"), [(0, 0), (2, 2), (2, 0), (1, 3)])
@pytest.mark.parametrize("shuffle", [0, 5])
def test_reading_goes_on_behind_what_was_marked(made: HandMade, before: int, after: int, shuffle: int):
    def fresh() -> Any:
        return sc.open_shards(made.path, clip=4, shuffle=shuffle, seed=1)

    whole = clips(DataLoader(fresh(), batch_size=None, num_workers=before))
    data = fresh()
    used = take(data, 7, workers=before)
    state = json.loads(json.dumps(data.state_dict()))
    data = fresh()
    data.load_state_dict(state)
    used += take(data, 4, workers=after)
    again = fresh()
    again.load_state_dict(json.loads(json.dumps(data.state_dict())))
    used += clips(DataLoader(again, batch_size=None, num_workers=after))
    assert sorted(used) == sorted(whole)
    if before == after == 0:
        assert used == whole


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("stops", [(1, 1), (2, 3), (3, 0), (4, 5)])
def test_order_is_the_same_after_any_batch(made: HandMade, workers: int, stops: tuple[int, ...]):
    def fresh() -> Any:
        return sc.open_shards(made.path, clip=4, shuffle=5, seed=1)

    whole = take(fresh(), 10**6, workers=workers)
    data, used = fresh(), []
    for stop in (*stops, 10**6):
        used += take(data, stop, workers=workers)
        state = json.loads(json.dumps(data.state_dict()))
        data = fresh()
        data.load_state_dict(state)
    assert used == whole


def test_state_without_marks_is_what_was_given_here(made: HandMade):
    data = sc.open_shards(made.path, clip=4, shuffle=5)
    whole = clips(data)
    first = clips(itertools.islice(data, 9))
    again = sc.open_shards(made.path, clip=4, shuffle=5)
    again.load_state_dict(data.state_dict())
    assert first + clips(again) == whole


def test_next_epoch_begins_at_its_begin(made: HandMade):
    data = sc.open_shards(made.path, clip=4, shuffle=5)
    take(data, 3, workers=0)
    again = sc.open_shards(made.path, clip=4, shuffle=5)
    again.load_state_dict(data.state_dict())
    again.set_epoch(1)
    assert sorted(clips(again)) == sorted(expected(made))


def test_ranks_go_on_in_other_numbers(made: HandMade):
    used: list[Clip] = []
    states = []
    for rank in range(3):
        data = sc.open_shards(made.path, clip=4, shuffle=5, rank=rank, ranks=3, even="drop")
        used += take(data, 2, workers=0)
        states.append(data.state_dict())
    for rank in range(2):
        data = sc.open_shards(made.path, clip=4, shuffle=5, rank=rank, ranks=2, even="drop")
        data.load_state_dict(states)
        used += clips(data)
    assert len(used) == len(set(used))
    assert len(expected(made)) - len(used) <= 1


def test_ranks_go_on_where_one_has_taken_nothing_since(made: HandMade):
    def opened(rank: int, ranks: int, states: list[Any]) -> Any:
        data = sc.open_shards(made.path, clip=4, shuffle=5, rank=rank, ranks=ranks, even="drop")
        if states:
            data.load_state_dict(states)
        return data

    used: list[Clip] = []
    states: list[Any] = []
    for ranks, idle in ((4, 0), (3, 1), (2, 0)):
        readers = [opened(rank, ranks, states) for rank in range(ranks)]
        for rank, data in enumerate(readers):
            used += [] if rank == idle else take(data, 2, workers=0)
        states = [data.state_dict() for data in readers]
        with pytest.raises(ValueError, match="the states of all ranks"):
            next(iter(opened(0, 5, states[:idle] + states[idle + 1 :])))
        if ranks == 3:  # what the idle one knows is of the four
            with pytest.raises(ValueError, match="the states of all ranks"):
                next(iter(opened(0, 5, states[:2])))
    used += clips(opened(0, 1, states))
    assert sorted(used) == sorted(expected(made))


@pytest.mark.parametrize("wrong", [0, 1])
def test_states_of_two_times_are_refused(made: HandMade, wrong: int):
    def opened(rank: int, ranks: int) -> Any:
        return sc.open_shards(made.path, clip=4, rank=rank, ranks=ranks, even="drop")

    states = []
    for rank in range(2):
        data = opened(rank, 2)
        take(data, 1 + rank, workers=0)
        states.append(data.state_dict())
    later = []
    for rank in range(3):
        data = opened(rank, 3)
        data.load_state_dict(states)
        take(data, 1, workers=0)
        later.append(data.state_dict())
    with pytest.raises(ValueError, match="not saved at the same time"):
        opened(0, 1).load_state_dict([states[wrong], *later[1:]])


@pytest.mark.parametrize(("before", "after"), [(1, 1), (16, 1), (1, 16)])
@pytest.mark.parametrize("shuffle", [0, 4])
def test_few_videos_are_held_whoever_read_before(
    made: HandMade, monkeypatch: pytest.MonkeyPatch, before: int, after: int, shuffle: int
):
    import_or_skip("fsspec")

    def opened(rank: int, ranks: int) -> Any:
        return sc.open_shards(
            f"local://{made.path}", clip=1, shuffle=shuffle, prefetch=2, rank=rank, ranks=ranks, even="drop"
        )

    states, used = [], []
    for rank in range(before):
        data = opened(rank, before)
        used += take(data, 32 // before, workers=0, batch=1)
        states.append(data.state_dict())
    held: weakref.WeakSet[Any] = weakref.WeakSet()
    read = _video.Shards.video

    def noted(*given: Any) -> Any:
        found = read(*given)
        held.add(found)
        return found

    monkeypatch.setattr(_video.Shards, "video", noted)
    most = 0
    for rank in range(after):
        data = opened(rank, after)
        data.load_state_dict(states)
        for item in data:
            used += clips([item])
            most = max(most, len(held))
    assert len(used) == len(set(used)) > data.clips - 16
    assert most <= shuffle + 4  # those that mix, those ahead, and that which is used


def test_state_of_one_rank_is_not_enough_for_others(made: HandMade):
    data = sc.open_shards(made.path, clip=4, rank=0, ranks=3)
    take(data, 2, workers=0)
    other = sc.open_shards(made.path, clip=4, rank=0, ranks=2)
    other.load_state_dict(data.state_dict())
    with pytest.raises(ValueError, match="the states of all ranks"):
        next(iter(other))


@pytest.mark.parametrize("change", [{"clip": 5}, {"shuffle": 2}, {"seed": 1}, {"damaged": "skip"}])
def test_state_of_another_dataset_is_refused(made: HandMade, change: dict[str, Any]):
    data = sc.open_shards(made.path, clip=4)
    other = sc.open_shards(made.path, **{"clip": 4, **change})
    with pytest.raises(ValueError, match="the state has"):
        other.load_state_dict(data.state_dict())
    with pytest.raises(ValueError, match="not a state"):
        other.load_state_dict({"epoch": 1})


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.integers(0, 6))
def test_any_stages_leave_nothing_out(seed: int, slots: int, others: int, window: int):
    rng = np.random.default_rng(seed)
    counts, shard = rng.integers(0, 5, 12), np.repeat(np.arange(4), 3)
    order = Order(counts, shard, window=window, seed=seed, epoch=1)
    first = np.concatenate([[0], np.cumsum(counts)])
    seen: list[int] = []
    stages: list[Stage] = []
    for readers in (slots, others, slots):
        taken = {}
        for slot in range(readers):
            places = list(order.of_slot(slot, Stage(readers, 1, None), stages))
            taken[slot] = int(rng.integers(0, len(places) + 1))
            seen += [int(first[p.video]) + p.clip for p in places[: taken[slot]]]
        stages.append(Stage(readers, 1, None, taken))
    rest = [int(first[p.video]) + p.clip for p in order.of_slot(0, Stage(1, 1, None), stages)]
    assert sorted(seen + rest) == list(range(len(order)))


def test_incomplete_store_is_refused(tmp_path: Path):
    made = HandMade(tmp_path / "s", units=3)
    made.unit(1, {"a": video(1, 5)})
    with pytest.raises(sc.InputError, match="1 of 3 units are done"):
        sc.open_shards(made.path)
    assert clips(sc.open_shards(made.path, require_complete=False)) == [("a", 0)]


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (lambda p: (p / "plan/plan.json").unlink(), "no plan/plan.json"),
        (lambda p: (p / "plan/plan.json").write_text("{"), "plan.json: damaged"),
        (lambda p: (p / "commits/00000000.json").write_text("{"), "00000000.json: damaged"),
        (lambda p: next((p / "index").iterdir()).unlink(), "a marker names this file"),
        (lambda p: next((p / "index").iterdir()).write_text("{}\n"), "where its marker has"),
        (lambda p: next((p / "shards").iterdir()).unlink(), "no such file"),
        (lambda p: next((p / "shards").iterdir()).write_bytes(b"x" * 3000), "cut short"),
        (lambda p: next((p / "shards").iterdir()).write_bytes(b"x" * 10**6), "no member of a tar"),
    ],
)
def test_damage_is_named(tmp_path: Path, break_it: Any, says: str):
    made = HandMade(tmp_path / "s", units=1)
    made.unit(0, {"a": video(1, 5)})
    break_it(made.path)
    with pytest.raises(sc.InputError, match=says):
        list(sc.open_shards(made.path))


def test_marker_of_another_plan_is_refused(tmp_path: Path):
    made = HandMade(tmp_path / "s", units=1)
    made.unit(0, {"a": video(1, 5)})
    marker = made.path / "commits/00000000.json"
    marker.write_text(marker.read_text().replace("ab" * 32, "cd" * 32))
    with pytest.raises(sc.InputError, match="of another plan"):
        sc.open_shards(made.path)


@pytest.mark.parametrize(
    "wrong",
    [{"clip": 0}, {"stride": 0}, {"shuffle": -1}, {"positions": "xy"}, {"t": "x"}, {"damaged": "drop"}, {"even": "x"},
     {"rank": 0}, {"rank": 3, "ranks": 3}, {"clip": None, "stride": 2}],
)  # fmt: skip
def test_wrong_arguments_are_named(made: HandMade, wrong: dict[str, Any]):
    with pytest.raises(ValueError, match=f"open_shards: .*{next(iter(wrong))}"):
        sc.open_shards(made.path, **wrong)
