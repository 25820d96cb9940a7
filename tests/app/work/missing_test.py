"""Inputs that are missing or may not be read: a machine without their folder writes nothing off, and a file that is gone holds up nothing."""
import functools
import http.server
import os
import pathlib
import shutil
import subprocess
import threading
import unittest

from work_support import SACCADE, WorkTest, saccade, start
from patience import wait_for

STRANGER = 65534


class MissingTest(WorkTest):
    count = 1

    def setUp(self):
        super().setUp()
        self.root = self.folder / self.id().rsplit(".", 1)[-1]
        self.root.mkdir()

    def videos(self, folder, count):
        """The clip under many names in a folder."""
        (self.root / folder).mkdir(parents=True, exist_ok=True)
        paths = [self.root / folder / f"{folder}{i:03}.mp4" for i in range(count)]
        for path in paths:
            os.link(self.clip, path)
        return paths

    def plan_of(self, paths, *options, store=None):
        """Units of one video, in the order of `paths`; the keys are the files' names."""
        rows = [f"{path},{pathlib.Path(str(path)).stem},{2000 - i}" for i, path in enumerate(paths)]
        self.plan("--unit-seconds", "0.01", "--frames", "1", *options, rows=["uri,key,duration", *rows], name="list.csv", store=store)

    def stopped(self, *options, pending, says=(), done=0, quarantined=0, **more):
        """Work ends with one line and exit code 1, and what is held stays pending."""
        error = self.work(*options, code=1, **more)
        (line,) = [text for text in error.splitlines() if "stopped" in text]
        for text in ("no video ", " can be read here", *says):
            self.assertIn(text, line)
        self.assertNotIn("--max-bad", line)
        self.expect(done=done, pending=pending, quarantined=quarantined)
        return error

    def classes(self):
        return {key: (row["class"], row["attempts"]) for key, row in self.lines("quarantine").items()}

    def empty(self, folder):
        """Its mount is gone: the folder is there, and holds nothing."""
        away = self.root / f"{folder}-away"
        (self.root / folder).rename(away)
        (self.root / folder).mkdir()
        return away


