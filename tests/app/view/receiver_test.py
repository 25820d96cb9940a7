"""Views of what the receiver of lattice adaptive has, against NumPy's painting of what a dump sent."""
import pathlib

import numpy as np
from program import FolderTest, ffmpeg, need_gl, saccade, saccade_json
from view_support import shoot

BOX = "test://box?size=320x180&rate=30&frames=60&seed=3"
STATIC = "test://static?size=320x180&rate=30&frames=60"
PLAIN = ("--show", "none", "--size", "320x180")
ADAPTIVE = ("--lattice", "adaptive", "--fixation", "center")
GREY = 128


def paint(picture, patches, geometry):
    """What a look sent, over what was there: each sample a square of one colour."""
    height, width, _ = picture.shape
    y, x = np.mgrid[:height, :width]
    for patch, (u, v, lod, coverage) in zip(patches, geometry.astype(float)):
        if coverage <= 0:
            continue
        pitch = 2 ** round(lod)
        column, row = (x - round(u * width - 8 * pitch)) // pitch, (y - round(v * height - 8 * pitch)) // pitch
        inside = (column >= 0) & (column < 16) & (row >= 0) & (row < 16)
        picture[inside] = patch[:, row[inside], column[inside]].T


def coloured(shot):
    """Of each whole tile: whether the heat map colours it."""
    spread = shot.astype(int).max(axis=2) - shot.astype(int).min(axis=2)
    return spread[:176].reshape(11, 16, 20, 16).max(axis=(1, 3)) > 8


