"""Plans of buckets: planners at once, one that died, files that were changed, manifests under any name, shares."""

from __future__ import annotations

import itertools
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from many_support import OPTIONS, counts, make_clips, markers_of, work
from pysaccade.many import _put_plan
from pysaccade.many._bucket import BucketStore
from pysaccade.many._do_unit import UnitWork, do_unit, suiting_marker
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._run_units import share_of
from pysaccade.many._store import LocalStore, open_store

pytest.importorskip("fsspec")


def local_plan(folder: Path, rows: list[str]) -> LocalStore:
    folder.mkdir()
    (folder / "list.txt").write_text("".join(f"{row}\n" for row in rows))
    work("plan", folder / "list.txt", "-o", folder / "store", *OPTIONS)
    return LocalStore(folder / "store")


def bucket(path: Path) -> BucketStore:
    """A store that is used as a bucket is, and lies in a folder."""
    store = open_store(f"local://{path}")
    assert isinstance(store, BucketStore)
    return store


def put(local: LocalStore, store: BucketStore) -> None:
    _put_plan.put_plan(local, store, "manifest", "name", "list.txt")


def lines_of(store: BucketStore) -> list[str]:
    return [json.loads(line)["uri"] for line in store.read("plan/items.jsonl").splitlines()]


class Slow(BucketStore):
    """Does something else before it creates or uploads a file of this name, once."""

    def between(self, name: str, what: Callable[[], Any]) -> None:
        self._then = {name: what}

    def upload(self, source: Path, name: str) -> None:
        self._then.pop(name, lambda: None)()
        super().upload(source, name)

    def create(self, name: str, content: bytes) -> bool:
        self._then.pop(name, lambda: None)()
        return super().create(name, content)


@pytest.mark.parametrize("moment", ["plan/claim.json", "plan/items.jsonl", "plan/units.jsonl", "plan/plan.json"])
def test_two_planners_at_once_make_one_whole_plan(tmp_path: Path, moment: str):
    mine, other = local_plan(tmp_path / "a", ["/a.mp4"]), local_plan(tmp_path / "b", ["/b.mp4", "/c.mp4"])
    store = Slow(f"local://{tmp_path}/store", {})
    ended: list[LocalStore] = []
    refusals: list[tuple[int, bool]] = []

    def plan(local: LocalStore, where: BucketStore) -> None:
        try:
            put(local, where)
        except _put_plan.RefusedError as refused:
            refusals.append((refused.code, "another plan" in str(refused)))
        else:
            ended.append(local)

    store.between(moment, lambda: plan(other, bucket(tmp_path / "store")))
    plan(mine, store)
    assert (len(ended), refusals) == (1, [(2, True)])
    Plan(store).check_content()
    assert lines_of(store) == lines_of(ended[0])


def test_planner_that_died_goes_on_by_the_same_command_alone(tmp_path: Path):
    mine, other = local_plan(tmp_path / "a", ["/a.mp4"]), local_plan(tmp_path / "b", ["/b.mp4"])

    def die() -> None:
        raise KeyboardInterrupt

    store = Slow(f"local://{tmp_path}/store", {})
    store.between("plan/plan.json", die)
    with pytest.raises(KeyboardInterrupt):
        put(mine, store)
    with pytest.raises(_put_plan.RefusedError, match=r"another plan was begun there .*claim\.json.*remove STORE/plan/"):
        put(other, bucket(tmp_path / "store"))
    put(mine, bucket(tmp_path / "store"))
    Plan(bucket(tmp_path / "store")).check_content()
    assert lines_of(bucket(tmp_path / "store")) == ["/a.mp4"]


@pytest.mark.parametrize("name", ["items.jsonl", "units.jsonl", "plan.json"])
def test_plan_that_was_changed_is_refused(tmp_path: Path, name: str):
    (tmp_path / "list.txt").write_text("/a.mp4\n")
    store = f"local://{tmp_path}/store"
    work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS)
    Plan(open_store(store)).check_content()
    path = tmp_path / "store/plan" / name
    old, new = {"items.jsonl": ('"start":0', '"start":1'), "units.jsonl": ('"media_s":', '"media_s":1'),
                "plan.json": ('"rate": "2"', '"rate": "3"')}[name]  # fmt: skip
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert "plan again, into another STORE" in work("work", store, expect=[2]).stderr
    assert "plan again, into another STORE" in work("verify", store, expect=[1]).stderr
    assert not (tmp_path / "store/commits").exists()


