"""A Wayland desktop as an input, in a sway without a monitor: the truth is what grim captures."""
import json
import subprocess
import tempfile
import time
import unittest

import numpy as np
from live_support import HERE, SACCADE
from patience import wait_for
from screen_support import HEIGHT, WHOLE, WIDTH, PictureTest
from wayland_desktop import Bus, Desktop, Terminal

NAME = "screen:wayland?pointer=no"


class WaylandTest(PictureTest):
    def setUp(self):
        super().setUp()
        self.desktop = Desktop(tempfile.mkdtemp(dir=self.folder), WIDTH, HEIGHT)
        self.addCleanup(self.desktop.close)

    def capture(self, name=NAME, *options):
        return self.dump(name, *(options or WHOLE), env=self.desktop.environment)

    def begin(self, process, what="the first picture"):
        """Waits for one more row. sway sends the first picture once something changes."""
        rows = self.rows()

        def has_come():
            self.desktop.paint("405060")
            self.desktop.paint("203040")
            return self.rows() > rows or process.poll() is not None
        wait_for(has_come, missing=what)

    def test_every_pixel_that_is_drawn_arrives(self):
        process = self.capture("screen:?pointer=no")  # $WAYLAND_DISPLAY says whose screen
        self.begin(process)
        self.shows(process, np.full((HEIGHT, WIDTH, 3), (0x20, 0x30, 0x40), np.uint8), what="the first picture")
        terminal = Terminal(self.desktop)
        self.addCleanup(terminal.close)
        empty = self.desktop.grab()
        for text in ("a", "letter by letter\n", "\033[41m red \033[0m\n" * 5, "\n".join(map(str, range(60)))):
            terminal.write(text)
            wait_for(lambda before=empty: not np.array_equal(self.desktop.grab(), before), missing=f"{text!r} on the screen")
            empty = self.desktop.grab()
            self.shows(process, self.desktop.grab(), what=f"the screen after {text!r}")
        self.desktop.paint("ff8000")
        self.desktop.kill("foot")
        wanted = np.full((HEIGHT, WIDTH, 3), (0xff, 0x80, 0), np.uint8)
        self.shows(process, wanted, what="the ground without the terminal")
        self.stop(process)

    def test_a_region_and_what_lies_beyond_after_a_change_of_size(self):
        name = f"{NAME}&region=200,64,64,48"
        process = self.capture(name, "--lattice", "uniform", "--set", "lod=0", "--tokens", 12)
        self.begin(process)
        terminal = Terminal(self.desktop)
        self.addCleanup(terminal.close)
        terminal.write("\n".join(f"line {n} " * 9 for n in range(20)))

        def as_grabbed():
            wanted = self.desktop.grab()[64:112, 200:264]
            return wanted.std() > 0 and np.array_equal(self.picture(self.rows() - 1, (64, 48)), wanted)
        wait_for(as_grabbed, missing="the region")
        self.desktop.sway("output", "HEADLESS-1", "resolution", "240x96")

        def is_cut():
            wanted = np.zeros((48, 64, 3), np.uint8)
            wanted[:32, :40] = self.desktop.grab()[64:96, 200:240]
            return np.array_equal(self.picture(self.rows() - 1, (64, 48)), wanted)
        wait_for(is_cut, missing="the part of the region that is left")
        process.send_signal(2)
        self.finish(process, 4, "has 40x32 pixels now; the picture stays 64x48: the rest is black")

    def test_a_desktop_that_dies_ends_a_dump_and_comes_back(self):
        process = self.capture(NAME, *WHOLE, "--set", "reconnect-delay-max=0.5", "--reconnect", 200)
        self.begin(process)
        for name in ("portal", "backend", "sway"):
            self.desktop.kill(name)
        self.desktop.start_sway()
        self.desktop.start_portal()
        self.begin(process, "the second desktop")
        self.desktop.paint("00c000")
        self.shows(process, np.full((HEIGHT, WIDTH, 3), (0, 0xc0, 0), np.uint8), what="the second desktop")
        process.send_signal(2)
        self.finish(process, 4, "screen:wayland?pointer=no: lost connection: the desktop's", "the stream is back")
        self.out = self.out.with_name("alone")
        process = self.capture(NAME, *WHOLE, "--reconnect", 0)
        self.begin(process)
        self.desktop.kill("sway")
        self.finish(process, 3, "lost connection: the desktop's")
        self.assertTrue(self.manifest()["complete"])

    def test_what_can_be_captured_is_listed(self):
        done = subprocess.run([SACCADE, "info", "--devices", "--json"], env=self.desktop.environment, capture_output=True, text=True, check=True)
        found = {part["path"]: part for part in json.loads(done.stdout)}
        self.assertEqual({path: part["driver"] for path, part in found.items() if path.startswith("screen:")},
                         {"screen:": "pipewire", "screen:?window=any": "pipewire"})

    def test_names_that_cannot_be_captured(self):
        for name, code, words in (
                ("screen:?window=LibreOffice", 2, "on Wayland no program can name a window; write window=any"),
                ("screen:wayland?output=HEADLESS-1", 2, "on Wayland no program can name a monitor; write output=any"),
                ("screen:x11?restore=file", 2, "X11 has no choice to restore"),
                ("screen:?window=any", 69, "this desktop's portal shares no windows, only monitors"),
                ("screen:?region=300,0,64,64", 65, f"does not lie on a monitor that the desktop shares, which has {WIDTH}x{HEIGHT} pixels"),
                ("screen:x11", 69, "$DISPLAY is not set")):
            with self.subTest(name=name):
                self.finish(self.capture(name), code, words)


