"""saccade info: what it says of files is what ffprobe says; the rest follows by arithmetic."""
import json
import math
import os
import subprocess
import unittest
from fractions import Fraction

from program import FolderTest, ffmpeg, ffprobe, frame_times, make_clip, rotate_container, saccade, saccade_json, usable_cores


def round_up(value, multiple):
    return -(-value // multiple) * multiple


class InfoMachine(unittest.TestCase):
    def test_machine(self):
        report = saccade_json("info")
        self.assertIn(report["saccade"], saccade("--version").stdout)
        self.assertEqual(report["cpu"]["threads"], usable_cores())
        with open("/proc/meminfo", encoding="utf-8") as file:
            total_kib = int(next(line for line in file if line.startswith("MemTotal")).split()[1])
        self.assertAlmostEqual(report["memory_bytes"] / 1024, total_kib, delta=0.02 * total_kib)
        self.assertTrue(report["build"]["compiler"])
        self.assertTrue(report["cpu"]["simd"])

    def test_threads_are_those_that_the_affinity_leaves(self):
        one = min(os.sched_getaffinity(0))
        done = saccade("info", "--json", preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertEqual(json.loads(done.stdout)["cpu"]["threads"], 1, done.stderr)

    def test_ffmpeg_libraries(self):
        report = saccade_json("info")["ffmpeg"]
        text = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True).stdout
        for line in text.splitlines():
            if line.startswith("lib") and line.split()[0] in report:
                loaded = line.split("/")[1].replace(" ", "")
                self.assertEqual(report[line.split()[0]], loaded)
        self.assertEqual(set(report), {"libavcodec", "libavformat", "libavfilter", "libavutil", "libswscale"})

    def test_backends_say_why_not(self):
        backends = {backend["name"]: backend for backend in saccade_json("info")["backends"]}
        self.assertTrue(backends["cpu"]["available"])
        for backend in backends.values():
            self.assertTrue(backend["detail"], backend)
        text = saccade("info").stdout
        self.assertIn("backends", text)
        self.assertIn("cuda", text)


class InfoFile(FolderTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def clip(self, name, graph, *arguments):
        path = self.path(name)
        return path if os.path.exists(path) else make_clip(path, graph, *arguments)

    def plain(self):
        return self.clip("plain.mp4", "testsrc2=size=322x182:rate=30000/1001:duration=2,setsar=4/3")

    def test_stream_facts_agree_with_ffprobe(self):
        report = saccade_json("info", self.plain())["stream"]
        stream = ffprobe(self.plain(), "-show_streams")["streams"][0]
        self.assertEqual(report["codec"], stream["codec_name"])
        self.assertEqual(report["pixel_format"], stream["pix_fmt"])
        self.assertEqual((report["coded_width_px"], report["coded_height_px"]), (stream["width"], stream["height"]))
        self.assertEqual((report["width_px"], report["height_px"]), (322, 182))
        self.assertEqual(report["frame_count"], int(stream["nb_frames"]))
        self.assertAlmostEqual(report["duration_s"], float(stream["duration"]), delta=0.05)
        self.assertAlmostEqual(report["fps"], float(Fraction(stream["avg_frame_rate"])), places=3)
        self.assertAlmostEqual(report["sar"], float(Fraction(stream["sample_aspect_ratio"].replace(":", "/"))), places=6)
        self.assertAlmostEqual(report["dar"], 322 * 4 / 3 / 182, places=5)
        self.assertIn("mp4", report["container"])

    def test_start_is_the_first_frames_time(self):
        path = self.clip("late.mkv", "testsrc2=size=64x48:rate=25:duration=1", "-output_ts_offset", "7.5")
        self.assertAlmostEqual(saccade_json("info", path)["stream"]["start_pts_ns"] * 1e-9, frame_times(path)[0], delta=1e-6)

    def test_rotation_is_applied_to_the_picture(self):
        upright = self.clip("upright.mp4", "testsrc2=size=128x96:rate=25:duration=0.4")
        rotated = self.path("rotated.mp4")
        rotate_container(upright, rotated, 90)
        report = saccade_json("info", rotated)["stream"]
        self.assertEqual((report["coded_width_px"], report["coded_height_px"]), (128, 96))
        self.assertEqual((report["width_px"], report["height_px"]), (96, 128))
        self.assertIn(report["rotation_deg"], (90, 270))
        self.assertTrue(report["filters"])

    def test_colour_tags_and_defaults(self):
        tagged = self.clip("tagged.mp4", "testsrc2=size=64x48:rate=25:duration=0.2", "-colorspace", "bt709", "-color_range", "tv")
        color = saccade_json("info", tagged)["stream"]
        self.assertEqual((color["matrix"], color["matrix_tagged"]), ("bt709", True))
        self.assertEqual((color["range"], color["range_tagged"]), ("limited", True))
        small = saccade_json("info", self.plain())["stream"]
        self.assertEqual((small["matrix"], small["matrix_tagged"], small["depth_bits"]), ("bt601", False, 8))
        large = self.clip("large.mp4", "color=gray:size=1280x64:rate=25:duration=0.1")
        self.assertEqual(saccade_json("info", large)["stream"]["matrix"], "bt709")

    def test_texture_by_arithmetic(self):
        report = saccade_json("info", self.plain())
        texture = report["texture"]
        width, height = round_up(322, 64), round_up(182, 64)
        self.assertEqual((texture["padded_width_px"], texture["padded_height_px"], report["levels"]), (width, height, 7))
        self.assertEqual((texture["tile_cols"], texture["tile_rows"]), (math.ceil(322 / 16), math.ceil(182 / 16)))
        self.assertEqual(texture["tiles"], texture["tile_cols"] * texture["tile_rows"])
        luma = sum((width >> level) * (height >> level) for level in range(7))
        chroma = sum((width >> level + 1) * (height >> level + 1) * 2 for level in range(6))
        self.assertEqual(texture["bytes"], luma + chroma)
        self.assertEqual(texture["format"], "yuv8")

    def test_lattice_matches_the_dump(self):
        report = saccade_json("info", self.plain())
        self.assertLessEqual(report["patches"], 273)
        self.assertGreater(report["fovea"]["e0"], 0)
        self.assertAlmostEqual(report["fovea"]["m0"], report["fovea"]["e0"], places=5)
        output = self.path("dump")
        self.assertEqual(saccade("dump", self.plain(), "-o", output, "--frames", "1").returncode, 0)
        with open(os.path.join(output, "meta.json"), encoding="utf-8") as file:
            meta = json.load(file)
        for key in ("patches", "patch_size", "levels", "lattice", "fovea", "decoder", "hwdec", "hwdec_reason"):
            self.assertEqual(meta[key], report[key], key)
        for key, value in meta["stream"].items():  # the same facts, named alike
            self.assertEqual(report["stream"][key], value, key)

    def test_rgb_has_no_matrix(self):
        path = self.path("rgb.mkv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.2", "-c:v", "png", "-pix_fmt", "rgb24", path)
        report = saccade_json("info", path)
        self.assertIsNone(report["stream"]["matrix"])
        self.assertIsNone(report["stream"]["range"])
        self.assertEqual(report["texture"]["format"], "rgba8")

    def test_text_names_what_is_done(self):
        text = saccade("info", self.plain()).stdout
        for part in ["322x182", "SAR 4:3", "29.970", "bt601", "yuv8", "384x192", "adaptive"]:
            self.assertIn(part, text)

    def test_errors(self):
        missing = saccade("info", self.path("missing.mp4"))
        self.assertEqual((missing.returncode, missing.stdout), (65, ""))
        self.assertEqual(len(missing.stderr.strip().splitlines()), 1, missing.stderr)
        self.assertIn("missing.mp4", missing.stderr)
        both = saccade("info", self.plain(), self.path("missing.mp4"), "--json")
        self.assertEqual(both.returncode, 3)
        self.assertEqual([report["stream"]["width_px"] for report in json.loads(both.stdout)], [322])


if __name__ == "__main__":
    unittest.main()
