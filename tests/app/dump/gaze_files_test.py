"""Where a dump looks when it follows an eye tracker's file, and where saliency does not: against arithmetic on the file."""
import unittest

import numpy as np
from dump_support import DumpTest, ffmpeg, load, load_json, saccade


class GazeFiles(DumpTest):
    seconds, size, rate = 2, "320x240", 25

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def follow(self, path, *options):
        """index.npy of every frame, the log, and meta.json's `gaze`."""
        done = saccade("dump", self.clip, "-o", self.out, "--every", "frame", "--fixation", f"file:{path}", "--backend", "cpu", *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return load(self.out)["index"], done.stderr.decode(), load_json(self.out, "meta")["gaze"]

    def test_what_is_sent_follows_a_recorded_gaze(self):
        path = self.write("looks.csv", ["t_s,u,v", "0,0.2,0.2", "1,0.8,0.8"])
        sent = []
        for options in ((), ("--set", "eye=1"), ("--set", "eye=0")):
            self.follow(path, "--overwrite", "--tokens", 20, *options)
            sent.append(np.array(load(self.out)["geometry"]))
        np.testing.assert_array_equal(sent[0], sent[1])
        self.assertFalse(np.array_equal(sent[0], sent[2]))

    def test_raw_gaze_is_that_of_the_frames_time(self):
        t = np.arange(0, 2.2, 1 / 120)
        u, v = 0.5 + 0.4 * np.sin(2 * np.pi * t), 0.5 + 0.3 * np.cos(3 * t)
        path = self.write("raw.csv", ["t_s,u,v", *(f"{a:.6f},{b:.5f},{c:.5f}" for a, b, c in zip(t, u, v))])
        index, _, gaze = self.follow(path, "--gaze", "raw")
        times = (index["pts_ns"] - index["pts_ns"][0]) * 1e-9
        np.testing.assert_allclose(index["fix_u"], np.interp(times, t, u), atol=2e-5)
        np.testing.assert_allclose(index["fix_v"], np.interp(times, t, v), atol=2e-5)
        self.assertFalse(index["in_flight"].any())
        self.assertEqual((gaze["rows"], gaze["used"]), (len(t), len(t)))

    def test_pupils_norm_pos_counts_from_below(self):
        t = 309105.1 + np.arange(0, 2, 1 / 60)
        x, y = np.linspace(0.2, 0.8, len(t)), np.linspace(0.9, 0.4, len(t))
        confidence = np.where(np.arange(len(t)) % 30 == 7, 0.1, 0.99)
        path = self.write("gaze_positions.csv", ["gaze_timestamp,world_index,confidence,norm_pos_x,norm_pos_y,base_data",
                                                 *(f"{a:.6f},0,{d},{b},{c},x" for a, b, c, d in zip(t, x, y, confidence))])
        index, log, gaze = self.follow(path, "--gaze", "raw")
        times = (index["pts_ns"] - index["pts_ns"][0]) * 1e-9
        np.testing.assert_allclose(index["fix_u"], np.interp(times, t - t[0], x), atol=0.02)  # over an unsure row it is held
        np.testing.assert_allclose(index["fix_v"], 1 - np.interp(times, t - t[0], y), atol=0.02)
        self.assertEqual(gaze["unsure"], int((confidence < 0.6).sum()))
        self.assertIn("unsure rows", log)

    def test_pixels_of_a_screen_and_looks_beside_it(self):
        rows = [(0, 400, 300), (250, 1400, 300), (500, 0, 0), (750, np.nan, np.nan), (1000, 800, 600)]
        path = self.write("px.tsv", ["time_ms\tx\ty", *(f"{t}\t{x}\t{y}" for t, x, y in rows)])
        index, log, gaze = self.follow(path, "--gaze-units", "px:800x600", "--fov-deg", "1")
        frame = lambda s: index[int(s * 25)]
        self.assertEqual((frame(0.4)["fix_u"], frame(0.4)["fix_v"]), (0.5, 0.5))
        self.assertEqual((frame(0.96)["fix_u"], frame(0.96)["fix_v"]), (0, 0))
        self.assertEqual((frame(1.2)["fix_u"], frame(1.2)["fix_v"]), (1, 1))
        self.assertEqual((gaze["used"], gaze["missing"], gaze["off_screen"]), (3, 1, 1))
        self.assertIn("1 blink or gap, 1 look off the screen", log)

    def test_eyelink_fixations(self):
        path = self.write("eye.asc", ["** CONVERTED FROM x.edf", "MSG\t1000 DISPLAY_COORDS 0 0 1023 767", "SFIX L   1010",
                                      "EFIX L   1010\t1500\t490\t  512.0\t  192.0\t   1200", "EFIX L   1510\t2500\t990\t  256.0\t  384.0\t   1200"])
        index, _, gaze = self.follow(path)
        self.assertEqual((index[0]["fix_u"], index[0]["fix_v"]), (0.5, 0.25))
        self.assertEqual((index[-1]["fix_u"], index[-1]["fix_v"]), (0.25, 0.5))
        self.assertEqual(gaze["units"], "px of 1024x768")

    def test_times_that_miss_the_video_are_said(self):
        path = self.write("late.csv", ["t_s,u,v", "500,0.5,0.5", "501,0.1,0.1"])
        _, log, _ = self.follow(path)
        self.assertRegex(log, "late.csv: no row lies in the video: times begin at 500 s")
        early = self.write("early.csv", ["t_s,u,v", "-50,0.5,0.5", "-40,0.1,0.1"])
        self.out = self.out.with_name("early")
        self.assertRegex(self.follow(early)[1], "no row lies in the video: times end at -40 s")
        unix = self.write("unix.csv", ["t_s,u,v", "1732799000.0,0.5,0.5", "1732799001.0,0.2,0.4"])
        self.out = self.out.with_name("unix")
        index, log, _ = self.follow(unix)
        self.assertIn("times begin at 1732799000", log)
        self.assertEqual(index[-1]["fix_u"], np.float32(0.2))
        fine = self.write("fine.csv", ["t_s,u,v", "1.5,0.5,0.5"])
        self.out = self.out.with_name("fine")
        self.assertNotIn("warning", self.follow(fine)[1])

    def test_errors_say_what_to_try(self):
        pixels = self.write("pixels.csv", ["t_s,u,v", "0,960,540"])
        self.refuse(65, ["pixels.csv", "line 2", "u 960", "px:WxH"], "dump", self.clip, "-o", self.out, "--fixation", f"file:{pixels}")
        self.refuse(2, ["--gaze raw", "--fixation file:PATH"], "dump", self.clip, "-o", self.out, "--gaze", "raw")
        self.refuse(2, ["--gaze-units px", "--fixation file:PATH"], "dump", self.clip, "-o", self.out, "--gaze-units", "px")
        self.refuse(2, ["--gaze-units", "miles"], "dump", self.clip, "-o", self.out, "--gaze-units", "miles")


class Ignore(DumpTest):
    """A still grey scene with a box that moves, and a clock in the corner that changes ten times a second."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        frames = np.full((300, 240, 320), 110, np.uint8)
        random = np.random.default_rng(1)
        for i, frame in enumerate(frames):
            frame[8:32, 8:104] = random.integers(0, 256, (24, 96), np.uint8)
            x = 60 + i // 2
            frame[150:174, x:x + 24] = 220
        raw = cls.folder / "clock.gray"
        frames.tofile(raw)
        cls.clip = cls.folder / "clock.mkv"
        ffmpeg("-f", "rawvideo", "-pix_fmt", "gray", "-s", "320x240", "-r", "25", "-i", raw, "-pix_fmt", "yuv420p", "-c:v", "ffv1", cls.clip)

    def share_in(self, box, clip, *options):
        self.runs = getattr(self, "runs", 0) + 1
        self.last = self.out / str(self.runs)
        index = self.dump("--fixation", "saliency", "--backend", "cpu", *options, clip=clip, out=self.last)["index"]
        left, top, right, bottom = box
        inside = (index["fix_u"] >= left) & (index["fix_u"] < right) & (index["fix_v"] >= top) & (index["fix_v"] < bottom)
        return inside.mean()

    def test_regions_and_masks_are_never_fixated(self):
        clock = (8 / 320, 8 / 240, 104 / 320, 32 / 240)
        self.assertGreater(self.share_in(clock, self.clip), 0.2)
        mask = self.folder / "mask.png"
        ffmpeg("-f", "lavfi", "-i", "color=black:s=640x480,format=rgb24,drawbox=16:16:192:48:white:fill", "-frames:v", 1, mask)
        self.assertEqual(self.share_in(clock, self.clip, "--ignore", "8,8,96,24"), 0)
        self.assertEqual(self.share_in(clock, self.clip, "--ignore", "0.025,0.0333,0.3,0.1", "--rate", 5), 0)
        self.assertEqual(self.share_in(clock, self.clip, "--ignore", "8,8,40,24", "--ignore", "48,8,56,24"), 0)
        self.assertEqual(self.share_in(clock, self.clip, "--ignore", mask, "--seed", 3, "--rate", 3), 0)
        self.assertEqual(len(load_json(self.last, "meta")["ignore_sha256"]), 1)

    def test_displayed_coordinates_of_a_rotated_video(self):
        rotated = self.folder / "rotated.mov"
        ffmpeg("-i", self.clip, "-c:v", "libx264", "-qp", 0, "-pix_fmt", "yuv420p", self.folder / "plain.mp4")
        ffmpeg("-display_rotation:v:0", "90", "-i", self.folder / "plain.mp4", "-c", "copy", rotated) if self.has_display_rotation() else \
            ffmpeg("-i", self.folder / "plain.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=270", rotated)
        frames = self.folder / "rotated.gray"
        ffmpeg("-i", rotated, "-f", "rawvideo", "-pix_fmt", "gray", frames)  # as ffmpeg shows it
        seen = np.fromfile(frames, np.uint8).reshape(-1, 320, 240)
        busy = np.argwhere(np.abs(np.diff(seen[:50].astype(int), axis=0)).mean(axis=0) > 40)  # it changes all the time
        (top, left), (bottom, right) = busy.min(axis=0), busy.max(axis=0) + 1
        self.assertLess((bottom - top) * (right - left), 120 * 40)
        clock = (left / 240, top / 320, right / 240, bottom / 320)
        self.assertGreater(self.share_in(clock, rotated), 0.2)
        self.assertEqual(self.share_in(clock, rotated, "--ignore", f"{left},{top},{right - left},{bottom - top}"), 0)

    @staticmethod
    def has_display_rotation():
        import subprocess
        return b"display_rotation" in subprocess.run(["ffmpeg", "-hide_banner", "-h", "full"], capture_output=True).stdout

    def test_regions_that_make_no_sense(self):
        dump = ("dump", self.clip, "-o", self.out, "--ignore")
        self.refuse(2, ["--ignore", "1,2,3"], *dump, "1,2,3")
        self.refuse(2, ["ignore 400,0,10,10", "outside the frame of 320x240"], *dump, "400,0,10,10")
        self.refuse(2, ["ignore 0,0,320,240", "nothing of the frame is left"], *dump, "0,0,320,240")
        self.refuse(65, ["nothere.png", "nor a picture's file"], *dump, "nothere.png")


if __name__ == "__main__":
    unittest.main()
