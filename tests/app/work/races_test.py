"""Two at once, and losses of power: sweepers, gc, commits without hard links, a unit that another run has committed."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import unittest

from work_support import WorkTest, saccade, start, workers_of
from patience import PATIENCE, wait_for


class Races(WorkTest):
    count = 12

    def gate(self):
        gate = self.folder / f"{self.store.name}-gate"
        return gate, {"SACCADE_GATE": str(gate)}, lambda: pathlib.Path(f"{gate}.there").exists()

    def locked(self, name):
        """An attempt that somebody works on."""
        folder = self.store / "attempts" / name
        folder.mkdir(parents=True)
        lock = open(folder / "lock", "w")  # noqa: SIM115
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return folder

    def test_slowSweeper_leavesAnAttemptThatWasMadeAgain(self):
        self.plan(rows=self.clips[:1])
        gate, env, at_gate = self.gate()
        dead = self.store / "attempts/elsewhere.1.1"
        dead.mkdir(parents=True)
        (dead / "lock").touch()
        sweeper = start("gc", self.store, "--older-than", "0", env=self.faults("none@none", SACCADE_PROCESS_FAULT="late_lock", **env))
        wait_for(at_gate)
        shutil.rmtree(dead)
        alive = self.locked(dead.name)
        gate.touch()
        _, error = sweeper.communicate(timeout=60 * PATIENCE)
        self.assertEqual(sweeper.returncode, 0, error)
        self.assertTrue((alive / "lock").exists())

    def test_gc_leavesWhatARunBeganMeanwhileMayCommit(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:2])
        self.work()
        self.undo(0)
        shard = self.store / "shards/00000000.aaaaaaaaaaaa.tar"
        shard.write_text("x")
        gate, env, at_gate = self.gate()
        collector = start("gc", self.store, "--older-than", "0", env=self.faults("none@none", SACCADE_PROCESS_FAULT="late_list", **env))
        wait_for(at_gate)
        self.locked(f"{socket.gethostname()}.1.1")
        gate.touch()
        _, error = collector.communicate(timeout=60 * PATIENCE)
        self.assertEqual(collector.returncode, 0, error)
        self.assertTrue(shard.exists())

    def test_gc_leavesClaimsOfTheLiving(self):
        """Also those below a living one's, and a young heartbeat's of which the attempt lies elsewhere."""
        self.plan("--unit-seconds", "0.1", rows=self.clips[:3])
        self.locked("elsewhere.1.1")
        for folder in ("claims", "workers"):
            (self.store / folder).mkdir()
        workers = {"00000000.0": "dead", "00000000.1": "elsewhere.1.1", "00000001.0": "dead", "00000002.0": "bucket.2.2"}
        for claim, worker in workers.items():
            (self.store / "claims" / claim).write_text(json.dumps({"worker": worker}))
        for worker in ("elsewhere.1.1", "bucket.2.2", "dead"):
            (self.store / f"workers/{worker}.json").write_text("{}")
        os.utime(self.store / "workers/dead.json", (0, 0))
        done = saccade("gc", self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.left_over(), ["00000000.0", "00000000.1", "00000002.0", "bucket.2.2.json", "elsewhere.1.1", "elsewhere.1.1.json"])

    def test_withoutHardLinks_markersAreMadeWhole(self):
        """Nothing is written under a marker's name: that would fail."""
        self.plan("--unit-seconds", "0.1", rows=self.clips[:4])
        self.work(env=self.faults("enospc@commits/", SACCADE_PROCESS_FAULT="nolinks"))
        self.expect(done=4)
        runs = [start("work", self.store, env=self.faults("none@none", SACCADE_PROCESS_FAULT="nolinks")) for _ in range(2)]
        for run in runs:
            _, error = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, error)
        self.expect(done=4)

    def test_unitThatAnotherRunCommitted_countsAsThatOneSays(self):
        other = self.folder / "winner"
        for store in (self.store, other):
            self.plan(rows=self.clips[:4], store=store)
        self.work(code=3, store=other, env=self.faults("leave@v01"))
        gate, env, at_gate = self.gate()
        run = start("work", self.store, "--json", "--progress", "none", env=self.faults("block@.tar", **env))
        wait_for(at_gate)
        for part in ("shards", "index", "quarantine", "commits"):
            shutil.copytree(other / part, self.store / part, dirs_exist_ok=True)
        gate.touch()
        out, error = run.communicate(timeout=60 * PATIENCE)
        self.assertEqual(run.returncode, 3, error)
        told, status = json.loads(out), self.status()
        for name in ("in", "done", "quarantined", "pending", "classes", "frames"):
            self.assertEqual(told[name], status[name], name)
        self.assertAlmostEqual(told["media_s"], status["media_s"])
        self.assertEqual(told["quarantined"], 1)
        self.expect(done=3, quarantined=1)

    def test_markerThatIsRemovedMeanwhile_isMadeAgain(self):
        """As `retry --in-place` does beside `work`."""
        self.plan("--unit-seconds", "0.1", rows=self.clips[:2])
        gate, env, at_gate = self.gate()
        run = start("work", self.store, env=self.faults("block@commits.00000001", **env))
        wait_for(at_gate)
        wait_for(self.markers)
        self.undo(0)
        gate.touch()
        _, error = run.communicate(timeout=60 * PATIENCE)
        self.assertEqual(run.returncode, 0, error)
        self.expect(done=2)

    def test_stopped_countsOnlyWhatIsCommitted(self):
        self.plan(rows=self.clips[:6])
        run = start("work", self.store, "--jobs", "1", "--progress", "json", env=self.faults("hang@v05"))
        wait_for(lambda: len(list(self.store.glob("attempts/*/*/manifest.json"))) >= 5)
        run.terminate()
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, error)
        last = json.loads([line for line in error.decode().splitlines() if line.startswith("{")][-1])
        self.assertEqual((last["last"], last["done"], last["pending"], last["frames"]), (True, 0, 6, 0))
        self.assertEqual({name: self.status()[name] for name in ("done", "pending")}, {"done": 0, "pending": 6})


