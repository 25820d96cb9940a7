"""The viewer's keys on other keyboards: by letter and sign, not by where the key lies. Keys are pressed by their codes."""
import shutil
import subprocess
import unittest

from patience import PATIENCE
from required import skip_or_fail
from view_support import Screen, WindowedViewer

SOURCE = "test://box?size=160x90&rate=30&frames=3000"
# X11's codes of keys, by what a keyboard of the United States types with them.
CODE = {**{letter: 24 + i for i, letter in enumerate("qwertyuiop[]")}, **{letter: 38 + i for i, letter in enumerate("asdfghjkl;'")},
        **{letter: 52 + i for i, letter in enumerate("zxcvbnm,./")}, **{digit: 10 + i for i, digit in enumerate("1234567890-=")}}

# Layout -> (modifiers and a key by its place, the setting that it changes, its new value)
PRESSES = {
    "us": (("o", "outlines", True), ("shift+/", "help", True), ("3", "level", 3), ("]", "speed", 1.1), ("y", None, None)),
    "de": (("o", "outlines", True), ("shift+-", "help", True), ("3", "level", 3), ("ISO_Level3_Shift+9", "speed", 1.1),
           ("/", None, None), ("[", None, None)),
    "es": (("o", "outlines", True), ("shift+-", "help", True), ("3", "level", 3), ("ISO_Level3_Shift+]", "speed", 1.1), (";", None, None)),
    "fr": ((";", "marks", False), ("shift+m", "help", True), ("shift+3", "level", 3), ("ISO_Level3_Shift+-", "speed", 1.1),
           ("3", None, None), ("q", None, None)),
    "ru": (("o", "outlines", True), ("shift+7", "help", True), ("3", "level", 3), ("]", "speed", 1.1), ("m", "marks", False)),
    "gr": (("o", "outlines", True), ("shift+/", "help", True), ("3", "level", 3), ("]", "speed", 1.1), ("m", "marks", False)),
}
QUIT = {"fr": "a"}  # where q lies; elsewhere at its place


class Layouts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("setxkbmap", "xkbcomp"):
            if shutil.which(tool) is None:
                skip_or_fail("gl", f"{tool} is not installed")
        cls.screen = Screen()
        cls.addClassCleanup(cls.screen.close)

    def press(self, press):
        *modifiers, place = press.split("+")
        self.screen.xdotool("key", "+".join([*modifiers, str(CODE[place])]))

    def try_layout(self, layout, environment):
        subprocess.run(["setxkbmap", layout], env=self.screen.environment, check=True, timeout=60 * PATIENCE)
        viewer = WindowedViewer(self.screen, SOURCE, "--size", "320x180", "--set", "pause", environment=environment)
        self.addCleanup(viewer.kill)
        viewer.find_window()
        for press, field, wanted in PRESSES[layout]:
            if field is None:  # it types something that no key is for
                before = viewer.drain()["settings"]
                self.press(press)
                self.press("v")  # a key that is the same everywhere, and comes after
                viewer.wait_for(lambda s: s["settings"]["vsync"] != before["vsync"], f"{layout}: v after {press}")
                self.assertEqual({**viewer.drain()["settings"], "vsync": before["vsync"]}, before, f"{layout}: {press}")
                continue
            self.press(press)
            viewer.wait_for(lambda s: s["settings"][field] == wanted, f"{layout}: {press} makes {field} {wanted}")
        self.press(QUIT.get(layout, "q"))
        self.assertEqual(viewer.finish(), 0, "".join(viewer.errors))

    def test_each_layout(self):
        for layout in PRESSES:
            with self.subTest(layout=layout):
                self.try_layout(layout, {})

    def test_cyrillic_without_a_locale(self):
        self.try_layout("ru", {"LC_ALL": "C"})
