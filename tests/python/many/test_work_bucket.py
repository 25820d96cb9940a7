"""`python -m pysaccade.work` on a real S3-compatible server: counts, a plain run's bytes, races, kills, refusals."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pysaccade as sc
from bucket_support import BUCKET, file_system, markers, put_tree, tree
from many_support import OPTIONS, counts, environment, make_clips, markers_of, named_hashes, work
from patience import wait_for
from pysaccade.many._native_work import REFUSED
from pysaccade.work import main

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

CLIPS = 7
ALL_DONE = "8 in = 7 done + 0 damaged + 1 quarantined (1 input) + 0 duplicate + 0 pending"


class Job:
    """Clips and a file that is none, in the bucket; their manifest, and what a plain run makes of them."""

    def __init__(self, folder: Path, s3: str, ffmpeg: str, program: Path) -> None:
        self.s3, self.folder = s3, folder
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
        work("plan", folder / "local.jsonl", "-o", self.plain, *OPTIONS)
        subprocess.run([program, "work", self.plain, "--progress", "none"], check=False, stdin=subprocess.DEVNULL)
        assert counts(markers_of(self.plain)) == {"items": 8, "done": 7, "damaged": 0, "quarantined": 1}

    def plan(self, name: str) -> str:
        store = f"s3://{BUCKET}/{name}"
        work("plan", self.manifest, "-o", store, *OPTIONS)
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
    done = work("work", store, "--scratch", tmp_path, "--jobs", 1, expect=[3])
    assert done.stdout == f"{store}: {ALL_DONE}\n"
    content = job.check("whole")
    assert not [path for path in tmp_path.iterdir() if "attempt" in path.name]
    again = work("work", store, expect=[3])
    assert again.stdout == f"{store}: {ALL_DONE}\n"
    assert tree(job.s3, "whole") == content
    status = json.loads(work("status", store, "--json").stdout)
    assert {name: status[name] for name in ("in", "done", "damaged", "quarantined", "duplicate", "pending")} == {
        "in": 8, "done": 7, "damaged": 0, "quarantined": 1, "duplicate": 0, "pending": 0,
    }  # fmt: skip
    assert work("verify", store).stdout == f"{store}: 4 units, 84 members, 0 faults\n"
    assert "7 videos of 4 of 4 units" in work("index", store).stdout
    assert work("index", store, "--json").stdout == '{"videos":7,"units":4,"of_units":4}\n'
    rows = pq.read_table(f"{BUCKET}/whole/index.parquet", filesystem=file_system(job.s3)).to_pylist()
    assert sorted(row["key"] for row in rows) == [f"clip{i:02}" for i in range(CLIPS)]
    assert json.loads(rows[0]["extra"]) == {"caption": f"of {rows[0]['key']}.mp4"}
    assert {row["seconds"] for row in rows} == {0.9}  # from the first frame to the last
    assert {row["shard_sha256"] for row in rows} == {
        hashlib.sha256(data).hexdigest() for name, data in content.items() if name.startswith("shards/")
    }


def test_shares_and_another_engine_finish_one_job(job: Job):
    store = job.plan("shares")
    work("work", store, "--shard", "1/2", "--engine", "a", expect=[0, 3])
    assert {marker["unit"] for marker in markers(tree(job.s3, "shares"))} == {"00000001", "00000003"}
    work("work", store, expect=[0, 3], SLURM_ARRAY_TASK_ID="5", SLURM_ARRAY_TASK_MIN="5", SLURM_ARRAY_TASK_COUNT="2")
    job.check("shares")


def test_two_drivers_at_once_do_each_unit_once(job: Job):
    store = job.plan("racing")
    command = [sys.executable, "-m", "pysaccade.work", "work", store, "--progress", "none"]
    both = [subprocess.Popen(command, env=environment()) for _ in range(2)]
    assert {process.wait() for process in both} <= {0, 3}
    job.check("racing")


def test_other_options_are_refused(job: Job):
    store = job.plan("twice")
    job.plan("twice")  # the same again is fine
    refused = work("plan", job.manifest, "-o", store, "--patches", "9", *OPTIONS[2:], expect=[2])
    assert f"{store}: holds another plan (--patches 48 there, 9 here)" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


@pytest.mark.parametrize("after", [1, 3])
def test_killed_driver_leaves_no_process_and_the_rest_is_done_again(job: Job, tmp_path: Path, after: int):
    store = job.plan(f"killed{after}")
    command = [sys.executable, "-m", "pysaccade.work", "work", store, "--scratch", str(tmp_path), "--progress", "none"]
    with subprocess.Popen(command, env=environment()) as process:
        while len(markers(tree(job.s3, f"killed{after}"))) < after:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    wait_until_nobody_uses(tmp_path)
    work("work", store, "--scratch", tmp_path, expect=[3])
    job.check(f"killed{after}")
    assert list(tmp_path.iterdir()) == []


def test_interrupted_driver_ends_with_4(job: Job, tmp_path: Path):
    store = job.plan("interrupted")
    command = [sys.executable, "-m", "pysaccade.work", "work", store, "--scratch", str(tmp_path)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob("*/*/staged")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 4, said
    assert list(tmp_path.iterdir()) == []


def wait_until_nobody_uses(folder: Path) -> None:
    """Wait for the end of all processes that name this folder; fails when they don't end."""
    wait_for(lambda: not users_of(folder), seconds=20, missing=lambda: f"still running: {users_of(folder)}")