class Claimed(WorkTest):
    """Units that a process has claimed, and how another one comes by them."""
    count = 40
    FAST = ("--set", "claim-seconds=1", "--jobs", "2")

    def plain(self):
        store = self.folder / "plain"
        if not store.exists():
            self.plan("--unit-seconds", "0.1", store=store)
            self.work(store=store)
        return self.shard_hashes(store)

    def ended(self, run, code=0):
        _, error = run.communicate(timeout=120 * PATIENCE)
        self.assertEqual(run.returncode, code, error)

    def test_processThatStandsStillAndComesBack_harmsNothing(self):
        wanted = self.plain()
        self.plan("--unit-seconds", "0.1")
        still = start("work", self.store, *self.FAST)
        wait_for(self.markers)
        stopped = (still.pid, *workers_of(still.pid))
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        self.ended(start("work", self.store, *self.FAST))
        self.expect(done=self.count)
        before = {path: path.read_bytes() for path in (self.store / "commits").iterdir()}
        for process in reversed(stopped):
            os.kill(process, signal.SIGCONT)
        self.ended(still)
        self.assertEqual(before, {path: path.read_bytes() for path in (self.store / "commits").iterdir()})
        self.assertEqual(self.shard_hashes(), wanted)
        self.expect(done=self.count)
        self.assertEqual(self.left_over(), [])

    def test_processOfAnotherHostThatDied_isTakenOver(self):
        """No clock is compared: its heartbeat is from the year 2100, and stays as it is."""
        wanted = self.plain()
        self.plan("--unit-seconds", "0.1")
        for folder in ("claims", "workers", "attempts/elsewhere.1.1.0"):
            (self.store / folder).mkdir(parents=True)
        (self.store / "claims/00000003.0").write_text('{"worker":"elsewhere.1.1.0"}\n')
        heartbeat = self.store / "workers/elsewhere.1.1.0.json"
        heartbeat.write_text('{"beat":7}\n')
        os.utime(heartbeat, (4102444800, 4102444800))
        self.ended(start("work", self.store, *self.FAST))
        self.expect(done=self.count)
        self.assertEqual(self.shard_hashes(), wanted)
        self.assertEqual(list((self.store / "claims").iterdir()), [])

    def test_claimOfAProcessThatLives_isLeftToIt(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:3])
        first = start("work", self.store, *self.FAST, "--set", "frame-timeout=1000", env=self.faults("crawl@v0", SACCADE_CRAWL_MS="200"))
        wait_for(lambda: list((self.store / "claims").glob("*")) if (self.store / "claims").exists() else None)
        opened = self.folder / "second-opened"
        second = start("work", self.store, *self.FAST, env=self.faults("none@none", SACCADE_OPENED=str(opened)))
        self.ended(first)
        self.ended(second)
        self.expect(done=3)
        self.assertLess(len(opened.read_text().splitlines()) if opened.exists() else 0, 3)

    def test_processesThatComeAndGo_helpOneAnother(self):
        wanted = self.plain()
        self.plan("--unit-seconds", "0.1")
        runs = [start("work", self.store, *self.FAST, "--set", f"shard={i}/3") for i in range(3)]
        for share in (0.2, 0.4, 0.6):
            wait_for(lambda share=share: len(self.markers()) >= share * self.count or runs[-1].poll() is not None)
            gone = runs.pop(0)
            gone.kill()
            gone.communicate()
            runs.append(start("work", self.store, *self.FAST))
        for run in runs:
            self.ended(run)
        self.expect(done=self.count)
        self.assertEqual(self.shard_hashes(), wanted)
        self.assertEqual(self.left_over(), [])

    def test_retryInPlace_doesTheirUnitsAgain(self):
        bad = self.folder / "bad.mp4"
        bad.write_bytes(b"no video" * 100)
        self.plan("--unit-seconds", "0.1", rows=[*self.clips[:3], bad])
        self.work(code=3, env=self.faults("leave@v01"))
        done = saccade("retry", self.store, "--in-place", "--class", "crash")
        self.assertEqual(done.stdout.decode(), f"{self.store}: 1 unit with 1 item to try again are pending; `saccade work` does them\n")
        self.assertEqual(self.status()["pending"], 1)
        self.work(code=3)
        self.expect(done=3, quarantined=1)

    def test_verifySample_readsSoManyUnits(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:4])
        self.work()
        for sample, units in (("2", 2), ("9", 4)):
            done = saccade("verify", self.store, "--sample", sample, "--json")
            self.assertEqual(json.loads(done.stdout)["units"], units)
        for path in (self.store / "shards").iterdir():
            path.write_bytes(b"changed")
        done = saccade("verify", self.store, "--sample", "1", "--json")
        self.assertEqual((done.returncode, {fault[:5] for fault in json.loads(done.stdout)["faults"]}), (1, {"unit "}))

    def test_status_saysWhoIsAtWorkAndWhatWentWrong(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:6])
        run = start("work", self.store, "--set", "frame-timeout=1000", env=self.faults("leave@v01,hang@v05"))
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        wait_for(lambda: len(self.markers()) >= 5)
        status = self.status()
        self.assertEqual([(worker["host"], worker["engine"]) for worker in status["workers"]], [(socket.gethostname().replace(".", "-"), "work")])
        self.assertGreaterEqual(status["last_commit_age_s"], -1)
        (reason,) = status["reasons"]
        self.assertIn("crash: the program died of it", reason["reason"])
        self.assertEqual((reason["videos"], reason["key"]), (1, next(iter(self.lines("quarantine")))))
        self.assertIn(b"1 process at work on ", saccade("status", self.store).stdout)


