"""`datasets.load_dataset("webdataset")` reads a store's shards; single dumps, by NumPy, say what is in them."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import import_or_skip
from many_support import markers_of

datasets = import_or_skip("datasets")
pytestmark = [pytest.mark.filterwarnings("ignore")]
TAGS = ("-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_range", "tv")


def inputs(ffmpeg: str, folder: Path) -> list[dict[str, Any]]:
    """A manifest's rows: in the first shard five that leave all out, then what differs from them in each way."""

    def video(name: str, seconds: float, *options: str) -> str:
        graph = f"testsrc2=s=160x96:r=10:d={seconds},hue=h={len(name) * 40}"
        subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", graph, *options, folder / name], check=True)
        return str(folder / name)

    long = video("long.mp4", 3, *TAGS)
    cut = Path(video("cut.ts", 2.4, "-c:v", "libx264", "-g", "5", *TAGS))
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    rows: list[dict[str, Any]] = [{"uri": long, "key": f"same{i}", "duration": 3} for i in range(5)]
    rows += [
        {"uri": long, "key": "ends", "duration": 3, "end": 2.8, "caption": "a", "tags": ["x", 1]},
        {"uri": video("rgb.mkv", 2.5, "-c:v", "ffv1", "-pix_fmt", "gbrp"), "key": "rgb", "duration": 2.5, "n": 1},
        {"uri": video("raw.h264", 2.5, "-c:v", "libx264"), "key": "raw", "duration": 2.5, "n": "one", "caption": None},
        {"uri": str(cut), "key": "cut", "duration": 2.4, "stream": 0},
        {"uri": video("short.mp4", 1), "key": "short", "duration": 1, "start": 0.3, "caption": 5},
    ]
    return rows


@pytest.fixture(scope="module", params=["u8", "f16"])
def made(
    tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, program: Path, request: pytest.FixtureRequest
) -> tuple[Path, dict[str, dict[str, Any]]]:
    """A store of several shards, and its manifest's rows by key; beside it a dump of each in a folder KEY."""
    folder = tmp_path_factory.mktemp("hugging-face")
    rows = inputs(ffmpeg, folder)
    (folder / "list.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ["--tokens", "48", "--rate", "3", "--backend", "cpu", "--dtype", request.param]

    def run(*arguments: object) -> None:
        done = subprocess.run([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode in (0, 3), done.stderr  # 3: damaged input

    run("plan", folder / "list.jsonl", "-o", folder / "store", "--unit-seconds", 20, *options)
    run("work", folder / "store", "--progress", "none")
    for row in rows:
        end = ["--duration", row["end"] - row.get("start", 0)] if "end" in row else []
        run("dump", row["uri"], "-o", folder / row["key"], "--start", row.get("start", 0), *end, *options)
    return folder / "store", {row["key"]: row for row in rows}


def shards(store: Path) -> list[str]:
    return [str(store / marker["shard"]["name"]) for marker in markers_of(store)]


@pytest.mark.parametrize("streaming", [False, True])
def test_columns_are_the_dumps_arrays(made: tuple[Path, dict[str, Any]], streaming: bool, tmp_path: Path):
    store, rows = made
    assert len(shards(store)) > 1
    data = datasets.load_dataset(
        "webdataset", data_files=shards(store), split="train", streaming=streaming, cache_dir=str(tmp_path)
    )
    found = {row["__key__"]: row for row in data}
    assert found.keys() == rows.keys()
    lengths = set()
    for key, row in found.items():
        arrays = {
            name: np.load(store.parent / key / f"{name}.npy") for name in ("patches", "geometry", "changed", "index")
        }
        index = arrays.pop("index")
        lengths.add(len(index))
        assert row["index.bin"] == (store.parent / key / "index.npy").read_bytes()
        for name, array in {**arrays, **{name: index[name] for name in index.dtype.names or ()}}.items():
            column = np.asarray(row[f"{name}.npy"], array.dtype)
            assert np.array_equal(column, array), (key, name)
        positions = np.asarray(row["positions.npy"])
        assert positions.shape == arrays["geometry"].shape
        assert np.array_equal(positions[:, 0, 0], index["frame"])
    assert len(lengths) > 2


def test_json_says_what_the_manifest_said(made: tuple[Path, dict[str, Any]], tmp_path: Path):
    store, rows = made
    data = datasets.load_dataset("webdataset", data_files=shards(store), split="train", cache_dir=str(tmp_path))
    facts = {row["__key__"]: row["json"] for row in data}
    named = ("uri", "key", "duration", "start", "end", "stream")
    for key, row in rows.items():
        assert json.loads(facts[key]["extra"]) == {name: row[name] for name in row if name not in named}
        assert facts[key]["start"] == row.get("start", 0)
        assert (facts[key]["end"], facts[key]["stream"]) == (row.get("end", -1), row.get("stream", -1))
        assert facts[key]["damaged"] == (key == "cut") == bool(facts[key]["damage"])
    assert facts["rgb"]["video"]["matrix"] == facts["rgb"]["video"]["range"] == ""
    assert facts["raw"]["video"]["frame_count"] == -1


def types_of(value: Any, at: str = "") -> dict[str, str]:
    """The type of each member, by its path."""
    if isinstance(value, dict):
        return {path: kind for name, each in value.items() for path, kind in types_of(each, f"{at}/{name}").items()}
    if isinstance(value, list):
        return {f"{at}[]": " ".join(sorted({kind for each in value for kind in types_of(each).values()}))}
    return {at: type(value).__name__}


def test_members_of_json_have_one_type(made: tuple[Path, dict[str, Any]]):
    store, rows = made
    seen = []
    for shard in shards(store):
        with tarfile.open(shard) as archive:
            for member in archive:
                if member.name.endswith(".json"):
                    file = archive.extractfile(member)
                    assert file is not None
                    seen.append(json.loads(file.read()))
    assert len(seen) == len(rows)
    notes = [facts["video"]["notes"] for facts in seen]
    assert "" in notes[:5]  # the first five say less than others
    assert any(notes)
    for facts in seen:
        types = types_of(facts)
        assert types == types_of(seen[0])
        assert not {"NoneType", ""} & set(types.values())