def users_of(folder: Path) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in text:
                found.append(text)
    return found


def test_missing_input_is_quarantined_and_retried(job: Job, tmp_path: Path):
    files = file_system(job.s3)
    rows = [{"uri": f"s3://{BUCKET}/in/clip00.mp4", "duration": 1}, {"uri": f"s3://{BUCKET}/late.mp4", "duration": 1}]
    manifest = tmp_path / "m.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"s3://{BUCKET}/missing"
    work("plan", manifest, "-o", store, *OPTIONS)
    work("work", store, expect=[3])
    content = tree(job.s3, "missing")
    assert counts(markers(content)) == {"items": 2, "done": 1, "damaged": 0, "quarantined": 1}
    line = json.loads(next(text for name, text in content.items() if name.startswith("quarantine/")))
    assert line["class"] == "missing"
    assert "s3://videos/late.mp4: no such file" in line["line"]
    files.pipe_file(f"{BUCKET}/late.mp4", job.clips[1].read_bytes())
    again = f"s3://{BUCKET}/missing-again"
    work("retry", store, "-o", again, "--class", "missing,io", XDG_CACHE_HOME=str(tmp_path))
    work("work", again)
    assert counts(markers(tree(job.s3, "missing-again"))) == {"items": 1, "done": 1, "damaged": 0, "quarantined": 0}


def test_verify_names_damage_and_gc_removes_orphans(job: Job):
    store = job.plan("checked")
    work("work", store, expect=[3])
    files = file_system(job.s3)
    files.pipe_file(f"{BUCKET}/checked/shards/00000000.0123456789ab.tar", b"left by an attempt that lost")
    assert "removed 0 attempts and 0 files (0.0 MB)" in work("gc", store).stdout
    assert "removed 0 attempts and 1 file (0.0 MB)" in work("gc", store, "--older-than", 0).stdout
    content = job.check("checked")
    shard = next(name for name in content if name.startswith("shards/"))
    files.pipe_file(f"{BUCKET}/checked/{shard}", content[shard][:-1] + b"x")
    said = work("verify", store, expect=[1]).stderr
    assert f"{shard}: its bytes have changed" in said
    unit = shard.removeprefix("shards/").partition(".")[0]
    files.rm_file(f"{BUCKET}/checked/commits/{unit}.json")
    work("work", store, expect=[0, 3])
    job.check("checked")
    assert ", 0 faults" in work("verify", store).stdout


