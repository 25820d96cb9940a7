"""`Stream(prefetch=n)`: the same emissions, made by a thread while the last one is worked with. And closing."""

from __future__ import annotations

import gc
import pickle
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import pysaccade as sc

BOX = "test://box?size=320x240&frames=40&rate=20"
PATIENCE_S = 60


def stream_of(source: object = BOX, **options: object) -> sc.Stream:
    return sc.Stream(source, **{"array": "numpy", "device": "cpu", "every": "frame", **options})


def facts(emission: sc.Emission) -> tuple:
    arrays = (np.asarray(array).tobytes() for array in (emission.patches, emission.geometry, emission.changed))
    return (*arrays, emission.frame, emission.pts_ns, emission.fixation, emission.in_flight, emission.damaged_tiles)


def noise(count: int) -> list[np.ndarray]:
    return list(np.random.default_rng(3).integers(0, 256, (count, 48, 64, 3), np.uint8))


@pytest.mark.parametrize("source", [BOX, "frames"])
@pytest.mark.parametrize("prefetch", [1, 2, 7, 1000])
def test_emissions_are_those_made_one_by_one(source: str, prefetch: int):
    frames = noise(20) if source == "frames" else source
    wanted = [facts(emission) for emission in stream_of(frames)]
    assert [facts(emission) for emission in stream_of(frames, prefetch=prefetch)] == wanted
    again = stream_of(frames, prefetch=prefetch)
    assert [facts(e) for _ in range(2) for e in again] == wanted * 2  # the end opens it again


@pytest.mark.parametrize("array", ["numpy", pytest.param("torch", marks=pytest.mark.torch)])
def test_batches_are_the_same(array: str):
    wanted = list(stream_of(array=array).batched(7))
    mine = list(stream_of(array=array, prefetch=3).batched(7))
    assert [len(batch) for batch in mine] == [len(batch) for batch in wanted] == [7, 7, 7, 7, 7, 5]
    for one, other in zip(mine, wanted, strict=True):
        assert [facts(e) for e in one] == [facts(e) for e in other]
        assert type(one.patches) is type(other.patches)
        one.patches[2][:] = 9
        assert (np.asarray(one[2].patches) == 9).all()  # a view, not a copy


def test_batches_and_single_emissions_mix():
    wanted = [facts(emission) for emission in stream_of()]
    stream = stream_of(prefetch=4)
    mine = [facts(next(stream))]
    mine += [facts(e) for e in next(stream.batched(5))]
    mine += [facts(e) for e in stream]
    assert mine == wanted


@pytest.mark.parametrize("prefetch", [1, 3])
def test_so_many_are_made_while_the_last_is_worked_with(prefetch: int):
    asked = threading.Semaphore(0)
    count = 0

    def frames() -> Iterator[np.ndarray]:
        nonlocal count
        for frame in noise(40):
            count += 1
            asked.release()
            yield frame

    stream = stream_of(frames(), prefetch=prefetch)
    next(stream)
    for _ in range(1 + prefetch):  # the one at hand, and those ahead: nobody asks for them here
        assert asked.acquire(timeout=PATIENCE_S)
    assert sum(1 for _ in stream) == 39
    assert count == 40


def test_no_more_than_so_many_are_made():
    given = []

    def frames() -> Iterator[np.ndarray]:
        for number, frame in enumerate(noise(40)):
            given.append(number)
            yield frame

    stream = stream_of(frames(), prefetch=2)
    for emission in stream:
        assert given[-1] <= emission.frame + 3  # two ahead, and the one that has just left its place


@pytest.mark.parametrize("prefetch", [0, 2])
def test_error_of_a_source_comes_after_what_was_before_it(prefetch: int):
    def frames() -> Iterator[np.ndarray]:
        yield from noise(5)
        raise KeyError("the sixth")

    stream = stream_of(frames(), prefetch=prefetch)
    assert [next(stream).frame for _ in range(5)] == list(range(5))
    with pytest.raises(KeyError, match="the sixth"):
        next(stream)
    with pytest.raises(StopIteration):
        next(stream)


def test_error_of_a_callable_is_raised_to_who_iterates():
    def look(stream: sc.Stream) -> tuple[float, float]:
        if stream.request.fixation == 2:
            raise ZeroDivisionError("here")
        return 0.5, 0.5

    with pytest.raises(ZeroDivisionError, match="here"):
        list(stream_of(fixation=look, prefetch=2))


