"""`pysaccade.ray`: counts right and bytes of a plain run whatever dies: workers, actors, nodes, drivers, videos."""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import skip_or_fail
from many_support import OPTIONS, check_named_files, counts, keys_of, make_clips, markers_of, named_hashes, saccade
from patience import wait_for
from ray_support import Driver, Rig, kill, processes, programs_of, ray_rig, tasks_of

CLIPS = 18
POISON = (4, 11)
UNITS = 9
AT = [3, 5, 7]  # units that are done when something is killed


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    if importlib.util.find_spec("ray") is None:
        skip_or_fail("ray", "ray is not installed")
    with ray_rig() as made:
        yield made


class Job:
    """Clips, two of which are no videos; and what a plain run makes of them. Each takes as long as it is shown."""

    def __init__(self, folder: Path, ffmpeg: str, program: Path) -> None:
        self._folder, self._program = folder, program
        clips = make_clips(ffmpeg, folder / "in", CLIPS)
        for poison in POISON:
            clips[poison].write_text("no video\n" * 100)
        self.manifest = folder / "clips.jsonl"
        self.manifest.write_text("".join(
            json.dumps({"uri": str(clip), "duration": 1, "key": clip.stem, "caption": f"of {clip.stem}"}) + "\n"
            for clip in clips
        ))  # fmt: skip
        self.plain = self.plan("plain")
        subprocess.run([program, "work", self.plain, "--progress", "none"], check=False, stdin=subprocess.DEVNULL)

    def plan(self, name: str) -> Path:
        store = self._folder / name
        saccade("plan", self.manifest, "-o", store, *OPTIONS, "--vf", "realtime")
        return store

    def check(self, store: Path) -> None:
        """Counts, checksums and keys are those of a plain run, and nothing is left running."""
        markers, plain = markers_of(store), markers_of(self.plain)
        assert counts(markers) == counts(plain) == {
            "items": CLIPS, "done": CLIPS - len(POISON), "damaged": 0, "quarantined": len(POISON)
        }  # fmt: skip
        assert named_hashes(markers) == named_hashes(plain)
        check_named_files(store)
        keys = keys_of(store)
        assert sorted(keys) == sorted(f"clip{i:02}" for i in range(CLIPS) if i not in POISON)
        wait_for(lambda: not programs_of(store), seconds=120, missing="programs still run")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, ffmpeg: str, program: Path) -> Job:
    return Job(tmp_path_factory.mktemp("job"), ffmpeg, program)


def ended(process: Driver, *codes: int) -> str:
    said, error = process.communicate(timeout=240)
    if process.returncode == 1 and "Tried to complete task that was not pending" in error:
        return ended(process.again(), *codes)  # Ray's own fault (docs/SCALE.md): the same command goes on
    assert process.returncode in codes, (process.returncode, said, error)
    return said + error


def done_at_least(store: Path, count: int, driver: subprocess.Popen[str]) -> None:
    def reached() -> bool:
        assert driver.poll() is None, driver.communicate()
        return len(list((store / "commits").glob("*.json"))) >= count

    wait_for(reached, seconds=120)


def test_units_are_done_as_in_a_plain_run(rig: Rig, job: Job):
    store = job.plan("plain-ray")
    said = ended(rig.run(store), 3)
    counts_line = f"{CLIPS} in = {CLIPS - len(POISON)} done + 0 damaged + {len(POISON)} quarantined (2 input)"
    assert f"{store}: {counts_line} + 0 duplicate + 0 pending\n" in said
    job.check(store)
    assert {marker["engine"] for marker in markers_of(store)} == {"ray"}
    again = json.loads(ended(rig.run(store, "--json"), 3))
    assert (again["pending"], again["units_done"]) == (0, UNITS)


def test_inputs_that_no_node_has_are_not_written_off(rig: Rig, tmp_path: Path, ffmpeg: str):
    clips, store = make_clips(ffmpeg, tmp_path / "in", 4), tmp_path / "store"
    (tmp_path / "m.txt").write_text("".join(f"{clip}\n" for clip in clips))
    saccade("plan", tmp_path / "m.txt", "-o", store, *OPTIONS[:4], "--unit-seconds", "0.01", *OPTIONS[6:])
    (tmp_path / "in").rename(tmp_path / "away")
    said = ended(rig.run(store, "--max-bad", "100"), 1)
    assert f"no video in {tmp_path}/in can be read here" in said
    assert markers_of(store) == []
    (tmp_path / "away").rename(tmp_path / "in")
    clips[2].unlink()
    ended(rig.run(store), 3)
    assert counts(markers_of(store)) == {"items": 4, "done": 3, "damaged": 0, "quarantined": 1}
    assert {kind for marker in markers_of(store) for kind in marker["classes"]} == {"missing"}


