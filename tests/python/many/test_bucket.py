"""`saccade plan|work|status ... s3://` on a real S3-compatible server: a plain run's bytes, races, kills, refusals."""

from __future__ import annotations

import contextlib
import hashlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pysaccade as sc
from bucket_support import BUCKET, file_system, markers, put_tree, tree
from conftest import import_or_skip
from many_support import OPTIONS, counts, environment, make_clips, markers_of, named_hashes, python_work, saccade
from patience import wait_for

pa = import_or_skip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

CLIPS = 7
ALL_DONE = "8 in = 7 done + 0 damaged + 1 quarantined (1 input) + 0 duplicate + 0 pending"


class Job:
    """Clips and a file that is none, in the bucket; their manifest, and what a plain run makes of them."""

    def __init__(self, folder: Path, s3: str, ffmpeg: str, program: Path) -> None:
        self.s3, self.folder, self.program = s3, folder, program
        self.clips = make_clips(ffmpeg, folder / "in", CLIPS)
        (folder / "in/none.mp4").write_text("no video\n" * 100)
        put_tree(s3, folder / "in", "in")
        names = [path.name for path in self.clips[:3]] + ["none.mp4"] + [path.name for path in self.clips[3:]]
        rows = [{"uri": f"s3://{BUCKET}/in/{name}", "duration": 1.0, "key": name[:-4], "caption": f"of {name}"}
                for name in names]  # fmt: skip
        self.manifest = folder / "clips.parquet"
        pq.write_table(pa.Table.from_pylist(rows), self.manifest)
        local = [{**row, "uri": str(folder / "in" / row["uri"].rpartition("/")[2])} for row in rows]
        (folder / "local.jsonl").write_text("".join(json.dumps(row) + "\n" for row in local))
        self.plain = folder / "plain"
        saccade("plan", folder / "local.jsonl", "-o", self.plain, *OPTIONS)
        subprocess.run([program, "work", self.plain, "--progress", "none"], check=False, stdin=subprocess.DEVNULL)
        assert counts(markers_of(self.plain)) == {"items": 8, "done": 7, "damaged": 0, "quarantined": 1}

    def plan(self, name: str) -> str:
        store = f"s3://{BUCKET}/{name}"
        saccade("plan", self.manifest, "-o", store, *OPTIONS)
        return store

    def check(self, name: str) -> dict[str, bytes]:
        """Counts that add up, and the arrays of a plain run."""
        content = tree(self.s3, name)
        assert counts(markers(content)) == {"items": 8, "done": 7, "damaged": 0, "quarantined": 1}
        assert {key: arrays for _, key, arrays in samples(content)} == {
            key: arrays for _, key, arrays in samples(local_tree(self.plain))
        }
        named = {marker[kind]["name"] for marker in markers(content) for kind in ("shard", "index", "quarantine")
                 if marker[kind]}  # fmt: skip
        assert content.keys() >= named
        given_up = [json.loads(line) for name in named if name.startswith("quarantine/")
                    for line in content[name].splitlines()]  # fmt: skip
        assert [(line["key"], line["class"], line["uri"]) for line in given_up] == [
            ("none", "input", f"s3://{BUCKET}/in/none.mp4")
        ]
        return content


def local_tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def samples(content: dict[str, bytes]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Unit, key and checksums of the arrays' members, of every index line that a marker names."""
    for marker in markers(content):
        if marker["index"]:
            for line in content[marker["index"]["name"]].splitlines():
                item = json.loads(line)
                arrays = tuple(item["members"][kind]["sha256"] for kind in sorted(item["members"]) if kind != "json")
                yield marker["unit"], item["key"], arrays


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, s3: str, ffmpeg: str, program: Path) -> Job:
    return Job(tmp_path_factory.mktemp("job"), s3, ffmpeg, program)


def test_plan_and_work_in_a_bucket_make_what_a_plain_run_makes(job: Job, tmp_path: Path):
    store = job.plan("whole")
    done = saccade("work", store, "--jobs", 1, expect=[3], TMPDIR=str(tmp_path))
    assert done.stdout == f"{store}: {ALL_DONE}\n"
    content = job.check("whole")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {name.partition("/")[0] for name in content} == {"plan", "commits", "shards", "index", "quarantine"}
    again = saccade("work", store, expect=[3])
    assert again.stdout == f"{store}: {ALL_DONE}\n"
    assert tree(job.s3, "whole") == content
    status = json.loads(saccade("status", store, "--json").stdout)
    assert {name: status[name] for name in ("in", "done", "damaged", "quarantined", "duplicate", "pending")} == {
        "in": 8, "done": 7, "damaged": 0, "quarantined": 1, "duplicate": 0, "pending": 0,
    }  # fmt: skip
    assert saccade("verify", store).stdout == f"{store}: 4 units, 84 members, 0 faults\n"
    assert "7 videos of 4 of 4 units" in python_work("index", store).stdout
    assert python_work("index", store, "--json").stdout == '{"videos":7,"units":4,"of_units":4}\n'
    rows = pq.read_table(f"{BUCKET}/whole/index.parquet", filesystem=file_system(job.s3)).to_pylist()
    assert sorted(row["key"] for row in rows) == [f"clip{i:02}" for i in range(CLIPS)]
    assert json.loads(rows[0]["extra"]) == {"caption": f"of {rows[0]['key']}.mp4"}
    assert {row["seconds"] for row in rows} == {0.9}  # from the first frame to the last
    assert {row["shard_sha256"] for row in rows} == {
        hashlib.sha256(data).hexdigest() for name, data in content.items() if name.startswith("shards/")
    }


