"""When `work` loses patience, with a video or with all of it, and how much it has at hand at once."""
import json
import os
import pathlib
import re
import shutil
import time
import unittest

from work_support import WorkTest, alive, ffmpeg, saccade, start, workers_of
from patience import PATIENCE, wait_for

FOR_EVER = ("--set", "frame-timeout=10000", "--set", "video-timeout=10000")


class Times(WorkTest):
    count = 7

    def lasting(self, rows):
        return ["uri,duration", *(f"{path},{seconds}" for path, seconds in rows)]

    def test_slowVideoAfterFastOnes_isNotKilled(self):
        """By the plan the others take a minute each: they are a hundred times as fast as they are shown."""
        rows = self.lasting([*((path, 60 + i) for i, path in enumerate(self.clips[:6])), (self.clips[6], 1)])
        self.plan(rows=rows, name="list.csv")
        self.work("--jobs", "1", "--set", "video-timeout=1", env=self.faults("crawl@v06", SACCADE_CRAWL_MS="300"))
        self.expect(done=7)

    def test_tooLong_isGivenUpThoughFramesCome(self):
        """A frame a second, and 4 s of patience: never half a minute without one."""
        self.plan(rows=self.lasting((path, 0.1) for path in self.clips[:2]), name="list.csv")
        begin = time.monotonic()
        self.work("--set", f"video-timeout={4 * PATIENCE}", code=3, env=self.faults("crawl@v01", SACCADE_CRAWL_MS=str(1000 * PATIENCE)))
        self.assertGreater(time.monotonic() - begin, 8 * PATIENCE)
        self.expect(done=1, quarantined=1)
        (row,) = self.lines("quarantine").values()
        self.assertEqual((row["class"], row["attempts"]), ("timeout", 2))
        self.assertGreater(int(re.search(r"(\d+) frames", row["line"])[1]), 0)

    def test_stalledDisk_isWaitedFor(self):
        self.plan(rows=self.clips[:3])
        gate = self.folder / "disk"
        run = start("work", self.store, "--set", f"frame-timeout={3 * PATIENCE}", "--set", f"video-timeout={3 * PATIENCE}",
                    env=self.faults("block@patches.npy", SACCADE_GATE=str(gate)))
        wait_for(pathlib.Path(f"{gate}.there").exists)
        time.sleep(13 * PATIENCE)  # longer than both, and than a second try would take
        self.assertIsNone(run.poll())
        gate.touch()
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, error)
        self.assertEqual(error.count(b"the output disk takes nothing: waiting for it"), 1, error)
        self.expect(done=3)

    def test_workerThatLingers_stopsTheWork(self):
        self.plan(rows=self.clips[:2])
        faults = self.faults("leave@v00", SACCADE_PROCESS_FAULT="lingers", SACCADE_HASTE="20")
        run = start("work", self.store, env=faults)
        self.addCleanup(run.kill)
        _, error = run.communicate(timeout=60 * PATIENCE)
        self.assertEqual(run.returncode, 1, error)
        self.assertIn(b"a worker can't be ended", error)
        self.work()
        self.expect(done=2)

    def test_eventThatLacksAMember_losesNoVideo(self):
        self.plan(rows=self.clips[:2])
        self.work(code=3, env=self.faults("none@none", SACCADE_PROCESS_FAULT="mangled"))
        self.expect(quarantined=2)
        self.assertEqual(self.status()["classes"], {"crash": 2})


