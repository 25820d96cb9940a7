"""What a store says of itself: counts that `verify` compares, stores that lack their markers, `gc`, inputs that changed."""
import hashlib
import json
import os
import shutil
import unittest

from work_support import WorkTest, saccade, sha256


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def plan_hash(plan):
    """As docs/STORE.md says it."""
    facts = json.loads((plan / "plan.json").read_text())
    files = [sha256((plan / f"{name}.jsonl").read_bytes()) for name in ("items", "units")]
    text = "\n".join(["saccade-plan 1", *files, compact(facts["options"]), compact(facts["settings"]), ""])
    return hashlib.sha256(text.encode()).hexdigest()


class Store(WorkTest):
    count = 4

    def setUp(self):
        super().setUp()
        for path in self.clips:
            shutil.copy2(self.clip, path)

    def run_code(self, *command):
        done = saccade(*command)
        return done.returncode, (done.stdout + done.stderr).decode()

    def files(self):
        return {path.relative_to(self.store): sha256(path.read_bytes()) for path in sorted(self.store.rglob("*")) if path.is_file()}


class Counts(Store):
    def setUp(self):
        super().setUp()
        (self.folder / "none.mp4").write_bytes(b"no video" * 100)
        self.plan(rows=[*self.clips[:2], self.folder / "none.mp4"])
        self.work(code=3)
        self.marker = self.store / "commits/00000000.json"

    def test_marker_endsInAHashOfWhatStandsBefore(self):
        whole = self.marker.read_bytes()
        self.assertEqual(json.loads(whole)["check"], sha256(whole[:whole.rindex(b'"check"')]))

    def test_changedByte_ofAMarker_isSeen(self):
        whole = self.marker.read_bytes()
        for what in (b'"frames": ', b'"emissions": ', b'"media_s": ', b'"input": ', b'"engine": "', b'"host": "', b'"wall_s": ', b'"unix_s": '):
            changed = bytearray(whole)
            changed[whole.index(what) + len(what)] ^= 8
            self.marker.write_bytes(changed)
            for command in ("verify", "status"):
                with self.subTest(what=what, command=command):
                    self.assertEqual(self.run_code(command, self.store)[0], 1)
        self.marker.write_bytes(whole)
        self.assertEqual(self.run_code("verify", self.store)[0], 0)

    def test_counts_ofAMarkerOfAnEarlierVersion_areCompared(self):
        """It has no hash of its own."""
        marker = json.loads(self.marker.read_text())
        marker.pop("check")
        index = self.lines("index").values()
        truth = {"frames": sum(row["frames"] for row in index), "emissions": sum(row["emissions"] for row in index), "damaged": 0}
        self.assertEqual({name: marker[name] for name in truth}, truth)
        for wrong in (*({name: count + 1} for name, count in truth.items() if name != "damaged"), {"media_s": marker["media_s"] + 0.01},
                      {"done": 1, "damaged": 1}, {"classes": {"io": 1}}, {"classes": {}}, {"frames": None}, {"emissions": "5"}):
            with self.subTest(wrong=wrong):
                self.marker.write_text(json.dumps({**marker, **wrong}))
                code, said = self.run_code("verify", self.store)
                self.assertEqual(code, 1)
                name = next(iter(set(wrong) - {"done"}))
                self.assertIn(f"unit 00000000: the marker says {name} {compact(wrong[name])}, its files ", said)
        self.marker.write_text(json.dumps(marker))
        self.assertEqual(self.run_code("verify", self.store)[0], 0)

    def test_changedPlan_isSaidAlone(self):
        """Markers are judged by it: of them nothing is said."""
        for name, at in (("units.jsonl", 12), ("items.jsonl", 30)):
            path = self.store / "plan" / name
            whole = path.read_bytes()
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            for command in ("status", "verify", "gc"):
                code, said = self.run_code(command, self.store)
                if (command, name) in (("status", "items.jsonl"), ("gc", "items.jsonl")):  # these need no items
                    continue
                with self.subTest(name=name, command=command):
                    self.assertEqual(code, 2 if command == "gc" else 1)
                    self.assertIn("were changed after `plan`", said)
                    self.assertNotIn("commits/", said)
            path.write_bytes(whole)