class Files(MissingTest):
    def test_withoutTheFolder_nothingIsQuarantinedHoweverOftenItStarts(self):
        self.plan_of(self.videos("in", 12))
        self.work()
        self.undo(*range(1, 12, 2))
        away = self.empty("in")
        for options in ((), ("--max-bad", "100"), ("--jobs", "1")):
            self.stopped(*options, done=6, pending=6, says=(f"no video in {self.root}/in can", "6 videos held back",
                         "the first one, in001", "No such file or directory", "mount the folder", "the same command goes on"))
        (self.root / "in").rmdir()
        self.stopped(done=6, pending=6)
        away.rename(self.root / "in")
        self.work()
        self.expect(done=12)

    def test_oneOfManyThatIsGone_isGivenUp(self):
        paths = self.videos("in", 8)
        for at in (0, 7):  # the first one and the last
            paths[at].unlink()
        self.plan_of(paths)
        self.work("--jobs", "1", code=3)
        self.expect(done=6, quarantined=2)
        self.assertEqual(self.classes(), {"in000": ("missing", 2), "in007": ("missing", 2)})
        again = self.folder / "retry-missing"
        done = saccade("retry", self.store, "-o", again, "--class", "missing")
        self.assertIn(b"2 items", done.stdout, done.stderr)

    def test_halfOfTheFolders_areDone(self):
        paths = [path for pair in zip(self.videos("a", 15), self.videos("b", 15)) for path in pair]
        self.plan_of([*paths, *self.videos("c", 5)])
        self.empty("b")
        self.stopped("--jobs", "2", done=20, pending=15, says=(f"no video in {self.root}/b can", "15 videos held back"))

    def test_manyUnitsThatWait_stopTheWorkEarly(self):
        """What is done of them takes room. Those of the other folder are no row of missing ones."""
        paths = [path for pair in zip(self.videos("a", 100), self.videos("b", 100)) for path in pair]
        self.plan_of(paths)
        self.empty("b")
        error = self.work("--jobs", "2", code=1)
        self.assertIn(f"no video in {self.root}/b can be read here", error)
        self.assertLess(error.count("held back (missing)"), 60)
        self.assertEqual(self.status()["quarantined"], 0)

    def test_twentyInARow_stopTheWorkEarly(self):
        self.plan_of(self.videos("in", 200))
        shutil.rmtree(self.root / "in")
        error = self.stopped("--jobs", "2", "--cores", "2", pending=200)
        self.assertLess(error.count("held back (missing)"), 60)

    def test_thirtyThatAreGone_holdUpNoneOfTheirFolder(self):
        """Others of it are tried before their time."""
        paths = self.videos("in", 40)
        for path in paths[:30]:
            path.unlink()
        self.plan_of(paths)
        self.work("--jobs", "1", "--max-bad", "100", code=3)
        self.expect(done=10, quarantined=30)
        self.assertEqual(self.status()["classes"], {"missing": 30})

    def test_goneAll_quarantinesWhateverIsMissing(self):
        paths = self.videos("in", 3)
        self.plan_of(paths)
        self.empty("in")
        self.work("--gone", "all", code=3)
        self.assertEqual(self.status()["classes"], {"missing": 3})

    def test_restartWithTheMissingAlone_isJudgedByWhatIsDone(self):
        paths = self.videos("in", 3)
        self.plan_of(paths)
        self.work()
        self.undo(2)
        paths[2].unlink()
        self.work(code=3)
        self.expect(done=2, quarantined=1)

    def test_folderWithOneVideoThatIsGone_hasAWayOut(self):
        (alone,) = self.videos("alone", 1)
        self.plan_of([*self.videos("in", 3), alone])
        alone.unlink()
        self.stopped(done=3, pending=1, says=("1 video held back", "add --gone alone000"))
        self.stopped("--gone", "in000,in001", done=3, pending=1)
        self.work("--gone", "in000,alone000", code=3)
        self.expect(done=3, quarantined=1)
        self.assertEqual(self.classes(), {"alone000": ("missing", 1)})

    def test_dumpOfAManifest_namesWork(self):
        paths = self.videos("in", 2)
        shutil.rmtree(self.root / "in")
        done = saccade("dump", "--manifest", self.manifest(paths), "-o", self.store, "--backend", "cpu")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"`saccade work {self.store} --gone ".encode(), done.stderr)
        self.expect(pending=2)

    def test_forbiddenFolder_isAMissingOne(self):
        closed, file = self.videos("closed", 3), self.videos("open", 3)
        self.plan_of([*closed, *file])
        (self.root / "closed").chmod(0)
        file[0].unlink()
        shutil.copy(self.clip, file[0])
        file[0].chmod(0)
        self.addCleanup((self.root / "closed").chmod, 0o755)
        user = {}
        if os.geteuid() == 0:
            user = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
            self.folder.chmod(0o755)
            for path in (self.store, *self.store.rglob("*")):
                os.chown(path, STRANGER, STRANGER)
        done = subprocess.run([SACCADE, "work", self.store, "--jobs", "1"], stdin=subprocess.DEVNULL, capture_output=True, check=False, **user)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"no video in {self.root}/closed can be read here: 3 videos held back".encode(), done.stderr)
        self.assertIn(b"Permission denied", done.stderr)
        self.expect(done=2, quarantined=1, pending=3)
        self.assertEqual(self.classes(), {"open000": ("missing", 2)})

    def test_linkLiesWhereItsVideoLies(self):
        """A folder of links into two others, of which one is gone."""
        links = self.root / "links"
        links.mkdir()
        for path in (*self.videos("a", 4), *self.videos("b", 4)):
            (links / path.name).symlink_to(path)
        (self.root / "a/a003.mp4").unlink()
        self.plan_of(sorted(links.iterdir()))
        self.empty("b")
        self.stopped("--jobs", "1", done=3, quarantined=1, pending=4, says=(f"no video in {self.root}/b can",))
        self.assertEqual(self.classes(), {"a003": ("missing", 2)})

    def test_inputThatComesBack_isDone(self):
        paths = self.videos("in", 2)
        paths[0].unlink()
        self.plan_of(paths)
        slow = self.faults("crawl@in001", SACCADE_CRAWL_MS="300")
        run = start("work", self.store, "--jobs", "1", "--cores", "1", "--set", "frame-timeout=1000", env=slow)
        self.addCleanup(run.kill)
        self.assertIn(b"in000: held back (missing)", run.stderr.readline())
        os.link(self.clip, paths[0])
        _, error = run.communicate(timeout=600)
        self.assertEqual(run.returncode, 0, error)
        self.expect(done=2)

    def test_folderThatGoes_losesNothing(self):
        paths = self.videos("in", 120)
        self.plan_of(paths)
        run = start("work", self.store, "--jobs", "2", env=self.faults("crawl@in1", SACCADE_CRAWL_MS="20"))
        self.addCleanup(run.kill)
        wait_for(lambda: len(self.markers()) >= 20)
        self.empty("in")
        _, error = run.communicate(timeout=600)
        self.assertEqual(run.returncode, 1, error)
        self.assertEqual(self.status()["quarantined"], 0)
        self.stopped(done=self.status()["done"], pending=self.status()["pending"])

    def test_mountThatFails_isAMissingFolder(self):
        """EIO of all that is opened; of one among others it is that file's."""
        self.plan_of(self.videos("in", 3))
        self.stopped(env=self.faults("eio@in00"), pending=3, says=("Input/output error",))
        self.work(code=3, env=self.faults("eio@in001"))
        self.assertEqual(self.status()["classes"], {"io": 1})

    def test_nothingIsLeft_noRuleStops(self):
        good = self.videos("in", 94)
        self.plan_of([*good, *(self.root / f"in/none{i}.mp4" for i in range(6))])
        self.work(code=3)
        self.expect(done=94, quarantined=6)


