"""bench/accuracy in small: its scenes and measures by hand, and foveated patches that read what uniform ones do not."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from conftest import ROOT, import_or_skip, skip_or_fail


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Its modules, with a cache of their own."""
    import_or_skip("PIL.Image")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SACCADE_ACCURACY_CACHE", str(tmp_path_factory.mktemp("accuracy")))
        patch.syspath_prepend(str(ROOT / "bench" / "accuracy"))
        names = {path.stem for path in (ROOT / "bench" / "accuracy").glob("*.py")}
        try:
            import reading

            yield reading
        finally:
            for name in (names - {"__main__"}) & set(sys.modules):
                del sys.modules[name]


def test_characters_right_are_counted_by_edits(bench: ModuleType):
    right = bench.ocr.characters_right
    assert right("copper", "copper") == right(" COPPER\n", "copper") == 1
    assert right("coffer", "copper") == pytest.approx(4 / 6)
    assert right("", "copper") == right("quite another text", "copper") == 0


def test_interval_of_alike_words_has_no_width(bench: ModuleType):
    import stats

    assert stats.interval([[0.5] * 4, [0.5] * 4]) == (0.5, 0.5, 0.5)
    mean, low, high = stats.interval([[0.0, 1.0] * 50] * 4)
    assert mean == 0.5
    assert 0.40 < low < 0.46
    assert 0.54 < high < 0.60


def test_interval_of_words_that_are_all_right_is_wilsons(bench: ModuleType):
    import stats

    z = 1.959964  # and (p + z^2 / 2n - z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n), Wilson 1927, at p = 1
    low = (1 + z**2 / 120 - z * (z**2 / 4 / 60**2) ** 0.5) / (1 + z**2 / 60)
    assert stats.interval([[1.0] * 30, [1.0] * 30]) == pytest.approx((1, low, 1), abs=1e-4)
    assert stats.interval([[0.0] * 60]) == pytest.approx((0, 0, 1 - low), abs=1e-4)
    assert stats.interval([[1.0] * 59 + [0.9]])[1] < 1


def test_better_is_said_only_where_intervals_lie_apart(bench: ModuleType):
    import claim

    assert claim.compared((0.8, 0.7, 0.9), (0.6, 0.5, 0.69)) == "read better than"
    assert claim.compared((0.6, 0.5, 0.69), (0.8, 0.7, 0.9)) == "read worse than"
    for above, more in (((0.8, 0.68, 0.9), "read more,"), ((0.6, 0.55, 0.9), "read no more,")):
        told = claim.compared(above, (0.6, 0.5, 0.69))
        assert "as far as these few scenes tell" in told
        assert told.startswith(more)
        assert "better" not in told


