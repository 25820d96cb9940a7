"""Inputs that are missing where units are placed one by one: in buckets, on Ray, and in batches of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import import_or_skip
from many_support import OPTIONS, counts, make_clips, markers_of, work
from pysaccade.many._inputs import siblings_of
from pysaccade.many._plan import Plan
from pysaccade.many._store import open_store
from pysaccade.work import main

pytest.importorskip("fsspec")
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
    work("plan", folder / "m.jsonl", "-o", folder / "store", *OPTIONS)
    return clips


def classes(store: Path) -> dict[str, str]:
    lines = [json.loads(line) for path in (store / "quarantine").glob("*") for line in path.read_text().splitlines()]
    return {line["key"]: line["class"] for line in lines}


@pytest.mark.parametrize(("inputs", "bucket"), PLACES)
def test_one_that_is_gone_is_given_up_since_others_are_there(tmp_path: Path, ffmpeg: str, inputs: str, bucket: str):
    clips = planned(tmp_path, ffmpeg, 4, inputs)
    clips[1].unlink()
    work("work", f"{bucket}{tmp_path}/store", "--progress", "none", expect=[3])
    assert counts(markers_of(tmp_path / "store")) == {"items": 4, "done": 3, "damaged": 0, "quarantined": 1}
    assert classes(tmp_path / "store") == {"clip01": "missing"}


@pytest.mark.parametrize(("inputs", "bucket"), PLACES)
def test_folder_that_is_gone_writes_nothing_off(tmp_path: Path, ffmpeg: str, inputs: str, bucket: str):
    planned(tmp_path, ffmpeg, 4, inputs)
    store = tmp_path / "store"
    for options in ((), ("--max-bad", "100"), ("--shard", "1/2")):
        (tmp_path / "in").rename(tmp_path / "away")
        (tmp_path / "in").mkdir()
        said = work("work", f"{bucket}{store}", "--progress", "none", *options, expect=[1]).stderr.splitlines()[-1]
        (tmp_path / "in").rmdir()
        (tmp_path / "away").rename(tmp_path / "in")
        assert f"{'2' if options[:1] == ('--shard',) else '4'} units wait; unit " in said
        assert f"no video in {inputs}{tmp_path}/in can be read here: 1 video held back, the first one, clip0" in said
        assert "; the same command goes on where it was left" in said
        assert "--max-bad" not in said
        assert (markers_of(store), classes(store)) == ([], {})
    work("work", f"{bucket}{store}", "--progress", "none")
    assert counts(markers_of(store)) == {"items": 4, "done": 4, "damaged": 0, "quarantined": 0}


@pytest.mark.parametrize(("inputs", "bucket"), PLACES)
def test_half_of_the_folders_is_done_and_a_video_that_is_gone_has_a_way_out(
    tmp_path: Path, ffmpeg: str, inputs: str, bucket: str
):
    clips = planned(tmp_path, ffmpeg, 2, inputs)
    (tmp_path / "alone").mkdir()
    alone = tmp_path / "alone/alone.mp4"
    rows = [{"uri": f"{inputs}{path}", "key": path.stem, "duration": 2} for path in (*clips, alone)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = tmp_path / "second"
    work("plan", tmp_path / "m.jsonl", "-o", store, *OPTIONS)
    said = work("work", f"{bucket}{store}", "--progress", "none", expect=[1]).stderr
    assert "where a video no longer exists, add --gone alone" in said
    assert counts(markers_of(store)) == {"items": 2, "done": 2, "damaged": 0, "quarantined": 0}
    work("work", f"{bucket}{store}", "--progress", "none", "--gone", "alone", expect=[3])
    assert classes(store) == {"alone": "missing"}


@pytest.mark.parametrize(
    ("error", "kind"), [(PermissionError("Access Denied"), "missing"), (FileNotFoundError("NoSuchKey"), "missing"),
                        (OSError("503 Slow Down"), "io")]
)  # fmt: skip
def test_what_a_bucket_refuses_is_held_unless_it_gives_others(
    tmp_path: Path, ffmpeg: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError,
    kind: str,
):  # fmt: skip
    from fsspec.implementations.local import LocalFileSystem

    from pysaccade.many import _inputs

    planned(tmp_path, ffmpeg, 3, FETCHED)
    real, refused = LocalFileSystem.get_file, ["clip"]

    def refuse(files: Any, source: str, *given: Any, **more: Any) -> None:
        if any(name in source for name in refused):
            raise error
        real(files, source, *given, **more)

    monkeypatch.setattr(LocalFileSystem, "get_file", refuse)
    monkeypatch.setattr(_inputs, "_PAUSE_S", 0.001)
    arguments = ["work", str(tmp_path / "store"), "--progress", "none", "--scratch", str(tmp_path / "scratch")]
    assert main(arguments) == 1
    assert "can be read here: 1 video held back" in capsys.readouterr().err
    assert markers_of(tmp_path / "store") == []
    refused[0] = "clip02"
    assert main(arguments) == 3
    assert classes(tmp_path / "store") == {"clip02": kind}


def test_twenty_in_a_row_stop_the_run(tmp_path: Path, ffmpeg: str):
    clips = planned(tmp_path, ffmpeg, 24, FETCHED)
    for clip in clips:
        clip.unlink()
    said = work("work", tmp_path / "store", "--progress", "none", expect=[1]).stderr.splitlines()[-1]
    assert "stopped: unit 00000019: no video in " in said
    assert markers_of(tmp_path / "store") == []


def test_siblings_are_other_inputs_of_the_same_folders(tmp_path: Path):
    uris = ["/a/1.mp4", "/a/2.mp4", "/a/b/3.mp4", "file:///a/4.mp4", "http://h/5.mp4", "https://i/6.mp4",
            *(f"s3://bucket/x/{number}.mp4" for number in range(9)), "s3://other/x/1.mp4", "local:///a/7.mp4",
            *(f"/many/{number}.mp4" for number in range(99)), "/a/1.mp4"]  # fmt: skip
    rows = [{"uri": uri, "key": f"k{number}", "duration": 2} for number, uri in enumerate(uris)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work("plan", tmp_path / "m.jsonl", "-o", tmp_path / "store", *OPTIONS)
    plan = Plan(open_store(tmp_path / "store"))

    def siblings(*given: str) -> list[str]:
        return sorted(item["uri"] for item in siblings_of(plan, [{"uri": uri} for uri in given]))

    assert siblings("/a/1.mp4") == ["/a/2.mp4", "file:///a/4.mp4"]
    assert siblings("http://j/1.mp4") == ["http://h/5.mp4", "https://i/6.mp4"]
    assert siblings("local:///a/8.mp4") == ["local:///a/7.mp4"]
    some = siblings("s3://bucket/y/1.mp4")
    assert len(some) == 3  # these are fetched
    assert all(uri.startswith("s3://bucket/") for uri in some)
    assert len(siblings("/many/1.mp4")) == 20
    assert siblings("/none/1.mp4") == []


def test_missing_video_of_a_batch_is_a_row(tmp_path: Path, ffmpeg: str):
    import_or_skip("ray")
    from pysaccade.on_ray._patches import Patches

    (clip,) = make_clips(ffmpeg, tmp_path, 1)
    for names in (["none.mp4"], [f"none{number}.mp4" for number in range(30)], ["none.mp4", clip.name]):
        batch = {"uri": np.array([str(tmp_path / name) for name in names])}
        found = list(Patches(patches=48, rate=2, backend="cpu")(batch))
        statuses = [str(rows["status"][0]) for rows in found]
        assert sorted(statuses) == sorted("done" if name == clip.name else "missing" for name in names)