class Twins:
    """A store in the bucket, and the same files in a folder: both commands are to say the same of them."""

    def __init__(self, job: Job, folder: Path, program: Path, said: pytest.CaptureFixture[str]) -> None:
        self._s3, self._program, self._said = job.s3, program, said
        self.folder, self.bucket = folder, job.plan("twins")
        work("work", self.bucket, expect=[3])
        for name, content in tree(job.s3, "twins").items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    def write(self, name: str, content: bytes) -> None:
        file_system(self._s3).pipe_file(f"{BUCKET}/twins/{name}", content)
        (self.folder / name).write_bytes(content)

    def remove(self, name: str) -> None:
        file_system(self._s3).rm_file(f"{BUCKET}/twins/{name}")
        (self.folder / name).unlink()

    def ask(self, *arguments: object) -> tuple[int, str, str]:
        """What both say; fails where they differ."""
        command = [self._program, arguments[0], self.folder, *map(str, arguments[1:])]
        there = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        self._said.readouterr()
        code = main([str(arguments[0]), self.bucket, *map(str, arguments[1:])])
        here = [text.replace(self.bucket, "STORE") for text in self._said.readouterr()]
        assert here == [text.replace(str(self.folder), "STORE") for text in (there.stdout, there.stderr)]
        assert code == there.returncode
        return code, here[0], here[1]


