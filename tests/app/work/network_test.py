"""Inputs that the network or a disk loses midway: the rest is asked for, or all is tried again; that is no damage."""
import os
import subprocess
import unittest

from work_support import HERE, WorkTest, ffmpeg, saccade

from broken_web import WHOLE, Break, WebServer

FRAMES = 20  # of the clip, as ffmpeg made it


class Lost(WorkTest):
    count = 1

    def server(self, breaks, **options):
        body = self.clip.read_bytes()
        server = WebServer({"v.mp4": body, "w.mp4": body}, breaks, **options)
        self.addCleanup(server.stop)
        return server

    def run_work(self, server, code, *options):
        self.plan("--every", "frame", "--set", "stall-timeout=1", *options, rows=[server.url("v.mp4"), server.url("w.mp4")])
        server.requests.clear()  # `plan` tries the options
        self.work(code=code)

    def quarantined(self, url, *words):
        (row,) = self.lines("quarantine").values()
        self.assertEqual((row["uri"], row["class"], row["attempts"]), (url, "io", 3))
        for word in words:
            self.assertIn(word, row["line"])

    def test_theRestIsAskedFor(self):
        half = self.clip.stat().st_size // 2
        for how in ("close", "reset", "stall"):
            with self.subTest(how=how):
                self.store = self.folder / how
                server = self.server(lambda _name, number, _begin, how=how: Break(half, how) if number == 0 else WHOLE)
                self.run_work(server, 0)
                self.expect(done=2)
                self.assertEqual([row["frames"] for row in self.lines("index").values()], [FRAMES, FRAMES])

    def test_withoutRanges_threeTriesThenIo(self):
        size = self.clip.stat().st_size
        def breaks(name, *_):
            return Break(size * 3 // 4) if name == "v.mp4" else WHOLE

        words_of = {"told": "lost connection", "chunked": "lost connection", "none": "may have been cut off"}
        for length, words in words_of.items():
            with self.subTest(length=length):
                self.store = self.folder / length
                server = self.server(breaks, ranges=False, length=length)
                self.run_work(server, 3)
                self.expect(done=1, quarantined=1)
                self.quarantined(server.url("v.mp4"), words)
                self.assertEqual(server.count("v.mp4"), 3)

    def test_theThirdTryMayBringIt(self):
        size = self.clip.stat().st_size
        server = self.server(lambda _name, number, _begin: Break(size // 2) if number < 2 else WHOLE, ranges=False)
        self.run_work(server, 0)
        self.expect(done=2)

    def test_aLengthThatNeverComes_isNoDamage(self):
        server = self.server(lambda *_: WHOLE, length=5000)
        self.run_work(server, 3, "--set", "reconnect-delay-max=0")
        self.expect(quarantined=2)
        self.assertEqual({row["class"] for row in self.lines("quarantine").values()}, {"io"})

    def test_aFileThatIsCutOnTheServer_isDamaged(self):
        front = self.folder / "front.mp4"
        ffmpeg("-i", self.clip, "-c", "copy", "-movflags", "faststart", front)
        server = WebServer({"v.mp4": front.read_bytes()[:-3000], "w.mp4": front.read_bytes()})
        self.addCleanup(server.stop)
        self.run_work(server, 3)
        self.expect(done=1, damaged=1)

    def test_aDiskThatFailsMidway(self):
        library = self.folder / "bad_disk.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "bad_disk.c", "-ldl"], check=True)
        checks = os.environ.get("ASAN_OPTIONS", "")
        bad = self.folder / "bad.ts"
        ffmpeg("-i", self.clip, "-c", "copy", bad)
        env = {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": f"{checks}:verify_asan_link_order=0".lstrip(":"),
               "SACCADE_BAD_FILE": bad.name, "SACCADE_BAD_FROM": str(bad.stat().st_size // 2)}
        self.plan("--every", "frame", rows=[bad, self.clips[0]])
        self.work(code=3, env=env)
        self.expect(done=1, quarantined=1)
        (row,) = self.lines("quarantine").values()
        self.assertEqual((row["class"], row["attempts"]), ("io", 3))
        self.assertIn("Input/output error", row["line"])
        done = saccade("dump", bad, "-o", self.folder / "dump", "--backend", "cpu", env=env)
        self.assertEqual(done.returncode, 3)
        self.assertIn("reading failed: Input/output error; what came before was kept", done.stderr.decode())


if __name__ == "__main__":
    unittest.main()
