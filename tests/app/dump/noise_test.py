"""The bound that DESIGN promises: with --min-samples 0 no sample of the texture is further from the frame than --threshold."""
import unittest

import numpy as np
from dump_support import DumpTest, ffmpeg, load_json, saccade


class Noise(DumpTest):
    width, height, frames = 96, 64, 24

    def setUp(self):
        super().setUp()
        self.noisy = self.folder / "noisy.mkv"
        if not self.noisy.exists():
            # Full-range grey: the samples of the dump are the codes of the frame. It also drifts, slowly.
            ffmpeg("-f", "lavfi", "-i", f"nullsrc=s={self.width}x{self.height}:r=25,format=gray,geq=lum='60+X+N/3',"
                   "noise=alls=12:allf=t,format=gray", "-frames:v", self.frames, "-c:v", "ffv1", "-color_range", "pc", self.noisy)
        raw = self.folder / "noisy.raw"
        ffmpeg("-i", self.noisy, "-f", "rawvideo", "-pix_fmt", "gray", raw)
        self.truth = np.fromfile(raw, np.uint8).reshape(self.frames, self.height, self.width)

    def held(self, threshold, min_samples):
        """The texture after each frame, [F, H, W]."""
        out = self.folder / f"t{threshold}m{min_samples}"
        dump = self.dump("--every", "frame", "--fixation", "center", "--lattice", "nested", "--strides", "1", "--grid-sizes", "8", "--threshold",
                         threshold, "--min-samples", min_samples, clip=self.noisy, out=out)
        seen = np.full(self.truth.shape, -1, np.int16)
        size = np.array([self.width, self.height])
        for frame in range(self.frames):
            corners = np.round(dump["geometry"][frame, :, :2] * size - 8).astype(int)
            for patch, (x, y) in zip(dump["patches"][frame, :, 0], corners):
                x0, y0, x1, y1 = max(x, 0), max(y, 0), min(x + 16, self.width), min(y + 16, self.height)
                if x0 < x1 and y0 < y1:
                    seen[frame, y0:y1, x0:x1] = patch[y0 - y:y1 - y, x0 - x:x1 - x]
        self.assertTrue((seen >= 0).all(), "every pixel is covered")
        return seen, dump["index"]["damaged_tiles"]

    def test_the_texture_never_drifts_further_than_the_threshold(self):
        tiles = (self.width // 16) * (self.height // 16)
        before = tiles * self.frames + 1
        for threshold in (0, 2, 4, 8, 16, 40):
            seen, damaged = self.held(threshold, 0)
            apart = np.abs(seen - self.truth.astype(np.int16))
            self.assertLessEqual(apart.max(), threshold)
            self.assertLessEqual(damaged.sum(), before, "a higher threshold damages no more")
            before = damaged.sum()
        self.assertLess(before, tiles * self.frames / 4, "40 codes lie above this noise")

    def test_with_min_samples_that_many_samples_may(self):
        for threshold, most in ((16, 40), (20, 8)):
            seen, _ = self.held(threshold, most)
            over = np.abs(seen - self.truth.astype(np.int16)) > threshold
            tiles = over.reshape(self.frames, self.height // 16, 16, self.width // 16, 16).sum(axis=(2, 4))
            self.assertLessEqual(tiles.max(), most)
            self.assertGreater(tiles.max(), 0, "the setting does something")

    def test_a_live_source_has_a_threshold_unless_told(self):
        def threshold(*options, clip=self.noisy, **more):
            out = self.folder / f"live-{len(list(self.folder.iterdir()))}"
            done = saccade("dump", clip, "-o", out, *options, **more)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            return load_json(out, "meta")["options"]["threshold"], done.stderr
        self.assertEqual(threshold()[0], "0")
        for options, expected in (((), "8"), (("--threshold", "0"), "0"), (("--threshold", "3"), "3")):
            with open(self.noisy, "rb") as stdin:
                held, said = threshold("--live-policy", "latest", *options, clip="-", stdin=stdin)
            self.assertEqual(held, expected)
            self.assertEqual(b"for a live source" in said, expected == "8")


if __name__ == "__main__":
    unittest.main()
