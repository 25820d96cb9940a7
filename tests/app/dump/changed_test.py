"""changed.npy against the bytes of patches.npy: 0 is never wrong, and no 1 is said that bytes refute."""
import unittest

import numpy as np
from dump_support import DumpTest, ffmpeg


def truth(arrays):
    """What changed.npy must say where nothing is forgotten: 1 where a place is new or its bytes are others."""
    patches, geometry = arrays["patches"], arrays["geometry"]
    expected = np.ones(geometry.shape[:2], np.uint8)
    last = {}
    for emission in range(len(geometry)):
        for patch in range(geometry.shape[1]):
            place, now = geometry[emission, patch, :3].tobytes(), patches[emission, patch].tobytes()
            expected[emission, patch] = 0 if last.get(place) == now else 1
            last[place] = now
    return expected


class Changed(DumpTest):
    seconds, size, rate = 1, "320x240", 15

    def made(self, name, graph, *codec):
        path = self.folder / name
        ffmpeg("-f", "lavfi", "-i", graph, *(codec or ("-c:v", "libx264", "-crf", 28, "-pix_fmt", "yuv420p")), path)
        return path

    def test_nested_is_exact(self):
        clips = [self.clip, self.made("noise.mp4", "color=gray:s=320x240:r=15:d=1,noise=alls=3:allf=t"),
                 self.made("box.mkv", "color=gray:s=320x240:r=15:d=1,drawbox=x=100:y=100:w=3:h=3:color=white:t=fill:enable='gt(mod(n,4),1)'",
                           "-c:v", "ffv1", "-pix_fmt", "yuv420p10le")]
        for number, clip in enumerate(clips):
            for options in (("--every", "frame", "--fixation", "center:0.3,0.6"), ("--rate", 12, "--fixation", "raster:2x2", "--dtype", "f32")):
                with self.subTest(clip=clip.name, options=options):
                    arrays = self.dump(*options, "--backend", "cpu", "--lattice", "nested", "--patches", 200, clip=clip, out=self.out / f"{number}{len(options)}")
                    expected = truth(arrays)
                    self.assertTrue((expected[1:] == 0).any())
                    np.testing.assert_array_equal(arrays["changed"], expected)

    def test_noise_that_means_absorb_is_no_change(self):
        frames = np.full((15, 240, 320), 100, np.uint8)
        random = np.random.default_rng(4)
        for frame in frames:  # each tile differs a little, and no 4x4 mean does
            rows, cols = random.integers(0, 240, 300), random.integers(0, 320, 300)
            frame[rows, cols] += 1
        raw = self.folder / "noise.gray"
        frames.tofile(raw)
        clip = self.folder / "tiny.mkv"
        ffmpeg("-f", "rawvideo", "-pix_fmt", "gray", "-s", "320x240", "-r", "15", "-color_range", "pc", "-i", raw, "-pix_fmt", "yuvj420p", "-c:v", "ffv1", clip)
        arrays = self.dump("--every", "frame", "--fixation", "center:0,0", "--lattice", "nested", "--patches", 273, "--backend", "cpu", clip=clip)
        coarse = (arrays["geometry"][0, :, 2] >= 2) & (arrays["geometry"][0, :, 3] > 0)
        self.assertTrue(coarse.any())
        self.assertFalse(arrays["changed"][1:, coarse].any())

    def test_grid_is_never_wrong(self):
        arrays = self.dump("--every", "frame", "--fixation", "center", "--lattice", "grid", "--patches", 60, "--backend", "cpu")
        self.assertFalse((truth(arrays) > arrays["changed"]).any())

    def test_outside_the_frame_changes_once(self):
        arrays = self.dump("--every", "frame", "--lattice", "nested", "--fixation", "random", "--rate", 5, "--fov-deg", 90, "--backend", "cpu")
        outside = arrays["geometry"][:, :, 3] == 0
        self.assertTrue(outside.any())
        self.assertFalse(arrays["patches"][outside].any())
        seen = set()
        for emission, patch in np.argwhere(outside):
            place = arrays["geometry"][emission, patch, :3].tobytes()
            self.assertEqual(arrays["changed"][emission, patch], 0 if place in seen else 1)
            seen.add(place)

    def test_the_manifest_counts_them(self):
        from dump_support import load_json
        arrays = self.dump("--every", "frame", "--backend", "cpu")
        self.assertEqual(load_json(self.out, "manifest")["patches_changed"], int(arrays["changed"].sum()))


if __name__ == "__main__":
    unittest.main()
