"""`view --offscreen`: pictures against ffmpeg's, against arithmetic, and against kept ones."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
from program import FolderTest, ffmpeg, make_clip, need_gl, saccade, saccade_json
from view_support import GOLDEN, damaged_clip, difference, read_png, shoot

NO_DISPLAY = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
BOX = "test://box?size=320x180&rate=30&frames=60&seed=3"
PLAIN = ("--show", "none")


class Offscreen(FolderTest):
    def path(self, name):
        return pathlib.Path(self.folder) / name


class Truth(Offscreen):
    def rgb_clip(self):
        path = self.path("rgb.mkv")
        if not path.exists():
            ffmpeg("-f", "lavfi", "-i", "testsrc2=size=192x128:rate=10:duration=1", "-c:v", "ffv1", "-pix_fmt", "bgr0", path)
        return path

    def test_an_rgb_frame_is_ffmpegs_own(self):
        clip = self.rgb_clip()
        raw = ffmpeg("-i", clip, "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
        frames = np.frombuffer(raw, np.uint8).reshape(-1, 128, 192, 3)
        for index, t in ((0, "0"), (3, "0.3"), (3, "0.39"), (9, "0.9"), (9, "7")):
            with self.subTest(t=t):
                self.assertLessEqual(difference(shoot(self.folder, clip, *PLAIN, "--size", "192x128", t=t), frames[index])[0], 1)

    def test_a_yuv_frame_is_near_ffmpegs(self):
        for pixel_format, depth in (("yuv420p", 8), ("yuv420p10le", 10)):
            with self.subTest(pixel_format=pixel_format):
                clip = self.path(f"{pixel_format}.mkv")
                ffmpeg("-f", "lavfi", "-i", "gradients=size=128x96:rate=5:duration=1:seed=7:speed=0.01", "-vf",
                       f"scale=out_color_matrix=bt709:out_range=tv,format={pixel_format}", "-colorspace", "bt709",
                       "-color_range", "tv", "-c:v", "ffv1", clip)
                raw = ffmpeg("-i", clip, "-frames:v", "1", "-vf",
                             "scale=flags=accurate_rnd+full_chroma_int+full_chroma_inp+bilinear", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
                truth = np.frombuffer(raw, np.uint8).reshape(96, 128, 3)
                largest, mean = difference(shoot(self.folder, clip, *PLAIN, "--size", "128x96"), truth)
                self.assertLessEqual(largest, 6)
                self.assertLess(mean, 1.5)

    def test_level_views_are_means_of_blocks(self):
        clip = self.rgb_clip()
        raw = ffmpeg("-i", clip, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
        first = np.frombuffer(raw, np.uint8).reshape(128, 192, 3).astype(float)
        for level in (1, 2, 4):
            with self.subTest(level=level):
                block = 1 << level
                means = first.reshape(128 // block, block, 192 // block, block, 3).mean(axis=(1, 3))
                shot = shoot(self.folder, clip, *PLAIN, "--view", f"level:{level}", "--size", "192x128")
                centres = np.abs(shot[block // 2::block, block // 2::block].astype(float) - means)
                inner = centres[1:-1, 1:-1]  # half a pixel off the texel's centre: mixed with its neighbours
                self.assertLess(inner.mean(), 255 / block / 4)

    def test_foveated_is_sharp_at_the_fixation_and_coarse_far_away(self):
        clip = self.path("noise.mkv")
        ffmpeg("-f", "lavfi", "-i", "nullsrc=size=512x256:rate=5:duration=1,geq=lum='random(1)*255':cb=128:cr=128", "-c:v", "ffv1", clip)
        shot = shoot(self.folder, clip, *PLAIN, "--view", "foveated", "--fixation", "center:0.1,0.5", "--lattice", "nested", "--e0", "2", "--size", "512x256")
        near = shot[120:136, 44:60].astype(float).std()
        far = shot[96:160, 440:504].astype(float).std()
        self.assertGreater(near, 3 * far)

    def test_split_shows_the_frame_left_of_its_seam(self):
        clip = self.rgb_clip()
        frame = shoot(self.folder, clip, *PLAIN, "--size", "192x128")
        split = shoot(self.folder, clip, *PLAIN, "--view", "split", "--size", "192x128")
        self.assertLessEqual(difference(split[:, :94], frame[:, :94])[0], 0)
        self.assertTrue((split[:, 95:97] == 255).all())

    def test_wide_pixels_make_a_wide_picture(self):
        clip = make_clip(self.path("sar.mp4"), "color=white:size=96x96:rate=5:duration=1,setsar=2/1")
        shot = shoot(self.folder, clip, *PLAIN, "--size", "240x240")
        bright = shot[:, :, 1] > 128
        self.assertEqual((bright.any(axis=0).sum(), bright.any(axis=1).sum()), (240, 120))

    def test_damage_view_marks_the_tiles_that_change(self):
        still = shoot(self.folder, "test://static?size=128x128&rate=30&frames=90", *PLAIN, "--view", "damage", "--size", "128x128", t="2")
        box = shoot(self.folder, "test://box?size=128x128&rate=30&frames=90", *PLAIN, "--view", "damage", "--size", "128x128", t="2")
        spread = lambda picture: picture.astype(int).max(axis=2) - picture.astype(int).min(axis=2)
        self.assertLess(np.percentile(spread(still), 99), 60)   # all faded: nearly grey
        self.assertGreater(np.percentile(spread(box), 99), 120)  # red and yellow where the box has been

    def test_patches_view_paints_what_a_dump_holds(self):
        out, picture = self.path("dump"), self.path("seen.png")
        arguments = ("--fixation", "center:0.3,0.4", "--lattice", "nested", "--patches", "100")
        self.assertEqual(saccade("dump", BOX, "-o", out, "--every", "frame", "--frames", "11", *arguments).returncode, 0)
        patches, geometry = np.load(out / "patches.npy")[10], np.load(out / "geometry.npy")[10]
        shot = shoot(self.folder, BOX, *PLAIN, "--view", "patches", *arguments, "--size", "320x180", t=str(10 / 30 + 0.001))
        checked = 0
        for patch, (u, v, lod, coverage) in zip(patches, geometry):
            if lod != 0 or coverage < 1:
                continue
            x, y = round(u * 320 - 8), round(v * 180 - 8)
            self.assertLessEqual(difference(shot[y:y + 16, x:x + 16], patch.transpose(1, 2, 0))[0], 2)
            checked += 1
        self.assertGreater(checked, 0)


    def painted(self, patches, geometry, width, height):
        """What patches hold, each sample as a square, coarse ones first: by NumPy."""
        size = patches.shape[-1]
        picture = np.zeros((height, width, 3), np.uint8)
        y, x = np.mgrid[:height, :width] + 0.5
        for n in np.argsort(-geometry[:, 2], kind="stable"):
            u, v, lod, coverage = geometry[n].astype(float)
            if coverage <= 0:
                continue
            column = np.floor((x - u * width) / 2 ** lod + size / 2).astype(int)
            row = np.floor((y - v * height) / 2 ** lod + size / 2).astype(int)
            inside = (column >= 0) & (column < size) & (row >= 0) & (row < size)
            picture[inside] = patches[n][:, row[inside], column[inside]].T
        return picture

    def test_compare_shows_as_many_patches_of_another_lattice(self):
        arguments = ("--fixation", "center:0.3,0.4", "--lattice", "nested", "--patches", "100")
        nested, uniform = self.path("nested"), self.path("uniform")
        self.assertEqual(saccade("dump", BOX, "-o", nested, "--every", "frame", "--frames", "11", *arguments).returncode, 0)
        count = np.load(nested / "geometry.npy").shape[1]
        self.assertEqual(saccade("dump", BOX, "-o", uniform, "--every", "frame", "--frames", "11", "--lattice", "uniform",
                                 "--fixation", "center:0.3,0.4", "--patches", str(count)).returncode, 0)
        t = str(10 / 30 + 0.001)
        shot = shoot(self.folder, BOX, *PLAIN, "--view", "compare:uniform", *arguments, "--size", f"{3 * 320 + 10}x{180 + 22}", t=t)
        frame = shoot(self.folder, BOX, *PLAIN, "--size", "320x180", t=t)
        columns = [shot[22:, left:left + 320] for left in (0, 325, 650)]
        self.assertLessEqual(difference(columns[0], frame)[0], 1)
        for column, dump in zip(columns[1:], (nested, uniform)):
            truth = self.painted(np.load(dump / "patches.npy")[10], np.load(dump / "geometry.npy")[10], 320, 180)
            off = np.abs(column.astype(int) - truth).max(axis=2) > 2
            self.assertLess(off.mean(), 0.01, dump.name)  # samples' edges, where a pixel's middle lies on one
        self.assertGreater(np.abs(columns[1].astype(int) - columns[2]).mean(), 0.5)


class Dumps(Offscreen):
    """A dump's folder in place of a video."""
    def setUp(self):
        self.out = self.path("dump")
        if not self.out.exists():
            made = saccade("dump", BOX, "-o", self.out, "--lattice", "nested", "--patches", "100", "--rate", "6", "--seed", "5")
            self.assertEqual(made.returncode, 0, made.stderr)
        self.index = np.load(self.out / "index.npy")

    def state(self, *arguments):
        need_gl(pathlib.Path(self.folder))
        return saccade_json("view", self.out, "--offscreen", "--screenshot", *arguments)

    def test_it_is_painted_as_reconstruct_paints_it(self):
        for emission in (0, 5, len(self.index) - 1):
            with self.subTest(emission=emission):
                at_s = (self.index["pts_ns"][emission] - self.index["pts_ns"][0]) / 1e9
                shot = shoot(self.folder, self.out, *PLAIN, "--size", "320x180", t=f"{at_s + 1e-4:.6f}")
                kept = self.path(f"{emission}.png")
                self.assertEqual(saccade("reconstruct", self.out, "-o", kept, "--emission", emission, "--overwrite").returncode, 0)
                y, x = np.mgrid[:180, :320]
                u, v = self.index["fix_u"][emission] * 320, self.index["fix_v"][emission] * 180
                away = np.hypot(x - u, y - v) > 20  # of the mark that reconstruct draws
                apart = np.abs(shot.astype(int) - read_png(kept))[away]
                self.assertLessEqual(apart.max(), 1)

    def test_eye_times_and_damage_are_the_dumps(self):
        for emission in (0, 3, len(self.index) - 1):
            row = self.index[emission]
            at_s = (row["pts_ns"] - self.index["pts_ns"][0]) / 1e9
            state = self.state(f"{at_s + 1e-4:.6f}={self.path('state.png')}", "--size", "64x64")
            self.assertTrue(state["recorded"])
            self.assertEqual(state["frame"], emission)
            self.assertAlmostEqual(state["pts_s"], row["pts_ns"] / 1e9, places=9)
            self.assertAlmostEqual(state["gaze"]["u"], float(row["fix_u"]), places=6)
            self.assertAlmostEqual(state["gaze"]["v"], float(row["fix_v"]), places=6)
            self.assertEqual(state["damaged_tiles"], row["damaged_tiles"])
            self.assertEqual(state["patches"], np.load(self.out / "geometry.npy").shape[1])
            self.assertEqual(state["fixations"], min(emission + 1, 64))  # one a landing

    def test_its_numbers_are_those_of_its_arrays_and_its_manifest(self):
        compact = self.path("numbers-compact")
        if not compact.exists():
            made = saccade("dump", BOX, "-o", compact, "--lattice", "nested", "--patches", "100", "--rate", "6", "--seed", "5", "--compact")
            self.assertEqual(made.returncode, 0, made.stderr)
        offsets = np.load(compact / "offsets.npy")
        padded = np.load(self.out / "changed.npy")
        for out, marks in ((self.out, list(padded)), (compact, np.split(np.load(compact / "changed.npy"), offsets[1:-1]))):
            manifest = json.loads((out / "manifest.json").read_text())
            for emission in (0, 3, len(self.index) - 1):
                row = self.index[emission]
                at_s = (row["pts_ns"] - self.index["pts_ns"][0]) / 1e9
                state = saccade_json("view", out, "--offscreen", "--screenshot", f"{at_s + 1e-4:.6f}={self.path('n.png')}", "--size", "64x64")
                self.assertEqual(state["dump"], {
                    "input": BOX, "emission": emission, "emissions": len(self.index), "frame": row["frame"], "damaged_tiles": row["damaged_tiles"],
                    "patches": len(marks[emission]), "changed": int(marks[emission].sum()), "patches_so_far": sum(map(len, marks[:emission + 1])),
                    "changed_so_far": sum(int(m.sum()) for m in marks[:emission + 1]), "complete": True, "frames": manifest["frames"],
                    "media_s": manifest["media_s"], "tile_share": manifest["damaged_tiles"] / manifest["tiles"],
                    "byte_share": manifest["bytes_uploaded"] / manifest["bytes_full_upload"]})
            self.assertEqual(state["dump"]["changed_so_far"], manifest["patches_changed"])

    def test_a_dump_that_was_cut_short_says_what_it_knows(self):
        short = self.path("short")
        shutil.copytree(self.out, short, dirs_exist_ok=True)
        for name in ("manifest.json", "changed.npy"):
            (short / name).unlink()
        dump = saccade_json("view", short, "--offscreen", "--screenshot", f"9={self.path('s.png')}", "--size", "64x64")["dump"]
        self.assertEqual((dump["complete"], dump["changed"], dump["changed_so_far"], "frames" in dump), (False, None, None, False))
        self.assertEqual(dump["emissions"], len(self.index))

    def test_a_view_that_needs_the_video_is_refused(self):
        done = saccade("view", self.out, "--offscreen", "--screenshot", f"0={self.path('v.png')}", "--view", "compare:uniform")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--view: ", done.stderr if isinstance(done.stderr, str) else done.stderr.decode())
        self.assertFalse(self.path("v.png").exists())
        self.assertEqual(self.state(f"0={self.path('v.png')}", "--size", "64x64", "--view", "lod")["settings"]["view"], "lod")

    def test_a_compact_dump_looks_as_the_padded_one(self):
        compact, options = self.path("compact"), ("--size", "320x180", "--show", "outlines,scanpath")
        made = saccade("dump", BOX, "-o", compact, "--lattice", "nested", "--patches", "100", "--rate", "6", "--seed", "5", "--compact")
        self.assertEqual(made.returncode, 0, made.stderr)
        counts = np.diff(np.load(compact / "offsets.npy"))
        self.assertGreater(len(set(counts)), 1)  # as ragged as can be
        for emission in (0, 4, len(self.index) - 1):
            at_s = (self.index["pts_ns"][emission] - self.index["pts_ns"][0]) / 1e9
            at = f"{at_s + 1e-4:.6f}={self.path('compact.png')}"
            pictures = [shoot(self.folder, out, *options, t=at.partition("=")[0]) for out in (self.out, compact)]
            self.assertEqual(difference(*pictures), (0, 0))
            state = saccade_json("view", compact, "--offscreen", "--screenshot", at, *options)
            self.assertEqual((state["frame"], state["patches"]), (emission, counts[emission]))

    def test_a_compact_dump_without_its_offsets_is_named(self):
        damaged = self.path("compact-damaged")
        made = saccade("dump", BOX, "-o", damaged, "--lattice", "nested", "--patches", "100", "--rate", "6", "--compact", "--overwrite")
        self.assertEqual(made.returncode, 0, made.stderr)
        (damaged / "offsets.npy").unlink()
        result = saccade("view", damaged, "--offscreen", "--screenshot", f"0={self.path('no.png')}")
        self.assertEqual(result.returncode, 65, result.stderr)
        self.assertIn("offsets.npy", result.stderr)

    def test_folders_that_are_no_dumps_are_named(self):
        empty, damaged = self.path("empty"), self.path("damaged")
        empty.mkdir(exist_ok=True)
        shutil.copytree(self.out, damaged, dirs_exist_ok=True)
        (damaged / "geometry.npy").write_bytes(b"no array")
        for folder, word in ((empty, "meta.json"), (damaged, "geometry.npy")):
            result = saccade("view", folder, "--offscreen", "--screenshot", f"0={self.path('no.png')}")
            self.assertEqual(result.returncode, 65, result.stderr)
            self.assertIn(word, result.stderr)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)


