"""`examples/to_rerun.py`: what Rerun's SDK reads back from its file is what NumPy makes of the dump's arrays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc
from conftest import ROOT, import_or_skip

SCRIPT = ROOT / "examples" / "to_rerun.py"


def to_rerun(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def read(path: Path) -> dict[str, dict[int, dict[str, Any]]]:
    """What a recording holds: entity, presentation time in ns (-1: at all times), component; by Rerun's own reader."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for chunk in import_or_skip("rerun.chunk").RrdReader(path).stream().to_chunks():
        batch = chunk.to_record_batch()
        rows = batch.to_pydict()
        times = [-1] * batch.num_rows if chunk.is_static else batch["video"].cast("int64").to_pylist()
        for i, time in enumerate(times):
            components = {name: rows[name][i] for name in rows if ":" in name or name == "frame"}
            found[chunk.entity_path].setdefault(time, {}).update(components)
    return found


def scalar(found: dict[str, dict[int, dict[str, Any]]], name: str) -> dict[int, float]:
    return {time: row["Scalars:scalars"][0] for time, row in found[name].items()}


@pytest.fixture(scope="module")
def small(run_program: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump of a small picture whose pixels are twice as wide as high."""
    import_or_skip("rerun")
    folder = tmp_path_factory.mktemp("rerun") / "small"
    source = "lavfi:testsrc2=size=160x240:rate=25:duration=2,setsar=2/1"
    run_program("dump", source, "-o", folder, "--every", 5, "--tokens", 60, "--log-level", "error")
    return folder


@pytest.fixture(scope="module")
def found(small: Path) -> dict[str, dict[int, dict[str, Any]]]:
    path = small.parent / "small.rrd"
    done = to_rerun(small, "--save", path, "--jpeg", 0)
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"{len(sc.Dump(small))} emissions of {small}\n"
    return read(path)


def test_times_and_frames_are_the_dumps(small: Path, found: Any):
    index = np.load(small / "index.npy")
    assert sorted(found["/picture/seen"]) == index["pts_ns"].tolist()
    assert [row["frame"] for _, row in sorted(found["/picture/seen"].items())] == index["frame"].tolist()


def test_counts_are_those_of_the_arrays(small: Path, found: Any):
    geometry, changed = np.load(small / "geometry.npy"), np.load(small / "changed.npy") == 1
    times, seen = np.load(small / "index.npy")["pts_ns"].tolist(), geometry[..., 3] > 0
    assert scalar(found, "/counts/changed") == dict(zip(times, changed.sum(1).tolist(), strict=True))
    assert scalar(found, "/counts/new") == dict(zip(times, (changed & seen).sum(1).tolist(), strict=True))
    assert scalar(found, "/counts/visible") == dict(zip(times, seen.sum(1).tolist(), strict=True))
    damaged = np.load(small / "index.npy")["damaged_tiles"].tolist()
    assert scalar(found, "/counts/damaged_tiles") == dict(zip(times, damaged, strict=True))
    levels = {name: scalar(found, name) for name in found if name.startswith("/counts/level/")}
    assert len(levels) > 1
    for name, counts in levels.items():
        level = int(name.rsplit("/", 1)[1])
        wanted = ((np.rint(geometry[..., 2]) == level) & seen).sum(1)
        assert all(counts.get(time, 0) == count for time, count in zip(times, wanted.tolist(), strict=True))


def test_outlines_lie_on_the_patches_of_the_displayed_picture(small: Path, found: Any):
    geometry, index = np.load(small / "geometry.npy").astype(np.float64), np.load(small / "index.npy")
    for number, time in enumerate(index["pts_ns"].tolist()):
        u, v, lod, _ = geometry[number][geometry[number, :, 3] > 0].T
        row = found["/picture/patches"][time]
        np.testing.assert_allclose(row["Boxes2D:centers"], np.stack([u * 320, v * 240], -1), atol=1e-3)
        half = 8 * 2.0**lod
        np.testing.assert_allclose(row["Boxes2D:half_sizes"], np.stack([half * 2, half], -1), atol=1e-3)
        alpha = np.array(row["Boxes2D:colors"]) & 255
        changed = np.load(small / "changed.npy")[number][geometry[number, :, 3] > 0]
        assert (alpha == np.where(changed == 1, 255, 70)).all()


def test_picture_is_painted_to_the_bit(small: Path, found: Any):
    dump = sc.Dump(small)
    for emission in dump:
        row = found["/picture/seen"][emission.pts_ns]
        assert np.array_equal(np.array(row["Image:buffer"][0], np.uint8).reshape(240, 320, 3), sc.paint(emission))


def test_path_ends_at_the_fixation_and_holds_each_once(small: Path, found: Any):
    index = np.load(small / "index.npy")
    landed: list[tuple[float, float]] = []
    for row in index:
        place = (float(row["fix_u"]) * 320, float(row["fix_v"]) * 240)
        at = int(row["pts_ns"])
        np.testing.assert_allclose(found["/picture/fixation"][at]["Points2D:positions"], [place], atol=1e-3)
        if not row["in_flight"] and (not landed or landed[-1] != place):
            landed.append(place)
        strips = found["/picture/scanpath"][at]["LineStrips2D:strips"]
        if len(landed) > 1:
            np.testing.assert_allclose(strips, [landed[-20:]], atol=1e-3)
        else:
            assert strips == []
    assert len(landed) > 3


def test_stream_gives_what_its_dump_does(small: Path, found: Any, tmp_path: Path):
    source = "lavfi:testsrc2=size=160x240:rate=25:duration=2,setsar=2/1"
    options = ["--every", 5, "--set", "tokens=60", "--device", "cpu"]
    done = to_rerun(source, *options, "--save", tmp_path / "stream.rrd", "--jpeg", 0)
    assert done.returncode == 0, done.stderr
    stream = read(tmp_path / "stream.rrd")
    names = [name for name in found if name.startswith(("/picture/", "/counts/"))]
    assert names
    for name in names:
        assert stream[name] == found[name], name


def test_video_and_pictures_are_packed(clip: Path, dumped: Path, tmp_path: Path):
    import_or_skip("rerun")
    pillow = import_or_skip("PIL.Image")
    path = tmp_path / "clip.rrd"
    done = to_rerun(dumped, "--video", clip, "--width", 320, "--save", path)
    assert done.returncode == 0, done.stderr
    found = read(path)
    assert bytes(found["/frame/video"][-1]["AssetVideo:blob"][0]) == clip.read_bytes()
    for emission in sc.Dump(dumped):
        frame = found["/frame/video"][emission.pts_ns]
        assert frame["VideoFrameReference:timestamp"] == [emission.pts_ns]
        packed = bytes(found["/picture/seen"][emission.pts_ns]["EncodedImage:blob"][0])
        shown = np.asarray(pillow.open(BytesIO(packed)), np.float32)
        assert np.abs(shown - sc.paint(emission, width=320)).mean() < 4
        place = np.array(emission.fixation)
        for space, extent in (("picture", (320, 180)), ("frame", (1280, 720))):
            row = found[f"/{space}/fixation"][emission.pts_ns]
            np.testing.assert_allclose(row["Points2D:positions"], [place * extent], atol=1e-2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.mp4"], ["nowhere.mp4"]),
        ([ROOT / "docs"], ["docs", "meta.json"]),
        (["test://noise", "--set", "durtion=1"], ["durtion", "duration"]),
        (["test://noise", "--set", "durations"], ["--set", "NAME=VALUE"]),
        (["test://noise", "--video", ROOT / "README.md"], ["README.md", "MP4"]),
        (["test://noise", "--video", "nowhere.mp4"], ["nowhere.mp4"]),
    ],
)
def test_error_is_one_line_and_no_file(arguments: list[object], words: list[str], tmp_path: Path):
    import_or_skip("rerun")
    path = tmp_path / "none.rrd"
    done = to_rerun(*arguments, "--save", path)
    assert done.returncode == 1
    assert done.stderr.startswith("to_rerun: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr
    assert not path.exists()


def test_without_the_sdk_it_says_what_to_install(tmp_path: Path):
    (tmp_path / "rerun.py").write_text("raise ModuleNotFoundError('no', name='rerun')\n")
    where = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "python")])}
    done = to_rerun("test://noise", "--save", tmp_path / "none.rrd", **where)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "pip install rerun-sdk" in done.stderr
    assert to_rerun("--help", **where).stdout.startswith("usage:")
