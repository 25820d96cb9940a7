"""The screen as an input, on X servers without a monitor: the truth is what ffmpeg's x11grab sees."""
import json
import random
import subprocess
import time
import unittest

import numpy as np
from live_support import SACCADE
from patience import wait_for
from screen_support import HEIGHT, WHOLE, WIDTH, ScreenCase, grab
from x11_window import Window


class ScreenTest(ScreenCase):
    def test_every_pixel_that_is_drawn_arrives(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0x203040)
        process = self.dump(self.name, *WHOLE)
        self.wait_for_rows(1, process)
        rng = random.Random(3)
        for n in range(60):
            width, height = rng.choice(((1, 1), (6, 13), (90, 40), (WIDTH, HEIGHT)))
            window.fill((rng.randrange(WIDTH), rng.randrange(HEIGHT), width, height), rng.getrandbits(24))
            if n % 20 == 19:
                self.shows(process, grab(self.screen.display), what=f"the screen after drawing {n + 1} times")
            else:
                time.sleep(rng.random() * 0.03)
        self.stop(process)

    def test_a_screen_that_stands_still_is_told_so_four_times_a_second(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0xffffff)
        process = self.dump(self.name, *WHOLE)
        self.wait_for_rows(4, process)
        window.fill((33, 50, 6, 13), 0)  # a letter
        self.shows(process, grab(self.screen.display))
        self.wait_for_rows(self.rows() + 2, process)
        self.stop(process)
        index = self.arrays()["index"]
        self.assertEqual(index["damaged_tiles"][0], WIDTH * HEIGHT // 256)
        self.assertEqual(sorted(set(index["damaged_tiles"][1:].tolist())), [0, 1])
        still = np.diff(index["pts_ns"])[:2]
        self.assertTrue((still >= 245e6).all(), still)

    def test_a_region(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0x808080)
        process = self.dump(f"{self.name}&region=48,32,64,48", "--lattice", "uniform", "--set", "lod=0", "--tokens", 12)
        self.wait_for_rows(1, process)
        window.fill((0, 0, 60, 40), 0xff0000)
        window.fill((100, 70, 90, 90), 0x00ff00)
        self.shows(process, grab(self.screen.display, (48, 32, 64, 48)), (64, 48))
        self.stop(process)

    def test_a_window_is_seen_whole_though_another_lies_over_it_and_wherever_it_goes(self):
        window = self.window((16, 16, 96, 64), title="under the rest", color=0x123456)
        window.fill((10, 10, 30, 30), 0xff8000)
        wanted = grab(self.screen.display, (16, 16, 96, 64))
        process = self.dump(f"{self.name}&window=under", "--lattice", "uniform", "--set", "lod=0", "--tokens", 24)
        self.shows(process, wanted, (96, 64))
        self.window((0, 0, 80, 80), color=0xffffff)
        window.fill((12, 12, 8, 8), 0xff00ff)
        wanted = wanted.copy()
        wanted[12:20, 12:20] = (255, 0, 255)
        self.shows(process, wanted, (96, 64), "the window that is covered")
        window.move((150, 90, 96, 64))
        window.fill((50, 40, 9, 9), 0x00ffff)
        wanted = wanted.copy()
        wanted[40:49, 50:59] = (0, 255, 255)
        self.shows(process, wanted, (96, 64), "the window that moved")
        window.move((150, 90, 64, 80))  # narrower, and higher: the picture keeps its size
        window.fill((0, 0, 64, 80), 0x0000ff)
        wanted = np.zeros((64, 96, 3), np.uint8)
        wanted[:, :64] = (0, 0, 255)
        self.shows(process, wanted, (96, 64), "the window that shrank")
        process.send_signal(2)
        self.finish(process, 4, "has 64x80 pixels now", "the picture stays 96x64")

    def test_the_pointer_is_drawn_and_what_it_covered_comes_back(self):
        self.window((0, 0, WIDTH, HEIGHT), color=0x406080).show_pointer()
        ground = grab(self.screen.display)
        process = self.dump(f"screen:{self.screen.display}", *WHOLE)
        self.wait_for_rows(1, process)
        for x, y in ((60, 60), (200, 120)):
            self.screen.xdotool("mousemove", x, y)

            def drawn(x=x, y=y):
                changed = np.argwhere((self.picture(self.rows() - 1) != ground).any(axis=2))
                return len(changed) > 10 and (abs(changed - (y, x)) < 24).all()
            wait_for(lambda: drawn() or process.poll() is not None, missing=lambda: "a pointer there and nowhere else")
        self.stop(process)

    def test_what_can_be_captured_is_listed(self):
        window = self.window((5, 5, 50, 40), title="A title")
        done = subprocess.run([SACCADE, "info", "--devices", "--json"], env=self.screen.environment, capture_output=True, text=True, check=True)
        found = {part["path"]: part for part in json.loads(done.stdout)}
        self.assertEqual(found["screen:"]["modes"][0]["size"], f"{WIDTH}x{HEIGHT}")
        self.assertEqual(found[f"screen:?window=0x{window.id:x}"]["name"], "A title")
        self.assertEqual(found[f"screen:?window=0x{window.id:x}"]["modes"][0]["size"], "50x40")
        self.assertIn("screen:?output=screen", found)

    def test_a_server_that_dies_and_comes_back(self):
        process = self.dump(self.name, *WHOLE, "--set", "reconnect-delay-max=0.5", "--reconnect", 100)
        self.wait_for_rows(2, process)
        self.screen.process.kill()
        self.screen.process.wait()
        number = self.screen.display
        again = self.start("Xvfb", number, "-screen", "0", f"{WIDTH + 32}x{HEIGHT - 32}x24", "-nolisten", "tcp", "-noreset", stderr=subprocess.DEVNULL)
        wait_for(lambda: subprocess.run(["xdotool", "getmouselocation"], env=self.screen.environment, capture_output=True, check=False).returncode == 0,
                 missing=lambda: "the second server")
        window = Window(number, (0, 0, WIDTH + 32, HEIGHT - 32), color=0x00c000)
        self.addCleanup(window.close)
        wanted = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        wanted[:HEIGHT - 32] = (0, 0xc0, 0)
        self.shows(process, wanted)
        process.send_signal(2)
        self.finish(process, 4, "lost connection: the X server is gone; reconnecting", "the stream is back")
        self.assertIsNone(again.poll())

    def test_names_that_cannot_be_captured(self):
        display = self.screen.display
        for name, code, words in (
                (f"screen:{display}?region=300,0,64,64", 65, f"does not lie on the screen, which has {WIDTH}x{HEIGHT} pixels"),
                (f"screen:{display}?output=DP-9", 65, "there is no output 'DP-9'; there is: screen"),
                (f"screen:{display}?window=nothing", 65, "0 windows have 'nothing' in their title"),
                (f"screen:{display}?window=0x999", 65, "there is no window 0x999 that is shown"),
                (f"screen:{display}?region=1,2,3", 2, "'region=1,2,3' can't be read; write screen:DISPLAY?"),
                (f"screen:{display}?colour=no", 2, "'colour=no' can't be read"),
                (f"screen:{display}?window=a&output=b", 2, "only one of region, window and output"),
                ("screen::4711", 69, "display :4711: no X server answers")):
            with self.subTest(name=name):
                self.finish(self.dump(name), code, words)
        self.finish(self.dump(self.name, "--vf", "hflip"), 2, "a screen isn't filtered")
        self.finish(self.dump(self.name, "--stream", 1), 65, "there is no video stream 1; it has 1")
        self.finish(self.dump(self.name, "--deinterlace", "yes"), 2, "a screen has no fields")
        self.finish(self.dump(self.name, "--loop"), 2, "can't be looped")
        bare = {key: value for key, value in self.screen.environment.items() if key != "DISPLAY"}
        self.finish(self.dump("screen:", env=bare), 69, "$DISPLAY is not set; name the display, as screen::0")


if __name__ == "__main__":
    unittest.main()