class Rules(Offscreen):
    def test_several_pictures_in_one_run_are_those_of_single_runs(self):
        early, late = self.path("early.png"), self.path("late.png")
        result = saccade("view", BOX, "--offscreen", "--screenshot", f"1.5={late}", "--screenshot", f"0.5={early}", *PLAIN, "--size", "320x180")
        self.assertEqual(result.returncode, 0, result.stderr)
        for path, t in ((early, "0.5"), (late, "1.5")):
            self.assertEqual(difference(read_png(path), shoot(self.folder, BOX, *PLAIN, "--size", "320x180", t=t)), (0, 0))

    def test_two_runs_make_the_same_picture(self):
        first, second = (shoot(self.folder, BOX, "--view", "foveated", t="1") for _ in range(2))
        self.assertEqual(difference(first, second), (0, 0))
        self.assertEqual(first.shape, (720, 1280, 3))

    def test_a_panel_taller_than_the_window_shows_its_scroll_bar(self):
        bright = shoot(self.folder, BOX, "--size", "640x360")[:, :, 1] > 60
        tall = shoot(self.folder, BOX, "--size", "640x1600")[:, :, 1] > 60
        self.assertTrue(bright[20:60, 336].all())  # near the panel's right edge, from its top
        self.assertFalse(tall[20:60, 336].all())

    def test_vsync_is_on_unless_told_otherwise(self):
        need_gl(pathlib.Path(self.folder))
        config = self.path("vsync.toml")
        config.write_text('vsync = "off"\n')
        shot = ("view", BOX, "--offscreen", "--screenshot", f"0={self.path('vsync.png')}", "--size", "64x64")
        for arguments, wanted in (((), True), (("--set", "vsync=off"), False), (("--set", "vsync=on",), True), (("--config", config), False),
                                  (("--config", config, "--set", "vsync=on"), True)):
            with self.subTest(arguments=arguments):
                self.assertIs(saccade_json(*shot, *arguments)["settings"]["vsync"], wanted)

    def test_what_is_wrong_is_said(self):
        for arguments, code, word in (
            (("test://box", "--offscreen"), 2, "--screenshot"),
            (("test://box", "--screenshot", "1=x.png"), 2, "--offscreen"),
            (("test://box", "--offscreen", "--screenshot", "x.png"), 2, "T=FILE"),
            (("test://box", "--offscreen", "--screenshot", "1=x.png", "--view", "lot"), 2, "lot"),
            (("test://box", "--offscreen", "--screenshot", "1=x.png", "--view", "lod:2"), 2, "level:N"),
            (("test://box", "--offscreen", "--screenshot", "1=x.png", "--size", "10"), 2, "WxH"),
            (("test://box", "--set", "vsync=maybe"), 2, "vsync"),
            (("test://box", "--view", "compare:rings"), 2, "--view"),
            (("test://box", "--backend", "cpu"), 2, "OpenGL"),
            (("nothing.mp4", "--offscreen", "--screenshot", "1=x.png"), 65, "nothing.mp4"),
        ):
            with self.subTest(arguments=arguments):
                result = saccade("view", *arguments, cwd=self.folder)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(word, result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1)

    def test_a_damaged_file_is_shown_and_said(self):
        clip = damaged_clip(self.folder)
        result = saccade("view", clip, "--offscreen", "--screenshot", f"9={self.path('damaged.png')}", "--size", "64x64")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stderr, r"the input is damaged \(\d+ corrupt (packet|frame)")
        self.assertTrue(self.path("damaged.png").exists())

    def test_without_a_display_the_way_out_is_named(self):
        environment = {key: value for key, value in os.environ.items() if key not in NO_DISPLAY}
        result = saccade("view", BOX, env=environment)
        self.assertEqual(result.returncode, 69, result.stderr)
        self.assertIn("--offscreen", result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1)


