"""V4L2 cameras through FFmpeg's own v4l2 input: a fake device answers its system calls (fake_camera.c)."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import numpy as np

from live_support import SACCADE, LiveTest, build_shim, write_pictures

WIDTH, HEIGHT, RATE, SHADES = 320, 240, 50, 100
CAMERA = "/dev/video7"


def shade(number):
    """The luma of picture `number`: all of it."""
    return 30 + 2 * (number % SHADES)


def yuyv_pictures():
    return [bytes([shade(k), 128]) * (WIDTH * HEIGHT) for k in range(SHADES)]


def jpeg_pictures(folder):
    """Each shade as ffmpeg encodes it, and as ffmpeg decodes it again: [SHADES] of R'G'B'."""
    gray = b"".join(bytes([shade(k)]) * (WIDTH * HEIGHT) + bytes([128]) * (WIDTH * HEIGHT // 2) for k in range(SHADES))
    pattern = str(pathlib.Path(folder) / "%03d.jpg")
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuvj420p", "-s", f"{WIDTH}x{HEIGHT}", "-i", "-", "-q:v", "2", pattern],
                   input=gray, check=True)
    files = sorted(pathlib.Path(folder).glob("*.jpg"))
    raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", pattern, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True).stdout
    decoded = np.frombuffer(raw, np.uint8).reshape(SHADES, -1, 3)
    return [file.read_bytes() for file in files], decoded.mean(axis=1)


class Camera(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with tempfile.TemporaryDirectory() as folder:
            jpegs, cls.jpeg_shades = jpeg_pictures(folder)
        cls.env = {**build_shim(cls.folder, "fake_camera"), "SACCADE_CAMERA": CAMERA, "SACCADE_CAMERA_FORM": f"{WIDTH},{HEIGHT},{RATE}",
                   "SACCADE_CAMERA_MJPEG": write_pictures(cls.folder / "mjpeg", jpegs),
                   "SACCADE_CAMERA_YUYV": write_pictures(cls.folder / "yuyv", yuyv_pictures())}

    def camera(self, *options, source=CAMERA, **extra):
        return self.dump(source, "--lattice", "nested", *options, env={**self.env, **{key: str(value) for key, value in extra.items()}})

    def check_times(self, index, live):
        """The driver's stamps, which lie 1/RATE s apart, are the times of the dump."""
        steps = np.diff(index["pts_ns"]) * RATE / 1e9
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)  # the driver counts microseconds
        captured = np.diff(live["captured_unix_ns"]) - np.diff(index["pts_ns"])
        self.assertLess(np.abs(captured).max(), 5e6)  # the two clocks are read one after the other
        self.assertEqual(self.manifest()["live"]["capture_clock"], "driver")
        self.assertGreater(live["age_ns"].min(), 0)

    def test_yuyv_pictures_and_times(self):
        self.finish(self.camera("--frames", 30, "--input-format", f"yuyv422:video_size={WIDTH}x{HEIGHT}:framerate={RATE}",
                                "--live-policy", "block", "--threshold", 0), 0)
        arrays = self.arrays()
        self.assertEqual(len(arrays["index"]), 30)
        self.check_times(arrays["index"], arrays["live"])
        inside = arrays["geometry"][0, :, 3] == 1
        got = arrays["patches"][:, inside].mean(axis=(1, 2, 3, 4))
        first = round(((got[0] * 219 / 255 + 16) - 30) / 2)
        numbers = first + np.rint(np.diff(arrays["index"]["pts_ns"], prepend=arrays["index"]["pts_ns"][0]) * RATE / 1e9).cumsum()
        luma = np.array([shade(int(number)) for number in numbers])
        np.testing.assert_allclose(got, (luma - 16) * 255 / 219, atol=0.6)  # BT.601, limited range, rounded
        meta = self.meta()
        self.assertTrue(meta["stream"]["live"])
        self.assertEqual((meta["stream"]["width_px"], meta["stream"]["height_px"], meta["stream"]["pixel_format"]), (WIDTH, HEIGHT, "yuyv422"))

    def test_mjpeg_pictures(self):
        self.finish(self.camera("--frames", 20, "--input-format", "mjpeg", source=f"v4l2://{CAMERA}"), 0)
        arrays = self.arrays()
        self.check_times(arrays["index"], arrays["live"])
        inside = arrays["geometry"][0, :, 3] == 1
        got = arrays["patches"][:, inside].mean(axis=(1, 3, 4))
        shades = self.jpeg_shades[np.abs(self.jpeg_shades[None] - got[:, None]).sum(axis=2).argmin(axis=1)]
        np.testing.assert_allclose(got, shades, atol=1)
        self.assertEqual(self.meta()["stream"]["codec"], "mjpeg")
        self.assertEqual(self.manifest()["queue_policy"], "latest")

    def test_stamps_that_stick(self):
        self.finish(self.camera("--frames", 50, "--input-format", "yuyv422", "--live-policy", "block", SACCADE_CAMERA_STUCK=20), 0)
        arrays, manifest = self.arrays(), self.manifest()
        self.assertGreater(np.diff(arrays["index"]["pts_ns"]).min(), 0)
        self.assertGreater(manifest["decode_errors"]["pts_not_rising"], 0)
        # The times given out were made to rise; when a picture was captured is what the driver said.
        captured = arrays["live"]["captured_unix_ns"]
        self.assertAlmostEqual((captured[-1] - captured[0]) * RATE / 1e9, 49, delta=0.3)
        self.assertEqual(manifest["live"]["capture_clock"], "driver")

    def test_a_pulled_camera(self):
        self.finish(self.camera("--live-policy", "block", SACCADE_CAMERA_PULL=25), 3, "No such device")
        manifest = self.manifest()
        self.assertTrue(manifest["complete"])
        self.assertTrue(manifest["live"]["broke_off"])
        self.assertEqual(manifest["emissions"], len(self.arrays()["index"]))
        self.assertEqual(manifest["frames"], 25)

    def test_a_camera_that_stalls(self):
        self.finish(self.camera("--set", "stall-timeout=1", SACCADE_CAMERA_STALL=10), 3, "nothing came for 1 s")
        self.assertTrue(self.manifest()["complete"])

    def test_buffers_that_are_all_short(self):
        self.finish(self.camera("--set", "open-timeout=2", "--input-format", "yuyv422", SACCADE_CAMERA_SHORT=512), 65, CAMERA, str(2 * WIDTH * HEIGHT), str(2 * WIDTH * HEIGHT - 512))
        self.assertFalse(self.out.exists())

    def test_a_busy_camera(self):
        self.finish(self.camera(SACCADE_CAMERA_BUSY=1), 65, CAMERA, "busy")
        self.assertFalse(self.out.exists())

    def test_a_signal_ends_it(self):
        process = self.camera()
        self.wait_for_rows(20, process)
        self.stop(process, signal.SIGHUP)
        self.assertEqual(self.manifest()["emissions"], len(self.arrays()["index"]))

    def test_listed(self):
        done = subprocess.run([SACCADE, "info", "--devices", "--json"], env=self.env, capture_output=True, text=True, check=True)
        found = [camera for camera in json.loads(done.stdout) if camera["path"] == CAMERA]
        self.assertEqual(len(found), 1)
        self.assertEqual((found[0]["name"], found[0]["driver"]), ("Fake Camera", "fake"))
        self.assertEqual([(mode["format"], mode["size"], mode["rates"]) for mode in found[0]["modes"]],
                         [("mjpeg", f"{WIDTH}x{HEIGHT}", [str(RATE)]), ("yuyv422", f"{WIDTH}x{HEIGHT}", [str(RATE)])])

    def test_options_that_a_source_lacks(self):
        for value, name in (("video_size=64x48", "video_size='64x48'"), ("framerate=25", "framerate='25'")):
            clip = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"]) / "assets/demo.mp4"
            self.finish(self.dump(clip, "--input-format", value), 2, name, "leave out")
            self.assertFalse(self.out.exists())
        self.finish(self.camera("--loop"), 2, "--loop")

    def test_a_size_or_rate_that_the_camera_changes(self):
        for asked, words in (("video_size=640x480", f"gives {WIDTH}x{HEIGHT}, not 640x480"), ("framerate=25", f"gives {RATE} frames/s, not 25")):
            self.finish(self.camera("--input-format", asked, "--frames", 2, "--overwrite"), 0, words)
            self.assertTrue(any(words in note for note in self.meta()["stream"]["notes"]))

    def test_a_format_that_the_camera_lacks(self):
        self.finish(self.camera("--input-format", "h264"), 65, CAMERA)


if __name__ == "__main__":
    unittest.main()