class Server(MissingTest):
    """Inputs of web servers, which are one folder."""

    def setUp(self):
        super().setUp()
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=self.root)
        handler.func.log_message = lambda *_: None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def urls(self, paths):
        return [f"{self.url}/{path.relative_to(self.root)}" for path in paths]

    def test_oneThatIsGone_isGivenUp(self):
        """Also a server that is gone, beside one that answers."""
        gone = "http://127.0.0.1:9/refused.mp4"
        self.plan_of([*self.urls([*self.videos("in", 2), self.root / "elsewhere/none.mp4"]), gone])
        self.work(code=3)
        self.expect(done=2, quarantined=2)
        self.assertEqual(self.classes(), {"none": ("missing", 2), "refused": ("io", 4)})

    def test_serverThatHasNone_isAMissingFolder(self):
        self.plan_of(self.urls(self.videos("in", 3)))
        self.empty("in")
        self.stopped(pending=3, says=("no video from the network", "404", "give this machine access"))

    def test_serverThatCantBeReached_isAMissingFolder(self):
        self.plan_of(self.urls(self.videos("in", 2)))
        self.server.shutdown()
        self.server.server_close()
        self.stopped(pending=2, says=("no video from the network", "Connection refused"))


class Restarts(WorkTest):
    """A run that stopped, and is begun again, gives up no more."""
    count = 1

    def junk(self, count):
        folder = self.folder / f"{self.store.name}-junk"
        folder.mkdir()
        paths = [folder / f"j{i:03}.mp4" for i in range(count)]
        for path in paths:
            path.write_bytes(b"no video" * 100)
        return paths

    def test_tooManyBad_countsAllRuns(self):
        self.plan("--unit-seconds", "1", rows=["uri,duration", *(f"{path},1" for path in self.junk(160))], name="list.csv")
        self.work("--max-bad", "100", "--jobs", "2", code=3)
        self.undo(*range(1, 160, 2))
        self.expect(quarantined=80, pending=80)
        given_up = []
        for _ in range(3):
            error = self.work("--jobs", "2", code=1)
            self.assertIn("is the installation broken?", error.splitlines()[-1])
            self.assertIn(f"`saccade work {self.store} --max-bad 100` goes on", error.splitlines()[-1])
            self.assertNotIn("the same command", error)
            given_up.append(self.status()["quarantined"])
        self.assertLessEqual(max(given_up), 99)
        self.work("--max-bad", "100", code=3)
        self.expect(quarantined=160)

    def test_mostOfTheLast_areThoseOfAllRuns(self):
        paths = self.junk(160)
        for path in paths:
            path.unlink()
            os.link(self.clip, path)
        self.plan("--unit-seconds", "1", "--frames", "1", rows=["uri,duration", *(f"{path},1" for path in paths)], name="list.csv")
        self.work()
        self.undo(*range(1, 160, 2))
        for path in paths:
            path.unlink()
            path.write_bytes(b"no video" * 100)
        given_up = []
        for _ in range(3):
            error = self.work("--max-bad", "45", "--jobs", "1", code=1)
            self.assertIn("of the last 100 videos were quarantined", error)
            given_up.append(self.status()["quarantined"])
        self.assertLessEqual(max(given_up), 50)



if __name__ == "__main__":
    unittest.main()
