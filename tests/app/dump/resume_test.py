"""What already lies where a dump is to go: --overwrite, --resume, and folders that are none of ours."""
import hashlib
import json
import unittest

from dump_support import ARRAYS, DumpTest, load, load_json, make_clip, saccade


def digest(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


class Resume(DumpTest):
    seconds, size = 1, "160x120"

    def test_a_complete_dump_is_not_touched(self):
        self.dump()
        before = digest(self.out)
        self.refuse(2, [str(self.out), "--overwrite", "--resume"], "dump", self.clip, "-o", self.out)
        self.assertEqual(digest(self.out), before)

    def test_resume_skips_a_complete_dump(self):
        self.dump()
        before = {path.name: path.stat().st_mtime_ns for path in self.out.iterdir()}
        done = saccade("dump", self.clip, "-o", self.out, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertIn(b"already complete", done.stdout)
        self.assertEqual({path.name: path.stat().st_mtime_ns for path in self.out.iterdir()}, before)

    def test_resume_counts_what_does_not_shape_the_result_as_the_same(self):
        self.dump()
        done = saccade("dump", self.clip, "-o", self.out, "--resume", "--threads", "1", "--seed", "0", "--log-level", "debug")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_resume_knows_what_an_option_was_called(self):
        self.dump()
        meta = json.loads((self.out / "meta.json").read_text())
        meta["options"]["min-pixels"] = meta["options"].pop("min-samples")
        (self.out / "meta.json").write_text(json.dumps(meta))
        self.assertEqual(saccade("dump", self.clip, "-o", self.out, "--resume").returncode, 0)
        self.refuse(2, ['--min-samples "0" there, "2" here'], "dump", self.clip, "-o", self.out, "--resume", "--min-samples", "2")

    def test_resume_goes_on_with_the_lattice_of_the_dump_or_says_that_it_is_another(self):
        """A dump records its lattice, also where it was the default."""
        self.dump("--lattice", "nested")
        before = digest(self.out)
        self.refuse(2, ['--lattice "nested" there, "adaptive" here'], "dump", self.clip, "-o", self.out, "--resume")
        self.assertEqual(saccade("dump", self.clip, "-o", self.out, "--resume", "--lattice", "nested").returncode, 0)
        self.assertEqual(digest(self.out), before)
        self.dump(out=self.folder / "default")
        self.assertEqual(json.loads((self.folder / "default" / "meta.json").read_text())["options"]["lattice"], "adaptive")

    def test_resume_says_what_differs(self):
        self.dump()
        before = digest(self.out)
        self.refuse(2, ["--seed", '"3"'], "dump", self.clip, "-o", self.out, "--resume", "--seed", "3")
        self.refuse(2, ["--e0", "unset"], "dump", self.clip, "-o", self.out, "--resume", "--lattice", "grid", "--e0", "4")
        other = make_clip(self.folder / "other.mp4", 1, "64x64")
        self.refuse(2, ["name", "other.mp4"], "dump", other, "-o", self.out, "--resume")
        self.assertEqual(digest(self.out), before)

    def test_resume_sees_another_content_of_the_same_size(self):
        clip = self.folder / "same.mkv"
        clip.write_bytes(self.clip.read_bytes())
        self.dump(clip=clip)
        data = bytearray(clip.read_bytes())
        data[-1] ^= 1
        clip.write_bytes(data)
        self.refuse(2, ["sha256"], "dump", clip, "-o", self.out, "--resume")

    def test_resume_cannot_tell_one_stream_from_another(self):
        stream = make_clip(self.folder / "stream.ts", 1, "64x64")
        for options, code in ((), 0), (("--resume",), 2):
            with open(stream, "rb") as pipe:
                done = saccade("dump", "-", "-o", self.out, *options, stdin=pipe)
            self.assertEqual(done.returncode, code, done.stderr.decode())
        self.assertIn(b"can't be told", done.stderr)
        pattern = ["dump", "test://box?size=64x64&frames=5", "-o", self.folder / "pattern", "--resume"]
        for _ in range(2):
            self.assertEqual(saccade(*pattern).returncode, 0)

    def test_resume_sees_another_scanpath_in_the_same_file(self):
        path = self.folder / "path.csv"
        path.write_text("0,0.2,0.2\n")
        self.dump("--fixation", f"file:{path}")
        path.write_text("0,0.8,0.2\n")
        self.refuse(2, ["--fixation"], "dump", self.clip, "-o", self.out, "--resume", "--fixation", f"file:{path}")

    def test_an_incomplete_dump(self):
        self.dump("--every", "frame")
        whole = digest(self.out)
        (self.out / "manifest.json").unlink()
        self.refuse(2, ["incomplete", "--overwrite", "--resume"], "dump", self.clip, "-o", self.out, "--every", "frame")
        self.refuse(2, ["--every"], "dump", self.clip, "-o", self.out, "--resume")
        done = saccade("dump", self.clip, "-o", self.out, "--resume", "--every", "frame")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        again = digest(self.out)
        for name in (*(f"{array}.npy" for array in ARRAYS), "meta.json"):
            self.assertEqual(again[name], whole[name], name)
        self.assertTrue(load_json(self.out, "manifest")["complete"])

    def test_overwrite_takes_its_own_files_only(self):
        self.dump()
        (self.out / "notes.txt").write_text("mine")
        self.dump("--overwrite", "--every", "frame")
        self.assertEqual((self.out / "notes.txt").read_text(), "mine")
        self.assertEqual(len(load(self.out)["index"]), 25)
        leftovers = [path.name for path in self.out.iterdir() if path.suffix == ".tmp"]
        self.assertEqual(leftovers, [])

    def test_a_folder_that_is_no_dump_is_left_alone(self):
        self.out.mkdir()
        (self.out / "patches.npy").write_text("somebody's")
        for option in ((), ("--overwrite",), ("--resume",)):
            self.refuse(2, [str(self.out), "left alone"], "dump", self.clip, "-o", self.out, *option)
        self.assertEqual((self.out / "patches.npy").read_text(), "somebody's")

    def test_an_empty_folder_and_missing_parents(self):
        self.out.mkdir()
        self.dump()
        self.dump(out=self.folder / "a" / "b" / "c")

    def test_a_bad_input_leaves_nothing(self):
        text = self.folder / "text.mp4"
        text.write_text("not a video\n" * 100)
        self.assertEqual(saccade("dump", text, "-o", self.out).returncode, 65)
        self.assertFalse(self.out.exists())

    def test_a_bad_input_leaves_an_old_dump_whole(self):
        self.dump()
        before = digest(self.out)
        self.assertEqual(saccade("dump", self.folder / "missing", "-o", self.out, "--overwrite").returncode, 65)
        self.assertEqual(digest(self.out), before)


if __name__ == "__main__":
    unittest.main()
