"""Inputs that are missing, if they are fetched or the store lies in a bucket."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import import_or_skip
from many_support import OPTIONS, counts, make_clips, markers_of, saccade

import_or_skip("fsspec")
FETCHED = "local://"
PLACES = [pytest.param(FETCHED, "", id="fetched inputs"), pytest.param("", "local://", id="store in a bucket")]


def planned(folder: Path, ffmpeg: str, count: int, scheme: str) -> list[Path]:
    """A store of units of a clip each, all with the same content."""
    (first,) = make_clips(ffmpeg, folder / "in", 1)
    clips = [folder / f"in/clip{number:02}.mp4" for number in range(count)]
    for clip in clips[1:]:
        clip.hardlink_to(first)
    rows = [{"uri": f"{scheme}{clip}", "duration": 2, "key": clip.stem} for clip in clips]
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    saccade("plan", folder / "m.jsonl", "-o", folder / "store", *OPTIONS)
    return clips


def classes(store: Path) -> dict[str, str]:
    lines = [json.loads(line) for path in (store / "quarantine").glob("*") for line in path.read_text().splitlines()]
    return {line["key"]: line["class"] for line in lines}


@pytest.mark.parametrize(("inputs", "bucket"), PLACES)
def test_one_that_is_gone_is_given_up_since_others_are_there(tmp_path: Path, ffmpeg: str, inputs: str, bucket: str):
    clips = planned(tmp_path, ffmpeg, 4, inputs)
    clips[1].unlink()
    saccade("work", f"{bucket}{tmp_path}/store", "--progress", "none", expect=[3])
    assert counts(markers_of(tmp_path / "store")) == {"items": 4, "done": 3, "damaged": 0, "quarantined": 1}
    assert classes(tmp_path / "store") == {"clip01": "missing"}


@pytest.mark.parametrize(("inputs", "bucket"), PLACES)
def test_folder_that_is_gone_writes_nothing_off(tmp_path: Path, ffmpeg: str, inputs: str, bucket: str):
    planned(tmp_path, ffmpeg, 4, inputs)
    store = tmp_path / "store"
    (tmp_path / "in").rename(tmp_path / "away")
    (tmp_path / "in").mkdir()
    said = saccade("work", f"{bucket}{store}", "--progress", "none", expect=[1]).stderr.splitlines()[-1]
    (tmp_path / "in").rmdir()
    (tmp_path / "away").rename(tmp_path / "in")
    assert f"no video in {inputs}{tmp_path}/in can be read here" in said
    assert "held back" in said
    assert (markers_of(store), classes(store)) == ([], {})
    saccade("work", f"{bucket}{store}", "--progress", "none")
    assert counts(markers_of(store)) == {"items": 4, "done": 4, "damaged": 0, "quarantined": 0}
