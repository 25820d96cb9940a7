"""Work on a plan: the bytes of single dumps, shares, going on, staging, reports, `dump` with several jobs."""
import json
import os
import subprocess
import tarfile
import time
import unittest

import numpy as np
from work_support import WorkTest, ffmpeg, saccade, sha256, start
from patience import wait_for


class Work(WorkTest):
    def test_endOfWork_countsWhatWasShown(self):
        """Not what the plan supposed: with --json as `status` has it afterwards."""
        self.plan(rows=self.clips[:3])
        done = saccade("work", self.store, "--json", "--progress", "none")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        told, status = json.loads(done.stdout), self.status()
        self.assertGreater(told["media_s"], 0)
        for name in ("media_s", "frames", "done"):
            self.assertAlmostEqual(told[name], status[name], places=6, msg=name)

    def test_members_areTheBytesOfSingleDumps(self):
        self.plan("--rate", "8", rows=[self.clips[0]])
        self.work()
        self.expect(done=1)
        single = self.folder / "single"
        saccade("dump", self.clips[0], "-o", single, "--rate", "8", "--backend", "cpu")
        (row,) = self.lines("index").values()
        data = (self.store / row["shard"]).read_bytes()
        for name in ("index", "patches", "geometry", "changed"):
            member = row["members"]["index.bin" if name == "index" else f"{name}.npy"]
            bytes_of = data[member["offset"]:member["offset"] + member["bytes"]]
            self.assertEqual(bytes_of, (single / f"{name}.npy").read_bytes(), name)
            self.assertEqual(sha256(bytes_of), member["sha256"])
        mapped = np.memmap(self.store / row["shard"], np.uint8, "r", row["members"]["patches.npy"]["offset"] + 256)
        patches = np.load(single / "patches.npy")
        self.assertTrue(np.array_equal(mapped[:patches.size].reshape(patches.shape), patches))
        index = np.load(single / "index.npy")
        for name in index.dtype.names:
            column = self.array(row, name)
            self.assertEqual(column.dtype, index.dtype[name], name)
            self.assertTrue(np.array_equal(column, index[name]), name)

    def test_positions_areWhatPythonSays(self):
        self.plan("--lattice", "nested", rows=[self.clips[0]])
        self.work()
        (row,) = self.lines("index").values()
        geometry, frame, positions = (self.array(row, name) for name in ("geometry", "frame", "positions"))
        wide = geometry.astype(np.float64)
        self.assertEqual(positions.dtype, np.float32)
        self.assertTrue(np.array_equal(positions[..., 0], np.broadcast_to(frame[:, None], positions.shape[:2])))
        for axis, (column, size) in enumerate(((1, row["height_px"]), (0, row["width_px"]))):
            centre = wide[..., column] * size
            half = np.round(centre * 2) / 2
            near = np.abs(centre - half) <= np.abs(centre) * 2.0**-23
            expected = (np.where(near, half, centre) / row["patch_size"] - 0.5).astype(np.float32)
            self.assertTrue(np.array_equal(positions[..., 1 + axis], expected))
        self.assertTrue(np.array_equal(positions[..., 3], geometry[..., 2]))

    def test_shards_areReproducibleAndPlainTar(self):
        stores = [self.folder / "a", self.folder / "b"]
        for store, options in zip(stores, (["--jobs", "1"], ["--jobs", "3", "--set", "workers-per-gpu=2"])):
            self.plan("--unit-seconds", "1", store=store)
            self.work(*options, store=store)
            self.expect(store, done=self.count)
        self.assertEqual(self.shard_hashes(stores[0]), self.shard_hashes(stores[1]))
        self.assertGreater(len(self.shard_hashes(stores[0])), 1)
        for marker in self.markers(stores[0]):
            path = stores[0] / marker["shard"]["name"]
            self.assertEqual(sha256(path.read_bytes()), marker["shard"]["sha256"])
            listed = subprocess.run(["tar", "tf", path], check=True, capture_output=True, text=True).stdout.split()
            self.assertEqual([name.split(".", 1)[1] for name in listed[:12]],
                             ["json", "index.bin", "frame.npy", "pts_ns.npy", "fix_u.npy", "fix_v.npy", "in_flight.npy",
                              "damaged_tiles.npy", "patches.npy", "geometry.npy", "changed.npy", "positions.npy"])
            with tarfile.open(path) as tar:
                self.assertEqual({(m.mtime, m.uid, m.gid, m.mode, m.uname) for m in tar}, {(0, 0, 0, 0o644, "")})

    def test_segments_areDumpsOfThatRange(self):
        video = self.folder / "long.mp4"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=128x96:rate=24:duration=3", "-c:v", "libx264", "-g", "30", "-bf", "2",
               "-pix_fmt", "yuv420p", video)
        self.plan("--segment", "0.7", "--every", "frame", rows=[video])
        self.work()
        rows = sorted(self.lines("index").values(), key=lambda row: row["piece"])
        self.assertEqual(len(rows), 4)
        self.assertEqual(sum(row["frames"] for row in rows), 72)
        for row in rows:
            one = self.folder / f"piece{row['piece']}"
            end = [] if row["end"] is None else ["--duration", f"{row['end'] - row['start']:.9f}"]
            saccade("dump", video, "-o", one, "--start", row["start"], *end, "--every", "frame", "--backend", "cpu")
            for name, file in (("patches.npy",) * 2, ("index.bin", "index.npy"), ("changed.npy",) * 2, ("geometry.npy",) * 2):
                self.assertEqual(row["members"][name]["sha256"], sha256((one / file).read_bytes()), name)

    def test_shard_isWhereItBegins(self):
        self.plan("--unit-seconds", "0.1")
        self.work("--set", "shard=2/3", "--jobs", "1", env=self.faults("none@none", SACCADE_OPENED=str(self.folder / "begins")))
        self.expect(done=self.count)
        begun = [os.path.basename(line) for line in (self.folder / "begins").read_text().splitlines()]
        items = [json.loads(line) for line in (self.store / "plan/items.jsonl").read_text().splitlines()]
        self.assertEqual(begun[0], os.path.basename(items[8]["uri"]))
        for text in ("3/3", "x", "1/", "/2", "-1/2", "auto", "1/0"):
            self.assertIn("is not I/N", self.work("--set", f"shard={text}", code=2, store=self.fresh(text)))

    def fresh(self, name):
        store = self.folder / f"fresh-{name.replace('/', '-')}"
        self.plan(store=store)
        return store

    def test_planThatWasChanged_isRefused(self):
        self.plan("--unit-seconds", "0.1", rows=self.clips[:3])
        self.work()
        for unit in (1, 2):
            (self.store / f"commits/0000000{unit}.json").unlink()
        for name, old, new in (("items.jsonl", '"start":0', '"start":1'), ("units.jsonl", '"media_s":', '"media_s":1'),
                               ("plan.json", '"rate": "4"', '"rate": "5"')):
            path = self.store / "plan" / name
            whole = path.read_text()
            self.assertIn(old, whole)
            path.write_text(whole.replace(old, new))
            self.assertIn("plan again", self.work(code=2))
            done = saccade("verify", self.store)
            self.assertEqual((done.returncode, b"plan again" in done.stderr), (1, True), done.stderr)
            done = saccade("retry", self.store, "-o", self.folder / "retried")
            self.assertEqual((done.returncode, b"plan again" in done.stderr), (2, True), done.stderr)
            self.assertEqual(len(self.markers()), 1)
            path.write_text(whole)
        self.work()
        self.expect(done=3)

    def test_cores_boundHowManyRunAtOnce(self):
        self.plan()
        for cores in (1, 3):
            run = start("work", self.store, "--cores", cores, env=self.faults("hang@v"))
            begun = lambda: len({path.parent for path in self.store.glob("attempts/*/*/*")})  # noqa: E731
            wait_for(lambda: begun() >= cores)
            time.sleep(0.5)
            self.assertEqual(begun(), cores)
            run.kill()
            run.communicate()
            saccade("gc", self.store)

    def test_optionsThatDoNotApply_areRefused(self):
        self.plan(rows=self.clips[:1])
        self.assertIn("backend is cpu", self.work("--gpus", "0", code=2))
        for option in (["--set", "shard=0/2"], ["--segment", "2"], ["--unit-seconds", "2"], ["--set", "unit-bytes=2"]):
            done = saccade("dump", self.clips[0], "-o", self.folder / "d", *option)
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--manifest", done.stderr)

    def test_again_doesNothing(self):
        self.plan()
        self.work()
        before = {path: path.stat().st_mtime_ns for path in self.store.rglob("*") if path.is_file()}
        self.work()
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.store.rglob("*") if path.is_file()})

    def test_twoDriversAtOnce_eachUnitOnce(self):
        self.plan("--unit-seconds", "0.1")
        runs = [start("work", self.store), start("work", self.store)]
        for run in runs:
            _, error = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, error)
        self.expect(done=self.count)
        self.assertEqual(len(list((self.store / "shards").iterdir())), self.count)
        self.assertEqual(self.left_over(), [])

    def test_secretsOfUris_standInThePlanAlone(self):
        self.plan(rows=["http://me:geheim@127.0.0.1:9/a.mp4?token=geheim", self.clips[0]])
        items = map(json.loads, (self.store / "plan/items.jsonl").read_text().splitlines())
        (key,) = (item["key"] for item in items if "geheim" in item["uri"])
        for options, code in ((), 1), (("--gone", key), 3):
            self.assertNotIn("geheim", self.work(*options, code=code))
        (row,) = self.lines("quarantine").values()
        self.assertEqual(row["class"], "io")
        for path in self.store.rglob("*"):
            if path.is_file() and path.parent.name != "plan":
                self.assertNotIn(b"geheim", path.read_bytes(), path)
        again = self.folder / "again-secret"
        self.assertEqual(saccade("retry", self.store, "-o", again).returncode, 0)
        self.assertIn("me:geheim@", (again / "plan/items.jsonl").read_text())

    def test_dumpOfAManifest_isPlanAndWork(self):
        path = self.manifest(self.clips)
        done = saccade("dump", "--manifest", path, "-o", self.store, "--set", "shard=0/1", "--backend", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect(done=self.count)
        done = saccade("dump", "--manifest", path, "-o", self.store, "--backend", "cpu", "--rate", "9")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"--rate 4 there, 9 here", done.stderr)

    def test_reports_asJsonAndForPrometheus(self):
        self.plan()
        metrics = self.folder / "metrics.prom"
        text = self.work("--progress", "json", "--set", f"metrics={metrics}")
        last = json.loads(text.strip().splitlines()[-1])
        self.assertTrue(last["last"])
        self.assertEqual((last["done"], last["pending"], last["frames"]), (self.count, 0, 20 * self.count))
        lines = metrics.read_text().splitlines()
        self.assertIn(f"saccade_videos_done {self.count}", lines)
        self.assertIn("# TYPE saccade_frames gauge", lines)

    def test_renewedWorkers_loseNothing(self):
        for options in (["--set", "renew-after=2"], ["--set", "max-rss=1"]):
            store = self.folder / f"renew{options[1]}"
            self.plan(store=store)
            self.work(*options, store=store)
            self.expect(store, done=self.count)