class Bad(WorkTest):
    count = 60

    def small(self, count):
        folder = self.folder / f"{self.store.name}-in"
        folder.mkdir()
        first = folder / "s000.mp4"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=20:duration=0.1", "-c:v", "libx264", "-preset", "ultrafast",
               "-pix_fmt", "yuv420p", first)
        paths = [folder / f"s{i:03}.mp4" for i in range(count)]
        for path in paths[1:]:
            os.link(first, path)
        return paths

    def test_inputsThatAreSpoilt_stopTheWorkSoon(self):
        """Far below --max-bad of all: more than half of the last 100."""
        paths = self.small(300)
        self.plan("--unit-seconds", "1", rows=["uri,end", *(f"{path},1" for path in paths)], name="list.csv")
        run = start("work", self.store, "--jobs", "2", "--max-bad", "45")
        wait_for(lambda: len(self.markers()) >= 120, 120)
        paths[0].write_bytes(b"no video")  # all have this one's content
        _, error = run.communicate(timeout=120 * PATIENCE)
        self.assertEqual(run.returncode, 1, error)
        self.assertIn(b"of the last 100 videos were quarantined", error)
        self.assertIn(b"--max-bad 100", error)
        status = self.status()
        self.assertLess(status["quarantined"], 100)
        self.assertGreater(status["pending"], 0)

    def test_fourteenPoisonFilesSideBySide_areGivenUp(self):
        self.plan(rows=["uri,end", *(f"{path},{9 if 20 <= i < 34 else 1}" for i, path in enumerate(self.clips))], name="list.csv")
        poison = ",".join(f"leave@v{i}" for i in range(20, 34))
        self.work("--jobs", "1", "--max-bad", "45", code=3, env=self.faults(poison))
        self.expect(done=46, quarantined=14)
        self.assertEqual(self.status()["classes"], {"crash": 14})

    def test_wantOfMemory_isTriedAgain(self):
        self.plan(rows=self.clips[:3])
        self.work(code=3, env=self.faults("enomem@v01,gone@v02"))
        rows = {os.path.basename(row["uri"]): row for row in self.lines("quarantine").values()}
        self.assertEqual({name: (row["class"], row["attempts"]) for name, row in rows.items()}, {"v01.mp4": ("input", 3), "v02.mp4": ("missing", 2)})
        self.expect(done=1, quarantined=2)

    def test_terminatedWorker_isNoCrashOfItsVideos(self):
        """Somebody ends a whole group of processes: what ran has as many tries as after SIGKILL."""
        self.plan(rows=self.clips[:3])
        self.work(code=3, env=self.faults("term@v01"))
        (row,) = self.lines("quarantine").values()
        self.assertEqual((row["class"], row["signal"], row["attempts"]), ("crash", 15, 4))
        self.expect(done=2, quarantined=1)


class AtOnce(WorkTest):
    count = 40

    def dumps(self):
        return {path.parent for path in self.store.glob("attempts/*/*/*")}

    def run_with(self, faults, *options, **more):
        self.plan("--unit-seconds", "0.01")
        run = start("work", self.store, *FOR_EVER, *options, env=self.faults(faults, **more))
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def test_renewedWorkers_areNotAddedToOldOnes(self):
        self.run_with("hang@v", "--jobs", "2", "--cores", "2", "--set", "renew-after=2")
        wait_for(lambda: len(self.dumps()) >= 2)
        time.sleep(3 * PATIENCE)
        self.assertEqual(len(self.dumps()), 2)

    def test_diskThatIsSlowerThanTheWork_holdsItUp(self):
        self.run_with("block@.tar", "--jobs", "1", "--cores", "1")
        wait_for(lambda: len(self.dumps()) >= 5)
        time.sleep(5 * PATIENCE)
        self.assertLess(len(self.dumps()), 15)

    def test_renewedWorkers_areOtherProcesses(self):
        """After so many videos; by memory, which is small until a process has begun, and it has four videos by then."""
        for options, least, most in ((["--set", "renew-after=4"], 3, 3), (["--jobs", "2", "--set", "max-rss=1"], 3, 12)):
            with self.subTest(options=options):
                store, numbers = self.folder / f"renew{options[-1]}", self.folder / f"workers{options[-1]}"
                self.plan(store=store, rows=self.clips[:12])
                self.work(*options, store=store, env=self.faults("none@none", SACCADE_WORKERS=str(numbers)))
                self.expect(store, done=12)
                workers = len(numbers.read_text().split())
                self.assertGreaterEqual(workers, least)
                self.assertLessEqual(workers, most)

    def test_progress_aLineEachTenSeconds(self):
        """Time is ten times as fast for `work`; its one video takes 4 s."""
        for mode in ("auto", "json"):
            with self.subTest(mode=mode):
                store = self.folder / f"progress-{mode}"
                self.plan(store=store, rows=self.clips[:1])
                metrics = self.folder / f"{mode}.prom"
                error = self.work("--progress", mode, "--set", f"metrics={metrics}", *FOR_EVER, store=store,
                                  env=self.faults("crawl@v00", SACCADE_CRAWL_MS="300", SACCADE_HASTE="10"))
                lines = [line for line in error.splitlines() if line]
                if mode == "auto":
                    for line in lines[:3]:
                        self.assertRegex(line, r"^saccade: 0 of 1 video, 0\.00 hours of video, \d+ frames/s, 0 bad$")
                else:
                    reports = [json.loads(line) for line in lines]
                    self.assertEqual([report["last"] for report in reports], [False] * (len(reports) - 1) + [True])
                    pace = [b["elapsed_s"] - a["elapsed_s"] for a, b in zip(reports, reports[1:-1])]
                    self.assertGreaterEqual(min(pace), 9.9)
                    self.assertLess(min(pace), 15 * PATIENCE)
                self.assertGreaterEqual(len(lines), 3)
                self.assertIn("saccade_videos_done 1", metrics.read_text().splitlines())