def test_plots_of_every_task_lie_side_by_side(bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import plots
    import table

    shared = {"kind": "popup", "budget": 140, "tokens": 99.0, "tokens_s": 280.0, "scores": [1.0, 0.5]}
    for task in ("reading", "until", "looking", "finding", "fidelity"):
        for sampler, seed in (("nested", 1), ("nested", 2), ("uniform", 1)):
            row = {"task": task, "seed": seed, "sampler": sampler, "until": [0.25, 1.0]}
            table.append_row(tmp_path / "rows.jsonl", shared | row)
    drawn = {}

    def draw_one(rows: list, title: str, path: Path) -> None:
        drawn[path.name] = title, plots.labels(rows), plots.curves(rows, "tokens")

    with monkeypatch.context() as patch:
        patch.setattr(plots, "draw_one", draw_one)
        plots.draw(tmp_path)
    assert set(drawn) == {f"{task}-popup.png" for task in ("reading", "until", "looking", "finding")} | {
        "fidelity-clips.png"
    }
    assert drawn["looking-popup.png"][:2] == (
        "looking: popup",
        {"nested": "nested, 2 scenes", "uniform": "uniform, 1 scene"},
    )
    assert drawn["fidelity-clips.png"][1]["nested"] == "nested, 2 clips"
    for task, mean in (("looking", 0.75), ("until", 0.625)):
        assert drawn[f"{task}-popup.png"][2]["uniform"][0][:2] == (99, mean)
    if importlib.util.find_spec("matplotlib"):
        plots.draw(tmp_path)
        assert {path.name for path in tmp_path.glob("*.png")} == set(drawn)


def test_a_word_is_read_from_the_first_emission_that_suffices(bench: ModuleType, monkeypatch: pytest.MonkeyPatch):
    """Three words for a second each: the first is read from one emission, the next from two, the last never."""
    import until

    box = (8, 8, 40, 24)
    items = [bench.Item(word, n, n + 1, lambda t: box) for n, word in enumerate(("one", "two", "six"))]
    scene = bench.Scene("made", 3.0, lambda t: np.zeros((64, 64, 3), np.uint8), items)
    patch, place = np.zeros((1, 3, 16, 16), np.uint8), np.array([[0.5, 0.5, 0, 1]], np.float32)
    looks = [bench.Look(t / 4, patch + t % 4, place, np.ones(1, bool), (0.5, 0.5), (64, 64)) for t in range(12)]
    painted: list[int] = []
    monkeypatch.setattr(until, "prepared", lambda *_: (scene, Path()))
    monkeypatch.setattr(until, "sampler_of", lambda _: lambda *_: looks)
    monkeypatch.setattr(until, "pictures", lambda s, own, i: painted.append(len(own)) or iter([(own[-1], s.frame(0))]))
    texts = iter([["One", "no", ""], ["two", "sic"], ["si"], ["sixx"]])
    monkeypatch.setattr(until.ocr, "read", lambda crops, reader: next(texts))
    row = until.run({"kind": "made", "seed": 1, "sampler": "nested", "budget": 140, "reader": "tesseract"})
    assert row["until"] == [0, 0.25, 1]
    assert row["scores"] == [1, 1, 0]
    assert painted == [1, 1, 1, 2, 2, 3, 4]


def test_patches_without_an_eye_are_measured_where_the_other_sampler_looks(bench: ModuleType):
    import fidelity

    def look(seconds: float, place: tuple[float, float]) -> object:
        return bench.Look(seconds, np.empty(0), np.empty(0), np.empty(0), place, (64, 64))

    fixed, eye = [look(t, (0.5, 0.5)) for t in (0.0, 0.25, 0.5)], [look(0.04, (0.1, 0.2)), look(0.43, (0.8, 0.9))]
    assert fidelity.eyes(fixed, eye) == [(0.1, 0.2), (0.8, 0.9), (0.8, 0.9)]
    assert fidelity.eyes(eye, eye) == [(0.1, 0.2), (0.8, 0.9)]


def test_published_rings_have_their_number_and_exact_means(bench: ModuleType):
    import pyramids

    frame = np.random.default_rng(1).integers(0, 256, (1600, 2000, 3), np.uint8)
    patches, geometry = pyramids.ring_patches(frame, (0.5, 0.5))
    assert len(patches) == 172
    n = int(np.argmax(geometry[:, 2]))  # one of stride 8
    x, y = round(float(geometry[n, 0]) * 2000 - 64), round(float(geometry[n, 1]) * 1600 - 64)
    truth = frame[y : y + 8, x : x + 8].mean((0, 1))
    np.testing.assert_allclose(patches[n][:, 0, 0], truth, atol=0.5)


def test_a_seed_gives_the_same_scene_and_another_seed_another(bench: ModuleType):
    del bench
    from scenes import READING

    first, again, other = (READING["popup"](seed, count=2) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.frame(1.2), again.frame(1.2))
    assert [item.text for item in first.items] == [item.text for item in again.items]
    assert (first.frame(1.2) != other.frame(1.2)).any()


def test_sharp_is_what_patches_of_full_resolution_cover(bench: ModuleType):
    import looking

    places = np.array([[24 / 640, 24 / 480, 0, 1], [40 / 640, 24 / 480, 0, 1], [64 / 640, 64 / 480, 2, 1]], np.float32)
    look = bench.Look(0.0, np.empty((3, 3, 16, 16), np.uint8), places, np.ones(3, bool), (0, 0), (480, 640))
    seen = looking.sharp(look, (20, 12, 60, 44))  # patches 16 to 48 across, 16 to 32 down
    assert seen.shape == (32, 40)
    assert seen.sum() == (48 - 20) * (32 - 16)
    assert seen[4:20, :28].all()


def test_words_are_seen_beside_noise_that_never_ends(bench: ModuleType, ffmpeg: str):
    del ffmpeg, bench
    if not Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").exists():
        skip_or_fail("tesseract", "the DejaVu fonts are not installed")
    import looking

    row = {"kind": "static", "seed": 3, "budget": 140}
    seen = {sampler: looking.run(row | {"sampler": sampler}, count=8) for sampler in ("nested", "center")}
    assert sum(seen["nested"]["scores"][2:]) >= 5, seen["nested"]["until"]  # two seconds to get used to it
    assert sum(seen["center"]["scores"]) <= 2


def test_foveated_patches_read_what_as_many_uniform_ones_do_not(bench: ModuleType, ffmpeg: str):
    del ffmpeg
    if shutil.which("tesseract") is None:
        skip_or_fail("tesseract", "tesseract is not installed")
    if not Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").exists():
        skip_or_fail("tesseract", "the DejaVu fonts are not installed")
    row = {"kind": "popup", "seed": 3, "reader": "tesseract"}
    seen = {
        sampler: bench.run(row | {"sampler": sampler, "budget": 273}, count=4)
        for sampler in ("full", "nested", "uniform")
    }
    assert seen["nested"]["tokens_most"] <= 273
    assert seen["uniform"]["tokens"] == 273
    assert seen["full"]["tokens"] == 3600
    assert seen["nested"]["characters"] >= 0.8 * seen["full"]["characters"]
    assert seen["uniform"]["characters"] <= 0.5 * seen["nested"]["characters"]