def test_what_is_told_holds_for_emissions_that_are_not_made_yet():
    stream = stream_of(rate=20, fixation="center", prefetch=2)
    next(stream)
    stream.look(0.25, 0.75)
    seen = [emission.fixation for emission in stream]
    assert (0.25, 0.75) in seen[:5]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_reopen_begins_again(prefetch: int):
    stream = stream_of(prefetch=prefetch)
    wanted = [facts(e) for e in stream]
    stream.reopen()
    for _ in range(5):
        next(stream)
    assert [facts(e) for e in stream.reopen()] == wanted
    assert [e.frame for e in stream.reopen(noise(3))] == [0, 1, 2]


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("by", ["close", "with"])
def test_close_does_not_wait_for_an_iterable_that_sleeps(prefetch: int, by: str):
    asleep, wake, ended = threading.Event(), threading.Event(), threading.Event()

    def frames() -> Iterator[np.ndarray]:
        yield from noise(3)
        asleep.set()
        assert wake.wait(PATIENCE_S)
        yield from noise(3)

    stream = stream_of(frames(), prefetch=prefetch)
    got = []

    def iterate() -> None:
        got.extend(emission.frame for emission in stream)
        ended.set()

    thread = threading.Thread(target=iterate)
    thread.start()
    assert asleep.wait(PATIENCE_S)
    if by == "close":
        stream.close()
    else:
        with stream:
            pass
    assert stream.closed
    assert not wake.is_set()
    if prefetch:
        assert ended.wait(PATIENCE_S)  # and the loop ends though the iterable still sleeps
    wake.set()
    thread.join(PATIENCE_S)
    assert ended.is_set()
    assert got == [0, 1, 2][: len(got)]


def test_other_calls_do_not_wait_for_an_iterable_that_sleeps():
    asleep, wake = threading.Event(), threading.Event()

    def frames() -> Iterator[np.ndarray]:
        yield noise(1)[0]
        asleep.set()
        assert wake.wait(PATIENCE_S)

    stream = stream_of(frames())
    thread = threading.Thread(target=lambda: list(stream))
    thread.start()
    assert asleep.wait(PATIENCE_S)
    assert stream.counters.frames == 1
    assert stream.texture.level(0).shape[:2] == (48, 64)
    stream.look(0.5, 0.5)
    wake.set()
    thread.join(PATIENCE_S)


def test_close_ends_loops_and_the_thread():
    stream = stream_of("test://box?size=64x64&frames=100000", prefetch=4)
    next(stream)
    thread = stream._ahead._thread
    stream.close()
    assert list(iter(lambda: next(stream, None), None)) == []
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_stream_that_is_left_is_collected_and_its_thread_ends():
    stream = stream_of("test://box?size=64x64&frames=100000", prefetch=4)
    next(stream)
    thread, gone = stream._ahead._thread, weakref.ref(stream)
    del stream
    gc.collect()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert gone() is None


@pytest.mark.parametrize("prefetch", [0, 3])
def test_threads_share_a_stream_and_each_emission_goes_to_one(prefetch: int):
    wanted = [facts(emission) for emission in stream_of()]
    stream = stream_of(prefetch=prefetch)
    got: list[sc.Emission] = []

    def take() -> None:
        while (emission := next(stream, None)) is not None:
            got.append(emission)

    threads = [threading.Thread(target=take) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert [facts(emission) for emission in sorted(got, key=lambda emission: emission.frame)] == wanted


def test_pickle_carries_it():
    stream = pickle.loads(pickle.dumps(stream_of(prefetch=5)))
    assert sum(1 for _ in stream) == 40
    assert stream._ahead is not None


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (-1, ValueError, "prefetch is a whole number from 0 to 1024, not -1"),
        (2000, ValueError, "not 2000"),
        (True, ValueError, "not True"),
        (2.5, ValueError, "not 2.5"),
        (float("nan"), ValueError, "not nan"),
        ("two", TypeError, "prefetch takes a number of emissions, not 'two'"),
        ([2], TypeError, "prefetch takes"),
    ],
)
def test_wrong_values_are_told(value: object, error: type[Exception], text: str):
    with pytest.raises(error, match=text):
        stream_of(prefetch=value)
    assert sum(1 for _ in stream_of(prefetch=np.int64(2), frames=3)) == 3
    with pytest.raises(ValueError, match="prefetch needs a thread"):
        stream_of(prefetch=2, backend="gl")


@pytest.mark.torch
def test_arrays_of_one_block_of_memory_do_not_overlap():
    from pysaccade._native._arrays import Memory

    memory = Memory("torch", "u8", (5, 3, 2, 2), None, block=4)  # as on a GPU, where a block is 16
    made = [memory.one() for _ in range(10)]
    for number, (arrays, addresses) in enumerate(made):
        assert addresses == tuple(array.data_ptr() for array in arrays)
        assert [tuple(array.shape) for array in arrays] == [(5, 3, 2, 2), (5, 4), (5,)]
        arrays[0].fill_(number), arrays[1].fill_(number), arrays[2].fill_(number % 2)
    for number, (arrays, _) in enumerate(made):
        assert [set(array.flatten().tolist()) for array in arrays] == [{number}, {float(number)}, {bool(number % 2)}]