class Again(WorkTest):
    count = 30

    def test_driverKilled_onlyWhatWasInFlightIsDoneAgain(self):
        self.plan("--unit-seconds", "0.1")
        opened = [self.folder / "opened1", self.folder / "opened2"]
        run = start("work", self.store, "--jobs", "2", "--cores", "2", env=self.faults("none@none", SACCADE_OPENED=str(opened[0])))
        wait_for(lambda: len(self.markers()) >= 10)
        workers = workers_of(run.pid)
        run.kill()
        run.communicate()
        wait_for(lambda: not any(map(alive, workers)))
        pending = self.status()["pending"]
        in_flight = {path.name.split(".")[0] for path in self.store.glob("attempts/*/*.[0-9]*") if path.is_dir()}
        self.work(env=self.faults("none@none", SACCADE_OPENED=str(opened[1])))
        self.expect(done=self.count)
        first, second = ({os.path.basename(line) for line in path.read_text().splitlines()} for path in opened)
        self.assertEqual(len(second), pending)
        self.assertLessEqual(len(first & second), len(in_flight) + 2)  # two may have been opened, and have no folder yet

    def test_retry_ofWhatMayGoWellAtAnotherTime(self):
        self.plan(rows=self.clips[:5])
        self.work("--set", f"frame-timeout={1.5 * PATIENCE}", code=3, env=self.faults("eio@v01,hang@v02,leave@v03"))
        self.assertEqual(self.status()["classes"], {"crash": 1, "io": 1, "timeout": 1})
        wanted = {key for key, row in self.lines("quarantine").items() if row["class"] in ("io", "timeout")}
        again = self.folder / "again"
        done = saccade("retry", self.store, "-o", again, "--class", "io,timeout")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.work(store=again)
        self.expect(again, done=2)
        self.assertEqual(set(self.lines("index", again)), wanted)

    def test_retry_packsAsThePlanDid(self):
        for path in self.clips[:8]:
            shutil.copy(self.clip, path)
        self.plan("--set", "unit-bytes=1000", rows=self.clips[:4])
        self.work(code=3, env=self.faults("leave@v0"))
        again = self.folder / "packed"
        self.assertEqual(saccade("retry", self.store, "-o", again).returncode, 0)
        self.assertEqual(json.loads((again / "plan/plan.json").read_text())["units"], 4)


if __name__ == "__main__":
    unittest.main()
