"""examples/webdataset_clips.py and examples/hf_datasets.py read what `saccade work` made; NumPy says what that is."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bucket_support import BUCKET, put_tree
from conftest import ROOT, import_or_skip
from many_support import OPTIONS, environment, make_clips, markers_of, saccade

CLIPS = 6
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, program: Path) -> Path:
    """A store with captions, and a shard that no marker names."""
    folder = tmp_path_factory.mktemp("examples")
    rows = [{"uri": str(clip), "duration": 1, "key": clip.stem, "caption": f"of {clip.stem}"}
            for clip in make_clips(ffmpeg, folder / "in", CLIPS)]  # fmt: skip
    (folder / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    saccade("plan", folder / "clips.jsonl", "-o", folder / "store", *OPTIONS)
    subprocess.run([program, "work", folder / "store", "--progress", "none"], check=True, stdin=subprocess.DEVNULL)
    (folder / "store/shards/00000000.0123456789ab.tar").write_bytes(b"left by an attempt that lost")
    return folder / "store"


def truth(store: Path) -> dict[tuple[str, int], dict[str, np.ndarray]]:
    """Arrays of each emission of each video, mapped where the index says that they lie."""
    found = {}
    for marker in markers_of(store):
        for line in map(json.loads, (store / marker["index"]["name"]).read_text().splitlines()):
            content = (store / line["shard"]).read_bytes()
            count, n, side = line["emissions"], line["patches"], line["patch_size"]
            forms = {"patches": (np.uint8, (n, 3, side, side)), "geometry": (np.float32, (n, 4)),
                     "positions": (np.float32, (n, 4)), "changed": (np.uint8, (n,))}  # fmt: skip
            arrays = {}
            for name, (dtype, shape) in forms.items():
                where = line["members"][f"{name}.npy"]
                part = content[where["offset"] + 256 : where["offset"] + where["bytes"]]
                arrays[name] = np.frombuffer(part, dtype).reshape(count, *shape)
            found |= {(line["key"], e): {name: array[e] for name, array in arrays.items()} for e in range(count)}
    return found


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # `datasets` pickles its functions
    spec.loader.exec_module(module)
    return module


def said(name: str, *arguments: object) -> str:
    command = [sys.executable, ROOT / "examples" / f"{name}.py", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def seen(arrays: dict[str, np.ndarray]) -> np.ndarray:
    return (arrays["geometry"][:, 3] > 0) & (arrays["changed"] > 0)


@pytest.mark.parametrize("workers", [0, 2])
def test_webdataset_gives_the_tokens_of_all_emissions(store: Path, workers: int):
    import_or_skip("webdataset")
    wanted = truth(store)
    tokens = sum(int(seen(arrays).sum()) for arrays in wanted.values())
    assert said("webdataset_clips", store, "--workers", workers) == f"{len(wanted)} emissions, {tokens} tokens\n"


def test_webdataset_batches_hold_samples_positions_and_captions(store: Path):
    import_or_skip("webdataset")
    wanted = truth(store)
    left = {key: [e for k, e in sorted(wanted) if k == key] for key, _ in wanted}
    for batch in example("webdataset_clips").loader(store, batch_size=3, shuffle=0):
        ends = batch["cu_seqlens"].tolist()
        for b, key in enumerate(batch["key"]):
            arrays = wanted[key, left[key].pop(0)]
            mine = slice(ends[b], ends[b + 1])
            assert np.array_equal(batch["patches"][mine], arrays["patches"][seen(arrays)])
            assert np.array_equal(batch["positions"][mine], arrays["positions"][seen(arrays)])
            assert batch["caption"][b] == f"of {key}"
    assert not any(left.values())


def test_hugging_face_rows_are_the_emissions(store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import_or_skip("datasets")
    wanted = truth(store)
    for row in example("hf_datasets").dataset(str(store)).with_format("numpy"):
        arrays = wanted.pop((str(row["key"]), int(row["emission"])))
        for name in ("patches", "positions", "changed"):
            assert np.array_equal(row[name], arrays[name])
        assert json.loads(str(row["extra"])) == {"caption": f"of {row['key']}"}
    assert not wanted


def test_hugging_face_reads_a_bucket(store: Path, s3: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    import_or_skip("datasets")
    put_tree(s3, store, "hf")
    assert said("hf_datasets", f"s3://{BUCKET}/hf") == f"{len(truth(store))} emissions of {CLIPS} videos\n"
