"""Plans: manifests of each kind, keys, pieces, units, duplicates, what differs from an older plan."""
import bz2
import gzip
import hashlib
import json
import lzma
import os
import pathlib
import subprocess
import unittest

from work_support import WorkTest, ffmpeg, saccade


class Plans(WorkTest):
    count = 3

    def items(self, store=None):
        text = (pathlib.Path(store or self.store) / "plan/items.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def facts(self):
        return json.loads((self.store / "plan/plan.json").read_text())

    def make(self, name, text, *options, code=0):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = saccade("plan", path, "-o", self.store, "--backend", "cpu", *options, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stderr.decode())
        return done.stderr.decode()

    def test_csv_quotesAndColumns_areKept(self):
        self.make("a.csv", '\ufeffuri,start,end,stream,caption,key\r\n"c/v00.mp4",0.5,1,,"a, ""b""\nc",\r\nhttp://h/x.mp4,,,1,,given_1\r\n')
        rows = sorted(self.items(), key=lambda item: item["row"])
        first = f"{self.folder}/c/v00.mp4"
        self.assertEqual([row["uri"] for row in rows], [first, "http://h/x.mp4"])
        self.assertEqual(rows[0]["extra"], {"caption": 'a, "b"\nc'})
        self.assertEqual((rows[0]["start"], rows[0]["end"], rows[0]["stream"]), (0.5, 1, None))
        self.assertEqual(rows[0]["key"], hashlib.sha256(f"{first}|0.5|1|".encode()).hexdigest()[:20])
        self.assertEqual((rows[1]["key"], rows[1]["stream"], rows[1]["start"]), ("given_1", 1, 0))

    def test_jsonLines_extraIsAnyJson(self):
        self.make("a.jsonl", '{"uri": "/a.mp4", "tags": [1, {"b": null}], "duration": 12}\n\n{"uri": "/b.mp4"}\n')
        rows = self.items()
        self.assertEqual({row["uri"]: row["extra"] for row in rows}, {"/a.mp4": {"tags": [1, {"b": None}]}, "/b.mp4": {}})
        self.assertEqual(next(row["media_s"] for row in rows if row["uri"] == "/a.mp4"), 12)
        self.assertEqual(next(row["key"] for row in rows if row["uri"] == "/a.mp4"),
                         hashlib.sha256(b"/a.mp4|0||").hexdigest()[:20])

    def test_badManifests_nameLineAndFault(self):
        for name, text, words in (
            ("b.csv", "uri,start\na.mp4,x\n", [":2:", "start"]), ("b.csv", "url\na.mp4\n", [":1:", "'uri'"]),
            ("b.csv", "uri,b\na.mp4\n", [":2:", "fields"]), ("b.csv", 'uri\n"a.mp4\n', [":2:", "quotation"]),
            ("b.csv", "uri,uri\na,b\n", [":1:", "'uri'"]), ("b.csv", "uri,start,end\na.mp4,2,1\n", [":2:", "end"]),
            ("b.csv", "uri,key\na.mp4,a b\n", [":2:", "key"]), ("b.csv", "uri,key\na.mp4,k\nb.mp4,k\n", [":3:", "'k'", "line 2"]),
            ("b.csv", "uri,stream\na.mp4,1.5\n", [":2:", "stream"]), ("b.jsonl", '{"uri": "a"}\n[1]\n', [":2:", "object"]),
            ("b.jsonl", '{"url": "a"}\n', [":1:", "uri"]), ("b.txt", "# nothing\n\n", ["no row"]), ("b.txt", "", ["no row"]),
            ("b.csv", "", ["empty"]), ("b.txt", "-\n", ["stdin"]),
            ("b.txt", b"/a.mp4\n/caf\xe9.mp4\n", [":2:", "UTF-8"]), ("b.csv", b"uri,c\n/a.mp4,caf\xe9\n", [":2:", "UTF-8"]),
            ("b.csv", "uri,start\na.mp4,nan\n", ["start"]), ("b.csv", "uri,start\na.mp4,-1\n", ["start"]),
        ):
            with self.subTest(text=text):
                message = self.make(name, text, code=65)
                self.assertEqual(message.count("\n"), 1, message)
                for word in words:
                    self.assertIn(word, message)
                self.assertFalse((self.store / "plan").exists())

    def test_parquetWithoutPython_saysWhatToInstall(self):
        table = self.folder / "b.parquet"
        table.write_bytes(b"PAR1xxxx")
        done = saccade("plan", table, "-o", self.store, "--backend", "cpu", env={**os.environ, "SACCADE_PYTHON": "/bin/false"})
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(b"pip install 'pysaccade[buckets]'", done.stderr)

    def test_suffixesOfAnyCase_areTheSame(self):
        for name, text in (("c.CSV", "uri,start\n/a.mp4,1\n"), ("c.Jsonl", '{"uri": "/a.mp4", "start": 1}\n'),
                           ("c.NDJSON", '{"uri": "/a.mp4", "start": 1}\n')):
            self.store = self.folder / f"store-{name}"
            self.make(name, text)
            self.assertEqual([(row["uri"], row["start"]) for row in self.items()], [("/a.mp4", 1)])

    def test_otherFormats_areNeverTakenForLists(self):
        csv, json_lines = "uri,start\n/a.mp4,1\n", '{"uri": "/a.mp4"}\n'
        array = '[\n  {"uri": "/a.mp4"}\n]\n'
        for name, text, word in (
            ("o.tsv", csv.replace(",", "\t"), "as .csv"), ("o.TSV", "/a.mp4\n", "as .csv"), ("o.json", array, "jq -c"),
            ("o.JSON", json_lines, ".jsonl"), ("o.txt", csv, "call it .csv"), ("o.txt", "uri\n/a.mp4\n", "call it .csv"),
            ("o.txt", "start;uri\n1;/a.mp4\n", "call it .csv"), ("o", json_lines, "call it .jsonl"), ("o.txt", array, "jq -c"),
            ("o.csv.gz", gzip.compress(csv.encode()), "gzip"), ("o.jsonl.bz2", bz2.compress(csv.encode()), "bzip2"),
            ("o.csv.xz", lzma.compress(csv.encode()), "xz"), ("o.xlsx", b"PK\x03\x04rest", "zip"),
            ("o.csv", csv.encode("utf-16"), "UTF-8"), ("o.txt", self.clip.read_bytes(), "ls FOLDER"),
        ):
            with self.subTest(name=name, text=text[:20]):
                message = self.make(name, text, code=65)
                self.assertIn(word, message)
                self.assertEqual(message.count("\n"), 1, message)
                self.assertFalse((self.store / "plan").exists())

    def test_listsOfOddNames_areLists(self):
        names = ["[a] b.mp4", "{c}.mp4", "uri.mp4", "curious, too.mp4", "BZh.mp4", "caf\u00e9.mp4"]
        self.make("n.txt", "".join(f"/{name}\n" for name in names) + "[a] b.mp4\n")
        self.assertEqual(sorted(row["uri"] for row in self.items()), sorted([f"/{name}" for name in names] + [f"{self.folder}/[a] b.mp4"]))

    def test_foldersVideosAndPipes_areToldOfLists(self):
        for inputs, code in (([self.folder], 65), (self.clips[:2], 2), (["-"], 65), (["/dev/null"], 65)):
            done = saccade("plan", *inputs, "-o", self.store, "--backend", "cpu")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(b"> list.txt", done.stderr)
            self.assertEqual(done.stderr.count(b"\n"), 1)

    def test_duplicates_areCountedOnce(self):
        rows = [self.clips[0], self.clips[1], self.clips[0], f"./c/{self.clips[0].name}"]
        self.make("d.txt", "".join(f"{row}\n" for row in rows))
        facts = self.facts()
        self.assertEqual((facts["in"], facts["items"], facts["duplicates"], facts["manifest"]["rows"]), (4, 2, 2, 4))

    def test_counts_areOneOrMany(self):
        for rows, says in ((self.clips[:1], b"1 item in 1 unit from 1 row (0 duplicates), "),
                           ([self.clips[0]] * 2, b"1 item in 1 unit from 2 rows (1 duplicate), "),
                           ([self.clips[0]] * 3 + self.clips[1:], b"3 items in 3 units from 5 rows (2 duplicates), ")):
            store = self.folder / f"counts{len(rows)}"
            done = saccade("plan", self.manifest(rows), "-o", store, "--backend", "cpu", "--unit-seconds", "0.01")
            self.assertIn(says, done.stdout)

    def test_segments_coverTheVideoOnce(self):
        self.make("s.csv", "uri,start,end,key\n/x.mp4,1,11.5,k\n/y.mp4,0,4,\n", "--segment", "4")
        pieces = sorted((row["row"], row["piece"], row["start"], row["end"], row["pieces"]) for row in self.items())
        self.assertEqual(pieces, [(0, 0, 1, 5, 3), (0, 1, 5, 9, 3), (0, 2, 9, 11.5, 3), (1, 0, 0, 4, 1)])
        self.assertEqual({row["key"] for row in self.items() if row["row"] == 0}, {"k-00000", "k-00001", "k-00002"})

    def test_segments_keysThatATarHasNoRoomFor_areRefused(self):
        for length, code in ((77, 65), (76, 0)):
            said = self.make(f"k{length}.csv", f"uri,end,key\n/x.mp4,9,{'k' * length}\n", "--segment", "4", code=code)
            self.assertEqual("k77.csv:2: key '" in said, code != 0)

    def test_segments_lengthFromTheFileItself(self):
        self.make("p.txt", f"{self.clips[0]}\n/nowhere.mp4\n", "--segment", "0.3")
        rows = [row for row in self.items() if row["uri"] == str(self.clips[0])]
        self.assertEqual([(row["start"], row["end"]) for row in sorted(rows, key=lambda row: row["piece"])],
                         [(0, 0.3), (0.3, 0.6), (0.6, None)])  # a rest of 0.1 s is less than half a piece
        self.assertEqual([row["pieces"] for row in self.items() if row["uri"] == "/nowhere.mp4"], [1])

    def test_segments_lengthWhateverTheOptions(self):
        """What frames become of it, and whether this machine can do it, is `work`'s matter."""
        for i, options in enumerate((["--set", "max-pixels=100"], ["--hwdec", "cuda"])):
            with self.subTest(options=options):
                store = self.folder / f"whatever-{i}"
                self.plan("--segment", "0.3", *options, rows=self.clips[:3], store=store)
                self.assertEqual(json.loads((store / "plan/plan.json").read_text())["items"], 9)

    def test_segments_rowsThatStayWholeAreTold(self):
        for rows, says in (([self.clips[0]], None), ([self.clips[0], "/nowhere.mp4"], b"; 1 row of unknown length stays whole\n"),
                           (["/no.mp4", "/nowhere.mp4"], b"; 2 rows of unknown length stay whole\n")):
            store = self.folder / f"whole-{len(rows)}-{says is None}-{'/no.mp4' in rows}"
            done = saccade("plan", self.manifest(rows), "-o", store, "--backend", "cpu", "--segment", "0.3")
            self.assertEqual(done.returncode, 0, done.stderr)
            if says is None:
                self.assertNotIn(b"unknown length", done.stdout)
            else:
                self.assertIn(says, done.stdout)

    def test_segments_rowsThatKillOrHangTheDemuxer_stayWholeAndAreNamed(self):
        env = self.faults("leave@v00,stuck@v01", SACCADE_HASTE="20")
        done = saccade("plan", self.manifest(self.clips), "-o", self.store, "--backend", "cpu", "--segment", "0.3", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"; 2 rows of unknown length stay whole\n", done.stdout)
        said = {os.path.basename(line.split(b": ")[1]): line for line in done.stderr.splitlines()}
        self.assertEqual(set(said), {b"v00.mp4", b"v01.mp4"})
        self.assertIn(b"exit code 7", said[b"v00.mp4"])
        self.assertIn(b"longer than 60 s", said[b"v01.mp4"])
        self.assertEqual(sorted(row["pieces"] for row in self.items()), [1, 1, 3, 3, 3])

    def test_decoder_isPinnedAsDumpWouldTakeIt(self):
        for options, decoder in ((["--backend", "cuda"], "cuda"), (["--backend", "cpu"], "no"), (["--backend", "cuda", "--vf", "hflip"], "no"),
                                 (["--backend", "cuda", "--set", "require-hwdec"], "cuda"), (["--backend", "cuda", "--vf", "hflip", "--set", "require-hwdec"], "cuda"),
                                 (["--backend", "cpu", "--set", "require-hwdec"], "cuda"), (["--backend", "gl", "--set", "require-hwdec"], "cuda"),
                                 (["--set", "require-hwdec"], "cuda"), (["--hwdec", "cuda"], "cuda"), (["--hwdec", "cuda", "--vf", "hflip"], "cuda"),
                                 (["--backend", "cuda", "--hwdec", "no"], "no")):
            with self.subTest(options=options):
                store = self.folder / ("decoder" + "".join(options).replace("-", ""))
                done = saccade("plan", self.manifest(self.clips[:1]), "-o", store, *options, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads((store / "plan/plan.json").read_text())["options"]["hwdec"], decoder)
                work = saccade("work", store, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
                self.assertNotEqual(work.returncode, 2, work.stderr)
                self.assertNotIn(b"conflicts", work.stderr)
        for backend in ([], ["--backend", "cpu"], ["--backend", "cuda"]):
            done = saccade("plan", self.manifest(self.clips[:1]), "-o", self.store, *backend, "--hwdec", "no", "--set", "require-hwdec")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(b"conflicts with --hwdec no", done.stderr)

    def test_nulInATextOfARow_isRefused(self):
        for name, text in (("n.jsonl", '{"uri": "/a.mp4\\u0000b"}\n'), ("n.jsonl", '{"uri": "/a.mp4", "caption": "a\\u0000"}\n'),
                           ("n.jsonl", '{"uri": "/a.mp4", "tags": [{"x": "\\u0000"}]}\n'), ("n.jsonl", '{"uri": "/a.mp4", "key": "a\\u0000"}\n'),
                           ("n.csv", "uri,caption\n" + "/a.mp4,x\n" * 9000 + "/a.mp4,x\0y\n"), ("n.txt", "/a.mp4\n" * 9000 + "/a\0.mp4\n")):
            with self.subTest(text=text[-30:]):
                message = self.make(name, text, code=65)
                self.assertRegex(message, r"n\.(jsonl:1|csv:9002|txt:9001): .*NUL")
                self.assertFalse((self.store / "plan").exists())

    def test_units_longestFirstAndAboutTheSize(self):
        self.make("u.csv", "uri,end\n" + "".join(f"/v{i}.mp4,{i + 1}\n" for i in range(40)), "--unit-seconds", "60")
        units = [json.loads(line) for line in (self.store / "plan/units.jsonl").read_text().splitlines()]
        items = (self.store / "plan/items.jsonl").read_bytes()
        seen = []
        for index, unit in enumerate(units):
            self.assertEqual(unit["unit"], f"{index:08}")
            rows = [json.loads(line) for line in items[unit["offset"]:unit["offset"] + unit["bytes"]].splitlines()]
            self.assertEqual(len(rows), unit["items"])
            self.assertLessEqual(sum(row["media_s"] for row in rows), 60)
            seen += [row["media_s"] for row in rows]
        self.assertEqual(seen, sorted(range(1, 41), reverse=True))

    def test_again_sameIsFineOtherIsRefused(self):
        text = f"{self.clips[0]}\n"
        self.make("x.txt", text)
        before = (self.store / "plan/plan.json").read_bytes()
        self.make("x.txt", text)
        self.assertEqual((self.store / "plan/plan.json").read_bytes(), before)
        for options, word in ((["--rate", "8"], "--rate 4 there, 8 here"), (["--segment", "1"], "--segment"),
                              (["--unit-seconds", "7"], "--unit-seconds"), (["--set", "max-pixels=5"], "--set max-pixels")):
            self.assertIn(word, self.make("x.txt", text, *options, code=2))
        self.assertIn("manifest", self.make("x.txt", text + "/other.mp4\n", code=2))
        self.assertEqual((self.store / "plan/plan.json").read_bytes(), before)

    def test_planIsTheSameWhereverAndWheneverMade(self):
        self.plan()
        other = self.folder / "other"
        self.plan(store=other)
        for name in ("plan.json", "items.jsonl", "units.jsonl"):
            self.assertEqual((self.store / "plan" / name).read_bytes(), (other / "plan" / name).read_bytes())

    def test_manyAtOnce_onePlan(self):
        path = self.manifest(self.clips)
        from work_support import start
        runs = [start("plan", path, "-o", self.store, "--backend", "cpu") for _ in range(4)]
        for run in runs:
            _, error = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, error)
        self.assertEqual([entry.name for entry in self.store.iterdir()], ["plan"])

    def test_optionsOfRows_areRefused(self):
        for option in ("--start", "--duration", "--stream"):
            message = self.make("o.txt", "/a.mp4\n", option, "1", code=2)
            self.assertIn(f"{option}: not an option of 'plan'", message)

    def test_whatNoVideoCanTake_isRefusedAsByDump(self):
        unread = self.folder / "unread.csv"
        unread.write_text("0,0.5,0.5\n1,nothing,0.5\n")
        for options in (["--vf", "nosuch"], ["--vf", "hflip,nosuch=3"], ["--vf", "scale=foo=1"], ["--vf", "hflip,,vflip"],
                        ["--vf", "hflip;vflip"], ["--input-format", "nosuch"], ["--set", "pixel-format=nosuch"], ["--set", "input-size=64by64"],
                        ["--fixation", "file:/no/such.csv"], ["--fixation", "file:no-such.csv"], ["--fixation", f"file:{self.folder}"],
                        ["--fixation", f"file:{unread}"], ["--ignore", "/no/mask.png"], ["--ignore", f"0,0,4,4;{unread}"], ["--set", "upload=pbo"]):
            with self.subTest(options=options):
                dump = saccade("dump", self.clip, "-o", self.folder / "never", "--backend", "cpu", *options, cwd=self.folder)
                self.assertNotEqual(dump.returncode, 0)
                of_all = dump.stderr.decode().replace(f"{self.clip}: ", "")
                self.assertEqual(self.make("r.txt", f"{self.clip}\n", *options, code=dump.returncode), of_all)
                self.assertFalse(self.store.exists())
                path = self.folder / "r.txt"
                done = saccade("dump", "--manifest", path, "-o", self.store, "--backend", "cpu", *options, cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr.decode()), (dump.returncode, of_all))

    def test_filesThatCanBeReadOnce_areRefused(self):
        os.mkfifo(self.folder / "gaze")
        self.assertIn("can be read once", self.make("f.txt", f"{self.clip}\n", "--fixation", "file:gaze", code=65))

    def test_relativeFilesOfOptions_areFoundFromElsewhere(self):
        (self.folder / "g.csv").write_text("0,0.25,0.75\n0.5,0.75,0.25\n")
        ffmpeg("-f", "lavfi", "-i", "color=black:s=32x32,drawbox=w=8:h=8:c=white:t=fill", "-frames:v", "1", self.folder / "m.png")
        for name, relative, absolute in (
                ("fixation", "file:g.csv", f"file:{self.folder}/g.csv"), ("fixation", "file:./c/../g.csv", f"file:{self.folder}/g.csv"),
                ("ignore", "0,0,0.1,0.1;m.png", f"0,0,0.1,0.1;{self.folder}/m.png"), ("ignore", "0,0,0.1,0.1", "0,0,0.1,0.1")):
            with self.subTest(option=relative):
                self.store = self.folder / f"elsewhere{relative.replace('/', '-')}"
                self.make("e.txt", f"{self.clip}\n", f"--{name}", relative)
                self.assertEqual(self.facts()["options"][name], absolute)
                self.make("e.txt", f"{self.clip}\n", f"--{name}", absolute)  # is the same plan
                self.assertEqual(saccade("work", self.store, cwd="/").returncode, 0)
                self.expect(done=1)

    def test_folderOfOtherThings_isLeftAlone(self):
        self.store.mkdir()
        (self.store / "mine.txt").write_text("x")
        self.assertIn("left alone", self.make("y.txt", "/a.mp4\n", code=2))
        subprocess.run(["test", "!", "-e", self.store / "plan"], check=True)


if __name__ == "__main__":
    unittest.main()
