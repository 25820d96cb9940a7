"""`Patches`: rows of videos to rows of patches, whatever the videos are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip
from many_support import OPTIONS, make_clips, saccade

import_or_skip("ray")
from pysaccade.on_ray._patches import Patches  # noqa: E402


def statuses(patches: Patches, clips: list[Path]) -> list[Any]:
    batch = {"uri": np.array([str(clip) for clip in clips]), "key": np.array([clip.name for clip in clips])}
    rows = [row for found in patches(batch) for row in zip(found["key"], found["status"], found["error"], strict=True)]
    return sorted({(str(key), str(status), "outside the frame" in str(error)) for key, status, error in rows})


def test_strange_videos_are_rows_and_no_error_of_a_batch(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    strange = [tmp_path / f"small{i}.mp4" for i in range(3)]
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x24:r=10:d=1", strange[0]], check=True)
    for other in strange[1:]:
        other.write_bytes(strange[0].read_bytes())
    patches = Patches(tokens=48, rate=2, backend="cpu", ignore="140,80,8,8")
    given_up = [(clip.name, "options", True) for clip in strange]
    assert statuses(patches, strange[:2]) == given_up[:2]  # before any has taken them
    assert statuses(patches, [good]) == [(good.name, "done", False)]
    assert statuses(patches, [good, *strange]) == [(good.name, "done", False), *given_up]
    assert not [error for error in errors(patches, [good, *strange]) if "attempt" in error]


def errors(patches: Patches, clips: list[Path]) -> list[str]:
    batch = {"uri": np.array([str(clip) for clip in clips])}
    return [str(error) for found in patches(batch) for error in found["error"]]


def test_options_that_no_video_takes_are_rows_and_one_warning(
    ffmpeg: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    wrong = Patches(tokens=48, rate=2, backend="cpu", jobs=4, ignore="1000,1000,8,8")
    for count, warnings in ((1, 0), (38, 0), (45, 1), (2, 1)):
        said = errors(wrong, [good] * count)
        assert [text.count(": --ignore 1000,1000,8,8: lies outside the frame") for text in said] == [1] * count
        assert len(caplog.records) == warnings
    assert "none of the first 40 videos could be used; are the options right?" in caplog.text
    with pytest.raises(ValueError, match="No such filter"):
        errors(Patches(vf="nosuch", backend="cpu"), [good])


def test_broken_videos_are_no_refusals_of_options(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    junk = tmp_path / "junk.mp4"
    junk.write_text("no video\n" * 100)
    patches = Patches(tokens=48, rate=2, backend="cpu", jobs=4, ignore="140,80,8,8")
    assert len(errors(patches, [junk] * 110)) == 110  # more than --max-bad of them
    assert set(errors(patches, [good])) == {""}


def test_rows_that_no_plan_takes_are_rows_of_the_result(ffmpeg: str, tmp_path: Path):
    (good,) = make_clips(ffmpeg, tmp_path, 1)
    patches = Patches(tokens=48, rate=2, backend="cpu", dtype="f32")
    batch = {
        "uri": np.array([str(good), None, str(good), str(good), str(good)], dtype=object),
        "start": np.array([0.5, 0.0, "soon", 0.0, 0.0], dtype=object),
        "end": np.array([0.1, 1.0, 1.0, 1.0, np.nan]),
        "n": np.arange(5),
    }
    found = {int(rows["n"][0]): rows for rows in patches(batch)}
    assert [str(found[n]["status"][0]) for n in range(5)] == ["input", "input", "input", "done", "done"]
    said = ["end is not after start", "has no uri", 'start "soon": is not a number of seconds from 0 to 1e9']
    assert [str(found[n]["error"][0]) for n in range(3)] == said
    assert found[0]["patches"].dtype == found[3]["patches"].dtype == np.float32
    nothing = list(patches({name: column[:2] for name, column in batch.items()}))
    assert [str(rows["status"][0]) for rows in nothing] == ["input"] * 2


def test_keys_are_those_of_a_plan(ffmpeg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (good,) = make_clips(ffmpeg, tmp_path / "in", 1)
    (tmp_path / "in/a:b.mp4").write_bytes(good.read_bytes())
    monkeypatch.chdir(tmp_path)
    rows: list[dict[str, Any]] = [
        {"uri": str(good)}, {"uri": "in/clip00.mp4"}, {"uri": f"  {good}\t"},
        {"uri": "././in/clip00.mp4", "start": 0.25},
        {"uri": "in/clip00.mp4", "start": "0.50", "end": 1}, {"uri": "in/a:b.mp4", "stream": 0}, {"uri": "in/none.mp4"},
        {"uri": f"file://{good}", "end": 0.123456789}, {"uri": "in/clip00.mp4", "end": 0.9, "key": " mine "},
        {"uri": "in/clip00.mp4", "start": 0.1, "end": 0.3, "key": 7}, {"uri": "in/clip00.mp4", "start": "", "key": ""},
    ]  # fmt: skip
    manifest = tmp_path / "m.jsonl"
    for segment in ({}, {"segment": "0.4"}):
        # A plan a row: there the second of two rows of the same content is a duplicate.
        for number, row in enumerate(rows):
            manifest.write_text(json.dumps(row) + "\n")
            store = tmp_path / f"s{len(segment)}-{number}"
            saccade("plan", manifest, "-o", store, *OPTIONS, *(f"--{name}={text}" for name, text in segment.items()))
            wanted = {json.loads(line)["key"] for line in (store / "plan/items.jsonl").read_text().splitlines()}
            batch = {name: np.array([value], dtype=object) for name, value in row.items()}
            patches = Patches(tokens=48, rate=2, backend="cpu", **segment)
            assert {str(key) for found in patches(batch) for key in found["key"]} == wanted, row


def test_ray_that_can_not_join_rows_is_refused():
    from pysaccade.on_ray._map import _check_version

    for fine in ("2.52.0", "2.60.1", "3.0.0.dev0"):
        _check_version(fine)
    for old in ("2.40.0", "2.51.1", "2.9.3"):
        with pytest.raises(sc.UnavailableError, match=f"Ray {old} .* needs Ray 2.52 or later"):
            _check_version(old)


def test_missing_video_of_a_batch_is_a_row(tmp_path: Path, ffmpeg: str):
    (clip,) = make_clips(ffmpeg, tmp_path, 1)
    for names in (["none.mp4"], [f"none{number}.mp4" for number in range(30)], ["none.mp4", clip.name]):
        batch = {"uri": np.array([str(tmp_path / name) for name in names])}
        found = list(Patches(tokens=48, rate=2, backend="cpu")(batch))
        statuses = [str(rows["status"][0]) for rows in found]
        assert sorted(statuses) == sorted("done" if name == clip.name else "missing" for name in names)
