"""Where the eye goes: scanpaths in memory, callables, a model's attention."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc

PAN = "test://pan?size=640x480&frames=100&rate=25"


def numpy_stream(source: object = PAN, **options: Any) -> sc.Stream:
    return sc.Stream(source, array="numpy", device="cpu", **{"lattice": "grid", **options})


def fixations(stream: sc.Stream) -> list[tuple[float, float]]:
    return [emission.fixation for emission in stream]


SCANPATH = [[0, 0.5, 0.25], [0.25, 0.125, 0.75], [1.0, 0.75, 0.5], [1.75, 0.25, 0.25]]


def test_scanpath_in_memory_is_that_of_a_file(tmp_path: Path):
    (tmp_path / "path.csv").write_text("t_s,u,v\n" + "\n".join(",".join(map(str, row)) for row in SCANPATH))
    wanted = list(numpy_stream(fixation=f"file:{tmp_path / 'path.csv'}", every="frame"))
    for scanpath in (SCANPATH, np.array(SCANPATH), np.array(SCANPATH, np.float32), tuple(map(tuple, SCANPATH))):
        stream = numpy_stream(fixation=scanpath, every="frame")
        for _ in range(2):  # also when it is opened again
            found = list(stream)
            assert [emission.fixation for emission in found] == [emission.fixation for emission in wanted]
            np.testing.assert_array_equal(found[-1].patches, wanted[-1].patches)
    stream = numpy_stream(fixation=SCANPATH)
    assert fixations(stream) == [(row[1], row[2]) for row in SCANPATH]


@pytest.mark.torch
def test_scanpath_may_be_a_tensor_and_without_times_one_place_a_fixation():
    import torch

    places = torch.tensor([[0.5, 0.25], [0.125, 0.75], [0.75, 0.5], [0.25, 0.25]], dtype=torch.float16)
    stream = numpy_stream(fixation=places, rate=2)
    assert fixations(stream) == [tuple(place) for place in places.tolist()]
    timed = numpy_stream(fixation=torch.tensor(SCANPATH, requires_grad=True))
    assert fixations(timed) == [(row[1], row[2]) for row in SCANPATH]


@pytest.mark.parametrize(
    ("scanpath", "kind", "text"),
    [
        (np.zeros((3, 4)), ValueError, r"a scanpath is \[n, 3\] of t_s, u, v, or \[n, 2\] of u, v, not \[3, 4\]"),
        (np.zeros(3), ValueError, r"not \[3\]"),
        ([[0, 0.5, 2.0]], ValueError, "fixation: .*row"),
        ([[1, 0.5, 0.5], [0, 0.5, 0.5]], ValueError, "fixation: .*row"),
        ([[0, float("nan"), 0]], ValueError, "fixation"),
        (np.zeros((0, 3)), ValueError, "fixation"),
        (["a", "b"], TypeError, "fixation takes numbers"),
        (None, TypeError, "fixation takes numbers"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_scanpath_is_refused(scanpath: Any, kind: type, text: str):
    with pytest.raises(kind, match=text):
        numpy_stream(fixation=scanpath)


def test_callable_is_asked_for_each_fixation_and_sees_the_stream():
    places = itertools.cycle([(0.25, 0.75), (0.5, 0.5), [0.75, 0.125]])
    requests, means = [], []

    def fixation(stream: sc.Stream) -> Any:
        requests.append(stream.request)
        means.append(stream.texture.level(4).mean())  # the frame at which it is asked is there
        return next(places)

    stream = numpy_stream(fixation=fixation, rate=2)
    assert fixations(stream)[:4] == [(0.25, 0.75), (0.5, 0.5), (0.75, 0.125), (0.25, 0.75)]
    assert [request.fixation for request in requests] == list(range(len(requests)))
    assert [request.first for request in requests[:2]] == [True, False]
    assert [request.pts_ns for request in requests[:3]] == [
        0,
        520_000_000,
        1_000_000_000,
    ]
    assert requests[1].uv == (0.25, 0.75)
    assert len(set(means)) > 1
    assert stream.request is None


def test_callable_that_answers_none_leaves_it_to_novelty():
    wanted = fixations(numpy_stream())
    assert fixations(numpy_stream(fixation=lambda _: None)) == wanted
    assert len(set(wanted)) > 1


def test_callable_may_look_and_attend_and_the_next_fixation_follows():
    def fixation(stream: sc.Stream) -> Any:
        if stream.request.fixation == 0:
            stream.look(0.125, 0.125)
        return (0.5, 0.5)

    assert fixations(numpy_stream(fixation=fixation))[:3] == [(0.5, 0.5), (0.125, 0.125), (0.5, 0.5)]


@pytest.mark.parametrize("kind", [LookupError, KeyboardInterrupt])
def test_what_a_callable_raises_goes_through_and_the_stream_goes_on(kind: type):
    count = itertools.count()

    def fixation(stream: sc.Stream) -> Any:
        if next(count) == 2:
            raise kind("mine")
        return (0.25, 0.25)

    stream = numpy_stream(fixation=fixation)
    assert [next(stream).fixation for _ in range(2)] == [(0.25, 0.25)] * 2
    with pytest.raises(kind, match="mine"):
        next(stream)
    assert next(stream).fixation == (0.25, 0.25)


@pytest.mark.parametrize("answer", [(2, 0.5), (0.5,), "middle", float("nan"), (0.5, float("nan")), {}])
def test_wrong_answer_of_a_callable_is_refused(answer: Any):
    with pytest.raises((ValueError, TypeError), match=r"fixation.* answer"):
        next(numpy_stream(fixation=lambda _: answer))


def test_callable_that_uses_the_stream_wrongly_gets_an_error_and_no_hang():
    with pytest.raises(ValueError, match="inside its own fixation callable"):
        next(numpy_stream(fixation=next))
    for use in (list, lambda stream: stream.reopen(), lambda stream: stream.counters, lambda stream: stream.batched(2)):
        with pytest.raises(ValueError, match="inside its own fixation callable"):
            next(numpy_stream(fixation=use))


def test_callable_may_close_its_stream():
    def fixation(stream: sc.Stream) -> Any:
        if stream.request.fixation == 2:
            stream.close()
        return (0.5, 0.5)

    stream = numpy_stream(fixation=fixation)
    assert len(fixations(stream)) == 2
    assert stream.closed
    assert next(stream.reopen()).fixation == (0.5, 0.5)


@pytest.mark.parametrize("every", ["fixation", "frame"])
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("answer", [(0.5, 0.5), None])
def test_nothing_comes_after_a_callable_closed_its_stream(every: str, prefetch: int, answer: Any):
    def fixation(stream: sc.Stream) -> Any:
        stream.close()
        return answer

    stream = numpy_stream(fixation=fixation, every=every, prefetch=prefetch)
    assert fixations(stream) == []
    assert stream.closed


def test_batches_end_before_the_fixation_that_closed_their_stream():
    def fixation(stream: sc.Stream) -> Any:
        if stream.request.fixation == 3:
            stream.close()
        return (0.5, 0.5)

    assert [len(batch) for batch in numpy_stream(fixation=fixation).batched(2)] == [2, 1]


def peak(rows: int, cols: int, *places: tuple[int, int, float]) -> np.ndarray:
    weights = np.zeros((rows, cols), np.float32)
    for row, col, weight in places:
        weights[row, col] = weight
    return weights


def test_attention_is_looked_at_at_its_peak():
    stream = numpy_stream(fixation="center")
    assert next(stream).fixation == (0.5, 0.5)
    for row, col in [(0, 0), (5, 7), (2, 3), (5, 0)]:
        stream.attend(peak(6, 8, (row, col, 1.0)))
        assert next(stream).fixation == pytest.approx(((col + 0.5) / 8, (row + 0.5) / 6))


def test_attention_does_not_return_at_once_to_where_it_was():
    """Inhibition of return: the strongest places one after the other."""
    stream = numpy_stream(fixation="center")
    next(stream)
    stream.attend(peak(6, 8, (0, 0, 1.0), (5, 7, 0.9), (5, 0, 0.8)))
    seen = [next(stream).fixation for _ in range(3)]
    assert seen == [pytest.approx((u, v)) for u, v in [(0.5 / 8, 0.5 / 6), (7.5 / 8, 5.5 / 6), (0.5 / 8, 5.5 / 6)]]


def test_attention_stays_at_a_peak_where_nothing_else_has_weight():
    stream = numpy_stream(fixation="center")
    next(stream)
    stream.attend(peak(6, 8, (2, 3, 1.0)))
    assert len({next(stream).fixation for _ in range(8)}) == 1
    noise = np.random.default_rng(1).random((6, 8)).astype(np.float32) * 0.5
    stream = numpy_stream(fixation="center")
    next(stream)
    stream.attend(np.maximum(noise, peak(6, 8, (2, 3, 1.0))))
    assert len({next(stream).fixation for _ in range(8)}) > 1


def test_attention_ends_with_none_and_lies_in_its_box():
    stream = numpy_stream(fixation="center")
    next(stream)
    stream.attend(peak(2, 2, (1, 1, 3.0)), uv_box=(0.5, 0.0, 1.0, 0.5))
    assert next(stream).fixation == pytest.approx((0.875, 0.375))
    stream.attend(None)
    assert next(stream).fixation == (0.5, 0.5)


@pytest.mark.torch
def test_attention_of_a_model_comes_as_it_is():
    import torch

    stream = numpy_stream(fixation="center")
    next(stream)
    weights = torch.zeros(1, 1, 6, 8, dtype=torch.bfloat16, requires_grad=True)
    with torch.no_grad():
        weights[..., 4, 6] = 1
    stream.attend(weights.transpose(2, 3).transpose(2, 3))
    assert next(stream).fixation == pytest.approx((6.5 / 8, 4.5 / 6))
    logits = torch.full((6, 8), -torch.inf)
    logits[1, 1] = -40.0
    stream.attend(logits)
    assert next(stream).fixation == pytest.approx((1.5 / 8, 1.5 / 6))


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((np.zeros(5),), ValueError, r"map is \[h, w\], not \[5\]"),
        ((np.zeros((2, 3, 4)),), ValueError, r"not \[2, 3, 4\]"),
        ((np.full((2, 2), np.nan),), ValueError, "no weight"),
        ((np.full((2, 2), np.inf),), ValueError, "infinite"),
        ((np.zeros((2, 2)), (0, 0, 1)), ValueError, "uv_box is left, top, right, bottom"),
        ((np.zeros((2, 2)), (0.5, 0, 0.5, 1)), ValueError, "is no box"),
        (("map",), TypeError, "map takes numbers"),
        ((np.zeros((0, 4)),), ValueError, "attend"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_wrong_attention_is_refused_and_changes_nothing(arguments: tuple, kind: type, text: str):
    stream = numpy_stream(fixation="center")
    with pytest.raises(kind, match=text):
        stream.attend(*arguments)
    assert fixations(stream)[:3] == [(0.5, 0.5)] * 3
