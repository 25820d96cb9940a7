"""bench/accuracy in small: its scenes and measures by hand, and foveated patches that read what uniform ones do not."""

from __future__ import annotations

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