@pytest.mark.parametrize("after", AT)
@pytest.mark.parametrize("what", ["tasks", "programs"])
def test_killed_tasks_and_programs_are_run_again(rig: Rig, job: Job, what: str, after: int):
    store = job.plan(f"{what}{after}")
    driver = rig.run(store)
    done_at_least(store, after, driver)
    running = {"tasks": lambda: tasks_of(rig.raylets), "programs": lambda: programs_of(store)}[what]
    kill(wait_for(running, seconds=120, missing=f"no {what} run"))
    ended(driver, 3)
    job.check(store)


@pytest.mark.parametrize("after", AT)
def test_killed_driver_and_another_one(rig: Rig, job: Job, after: int):
    store = job.plan(f"driver{after}")
    driver = rig.run(store)
    done_at_least(store, after, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: not programs_of(store), seconds=120, missing="programs still run")  # nothing works on for nobody
    ended(rig.run(store), 3)
    job.check(store)


@pytest.mark.parametrize("after", AT)
def test_killed_node_and_a_new_one(rig: Rig, job: Job, after: int):
    store = job.plan(f"node{after}")
    assert len((store / "plan/units.jsonl").read_text().splitlines()) == UNITS
    driver = rig.run(store)
    done_at_least(store, after, driver)
    rig.tell("kill 1")
    rig.tell("add")
    ended(driver, 3)
    job.check(store)


def test_interrupted_driver_leaves_nothing_running(rig: Rig, job: Job):
    store = job.plan("interrupted")
    driver = rig.run(store)
    done_at_least(store, 1, driver)
    driver.send_signal(signal.SIGINT)
    ended(driver, 3, 4)  # 3: all was done before the signal came
    wait_for(lambda: not programs_of(store), seconds=20, missing="programs still run")
    ended(rig.run(store), 3)
    job.check(store)


def test_two_drivers_at_once(rig: Rig, job: Job):
    store = job.plan("two")
    both = [rig.run(store), rig.run(store)]
    for driver in both:
        ended(driver, 3)
    job.check(store)


def test_another_engine_finishes(rig: Rig, job: Job, program: Path):
    store = job.plan("engines")
    driver = rig.run(store)
    done_at_least(store, 2, driver)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    wait_for(lambda: not programs_of(store), seconds=120, missing="programs still run")
    subprocess.run([program, "work", store, "--progress", "none"], check=False, stdin=subprocess.DEVNULL)
    job.check(store)
    assert {marker["engine"] for marker in markers_of(store)} == {"ray", "work"}


def test_plan_that_was_changed_is_refused(rig: Rig, job: Job):
    store = job.plan("changed")
    items = store / "plan/items.jsonl"
    items.write_text(items.read_text().replace('"start":0', '"start":1'))
    assert "plan again, into another STORE" in ended(rig.run(store), 2)
    assert markers_of(store) == []


def test_what_is_wrong_with_the_run_stops_it(rig: Rig, job: Job, tmp_path: Path):
    assert f"{tmp_path}/nothing: " in ended(rig.run(tmp_path / "nothing"), 2)
    assert "unknown option" in ended(rig.run(job.plan("wrong"), "--no-such-option", "3"), 2)


COMPOSED = """if True:
    import json, sys
    import numpy as np, ray
    import pysaccade.ray
    ray.init(log_to_driver=False)
    rows, seen = [json.loads(line) for line in open(sys.argv[1])], sys.argv[2]
    class Model:
        def __call__(self, batch):
            with open(seen, "a") as lines:
                lines.writelines(key + "\\n" for key in batch["key"])
            means = [float(patches.mean()) if patches.size else -1 for patches in batch["patches"]]
            return {"mean": np.array(means), **{name: batch[name] for name in ("key", "status", "caption", "emission")}}
    ds = pysaccade.ray.map_patches(ray.data.from_items(rows), batch_size=2, tokens=48, rate=2, backend="cpu")
    ds = ds.map_batches(Model, batch_size=8, compute=ray.data.ActorPoolStrategy(size=1), num_cpus=0.5)
    print("RESULT" + json.dumps(ds.take_all(), default=lambda value: value.item()))
"""


