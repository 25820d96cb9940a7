"""dump --compact: the padded dump of the same input with the rows of coverage 0 taken out, at any moment."""
import json
import os
import signal
import shutil
import time
import unittest

import numpy as np
from crash_test import start, wait_for_rows
from dump_support import DumpTest, load, load_json, saccade

OF_PATCHES = ("patches", "geometry", "changed")
CORNER = ("--fixation", "center:0.05,0.9")


class Compact(DumpTest):
    seconds = 1

    def both(self, *options):
        name = self.id().rsplit(".", 1)[-1]
        padded, compact = self.folder / f"{name}-padded", self.folder / f"{name}-compact"
        for folder, more in ((padded, ()), (compact, ("--compact",))):
            shutil.rmtree(folder, ignore_errors=True)
            self.dump(*options, *more, out=folder)
        return padded, compact

    def test_equals_the_padded_dump_without_what_lies_outside(self):
        left_out = 0
        for lattice in (("--tokens", "100"), ("--lattice", "nested"), ("--lattice", "nested", "--patches", "150"), ("--lattice", "grid", "--patches", "90"),
                        ("--lattice", "uniform", "--patches", "40")):
            for samples in ((), ("--dtype", "f32", "--normalize", "clip")):
                options = (*lattice, *samples, *CORNER, "--every", "3")
                padded, compact = self.both(*options)
                with self.subTest(options=options):
                    whole, ragged = load(padded), load(compact)
                    offsets = np.load(compact / "offsets.npy")
                    inside = whole["geometry"][:, :, 3] > 0
                    self.assertEqual(offsets.dtype, np.dtype("<i8"))
                    np.testing.assert_array_equal(offsets, np.concatenate([[0], np.cumsum(inside.sum(axis=1))]))
                    for array in OF_PATCHES:
                        self.assertEqual(ragged[array].dtype, whole[array].dtype)
                        np.testing.assert_array_equal(ragged[array], whole[array][inside])
                    np.testing.assert_array_equal(ragged["index"], whole["index"])
                    left_out += (~inside).sum()
        self.assertGreater(left_out, 0)

    def test_meta_says_so_and_others_stay_as_they_were(self):
        padded, compact = self.both("--tokens", "100")
        self.assertIs(load_json(compact, "meta").pop("compact"), True)
        self.assertEqual(load_json(compact, "meta")["options"]["compact"], "true")
        self.assertNotIn("compact", load_json(padded, "meta"))
        self.assertNotIn("compact", load_json(padded, "meta")["options"])
        self.assertFalse((padded / "offsets.npy").exists())
        self.assertEqual(load_json(compact, "manifest")["patches_changed"], int(load(compact)["changed"].sum()))

    def test_resume_knows_it(self):
        padded, compact = self.both("--tokens", "100")
        kept = (compact / "patches.npy").stat().st_mtime_ns
        self.dump("--tokens", "100", "--compact", "--resume", out=compact)
        self.assertEqual((compact / "patches.npy").stat().st_mtime_ns, kept)
        self.refuse(2, ["--overwrite"], "dump", self.clip, "-o", padded, "--tokens", "100", "--compact", "--resume")
        self.dump("--tokens", "100", "--overwrite", out=compact)
        self.assertFalse((compact / "offsets.npy").exists())

    def test_paints_the_same_pictures(self):
        padded, compact = self.both("--tokens", "100", *CORNER, "--every", "5")
        for options in (("--emission", "2"), ("--emission", "3", "--memory")):
            pictures = []
            for folder in (padded, compact):
                done = saccade("reconstruct", folder, "-o", folder / "x.png", "--overwrite", *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                pictures.append((folder / "x.png").read_bytes())
            self.assertEqual(*pictures)
        reports = [json.loads(saccade("reconstruct", folder, "--against", self.clip, "--json").stdout)["against"]
                   for folder in (padded, compact)]
        self.assertEqual(*reports)
        done = saccade("reconstruct", compact, "-o", compact / "x.html")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_stores_refuse_it(self):
        manifest = self.folder / "videos.txt"
        manifest.write_text(f"{self.clip}\n")
        self.refuse(2, ["--compact", "--manifest"], "dump", "--manifest", manifest, "-o", self.out, "--compact")
        self.refuse(2, ["compact"], "plan", manifest, "-o", self.out, "--compact")

    def test_empty_dump_has_offsets(self):
        arrays = self.dump("--tokens", "100", "--compact", "--frames", "1", "--every", "1000", "--start", "0.5")
        offsets = np.load(self.out / "offsets.npy")
        self.assertEqual(len(offsets), len(arrays["index"]) + 1)
        self.assertEqual(offsets[-1], len(arrays["patches"]))

    def test_sigkill_leaves_what_can_be_read(self):
        for number in range(4):
            out = self.folder / f"killed-{number}"
            process = start("dump", self.clip, "-o", out, "--every", "frame", "--loop", "--compact", "--tokens", "100")
            wait_for_rows(self, process, out)
            time.sleep(0.17 * number)
            process.kill()
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            arrays, offsets = load(out), np.load(out / "offsets.npy")
            self.assertTrue((np.diff(offsets) > 0).all())
            self.assertLessEqual(offsets[-1], min(len(arrays[name]) for name in OF_PATCHES))
            done = saccade("reconstruct", out, "-o", out / "x.png", "--emission", len(arrays["index"]) - 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            shutil.rmtree(out)

    def test_damaged_offsets_are_named(self):
        _, compact = self.both("--tokens", "100")
        good = np.load(compact / "offsets.npy")
        falls, many, other, fewer = good.copy(), good.copy(), good + 1, good[:-1]
        falls[1], many[1:] = good[2] + 1, good[1:] + 10**9
        for offsets in (falls, many, other, fewer, good.astype("<i4"), good[:0]):
            np.save(compact / "offsets.npy", offsets)
            self.refuse(65, [str(compact)], "reconstruct", compact, "-o", self.folder / "never.png")
        os.remove(compact / "offsets.npy")
        self.refuse(65, ["offsets.npy"], "reconstruct", compact, "-o", self.folder / "never.png")


if __name__ == "__main__":
    unittest.main()