class Jobs(WorkTest):
    def dumps(self, out):
        return {path.relative_to(out): sha256(path.read_bytes()) for path in out.rglob("*.npy")}

    def test_severalAtOnce_theBytesOfOneByOne(self):
        bad = self.folder / "bad.mp4"
        bad.write_bytes(b"no video" * 100)
        inputs = [*self.clips[:6], bad, *self.clips[6:]]
        codes = []
        for out, jobs in ((self.folder / "one", []), (self.folder / "three", ["--jobs", "3"])):
            done = saccade("dump", *inputs, "-o", out, "--backend", "cpu", *jobs)
            codes.append(done.returncode)
            self.assertIn(b"bad.mp4: ", done.stderr)
            self.assertEqual(len(done.stdout.splitlines()), self.count)
        self.assertEqual(codes, [3, 3])
        self.assertEqual(self.dumps(self.folder / "one"), self.dumps(self.folder / "three"))
        self.assertEqual(len(self.dumps(self.folder / "one")), 4 * self.count)

    def test_manyKindsInAnyOrder_theBytesOfSingleDumps(self):
        """What one video leaves in its slot is never seen in the next one's bytes."""
        kinds = self.kinds()
        single, options = {}, ["--backend", "cpu", "--every", "frame", "--threads", "1"]  # FFmpeg mends damage by its threads
        for name, path in kinds.items():
            done = saccade("dump", path, "-o", self.folder / "single" / name, *options)
            self.assertEqual(done.returncode, 3 if name == "cut" else 0, done.stderr)
            single[name] = self.dumps(self.folder / "single" / name)
        forth = list(kinds)
        for run, order in enumerate((forth, forth[::-1], forth[::2] + forth[1::2])):
            out = self.folder / f"order{run}"
            done = saccade("dump", *(kinds[name] for name in order), "-o", out, "--jobs", "2", *options)
            self.assertEqual(done.returncode, 3, done.stderr)
            for name in order:
                self.assertEqual(self.dumps(out / f"{name}{kinds[name].suffix}"), single[name], name)

    def kinds(self):
        """Videos of one size that differ in all else, and some of another size."""
        folder = self.folder / "kinds"
        folder.mkdir()

        def made(name, *options, size="128x96"):
            path = folder / name
            ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate=20:duration=1,noise=alls=8:allf=t", *options, path)
            return path

        x264 = ("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
        kinds = {
            "plain": made("plain.mp4", *x264),
            "b": made("b.mp4", *x264, "-bf", "3", "-x264-params", "open-gop=1:keyint=8"),
            "fields": made("fields.mp4", *x264, "-flags", "+ildct+ilme", "-x264-params", "tff=1"),
            "deep": made("deep.mp4", *x264[:4], "-pix_fmt", "yuv420p10le"),
            "full": made("full.mp4", *x264, "-color_range", "pc", "-colorspace", "bt709"),
            "small": made("small.mp4", *x264, size="96x64"),
            "hevc": made("hevc.mp4", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-pix_fmt", "yuv420p"),
            "vp9": made("vp9.webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-pix_fmt", "yuv420p"),
            "rgb": made("rgb.mkv", "-c:v", "ffv1", "-pix_fmt", "gbrp"),
        }
        kinds["rotated"] = folder / "rotated.mp4"
        ffmpeg("-i", kinds["plain"], "-c", "copy", "-metadata:s:v", "rotate=90", kinds["rotated"])
        transport = folder / "cut.ts"
        ffmpeg("-i", kinds["b"], "-c", "copy", transport)
        data = bytearray(transport.read_bytes())
        for at in range(len(data) // 3, len(data) * 2 // 3, 1000):
            data[at:at + 40] = bytes(40)
        transport.write_bytes(data)
        kinds["cut"] = transport
        return kinds

    def test_oneThatEndsEarly_doesNotEndTheOthers(self):
        out = self.folder / "early"
        done = saccade("dump", *self.clips, "-o", out, "--jobs", "4", "--frames", "3", "--every", "frame")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = [json.loads(path.read_text())["frames"] for path in out.glob("*/manifest.json")]
        self.assertEqual(frames, [3] * self.count)

    def test_resume_skipsWhatIsThere(self):
        out = self.folder / "resumed"
        saccade("dump", self.clips[0], self.clips[1], "-o", out, "--jobs", "2")
        done = saccade("dump", *self.clips, "-o", out, "--jobs", "2", "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(b"already complete"), 2)

    def test_interrupted_code4AndNothingHangs(self):
        run = start("dump", *self.clips, "-o", self.folder / "cut", "--jobs", "2", "--loop")
        wait_for(lambda: list((self.folder / "cut").glob("*/patches.npy")))
        run.terminate()
        _, error = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 4, error)
        self.assertEqual(list((self.folder / "cut").glob("*/manifest.json")), [])

    def test_fullDisk_oneLineAndCode1(self):
        done = saccade("dump", *self.clips, "-o", self.folder / "full", "--jobs", "2", env=self.faults("enospc@full"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(b"No space left", done.stderr)


if __name__ == "__main__":
    unittest.main()
