"""`reconstruct -o FILE.html`: one file that needs nothing else, its numbers the dump's."""
import base64
import json
import os
import pathlib
import re
import unittest

import numpy as np

from program import FolderTest, ffmpeg, saccade

BOX = "test://box?size=320x180&rate=30&frames=60&seed=3"
MOST_BYTES = 20_000_000


def parts(path):
    """The page's data, its video's bytes, and all of it."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    video = re.search(r'<script type="text/plain" id="video">data:video/(mp4|webm);base64,([A-Za-z0-9+/=]*)</script>', text)
    return data, base64.b64decode(video[2], validate=True), text


class Page(FolderTest):
    def dump(self, name, source, *arguments):
        out = self.folder / name
        made = saccade("dump", source, "-o", out, *arguments)
        self.assertEqual(made.returncode, 0, made.stderr)
        return out

    def page(self, dump):
        path = self.folder / f"{dump.name}.html"
        made = saccade("reconstruct", dump, "-o", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertLessEqual(path.stat().st_size, MOST_BYTES)
        self.assertEqual([p.name for p in self.folder.glob("*.html.*")], [])  # nothing is left beside it
        return path

    def check_numbers(self, dump, data):
        index, geometry = np.load(dump / "index.npy"), np.load(dump / "geometry.npy")
        chosen = np.array(data["emission"])
        self.assertEqual((chosen[0], chosen[-1]), (0, len(index) - 1))
        self.assertTrue((np.diff(chosen) > 0).all())
        rows = index[chosen]
        np.testing.assert_allclose(data["t"], (rows["pts_ns"] - rows["pts_ns"][0]) / 1e9, atol=1e-9)
        self.assertAlmostEqual(data["start"], rows["pts_ns"][0] / 1e9, places=9)
        for name, field in (("frame", "frame"), ("u", "fix_u"), ("v", "fix_v"), ("flight", "in_flight"), ("damaged", "damaged_tiles")):
            np.testing.assert_allclose(data[name], rows[field].astype(float), atol=1e-7, err_msg=name)
        codes = np.frombuffer(base64.b64decode(data["outlines"]), "<u2").reshape(len(chosen), -1, 3).astype(float)
        truth = geometry[chosen]
        seen = truth[..., 3] > 0
        self.assertEqual(codes.shape[:2], truth.shape[:2])
        np.testing.assert_array_equal(codes[..., 2] != 65535, seen)
        np.testing.assert_allclose((codes[..., :2] / 65535 * 3 - 1)[seen], truth[..., :2][seen], atol=3e-5)
        np.testing.assert_allclose((codes[..., 2] / 4096)[seen], truth[..., 2][seen], atol=2e-4)

    def test_its_numbers_and_its_film_are_the_dumps(self):
        dump = self.dump("plain", BOX, "--rate", "6", "--lattice", "nested", "--patches", "100")
        data, video, text = parts(self.page(dump))
        self.check_numbers(dump, data)
        self.assertEqual((data["width"], data["height"], data["patch_size"]), (320, 180, 16))
        self.assertIsNone(re.search(r"https?://(?!www\.w3\.org/2000/svg)|(src|href)=\"(?!data:)", text))
        film = self.folder / "film.mp4"
        film.write_bytes(video)
        frames = np.frombuffer(ffmpeg("-i", film, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"), np.uint8).reshape(-1, 180, 320, 3)
        self.assertEqual(len(frames), len(data["t"]))
        for emission in (0, len(frames) // 2):
            kept = self.folder / "kept.png"
            self.assertEqual(saccade("reconstruct", dump, "-o", kept, "--emission", emission, "--overwrite").returncode, 0)
            picture = np.frombuffer(ffmpeg("-i", kept, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"), np.uint8).reshape(180, 320, 3)
            y, x = np.mgrid[:180, :320]
            away = np.hypot(x - data["u"][emission] * 320, y - data["v"][emission] * 180) > 20  # of the png's mark
            self.assertLess(np.abs(frames[emission].astype(int) - picture)[away].mean(), 6)

    def test_each_frame_of_a_long_video_stays_below_the_limit(self):
        dump = self.dump("long", "test://noise?size=320x180&rate=30&frames=1250", "--every", "frame", "--lattice", "nested", "--patches", "100")
        data, _, _ = parts(self.page(dump))
        self.assertEqual(data["emissions"], 1250)
        self.assertLessEqual(len(data["t"]), 1200)
        self.check_numbers(dump, data)

    def test_a_name_ends_no_script(self):
        clip = self.folder / "a <b> & </script><script>alert(1)</script>"[:60].replace("/", "_")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=5:duration=1", "-c:v", "ffv1", "-f", "matroska", clip)
        dump = self.dump("odd", clip)
        data, _, text = parts(self.page(dump))
        self.assertEqual(data["name"], clip.name)
        self.assertNotIn("<script>alert", text)

    def test_one_emission_is_a_page_as_well(self):
        dump = self.dump("one", BOX, "--frames", "1")
        data, video, _ = parts(self.page(dump))
        self.assertEqual((data["t"], data["duration"]), ([0], 1))
        self.assertGreater(len(video), 100)

    def test_what_exists_is_kept(self):
        dump = self.folder / "plain2"
        self.dump("plain2", BOX, "--frames", "1")
        path = self.folder / "mine.html"
        path.write_text("mine")
        made = saccade("reconstruct", dump, "-o", path)
        self.assertEqual(made.returncode, 2, made.stderr)
        self.assertEqual(path.read_text(), "mine")
        lost = saccade("reconstruct", dump, "-o", os.path.join(self.folder, "no", "page.html"))
        self.assertEqual(lost.returncode, 1, lost.stderr)
        self.assertIn("page.html", lost.stderr)
        self.assertEqual(len(lost.stderr.strip().splitlines()), 1, lost.stderr)


if __name__ == "__main__":
    unittest.main()
