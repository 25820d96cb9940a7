"""Patches in a dump against an independent reading of the same video: ffmpeg's frames, the pyramid by its definition in
NumPy, trilinear samples at geometry.npy's positions, the standard's matrix."""
import tempfile
import unittest

import numpy as np

import reference as ref

LEFT, CENTRE, TOP_LEFT = (0.25, 0.0), (0.0, 0.0), (0.25, 0.25)
SITE_NAMES = {LEFT: "left", CENTRE: "center", TOP_LEFT: "topleft"}
COLORSPACES = {"bt601": "smpte170m", "bt709": "bt709", "bt2020": "bt2020nc", "smpte240m": "smpte240m"}


def source(width, height, frames):
    """Detail, edges, saturated colours, motion."""
    return f"testsrc2=s={width + width % 2}x{height + height % 2}:r=25,crop={width}:{height}:0:0:exact=1,noise=alls=24:allf=t,trim=end_frame={frames}"


class Patches(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dumps = 0

    def yuv_clip(self, width, height, pixel_format, matrix, full_range, site=LEFT):
        path = f"{self.folder.name}/{matrix}_{pixel_format}_{full_range}_{width}.mkv"
        graph = source(width, height, 10)
        if site != LEFT:  # FFmpeg 7 takes the site from the frames alone, FFmpeg 5 from the encoder's option
            graph += f",format={pixel_format},zscale=chromal={SITE_NAMES[site]}"
        return ref.make_clip(path, graph, "-pix_fmt", pixel_format, "-c:v", "ffv1", "-level", 3,
                             "-colorspace", COLORSPACES[matrix], "-color_range", "pc" if full_range else "tv",
                             "-chroma_sample_location", SITE_NAMES[site])

    def check(self, clip, width, height, pixel_format, color, *options, levels=7, patch_size=16, threshold=0):
        """Every emission of one dump."""
        self.dumps += 1
        dumped = ref.dump(clip, f"{self.folder.name}/dump{self.dumps}", *options)
        frames = ref.decode(clip, width, height, pixel_format)
        held = {}
        for number, (texture, _) in enumerate(ref.textures(frames, threshold)):
            held[number] = [plane.copy() for plane in texture]
        emissions = len(dumped["index"])
        self.assertGreater(emissions, 2)
        self.assertEqual(dumped["patches"].dtype, np.uint8)
        self.assertEqual(dumped["patches"].shape, (*dumped["geometry"].shape[:2], 3, patch_size, patch_size))
        for emission in range(emissions):
            geometry = dumped["geometry"][emission]
            texture = held[int(dumped["index"]["frame"][emission])]
            expected = ref.patches(texture, geometry, patch_size, levels, color).astype(int)
            difference = np.abs(expected - dumped["patches"][emission])
            where = f"emission {emission}, patch {np.unravel_index(difference.argmax(), difference.shape)}"
            self.assertLessEqual(difference.max(), 1, where)
            self.assertLess(difference.mean(), 0.02, where)
            np.testing.assert_allclose(geometry[:, 3], ref.coverage(geometry, width, height, patch_size), atol=1 / patch_size)
        return dumped

    def color(self, matrix="bt709", full_range=False, bits=8, site=LEFT):
        return {"matrix": matrix, "full_range": full_range, "bits": bits, "site": site}

    def test_lattices(self):
        clip = self.yuv_clip(320, 180, "yuv420p", "bt709", False)
        for options in (("--lattice", "nested"), ("--lattice", "nested", "--e0", "1.5"), ("--lattice", "nested", "--patch-size", 8),
                        ("--lattice", "grid", "--patches", 60), ("--lattice", "uniform", "--patches", 24),
                        ("--lattice", "uniform", "--patches", 24, "--set", "lod=2.3")):
            with self.subTest(options=options):
                size = 8 if "--patch-size" in options else 16
                dumped = self.check(clip, 320, 180, "yuv420p", self.color(), "--every", "frame", "--fixation", "random", "--seed", 5,
                                    "--rate", 12.5, *options, patch_size=size)
                self.assertGreater(len(np.unique(dumped["index"]["fix_u"])), 2)

    def test_matrices_ranges_and_depths(self):
        for matrix in COLORSPACES:
            for full_range in (False, True):
                for bits, pixel_format in ((8, "yuv420p"), (10, "yuv420p10le")):
                    with self.subTest(matrix=matrix, full_range=full_range, bits=bits):
                        clip = self.yuv_clip(192, 108, pixel_format, matrix, full_range)
                        self.check(clip, 192, 108, pixel_format, self.color(matrix, full_range, bits), "--every", 3,
                                   "--fixation", "random", "--lattice", "grid", "--patches", 40)

    def test_chroma_sites(self):
        for site in (CENTRE, TOP_LEFT):
            with self.subTest(site=site):
                clip = self.yuv_clip(96, 96, "yuv420p", "bt601", False, site)
                self.assertEqual(ref.chroma_location(clip), SITE_NAMES[site])
                self.check(clip, 96, 96, "yuv420p", self.color("bt601", site=site), "--every", 3)

    def test_odd_sizes(self):
        for width, height in ((161, 121), (17, 33), (1, 1), (2, 2), (3, 70)):
            with self.subTest(width=width, height=height):
                noise = f"nullsrc=s={width}x{height}:r=25,geq=lum='random(1)*255':cb='random(2)*255':cr='random(3)*255',trim=end_frame=6"
                clip = ref.make_clip(f"{self.folder.name}/odd{width}.mkv", noise, "-pix_fmt", "yuv420p", "-c:v", "ffv1",
                                     "-colorspace", "bt709", "-color_range", "tv", "-chroma_sample_location", "left")
                for lattice in ("nested", "grid"):
                    self.check(clip, width, height, "yuv420p", self.color(), "--every", "frame", "--fixation", "random", "--rate", 12.5,
                               "--lattice", lattice)

    def test_rgb(self):
        clip = ref.make_clip(f"{self.folder.name}/rgb.mov", source(161, 121, 8), "-pix_fmt", "rgb24", "-c:v", "png")
        for lattice in ("nested", "grid"):
            self.check(clip, 161, 121, "rgb24", self.color(), "--every", "frame", "--fixation", "random", "--rate", 12.5, "--lattice", lattice)

    def test_lossy_video_with_b_frames_and_default_tags(self):
        clip = ref.make_clip(f"{self.folder.name}/lossy.mp4", source(320, 240, 50), "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", 3)
        self.check(clip, 320, 240, "yuv420p", self.color("bt601"), "--fixation", "random")
        self.check(clip, 320, 240, "yuv420p", self.color("bt601"), "--every", 7)

    def test_other_level_counts(self):
        clip = self.yuv_clip(192, 108, "yuv420p", "bt709", False)
        for levels in (1, 2, 9):
            with self.subTest(levels=levels):
                self.check(clip, 192, 108, "yuv420p", self.color(), "--every", 3, "--levels", levels, "--lattice", "grid", "--e0", 0.3,
                           levels=levels)

    def test_threshold_samples_the_texture_as_held(self):
        clip = self.yuv_clip(192, 108, "yuv420p", "bt709", False)
        self.check(clip, 192, 108, "yuv420p", self.color(), "--every", "frame", "--threshold", 40, threshold=40)
        clip = self.yuv_clip(192, 108, "yuv420p10le", "bt709", False)
        self.check(clip, 192, 108, "yuv420p10le", self.color(bits=10), "--every", "frame", "--threshold", 40, threshold=40)


if __name__ == "__main__":
    unittest.main()
