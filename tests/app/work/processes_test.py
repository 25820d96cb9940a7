"""What docs/SCALE.md says of processes and devices that fail as a whole: a lost GPU, a worker that is silent, one that lives on."""
import unittest

from work_support import WorkTest, alive, saccade, start, workers_of
from patience import wait_for
from program import need_gl


class Processes(WorkTest):
    count = 6

    def stopped(self, error, line):
        """One line says why, nothing is given up, and nothing of it runs on."""
        lines = [text for text in error.splitlines() if "stopped" in text]
        self.assertEqual(len(lines), 1, error)
        self.assertIn(line, lines[0])
        self.assertNotIn("quarantined (", error)
        self.assertEqual(self.status()["quarantined"], 0)

    def test_lostGpu_code69AndNothingIsGivenUp(self):
        need_gl(self.folder)
        listed = self.manifest(self.clips)
        done = saccade("plan", listed, "-o", self.store, "--backend", "gl", "--unit-seconds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        error = self.work(code=69, env=self.faults("", SACCADE_PROCESS_FAULT="lost"))
        self.stopped(error, "glFenceSync")
        self.assertGreater(self.status()["pending"], 0)
        self.work()
        self.expect(done=self.count)

    def test_silentAfterItsStart_stops(self):
        self.plan()
        run = start("work", self.store, env=self.faults("", SACCADE_PROCESS_FAULT="mute", SACCADE_HASTE="20"))
        workers = wait_for(lambda: workers_of(run.pid))
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1, error)
        self.stopped(error.decode(), "said nothing for 120 s after its start")
        wait_for(lambda: not any(map(alive, workers)))
        self.work()
        self.expect(done=self.count)

    def test_survivesKill_stops(self):
        self.plan()
        faults = self.faults("hang@v02", SACCADE_PROCESS_FAULT="unkillable", SACCADE_HASTE="20")
        run = start("work", self.store, "--jobs", "1", "--set", "frame-timeout=100", env=faults)
        workers = wait_for(lambda: workers_of(run.pid))
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1, error)
        self.stopped(error.decode(), "can't be ended")
        wait_for(lambda: not any(map(alive, workers)))  # the system ends it with its parent
        self.work()
        self.expect(done=self.count)


if __name__ == "__main__":
    unittest.main()