def test_other_options_and_manifests_are_named(tmp_path: Path):
    (tmp_path / "list.txt").write_text("/a.mp4\n")
    store = f"local://{tmp_path}/store"
    work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS)
    assert f"{store}: already planned" in work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS).stdout
    for options, word in ((["--patches", "50"], "--patches 48 there, 50 here"), (["--max-pixels", "9"], "--max-pixels"),
                          (["--unit-seconds", "7"], "--unit-seconds 2.0 there, 7.0 here")):  # fmt: skip
        said = work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS, *options, expect=[2]).stderr
        assert word in said
        assert f"-o {store}: holds another plan" in said
    (tmp_path / "list.txt").write_text("/b.mp4\n")
    assert "list.txt of other contents" in work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS, expect=[2]).stderr


def test_faults_in_rows_of_parquet_name_the_file_and_the_row(tmp_path: Path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "clips.parquet"
    for rows, words in (
        (
            [{"uri": "/a.mp4", "start": 0.0}, {"uri": "/b.mp4", "start": -1.0}],
            "clips.parquet: row 2 from 1: start -1.0",
        ),
        ([{"uri": "/a.mp4", "key": "k"}, {"uri": "/b.mp4", "key": "k"}], "row 2 from 1: key 'k': row 1 gives it"),
        ([{"uri": ""}], "clips.parquet: row 1 from 1: has no uri"),
    ):
        pq.write_table(pa.Table.from_pylist(rows), path)
        for store in (tmp_path / "store", f"local://{tmp_path}/store"):
            said = work("plan", path, "-o", store, *OPTIONS, expect=[65]).stderr
            assert words in said
            assert said.startswith(f"saccade: {path}: row ")
            assert "saccade-attempt" not in said
    pq.write_table(pa.Table.from_pylist([{"uri": "/a.mp4"}]), path)
    work("plan", path, "-o", tmp_path / "store", *OPTIONS)
    assert json.loads((tmp_path / "store/plan/plan.json").read_text())["manifest"]["name"] == str(path)


def test_manifests_may_be_urls_of_files(tmp_path: Path):
    (tmp_path / "videos.CSV").write_text("uri,start\n/a.mp4,1\n")
    for number, scheme in enumerate(("file://", "local://")):
        work("plan", f"{scheme}{tmp_path}/videos.CSV", "-o", f"file://{tmp_path}/store{number}", *OPTIONS)
        item = json.loads((tmp_path / f"store{number}/plan/items.jsonl").read_text())
        assert (item["uri"], item["start"]) == ("/a.mp4", 1)
    said = work("plan", f"file://{tmp_path}/none.txt", "-o", tmp_path / "x", *OPTIONS, expect=[65, 2]).stderr
    assert f"{tmp_path}/none.txt: No such file" in said


def test_faults_in_manifests_of_buckets_name_their_url(tmp_path: Path):
    (tmp_path / "videos.tsv").write_text("uri\tstart\n/a.mp4\t1\n")
    (tmp_path / "videos.jsonl").write_text('{"uri": "/a.mp4"}\n{"url": "/b.mp4"}\n')
    for name, words in (("videos.tsv", ": has tabs"), ("videos.jsonl", ":2: has no uri")):
        url = f"local://{tmp_path}/{name}"
        said = work("plan", url, "-o", f"local://{tmp_path}/store", *OPTIONS, expect=[65]).stderr
        assert f"saccade: {url}{words}" in said


def test_folder_of_videos_is_told_of_lists(tmp_path: Path):
    pytest.importorskip("pyarrow")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.mp4").write_bytes(os.urandom(64))
    said = work("plan", tmp_path / "in", "-o", tmp_path / "store", *OPTIONS, expect=[2]).stderr
    assert "ls FOLDER/*.mp4 > list.txt" in said


def test_shares_of_slurm_arrays_with_gaps_are_refused():
    units = [Unit(f"{number:08}", 0, 0, 1, 1.0) for number in range(8)]
    array = {"SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "3", "SLURM_ARRAY_TASK_MAX": "7"}
    older = {name: text for name, text in array.items() if not name.endswith("MAX")}
    for shard, more in (
        (None, {**array, "SLURM_ARRAY_TASK_ID": "3"}),
        ("auto", {**array, "SLURM_ARRAY_TASK_ID": "7"}),
        ("auto/8", {**array, "SLURM_ARRAY_TASK_ID": "7"}),
        (None, {**older, "SLURM_ARRAY_TASK_ID": "7"}),
        (None, {**older, "SLURM_ARRAY_TASK_ID": "2"}),
        (None, {**older, "SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_STEP": "2"}),
    ):
        with pytest.raises(ValueError, match="without gaps, as --array=0-63"):
            share_of(units, shard, more)
    whole = {"SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_MIN": "10", "SLURM_ARRAY_TASK_MAX": "40",
             "SLURM_ARRAY_TASK_STEP": "10", "SLURM_ARRAY_TASK_ID": "30"}  # fmt: skip
    assert [unit.name for unit in share_of(units, None, whole)] == ["00000002", "00000006"]


TASK, POD = "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"
SHARDS = (
    None, "0/1", "3/8", "7/8", "8/8", "2/0", "auto", "auto/1", "auto/4", "auto/8", "auto/0", "x", "auto/x", "auto/",
    "1/", "/2", "-1/2", "+1/2", " 1/2", "1/2/3", "1", "\u0661/2", "9" * 20 + "/2", "auto/" + "9" * 20,
)  # fmt: skip
NUMBERS = ("", "0", "1", "3", "7", "10", "x", "-1", "\u0663", "9" * 20)


def engines() -> Iterator[dict[str, str]]:
    """Environments as Slurm and Kubernetes set them, and as nobody does; the same ones in each run."""
    yield {}
    for text in NUMBERS:
        yield from ({TASK: text}, {POD: text}, {TASK: text, POD: "1"})
    for first, last, step in itertools.product((0, 3, 10), (0, 3, 7, 13), (1, 2, 4)):
        if last < first:
            continue
        for task in {first, last, first + step, last + 1}:
            array = {"MIN": first, "MAX": last, "STEP": step, "COUNT": len(range(first, last + 1, step))}
            for left_out in (None, "MIN", "MAX", "STEP", "COUNT"):
                yield {TASK: str(task)} | {
                    f"SLURM_ARRAY_TASK_{name}": str(value) for name, value in array.items() if name != left_out
                }
    for name, text in itertools.product(("MIN", "MAX", "STEP", "COUNT"), ("x", "0", "", "2")):
        yield {TASK: "3", "SLURM_ARRAY_TASK_COUNT": "4", f"SLURM_ARRAY_TASK_{name}": text}


def test_shares_are_those_of_the_program_in_its_words(tmp_path: Path, program: Path):
    """A store of eight units, all of which are done: their frames are powers of two, whose sum names the share."""
    store = local_plan(tmp_path / "plan", [f"/clip{n}.mp4" for n in range(8)]).path
    plan = Plan(LocalStore(store))
    assert len(plan.units) == 8
    file = {"name": "index/x", "bytes": 1, "sha256": "x"}
    for number, unit in enumerate(plan.units):
        marker = {"format": "saccade-commit", "schema": 1, "plan": plan.hash, "unit": unit.name, "items": 1, "done": 1,
                  "damaged": 0, "quarantined": 0, "classes": {}, "shard": file, "index": file, "quarantine": None,
                  "emissions": 1, "frames": 1 << number, "media_s": 1.0}  # fmt: skip
        plan.store.create(f"commits/{unit.name}.json", json.dumps(marker).encode())
    rng, cases = random.Random(16), list(itertools.product(SHARDS, engines()))
    for shard, more in rng.sample(cases, 250):
        shared = [] if shard is None else ["--shard", shard]
        clean = {name: text for name, text in os.environ.items() if not name.startswith(("SLURM_", "JOB_COMPL"))}
        told = subprocess.run([program, "work", store, "--json", *shared], env=clean | more, capture_output=True,
                              text=True, check=False)  # fmt: skip
        try:
            code, said, mask = 0, "", sum(1 << int(unit.name) for unit in share_of(plan.units, shard, more))
        except ValueError as error:
            code, said, mask = 2, f"saccade: {error}\n", 0
        frames = json.loads(told.stdout)["frames"] if told.returncode == 0 else 0
        assert (told.returncode, told.stderr, frames) == (code, said, mask), (shard, more)


def test_single_task_of_a_slurm_array_names_what_to_give():
    units = [Unit(f"{number:08}", 0, 0, 1, 1.0) for number in range(8)]
    alone = {"SLURM_ARRAY_TASK_COUNT": "1", "SLURM_ARRAY_TASK_MIN": "7", "SLURM_ARRAY_TASK_MAX": "7",
             "SLURM_ARRAY_TASK_ID": "7"}  # fmt: skip
    for shard in (None, "auto"):
        with pytest.raises(ValueError, match=r"only task of its array.*--shard 7/N .*--shard 0/1 "):
            share_of(units, shard, alone)
    assert [unit.name for unit in share_of(units, "auto/8", alone)] == ["00000007"]
    assert share_of(units, "0/1", alone) == units
    with pytest.raises(ValueError, match="there is no share 7 of 4; shares count from 0"):
        share_of(units, "auto/4", alone)
    part = {**alone, "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "6"}
    assert [unit.name for unit in share_of(units, "auto/8", part)] == ["00000007"]
    first = {name: text.replace("7", "0") for name, text in alone.items()}
    assert share_of(units, None, first) == units


def test_pod_without_a_count_names_what_to_give():
    for shard in (None, "auto"):
        with pytest.raises(ValueError, match=r"JOB_COMPLETION_INDEX=0 .*--shard auto/N .*--shard 0/1 "):
            share_of([], shard, {"JOB_COMPLETION_INDEX": "0"})


def test_video_that_alone_refuses_the_options_ends_no_job(tmp_path: Path, ffmpeg: str):
    clips = make_clips(ffmpeg, tmp_path / "in", 2)
    small = tmp_path / "in/small.mp4"
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x24:r=10:d=1", small], check=True)
    rows = [{"uri": f"local://{path}", "duration": 9 - n, "key": path.stem} for n, path in enumerate([small, *clips])]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"local://{tmp_path}/store"
    options = [*OPTIONS, "--ignore", "140,80,8,8"]
    work("plan", tmp_path / "m.jsonl", "-o", store, *options)
    work("work", store, "--shard", "0/3", expect=[3])  # it asks the others' units whether the options suit
    (line,) = (tmp_path / "store/quarantine").glob("*.jsonl")
    assert "outside the frame of 32x24" in line.read_text()
    work("work", store, "--shard", "1/3")
    work("work", store, expect=[3])
    assert counts(markers_of(tmp_path / "store")) == {"items": 3, "done": 2, "damaged": 0, "quarantined": 1}
    work("plan", tmp_path / "m.jsonl", "-o", f"local://{tmp_path}/whole", *options)
    work("work", f"local://{tmp_path}/whole", expect=[3])
    assert counts(markers_of(tmp_path / "whole")) == {"items": 3, "done": 2, "damaged": 0, "quarantined": 1}


def test_unit_of_many_bad_videos_ends_no_run_that_allows_them(tmp_path: Path):
    rows = [{"uri": f"local://{tmp_path}/{n}.mp4", "duration": 0.01, "key": f"{n}"} for n in range(100)]
    for n in range(100):
        (tmp_path / f"{n}.mp4").write_text("no video\n" * 10)
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"local://{tmp_path}/store"
    work("plan", tmp_path / "m.jsonl", "-o", store, *OPTIONS)
    work("work", store, "--max-bad", "100", "--jobs", "2", expect=[3])
    assert counts(markers_of(tmp_path / "store")) == {"items": 100, "done": 0, "damaged": 0, "quarantined": 100}


def test_damaged_markers_tell_nothing_of_options(tmp_path: Path):
    store = local_plan(tmp_path / "plan", [f"/clip{n}.mp4" for n in range(3)])
    plan = Plan(store)
    fine: dict[str, Any] = {"plan": plan.hash, "done": 1, "damaged": 0}
    damaged = ["", "{", "[" * 100_000, "\0\1", "[]", "null", "3", "{}"] + [
        json.dumps(marker)
        for marker in (
            {**fine, "plan": "another"}, {**fine, "done": "1"}, {**fine, "done": None}, {**fine, "damaged": [1]},
            {**fine, "done": 0}, {"plan": plan.hash, "done": 1}, {"done": 1, "damaged": 0},
        )
    ]  # fmt: skip
    for number, text in enumerate(damaged):
        store.create(f"commits/{number:08}.json", text.encode())
    store.create("commits/00000099.json", b"\xff\xfe{")
    assert suiting_marker(plan) is None
    store.create("commits/99999999.json", json.dumps(fine).encode())
    assert suiting_marker(plan) == ("commits/99999999.json", json.dumps(fine).encode())


def test_damaged_marker_is_refused_in_the_programs_words(tmp_path: Path, program: Path):
    store = local_plan(tmp_path / "plan", ["/clip.mp4"]).path
    marker = {"format": "saccade-commit", "plan": Plan(LocalStore(store)).hash, "unit": "00000000", "items": 1}
    (store / "commits").mkdir(exist_ok=True)
    (store / "commits/00000000.json").write_text(json.dumps(marker))
    told = subprocess.run([program, "work", store], capture_output=True, text=True, check=False)
    said = work("work", f"local://{store}", expect=[2])
    assert (told.returncode, said.stderr.replace("local://", "")) == (2, told.stderr)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b"3", b"{}", b'{"format": "saccade-commit", "plan": "another"}']
)
def test_marker_damaged_while_the_unit_is_done_is_an_outcome(tmp_path: Path, content: bytes):
    plan = Plan(local_plan(tmp_path / "plan", ["/clip.mp4"]))
    (unit,) = plan.units
    plan.store.create(f"commits/{unit.name}.json", content)
    outcome = do_unit(UnitWork(plan, unit, tmp_path / "here", engine="test", arguments=[]))
    assert (outcome.marker, outcome.code, outcome.refused) == (None, 2, False)
    assert f"{plan.store}: commits/{unit.name}.json: is " in outcome.line


def test_options_that_no_video_takes_end_the_job_with_one_line(tmp_path: Path, ffmpeg: str):
    clips = make_clips(ffmpeg, tmp_path / "in", 4)
    (tmp_path / "list.txt").write_text("".join(f"local://{path}\n" for path in clips))
    store = f"local://{tmp_path}/store"
    work(
        "plan", tmp_path / "list.txt", "-o", store, "--unit-seconds", "0.1", "--backend", "cpu", "--vf", "crop=999:999"
    )
    (line,) = work("work", store, "--progress", "none", expect=[2]).stderr.splitlines()
    assert "Invalid too big" in line
    assert markers_of(tmp_path / "store") == []


def test_retry_into_a_store_of_another_plan_names_the_option(tmp_path: Path):
    (tmp_path / "none.mp4").write_text("no video\n" * 100)
    (tmp_path / "list.txt").write_text(f"{tmp_path}/none.mp4\n")
    (tmp_path / "other.txt").write_text("/other.mp4\n")
    store, other = f"local://{tmp_path}/store", f"local://{tmp_path}/other"
    work("plan", tmp_path / "list.txt", "-o", store, *OPTIONS)
    work("work", store, expect=[3])
    work("plan", tmp_path / "other.txt", "-o", other, *OPTIONS)
    cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    said = work("retry", store, "-o", other, expect=[2], **cache).stderr
    assert said == f"saccade: -o {other}: holds another plan; choose another -o\n"
    work("plan", tmp_path / "other.txt", "-o", tmp_path / "folder", *OPTIONS)
    said = work("retry", store, "-o", tmp_path / "folder", expect=[2], **cache).stderr
    assert said.endswith("choose another -o\n")
    assert f"-o {tmp_path}/folder: holds" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    said = work("retry", store, "-o", tmp_path / "mine", expect=[2], **cache).stderr
    assert f"-o {tmp_path}/mine: the folder holds other things than a store" in said
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
    work("retry", store, "-o", tmp_path / "again", **cache)
    assert json.loads((tmp_path / "again/plan/plan.json").read_text())["retry_of"]["store"] == store
    assert lines_of(bucket(tmp_path / "again")) == [f"{tmp_path}/none.mp4"]
