"""bench/deskspot's pure parts: what is a target, and what counts as found, by hand."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def score() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench" / "deskspot"))
        try:
            import score

            yield score
        finally:
            sys.modules.pop("score", None)


def words(score: ModuleType, *texts: str, line: int = 0, top: int = 100) -> list[object]:
    """On one line, 10 pixels a letter, a blank of 10 between them; "|" is a wide gap."""
    out, x = [], 0
    for text in texts:
        if text != "|":
            out.append(score.Word(text, (x, top, x + 10 * len(text), top + 12), line))
        x += 60 if text == "|" else 10 * len(text) + 10
    return out


def node(text: str, left: int, top: int, width: int = 60, height: int = 20, **more: object) -> dict[str, object]:
    return {"text": text, "box": [left, top, left + width, top + height], "enabled": True} | more


def test_match_takes_the_run_that_reads_most_like_the_name(score: ModuleType):
    line = words(score, "Next", "style:", "|", "Custom", "Styles")
    found = score.best_match("Next Style", line)
    assert found.error == 0
    assert found.box == (0, 100, 110, 112)
    assert score.best_match("Custom", line).rest == len("styles")
    assert score.best_match("style custom", line) is None  # a gap lies between


def test_match_allows_a_quarter_of_the_name_in_edits(score: ModuleType):
    assert score.best_match("open", words(score, "opem")).error == 0.25
    assert score.best_match("open", words(score, "opmm")) is None
    assert score.best_match("open", words(score, "op")) is None


def test_match_with_nothing_beside_it_is_preferred(score: ModuleType):
    menu = words(score, "Save", "As", line=0) + words(score, "Save", line=1, top=130)
    assert score.best_match("Save", menu).box[1] == 130


def test_match_is_found_where_its_centre_is_in_the_box(score: ModuleType):
    assert score.holds((0, 0, 100, 20), (90, 0, 112, 20))
    assert not score.holds((0, 0, 100, 20), (100, 0, 130, 20))


def test_targets_are_small_enabled_and_named_once(score: ModuleType):
    nodes = [
        node("Open", 0, 0),
        node("Save", 100, 0), node("Save as...", 100, 40),  # "Save" is a part of another name
        node("Undo", 200, 0, enabled=False),
        node("Edge", 950, 0),  # reaches out of the screen
        node("Canvas", 0, 100, 600, 600),
        node("OK", 300, 0),
        node("Apply", 400, 0, 80, 30), node("Apply", 410, 5),  # a button's label
    ]  # fmt: skip
    found = [(each["text"], each["box"][0]) for each in score.candidates(nodes, (1000, 1000))]
    assert found == [("Open", 0), ("Save as...", 100), ("Apply", 410)]


def test_word_that_its_text_has_twice_is_no_target(score: ModuleType):
    text = node("one fish two fish", 0, 0, 300, 100, whole=True)
    nodes = [text, node("two", 20, 20), node("fish", 60, 20), node("one", 700, 700)]
    assert [each["text"] for each in score.candidates(nodes, (1000, 1000))] == ["two"]
