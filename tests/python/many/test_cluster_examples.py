"""examples/cluster/: the scripts do a job's units when their variables are set as Slurm and Kubernetes set them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bucket_support import BUCKET, markers, put_tree, tree
from conftest import ROOT, import_or_skip
from many_support import OPTIONS, counts, environment, keys_of, make_clips, markers_of, named_hashes, work

CLUSTER = ROOT / "examples/cluster"
CLIPS = 12


class Job:
    """Clips, one of which is none; their plan, and what a plain run makes of them."""

    def __init__(self, folder: Path, ffmpeg: str, program: Path) -> None:
        self.folder = folder
        clips = make_clips(ffmpeg, folder / "in", CLIPS)
        clips[5].write_text("no video\n" * 100)
        rows = [json.dumps({"uri": str(clip), "duration": 1, "key": clip.stem}) + "\n" for clip in clips]
        self.manifest = folder / "clips.jsonl"
        self.manifest.write_text("".join(rows))
        self.plain = self.plan("plain")
        subprocess.run([program, "work", self.plain, "--progress", "none"], check=False, stdin=subprocess.DEVNULL)
        self.bin = folder / "bin"
        self.bin.mkdir()
        (self.bin / "saccade").symlink_to(program)
        (self.bin / "python3").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
        (self.bin / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> {shlex.quote(str(folder / "scontrol"))}\n')
        for tool in ("python3", "scontrol"):
            (self.bin / tool).chmod(0o755)

    def plan(self, name: str) -> Path:
        store = self.folder / name
        work("plan", self.manifest, "-o", store, *OPTIONS)
        return store

    def environment(self, **more: str) -> dict[str, str]:
        return environment(PATH=f"{self.bin}:{os.environ['PATH']}", **more)

    def check(self, store: Path) -> None:
        assert counts(markers_of(store)) == {"items": CLIPS, "done": CLIPS - 1, "damaged": 0, "quarantined": 1}
        assert named_hashes(markers_of(store)) == named_hashes(markers_of(self.plain))
        assert sorted(keys_of(store)) == sorted(keys_of(self.plain))


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, program: Path) -> Job:
    return Job(tmp_path_factory.mktemp("cluster"), ffmpeg, program)


def slurm(job: Job, store: Path | str, task: int, *options: str, array: range, **more: str) -> subprocess.Popen[str]:
    """A task of `sbatch --array=FIRST-LAST:STEP slurm.sbatch STORE OPTIONS`; more: of the environment."""
    variables = {
        "SLURM_JOB_ID": str(1000 + task), "SLURM_ARRAY_JOB_ID": "1000", "SLURM_ARRAY_TASK_ID": str(task),
        "SLURM_ARRAY_TASK_COUNT": str(len(array)), "SLURM_ARRAY_TASK_MIN": str(array[0]),
        "SLURM_ARRAY_TASK_MAX": str(array[-1]), "SLURM_ARRAY_TASK_STEP": str(array.step),
    }  # fmt: skip
    return subprocess.Popen(
        ["bash", CLUSTER / "slurm.sbatch", str(store), *options], env=job.environment(**variables, **more),
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], code: int) -> str:
    said = process.communicate(timeout=120)[1]
    assert process.returncode == code, said
    return said


def until_begun(store: Path, process: subprocess.Popen[str]) -> None:
    while not list(store.glob("attempts/*/*")):
        assert process.poll() is None
        time.sleep(0.01)


def test_slurm_array_does_all_units(job: Job):
    store, array = job.plan("slurm"), range(8, 14, 2)
    for process in [slurm(job, store, task, array=array) for task in array]:
        ended(process, 0)
    job.check(store)


def test_slurm_array_of_another_size_goes_on(job: Job):
    store = job.plan("resized")
    ended(slurm(job, store, 0, array=range(4)), 0)
    assert len(markers_of(store)) == 2  # of 6 units those of share 0/4
    for task in range(2):
        ended(slurm(job, store, task, "--jobs", "1", array=range(2)), 0)
    job.check(store)


@pytest.mark.parametrize(("notice", "requeued"), [(signal.SIGUSR1, "requeue 1000\n"), (signal.SIGTERM, "")])
def test_slurm_task_ends_at_a_notice_and_goes_on(job: Job, notice: signal.Signals, requeued: str):
    store = job.plan(notice.name)
    (job.folder / "scontrol").write_text("")
    process = slurm(job, store, 0, "--jobs", "1", array=range(1))
    until_begun(store, process)
    process.send_signal(notice)
    assert "interrupted" in ended(process, 4)
    assert (job.folder / "scontrol").read_text() == requeued
    assert len(markers_of(store)) < 6
    ended(slurm(job, store, 0, array=range(1)), 0)
    job.check(store)


def test_slurm_task_alone_does_its_share_of_those_that_are_named(job: Job):
    store = job.plan("alone")
    assert "--shard 2/N" in ended(slurm(job, store, 2, array=range(2, 3)), 2)
    ended(slurm(job, store, 2, array=range(2, 3), SHARES="3"), 0)
    assert [marker["unit"] for marker in markers_of(store)] == ["00000002", "00000005"]
    for task in (0, 1):  # of --array=0,1,5, say: its numbers are the shares'
        ended(slurm(job, store, task, array=range(0, 6, 5), SHARES="3"), 0)
    job.check(store)


def test_slurm_says_what_is_wrong(job: Job, tmp_path: Path):
    assert "holds no plan" in ended(slurm(job, tmp_path, 0, array=range(1)), 2)
    done = subprocess.run(["bash", CLUSTER / "slurm.sbatch"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: sbatch --array" in done.stderr


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = import_or_skip("yaml").safe_load((CLUSTER / "kubernetes.yaml").read_text())
    return found


def pod(job: Job, store: str, index: int, pods: int, scratch: Path) -> subprocess.Popen[str]:
    """A pod of the Job, which has `pods` instead of 64."""
    container = manifest()["spec"]["template"]["spec"]["containers"][0]
    (script,) = container["args"]
    assert script.count("auto/64") == script.count("/scratch") == 1
    script = script.replace("auto/64", f"auto/{pods}").replace("/scratch", str(scratch))
    variables = {one["name"]: one["value"] for one in container["env"]}
    variables |= {"STORE": store, "JOB_COMPLETION_INDEX": str(index)}
    return subprocess.Popen(
        [*container["command"], script], env=job.environment(**variables), stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_kubernetes_job_is_sound():
    spec = manifest()["spec"]
    assert spec["completionMode"] == "Indexed"
    assert f"auto/{spec['completions']} " in spec["template"]["spec"]["containers"][0]["args"][0]
    assert spec["template"]["spec"]["restartPolicy"] == "Never"  # podFailurePolicy asks for it


def test_kubernetes_treats_exit_codes_as_they_are_meant():
    """One share's end never ends the others: only signals, and shares that give the same each time, are special."""
    rules = manifest()["spec"]["podFailurePolicy"]["rules"]
    by_code = {
        code: rule["action"] for rule in rules if "onExitCodes" in rule for code in rule["onExitCodes"]["values"]
    }
    assert by_code == {4: "Ignore", 2: "FailIndex"}
    assert manifest()["spec"]["backoffLimitPerIndex"] > 0  # FailIndex asks for it


