"""Two at once, and losses of power: sweepers, gc, commits without hard links, a unit that another run has committed."""
import fcntl
import json
import os
import pathlib
import shutil
import socket
import unittest

from work_support import WorkTest, saccade, start
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
        self.work("--unit", "00000001")
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