def test_two_workers_at_once_do_each_unit_once(job: Job, tmp_path: Path):
    store = job.plan("racing")
    command = [str(job.program), "work", store, "--progress", "none"]
    both = [subprocess.Popen(command, env=environment(TMPDIR=str(tmp_path))) for _ in range(2)]
    assert {process.wait() for process in both} <= {0, 3}
    job.check("racing")


def test_other_options_are_refused(job: Job):
    store = job.plan("twice")
    job.plan("twice")  # the same again is fine
    refused = saccade("plan", job.manifest, "-o", store, "--tokens", "40", *OPTIONS[2:], expect=[2])
    assert f"{store}: " in refused.stderr
    assert "--tokens 48 there, 40 here" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize("after", [1, 3])
def test_killed_driver_leaves_no_process_and_the_rest_is_done_again(job: Job, tmp_path: Path, after: int):
    store = job.plan(f"killed{after}")
    command = [str(job.program), "work", store, "--set", "claim-seconds=3", "--progress", "none"]
    with subprocess.Popen(command, env=environment(TMPDIR=str(tmp_path))) as process:
        while len(markers(tree(job.s3, f"killed{after}"))) < after and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)  # or it was quicker than this look at the bucket
    wait_for(lambda: not users_of(store), seconds=20, missing=lambda: f"still running: {users_of(store)}")
    saccade("work", store, "--set", "claim-seconds=3", expect=[3], TMPDIR=str(tmp_path))
    job.check(f"killed{after}")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_interrupted_driver_ends_with_4(job: Job, tmp_path: Path):
    store = job.plan("interrupted")
    command = [str(job.program), "work", store, "--set", "claim-seconds=3"]
    with subprocess.Popen(command, env=environment(TMPDIR=str(tmp_path)), stderr=subprocess.PIPE, text=True) as process:
        while not any(name.startswith("claims/") for name in tree(job.s3, "interrupted")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 4, said
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def users_of(store: str) -> list[str]:
    """Processes that name a store: the program, its workers, their helper."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if store in text:
                found.append(text)
    return found


def test_missing_input_is_quarantined_and_retried(job: Job, tmp_path: Path):
    files = file_system(job.s3)
    rows = [{"uri": f"s3://{BUCKET}/in/clip00.mp4", "duration": 1}, {"uri": f"s3://{BUCKET}/late.mp4", "duration": 1}]
    manifest = tmp_path / "m.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"s3://{BUCKET}/missing"
    saccade("plan", manifest, "-o", store, *OPTIONS)
    saccade("work", store, expect=[3])
    content = tree(job.s3, "missing")
    assert counts(markers(content)) == {"items": 2, "done": 1, "damaged": 0, "quarantined": 1}
    line = json.loads(next(text for name, text in content.items() if name.startswith("quarantine/")))
    assert line["class"] == "missing"
    assert "s3://videos/late.mp4: no such file" in line["line"]
    files.pipe_file(f"{BUCKET}/late.mp4", job.clips[1].read_bytes())
    again = f"s3://{BUCKET}/missing-again"
    saccade("retry", store, "-o", again, "--class", "missing,io")
    saccade("work", again)
    assert counts(markers(tree(job.s3, "missing-again"))) == {"items": 1, "done": 1, "damaged": 0, "quarantined": 0}


def test_verify_names_damage_and_gc_removes_orphans(job: Job):
    store = job.plan("checked")
    saccade("work", store, expect=[3])
    files = file_system(job.s3)
    files.pipe_file(f"{BUCKET}/checked/shards/00000000.0123456789ab.tar", b"left by an attempt that lost")
    assert "removed 0 attempts and 0 files (0.0 MB)" in saccade("gc", store).stdout
    assert "removed 0 attempts and 1 file (0.0 MB)" in saccade("gc", store, "--older-than", 0).stdout
    content = job.check("checked")
    shard = next(name for name in content if name.startswith("shards/"))
    files.pipe_file(f"{BUCKET}/checked/{shard}", content[shard][:-1] + b"x")
    said = saccade("verify", store, expect=[1]).stderr
    assert f"{shard}: its bytes have changed" in said
    unit = shard.removeprefix("shards/").partition(".")[0]
    files.rm_file(f"{BUCKET}/checked/commits/{unit}.json")
    saccade("work", store, expect=[0, 3])
    job.check("checked")
    assert ", 0 faults" in saccade("verify", store).stdout


def test_server_that_cannot_be_reached_is_one_line(job: Job):
    said = saccade("work", "s3://videos/whole", expect=[1], AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_MAX_ATTEMPTS="1")
    assert len(said.stderr.splitlines()) == 1
    assert said.stderr.startswith("saccade: s3://videos/whole/plan/plan.json: ")


def test_retry_of_nothing_makes_no_plan(job: Job):
    store = job.plan("well")
    saccade("work", store, expect=[3])
    assert "nothing was quarantined" in saccade("retry", store, "-o", f"s3://{BUCKET}/again", "--class", "crash").stdout
    assert tree(job.s3, "again") == {}


def test_readers_find_what_work_made(job: Job):
    import_or_skip("torch")
    store = job.plan("read-back")
    saccade("work", store, expect=[3])
    items = list(sc.open_shards(store, clip=None))
    assert sorted(item["key"] for item in items) == [f"clip{i:02}" for i in range(CLIPS)]
    assert all(item["extra"]["caption"] == f"of {item['key']}.mp4" for item in items)


def test_folder_with_parquet_is_the_programs(job: Job, tmp_path: Path):
    rows: list[dict[str, Any]] = [{"uri": str(path), "duration": 1.0, "note": None} for path in job.clips[:2]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "m.parquet")
    saccade("plan", tmp_path / "m.parquet", "-o", tmp_path / "store", *OPTIONS)
    saccade("work", tmp_path / "store", "--progress", "none")
    assert counts(markers_of(tmp_path / "store")) == {"items": 2, "done": 2, "damaged": 0, "quarantined": 0}
    wanted = {arrays for _, key, arrays in samples(local_tree(job.plain)) if key in ("clip00", "clip01")}
    assert {arrays for _, _, arrays in samples(local_tree(tmp_path / "store"))} == wanted


def test_bucket_inputs_into_a_folder(job: Job, tmp_path: Path):
    saccade("plan", job.manifest, "-o", tmp_path / "store", *OPTIONS)
    saccade("work", tmp_path / "store", expect=[3])
    assert named_hashes(markers_of(tmp_path / "store")).keys() == named_hashes(markers_of(job.plain)).keys()
    assert {key: a for _, key, a in samples(local_tree(tmp_path / "store"))} == {
        key: a for _, key, a in samples(local_tree(job.plain))
    }


def test_one_input_in_a_bucket_among_others_is_fetched(job: Job, tmp_path: Path):
    uris = [*map(str, job.clips[:5]), f"s3://{BUCKET}/in/clip05.mp4", str(job.clips[6])]
    rows = [{"uri": uri, "duration": 1, "key": f"clip{i:02}"} for i, uri in enumerate(uris)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    saccade("plan", tmp_path / "m.jsonl", "-o", tmp_path / "store", *OPTIONS)
    saccade("work", tmp_path / "store")
    assert {key: a for _, key, a in samples(local_tree(tmp_path / "store"))} == {
        key: a for _, key, a in samples(local_tree(job.plain))
    }


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["work", "s3://videos/none"], 2, "s3://videos/none"),
        (["work", "nosuch://videos/none"], 69, "nosuch://videos/none: "),
        (["plan", "nothing.parquet", "-o", "s3://videos/x"], 65, "nothing.parquet: no such file"),
        (["plan", "s3://videos/nothing.jsonl", "-o", "s3://videos/x"], 65, "no such file"),
        (["plan", "{bytes}", "-o", "s3://videos/x"], 65, "column picture holds bytes"),
        (["plan", "{nouri}", "-o", "s3://videos/x"], 65, "no column uri"),
        (["verify", "{store}", "--foo"], 2, "unknown option --foo"),
    ],
)
def test_wrong_commands_are_one_clear_line(job: Job, tmp_path: Path, arguments: list[str], code: int, says: str):
    pq.write_table(pa.table({"uri": ["a"], "picture": [b"x"]}), tmp_path / "bytes.parquet")
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "nouri.parquet")
    names = {"store": job.plan("wrong"), "bytes": tmp_path / "bytes.parquet", "nouri": tmp_path / "nouri.parquet"}
    done = saccade(*(argument.format(**names) for argument in arguments), expect=[code])
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr


def test_python_names_the_programs_commands_and_runs_them(job: Job, tmp_path: Path):
    store = f"s3://{BUCKET}/by-python"
    done = python_work("plan", job.manifest, "-o", store, *OPTIONS, "--scratch", tmp_path)
    assert done.stderr == "saccade: `python -m pysaccade.work plan` is now `saccade plan`, for buckets too\n"
    assert python_work("status", store, "--json", "--storage-options", "{}").stdout.startswith('{"in":8,')
