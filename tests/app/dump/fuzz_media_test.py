"""A small share of scripts/fuzz-media: mutated files neither crash nor hang the program, nor pass for whole dumps."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from patience import PATIENCE
from program import SACCADE, ffmpeg

ROOT = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"])
MEDIA = ROOT.parent / "shared" / "media" / "made"
KINDS = {"a.mp4": ("libx264", "-bf", "2"), "b.ts": ("mpeg2video",), "c.mkv": ("ffv1",), "d.avi": ("mjpeg",), "e.gif": ("gif",),
         "f.webm": ("libvpx",), "g.mov": ("png",), "h.y4m": ("wrapped_avframe",)}


class FuzzMedia(unittest.TestCase):
    def run_on(self, corpus, count):
        done = subprocess.run([sys.executable, ROOT / "scripts" / "fuzz-media", "--program", SACCADE, "--corpus", corpus,
                               "--count", str(count), "--timeout", str(60 * PATIENCE)], capture_output=True,
                              text=True, timeout=500 * PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"{count} mutated files", done.stdout)

    def test_files_of_our_own(self):
        with tempfile.TemporaryDirectory(prefix="saccade-seeds-") as name:
            for leaf, codec in KINDS.items():
                ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.3", "-c:v", *codec,
                       pathlib.Path(name) / leaf)
            self.run_on(pathlib.Path(name), 32)

    def test_the_media_set(self):
        if not MEDIA.is_dir():
            self.skipTest("no ../shared/media here")
        self.run_on(MEDIA, 32)

    def test_a_program_that_crashes_is_noticed(self):
        with tempfile.TemporaryDirectory(prefix="saccade-seeds-") as name:
            bad = pathlib.Path(name) / "bad"
            bad.write_text("#!/bin/sh\nkill -SEGV $$\n")
            bad.chmod(0o755)
            corpus = pathlib.Path(name) / "corpus"
            corpus.mkdir()
            (corpus / "a.bin").write_bytes(bytes(range(100)))
            done = subprocess.run([sys.executable, ROOT / "scripts" / "fuzz-media", "--program", bad, "--corpus", corpus,
                                   "--count", "2"], capture_output=True, text=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("2 failed", done.stdout)


if __name__ == "__main__":
    unittest.main()