def test_counts_faults_and_orphans_are_said_as_the_program_says_them(
    job: Job, program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    twins = Twins(job, tmp_path, program, capsys)
    assert twins.ask("work")[1] == f"STORE: {ALL_DONE}\n"
    counts = json.loads(twins.ask("work", "--json")[1])
    assert (counts["done"], counts["frames"]) == (7, 70)
    assert counts["media_s"] == pytest.approx(7 * 0.9)  # what was shown; planned was a second of each
    assert twins.ask("verify", "--json")[1] == '{"units":4,"members":84,"faults":[]}\n'
    whole = (tmp_path / "commits/00000000.json").read_bytes()
    marker = json.loads(whole)
    assert marker.pop("check") == hashlib.sha256(whole[: whole.rindex(b'"check"')]).hexdigest()
    shard, index = ((tmp_path / marker[kind]["name"]).read_bytes() for kind in ("shard", "index"))
    lines = index.splitlines(keepends=True)
    offset = json.loads(lines[1])["members"]["changed.npy"]["offset"]
    for number, damage in enumerate((
        {marker["shard"]["name"]: shard[:offset] + b"!" + shard[offset + 1 :]},
        {marker["shard"]["name"]: shard[: offset + 5]},
        {marker["shard"]["name"]: None},
        {marker["index"]["name"]: index[:-2] + b" \n"},
        {marker["index"]["name"]: None},
        {"commits/00000000.json": json.dumps({**marker, "done": 1}).encode()},
        {"commits/00000000.json": json.dumps({**marker, "plan": "0" * 64}).encode()},
        {"commits/00000000.json": json.dumps({**marker, "shard": None}).encode()},
        *({"commits/00000000.json": json.dumps({**marker, **wrong}).encode()} for wrong in (
            {"frames": marker["frames"] + 1}, {"emissions": 0}, {"media_s": marker["media_s"] + 0.01},
            {"media_s": None}, {"done": marker["done"] - 1, "damaged": 1}, {"classes": {"io": 1}}, {"classes": None},
        )),
        {"commits/00000000.json": whole.replace(b'"host": "', b'"host": "x')},
        {"commits/00000000.json": b"{"},
        {"commits/00000009.json": json.dumps(marker).encode()},
        changed_index(marker, lines[0] * 2),
        changed_index(marker, lines[0] + lines[1].replace(b'"clip', b'"klip')),
        changed_index(marker, lines[0]),
        changed_index(marker, lines[0] + b"no line\n"),
        {"plan/items.jsonl": (tmp_path / "plan/items.jsonl").read_bytes().replace(b'"start":0', b'"start":1')},
    )):  # fmt: skip
        before = {name: (tmp_path / name).read_bytes() for name in damage if (tmp_path / name).exists()}
        for name, content in damage.items():
            twins.remove(name) if content is None else twins.write(name, content)
        code, said, _ = twins.ask("verify", "--json")
        assert code == 1
        assert json.loads(said)["faults"]
        assert number or twins.ask("verify")[0] == 1
        for name in damage:
            twins.write(name, before[name]) if name in before else twins.remove(name)
    (tmp_path / "as.toml").write_text("json = true\nolder-than = 1e6\n")
    for more in (["--log-level", "warn"], ["--json=true"], ["--config", tmp_path / "as.toml", "--log-level=off"]):
        assert [twins.ask(command, *more)[0] for command in ("verify", "gc")] == [0, 0]
    twins.write("quarantine/00000002.0123456789ab.jsonl", b"of an attempt that lost")
    assert twins.ask("gc", "--json")[1] == '{"attempts":0,"files":0,"bytes":0}\n'
    said = twins.ask("gc", "--dry-run", "--older-than", 0)[1]
    assert said.startswith("STORE/quarantine/00000002.0123456789ab.jsonl\nSTORE: would remove 0 attempts and 1 file")
    assert twins.ask("gc", "--json", "--older-than", 0)[1] == '{"attempts":0,"files":1,"bytes":23}\n'
    assert twins.ask("verify")[0] == 0


def changed_index(marker: dict[str, Any], content: bytes) -> dict[str, bytes]:
    """An index of other lines, and a marker that has its hash."""
    part = {**marker["index"], "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return {marker["index"]["name"]: content, "commits/00000000.json": json.dumps({**marker, "index": part}).encode()}


def test_progress_has_the_members_of_the_programs(job: Job, program: Path):
    command = [program, "work", job.plain, "--progress", "json"]
    local = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    (there,) = [json.loads(line) for line in local.stderr.splitlines() if line.startswith("{")]
    store = job.plan("progress")
    (here,) = [json.loads(line) for line in work("work", store, "--progress", "json", expect=[3]).stderr.splitlines()]
    assert list(here) == list(there)
    times = {"frames_per_s", "elapsed_s"}
    assert {name: here[name] for name in here if name not in times} == {
        name: there[name] for name in there if name not in times
    }
    assert here["frames_per_s"] == pytest.approx(70 / here["elapsed_s"])


def strange(job: Job, ffmpeg: str, folder: Path, name: str, *, units: int, good: int) -> str:
    """A store whose first units hold a video each that is too small for its options."""
    small = folder / "small.mp4"
    subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=32x24:r=10:d=1", small], check=True)
    rows = [{"uri": str(small), "duration": 90 - i, "key": f"small{i:02}"} for i in range(units)]
    rows += [{"uri": str(path), "duration": 3, "key": path.stem} for path in job.clips[:good]]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"s3://{BUCKET}/{name}"
    work("plan", folder / f"{name}.jsonl", "-o", store, *OPTIONS, "--ignore", "140,80,8,8")
    return store


def test_strange_units_are_the_first_and_others_tell(job: Job, ffmpeg: str, tmp_path: Path):
    store = strange(job, ffmpeg, tmp_path, "strange", units=4, good=2)
    done = work("work", store, "--scratch", tmp_path, expect=[3])
    assert "6 in = 2 done + 0 damaged + 4 quarantined (4 input)" in done.stdout
    assert work("verify", store).stdout == f"{store}: 6 units, 24 members, 0 faults\n"
    given_up = [json.loads(line) for name, text in tree(job.s3, "strange").items() if name.startswith("quarantine/")
                for line in text.splitlines()]  # fmt: skip
    assert [line["line"].count(f": {store}/plan/plan.json: ignore 140,80,8,8") for line in given_up] == [1] * 4
    assert not [line for line in given_up if "attempt" in line["line"]]


def test_a_share_of_strange_units_is_told_by_others(job: Job, ffmpeg: str, tmp_path: Path):
    store = strange(job, ffmpeg, tmp_path, "strange-shares", units=4, good=2)  # the first of three shares gets 0 and 3
    counts = json.loads(work("work", store, "--shard", "0/3", "--json", "--scratch", tmp_path, expect=[3]).stdout)
    assert (counts["in"], counts["done"], counts["quarantined"], counts["pending"]) == (2, 0, 2, 0)
    for share in (1, 2):
        work("work", store, "--shard", f"{share}/3", "--scratch", tmp_path, expect=[3])
    assert "6 in = 2 done + 0 damaged + 4 quarantined (4 input)" in work("status", store, expect=[0]).stdout
    assert work("verify", store).stdout == f"{store}: 6 units, 24 members, 0 faults\n"


def test_options_that_no_unit_takes_stop_the_run(job: Job, ffmpeg: str, tmp_path: Path):
    store = strange(job, ffmpeg, tmp_path, "hopeless", units=20, good=0)
    refused = work("work", store, "--scratch", tmp_path, expect=[2])
    (line,) = refused.stderr.splitlines()
    told = re.match(f"saccade: {store}: stopped: ([0-9]+) units tried, first 00000000: {REFUSED}, 1 tried: ", line)
    assert told is not None, line
    assert f"{store}/plan/plan.json: ignore" in line
    assert str(tmp_path) not in line.replace(str(tmp_path / "small.mp4"), "")
    assert 10 <= int(told[1]) <= 12  # up to two are on their way when the second one has refused
    assert "plan again with other options" in line
    assert refused.stdout == ""
    work("work", store, "--shard", "1/2", "--scratch", tmp_path, expect=[2])
    assert markers(tree(job.s3, "hopeless")) == []
    assert "no such unit; they are 00000000 to 00000019" in work("work", store, "--unit", "x", expect=[2]).stderr


def test_store_that_refuses_stops_the_run(job: Job, tmp_path: Path):
    store = job.plan("refused")
    code = """if True:
        import sys
        from pysaccade.many import _store, _work
        _store._PAUSE_S = 0.01
        def refuse(*_): raise OSError(28, "No space left on device")
        _store.BucketStore.upload = refuse
        sys.exit(_work.main(sys.argv[1:]))"""
    command = [sys.executable, "-c", code, "work", store, "--scratch", str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr.splitlines()[-1]
    assert markers(tree(job.s3, "refused")) == []
    assert list(tmp_path.iterdir()) == []
    work("work", store, expect=[3])
    job.check("refused")


def test_server_that_cannot_be_reached_is_one_line(job: Job):
    said = work("work", "s3://videos/whole", expect=[1], AWS_ENDPOINT_URL="http://127.0.0.1:9", AWS_MAX_ATTEMPTS="1")
    assert len(said.stderr.splitlines()) == 1
    assert said.stderr.startswith("saccade: s3://videos/whole/plan/plan.json: ")


def test_metrics_are_those_of_the_program(job: Job, program: Path, tmp_path: Path):
    work("work", job.plan("metrics"), "--metrics", tmp_path / "bucket", expect=[3])
    subprocess.run([program, "work", job.plain, "--metrics", tmp_path / "local"], check=False, stdin=subprocess.DEVNULL)
    bucket, local = ((tmp_path / name).read_text().splitlines() for name in ("bucket", "local"))
    assert [line.rpartition(" ")[0] for line in bucket] == [line.rpartition(" ")[0] for line in local]
    assert {"saccade_videos_in 8", "saccade_videos_done 7", "saccade_videos_quarantined 1"} <= {*bucket} & {*local}


def test_retry_of_nothing_makes_no_plan(job: Job):
    store = job.plan("well")
    work("work", store, expect=[3])
    assert "nothing was given up" in work("retry", store, "-o", f"s3://{BUCKET}/again", "--class", "crash").stdout
    assert tree(job.s3, "again") == {}


def test_readers_find_what_work_made(job: Job):
    pytest.importorskip("torch")
    store = job.plan("read-back")
    work("work", store, expect=[3])
    items = list(sc.open_shards(store, clip=None))
    assert sorted(item["key"] for item in items) == [f"clip{i:02}" for i in range(CLIPS)]
    assert all(item["extra"]["caption"] == f"of {item['key']}.mp4" for item in items)


def test_folder_with_parquet_is_the_programs(job: Job, tmp_path: Path):
    rows: list[dict[str, Any]] = [{"uri": str(path), "duration": 1.0, "note": None} for path in job.clips[:2]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "m.parquet")
    work("plan", tmp_path / "m.parquet", "-o", tmp_path / "store", *OPTIONS)
    work("work", tmp_path / "store", "--progress", "none")
    assert counts(markers_of(tmp_path / "store")) == {"items": 2, "done": 2, "damaged": 0, "quarantined": 0}
    wanted = {arrays for _, key, arrays in samples(local_tree(job.plain)) if key in ("clip00", "clip01")}
    assert {arrays for _, _, arrays in samples(local_tree(tmp_path / "store"))} == wanted


def test_bucket_inputs_into_a_folder(job: Job, tmp_path: Path):
    work("plan", job.manifest, "-o", tmp_path / "store", *OPTIONS)
    work("work", tmp_path / "store", "--scratch", tmp_path / "scratch", expect=[3])
    assert named_hashes(markers_of(tmp_path / "store")).keys() == named_hashes(markers_of(job.plain)).keys()
    assert {key: a for _, key, a in samples(local_tree(tmp_path / "store"))} == {
        key: a for _, key, a in samples(local_tree(job.plain))
    }


def test_one_input_in_a_bucket_among_others_is_fetched(job: Job, tmp_path: Path):
    uris = [*map(str, job.clips[:5]), f"s3://{BUCKET}/in/clip05.mp4", str(job.clips[6])]
    rows = [{"uri": uri, "duration": 1, "key": f"clip{i:02}"} for i, uri in enumerate(uris)]
    (tmp_path / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    work("plan", tmp_path / "m.jsonl", "-o", tmp_path / "store", *OPTIONS)
    work("work", tmp_path / "store")
    assert {key: a for _, key, a in samples(local_tree(tmp_path / "store"))} == {
        key: a for _, key, a in samples(local_tree(job.plain))
    }


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["work", "s3://videos/none"], 2, "no plan/plan.json"),
        (["work", "{store}", "--shard", "2/2"], 2, "there is no share 2 of 2; shares count from 0"),
        (["work", "{store}", "--shard", "auto"], 2, "neither SLURM_ARRAY_TASK_ID"),
        (["work", "{store}", "--shard", "x"], 2, "is not I/N, auto or auto/N"),
        (["plan", "nothing.parquet", "-o", "s3://videos/x"], 2, "nothing.parquet: no such file"),
        (["plan", "s3://videos/nothing.jsonl", "-o", "s3://videos/x"], 2, "no such file"),
        (["plan", "{list}", "-o", "s3://videos/x", "--vf", "nosuch"], 2, "No such filter: 'nosuch'"),
        (["plan", "{list}", "-o", "s3://videos/x", "--fixation", "file:x.csv"], 65, "x.csv: cannot read the scanpath"),
        (["plan", "{bytes}", "-o", "s3://videos/x"], 2, "column picture holds bytes"),
        (["plan", "{nouri}", "-o", "s3://videos/x"], 2, "no column uri"),
        (["verify", "{store}", "--foo"], 2, "unknown option --foo"),
        (["work", "{store}", "--max-bad", "x"], 2, "--max-bad: 'x' is not a number from 0 to 100"),
        (["work", "{store}", "--no-such-option", "1"], 2, "--no-such-option"),
    ],
)
def test_wrong_commands_are_one_clear_line(job: Job, tmp_path: Path, arguments: list[str], code: int, says: str):
    pq.write_table(pa.table({"uri": ["a"], "picture": [b"x"]}), tmp_path / "bytes.parquet")
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "nouri.parquet")
    (tmp_path / "list.txt").write_text("/a.mp4\n")
    names = {
        "store": job.plan("wrong"),
        "list": tmp_path / "list.txt",
        "bytes": tmp_path / "bytes.parquet",
        "nouri": tmp_path / "nouri.parquet",
    }
    done = work(*(argument.format(**names) for argument in arguments), expect=[code])
    assert len(done.stderr.splitlines()) == 1
    assert says in done.stderr
