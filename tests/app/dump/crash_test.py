"""Ends that come early: SIGKILL at any moment, SIGINT, SIGHUP, a full disk, a damaged input. What is on disk always opens."""
import contextlib
import fcntl
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import termios
import time
import unittest

import numpy as np

from dump_support import ARRAYS, DumpTest, SACCADE, load, load_json, make_clip, saccade
from patience import PATIENCE, wait_for

SEED = int(os.environ.get("SACCADE_TEST_SEED", "20240229"))


def start(*arguments, **options):
    return subprocess.Popen([SACCADE, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def wait_for_rows(test, process, out):
    deadline = time.monotonic() + 60 * PATIENCE
    while not (out / "index.npy").exists() or not len(np.load(out / "index.npy", mmap_mode="r")):
        test.assertLess(time.monotonic(), deadline)
        test.assertIsNone(process.poll())
        time.sleep(0.02)


class Killed(DumpTest):
    size, seconds = "640x480", 2

    def check_what_is_left(self, out, when):
        """Every array that exists opens; rows that count in one are at most one flush away from those of another."""
        self.assertFalse((out / "manifest.json").exists(), when)
        counts = []
        for name in ARRAYS:
            path = out / f"{name}.npy"
            if not path.exists():
                continue
            array = np.load(path, mmap_mode="r")  # raises when the file is shorter than its header says
            counts.append(len(array))
            if name == "index" and len(array):
                self.assertTrue((np.diff(array["frame"]) > 0).all(), when)
                self.assertTrue(((array["fix_u"] >= 0) & (array["fix_u"] <= 1)).all(), when)
            if name == "geometry" and len(array):
                self.assertTrue((array[:, :, 2] >= 0).all(), when)
        if (out / "patches.npy").exists():
            load_json(out, "meta")
        return counts

    def test_sigkill_at_random_moments(self):
        print(f"SACCADE_TEST_SEED={SEED}")
        moments = random.Random(SEED)
        filled = 0
        for round_number in range(25):
            out = self.folder / f"killed-{round_number}"
            wait_s = moments.uniform(0, 0.2 if round_number < 12 else 0.7)
            process = start("dump", self.clip, "-o", out, "--every", "frame", "--loop")
            if round_number >= 12:
                wait_for_rows(self, process, out)
            time.sleep(wait_s)
            process.kill()
            process.communicate()
            self.assertEqual(process.returncode, -signal.SIGKILL)
            if out.exists():
                counts = self.check_what_is_left(out, f"killed after {wait_s:.3f} s")
                filled += bool(counts) and min(counts) > 0
            shutil.rmtree(out, ignore_errors=True)
        self.assertGreaterEqual(filled, 13, "runs that were killed after their first flush hold rows")

    def test_sigkill_then_resume(self):
        process = start("dump", self.clip, "-o", self.out, "--every", "frame", "--loop=3000")
        while not (self.out / "index.npy").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.kill()
        process.communicate()
        done = saccade("dump", self.clip, "-o", self.out, "--resume")
        self.assertEqual(done.returncode, 2, done.stderr.decode())
        self.assertIn(b"--loop", done.stderr)
        done = saccade("dump", self.clip, "-o", self.out, "--overwrite", "--every", "frame")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(len(load(self.out)["index"]), 50)


class OneAtATime(DumpTest):
    def test_a_folder_has_one_writer(self):
        first = start("dump", self.clip, "-o", self.out, "--every", "frame", "--loop")
        wait_for_rows(self, first, self.out)
        for option in ((), ("--resume",), ("--overwrite",)):
            self.refuse(2, ["-o", str(self.out), "another run"], "dump", self.clip, "-o", self.out, *option)
        self.assertIsNone(first.poll())
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate(timeout=30 * PATIENCE)
        self.assertEqual(first.returncode, 4, errors.decode())
        done = saccade("dump", self.clip, "-o", self.out, "--overwrite")
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_of_several_at_once_one_is_written_whole(self):
        others = [start("dump", self.clip, "-o", self.out, "--every", "frame", "--frames", str(frames)) for frames in (20, 30, 40)]
        codes = {}
        for frames, process in zip((20, 30, 40), others):
            _, errors = process.communicate(timeout=60 * PATIENCE)
            codes[frames] = process.returncode
            self.assertIn(process.returncode, (0, 2), errors.decode())
        won = [frames for frames, code in codes.items() if code == 0]
        self.assertEqual(len(won), 1, codes)
        self.assertEqual(load_json(self.out, "manifest")["emissions"], won[0])
        self.assertEqual({len(array) for array in load(self.out).values()}, {won[0]})


class Interrupted(DumpTest):
    def interrupt(self, number):
        process = start("dump", self.clip, "-o", self.out, "--every", "frame", "--loop", "--log-level", "warn")
        wait_for_rows(self, process, self.out)
        process.send_signal(number)
        out, err = process.communicate(timeout=30 * PATIENCE)
        self.assertEqual(process.returncode, 4, err.decode())
        self.assertEqual(err.count(b"\n"), 1, err.decode())
        self.assertIn(str(self.out).encode(), err)
        arrays = load(self.out)
        self.assertEqual(len({len(array) for array in arrays.values()}), 1)
        self.assertIn(str(len(arrays["index"])).encode(), err)
        self.assertFalse((self.out / "manifest.json").exists())

    def test_sigint(self):
        self.interrupt(signal.SIGINT)

    def test_sigterm(self):
        self.interrupt(signal.SIGTERM)

    def test_sighup(self):
        self.interrupt(signal.SIGHUP)

    def test_nohup_itGoesOn(self):
        process = start("dump", self.clip, "-o", self.out, "--every", "frame", "--loop",
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for_rows(self, process, self.out)
        process.send_signal(signal.SIGHUP)
        there = len(load(self.out)["index"])
        wait_for(lambda: len(load(self.out)["index"]) > there + 50 or process.poll() is not None)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30 * PATIENCE)
        self.assertEqual(process.returncode, 4)

    def test_itsTerminalCloses_theDumpIsWhole(self):
        """The kernel sends SIGHUP, all that is written to the terminal fails, and SIGHUP may come twice."""
        terminal, own = os.openpty()
        process = subprocess.Popen([SACCADE, "dump", str(self.clip), "-o", str(self.out), "--every", "frame", "--loop", "--progress", "json"],
                                   stdin=own, stdout=own, stderr=own, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(own)
        wait_for_rows(self, process, self.out)
        os.close(terminal)
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=30 * PATIENCE), 4)
        self.assertEqual(len({len(array) for array in load(self.out).values()}), 1)

    def test_while_a_source_stalls(self):
        reader, writer = os.pipe()
        os.write(writer, self.stream())
        process = subprocess.Popen([SACCADE, "dump", "-", "-o", str(self.out), "--every", "frame"], stdin=reader,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(reader)
        wait_for_rows(self, process, self.out)  # what was sampled is flushed though the source stalls
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=20 * PATIENCE)
        finally:
            os.close(writer)
        self.assertEqual(process.returncode, 4, err.decode())
        self.assertGreater(len(load(self.out)["index"]), 0)

    def stream(self):
        """Raw video that fits a pipe's buffer: nothing has to be probed to its end."""
        path = self.folder / "small.y4m"
        make_clip(path, 1, "32x32", codec=("-pix_fmt", "yuv420p"))
        return path.read_bytes()


class Unwritable(DumpTest):
    def test_a_file_size_limit(self):
        limit = 1 << 20
        done = saccade("dump", self.clip, "-o", self.out, "--every", "frame", "--log-level", "warn",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr.decode())
        self.assertIn(b"patches.npy", done.stderr)
        load(self.out)
        self.assertFalse((self.out / "manifest.json").exists())

    def test_a_full_disk(self):
        mount = self.folder / "small-disk"
        mount.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mount)], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("a file system of our own can't be mounted here (needs root)")
        try:
            done = saccade("dump", self.clip, "-o", mount / "out", "--every", "frame", "--loop", "--log-level", "warn")
            self.assertEqual(done.returncode, 1, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr.decode())
            self.assertIn(b"No space left", done.stderr)
            load(mount / "out")
            self.assertFalse((mount / "out" / "manifest.json").exists())
        finally:
            subprocess.run(["umount", str(mount)], check=False)

    def test_below_a_file(self):
        self.refuse(1, [str(self.clip), "-o"], "dump", self.clip, "-o", self.clip / "out", "--log-level", "warn")

    def test_a_read_only_place(self):
        if not pathlib.Path("/proc/self").exists():
            self.skipTest("no /proc, which nobody can write to")
        self.refuse(1, ["/proc/saccade-out"], "dump", self.clip, "-o", "/proc/saccade-out", "--log-level", "warn")

    def test_stdout_that_is_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([SACCADE, "dump", str(self.clip), "-o", str(self.out), "--log-level", "warn"],
                                  stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"stdout", done.stderr)


