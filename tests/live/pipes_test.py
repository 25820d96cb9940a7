"""Standard input and named pipes: whole by default, live on request; writers that come late, stall or go away."""
import json
import os
import signal
import subprocess
import unittest

import numpy as np

from live_support import LiveTest
from patience import PATIENCE, wait_for
from signals import catches

RATE, FRAMES = 25, 50


def y4m(*options):
    return ["ffmpeg", "-v", "error", "-nostdin", *options, "-f", "lavfi", "-i", f"testsrc2=size=160x96:rate={RATE}", "-frames:v", str(FRAMES),
            "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe"]


class Pipes(LiveTest):
    def fifo(self):
        path = self.folder / f"fifo-{self.id().rsplit('.', 1)[-1]}"
        os.mkfifo(path)
        return path

    def test_stdin_in_full(self):
        writer = self.start(*y4m(), "-", stdout=subprocess.PIPE)
        self.finish(self.dump("-", stdin=writer.stdout), 0)
        self.assertEqual(len(np.load(self.out / "index.npy")), FRAMES)
        self.assertEqual(self.manifest()["queue_policy"], "block")

    def test_a_named_pipe_whose_writer_comes_later(self):
        path = self.fifo()
        process = self.dump(path)
        self.finish(self.start(*y4m(), "-y", path), 0)
        self.finish(process, 0)
        self.assertEqual(len(np.load(self.out / "index.npy")), FRAMES)

    def test_live_on_request(self):
        writer = self.start(*y4m("-re"), "-", stdout=subprocess.PIPE)
        self.finish(self.dump("-", "--live-policy", "latest", stdin=writer.stdout), 0)
        manifest = self.manifest()
        self.assertEqual(manifest["queue_policy"], "latest")
        self.assertEqual(manifest["live"]["capture_clock"], "arrival")
        self.assertEqual(manifest["frames_decoded"], FRAMES)
        self.assertEqual(len(self.arrays()["live"]), manifest["emissions"])

    def test_no_writer_in_time(self):
        self.finish(self.dump(self.fifo(), "--set", "open-timeout=0.5"), 65, "--set open-timeout", seconds=30)

    def test_a_writer_that_stalls(self):
        read, write = os.pipe()
        clip = subprocess.run([*y4m(), "-"], capture_output=True, check=True).stdout
        process = self.dump("-", "--set", "stall-timeout=0.5", stdin=read)
        os.close(read)
        os.write(write, clip[:60000])  # fits into a pipe
        self.finish(process, 3, "cut short", seconds=60)
        os.close(write)
        self.assertTrue(self.manifest()["complete"])

    def test_a_signal_while_nothing_comes(self):
        path = self.fifo()
        process = self.dump(path)
        writer = os.open(path, os.O_RDWR)
        os.write(writer, b"YUV4MPEG2 W16 H16 F25:1\n" + 2 * (b"FRAME\n" + bytes(384)))
        wait_for(lambda: catches(process.pid, signal.SIGINT))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30 * PATIENCE)
        os.close(writer)
        self.assertEqual(process.returncode, 4)

    def test_a_folder_that_is_moved_meanwhile(self):
        path = self.fifo()
        process = self.dump(path)
        clip = subprocess.run([*y4m(), "-"], capture_output=True, check=True).stdout
        writer = os.open(path, os.O_RDWR)
        os.write(writer, clip[:60000])
        wait_for(lambda: self.rows() >= 1)
        moved = self.folder / "moved"
        os.rename(self.out, moved)
        end = os.open(path, os.O_WRONLY)
        os.close(writer)
        os.write(end, clip[60000:])
        os.close(end)
        self.finish(process, 0, str(moved))
        self.assertFalse(self.out.exists())
        self.assertTrue((moved / "manifest.json").exists())
        self.assertEqual(json.loads((moved / "manifest.json").read_text())["emissions"], FRAMES)
        self.assertEqual(len(np.load(moved / "index.npy")), FRAMES)


if __name__ == "__main__":
    unittest.main()