class Markers(Store):
    def setUp(self):
        super().setUp()
        self.plan("--unit-seconds", "0.1")
        self.work()
        for path in self.store.rglob("*"):
            os.utime(path, (0, 0))

    def refused(self, words, *commands):
        before = self.files()
        for command in commands:
            with self.subTest(command=command):
                code, said = self.run_code(*command)
                self.assertEqual(code, 1, said)
                self.assertIn(words, said)
        self.assertEqual(self.files(), before)

    def test_storeWithoutTheFolderOfMarkers_isNotEmpty(self):
        (self.store / "commits").rename(self.folder / f"{self.store.name}-away")
        self.refused("commits: there is no such folder, but shards, index or quarantine beside it hold files",
                     *((command, self.store) for command in ("status", "verify", "gc", "work")), ("retry", self.store, "-o", self.folder / "other"))
        (self.folder / f"{self.store.name}-away").rename(self.store / "commits")
        self.expect(done=4)

    def test_folderOfMarkers_thatIsNoFolder(self):
        (self.store / "commits").rename(self.folder / f"{self.store.name}-away")
        (self.store / "commits").write_bytes(b"")
        self.refused("commits: could not be read: Not a directory", *((command, self.store) for command in ("status", "verify", "gc", "work")))

    def test_gc_stopsWhereNoMarkerIs(self):
        shutil.rmtree(self.store / "commits")
        (self.store / "commits").mkdir()
        self.refused("but no marker: is commits/ that of this store? Nothing was removed", ("gc", self.store), ("gc", self.store, "--older-than", "0"))
        self.assertEqual(self.status()["pending"], 4)
        self.work()
        self.expect(done=4)

    def test_gc_dryRun_saysWhatGcRemoves(self):
        orphans = [self.store / "shards/00000000.aaaaaaaaaaaa.tar", self.store / "index/00000009.aaaaaaaaaaaa.jsonl"]
        for path in orphans:
            path.write_bytes(b"left")
        attempt = self.store / "attempts/elsewhere.1.1"
        attempt.mkdir()
        (self.store / "plan.elsewhere.1.1.tmp").mkdir()
        before, options = self.files(), ("--older-than", "0")
        _, said = self.run_code("gc", self.store, "--dry-run", *options)
        self.assertEqual(said.splitlines(), [*sorted(map(str, orphans), reverse=True), f"{self.store}: would remove 1 attempt and 2 files (0.0 MB)"])
        _, json_said = self.run_code("gc", self.store, "--dry-run", "--json", *options)
        self.assertEqual((self.files(), attempt.is_dir()), (before, True))
        self.assertEqual(self.run_code("gc", self.store, "--json", *options), (0, json_said))
        self.assertEqual(set(before) - set(self.files()), {path.relative_to(self.store) for path in orphans})
        self.assertFalse(attempt.exists())
        self.expect(done=4)


class Inputs(Store):
    def given_up(self):
        return {os.path.basename(row["uri"]): (row["class"], row["line"]) for row in self.lines("quarantine").values()}

    def test_identity_isSizeAndTime(self):
        self.plan()
        for line in map(json.loads, (self.store / "plan/items.jsonl").read_text().splitlines()):
            facts = os.stat(line["uri"])
            self.assertEqual(line["input"], {"bytes": facts.st_size, "mtime_ns": facts.st_mtime_ns})
        self.work()
        self.expect(done=4)
        for row in self.lines("index").values():
            self.assertNotIn("input", row)

    def test_otherSize_isGivenUp_whateverItGives(self):
        self.plan()
        size = self.clip.stat().st_size
        with open(self.clips[0], "ab") as longer:
            longer.write(b"more")
        self.clips[1].write_bytes(b"no video" * 100)
        said = self.work(code=3)
        wanted = {"v00.mp4": size + 4, "v01.mp4": 800}
        for name, (kind, line) in self.given_up().items():
            self.assertEqual(kind, "changed")
            self.assertIn(f"{name}: changed after `plan`: {size} bytes then, {wanted.pop(name)} now", line)
            self.assertIn(line, said)
        self.assertEqual(wanted, {})
        self.expect(done=2, quarantined=2)
        shutil.copy(self.clips[0], self.clips[1])
        again = self.folder / "changed-again"
        self.assertEqual(saccade("retry", self.store, "-o", again, "--class", "changed").returncode, 0)
        self.work(store=again)
        self.expect(again, done=2)

    def test_otherTimeAlone_isSaid_andDone(self):
        self.plan(rows=self.clips[:3])
        for path in self.clips[:2]:
            os.utime(path, ns=(1, 1))
        said = self.work()
        self.assertEqual(said.count("was written to after `plan`, and has as many bytes as before"), 1)
        self.assertIn("2 inputs were written to after `plan`", said)
        self.expect(done=3)

    def test_planOfAnEarlierVersion_isDone(self):
        """Without identities; its hash is that of its own files."""
        self.plan()
        plan = self.store / "plan"
        units = [json.loads(line) for line in (plan / "units.jsonl").read_text().splitlines()]
        lines = [json.loads(line) for line in (plan / "items.jsonl").read_text().splitlines()]
        self.assertEqual((len(units), plan_hash(plan)), (1, json.loads((plan / "plan.json").read_text())["hash"]))
        for line in lines:
            line.pop("input")
        text = "".join(compact(line) + "\n" for line in lines)
        (plan / "items.jsonl").write_text(text)
        (plan / "units.jsonl").write_text(compact({**units[0], "bytes": len(text)}) + "\n")
        facts = json.loads((plan / "plan.json").read_text())
        (plan / "plan.json").write_text(json.dumps({**facts, "hash": plan_hash(plan)}))
        for path in self.clips:
            path.touch()
        self.assertEqual(self.work(), "")
        self.expect(done=4)

    def test_keys_doNotDependOnIt(self):
        keys = []
        for i in range(2):
            store = self.folder / f"keys{i}"
            self.plan(store=store)
            keys.append([json.loads(line)["key"] for line in (store / "plan/items.jsonl").read_text().splitlines()])
            os.utime(self.clips[0], ns=(1, 1))
        self.assertEqual(*keys)


if __name__ == "__main__":
    unittest.main()