def truth_of(store: Path) -> dict[tuple[str, int], float]:
    """The mean sample of each emission."""
    import numpy as np

    found = {}
    for marker in markers_of(store):
        for line in (store / marker["index"]["name"]).read_text().splitlines() if marker["index"] else []:
            item = json.loads(line)
            where = item["members"]["patches.npy"]
            shape = (item["emissions"], item["patches"], 3, item["patch_size"], item["patch_size"])
            content = (store / item["shard"]).read_bytes()[where["offset"] + 256 : where["offset"] + where["bytes"]]
            for e, patches in enumerate(np.frombuffer(content, np.uint8).reshape(shape)):
                found[item["key"], e] = float(patches.mean())
    return found


def check_rows(job: Job, said: str) -> None:
    """Each emission once, each video that was given up once."""
    rows = json.loads(next(line for line in said.splitlines() if line.startswith("RESULT"))[6:])
    bad = [row["key"] for row in rows if row["status"] == "input"]
    assert sorted(bad) == [f"clip{i:02}" for i in POISON]
    found = {(row["key"], row["emission"]): row["mean"] for row in rows if row["emission"] >= 0}
    assert len(found) == len(rows) - len(POISON)
    assert found == pytest.approx(truth_of(job.plain))
    assert all(row["caption"] == f"of {row['key']}" for row in rows)


def actors_of(raylets: list[int]) -> list[int]:
    """Ray's processes that hold `Patches` and are at a batch: each then has a child, the program."""
    table = processes()
    busy = {parent for parent, command in table.values() if " work store " in command}
    return [number for number in busy if table.get(number, (0, ""))[0] in raylets]


def test_patches_go_straight_into_a_model(rig: Rig, job: Job, tmp_path: Path):
    check_rows(job, ended(rig.python("-c", COMPOSED, job.manifest, tmp_path / "seen"), 0))


@pytest.mark.parametrize("after", [0, 5, 10])
def test_killed_actors_lose_no_video(rig: Rig, job: Job, tmp_path: Path, after: int):
    """Those that are at a batch, once so many videos have reached the model; at the beginning, twice."""
    seen = tmp_path / "seen"
    seen.touch()
    driver = rig.python("-c", COMPOSED, job.manifest, seen)
    wait_for(lambda: len(set(seen.read_text().split())) >= after, seconds=120, missing="no video reaches the model")
    for _ in range(1 if after else 2):
        wait_for(lambda: actors_of(rig.raylets) or driver.poll() is not None, seconds=120, missing="no actor runs")
        kill(actors_of(rig.raylets))  # none, if the rest was done before this look
        wait_for(lambda: not actors_of(rig.raylets), seconds=120, missing="actors still run")
    check_rows(job, ended(driver, 0))


BROKEN = """#!/bin/sh
if [ "$1" = work ] && grep -qw "$RAY_RAYLET_PID" {broken}; then
  echo "saccade: backend cuda: no device" >&2
  exit 69
fi
exec {program} "$@"
"""


def test_node_that_loses_its_devices_is_left_out(job: Job, program: Path, tmp_path: Path):
    broken, wrapper = tmp_path / "broken", tmp_path / "saccade"
    broken.write_text("0\n")
    wrapper.write_text(BROKEN.format(broken=broken, program=program))
    wrapper.chmod(0o755)
    with ray_rig(SACCADE_PROGRAM=str(wrapper)) as own:
        store = job.plan("left-out")
        broken.write_text(f"{own.raylets[1]}\n")
        said = ended(own.run(store), 3)
        assert said.count("is left out: backend cuda: no device") == 1
        job.check(store)
        lost = job.plan("all-lost")
        broken.write_text("".join(f"{raylet}\n" for raylet in own.raylets))
        said = ended(own.run(lost), 69)
        assert "saccade: backend cuda: no device" in said
        assert markers_of(lost) == []


STARVED = """if True:
    import ray, pysaccade.ray
    ray.init(log_to_driver=False)
    try: pysaccade.ray.map_patches(ray.data.from_items([{"uri": "x"}]), concurrency=4)
    except ValueError as error: print(error)
"""


def test_actors_that_would_hold_all_cpus_are_refused(rig: Rig):
    assert "would hold all" in ended(rig.python("-c", STARVED), 0)
