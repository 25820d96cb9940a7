"""bench/deskspot's pure parts: what is a target, what counts as found, and what is spent, by hand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import numpy as np
import pytest

from conftest import ROOT, import_or_skip

Load = Callable[[str], ModuleType]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Load]:
    """Its modules by their names, with a cache of their own."""
    import_or_skip("PIL.Image")
    folders = [ROOT / "bench" / "deskspot", ROOT / "bench" / "accuracy"]
    before = list(sys.path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SACCADE_DESKSPOT_CACHE", str(tmp_path_factory.mktemp("deskspot")))
        patch.syspath_prepend(str(folders[0]))
        try:
            yield importlib.import_module
        finally:
            sys.path[:] = before
            for path in (path for folder in folders for path in folder.glob("*.py")):
                if path.stem in sys.modules and path.stem != "__main__":
                    del sys.modules[path.stem]


@pytest.fixture(scope="module")
def score(load: Load) -> ModuleType:
    return load("score")


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


def test_uniform_picture_has_as_many_patches_as_the_budget_allows(load: Load):
    view = load("eyes").uniform(np.zeros((2160, 3840, 3), np.uint8), 3240)
    height, width = view.picture.shape[:2]
    assert view.tokens == width // 16 * -(-height // 16) <= 3240
    assert (width + 16) // 16 * -(-(height * (width + 16)) // width // 16) > 3240
    assert width / height == pytest.approx(16 / 9, rel=0.01)


def test_crop_costs_its_patches(load: Load):
    tokens_of = load("eyes").tokens_of
    assert tokens_of(3840, 2160) == 240 * 135
    assert tokens_of(17, 16) == 2
    assert tokens_of(160, 80, 5) == 2


def test_text_in_a_line_is_looked_at_and_the_budget_kept(load: Load, monkeypatch: pytest.MonkeyPatch):
    asked, score, image = load("asked"), load("score"), load("PIL.ImageDraw")
    picture = load("PIL.Image").new("RGB", (1920, 1080), "white")
    for y, text in ((300, "Paragraph"), (700, "Character")):
        image.Draw(picture).text((800, y), text, fill=0)
    screen = np.asarray(picture)
    texts = iter(("Window", "Charader", "Paragraph"))  # what the reader makes of the overview and of the crops

    def read(pictures: list[np.ndarray], scale: float, page: int) -> list[list[object]]:
        return [[score.Word(next(texts, ""), (10, 2, 50, 12), 0)] for _ in pictures]

    monkeypatch.setattr(asked.reader, "read", read)
    first = asked.overview(screen, 810)
    assert first.tokens <= 270
    assert all(any(box[1] < y + 6 < box[3] and box[0] < 825 < box[2] for box, _ in first.spots) for y in (300, 700))
    seen = asked.find("Window", screen, first, 810)
    assert (seen.tokens, seen.match.box) == (first.tokens, (10, 2, 50, 12))  # read in the overview

    plan = asked.affordable("Paragraph", first.spots, 810 - first.tokens)
    assert sum(spot.tokens for spot in plan) <= 810 - first.tokens
    answer = asked.find("Paragraph", screen, first, 810)
    assert answer.tokens == first.tokens + plan[0].tokens + plan[1].tokens
    left, top = plan[1].box[:2]
    assert answer.match.box == (left + 15, top + 3, left + 75, top + 18)
    assert asked.find("Paragraph", screen, first, first.tokens) == (None, first.tokens)  # nothing is left to spend


def test_tesseracts_table_becomes_words_of_each_picture(load: Load):
    rows = [["level", "page_num", "..."],
            [5, 1, 1, 1, 1, 1, 20, 40, 60, 20, 96, "Save"], [5, 1, 1, 1, 2, 1, 20, 80, 60, 20, 91, " "],
            [4, 2, 1, 1, 1, 0, 0, 0, 9, 9, -1, ""], [5, 2, 1, 1, 1, 1, 2, 4, 6, 8, 90, "As"]]  # fmt: skip
    table = "\n".join("\t".join(map(str, row)) for row in rows)
    pages = load("reader").words_of(table, 3, 2)
    assert [[(word.text, word.box) for word in page] for page in pages] == [
        [("Save", (10, 20, 40, 30))], [("As", (1, 2, 4, 6))], []
    ]  # fmt: skip


def test_table_compares_the_same_targets(load: Load):
    row = {"share": 0.1, "count": 2, "tokens": [3240, 3240]}
    rows = [{**row, "screen": screen, "sampler": sampler, "found": found}
            for screen, sampler, found in (("a", "adaptive", [1, 0]), ("a", "find", [1, 1]),
                                           ("b", "adaptive", [1, 0]), ("b", "find", [1, 1]))]  # fmt: skip
    lines = load("table").markdown(rows).splitlines()
    assert lines[2].startswith("| 10 % | adaptive | 3240 | 0.50 (")
    assert "| +0.50 (" in lines[3]
    assert load("table").markdown([*rows[:1], {**rows[0], "sampler": "crops"}]).endswith("| none |")