class PortalTest(PictureTest):
    """Desktops that share nothing."""

    def setUp(self):
        super().setUp()
        self.bus = Bus(tempfile.mkdtemp(dir=self.folder))
        self.addCleanup(self.bus.close)

    def mock(self, *what):
        portal = self.start("/usr/bin/python3", HERE / "mock_portal.py", *what, env=self.bus.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(portal.stdout.readline(), "ready\n")
        return portal

    def refused(self, code, words, name="screen:", **environment):
        """One line says why, after the one that announces the dialog."""
        _, errors = self.finish(self.dump(name, env={**self.bus.environment, **environment}), code, words)
        lines = [line for line in errors.splitlines() if "asks the desktop" not in line]
        self.assertEqual(len(lines), 1, errors)

    def test_no_bus_no_portal_no_screens(self):
        self.refused(69, "no session bus answers", DBUS_SESSION_BUS_ADDRESS=f"unix:path={self.folder}/none")
        self.refused(69, "no desktop portal answers")
        self.mock("bare")
        self.refused(69, "the desktop's portal shares no screen; install xdg-desktop-portal and the backend of your desktop")

    def test_a_person_who_denies(self):
        self.mock("deny")
        self.refused(69, "sharing was denied in the desktop's dialog")

    def test_a_dialog_that_is_closed(self):
        self.mock("close")
        self.refused(69, "closed the request without an answer")

    def test_a_dialog_without_an_answer_can_be_interrupted_and_ends_with_its_portal(self):
        portal = self.mock("never")
        process = self.dump("screen:", env=self.bus.environment)
        self.assertIn("SelectSources", portal.stdout.readline())
        self.assertEqual(portal.stdout.readline(), "Start\n")
        process.send_signal(2)
        self.finish(process, 4)
        process = self.dump("screen:", env=self.bus.environment)
        self.assertIn("SelectSources", portal.stdout.readline())
        self.assertEqual(portal.stdout.readline(), "Start\n")
        portal.kill()
        self.finish(process, 69, "the desktop's portal")

    def test_a_choice_is_remembered_in_a_file(self):
        portal = self.mock("share", 99999)
        path = self.folder / "token"
        path.touch(0o644)
        for before in ("", "'restore_token': 'token after 1', "):
            process = self.dump(f"screen:?restore={path}", env=self.bus.environment)
            self.assertIn("{'cursor_mode': '4', 'persist_mode': '2', " + before + "'types': '1'}", portal.stdout.readline())
            self.assertEqual(portal.stdout.readline(), "Start\n")
            wait_for(lambda: path.exists() and path.read_text().endswith(f"{2 if before else 1}\n"), missing="the token")  # noqa: B023
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            process.send_signal(2)
            self.finish(process, 69 if process.poll() else 4)

    def cast(self):
        """A stream that the test draws, shared by the portal: what sends it a command, and the portal."""
        program = self.folder / "fake_cast"
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libpipewire-0.3"], capture_output=True, text=True, check=True).stdout.split()
        subprocess.run(["cc", "-O1", "-o", program, HERE / "fake_cast.c", *flags], check=True)
        cast = self.start(program, WIDTH, HEIGHT, env=self.bus.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        node = cast.stdout.readline().split()
        self.assertEqual(node[:1], ["node"])

        def send(*command):
            print(*command, file=cast.stdin, flush=True)
            return cast.stdout.readline().strip() == "ok"
        return send, self.mock("share", node[1])

    def first(self, send, name):
        """The dump of a stream that has begun, at number 1."""
        send("fill", 0, 0, WIDTH, HEIGHT, "204060")
        process = self.dump(name, *WHOLE, env=self.bus.environment)

        def has_come():  # what is sent before the stream has a reader is lost
            return self.rows() > 0 or process.poll() is not None or send("send", 1, 0, 0, WIDTH, HEIGHT) and time.sleep(0.2)
        wait_for(has_come, missing="the first picture")
        self.wait_for_rows(self.rows() + 3, process)  # and all that was sent has been read
        return process

    def test_damage_bounds_what_is_read_unless_a_picture_is_missing(self):
        send, _ = self.cast()
        process = self.first(send, "screen:?pointer=no")
        wanted = np.full((HEIGHT, WIDTH, 3), (0x20, 0x40, 0x60), np.uint8)
        self.shows(process, wanted)
        send("fill", 10, 10, 40, 40, "ff0000")
        self.assertTrue(send("send", 2, 10, 10, 20, 40))  # the other half is kept from it
        wanted[10:50, 10:30] = (255, 0, 0)
        self.shows(process, wanted, what="the half that is damaged")
        self.assertTrue(send("send", 4, 0, 0, 1, 1))  # 3 is missing
        wanted[10:50, 10:50] = (255, 0, 0)
        self.shows(process, wanted, what="the whole picture")
        self.stop(process)

    def test_the_pointer_is_drawn_and_what_it_covered_comes_back(self):
        send, _ = self.cast()
        send("pointer", 100, 60)
        process = self.first(send, "screen:")
        ground = np.full((HEIGHT, WIDTH, 3), (0x20, 0x40, 0x60), np.uint8)

        def with_pointer(x, y):
            wanted = ground.copy()
            wanted[y:y + 8, x:x + 8] = 255
            return wanted
        self.shows(process, with_pointer(98, 57), what="the pointer")
        send("pointer", 12, 13)
        self.assertTrue(send("move", 2))
        self.shows(process, with_pointer(10, 10), what="the pointer that moved alone")
        send("fill", 0, 0, 16, 16, "00ff00")
        self.assertTrue(send("send", 3, 0, 0, 16, 16))
        ground[:16, :16] = (0, 255, 0)
        self.shows(process, with_pointer(10, 10), what="the pointer over what was drawn")
        send("pointer", 2, 3)
        self.assertTrue(send("move", 4))
        self.shows(process, with_pointer(0, 0), what="what the pointer covered")
        self.stop(process)

    def test_a_hidden_region_is_black_and_said(self):
        send, _ = self.cast()
        process = self.first(send, "screen:?pointer=no&hide=8,8,40,20")
        for number, color in ((2, (255, 0, 255)), (3, (0, 255, 0))):
            send("fill", 0, 0, WIDTH, HEIGHT, "".join(f"{code:02x}" for code in color))
            self.assertTrue(send("send", number, 0, 0, WIDTH, HEIGHT))
            wanted = np.full((HEIGHT, WIDTH, 3), color, np.uint8)
            wanted[8:28, 8:48] = 0
            self.shows(process, wanted)
        process.send_signal(2)
        self.finish(process, 4, "captures a monitor that the desktop shares, where the region 8,8,40,20 is black")

    def points(self, name, red):
        """The pointer's place, and the red that its pixel has, after it moved alone."""
        send, portal = self.cast()
        send("pointer", 100, 60)
        process = self.first(send, name)
        self.assertIn("'cursor_mode': '4'", portal.stdout.readline())
        send("pointer", 12, 13)
        self.assertTrue(send("move", 2))
        place = np.array((12.5 / WIDTH, 13.5 / HEIGHT), np.float32)
        wait_for(lambda: process.poll() is not None or np.array_equal(np.load(self.out / "pointer.npy")[-1], place), missing="the pointer's place")
        self.assertEqual(self.picture(self.rows() - 1)[13, 12, 0], red)
        self.stop(process)

    def test_the_place_of_the_pointer(self):
        self.points("screen:", 255)

    def test_the_place_of_a_pointer_that_is_not_drawn(self):
        self.points("screen:?pointer=no", 0x20)

    def test_sharing_that_is_ended_on_the_desktop_ends_the_dump(self):
        send, portal = self.cast()
        process = self.first(send, "screen:")
        print("end", file=portal.stdin, flush=True)
        self.finish(process, 3, "the desktop has ended the sharing")
        self.assertTrue(self.manifest()["complete"])


if __name__ == "__main__":
    unittest.main()
