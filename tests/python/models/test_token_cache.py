"""`TokenCache`: features of whole frames from what changed; FLOPs as torch counts them."""

from __future__ import annotations

from typing import Any

import pytest

import pysaccade as sc
from conftest import import_or_skip
from tower_support import FULL, of_frame, tower, video

torch = import_or_skip("torch")
import_or_skip("transformers")
pytestmark = pytest.mark.torch

EVERY = {"every": "frame", "device": "cpu"}


def flops(work: Any) -> int:
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def test_windows_have_the_bits_of_a_run_of_all() -> None:
    vision = tower("qwen2.5-vl", full=())
    cache = sc.TokenCache(vision)
    for look, whole in zip(
        sc.qwen(video(), **EVERY), (w for w in sc.qwen(video(), whole=True, **EVERY) if w.frame != 3), strict=True
    ):
        with torch.no_grad():
            wanted = vision(**whole.arguments(vision)).pooler_output
        assert torch.equal(cache(look), wanted)
    assert cache.tokens == 4 * 15 * 11


def test_what_comes_back_is_not_run_again() -> None:
    first = video()[0]
    other = first.copy()
    other[:20, :20] = 0  # in the first window alone
    cache = sc.TokenCache(tower("qwen2.5-vl", full=()))
    looks = list(sc.qwen([first, other, first, other], **EVERY))
    cache(looks[0])
    cache(looks[1])
    before = cache.tokens_run
    cache(looks[2])
    cache(looks[3])
    assert cache.tokens_run == before
    assert before == len(looks[0]) + 16
    small = sc.TokenCache(tower("qwen2.5-vl", full=()), memory=1)
    for look in looks:
        small(look)
    assert small.tokens_run > before


@pytest.mark.parametrize("model", FULL)
def test_towers_that_attend_to_all_are_near_and_exact_when_refreshed(model: str) -> None:
    vision, frames = tower(model), video()
    cache = sc.TokenCache(vision, refresh=4)
    looks = list(sc.qwen([*frames[:3], frames[1], frames[2], frames[1]], model, **EVERY))
    ran = []
    for index, look in enumerate(looks):
        before = cache.tokens_run
        found = cache(look)
        ran.append(cache.tokens_run - before)
        wanted = of_frame(vision, [*frames[:3], frames[1], frames[2], frames[1]][look.frame], FULL[model])
        error = (found - wanted.pooler_output).square().mean().sqrt() / wanted.pooler_output.square().mean().sqrt()
        assert error < (1e-5 if index in (0, 4) else 0.05)
        if model == "qwen3-vl":
            assert cache.deepstack[0].shape == found.shape
    assert ran[0] == ran[4] == len(looks[0])
    assert max(ran[1:4]) < len(looks[0])
    assert 0 < cache.error < 0.05


@pytest.mark.parametrize(("model", "full"), [("qwen2.5-vl", ()), ("qwen2.5-vl", (1,)), ("qwen3-vl", ())])
def test_a_quiet_video_takes_half_of_the_flops_or_fewer(model: str, full: tuple[int, ...]) -> None:
    frames = [video(448, 448)[0] for _ in range(5)]
    for number, frame in enumerate(frames):
        frame[400:430, 380:440] = number  # a clock
    vision = tower(model, full)
    cache = sc.TokenCache(vision)
    few = flops(lambda: [cache(look) for look in sc.qwen(frames, model, **EVERY)])

    @torch.no_grad()
    def run_all() -> None:
        for look in sc.qwen(frames, model, whole=True, **EVERY):
            vision(**look.arguments(vision))

    assert 0 < 2 * few <= flops(run_all)


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(TypeError, match="a vision tower of Qwen2-VL"):
        sc.TokenCache(torch.nn.Linear(1, 1))
    with pytest.raises(ValueError, match="refresh"):
        sc.TokenCache(tower("qwen2-vl"), refresh=0)
    looks = list(sc.qwen(video(), **EVERY))
    with pytest.raises(ValueError, match=r"the look is for qwen2.5-vl"):
        sc.TokenCache(tower("qwen2-vl"))(looks[0])
    with pytest.raises(ValueError, match="first look must be a whole frame"):
        sc.TokenCache(tower("qwen2.5-vl"))(looks[1])
    cache = sc.TokenCache(tower("qwen2.5-vl"))
    cache(looks[0])
    with pytest.raises(ValueError, match="reset"):
        cache(next(sc.qwen(video(100, 100), **EVERY)))
    cache.reset()
    cache(next(sc.qwen(video(100, 100), **EVERY)))
