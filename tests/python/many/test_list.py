"""`python -m pysaccade.work list`: manifests of a bucket and of a folder."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bucket_support import BUCKET, file_system, put_tree
from many_support import python_work
from pysaccade.work import main

NAMES = ("b/late.mp4", "a.MP4", "b/early.mkv", 'odd, "name" #1 ü%20.mp4', "notes.txt", "b/c/deep.webm")
VIDEOS = sorted(name for name in NAMES if name != "notes.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for size, name in enumerate(NAMES, 1):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return tmp_path / "in"


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_folder_is_listed_in_order(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "m.jsonl"
    assert main(["list", str(folder), "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 5 videos, 0.0 MB; 1 other file left out\n"
    assert lines_of(out) == [{"uri": f"{folder}/{name}", "bytes": NAMES.index(name) + 1} for name in VIDEOS]
    assert main(["list", f"file://{folder}", "-o", str(tmp_path / "m.csv")]) == 0
    with (tmp_path / "m.csv").open(newline="") as file:
        assert [row["uri"] for row in csv.DictReader(file)] == [f"{folder}/{name}" for name in VIDEOS]
    assert main(["list", str(folder), "-o", str(tmp_path / "m.txt"), "--suffix", ".mkv,mp4"]) == 0
    chosen = [f"{folder}/{name}" for name in VIDEOS if not name.endswith("webm")]
    assert (tmp_path / "m.txt").read_text().splitlines() == chosen
    assert main(["list", str(folder), "-o", str(out), "--glob", "b/*", "--json"]) == 0
    assert [line["uri"] for line in lines_of(out)] == [f"{folder}/{name}" for name in VIDEOS if name[:2] == "b/"]
    assert capsys.readouterr().out.splitlines()[-1] == '{"videos":3,"bytes":10,"left_out":3}'


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "txt"])
def test_bucket_is_listed_and_planned(folder: Path, tmp_path: Path, s3: str, program: Path, suffix: str):
    put_tree(s3, folder, f"listed-{suffix}")
    out = tmp_path / f"m.{suffix}"
    python_work("list", f"s3://{BUCKET}/listed-{suffix}/", "-o", out)
    subprocess.run([program, "plan", out, "-o", tmp_path / "store", "--backend", "cpu"], check=True)
    items = lines_of(tmp_path / "store/plan/items.jsonl")
    assert sorted(str(item["uri"]) for item in items) == [f"s3://{BUCKET}/listed-{suffix}/{name}" for name in VIDEOS]
    facts = file_system(s3).find(f"{BUCKET}/listed-{suffix}", detail=True)
    for item in items:
        fact = facts[str(item["uri"]).removeprefix("s3://")]
        etag, size = fact["ETag"].strip('"'), fact["size"]
        wanted = {"jsonl": {"bytes": size, "etag": etag}, "csv": {"bytes": str(size), "etag": etag}, "txt": {}}
        assert item["extra"] == wanted[suffix]


def test_manifest_into_a_bucket(folder: Path, s3: str):
    python_work("list", folder, "-o", f"s3://{BUCKET}/lists/m.jsonl")
    content = file_system(s3).cat_file(f"{BUCKET}/lists/m.jsonl").decode()
    assert [json.loads(line)["uri"] for line in content.splitlines()] == [f"{folder}/{name}" for name in VIDEOS]


def test_file_system_without_whole_objects_gets_the_file_moved_to_its_place(folder: Path):
    import fsspec

    files = fsspec.filesystem("memory")
    assert main(["list", str(folder), "-o", "memory://lists/m.csv"]) == 0
    assert files.find("/lists") == ["/lists/m.csv"]
    assert files.cat_file("/lists/m.csv").decode().startswith("uri,bytes,etag\n")


def test_folder_that_can_not_be_listed_is_an_error(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    files = fsspec.filesystem("memory")
    files.put(str(folder), "/walled", recursive=True)
    out, real = tmp_path / "m.txt", MemoryFileSystem.ls
    assert main(["list", "memory://walled", "-o", str(out)]) == 0
    assert out.read_text().splitlines() == [f"memory:///walled/{name}" for name in VIDEOS]
    assert main(["list", "memory://walled/b/late.mp4", "-o", str(out)]) == 0
    assert out.read_text().splitlines() == ["memory:///walled/b/late.mp4"]
    for error, says in ((PermissionError("Access Denied"), "Access Denied"), (FileNotFoundError("b/c"), "b/c")):

        def ls(system: MemoryFileSystem, path: str, *given: Any, error: OSError = error, **more: Any) -> Any:
            if path.endswith("/b/c"):
                raise error
            return real(system, path, *given, **more)

        monkeypatch.setattr(MemoryFileSystem, "ls", ls)
        capsys.readouterr()
        assert main(["list", "memory://walled", "-o", str(out)]) == 1
        assert says in capsys.readouterr().err
    assert out.read_text().splitlines() == ["memory:///walled/b/late.mp4"]


def test_server_that_can_not_be_reached_is_one_line(s3: str):
    unreachable = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    said = python_work("list", f"s3://{BUCKET}/in", "-o", "m.jsonl", expect=[1], **unreachable).stderr
    assert said.startswith(f"saccade: s3://{BUCKET}/in: ")
    assert len(said.splitlines()) == 1


def test_what_can_not_be_listed_is_one_line_and_leaves_the_old_manifest(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "two\nlines.mp4").touch()
    for arguments, says in (
        ([folder, "-o", tmp_path / "m.json"], "a manifest ends in .jsonl, .csv or .txt"),
        ([folder], "the following arguments are required: -o/--output"),
        ([tmp_path / "none", "-o", tmp_path / "m.jsonl"], "No such file"),
        ([folder / "b", "-o", tmp_path / "m.jsonl", "--suffix", "ogv"], "no videos in it, 3 other files"),
        ([folder, "-o", tmp_path / "m.txt"], "can't stand in a list"),
        ([folder, "-o", tmp_path / "none/m.jsonl"], "No such file"),
    ):
        for name in ("m.jsonl", "m.txt"):
            (tmp_path / name).write_text("old")
        assert main(["list", *map(str, arguments)]) in (1, 2)
        said = capsys.readouterr().err
        assert says in said
        assert len(said.splitlines()) == 1
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "m.jsonl", "m.txt"]
        assert {(tmp_path / name).read_text() for name in ("m.jsonl", "m.txt")} == {"old"}