class Golden(Offscreen):
    """Kept pictures, made with llvmpipe. SACCADE_GOLDEN=update rewrites them: look at them then."""
    PICTURES = {
        "frame": (), "foveated": ("--view", "foveated"), "level": ("--view", "level:3"), "lod": ("--view", "lod"),
        "damage": ("--view", "damage"), "patches": ("--view", "patches"), "split": ("--view", "split"),
        "marks": ("--show", "marks,outlines,scanpath"),
    }
    RINGS = ("--lattice", "nested", "--patches", "273", "--fixation", "saliency")  # a budget of tokens holds all of so small a frame

    def test_every_view(self):
        failures = pathlib.Path(tempfile.gettempdir()) / "saccade-golden-failures"
        for name, arguments in self.PICTURES.items():
            with self.subTest(view=name):
                shot = shoot(self.folder, BOX, "--show", "marks", "--size", "320x180", *self.RINGS, *arguments, t="1.5")
                kept = GOLDEN / f"{name}.png"
                if os.environ.get("SACCADE_GOLDEN") == "update":
                    GOLDEN.mkdir(parents=True, exist_ok=True)
                    self.write(shot, kept)
                    continue
                largest, mean = difference(shot, read_png(kept))
                edges = (np.abs(shot.astype(int) - read_png(kept)).max(axis=2) > 16).mean()
                if mean > 0.5 or edges > 0.005:
                    failures.mkdir(exist_ok=True)
                    self.write(shot, failures / f"{name}.png")
                self.assertLess(mean, 0.5, f"largest {largest}; see {failures}")
                self.assertLess(edges, 0.005, f"largest {largest}; see {failures}")

    @staticmethod
    def write(picture, path):
        height, width, _ = picture.shape
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-i", "-",
                        "-compression_level", "100", str(path)], input=picture.tobytes(), check=True)
