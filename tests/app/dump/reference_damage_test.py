"""damaged_tiles, changed.npy and the emissions' times against arithmetic on ffmpeg's frames."""
import math
import tempfile
import unittest

import numpy as np

import reference as ref


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.dumps = 0

    def dump(self, clip, *options):
        self.dumps += 1
        return ref.dump(clip, f"{self.folder}/dump{self.dumps}", *options)

    def damage_of(self, clip, *options):
        return self.dump(clip, "--every", "frame", *options)["index"]["damaged_tiles"].tolist()

    def expected_damage(self, frames, threshold=0, min_samples=0):
        return [int(damaged.sum()) for _, damaged in ref.textures(frames, threshold, min_samples)]


class DamagedTiles(Case):
    def check(self, clip, width, height, pixel_format):
        frames = ref.decode(clip, width, height, pixel_format)
        for threshold, min_samples in ((0, 0), (3, 0), (12, 0), (0, 40), (5, 10)):
            with self.subTest(clip=clip, threshold=threshold, min_samples=min_samples):
                expected = self.expected_damage(frames, threshold, min_samples)
                self.assertGreater(len(set(expected)), 1)
                self.assertEqual(self.damage_of(clip, "--threshold", threshold, "--min-samples", min_samples), expected)

    def test_lossy_video(self):
        clip = ref.make_clip(f"{self.folder}/a.mp4", "testsrc2=s=208x120:r=25:d=2", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-crf", 30)
        self.check(clip, 208, 120, "yuv420p")

    def test_odd_size(self):
        clip = ref.make_clip(f"{self.folder}/b.mkv", "testsrc2=s=162x122:r=25:d=1,crop=161:121:0:0:exact=1", "-pix_fmt", "yuv420p", "-c:v", "ffv1")
        self.check(clip, 161, 121, "yuv420p")

    def test_ten_bits(self):
        clip = ref.make_clip(f"{self.folder}/c.mkv", "testsrc2=s=160x96:r=25:d=1", "-pix_fmt", "yuv420p10le", "-c:v", "ffv1", "-level", 3)
        self.check(clip, 160, 96, "yuv420p10le")

    def test_rgb(self):
        clip = ref.make_clip(f"{self.folder}/d.mov", "testsrc2=s=162x122:r=25:d=1,crop=161:121:0:0:exact=1", "-pix_fmt", "rgb24", "-c:v", "png")
        self.check(clip, 161, 121, "rgb24")


class MadeTiles(Case):
    """Small worlds in which the damage is known by construction."""

    def test_one_pixel_is_one_tile(self):
        frames = [np.full((64, 96, 3), 110, np.uint8)]
        for x, y in ((0, 0), (15, 15), (16, 16), (95, 63), (31, 32), (47, 0)):
            frames.append(frames[-1].copy())
            frames[-1][y, x] = 255
        clip = ref.raw_clip(f"{self.folder}/pixel.mov", frames)
        self.assertEqual(self.damage_of(clip), [24, 1, 1, 1, 1, 1, 1])

    def test_one_pixel_edge_tiles(self):
        frames = [np.full((131, 257, 3), 90, np.uint8)]
        for value in (91, 200):
            frames.append(frames[-1].copy())
            frames[-1][:, 256] = value  # the last column: 9 tiles of one pixel's width
        frames.append(frames[-1].copy())
        frames[-1][130, :] = 7          # the last row, 17 tiles
        clip = ref.raw_clip(f"{self.folder}/edge.mov", frames)
        self.assertEqual(self.damage_of(clip), [17 * 9, 9, 9, 17])

    def test_chroma_alone(self):
        clip = ref.make_clip(f"{self.folder}/chroma.mkv", "nullsrc=s=128x128:r=25,geq=lum=120:cb='100+60*mod(N,2)':cr=128,trim=end_frame=6",
                             "-pix_fmt", "yuv420p", "-c:v", "ffv1")
        self.assertEqual(self.damage_of(clip), [64] * 6)

    def test_cut_between_stills(self):
        still, other = np.full((120, 160, 3), (250, 240, 20), np.uint8), np.full((120, 160, 3), (5, 10, 200), np.uint8)
        clip = ref.raw_clip(f"{self.folder}/cut.mov", [still] * 6 + [other] * 6)
        self.assertEqual(self.damage_of(clip), [80, 0, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0])

    def test_slow_fade_never_drifts(self):
        clip = ref.raw_clip(f"{self.folder}/fade.mov", [np.full((98, 130, 3), level, np.uint8) for level in range(60)])
        for threshold in (0, 4, 9):
            with self.subTest(threshold=threshold):
                dumped = self.dump(clip, "--every", "frame", "--lattice", "nested", "--threshold", threshold)
                expected = [9 * 7 if level % (threshold + 1) == 0 else 0 for level in range(60)]
                self.assertEqual(dumped["index"]["damaged_tiles"].tolist(), expected)
                for level in range(60):
                    inside = dumped["patches"][level][dumped["geometry"][level][:, 3] > 0].astype(int)
                    self.assertLessEqual(np.abs(inside - level).max(), threshold)


class Changed(Case):
    def check(self, clip, width, height, pixel_format, *options, patch_size=16):
        """changed = 0: the same bytes as at the last emission at that place. changed = 1: the place is new, or damage
        came near its footprint. Returns the share of patches that were unchanged."""
        dumped = self.dump(clip, "--every", "frame", *options)
        damages = [damaged for _, damaged in ref.textures(ref.decode(clip, width, height, pixel_format))]
        last = {}
        for emission, changed in enumerate(dumped["changed"]):
            frame = int(dumped["index"]["frame"][emission])
            for patch, flag in enumerate(changed):
                geometry = dumped["geometry"][emission, patch]
                place = geometry[:3].tobytes()
                if not flag:
                    self.assertIn(place, last)
                    self.assertTrue(np.array_equal(dumped["patches"][emission, patch], dumped["patches"][last[place][0]]))
                elif place in last and "center" in options:
                    damage = np.logical_or.reduce(damages[last[place][1] + 1:frame + 1])
                    self.assertTrue(self.near(damage, geometry, width, height, patch_size), f"emission {emission}, patch {patch}")
                last[place] = ((emission, patch), frame)
        return 1 - dumped["changed"].mean()

    def near(self, damage, geometry, width, height, patch_size):
        """Any damage within two texels of the coarsest level read around the samples?"""
        pitch, texel = 2.0 ** geometry[2], 2.0 ** math.ceil(geometry[2])
        reach = patch_size / 2 * pitch + 3 * texel + 2
        ranges = []
        for centre, extent in ((geometry[0] * width, width), (geometry[1] * height, height)):
            low, high = (min(max(edge, 0), extent - 1) for edge in (centre - reach, centre + reach))
            ranges.append(slice(int(low) // 16, int(high) // 16 + 1))
        return damage[ranges[1], ranges[0]].any()

    def test_still(self):
        still = [np.random.default_rng(1).integers(0, 256, (120, 160, 3), dtype=np.uint8)] * 5
        clip = ref.raw_clip(f"{self.folder}/still.mov", still)
        for lattice in ("nested", "grid"):
            changed = self.dump(clip, "--every", "frame", "--fixation", "center", "--lattice", lattice)["changed"]
            self.assertTrue((changed[0] == 1).all())
            self.assertTrue((changed[1:] == 0).all())

    def test_a_moving_box(self):
        rng = np.random.default_rng(2)
        frames = []
        ground = rng.integers(0, 256, (180, 320, 3), dtype=np.uint8)
        for step in range(24):
            frames.append(ground.copy())
            frames[-1][20 + 3 * step:50 + 3 * step, 11 * step:11 * step + 24] = (220, 30, 40)
        clip = ref.raw_clip(f"{self.folder}/box.mov", frames)
        for lattice in ("nested", "grid"):
            share = self.check(clip, 320, 180, "rgb24", "--fixation", "center", "--lattice", lattice)
            self.assertTrue(0.3 < share < 0.99, share)
            self.check(clip, 320, 180, "rgb24", "--fixation", "random", "--rate", 12.5, "--lattice", lattice)
            self.check(clip, 320, 180, "rgb24", "--fixation", "raster:3x2", "--rate", 12.5, "--lattice", lattice)

    def test_yuv_video(self):
        clip = ref.make_clip(f"{self.folder}/y.mkv", "testsrc2=s=162x122:r=25:d=1,crop=161:121:0:0:exact=1", "-pix_fmt", "yuv420p", "-c:v", "ffv1")
        for lattice in ("nested", "grid"):
            self.check(clip, 161, 121, "yuv420p", "--fixation", "center", "--lattice", lattice)
            self.check(clip, 161, 121, "yuv420p", "--fixation", "random", "--rate", 12.5, "--lattice", lattice)


class Times(Case):
    """One emission per fixation, at the first frame at or after its landing: k / rate + 21 ms + 2.2 ms a degree."""

    def check(self, clip, *options, rate=4.0):
        dumped = self.dump(clip, "--rate", rate, *options)
        info = ref.subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of",
                                   "csv=p=0", str(clip)], capture_output=True, text=True, check=True).stdout
        pts = np.array([float(line.strip(",")) for line in info.split()])
        index = dumped["index"]
        np.testing.assert_allclose(index["pts_ns"] * 1e-9, pts[index["frame"]], atol=1e-6)
        self.assertEqual(index["frame"][0], 0)
        width, height = dumped["meta"]["stream"]["width_px"], dumped["meta"]["stream"]["height_px"]
        degrees = 40.0 / width
        fixations = 1
        for k in range(1, len(index)):
            move = np.hypot((index["fix_u"][k] - index["fix_u"][k - 1]) * width, (index["fix_v"][k] - index["fix_v"][k - 1]) * height) * degrees
            landing = pts[0] + k / rate + min(0.021 + 0.0022 * float(move), 0.5 / rate)
            frame = int(np.searchsorted(pts, landing - 1e-6))
            self.assertEqual(index["frame"][k], frame, f"fixation {k} lands at {landing:.6f} s, frame {frame} is at {pts[frame]:.6f}")
            fixations += 1
        # All that could land did: the next one would come after the last frame (or had not the time to).
        self.assertGreaterEqual(fixations, math.floor((pts[-1] - pts[0] - 0.5 / rate) * rate) + 1)
        self.assertLessEqual(fixations, math.floor((pts[-1] - pts[0]) * rate) + 1)

    def clip(self, rate, seconds=8, *filters):
        name = f"{self.folder}/{rate.replace('/', '_')}.mkv"
        return ref.make_clip(name, ",".join([f"testsrc=s=64x48:r={rate}:d={seconds}", *filters]), "-pix_fmt", "yuv420p", "-c:v", "ffv1",
                             "-fps_mode", "passthrough")

    def test_frame_rates(self):
        for rate in ("24000/1001", "25", "30000/1001", "60"):
            for policy in ("center", "random"):
                with self.subTest(rate=rate, policy=policy):
                    self.check(self.clip(rate), "--fixation", policy)

    def test_variable_frame_rate(self):
        clip = self.clip("50", 8, "select='not(mod(n,2))*lt(t,3)+gte(t,3)*not(mod(n,5))*not(eq(mod(n,35),0))'")
        self.check(clip, "--fixation", "random")

    def test_other_rates(self):
        for rate in (1.0, 3.0, 7.5):
            self.check(self.clip("30"), "--fixation", "random", rate=rate)


if __name__ == "__main__":
    unittest.main()
