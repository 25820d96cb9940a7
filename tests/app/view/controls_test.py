"""The viewer's panel in a real window: sliders dragged by a mouse, files dropped, vsync, a window that is hidden; and what
it says where OpenGL is too old."""
import subprocess
import tomllib

import numpy as np
import xdnd
from patience import PATIENCE
from program import SACCADE, ffmpeg, make_clip
from required import skip_or_fail
from view_support import WindowTest

SOURCE = "test://box?size=320x180&rate=30&frames=3000"


class Controls(WindowTest):
    size = (1000, 700)

    def control(self, viewer, name):
        """Where it lies, once two pictures in a row have it in one place: a row that comes or goes moves those below."""
        def redrawn(nudge):
            viewer.drain()
            told = len(viewer.history)
            self.screen.xdotool("mousemove", "--window", viewer.window, self.size[0] // 2 + nudge, self.size[1] // 3)
            return viewer.wait_for(lambda s: len(viewer.history) > told and name in s.get("controls", {}),
                                   f"a control {name}")["controls"][name]

        places = [redrawn(0), redrawn(1)]
        while places[-1] != places[-2]:
            places.append(redrawn(len(places) % 2))
        return places[-1]

    def mouse(self, viewer, *steps):
        """Each (x, y) or button up or down, as fast as they can be."""
        words = []
        for step in steps:
            words += [step, 1] if isinstance(step, str) else ["mousemove", "--window", viewer.window, *map(int, step)]
        self.screen.xdotool(*words)

    def drag(self, viewer, name, start, end):
        """Along a slider, from one share of its width to another."""
        left, top, right, bottom = self.control(viewer, name)
        y = (top + bottom) / 2
        at = lambda share: (left + share * (right - left), y)
        self.mouse(viewer, at(start), "mousedown", at((start + end) / 2), at(end), "mouseup")

    def click(self, viewer, name):
        left, top, right, bottom = self.control(viewer, name)
        self.mouse(viewer, ((left + right) / 2, (top + bottom) / 2), "mousedown", "mouseup")

    @staticmethod
    def use(viewer, act, wanted, what):
        act()
        return viewer.wait_for(wanted, what)

    def picture(self):
        """The screen's top left corner, where the window is, as another program sees it."""
        raw = ffmpeg("-f", "x11grab", "-draw_mouse", "0", "-video_size", f"{self.size[0]}x{self.size[1]}", "-i", self.screen.display,
                     "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-")
        return np.frombuffer(raw, np.uint8).reshape(self.size[1], self.size[0], 3).astype(int)

    def test_sliders_change_settings_picture_and_file(self):
        viewer = self.open(SOURCE, "--set", "pause", "--view", "lod", "--lattice", "nested", "--fixation", "center")
        settings = viewer.drain()["settings"]
        self.assertIsNone(settings["e0"])  # solved from N
        middle = (slice(self.size[1] // 4, self.size[1] * 3 // 4), slice(400, 640))  # between the panels
        before = self.picture()[middle]
        in_force = lambda s: abs((s["settings"]["e0"] or 0) - s["e0"]) < 1e-4  # the pipeline runs with it
        high = self.use(viewer, lambda: self.drag(viewer, "e0", 0.5, 0.9), lambda s: (s["settings"]["e0"] or 0) > 5 and in_force(s), "e0 moved right")
        after = self.picture()[middle]
        self.assertGreater(np.abs(after - before).mean(), 2)  # the heat map is another
        low = self.use(viewer, lambda: self.drag(viewer, "e0", 0.9, 0.3), lambda s: (s["settings"]["e0"] or 9) < 1 and in_force(s), "e0 moved left")
        self.assertLess(low["patches"], high["patches"])
        m0 = self.use(viewer, lambda: self.drag(viewer, "m0", 0.3, 0.7), lambda s: s["settings"]["m0"] > 2, "M0 moved")["settings"]
        self.assertEqual(m0["e0"], low["settings"]["e0"])
        self.use(viewer, lambda: self.drag(viewer, "threshold", 0.02, 0.5), lambda s: 20 < s["settings"]["threshold"] < 44, "the threshold moved")
        state = self.use(viewer, lambda: self.click(viewer, "save"), lambda s: s["message"].startswith("saved"), "the settings saved")["settings"]
        saved = tomllib.loads((self.folder / "saccade.toml").read_text())
        for name in ("e0", "m0", "threshold"):
            self.assertAlmostEqual(saved[name], state[name], places=6, msg=name)
        before = (self.folder / "saccade.toml").read_bytes()
        self.use(viewer, lambda: self.drag(viewer, "threshold", 0.5, 0.8), lambda s: s["settings"]["threshold"] > 44, "another threshold")
        self.use(viewer, lambda: self.click(viewer, "save"), lambda s: s["save_exists"] == "saccade.toml", "it asks before it replaces")
        self.use(viewer, lambda: self.click(viewer, "keep"), lambda s: s["save_exists"] == "", "the answer: no")
        self.assertEqual((self.folder / "saccade.toml").read_bytes(), before)
        self.use(viewer, lambda: self.click(viewer, "save"), lambda s: s["save_exists"] == "saccade.toml", "it asks again")
        self.use(viewer, lambda: self.click(viewer, "replace"), lambda s: s["save_exists"] == "", "the answer: yes")
        self.assertGreater(tomllib.loads((self.folder / "saccade.toml").read_text())["threshold"], 44)
        self.use(viewer, lambda: self.click(viewer, "reset"), lambda s: s["settings"]["e0"] is None and s["settings"]["threshold"] == 0, "all as it was")
        self.quit(viewer)

    def test_a_dropped_file_is_played_and_a_bad_one_is_not(self):
        if xdnd.load_xlib() is None:
            skip_or_fail("gl", "libX11 is not installed")
        clip = make_clip(self.folder / "a dropped%20clip.mp4", "testsrc2=size=96x64:rate=25:duration=8")
        viewer = self.open(SOURCE)
        viewer.wait_for(lambda s: s["t_s"] > 0.2, "playing")
        self.assertEqual(viewer.drain()["tiles"], 20 * 12)
        xdnd.drop(self.screen.display, viewer.window, clip)
        viewer.wait_for(lambda s: s["tiles"] == 6 * 4, "the other file")
        played = viewer.wait_for(lambda s: s["tiles"] == 6 * 4 and s["t_s"] > 0.2, "it plays")
        self.assertAlmostEqual(played["duration_s"], 8, delta=0.1)
        (self.folder / "text.mp4").write_text("no video")
        xdnd.drop(self.screen.display, viewer.window, self.folder / "text.mp4")
        viewer.wait_for(lambda s: "text.mp4" in s["message"], "why it can't be played")
        shown = viewer.drain()["frames"]
        viewer.wait_for(lambda s: s["frames"] > shown + 2 and s["tiles"] == 6 * 4, "the one before goes on")
        self.quit(viewer)

    def test_plays_on_hidden_and_without_vsync(self):
        viewer = self.open(SOURCE, "--set", "vsync=off")
        off = viewer.drain()
        self.assertFalse(off["settings"]["vsync"])
        viewer.wait_for(lambda s: s["frames"] > off["frames"] + 3, "frames without vsync")
        viewer.key("v")
        viewer.wait_for(lambda s: s["settings"]["vsync"], "vsync on")
        viewer.key("v")
        viewer.wait_for(lambda s: not s["settings"]["vsync"], "vsync off again")
        self.screen.xdotool("windowunmap", viewer.window)
        hidden = lambda s: any(old["drawn"] == s["drawn"] and s["frames"] > old["frames"] + 5 for old in viewer.history[-20:] if "drawn" in old)
        later = viewer.wait_for(hidden, "frames that are not drawn")
        self.screen.xdotool("windowmap", viewer.window)
        viewer.wait_for(lambda s: s["drawn"] > later["drawn"] + 3, "pictures when shown again")
        viewer.process.terminate()
        self.assertEqual(viewer.finish(), 0, "".join(viewer.errors))

    def test_an_old_opengl_is_named_in_a_line(self):
        environment = {**self.screen.environment, "MESA_GL_VERSION_OVERRIDE": "3.3", "MESA_GLSL_VERSION_OVERRIDE": "330"}
        for arguments in ((), ("--offscreen", "--screenshot", "0=never.png")):
            with self.subTest(arguments=arguments):
                result = subprocess.run([SACCADE, "view", SOURCE, *arguments], env=environment, cwd=self.folder,
                                        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * PATIENCE)
                self.assertEqual(result.returncode, 69, result.stderr)
                self.assertIn("4.5", result.stderr)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)

    def test_quits_at_once_while_it_seeks(self):
        clip = make_clip(self.folder / "long.mp4", "testsrc2=size=320x180:rate=25:duration=40", "-g", "1000")
        viewer = self.open(clip)
        viewer.key("question", "Right", "Right", "Left", "comma", "Right", "q")
        self.assertEqual(viewer.finish(), 0, "".join(viewer.errors))
