"""What a screen's name hides is black in every picture, wherever it moves."""
import json
import subprocess
import time
import unittest

import numpy as np
from live_support import SACCADE
from patience import wait_for
from screen_support import HEIGHT, WHOLE, WIDTH, ScreenCase, grab

SECRET = (255, 0, 255)


class HiddenTest(ScreenCase):
    def seen(self):
        """How many pixels of all emissions have the secret's colour."""
        patches = self.arrays()["patches"]
        return int((patches == np.array(SECRET, np.uint8)[None, None, :, None, None]).all(axis=2).sum())

    def test_a_window_is_black_wherever_it_goes(self):
        ground = self.window((0, 0, WIDTH, HEIGHT), color=0x808080)
        secret = self.window((16, 16, 80, 48), title="My passwords", color=0xff00ff)
        process = self.dump(f"{self.name}&rate=100&hide=passwords", *WHOLE, "--every", "frame")
        self.wait_for_rows(1, process)
        for n in range(150):
            secret.move((n, n // 2, 80, 48))
            if n % 5 == 0:
                secret.fill((0, 0, 80, 48), 0xff00ff)
            ground.fill((300, 200, 4, 4), n)
        time.sleep(0.5)
        secret.fill((0, 0, 80, 48), 0xff00ff)
        wanted = grab(self.screen.display).copy()
        self.assertEqual(tuple(wanted[80, 160]), SECRET)
        wanted[74:74 + 48, 149:149 + 80] = 0
        self.shows(process, wanted)
        late = self.window((240, 130, 64, 64), title="More passwords", color=0xff00ff)
        wanted[130:194, 240:304] = 0
        self.shows(process, wanted, what="the picture with a window that was opened later")
        late.rename("nothing")
        wanted[130:194, 240:304] = SECRET
        self.shows(process, wanted, what="the picture with a window that is no longer hidden")
        process.send_signal(2)
        self.finish(process, 4)

    def test_no_pixel_of_a_hidden_window_is_written(self):
        self.window((0, 0, WIDTH, HEIGHT), color=0x808080)
        secret = self.window((16, 16, 80, 48), title="Secret", color=0xff00ff)
        process = self.dump(f"{self.name}&rate=200&hide=Secret", *WHOLE, "--every", "frame")
        self.wait_for_rows(1, process)
        n = 0
        while n < 400 or self.rows() <= 8:
            secret.move((n * 7 % 240, n * 5 % 160, 80, 48))
            self.assertIsNone(process.poll())
            n += 1
        self.wait_for_rows(self.rows() + 3, process)
        self.stop(process)
        self.assertEqual(self.seen(), 0)

    def test_what_a_hidden_window_leaves_is_black_at_first(self):
        ground = self.window((0, 0, WIDTH, HEIGHT), color=0x808080)
        ground.paint_no_background()
        secret = self.window((16, 16, 80, 48), title="Secret", color=0xff00ff)
        process = self.dump(f"{self.name}&hide=Secret", *WHOLE, "--every", "frame", "--live-policy", "block")
        self.wait_for_rows(1, process)
        secret.move((200, 100, 80, 48))
        self.assertEqual(tuple(grab(self.screen.display)[32, 32]), SECRET)  # nothing was drawn there
        ground.fill((300, 200, 4, 4), 0)

        def moved():
            return [row for row in range(self.rows()) if not self.picture(row)[110, 210].any()]
        wait_for(lambda: moved() or process.poll() is not None, missing="the window at its second place")
        self.assertFalse(self.picture(moved()[0])[16:64, 16:96].any())
        ground.fill((0, 0, WIDTH, HEIGHT), 0x808080)
        wanted = np.full((HEIGHT, WIDTH, 3), 0x80, np.uint8)
        wanted[100:148, 200:280] = 0
        self.shows(process, wanted)
        self.stop(process)

    def test_regions_are_black_and_the_report_says_so(self):
        self.window((0, 0, WIDTH, HEIGHT), color=0xff00ff)
        name = f"{self.name}&hide=32,48,100,20&hide=300,190,64,64&hide=Mail"
        process = self.dump(name, *WHOLE)
        wanted = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        wanted[:] = SECRET
        wanted[48:68, 32:132] = 0
        wanted[190:, 300:] = 0
        self.shows(process, wanted)
        process.send_signal(2)
        self.finish(process, 4, "captures the whole screen, where windows 'Mail' and the region 32,48,100,20")
        words = "where windows 'Mail' and the region 32,48,100,20 and the region 300,190,64,64 are black"
        done = subprocess.run([SACCADE, "info", name, "--json"], capture_output=True, text=True, check=True)
        self.assertIn(f"captures the whole screen, {words}, without the pointer", json.loads(done.stdout)["stream"]["notes"])

    def test_a_region_of_a_captured_region_and_of_a_window(self):
        window = self.window((40, 32, 96, 64), title="one", color=0xff00ff)
        wanted = grab(self.screen.display, (32, 32, 64, 48)).copy()
        wanted[8:18, 16:36] = 0
        process = self.dump(f"{self.name}&region=32,32,64,48&hide=48,40,20,10", "--lattice", "uniform", "--set", "lod=0", "--tokens", 12)
        self.shows(process, wanted, (64, 48))
        self.stop(process)
        wanted = np.empty((64, 96, 3), np.uint8)
        wanted[:] = SECRET
        wanted[4:14, 2:22] = 0
        process = self.dump(f"{self.name}&window=0x{window.id:x}&hide=2,4,20,10", "--lattice", "uniform", "--set", "lod=0", "--tokens", 24,
                            "--overwrite")
        self.shows(process, wanted, (96, 64))
        self.stop(process)

    def test_a_captured_window_needs_no_other_hidden(self):
        self.finish(self.dump(f"{self.name}&window=a&hide=b"), 2, "none of them needs to be hidden")

    def test_what_hides_nothing_is_refused(self):
        for text in ("", "0,0,400", "0,0,400,30,", "-1,0,400,30", "0,0,400,30 ", "0,0,0,30", "100,0,2147483647,2147483647"):
            with self.subTest(text=text):
                self.finish(self.dump(f"{self.name}&hide={text}"), 2, f"'hide={text}' can't be read")


if __name__ == "__main__":
    unittest.main()