class Damaged(DumpTest):
    def test_a_damaged_stream(self):
        path = make_clip(self.folder / "broken.ts", 4, codec=("-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p", "-f", "mpegts"))
        data = bytearray(path.read_bytes())
        noise = random.Random(SEED)
        for at in range(len(data) // 3, 2 * len(data) // 3, 97):
            data[at] = noise.randrange(256)
        path.write_bytes(data)
        done = saccade("dump", path, "-o", self.out, "--every", "frame", "--log-level", "error")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertIn(b"damaged", done.stderr)
        manifest = load_json(self.out, "manifest")
        self.assertTrue(manifest["complete"])
        self.assertTrue(manifest["input_damaged"])
        errors = manifest["decode_errors"]
        self.assertGreater(errors["packets_corrupt"] + errors["frames_corrupt"] + errors["truncated"], 0)
        self.assertEqual(len(load(self.out)["index"]), manifest["emissions"])

    def test_a_truncated_file(self):
        path = make_clip(self.folder / "cut.mp4", 4, codec=("-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"))
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        done = saccade("dump", path, "-o", self.out, "--every", "frame", "--log-level", "error")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        manifest = load_json(self.out, "manifest")
        self.assertTrue(manifest["input_damaged"])
        self.assertLess(manifest["frames"], 100)
        self.assertGreater(manifest["frames"], 0)


if __name__ == "__main__":
    unittest.main()