class Receiver(FolderTest):
    def setUp(self):
        need_gl(pathlib.Path(self.folder))

    def dump(self, source, *arguments):
        out = pathlib.Path(self.folder) / f"dump{len(list(pathlib.Path(self.folder).iterdir()))}"
        made = saccade("dump", source, "-o", out, *ADAPTIVE, *arguments)
        self.assertEqual(made.returncode, 0, made.stderr)
        return np.load(out / "patches.npy"), np.load(out / "geometry.npy"), np.load(out / "index.npy")

    def held(self, source, *arguments):
        """At each look of a dump: its time in seconds, and what its receiver holds then."""
        picture = np.full((180, 320, 3), GREY, np.uint8)
        for patches, geometry, row in zip(*self.dump(source, *arguments)):
            paint(picture, patches, geometry)
            yield row["pts_ns"] / 1e9, picture.copy()

    def test_held_is_what_was_sent(self):
        budget = ("--tokens", "20")
        for number, (at_s, picture) in enumerate(self.held(BOX, *budget)):
            if number not in (0, 1, 5):
                continue
            with self.subTest(look=number):
                shot = shoot(self.folder, BOX, *PLAIN, *ADAPTIVE, *budget, "--view", "held", t=f"{at_s + 1e-3:.4f}")
                self.assertLessEqual(np.abs(shot.astype(int) - picture).max(), 1)
        self.assertGreater(number, 5)

    def test_what_the_context_lost_is_grey(self):
        # Still noise: what was never sent is sent before what was lost.
        clip = pathlib.Path(self.folder) / "noise.mkv"
        ffmpeg("-f", "lavfi", "-i", "nullsrc=size=320x180:rate=30:duration=0.03,geq=lum='random(1)*255':cb=128:cr=128,loop=loop=44:size=1:start=0",
               "-c:v", "ffv1", clip)
        limits = ("--tokens", "20", "--context", "20")
        patches, geometry, index = self.dump(clip, *limits)
        sent = [(patch, place) for look in zip(patches, geometry) for patch, place in zip(*look) if place[3] > 0]
        last = len(sent) - int((geometry[-1, :, 3] > 0).sum())  # the last look's first
        picture, lost = np.full((180, 320, 3), GREY, np.uint8), np.zeros((180, 320, 1), bool)
        for number, (patch, place) in enumerate(sent):
            shown = np.zeros((180, 320, 3), np.uint8)
            paint(shown, np.ones((1, 3, 16, 16), np.uint8), place[None])
            paint(picture, patch[None], place[None])
            lost = np.where(shown[..., :1] > 0, last - number > 20, lost)
        picture[lost[..., 0]] = GREY
        self.assertGreater(lost.mean(), 0.1)
        at_s = index["pts_ns"][-1] / 1e9
        shot = shoot(self.folder, clip, *PLAIN, *ADAPTIVE, *limits, "--view", "held", t=f"{at_s + 1e-3:.4f}")
        self.assertLessEqual(np.abs(shot.astype(int) - picture).max(), 1)

    def test_error_is_coloured_where_something_is_missing(self):
        every = shoot(self.folder, STATIC, *PLAIN, *ADAPTIVE, "--tokens", "2000", "--view", "error", t="1")
        self.assertEqual(coloured(every).sum(), 0)
        few = ("--tokens", "20")
        *_, (at_s, picture) = self.held(STATIC, *few, "--frames", "16")
        frame = shoot(self.folder, STATIC, *PLAIN, t="0")
        shot = shoot(self.folder, STATIC, *PLAIN, *ADAPTIVE, *few, "--view", "error", t=f"{at_s + 1e-3:.4f}")
        luma = np.array([0.2126, 0.7152, 0.0722])
        off = np.abs(frame[:176] @ luma - picture[:176] @ luma).reshape(11, 16, 20, 16).max(axis=(1, 3))
        self.assertTrue(coloured(shot)[off > 12].all())
        self.assertFalse(coloured(shot)[off < 0.5].any())
        self.assertGreater((off > 12).sum(), 20)

    def test_weights_are_those_of_age_fatigue_and_ignore(self):
        shot = shoot(self.folder, STATIC, *PLAIN, *ADAPTIVE, "--tokens", "2000", "--ignore", "0,0,160,180", "--view", "weights", t="0.1")
        frame = shoot(self.folder, STATIC, *PLAIN, t="0.1")
        self.assertEqual(coloured(shot)[:, :10].sum(), 0)
        # A still tile that was sent once weighs 1/4 * 1/2, halfway from 1/64 to 1: the heat map's middle.
        grey = frame[:176, 160:].astype(float) @ np.array([0.2126, 0.7152, 0.0722]) / 255
        truth = np.array([0.35, 0.75, 0.35]) * (0.5 + 0.5 * grey[..., None]) * 255
        self.assertLess(np.abs(shot[:176, 160:] - truth).max(), 3)

    def test_facts_are_those_of_the_dump(self):
        patches, geometry, index = self.dump(BOX, "--tokens", "20")
        sent = (geometry[:, :, 3] > 0).sum(axis=1)
        at_s = index["pts_ns"] / 1e9
        path = pathlib.Path(self.folder) / "facts.png"
        state = saccade_json("view", BOX, "--offscreen", "--screenshot", f"{at_s[6] + 1e-3}={path}", *ADAPTIVE, "--tokens", "20")
        self.assertEqual(state["receiver"]["tokens_last_look"], sent[6])
        self.assertEqual(state["receiver"]["tokens_last_s"], sent[:7][at_s[:7] > at_s[6] - 1].sum())
        self.assertTrue(10 < state["receiver"]["psnr_db"] < 60)

    def test_the_psnr_that_was_asked_for_is_held(self):
        path = pathlib.Path(self.folder) / "psnr.png"
        noise = "test://noise?size=320x180&rate=30&frames=60"
        state = saccade_json("view", noise, "--offscreen", "--screenshot", f"0={path}", *ADAPTIVE, "--tokens", "2000", "--target-psnr", "20")
        self.assertAlmostEqual(state["receiver"]["psnr_db"], 20, delta=0.3)

    def test_other_lattices_have_no_receiver(self):
        for view in ("held", "error", "weights"):
            with self.subTest(view=view):
                path = pathlib.Path(self.folder) / "none.png"
                refused = saccade("view", BOX, "--offscreen", "--screenshot", f"0={path}", "--lattice", "nested", "--view", view)
                self.assertEqual(refused.returncode, 2)
                self.assertIn("--view: held, error and weights show the receiver", refused.stderr)
                self.assertIn("--lattice adaptive", refused.stderr)
        self.assertIsNone(saccade_json("view", BOX, "--offscreen", "--screenshot", f"0={path}", "--lattice", "nested")["receiver"])
