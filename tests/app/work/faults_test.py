"""Each row of docs/SCALE.md's table of what happens: poison, hangs, networks, kills, full disks; counts that add up."""
import json
import os
import signal
import time
import unittest

from work_support import WorkTest, alive, ffmpeg, saccade, start, workers_of
from patience import PATIENCE, wait_for

QUICK = ("--set", f"frame-timeout={1.5 * PATIENCE}", "--set", "video-timeout=60")


class Poison(WorkTest):
    count = 60

    def test_crashes_onlyThePoisonIsGivenUp(self):
        poison = ("v05", "v06", "v17", "v30", "v31", "v59")
        kinds = ("segv", "segv", "abort", "leave", "exit", "segv")
        self.plan("--unit-seconds", "5")
        self.work(code=3, env=self.faults(",".join(f"{kind}@{name}.mp4" for kind, name in zip(kinds, poison))))
        self.expect(done=54, quarantined=6)
        given_up = {os.path.basename(row["uri"])[:3]: row for row in self.lines("quarantine").values()}
        self.assertEqual(set(given_up), set(poison))
        self.assertEqual({row["class"] for row in given_up.values()}, {"crash"})
        self.assertEqual([given_up[name]["signal"] for name in ("v05", "v17")], [11, 6])
        self.assertEqual([given_up[name]["exit"] for name in ("v30", "v31")], [7, 7])
        self.assertEqual({row["attempts"] for row in given_up.values()}, {2})
        self.assertIn("signal 11", given_up["v05"]["line"])
        self.assertEqual(self.left_over(), [])

    def test_hang_isGivenUpAfterASecondTryAlone(self):
        self.plan(rows=self.clips[:8])
        self.work(*QUICK, code=3, env=self.faults("hang@v02,stuck@v03"))
        self.expect(done=6, quarantined=2)
        rows = self.lines("quarantine")
        self.assertEqual({os.path.basename(row["uri"]) for row in rows.values()}, {"v02.mp4", "v03.mp4"})
        self.assertEqual({(row["class"], row["attempts"]) for row in rows.values()}, {("timeout", 2)})

    def test_fileThatGivesFrames_isNotGivenUpByItsBytes(self):
        """40 s of one colour in a few bytes, planned as less than a tenth of a second, and slow to be done."""
        small = self.folder / "small.mp4"
        ffmpeg("-f", "lavfi", "-i", "color=gray:size=160x90:rate=25:duration=40", "-c:v", "libx264", "-preset", "ultrafast",
               "-g", "5000", "-pix_fmt", "yuv420p", small)
        self.plan("--vf", "scale=3840:2160:flags=lanczos,scale=320:180", rows=[small])
        self.work("--set", "video-timeout=1")
        self.expect(done=1)

    def test_badInput_isGivenUpAtOnce(self):
        bad = self.folder / "bad.mp4"
        bad.write_bytes(b"no video" * 100)
        self.plan(rows=[*self.clips[:3], bad, self.folder / "missing.mp4"])
        self.work(code=3)
        self.expect(done=3, quarantined=2)
        rows = self.lines("quarantine").values()
        for row in rows:
            self.assertEqual((row["exit"], row["signal"]), (65, None))
            self.assertTrue(row["host"])
            self.assertIn(row["uri"], row["line"])
        self.assertEqual(sorted((row["class"], row["attempts"]) for row in rows), [("input", 1), ("missing", 2)])

    def test_damagedInput_isDoneAndCounted(self):
        cut = self.folder / "cut.ts"
        ffmpeg("-i", self.clip, "-c", "copy", cut)
        data = bytearray(cut.read_bytes())
        data[len(data) // 3:len(data) // 3 + 600] = bytes(600)
        cut.write_bytes(data)
        self.plan(rows=[self.clips[0], cut])
        self.work(code=3)
        self.expect(done=1, damaged=1)
        row = next(row for row in self.lines("index").values() if row["uri"].endswith("cut.ts"))
        self.assertTrue(row["damaged"])
        self.assertTrue(row["damage"])

    def test_damagedSuspect_keepsItsBytes(self):
        """With several threads FFmpeg mends damage by chance: alone it has as many as beside others, here one."""
        whole, cut = self.folder / "long.ts", self.folder / "mended.ts"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=8,noise=alls=8:allf=t", "-c:v", "libx264",
               "-preset", "ultrafast", "-bf", "2", "-pix_fmt", "yuv420p", whole)
        data = bytearray(whole.read_bytes())
        for at in range(len(data) // 3, len(data) * 2 // 3, 3000):
            data[at:at + 40] = bytes(40)
        cut.write_bytes(data)
        hashes = []
        for name, faults in (("calm", ""), ("suspect", "leave@v01")):
            store = self.folder / name
            self.plan("--every", "frame", rows=[cut, self.clips[1]], store=store)
            self.work("--jobs", "2", "--cores", "2", code=3, store=store, env=self.faults(faults))
            row = next(row for row in self.lines("index", store).values() if row["uri"].endswith("mended.ts"))
            self.assertTrue(row["damaged"])
            hashes.append(row["members"]["patches.npy"]["sha256"])
        self.assertEqual(self.status(self.folder / "suspect")["classes"], {"crash": 1})
        self.assertEqual(hashes[0], hashes[1])

    def test_io_threeTriesAndOneMoreOnceItsFolderWasRead(self):
        self.plan(rows=self.clips[:4])
        begin = time.monotonic()
        self.work(code=3, env=self.faults("eio@v01,eio2@v02"))
        self.assertGreater(time.monotonic() - begin, 4)  # it waits between tries
        self.expect(done=3, quarantined=1)
        (row,) = self.lines("quarantine").values()
        self.assertEqual((row["class"], row["attempts"]), ("io", 4))
        self.assertEqual(self.status()["classes"], {"io": 1})

    def test_nameThatReadsLikeAFault_saysNothing(self):
        bad = self.folder / "Broken pipe.mp4"
        bad.write_bytes(b"no video" * 100)
        self.plan(rows=[self.clips[0], bad])
        self.work(code=3)
        (row,) = self.lines("quarantine").values()
        self.assertEqual(row["class"], "input")
        self.assertIn("Broken pipe.mp4", row["line"])

    def test_retry_plansTheClassesAgain(self):
        bad = self.folder / "bad2.mp4"
        bad.write_bytes(b"no video" * 100)
        self.plan(rows=[*self.clips[:3], bad])
        self.work(code=3, env=self.faults("segv@v01"))
        again = self.folder / "again"
        done = saccade("retry", self.store, "-o", again, "--class", "crash,io")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.work(store=again)
        self.expect(again, done=1)
        self.assertEqual(set(self.lines("index", again)), {key for key, row in self.lines("quarantine").items() if row["class"] == "crash"})
        self.assertEqual(saccade("retry", self.store, "-o", self.folder / "none", "--class", "timeout").returncode, 0)
        self.assertFalse((self.folder / "none").exists())
        (lines,) = (self.store / "quarantine").iterdir()
        lines.write_text(lines.read_text().splitlines()[0] + "\n")
        done = saccade("retry", self.store, "-o", self.folder / "short")
        self.assertEqual(done.returncode, 2)
        self.assertIn(lines.name.encode(), done.stderr)

    def test_fullDisk_stopsAndGoesOn(self):
        for i, where in enumerate(("patches.npy", ".tar", "index")):
            with self.subTest(where=where):
                store = self.folder / f"full-{i}"
                self.plan(rows=self.clips[:6], store=store)
                text = self.work(code=1, store=store, env=self.faults(f"enospc@{where}"))
                self.assertIn("No space left", text)
                self.assertEqual(len([line for line in text.splitlines() if "stopped" in line]), 1, text)
                self.expect(store, pending=6)
                self.work(store=store)
                self.expect(store, done=6)

    def test_tooManyBad_stops(self):
        many = self.folder / "many"
        many.mkdir(exist_ok=True)
        rows = []
        for i in range(160):
            (many / f"b{i:03}.mp4").write_bytes(b"no video" * 100)
            rows.append(many / f"b{i:03}.mp4")
        self.plan(rows=rows)
        self.assertIn("is the installation broken?", self.work(code=1))
        self.assertEqual(self.status()["quarantined"], 0)
        done = saccade("dump", "--manifest", self.manifest(rows, "again.txt"), "-o", self.folder / "bad-dump", "--backend", "cpu")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn(b"more than --max-bad", done.stderr, "which `dump` has not")
        self.assertIn(f"`saccade work {self.folder}/bad-dump --max-bad 100` goes on".encode(), done.stderr)
        self.work("--max-bad", "100", store=self.folder / "bad-dump", code=3)

    def test_otherPlan_isRefused(self):
        self.plan("--unit-seconds", "1", rows=self.clips[:4])
        self.work()
        other = self.folder / "otherplan"
        self.plan("--rate", "9", "--unit-seconds", "1", rows=self.clips[:4], store=other)
        marker = self.store / "commits/00000000.json"
        (other / "commits").mkdir()
        (other / "commits/00000000.json").write_bytes(marker.read_bytes())
        self.assertIn("of another plan", self.work(store=other, code=2))
        self.assertFalse(self.status(other, code=1)["adds_up"])


class Kills(WorkTest):
    count = 60

    def plain(self):
        """The shards of a run that nothing disturbs."""
        store = self.folder / "plain"
        if not store.exists():
            self.plan("--unit-seconds", "2", store=store)
            self.work(store=store)
        return self.shard_hashes(store)

    def test_workerKilled_nothingIsLost(self):
        wanted = self.plain()
        self.plan("--unit-seconds", "2")
        run = start("work", self.store)
        for share in (0.3, 0.6, 0.9):
            wait_for(lambda share=share: run.poll() is not None or len(self.markers()) >= share * len(wanted))
            for worker in workers_of(run.pid):
                os.kill(worker, signal.SIGKILL)
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, error)
        self.expect(done=self.count)
        self.assertEqual(self.shard_hashes(), wanted)

    def test_driverKilled_workersDieAndTheRestGoesOn(self):
        wanted = self.plain()
        self.plan("--unit-seconds", "2")
        for share in (0.3, 0.6, 0.9):
            before = len(self.markers())
            run = start("work", self.store)
            wait_for(lambda share=share: run.poll() is not None or len(self.markers()) >= share * len(wanted))
            workers = workers_of(run.pid)
            run.kill()
            run.communicate()
            wait_for(lambda workers=workers: not any(map(alive, workers)))
            self.assertGreaterEqual(len(self.markers()), before)
            self.status()
        self.work()
        self.expect(done=self.count)
        self.assertEqual(self.shard_hashes(), wanted)
        self.assertEqual(self.left_over(), [])

    def test_workerStopped_itsVideosRunAgain(self):
        self.plan("--unit-seconds", "2", rows=self.clips[:20])
        run = start("work", self.store, "--set", f"frame-timeout={PATIENCE}")
        wait_for(self.markers)
        for worker in workers_of(run.pid):
            os.kill(worker, signal.SIGSTOP)
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, error)
        self.expect(done=20)

    def test_driverStopped_thatTimeCountsAgainstNobody(self):
        self.plan("--unit-seconds", "2", rows=self.clips[:20])
        run = start("work", self.store, "--set", f"frame-timeout={3 * PATIENCE}")
        wait_for(self.markers)
        workers = workers_of(run.pid)
        for process in (run.pid, *workers):
            os.kill(process, signal.SIGSTOP)
        time.sleep(6)
        for process in (*workers, run.pid):
            os.kill(process, signal.SIGCONT)
        _, error = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, error)
        self.expect(done=20)

    def test_terminated_code4AndNothingIsLeft(self):
        self.ended(lambda run: run.terminate())

    def test_itsTerminalCloses_code4AndNothingIsLeft(self):
        """The workers get SIGHUP, too."""
        self.ended(lambda run: os.killpg(run.pid, signal.SIGHUP))

    def ended(self, end):
        self.plan("--unit-seconds", "2")
        run = start("work", self.store, start_new_session=True)
        wait_for(lambda: len(self.markers()) >= 2)
        workers = workers_of(run.pid)
        end(run)
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, error)
        self.assertIn(b"goes on where it was left", error)
        self.assertFalse(any(map(alive, workers)))
        self.assertEqual(self.left_over(), [])
        self.work()
        self.expect(done=self.count)

    def test_gc_removesOrphansAlone(self):
        self.plan("--unit-seconds", "2", rows=self.clips[:8])
        self.work()
        before = self.shard_hashes()
        for folder, name in (("shards", "00000000.aaaaaaaaaaaa.tar"), ("index", "00000000.aaaaaaaaaaaa.jsonl"),
                             ("quarantine", "x.jsonl")):
            (self.store / folder).mkdir(exist_ok=True)
            (self.store / folder / name).write_text("x")
        (self.store / "attempts/elsewhere.1.1").mkdir()
        saccade("gc", self.store)  # they are young
        self.assertTrue((self.store / "index/00000000.aaaaaaaaaaaa.jsonl").exists())
        done = saccade("gc", self.store, "--older-than", "0", "--json")
        self.assertEqual({name: json.loads(done.stdout)[name] for name in ("attempts", "files")}, {"attempts": 1, "files": 3})
        self.expect(done=8)
        self.assertEqual(self.shard_hashes(), before)

    def test_gc_besideWork_leavesWhatMayGetItsMarker(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:8])
        run = start("work", self.store, env=self.faults("hang@v07"))
        wait_for(self.markers)
        orphan = self.store / "shards/00000007.aaaaaaaaaaaa.tar"
        orphan.write_text("x")
        committed = self.store / "shards" / f"{self.markers()[0]['unit']}.aaaaaaaaaaaa.tar"
        committed.write_text("x")
        self.assertEqual(saccade("gc", self.store, "--older-than", "0").returncode, 0)
        self.assertEqual((orphan.exists(), committed.exists()), (True, False))
        run.kill()
        run.communicate()
        self.assertEqual(saccade("gc", self.store, "--older-than", "0").returncode, 0)
        self.assertFalse(orphan.exists())
        self.work()
        self.expect(done=8)

    def test_gc_againAndAgainBesideWork_losesNothing(self):
        self.plan("--unit-seconds", "0.1")
        run = start("work", self.store)
        wait_for(self.markers)
        slow = self.faults("none@none", SACCADE_PROCESS_FAULT="slow")  # units get their markers while it looks
        while run.poll() is None:
            self.assertEqual(saccade("gc", self.store, "--older-than", "0", env=slow).returncode, 0)
        run.communicate()
        self.expect(done=self.count)

    def test_verify_seesWhatChanged(self):
        self.plan(rows=self.clips[:3])
        self.work()
        marker = self.markers()[0]
        for part in ("shard", "index"):
            path = self.store / marker[part]["name"]
            whole = path.read_bytes()
            for broken in (whole[:-1], whole[:600] + bytes([whole[600] ^ 1]) + whole[601:]):
                path.write_bytes(broken)
                done = saccade("verify", self.store)
                self.assertEqual(done.returncode, 1)
                self.assertIn(path.name.encode(), done.stderr)
            path.unlink()
            self.assertEqual(saccade("verify", self.store).returncode, 1)
            path.write_bytes(whole)
        self.expect(done=3)

    def test_verify_saysTheWayBack(self):
        self.plan(rows=self.clips[:3])
        self.work()
        marker = self.markers()[0]
        (self.store / marker["shard"]["name"]).write_bytes(b"damaged")
        done = saccade("verify", self.store)
        self.assertIn(b"remove commits/UNIT.json of such a unit, and `work` does it again", done.stderr)
        (self.store / f"commits/{marker['unit']}.json").unlink()
        self.work()
        self.expect(done=3)

    def test_status_damagedMarkersDoNotAddUp(self):
        self.plan(rows=self.clips[:3])
        self.work()
        path = self.store / "commits/00000000.json"
        marker = json.loads(path.read_text())
        marker.pop("check")  # as of an earlier version: what it says is compared
        for text in ("", "{", json.dumps({**marker, "done": 2}), json.dumps({**marker, "items": 4}),
                     json.dumps({**marker, "plan": "x"}), json.dumps({**marker, "unit": "00000001"})):
            path.write_text(text)
            self.assertFalse(self.status(code=1)["adds_up"])

    def test_damagedMarkers_areToBeRemoved(self):
        self.plan(rows=self.clips[:3])
        self.work()
        path = self.store / "commits/00000000.json"
        whole = path.read_bytes()
        changed = whole.replace(b'"frames": ', b'"frames": 1')  # 1 in front
        for broken in (b"", b"{", whole[:-9], b'{"format": 1}', changed):
            with self.subTest(marker=broken):
                path.write_bytes(broken)
                said = self.work(code=2)
                for command in ("status", "verify"):
                    done = saccade(command, self.store)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    said += done.stderr.decode()
                self.assertEqual(said.count("00000000.json"), 3, said)
                self.assertEqual(said.count("is damaged or cut short; remove it, and `work` does the unit again"), 3, said)
                self.assertNotIn("plan again", said)
        path.unlink()
        self.work()
        self.expect(done=3)

    def test_workerThatIsFedNonsense_isAUsageError(self):
        first = {"options": {}, "origins": {}, "jobs": 1, "share": 1, "cores": 1, "device": -1, "beat_s": 1}
        for text in ("{}", "[]", "nonsense", json.dumps({**first, "jobs": "x"}), json.dumps({**first, "options": 3}), json.dumps(first) + "\n{}",
                     json.dumps(first) + "\nx", json.dumps(first) + '\n{"item": {}, "path": "a", "dir": "b"}'):
            with self.subTest(text=text):
                done = saccade("worker", stdin=None, input=text.encode() + b"\n")
                self.assertEqual((done.returncode, done.stderr), (2, b"saccade: worker: is run by `saccade work`, which feeds it\n"))


if __name__ == "__main__":
    unittest.main()