def test_slurm_task_that_cannot_read_the_store_fails_and_goes_on(job: Job):
    store = job.plan("unreadable")
    commits = store / "commits"
    commits.write_text("in place of the folder, which can't be listed")
    assert "commits: could not be read: Not a directory" in ended(slurm(job, store, 0, array=range(1)), 1)
    commits.unlink()
    ended(slurm(job, store, 0, array=range(1)), 0)
    job.check(store)


def test_kubernetes_pods_do_all_units_of_a_bucket(job: Job, s3: str, tmp_path: Path):
    put_tree(s3, job.plan("kubernetes"), "kubernetes")
    for index in range(2):
        ended(pod(job, f"s3://{BUCKET}/kubernetes", index, 2, tmp_path), 0)
    content = tree(s3, "kubernetes")
    assert named_hashes(markers(content)) == named_hashes(markers_of(job.plain))
    assert counts(markers(content)) == counts(markers_of(job.plain))
    assert list(tmp_path.iterdir()) == []


def test_evicted_pod_ends_and_the_next_one_goes_on(job: Job, s3: str, tmp_path: Path):
    put_tree(s3, job.plan("evicted"), "evicted")
    process = pod(job, f"s3://{BUCKET}/evicted", 0, 1, tmp_path)
    while not list(tmp_path.glob("*/*/staged")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert "interrupted" in ended(process, 4)
    assert list(tmp_path.iterdir()) == []
    ended(pod(job, f"s3://{BUCKET}/evicted", 0, 1, tmp_path), 0)
    assert named_hashes(markers(tree(s3, "evicted"))) == named_hashes(markers_of(job.plain))
