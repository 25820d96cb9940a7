"""Options that videos refuse when they are opened: the plan's fault where all do, a video's own where it is alone."""
import json
import os
import shutil
import unittest

from work_support import WorkTest, ffmpeg, saccade

INSIDE = ("--ignore", "100,50,8,8")  # of the clips' frames; it lies outside of a small one


class Refused(WorkTest):
    count = 4

    def small(self, count):
        """Longer videos of 32x24: they are planned first."""
        folder = self.folder / f"{self.store.name}-in"
        folder.mkdir()
        paths = [folder / f"s{i:02}.mp4" for i in range(count)]
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=32x24:rate=20:duration=2,noise=alls=40:allf=t", "-c:v", "libx264", "-qp", "1",
               "-pix_fmt", "yuv420p", paths[0])
        self.assertGreater(paths[0].stat().st_size, self.clip.stat().st_size)
        for path in paths[1:]:
            shutil.copy(paths[0], path)
        return paths

    def refused(self, *options, says="", **more):
        """Work stops with one line and code 2, and nothing is given up."""
        error = self.work(*options, code=2, **more)
        (line,) = [text for text in error.splitlines() if "stopped" in text]
        self.assertIn(says, line)
        self.assertIn("plan again with other options", line)
        self.assertNotIn("given up", error)
        return error

    def test_optionsThatNoVideoTakes_stopTheWork(self):
        self.gone = self.folder / "gone"  # files that are there when it is planned
        for i, (options, says) in enumerate((
                (["--vf", "crop=4000:4000"], "wrong0/plan/plan.json: vf 'crop=4000:4000': "),
                (["--vf", "select=0"], "let no frame through"),
                (["--input-size", "64x64"], "says its size itself"),
                (["--fixation", f"file:{self.gone}.csv"], "cannot read the scanpath"),
                (["--ignore", f"{self.gone}.png"], "gone.png"),
                (["--ignore", "1000,1000,5,5"], "outside the frame"),
                (["--lattice", "uniform", "--lod", "9"], "raise --levels"),
                (["--tokens", "1"], "tokens 1"))):
            with self.subTest(options=options):
                store = self.folder / f"wrong{i}"
                self.gone.with_suffix(".csv").write_text("0,0.5,0.5\n")
                ffmpeg("-i", self.clip, "-frames:v", "1", self.gone.with_suffix(".png"))
                self.plan(*options, rows=self.clips[:3], store=store)
                for ending in (".csv", ".png"):
                    self.gone.with_suffix(ending).unlink()
                self.refused(store=store, says=says)
                self.expect(store, pending=3)

    def test_strangeVideos_areGivenUpAlone(self):
        self.plan(*INSIDE, rows=[*self.small(3), *self.clips])
        for line in self.work("--jobs", "1", code=3).splitlines():
            self.assertNotIn("stopped", line)
        self.expect(done=4, quarantined=3)
        for row in self.lines("quarantine").values():
            self.assertEqual((row["class"], row["exit"], row["attempts"]), ("input", 2, 1))
            self.assertIn("outside the frame of 32x24", row["line"])

    def test_twentyInARow_othersTellThatOptionsSuit(self):
        for name, units in (("one", []), ("many", ["--unit-seconds", "0.01"])):
            with self.subTest(units=name):
                self.store = self.folder / f"row-{name}"
                self.plan(*INSIDE, *units, rows=[*self.small(45), *self.clips])
                self.assertNotIn("stopped", self.work("--jobs", "1", code=3))
                self.expect(done=4, quarantined=45)
                self.assertEqual({row["class"] for row in self.lines("quarantine").values()}, {"input"})

    def test_brokenVideosBetween_tellNothing(self):
        broken = [self.folder / f"broken{i:02}.mp4" for i in range(30)]
        for path in broken:
            path.write_bytes(self.clip.read_bytes()[:3000])  # shorter than the strange ones, longer than what is good
        good = self.folder / "short.mp4"
        ffmpeg("-i", self.clip, "-frames:v", "1", "-s", "128x96", "-preset", "ultrafast", "-crf", "50", good)
        self.plan(*INSIDE, "--unit-seconds", "0.01", rows=[*self.small(22), *broken, good])
        self.work("--jobs", "1", code=3)
        self.expect(done=1, quarantined=52)

    def test_fromAllOverThePlan_noneTakesThem_nothingIsGivenUp(self):
        self.plan(*INSIDE, rows=self.small(70))
        error = self.refused("--jobs", "1", says="no video takes the plan's options, ")
        self.assertIn(" 40 tried: ", error)
        self.expect(pending=70)

    def test_manyAtOnce_twentyOthersAreTriedAllTheSame(self):
        """All that run when the twentieth is refused are strange: they don't take the place of the others."""
        rows = [f"{path},{900 - i}" for i, path in enumerate(self.small(200))]
        rows += [f"{path},{100 - i}" for i, path in enumerate(self.clips)]
        self.plan(*INSIDE, "--unit-seconds", "2000", rows=["uri,duration", *rows], name="list.csv")
        self.work("--jobs", "24", "--max-bad", "100", code=3)
        self.expect(done=4, quarantined=200)

    def test_shareOfStrangeVideosOnly_othersTellThatOptionsSuit(self):
        """Units go round the shares: of two the first one gets what is strange, of three each video that is in step."""
        for shares, strange in ((2, (0,)), (3, (0, 1))):
            with self.subTest(shares=shares):
                self.store = self.folder / f"shares-{shares}"
                rows = []
                for i, path in enumerate(self.small(60)):
                    if i % shares not in strange:
                        shutil.copy(self.clip, path)
                    rows.append(f"{path},{900 - i}")
                self.plan(*INSIDE, "--unit-seconds", "1", rows=["uri,duration", *rows], name="list.csv")
                bad = 60 // shares
                self.work("--shard", f"0/{shares}", "--max-bad", "100", code=3)
                self.expect(quarantined=bad, pending=60 - bad)
                self.assertEqual(self.left_over(), [])

    def test_shareOfAPlanThatNoVideoTakes_stopsTheWork(self):
        rows = [f"{path},{900 - i}" for i, path in enumerate(self.small(90))]
        self.plan(*INSIDE, "--unit-seconds", "1", rows=["uri,duration", *rows], name="list.csv")
        self.assertIn(" 70 tried: ", self.refused("--shard", "1/3", says="no video takes the plan's options, "))
        self.expect(pending=90)

    def test_unitOfAVideoThatTakesThem_isTheWayOut(self):
        rows = [f"{path},{200 - i}" for i, path in enumerate(self.small(100))]
        rows.insert(22, f"{self.clips[0]},178.5")  # behind the first ones, and none of those that are drawn
        self.plan(*INSIDE, "--unit-seconds", "1", rows=["uri,duration", *rows], name="list.csv")
        self.assertIn("--unit U", self.refused("--jobs", "1"))
        self.work("--unit", "00000022")
        self.work("--jobs", "1", "--max-bad", "100", code=3)
        self.expect(done=1, quarantined=100)

    def test_whatIsDoneInTheStore_tellsThatOptionsSuit(self):
        self.plan(*INSIDE, "--unit-seconds", "0.01", rows=[*self.small(1), *self.clips[:2]])
        self.refused("--unit", "00000000")
        self.work("--unit", "00000001")
        self.work("--unit", "00000000", code=3)
        self.work(code=3)
        self.expect(done=2, quarantined=1)

    def test_stagedUnit_isToldByMarkersBesideItsPlan(self):
        self.plan(*INSIDE, "--unit-seconds", "0.01", rows=[*self.small(1), *self.clips[:2]])
        local, stage = self.folder / "staged-local", self.folder / "staged"
        shutil.copytree(self.store / "plan", local / "plan")
        lines = (local / "plan/units.jsonl").read_text().splitlines(keepends=True)
        (local / "plan/units.jsonl").write_text(lines[0])
        facts = json.loads((local / "plan/plan.json").read_text())
        (local / "plan/plan.json").write_text(json.dumps({**facts, "units": 1, "items": 1, "in": 1}))
        self.refused("--unit", "00000000", "--staging", stage, store=local)
        self.work("--unit", "00000001")
        shutil.copytree(self.store / "commits", local / "commits")
        self.work("--unit", "00000000", "--staging", stage, store=local, code=3)
        marker = json.loads((stage / "commits/00000000.json").read_text())
        self.assertEqual(marker["classes"], {"input": 1})

    def test_dumpOfAManifest_stopsLikewise(self):
        done = saccade("dump", "--manifest", self.manifest(self.clips), "-o", self.store, "--backend", "cpu", "--vf", "crop=4000:4000")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(b"Invalid too big", done.stderr)
        self.expect(pending=4)

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

    def test_noVideoThatTheGpuDecodes_stopsBeforeAnyIsGivenUp(self):
        self.plan()
        error = self.work(code=2, env=self.undecodable("v0"))
        self.assertIn("no video takes the plan's options, 4 tried", error)
        self.expect(pending=4)

    def test_noDeviceAtAll_stopsWith69(self):
        self.plan("--hwdec", "cuda", "--require-hwdec")  # which asks for none
        done = saccade("work", self.store, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(b"--require-hwdec", done.stderr)
        self.expect(pending=4)


if __name__ == "__main__":
    unittest.main()
