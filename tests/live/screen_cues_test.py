"""Where a person works on a screen: the pointer's place, and what is sent first when the budget is short."""
import random
import time
import unittest

import numpy as np
from patience import wait_for
from screen_support import HEIGHT, WIDTH, ScreenCase
from x11_window import fill_at_once

LEFT, RIGHT = (0, 0, 112, 128), (208, 0, 112, 128)
GREY = 0x808080


class PointerTest(ScreenCase):
    def points_at(self, process, wanted):
        """Waits until the newest row has this place; None: there is none."""
        def same():
            if self.rows() == 0:
                return False
            place = np.load(self.out / "pointer.npy", mmap_mode="r")[-1]
            return np.isnan(place).all() if wanted is None else np.array_equal(place, np.array(wanted, np.float32))
        wait_for(lambda: same() or process.poll() is not None, missing=lambda: f"the pointer at {wanted}")
        self.assertIsNone(process.poll())

    def test_its_place_is_that_of_the_pixel_whether_it_is_drawn_or_not(self):
        self.window((0, 0, WIDTH, HEIGHT), color=GREY)
        for pointer in ("yes", "no"):
            self.out = self.folder / f"pointer-{pointer}"
            process = self.dump(f"screen:{self.screen.display}?pointer={pointer}", "--tokens", 16)
            for x, y in ((60, 80), (0, 0), (WIDTH - 1, HEIGHT - 1)):
                self.screen.xdotool("mousemove", x, y)
                self.points_at(process, ((x + 0.5) / WIDTH, (y + 0.5) / HEIGHT))
            self.stop(process)
            arrays = self.arrays()
            self.assertEqual(len(np.load(self.out / "pointer.npy")), len(arrays["index"]))

    def test_its_place_in_a_region_and_in_a_window(self):
        window = self.window((100, 40, 96, 64), title="it is in here", color=GREY)
        for part, size, inside in (("region=48,32,64,48", (64, 48), (48, 32)), (f"window={window.id}", (96, 64), (100, 40))):
            self.out = self.folder / part[:6]
            process = self.dump(f"{self.name}&{part}", "--tokens", 12)
            self.screen.xdotool("mousemove", inside[0] + 10, inside[1] + 20)
            self.points_at(process, (10.5 / size[0], 20.5 / size[1]))
            self.screen.xdotool("mousemove", inside[0] + size[0], inside[1])
            self.points_at(process, None)
            self.stop(process)


class CuesTest(ScreenCase):
    """Two windows change at once, by more than a look may send."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(7)
        self.left = self.window(LEFT, title="left", color=GREY)
        self.right = self.window(RIGHT, title="right", color=GREY)
        self.screen.xdotool("mousemove", WIDTH // 2, HEIGHT - 1)  # near none of them

    def noise(self, window, box=(0, 0, 112, 128), contrast=127):
        """Squares of 3 px, lighter or darker than grey, whose mean it is."""
        x, y, width, height = box
        for top in range(y, y + height, 3):
            for left in range(x, x + width, 3):
                level = 128 + contrast * self.random.choice((-1, 1))
                yield window, (left, top, min(3, x + width - left), min(3, y + height - top)), level * 0x010101

    def sent(self, row):
        """[n, 2] of u, v: the squares that this emission has."""
        geometry = np.load(self.out / "geometry.npy", mmap_mode="r")[row]
        return geometry[geometry[:, 3] > 0, :2]

    def since(self, moment_ns):
        """Rows of frames that were captured later."""
        live = np.load(self.out / "live.npy", mmap_mode="r")[:self.rows()] if self.rows() else np.zeros(0, [("captured_unix_ns", "<i8")])
        return np.flatnonzero(live["captured_unix_ns"] > moment_ns)

    def wait(self, process, found, what):
        wait_for(lambda: process.poll() is not None or found(), missing=what)
        self.assertIsNone(process.poll())

    def first_look(self, process, *noises):
        """The squares of the first emission after these are drawn at once, over grey windows."""
        for window in (self.left, self.right):
            window.fill((0, 0, 112, 128), GREY)
        moment = time.time_ns()
        self.wait(process, lambda: any(len(self.sent(row)) == 0 for row in self.since(moment)[-1:]), "a look that sends nothing")
        moment = time.time_ns()
        fill_at_once([fill for noise in noises for fill in noise])
        self.wait(process, lambda: any(len(self.sent(row)) for row in self.since(moment)), "a look that sends something")
        return next(squares for squares in map(self.sent, self.since(moment)) if len(squares))

    def test_the_focused_window_is_sent_first(self):
        process = self.dump(self.name, "--tokens", 12)
        for window, is_there in ((self.left, lambda u: u < 0.5), (self.right, lambda u: u > 0.5)):
            window.focus()
            squares = self.first_look(process, self.noise(self.left), self.noise(self.right))
            self.assertGreater(len(squares), 6)  # as many as a look may send, or nearly
            self.assertTrue(is_there(squares[:, 0]).all(), squares)
        self.stop(process)

    def test_what_is_at_the_pointer_is_sent_first(self):
        process = self.dump(self.name, "--tokens", 12)
        for x, is_there in ((56, lambda u: u < 0.5), (WIDTH - 56, lambda u: u > 0.5)):
            self.screen.xdotool("mousemove", x, 64)
            squares = self.first_look(process, self.noise(self.left), self.noise(self.right))
            self.assertTrue(is_there(squares[:, 0]).all(), squares)
        self.stop(process)

    def test_without_cues_both_are_sent(self):
        process = self.dump(f"{self.name}&cues=no", "--tokens", 12)
        self.left.focus()
        squares = self.first_look(process, self.noise(self.left), self.noise(self.right))
        self.assertEqual({bool(u < 0.5) for u in squares[:, 0]}, {False, True})
        self.stop(process)

    def typed(self, process, *keys):
        """Whether the first look has what changes in the focused window after these keys: two tiles.

        By their weight alone the other window, all of which changes by more, comes first.
        """
        def few():
            for key in keys:
                self.screen.xdotool("key", key)
            yield from self.noise(self.left, (32, 32, 32, 16), 72)
        squares = self.first_look(process, few(), self.noise(self.right))
        return bool((squares[:, 0] < 0.5).any())

    def test_what_is_typed_is_sent_first(self):
        process = self.dump(self.name, "--tokens", 8)
        self.left.focus()
        self.assertFalse(self.typed(process))

        self.wait(process, lambda: self.typed(process, "a"), "a look that has what was typed")
        self.stop(process)

    def test_without_cues_no_key_is_seen(self):
        process = self.dump(f"{self.name}&cues=no", "--tokens", 8)
        self.left.focus()
        for _ in range(2):
            self.assertFalse(self.typed(process, "a"))
        self.stop(process)


if __name__ == "__main__":
    unittest.main()
