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
    import rows

    shared = {"kind": "popup", "budget": 140, "tokens": 99.0, "tokens_s": 280.0, "scores": [1.0, 0.5]}
    for task in ("reading", "looking", "finding", "fidelity", "reuse"):
        for sampler, seed in (("nested", 1), ("nested", 2), ("uniform", 1)):
            row = {"task": task, "seed": seed, "sampler": sampler}
            rows.append_row(tmp_path / "rows.jsonl", shared | row)
    drawn = {}

    def draw_one(some: list, title: str, path: Path) -> None:
        drawn[path.name] = title, plots.labels(some), plots.curves(some, "tokens")

    with monkeypatch.context() as patch:
        patch.setattr(plots, "draw_one", draw_one)
        plots.draw(tmp_path)
    assert set(drawn) == {f"{task}-popup.png" for task in ("reading", "looking", "finding")} | {"fidelity-clips.png"}
    assert drawn["looking-popup.png"][:2] == (
        "looking: popup",
        {"nested": "nested, 2 scenes", "uniform": "uniform, 1 scene"},
    )
    assert drawn["fidelity-clips.png"][1]["nested"] == "nested, 2 clips"
    assert drawn["looking-popup.png"][2]["uniform"][0][:2] == (99, 0.75)
    if importlib.util.find_spec("matplotlib"):
        plots.draw(tmp_path)
        assert {path.name for path in tmp_path.glob("*.png")} == set(drawn)


def test_a_table_has_a_line_a_sampler_with_means_over_its_seeds(bench: ModuleType):
    import table

    def row(sampler: str, budget: int, seed: int, scores: list[float], **more: object) -> dict[str, object]:
        measured = {"tokens": 90.0 + seed, "tokens_most": 100 + seed, "inside_s": 400.0, "tokens_s": 200.0 + seed}
        shown = {"task": "reading", "kind": "popup:12", "seed": seed, "sampler": sampler, "budget": budget}
        return shown | measured | {"scores": scores, "exact": 0.25} | more

    full = [row("full", 0, seed, [1.0] * 60) for seed in (1, 3)]
    half = [row("uniform", 140, seed, [0.5] * 60) for seed in (1, 3)]
    title, line, first, second = table.markdown([*full, *half]).splitlines()
    assert title == (
        "| sampler | tokens a fixation, mean (most) | of a second, all; to encode | characters right "
        "| of every pixel's | words exact |"
    )
    assert line == "|---|---|---|---|---|---|"
    assert first.startswith("| every pixel | 92 (103) | 400; 202 | 1.00 (0.97 to 1.00) |")  # Wilson's, of 120 words
    assert second == "| uniform, 140 | 92 (103) | 400; 202 | 0.50 | 0.50 | 0.25 |"
    assert table.markdown([*full, *half]) == table.markdown([*full, *half])
    other = row("nested+every=frame+rate=2", 273, 1, [0.5, 0.5], kind="natural:/clips/a.mp4", picture="memory")
    lines = table.markdown([half[0], other]).splitlines()
    assert lines[0].startswith("| scene | sampler |")
    assert lines[2].startswith("| 12 px | uniform, 140 |")
    assert lines[3].startswith("| words over a.mp4 | nested, 273, `--every frame --rate 2`, with memory |")


def test_a_clip_is_as_near_as_its_psnr_says(bench: ModuleType):
    import table

    row = {"task": "fidelity", "kind": "a.mp4", "seed": 1, "sampler": "nested", "budget": 273, "tokens": 200.0}
    row |= {"tokens_most": 210, "psnr_near": 60.0, "ssim_near": 1.0, "psnr_frame": 35.04, "ssim_frame": 0.9671}
    assert table.markdown([row | {"psnr_moving": 32.5}]).splitlines()[2] == (
        "| nested, 273 | 200 (210) | exact | 35.0; 0.967 | 32.5 |"
    )
    times = {"task": "looking", "scores": [1.0, 0.0], "until": [0.1, 1.0]}
    assert "| 0.50 (0.00 to 1.00) | 550 ms |" in table.markdown([row | times])


def test_rows_measured_with_another_number_of_words_are_others(bench: ModuleType, tmp_path: Path):
    import rows

    for count in (8, 30):
        rows.append_row(tmp_path / "rows.jsonl", {"task": "reading", "kind": "popup", "seed": 1, "count": count})
    assert [row["count"] for row in rows.read_rows(tmp_path / "rows.jsonl")] == [8, 30]


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
