"""What tests of screens share: an X server without a monitor, and the picture that a dump of it holds."""
import subprocess

import numpy as np
from live_support import LiveTest
from patience import wait_for
from view_support import Screen
from x11_window import Window

WIDTH, HEIGHT = 320, 208  # whole tiles
WHOLE = ("--lattice", "uniform", "--set", "lod=0", "--tokens", WIDTH * HEIGHT // 256)


def grab(display, box=(0, 0, WIDTH, HEIGHT)):
    """[H, W, 3] u8, without the pointer."""
    x, y, width, height = box
    done = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "x11grab", "-draw_mouse", "0", "-video_size", f"{width}x{height}",
                           "-i", f"{display}+{x},{y}", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(height, width, 3)


class PictureTest(LiveTest):
    """A dump whose emissions each hold the whole picture."""

    def picture(self, row, size=(WIDTH, HEIGHT)):
        """The frame of an emission, put together from its patches: [H, W, 3]."""
        arrays = self.arrays()
        frame = np.zeros((size[1], size[0], 3), np.uint8)
        for patch, (u, v, _, coverage) in zip(arrays["patches"][row], arrays["geometry"][row]):
            x, y = round(u * size[0]) - 8, round(v * size[1]) - 8
            part = frame[y:y + 16, x:x + 16]
            if coverage > 0:
                part[:] = patch.transpose(1, 2, 0)[:part.shape[0], :part.shape[1]]
        return frame

    def shows(self, process, wanted, size=(WIDTH, HEIGHT), what="the picture"):
        """Waits until the newest emission is this picture."""
        def same():
            return self.rows() > 0 and np.array_equal(self.picture(self.rows() - 1, size), wanted)
        wait_for(lambda: same() or process.poll() is not None, missing=lambda: f"{what}, of {self.rows()} rows")
        self.assertIsNone(process.poll())


class ScreenCase(PictureTest):
    def setUp(self):
        super().setUp()
        self.screen = Screen(f"{WIDTH}x{HEIGHT}x24")
        self.addCleanup(self.screen.close)
        self.name = f"screen:{self.screen.display}?pointer=no"

    def window(self, box, **options):
        window = Window(self.screen.display, box, **options)
        self.addCleanup(window.close)
        return window
