"""Token rules against the processors of transformers, and the published formulas of the others."""

from __future__ import annotations

import math
import random

import pytest

import pysaccade as sc

SIZES = 10_000


def sizes(seed: int, most: int = 6000, count: int = SIZES) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    draw = lambda: round(math.exp(rng.uniform(math.log(2), math.log(most))))  # noqa: E731
    return [(draw(), draw()) for _ in range(count)]


@pytest.mark.parametrize(
    ("model", "patch", "least", "most"),
    [("qwen2-vl", 14, 3136, 12845056), ("qwen2.5-vl", 14, 3136, 12845056), ("qwen3-vl", 16, 65536, 16777216)],
)
def test_qwen_counts_as_its_processor(model: str, patch: int, least: int, most: int) -> None:
    transformers = pytest.importorskip("transformers")
    processor = transformers.Qwen2VLImageProcessor(
        size={"shortest_edge": least, "longest_edge": most}, patch_size=patch, merge_size=2
    )
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    rule = sc.TokenRule.of(model)
    for width, height in sizes(1):
        if max(width, height) > 200 * min(width, height):
            with pytest.raises(ValueError, match="refuses"):
                rule.tokens(width, height)
            continue
        rows, cols = smart_resize(height, width, patch * 2, least, most)
        assert rule.seen(width, height) == (cols, rows), (width, height)
        assert rule.tokens(width, height) == processor.get_number_of_image_patches(height, width) // 4, (width, height)


def test_internvl_counts_as_its_processor() -> None:
    transformers = pytest.importorskip("transformers")
    processor = transformers.GotOcr2ImageProcessor(
        crop_to_patches=True, min_patches=1, max_patches=12, size={"height": 448, "width": 448}
    )
    rule = sc.TokenRule.of("internvl")
    for width, height in sizes(2):
        assert rule.tokens(width, height) == 256 * processor.get_number_of_image_patches(height, width), (width, height)


def test_llava_onevision_counts_as_its_processor() -> None:
    pytest.importorskip("transformers")
    from transformers import LlavaOnevisionImageProcessor, LlavaOnevisionProcessor
    from transformers.image_processing_utils import select_best_resolution

    processor = LlavaOnevisionProcessor.__new__(LlavaOnevisionProcessor)
    processor.image_processor = LlavaOnevisionImageProcessor()
    processor.num_image_tokens, processor.vision_aspect_ratio = 729, "anyres_max_9"
    rule = sc.TokenRule.of("llava-onevision")
    for width, height in sizes(3, count=3000):
        assert rule.tokens(width, height) == processor._get_number_of_features(height, width, 384, 384), (width, height)
    for width, height in ((384, 384), (768, 1152), (2304, 384)):
        best = select_best_resolution((height, width), processor.image_processor.image_grid_pinpoints)
        assert rule.seen(width, height) == (width, height) == best[::-1]


def claude(width: int, height: int, edge: int, most: int) -> int:
    """The largest size of this shape, by trying them from the top."""
    units = lambda side: math.ceil(side / 28)  # noqa: E731
    fits = lambda w, h: max(units(w), units(h)) * 28 <= edge and units(w) * units(h) <= most  # noqa: E731
    if fits(width, height):
        return units(width) * units(height)
    if height > width:
        width, height = height, width
    for smaller in range(width, 0, -1):
        scaled = max(round(smaller * height / width), 1)
        if fits(smaller, scaled):
            return units(smaller) * units(scaled)
    raise AssertionError


def test_claude_counts_as_published() -> None:
    for name, edge, most in (("claude", 1568, 1568), ("claude-high", 2576, 4784)):
        rule = sc.TokenRule.of(name)
        for width, height in sizes(4, count=2000):
            # bisection and search differ where rounding makes a larger picture fit again: by a row of patches
            assert abs(rule.tokens(width, height) - claude(width, height, edge, most)) <= 100, (width, height)
            if max(width, height) <= 1092:  # 39 x 39 units: left as it is
                assert rule.tokens(width, height) == math.ceil(width / 28) * math.ceil(height / 28)
                assert rule.seen(width, height) == (width, height)


def test_openai_patches_count_as_published() -> None:
    for name, factor, budget in (("gpt-5.4", 1.2, 2500), ("o4-mini", 1.72, 1536), ("gpt-4.1-mini", 1.62, 6144)):
        rule = sc.TokenRule.of(name)
        for width, height in sizes(5, most=2048):
            seen = width, height
            if math.ceil(width / 32) * math.ceil(height / 32) > budget:
                shrink = math.sqrt(32**2 * budget / (width * height))
                across, down = width * shrink / 32, height * shrink / 32
                shrink *= min(math.floor(across) / across, math.floor(down) / down)
                seen = max(1, math.floor(width * shrink)), max(1, math.floor(height * shrink))
            patches = math.ceil(seen[0] / 32) * math.ceil(seen[1] / 32)
            # The page: floating-point rounding in billing can make the count differ by one token.
            assert abs(rule.tokens(width, height) - math.ceil(patches * factor)) <= 1, (width, height)


def test_gemini_counts_as_published() -> None:
    rule = sc.TokenRule.of("gemini-2.5")
    for width, height in sizes(6):
        unit = max(1, math.floor(min(width, height) / 1.5))
        small = max(width, height) <= 384
        assert rule.tokens(width, height) == 258 * (1 if small else math.ceil(width / unit) * math.ceil(height / unit))


def test_fit_is_the_largest_that_is_left_as_it_is() -> None:
    for name in sc.TokenRule.names():
        rule = sc.TokenRule.of(name)
        try:
            width, height = rule.fit(16, 9, 8000)
        except ValueError:
            assert name == "gpt-4o-mini"  # 8,500 tokens for one tile
            continue
        assert rule.seen(width, height) == (width, height)
        assert rule.tokens(width, height) <= 8000


def test_a_rule_of_ones_own() -> None:
    rule = sc.TokenRule(resizing="multiples", unit_px=32, step_px=32, max_pixels=1024 * 1024, base_tokens=2)
    assert rule.tokens(640, 320) == 20 * 10 + 2
    assert rule.seen(2048, 2048) == (1024, 1024)
    assert rule.fit(1, 1, 102) == (320, 320)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match=r"no model 'gpt-2'; one of qwen2-vl"):
        sc.TokenRule.of("gpt-2")
    with pytest.raises(ValueError, match="resizing is multiples"):
        sc.TokenRule(resizing="some").tokens(1, 1)
    with pytest.raises(ValueError, match="needs max_units"):
        sc.TokenRule(resizing="aspect").tokens(1, 1)
    with pytest.raises(ValueError, match="more tokens"):
        sc.TokenRule.of("gemma-3").fit(16, 9, 255)
    with pytest.raises(ValueError, match="no model"):
        sc.TokenRule.of([])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unit_tokens takes a number"):
        sc.TokenRule(unit_tokens="a").tokens(1, 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"TokenRule\.seen: width is 0"):
        sc.TokenRule().seen(0, 1)
    with pytest.raises(TypeError, match="width takes an integer"):
        sc.TokenRule.of("claude").tokens("1", 1)  # type: ignore[arg-type]
