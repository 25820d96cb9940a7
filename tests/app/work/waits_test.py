"""Nobody waits for another: units that are committed, the last items, workers that have nothing left to do."""
import unittest

from work_support import WorkTest, start, workers_of
from patience import wait_for

FOR_EVER = ("--set", "frame-timeout=10000", "--set", "video-timeout=10000")


class Waits(WorkTest):
    count = 4

    def run_with(self, faults, *options):
        self.plan("--unit-seconds", "0.01")
        run = start("work", self.store, "--set", "workers-per-gpu=2", "--jobs", "1", *FOR_EVER, *options, env=self.faults(faults))
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def test_unitWhoseDiskIsSlow_holdsUpNoOther(self):
        self.run_with("block@/00000000.tar")
        wait_for(lambda: len(self.markers()) == self.count - 1)

    def test_lastItems_areNotKeptBehindOneThatHangs(self):
        self.run_with("hang@v00")
        wait_for(lambda: len(self.markers()) == self.count - 1)

    def test_workerWithNothingLeft_endsWhileOthersWork(self):
        run = self.run_with("hang@v03")
        wait_for(lambda: len(self.markers()) == self.count - 1)
        wait_for(lambda: len(workers_of(run.pid)) == 1)


if __name__ == "__main__":
    unittest.main()
