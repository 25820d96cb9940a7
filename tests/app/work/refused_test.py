"""Options that videos refuse when they are opened: `plan` refuses them where none takes them, and `work` quarantines the others."""
import os
import shutil
import unittest

from work_support import WorkTest, ffmpeg, saccade

INSIDE = ("--ignore", "100,50,8,8")  # of the clips' frames; it lies outside of a small one


class Refused(WorkTest):
    count = 4

    def small(self, count, name="in"):
        """Longer videos of 32x24: they are planned first."""
        folder = self.folder / f"{self.store.name}-{name}"
        folder.mkdir()
        paths = [folder / f"s{i:02}.mp4" for i in range(count)]
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=32x24:rate=20:duration=2,noise=alls=40:allf=t", "-c:v", "libx264", "-qp", "1",
               "-pix_fmt", "yuv420p", paths[0])
        self.assertGreater(paths[0].stat().st_size, self.clip.stat().st_size)
        for path in paths[1:]:
            shutil.copy(paths[0], path)
        return paths

    def refused(self, *options, says, rows):
        """`plan` ends with one line and code 2, and makes no plan."""
        for command, files in (("plan", [self.manifest(rows)]), ("dump", ["--manifest", self.manifest(rows)])):
            done = saccade(command, *files, "-o", self.store, "--backend", "cpu", *options)
            self.assertEqual(done.returncode, 2, done.stderr)
            (line,) = done.stderr.decode().splitlines()
            self.assertIn(says, line)
            self.assertIn("no video takes the plan's options", line)
            self.assertFalse(self.store.exists())

    def test_optionsThatNoVideoTakes_areRefusedByThePlan(self):
        for options, says in ((["--vf", "crop=4000:4000"], "--vf 'crop=4000:4000': "),
                              (["--vf", "select=0"], "let no frame through"),
                              (["--set", "input-size=64x64"], "says its size itself"),
                              (["--ignore", "1000,1000,5,5"], "outside the frame"),
                              (["--lattice", "uniform", "--set", "lod=9"], "raise --levels"),
                              (["--lattice", "nested", "--tokens", "1"], "tokens 1")):
            with self.subTest(options=options):
                self.refused(*options, says=says, rows=self.clips[:3])

    def test_eightFromAllOver_areTried(self):
        self.refused(*INSIDE, says="; 8 videos from all over were tried", rows=self.small(40))
        self.plan(*INSIDE, rows=[*self.small(4, "more"), *self.clips])

    def test_strangeVideos_areQuarantinedLikeAnyOther(self):
        self.plan(*INSIDE, rows=[*self.small(3), *self.clips])
        self.work("--jobs", "1", code=3)
        self.expect(done=4, quarantined=3)
        for row in self.lines("quarantine").values():
            self.assertEqual((row["class"], row["exit"], row["attempts"]), ("options", 2, 1))
            self.assertIn("outside the frame of 32x24", row["line"])
        self.assertEqual(self.status()["classes"], {"options": 3})

    def test_filesOfOptionsThatAreGone_areOfEachVideo(self):
        gone = self.folder / "gone.csv"
        gone.write_text("0,0.5,0.5\n")
        self.plan("--fixation", f"file:{gone}", rows=self.clips[:3])
        gone.unlink()
        self.work(code=3)
        self.assertEqual(self.status()["classes"], {"options": 3})

    def test_brokenVideos_tellNothing(self):
        broken = [self.folder / f"broken{i:02}.mp4" for i in range(9)]
        for path in broken:
            path.write_bytes(b"no video" * 100)
        self.plan(*INSIDE, rows=broken)
        self.work("--jobs", "1", code=3)
        self.assertEqual(self.status()["classes"], {"input": 9})

    def undecodable(self, *names):
        """Videos that no device decodes, though it works: as a worker says it that has one."""
        return self.faults(",".join(f"nohwdec@{name}" for name in names))

    def test_videosThatTheGpuDoesNotDecode_areGivenUpAlone(self):
        self.plan()
        self.work("--jobs", "1", code=3, env=self.undecodable("v00.mp4", "v02.mp4"))
        self.expect(done=2, quarantined=2)
        self.assertEqual(self.status()["classes"], {"hwdec_unsupported": 2})
        for row in self.lines("quarantine").values():
            self.assertEqual((row["class"], row["exit"], row["attempts"]), ("hwdec_unsupported", 65, 1))
        again = self.folder / "again-hwdec"
        done = saccade("retry", self.store, "-o", again, "--class", "hwdec_unsupported")
        self.assertIn(b"2 items", done.stdout)

    def test_noDeviceAtAll_stopsWith69(self):
        self.plan("--hwdec", "cuda", "--set", "require-hwdec")  # which asks for none
        done = saccade("work", self.store, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(b"--set require-hwdec", done.stderr)
        self.expect(pending=4)


if __name__ == "__main__":
    unittest.main()
