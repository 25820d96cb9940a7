"""examples/cluster/: the scripts do a store's work, alone and together, and end as Slurm and Kubernetes want it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bucket_support import BUCKET, markers, put_tree, tree
from conftest import ROOT, import_or_skip
from many_support import OPTIONS, counts, environment, keys_of, make_clips, markers_of, named_hashes, saccade
from patience import wait_for

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
        saccade("plan", self.manifest, "-o", store, *OPTIONS)
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


def slurm(job: Job, store: Path | str, *options: str) -> subprocess.Popen[str]:
    """A task of `sbatch --array=... slurm.sbatch STORE OPTIONS`."""
    return subprocess.Popen(
        ["bash", CLUSTER / "slurm.sbatch", str(store), *options], env=job.environment(SLURM_JOB_ID="1000"),
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(process: subprocess.Popen[str], code: int) -> str:
    said = process.communicate(timeout=120)[1]
    assert process.returncode == code, said
    return said


def until_begun(store: Path, process: subprocess.Popen[str]) -> None:
    def begun() -> bool:
        assert process.poll() is None, process.communicate()
        return any((store / "claims").glob("*"))

    wait_for(begun, seconds=60)


def test_slurm_tasks_of_any_number_do_all_units(job: Job):
    store = job.plan("slurm")
    tasks = [slurm(job, store, "--jobs", "1") for _ in range(3)]
    for process in tasks:
        ended(process, 0)
    job.check(store)
    ended(slurm(job, store), 0)  # nothing is left


@pytest.mark.parametrize(("notice", "requeued"), [(signal.SIGUSR1, "requeue 1000\n"), (signal.SIGTERM, "")])
def test_slurm_task_ends_at_a_notice_and_goes_on(job: Job, notice: signal.Signals, requeued: str):
    store = job.plan(notice.name)
    (job.folder / "scontrol").write_text("")
    process = slurm(job, store, "--jobs", "1")
    until_begun(store, process)
    process.send_signal(notice)
    assert "interrupted" in ended(process, 4)
    assert (job.folder / "scontrol").read_text() == requeued
    assert len(markers_of(store)) < 6
    ended(slurm(job, store), 0)
    job.check(store)


def test_slurm_says_what_is_wrong(job: Job, tmp_path: Path):
    assert "holds no plan" in ended(slurm(job, tmp_path), 2)
    done = subprocess.run(["bash", CLUSTER / "slurm.sbatch"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: sbatch --array" in done.stderr


def manifest() -> dict[str, Any]:
    found: dict[str, Any] = import_or_skip("yaml").safe_load((CLUSTER / "kubernetes.yaml").read_text())
    return found


def pod(job: Job, store: str, scratch: Path) -> subprocess.Popen[str]:
    container = manifest()["spec"]["template"]["spec"]["containers"][0]
    variables = {one["name"]: one["value"] for one in container["env"]}
    assert variables.keys() == {"STORE", "TMPDIR"}
    return subprocess.Popen(
        [*container["command"], *container["args"]], env=job.environment(STORE=store, TMPDIR=str(scratch)),
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_kubernetes_treats_exit_codes_as_they_are_meant():
    spec = manifest()["spec"]
    assert "completions" not in spec  # a pod that ends well has found the store done
    assert spec["template"]["spec"]["restartPolicy"] == "Never"  # podFailurePolicy asks for it
    rules = spec["podFailurePolicy"]["rules"]
    by_code = {
        code: rule["action"] for rule in rules if "onExitCodes" in rule for code in rule["onExitCodes"]["values"]
    }
    assert by_code == {4: "Ignore", 2: "FailJob"}


def test_slurm_task_that_cannot_read_the_store_fails_and_goes_on(job: Job):
    store = job.plan("unreadable")
    commits = store / "commits"
    commits.write_text("in place of the folder, which can't be listed")
    assert "commits: could not be read: Not a directory" in ended(slurm(job, store), 1)
    commits.unlink()
    ended(slurm(job, store), 0)
    job.check(store)


def test_kubernetes_pods_do_all_units_of_a_bucket(job: Job, s3: str, tmp_path: Path):
    put_tree(s3, job.plan("kubernetes"), "kubernetes")
    pods = [pod(job, f"s3://{BUCKET}/kubernetes", tmp_path) for _ in range(2)]
    for process in pods:
        ended(process, 0)
    content = tree(s3, "kubernetes")
    assert named_hashes(markers(content)) == named_hashes(markers_of(job.plain))
    assert counts(markers(content)) == counts(markers_of(job.plain))
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_evicted_pod_ends_and_the_next_one_goes_on(job: Job, s3: str, tmp_path: Path):
    put_tree(s3, job.plan("evicted"), "evicted")
    process = pod(job, f"s3://{BUCKET}/evicted", tmp_path)

    def begun() -> bool:
        assert process.poll() is None, process.communicate()
        return any(name.startswith("claims/") for name in tree(s3, "evicted"))

    wait_for(begun, seconds=60)
    process.send_signal(signal.SIGTERM)
    assert "interrupted" in ended(process, 4)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    ended(pod(job, f"s3://{BUCKET}/evicted", tmp_path), 0)
    assert named_hashes(markers(tree(s3, "evicted"))) == named_hashes(markers_of(job.plain))
