"""A dump's files: shapes, types, headers, values against each other, and the same bytes every time."""
import hashlib
import struct
import subprocess
import unittest

import numpy as np

from dump_support import ARRAYS, DumpTest, INDEX_TYPE, load, load_json, make_clip, saccade
from program import auto_backend

CLIP_MEAN = np.array([0.48145466, 0.4578275, 0.40821073])
CLIP_STD = np.array([0.26862954, 0.26130258, 0.27577711])
SETS = {"clip": (CLIP_MEAN, CLIP_STD),
        "imagenet": (np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])),
        "siglip": (np.full(3, 0.5), np.full(3, 0.5))}


class Format(DumpTest):
    def test_shapes_and_types(self):
        arrays = self.dump("--every", "frame", "--lattice", "nested", "--patches", "100", "--patch-size", "8")
        meta, manifest = load_json(self.out, "meta"), load_json(self.out, "manifest")
        emissions, patches = 50, meta["patches"]
        self.assertLessEqual(patches, 100)
        self.assertEqual(manifest["emissions"], emissions)
        self.assertEqual(manifest["frames"], 50)
        self.assertTrue(manifest["complete"])
        self.assertEqual(arrays["patches"].shape, (emissions, patches, 3, 8, 8))
        self.assertEqual(arrays["patches"].dtype, np.uint8)
        self.assertEqual(arrays["geometry"].shape, (emissions, patches, 4))
        self.assertEqual(arrays["geometry"].dtype, np.dtype("<f4"))
        self.assertEqual(arrays["changed"].shape, (emissions, patches))
        self.assertEqual(arrays["changed"].dtype, np.uint8)
        self.assertEqual(arrays["index"].shape, (emissions,))
        self.assertEqual(arrays["index"].dtype, INDEX_TYPE)
        self.assertEqual(INDEX_TYPE.itemsize, 29)
        for array in arrays.values():
            self.assertTrue(array.flags.c_contiguous)

    def test_headers_and_sizes(self):
        arrays = self.dump("--every", "3")
        for name in ARRAYS:
            path = self.out / f"{name}.npy"
            data = path.read_bytes()
            self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
            header = 10 + struct.unpack("<H", data[8:10])[0]
            self.assertEqual(header % 64, 0)
            self.assertEqual(data[header - 1:header], b"\n")
            self.assertEqual(len(data), header + arrays[name].nbytes, name)

    def test_times_are_the_streams(self):
        arrays = self.dump("--every", "frame")
        listed = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=pts_time",
                                 "-of", "csv=p=0", str(self.clip)], capture_output=True, text=True, check=True).stdout
        times = [float(line.strip(",")) for line in listed.split()]
        np.testing.assert_allclose(arrays["index"]["pts_ns"] * 1e-9, times, atol=1e-6)
        np.testing.assert_array_equal(arrays["index"]["frame"], np.arange(len(times)))

    def test_meta_describes_input_and_options(self):
        self.dump("--every", "5", "--seed", "7", "--rate", "3.50")
        meta = load_json(self.out, "meta")
        self.assertEqual(meta["schema"], 1)
        self.assertEqual(meta["input"]["name"], "clip.mp4")
        self.assertEqual(meta["input"]["size"], self.clip.stat().st_size)
        self.assertEqual(meta["input"]["sha256"], hashlib.sha256(self.clip.read_bytes()).hexdigest())
        self.assertEqual((meta["stream"]["width_px"], meta["stream"]["height_px"]), (320, 240))
        self.assertEqual(meta["stream"]["codec"], "h264")
        self.assertEqual(meta["stream"]["pixel_format"], "yuv420p")
        self.assertEqual(meta["options"]["every"], "5")
        self.assertEqual(meta["options"]["seed"], "7")
        self.assertEqual(meta["options"]["rate"], "3.5")
        self.assertEqual(meta["options"]["threshold"], "0")
        self.assertEqual(meta["backend"], auto_backend())

    def test_every(self):
        frame = {name: np.array(array) for name, array in self.dump("--every", "frame", "--lattice", "nested").items()}
        third = self.dump("--every", "3", "--lattice", "nested", out=self.folder / "every-3")
        np.testing.assert_array_equal(third["index"]["frame"], np.arange(0, 50, 3))
        for name in ("patches", "geometry", "index"):
            np.testing.assert_array_equal(third[name], frame[name][::3])
        fixation = self.dump("--every", "fixation", "--rate", "4", "--lattice", "nested", out=self.folder / "every-fixation")
        self.assertEqual(len(fixation["index"]), 8)  # two seconds at four a second
        self.assertFalse(fixation["index"]["in_flight"].any())
        np.testing.assert_array_equal(fixation["patches"], frame["patches"][fixation["index"]["frame"]])

    def test_types_hold_the_same_samples(self):
        byte = np.array(self.dump("--every", "10")["patches"]).astype(float)
        single = np.array(self.dump("--every", "10", "--dtype", "f32", out=self.folder / "f32")["patches"])
        half = np.array(self.dump("--every", "10", "--dtype", "f16", out=self.folder / "f16")["patches"])
        self.assertEqual(single.dtype, np.dtype("<f4"))
        self.assertEqual(half.dtype, np.dtype("<f2"))
        self.assertLessEqual(np.abs(single * 255 - byte).max(), 0.5001)
        np.testing.assert_array_equal(half, single.astype("<f2"))

    def test_normalize(self):
        plain = np.array(self.dump("--every", "10", "--dtype", "f32")["patches"]).astype(float)
        for name, (mean, deviation) in SETS.items():
            out = self.folder / f"normalize-{name}"
            normalized = self.dump("--every", "10", "--dtype", "f32", "--normalize", name, out=out)["patches"]
            wanted = (plain - mean[:, None, None]) / deviation[:, None, None]
            np.testing.assert_allclose(normalized, wanted, atol=2e-6)
            meta = load_json(out, "meta")
            np.testing.assert_allclose(meta["mean"], mean, rtol=1e-6)
            np.testing.assert_allclose(meta["std"], deviation, rtol=1e-6)

    def test_same_bytes_every_time(self):
        kinds = {"once": (), "twice": (), "one-thread": ("--threads", "1"), "four-threads": ("--threads", "4")}
        digests = set()
        for name, options in kinds.items():
            out = self.folder / f"repeat-{name}"
            self.dump("--every", "2", *options, out=out)
            digests.add(tuple(hashlib.sha256((out / f"{array}.npy").read_bytes()).hexdigest() for array in ARRAYS))
        self.assertEqual(len(digests), 1)

    def test_one_frame_and_tiny_frames(self):
        for size in ("2x2", "161x121"):
            clip = make_clip(self.folder / f"tiny-{size}.mkv", 0.2, size, codec=("-c:v", "ffv1"))
            arrays = self.dump("--every", "frame", clip=clip, out=self.folder / f"tiny-{size}")
            self.assertEqual(len(arrays["index"]), 5)
        arrays = self.dump("--frames", "1", out=self.folder / "one")
        self.assertEqual(len(arrays["index"]), 1)


