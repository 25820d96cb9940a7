"""Runs the program and reads what it left: for the tests of the command line and of dumps."""
import json
import pathlib
import subprocess

import numpy as np
from patience import PATIENCE
from program import SACCADE, FolderTest, ffmpeg

ARRAYS = ("patches", "geometry", "changed", "index")
INDEX_TYPE = np.dtype([("frame", "<i8"), ("pts_ns", "<i8"), ("fix_u", "<f4"), ("fix_v", "<f4"), ("in_flight", "u1"),
                       ("damaged_tiles", "<i4")])


def saccade(*arguments, **options):
    return subprocess.run([SACCADE, *map(str, arguments)], capture_output=True, check=False, timeout=300 * PATIENCE,
                          **{"stdin": subprocess.DEVNULL, **options})


def make_clip(path, seconds=2, size="320x240", rate=25, codec=("-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")):
    ffmpeg("-f", "lavfi", "-i", f"testsrc2=size={size}:rate={rate}:duration={seconds}", *codec, path)
    return path


def load(folder):
    """Every array of a dump, mapped; raises what numpy raises."""
    return {name: np.load(pathlib.Path(folder) / f"{name}.npy", mmap_mode="r") for name in ARRAYS}


def load_json(folder, name):
    return json.loads((pathlib.Path(folder) / f"{name}.json").read_text())


class DumpTest(FolderTest):
    """A temporary folder and a small clip in it, made once per class."""
    seconds, size, rate = 2, "320x240", 25

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clip = make_clip(cls.folder / "clip.mp4", cls.seconds, cls.size, cls.rate)

    def setUp(self):
        self.out = self.folder / f"out-{self.id().rsplit('.', 1)[-1]}"

    def dump(self, *options, clip=None, out=None):
        done = saccade("dump", clip or self.clip, "-o", out or self.out, *options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return load(out or self.out)

    def refuse(self, code, words, *arguments, **options):
        """The program ends with `code` and one line on stderr that holds every one of `words`; nothing on stdout."""
        done = saccade(*arguments, **options)
        text = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, text)
        self.assertEqual(done.stdout, b"")
        self.assertTrue(text.startswith("saccade: "), text)
        self.assertEqual(text.count("\n"), 1, f"not one line: {text}")
        for word in words:
            self.assertIn(word, text)
        return text
