"""The viewer in a real window on a virtual screen: keys, mouse, resize, files that end, quitting."""
import os
import pathlib
import signal
import socket
import time

from patience import PATIENCE, until_idle
from program import make_clip, saccade
from view_support import WindowedViewer, WindowTest, damaged_clip

SOURCE = "test://box?size=320x180&rate=30&frames=3000"
PERIOD_S = 1 / 30


class Window(WindowTest):
    def test_plays_pauses_steps_and_seeks(self):
        viewer = self.open(SOURCE)
        viewer.wait_for(lambda s: s["t_s"] > 0.5, "half a second played")
        viewer.key("space")
        paused = viewer.wait_for(lambda s: s["settings"]["paused"], "paused")
        time.sleep(0.5 * PATIENCE)
        self.assertEqual(viewer.drain()["t_s"], paused["t_s"])
        viewer.key("period")
        on = viewer.wait_for(lambda s: s["t_s"] > paused["t_s"], "a frame on")
        self.assertAlmostEqual(on["t_s"] - paused["t_s"], PERIOD_S, places=4)
        viewer.key("comma")
        back = viewer.wait_for(lambda s: s["t_s"] < on["t_s"], "a frame back")
        self.assertAlmostEqual(back["t_s"], paused["t_s"], places=6)
        viewer.key("Right")
        far = viewer.wait_for(lambda s: s["t_s"] > back["t_s"] + 1, "five seconds on")
        self.assertAlmostEqual(far["t_s"] - back["t_s"], 5, places=6)
        viewer.key("Left")
        near = viewer.wait_for(lambda s: s["t_s"] < far["t_s"], "five seconds back")
        self.assertAlmostEqual(near["t_s"], back["t_s"], places=6)
        viewer.key("Up")
        viewer.wait_for(lambda s: abs(s["t_s"] - near["t_s"] - 60) < 1e-6, "a minute on")
        viewer.key("space")
        viewer.wait_for(lambda s: s["t_s"] > near["t_s"] + 60.2, "playing again")
        self.quit(viewer)

    def test_keys_change_what_they_say(self):
        viewer = self.open(SOURCE, "--set", "pause", "--lattice", "nested")
        for key, field, wanted in (("Tab", "view", "foveated"), ("Tab", "view", "level"), ("shift+Tab", "view", "foveated"),
                                   ("3", "level", 3), ("i", "overlay", False), ("i", "overlay", True), ("l", "loop", True),
                                   ("m", "marks", False), ("o", "outlines", True), ("k", "scanpath", True), ("b", "boxes", True),
                                   ("n", "linear", False), ("question", "help", True), ("h", "help", False)):
            with self.subTest(key=key):
                viewer.key(key)
                viewer.wait_for(lambda s: s["settings"][field] == wanted, f"{field} {wanted}")
        viewer.key("bracketright")
        viewer.wait_for(lambda s: abs(s["settings"]["speed"] - 1.1) < 1e-9, "faster")
        viewer.key("bracketleft", "bracketleft")
        viewer.wait_for(lambda s: s["settings"]["speed"] < 0.95, "slower")
        viewer.key("BackSpace")
        viewer.wait_for(lambda s: s["settings"]["speed"] == 1, "as it was")
        self.quit(viewer, "Escape")

    def test_a_click_fixates_and_the_wheel_zooms(self):
        viewer = self.open(SOURCE, "--show", "marks", "--set", "pause")
        self.screen.xdotool("mousemove", "--window", viewer.window, 480, 90, "click", 1)  # 3/4 and 1/4 of 640x360
        state = viewer.wait_for(lambda s: abs(s["gaze"]["u"] - 0.75) < 0.01, "the gaze where the click was")
        self.assertAlmostEqual(state["gaze"]["v"], 0.25, delta=0.01)
        self.screen.xdotool("click", 4)
        viewer.wait_for(lambda s: abs(s["settings"]["zoom"] - 1.15) < 0.01, "zoomed in")
        before = viewer.drain()["settings"]["pan"]
        self.screen.xdotool("mousedown", 1)
        for x in (470, 450, 430):
            self.screen.xdotool("mousemove", "--window", viewer.window, x, 90)
        self.screen.xdotool("mouseup", 1)
        viewer.wait_for(lambda s: s["settings"]["pan"][0] > before[0] + 0.02, "moved by the drag")
        self.assertAlmostEqual(viewer.drain()["gaze"]["u"], 0.75, delta=0.01)  # a drag is no click
        viewer.key("z")
        viewer.wait_for(lambda s: s["settings"]["zoom"] == 1 and s["settings"]["pan"] == [0, 0], "fitted")
        viewer.key("g")
        viewer.wait_for(lambda s: abs(s["gaze"]["u"] - 0.75) > 0.01, "the gaze free again")
        self.quit(viewer)

    def test_survives_every_size(self):
        viewer = self.open(SOURCE)
        for width, height in ((1, 1), (1200, 30), (30, 800), (640, 360)):
            self.screen.xdotool("windowsize", viewer.window, width, height)
            shown = viewer.drain()["frames"]
            viewer.wait_for(lambda s: s["frames"] > shown + 3, f"frames at {width}x{height}")
        viewer.key("f")
        viewer.wait_for(lambda s: s["settings"]["fullscreen"], "full screen")
        viewer.key("f")
        viewer.wait_for(lambda s: not s["settings"]["fullscreen"], "a window again")
        self.screen.xdotool("windowminimize", viewer.window)
        shown = viewer.drain()["frames"]
        viewer.wait_for(lambda s: s["frames"] > shown + 3, "frames while minimised")
        viewer.process.send_signal(signal.SIGTERM)
        self.assertEqual(viewer.finish(), 0)

    def test_escape_leaves_full_screen_first(self):
        viewer = self.open(SOURCE, "--set", "pause")
        viewer.key("f")
        viewer.wait_for(lambda s: s["settings"]["fullscreen"], "full screen")
        viewer.key("Escape")
        viewer.wait_for(lambda s: not s["settings"]["fullscreen"], "a window again")
        self.quit(viewer, "Escape")

    def test_escape_closes_the_list_of_keys_and_never_loses_settings(self):
        viewer = self.open(SOURCE, "--set", "pause", "--show", "marks", "--threshold", "3")
        viewer.key("question", "Escape")
        viewer.wait_for(lambda s: s["event"] == "draw" and not s["settings"]["help"], "the list closed")
        viewer.key("i")
        self.type_into(viewer, self.field(viewer, "value-threshold"), "7")
        viewer.wait_for(lambda s: s["settings"]["threshold"] == 7, "7")
        viewer.key("Escape")
        viewer.wait_for(lambda s: s["asks_to_quit"], "it asks")
        viewer.key("Escape")
        viewer.wait_for(lambda s: not s["asks_to_quit"], "the answer: stay")
        viewer.key("Escape")
        viewer.wait_for(lambda s: s["asks_to_quit"], "it asks again")
        self.quit(viewer)

    def test_keys_typed_fast_are_all_seen(self):
        viewer = self.open(SOURCE, "--set", "pause")
        field = self.field(viewer, "value-threshold")
        viewer.key("space")
        viewer.wait_for(lambda s: s["t_s"] > 0.1, "playing")  # frames take their time
        self.type_into(viewer, field, "9", "9", "BackSpace", "BackSpace", "1", "2", "Left", "Delete", "7")
        viewer.wait_for(lambda s: s["settings"]["threshold"] == 17, "17")
        viewer.key("space")
        paused = viewer.wait_for(lambda s: s["settings"]["paused"], "paused")
        viewer.key(*["period"] * 12)
        viewer.wait_for(lambda s: abs(s["t_s"] - paused["t_s"] - 12 * PERIOD_S) < 1e-4, "twelve frames on")
        self.quit(viewer)

    def field(self, viewer, control):
        """Where it lies. In a large window, where the panel does not scroll; the viewer says it where it draws no new frame."""
        self.screen.xdotool("windowsize", "--sync", viewer.window, 1300, 880)
        return viewer.wait_for(lambda s: s.get("controls", {}).get(control, [0])[0] > 900, control)["controls"][control]

    def type_into(self, viewer, field, *keys):
        """Many keys within a frame, then Enter. GLFW takes two presses of a key in one millisecond for one."""
        self.screen.xdotool("mousemove", "--window", viewer.window, int((field[0] + field[2]) / 2), int((field[1] + field[3]) / 2), "click", 1,
                            "key", "--delay", 6, *keys, "Return")

    def test_stays_on_the_last_frame_and_begins_again(self):
        clip = make_clip(pathlib.Path(self.folder) / "short.mp4", "testsrc2=size=160x120:rate=25:duration=1")
        viewer = self.open(clip)
        last = viewer.wait_for(lambda s: s["ended"], "the end")
        self.assertAlmostEqual(last["t_s"], 0.96, places=6)
        viewer.key("comma")
        viewer.wait_for(lambda s: abs(s["t_s"] - 0.92) < 1e-6, "back from the end")
        viewer.key("l")
        viewer.key("space")
        viewer.wait_for(lambda s: s["t_s"] < 0.2 and not s["settings"]["paused"], "round again", 90)
        self.quit(viewer)

    def test_space_at_the_end_begins_again_at_once(self):
        clip = make_clip(pathlib.Path(self.folder) / "again.mp4", "testsrc2=size=160x120:rate=25:duration=1")
        viewer = self.open(clip)
        end = viewer.wait_for(lambda s: s["ended"], "the end")
        self.assertEqual((end["frame"], end["fps"]), (24, 0))
        viewer.key("space")
        again = viewer.wait_for(lambda s: not s["ended"] and s["t_s"] < 0.5, "playing again")
        self.assertFalse(again["settings"]["paused"])
        self.assertLess(again["frame"], 13)
        self.quit(viewer)

    def test_it_says_what_it_opens_before_anything_came(self):
        clip = make_clip(pathlib.Path(self.folder) / "late.mkv", "testsrc2=size=160x120:rate=25:duration=1")
        pipe = pathlib.Path(self.folder) / "pipe.mkv"
        os.mkfifo(pipe)
        viewer = WindowedViewer(self.screen, pipe, "--size", "640x360")
        self.addCleanup(viewer.kill)
        opening = viewer.wait_for(lambda s: s["state"].startswith("opening"), "that it opens")
        self.assertIn("pipe.mkv", opening["state"])
        self.assertGreater(opening["drawn"], -1)
        pipe.write_bytes(pathlib.Path(clip).read_bytes())
        viewer.find_window()
        viewer.wait_for(lambda s: s["ended"] and s["state"] == "", "played")
        self.quit(viewer)

    def test_a_lost_stream_says_which_try_then_why(self):
        clip = make_clip(pathlib.Path(self.folder) / "live.ts", "testsrc2=size=160x120:rate=25:duration=3", "-g", "10")
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            viewer = WindowedViewer(self.screen, address, "--size", "640x360", "--set", "stall-timeout=1", "--reconnect", "5", "--set", "reconnect-delay-max=2")
            self.addCleanup(viewer.kill)
            connection, _ = server.accept()
        with connection:
            connection.sendall(pathlib.Path(clip).read_bytes())
            viewer.find_window()
            lost = viewer.wait_for(lambda s: s["ended"], "the end")
        said = "".join(state["state"] + "\n" for state in viewer.history)
        for number in (4, 5):  # the first ones may be over before they are drawn; these wait two seconds
            self.assertIn(f"lost, try {number} of 5 (nothing came for 1 s)\n", said)
        self.assertIn("5 tries to reconnect failed", lost["error"])
        viewer.key("q")
        self.assertEqual(viewer.finish(), 3, "".join(viewer.errors))

    def test_a_broken_file_keeps_what_it_showed(self):
        clip = pathlib.Path(make_clip(pathlib.Path(self.folder) / "cut.mkv", "testsrc2=size=160x120:rate=25:duration=4"))
        cut = clip.with_name("half.mkv")
        cut.write_bytes(clip.read_bytes()[:clip.stat().st_size // 2])
        viewer = self.open(cut)
        viewer.wait_for(lambda s: s["ended"], "the end of what is there")
        self.assertGreater(viewer.drain()["t_s"], 0.3)
        viewer.key("q")
        self.assertEqual(viewer.finish(), 3)

    def test_a_damaged_file_ends_with_exit_code_3_as_its_dump(self):
        clip = damaged_clip(self.folder)
        self.assertEqual(saccade("dump", clip, "-o", pathlib.Path(self.folder) / "damaged").returncode, 3)
        viewer = self.open(clip)
        viewer.wait_for(lambda s: s["ended"], "the end")
        viewer.key("q")
        self.assertEqual(viewer.finish(), 3)
        self.assertIn("the input is damaged", "".join(viewer.errors))

    def test_a_screenshot_is_written_where_it_runs(self):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            viewer = self.open(SOURCE, "--set", "pause")
        finally:
            os.chdir(before)
        viewer.key("s")
        viewer.wait_for(lambda s: s["message"].startswith("saved saccade-00.00.00.000"), "saved")
        self.assertTrue((pathlib.Path(self.folder) / "saccade-00.00.00.000.png").exists())
        self.quit(viewer)

    def test_paused_it_does_nothing(self):
        viewer = self.open(SOURCE, "--set", "pause")
        until_idle(viewer.cpu_s, 0.1)  # 5 % of a core
        self.quit(viewer)