class Inputs(DumpTest):
    seconds = 1

    def test_several_inputs_get_a_folder_each(self):
        other = make_clip(self.folder / "other.mp4", 1, "64x64")
        (self.folder / "sub").mkdir()
        namesake = make_clip(self.folder / "sub" / "clip.mp4", 1, "96x64")
        done = saccade("dump", self.clip, other, namesake, "-o", self.out, "--json")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(done.stdout.splitlines()), 3)
        widths = {path.name: load_json(path, "meta")["stream"]["width_px"] for path in self.out.iterdir()}
        self.assertEqual(widths, {"clip.mp4": 320, "other.mp4": 64, "clip.mp4-2": 96})

    def test_a_bad_input_among_good_ones(self):
        done = saccade("dump", self.clip, self.folder / "missing.mp4", "test://box", "-o", self.out, "--frames", "5", "--log-level", "warn")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr.decode())
        self.assertIn(b"missing.mp4", done.stderr)
        self.assertEqual(sorted(path.name for path in self.out.iterdir()), ["box", "clip.mp4"])
        for path in self.out.iterdir():
            self.assertTrue(load_json(path, "manifest")["complete"])

    def test_stdin_and_a_leading_dash(self):
        streamable = make_clip(self.folder / "streamable.ts", 1)
        with open(streamable, "rb") as stream:
            done = saccade("dump", "-", "-o", self.out, "--frames", "3", stdin=stream)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(load_json(self.out, "meta")["input"]["sha256"], "stream")
        (self.folder / "-dash.mp4").write_bytes(self.clip.read_bytes())
        done = saccade("dump", "-o", self.folder / "dash", "--frames", "3", "--", "-dash.mp4", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(load(self.folder / "dash")["index"]), 1)

    def test_results_are_on_stdout_alone(self):
        done = saccade("dump", self.clip, "-o", self.out, "--log-level", "off")
        self.assertEqual(done.stderr, b"")
        self.assertIn(str(self.out).encode(), done.stdout)
        self.assertEqual(done.stdout.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
