"""Screens that change their size, lose their output, go blank or go away: said, and no pixel is wrong."""
import unittest

import numpy as np
from screen_support import HEIGHT, WHOLE, WIDTH, ScreenCase, grab
from x11_outputs import Outputs


class ChangesTest(ScreenCase):
    def setUp(self):
        super().setUp()
        self.outputs = Outputs(self.screen.display)
        self.addCleanup(self.outputs.close)

    def test_a_screen_that_shrinks_and_grows(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0x204060)
        process = self.dump(self.name, *WHOLE)
        self.wait_for_rows(1, process)
        self.outputs.unplug()
        self.outputs.resize(200, 100)
        window.fill((10, 10, 30, 30), 0xff0000)
        wanted = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        wanted[:100, :200] = grab(self.screen.display, (0, 0, 200, 100))
        self.shows(process, wanted, what="the smaller screen")
        self.outputs.resize(WIDTH, HEIGHT)
        self.outputs.plug()
        window.fill((220, 120, 30, 30), 0x00ff00)
        self.shows(process, grab(self.screen.display), what="the screen of before")
        process.send_signal(2)
        self.finish(process, 4, "the whole screen has 200x100 pixels now; the picture stays 320x208: the rest is black",
                    "the whole screen has 320x208 pixels now")

    def test_an_output_that_is_unplugged_and_plugged(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0x204060)
        process = self.dump(f"{self.name}&output=screen", *WHOLE)
        before = grab(self.screen.display)
        self.shows(process, before)
        self.outputs.unplug()
        self.wait_for_rows(self.rows() + 2, process)
        window.fill((10, 10, 30, 30), 0xff0000)
        self.wait_for_rows(self.rows() + 2, process)
        self.shows(process, before, what="the last picture of the output")
        self.outputs.plug()
        self.shows(process, grab(self.screen.display), what="the output that is back")
        process.send_signal(2)
        self.finish(process, 4, "output screen is not shown; the picture stays as it was", "output screen is shown again")

    def test_a_blank_screen_is_said(self):
        window = self.window((0, 0, WIDTH, HEIGHT), color=0x204060)
        process = self.dump(self.name, *WHOLE)
        before = grab(self.screen.display)
        self.shows(process, before)
        window.blank(True)
        self.wait_for_rows(self.rows() + 2, process)
        self.shows(process, grab(self.screen.display), what="the blank screen")
        window.blank(False)
        self.shows(process, before, what="the screen that is awake")
        process.send_signal(2)
        self.finish(process, 4, "the screen saver is on", "the screen saver is off again")

    def test_a_region_of_which_a_part_is_gone(self):
        self.window((0, 0, WIDTH, HEIGHT), color=0x204060)
        process = self.dump(f"{self.name}&region=160,80,64,48", "--lattice", "uniform", "--set", "lod=0", "--tokens", 12)
        whole = grab(self.screen.display, (160, 80, 64, 48))
        self.shows(process, whole, (64, 48))
        self.outputs.unplug()
        self.outputs.resize(200, 100)
        wanted = np.zeros((48, 64, 3), np.uint8)
        wanted[:20, :40] = whole[:20, :40]
        self.shows(process, wanted, (64, 48), "what is left of the region")
        self.outputs.resize(WIDTH, HEIGHT)
        self.outputs.plug()
        self.shows(process, whole, (64, 48), "the region of before")
        self.stop(process)


if __name__ == "__main__":
    unittest.main()