class Power(WorkTest):
    count = 3

    def test_planWithoutBytes_isPlannedAgain(self):
        for i, lost in enumerate((b"", b"\0" * 900)):
            with self.subTest(lost=lost[:1]):
                store = self.folder / f"lost{i}"
                self.plan(store=store)
                plan = store / "plan/plan.json"
                whole = plan.read_bytes()
                plan.write_bytes(lost)
                self.assertEqual(saccade("work", store).returncode, 2)
                runs = [start("plan", self.folder / f"{self.id().rsplit('.', 1)[-1]}-list.txt", "-o", store, "--backend", "cpu") for _ in range(3)]
                for run in runs:
                    _, error = run.communicate(timeout=60 * PATIENCE)
                    self.assertEqual(run.returncode, 0, error)
                self.assertEqual(plan.read_bytes(), whole)
                self.assertEqual(os.listdir(store), ["plan"])
                self.work(store=store)
                self.expect(store, done=3)

    def test_planThatIsCutShort_saysWhatToDo(self):
        self.plan()
        plan = self.store / "plan/plan.json"
        plan.write_bytes(plan.read_bytes()[:50])
        for command in (("work", self.store), ("plan", self.manifest(self.clips), "-o", self.store, "--backend", "cpu")):
            done = saccade(*command)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"plan/plan.json is damaged: it is not JSON; put plan/ back from a copy", done.stderr)


if __name__ == "__main__":
    unittest.main()
