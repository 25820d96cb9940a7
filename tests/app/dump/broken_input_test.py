"""Inputs with errors in them: the same dump whatever the number of threads, alone and among many."""
import collections
import contextlib
import functools
import http.server
import json
import pathlib
import random
import signal
import subprocess
import threading
import time
import unittest

import numpy as np

from dump_support import ARRAYS, DumpTest, SACCADE, load, load_json, make_clip, saccade
from patience import PATIENCE

CODECS = {  # the container, and how ffmpeg is asked for it
    "h264": (".mp4", ("-c:v", "libx264", "-bf", "2", "-pix_fmt", "yuv420p", "-movflags", "+faststart")),
    "hevc": (".mp4", ("-c:v", "libx265", "-x265-params", "log-level=error", "-pix_fmt", "yuv420p")),
    "mpeg4": (".avi", ("-c:v", "mpeg4", "-g", "12", "-pix_fmt", "yuv420p")),
    "vp9": (".webm", ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-pix_fmt", "yuv420p")),
}
SILENT = ("hevc", "vp9")  # decoded without a word: to FFmpeg any bits are a picture
OPTIONS = ("--every", "frame", "--lattice", "uniform", "--set", "lod=0", "--log-level", "error")


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class SlowFiles(QuietFiles):
    """A file at a speed at which progress is reported; `second`: what happens when it is asked for once more."""
    second = staticmethod(lambda: None)
    chunk_s = 0.0

    def do_GET(self):
        self.server.readings[self.path] += self.headers.get("Range", "bytes=0-") == "bytes=0-"
        if self.server.readings[self.path] > 1:
            self.second()
        super().do_GET()

    def copyfile(self, source, target):
        try:
            while chunk := source.read(4096):
                target.write(chunk)
                time.sleep(self.chunk_s)
        except (BrokenPipeError, ConnectionResetError):
            pass


@contextlib.contextmanager
def served(folder, **attributes):
    """The URL of a folder's files."""
    handler = functools.partial(type("Handler", (SlowFiles,), attributes), directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.readings = collections.Counter()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class BrokenInput(DumpTest):
    def broken(self, codec):
        """A clip with every so many bytes inverted, in the middle of the file."""
        ending, encoder = CODECS[codec]
        path = make_clip(self.folder / f"{codec}{ending}", 2, codec=encoder)
        data = bytearray(path.read_bytes())
        for at in random.Random(5).sample(range(len(data) // 3, 2 * len(data) // 3), 40):
            data[at] ^= 0xff
        path.write_bytes(data)
        return path

    def dumped(self, path, name, *options):
        out = self.folder / f"{self.id().rsplit('.', 1)[-1]}-{name}"
        done = saccade("dump", path, "-o", out, *OPTIONS, *options)
        noticed = pathlib.PurePath(path).stem not in SILENT
        self.assertEqual((done.returncode, b"damaged" in done.stderr), (3 if noticed else 0, noticed), done.stderr.decode())
        return out

    def assert_same(self, one, other):
        for array in ARRAYS:
            np.testing.assert_array_equal(load(one)[array], load(other)[array], array)
        facts = [load_json(folder, "manifest") for folder in (one, other)]
        for key in ("frames", "emissions", "decode_errors", "input_damaged"):
            self.assertEqual(facts[0][key], facts[1][key], key)

    def test_any_number_of_threads_gives_the_same_bytes(self):
        for codec in CODECS:
            with self.subTest(codec=codec):
                path = self.broken(codec)
                one = self.dumped(path, f"{codec}-one", "--threads", "1")
                for threads in ("0", "2", "5"):
                    self.assert_same(self.dumped(path, f"{codec}-{threads}", "--threads", threads), one)

    def test_ffmpeg_alone_depends_on_them(self):
        """Or there would be nothing to see to: the same clip, decoded by ffmpeg itself."""
        path = self.broken("h264")

        def decoded(threads):
            return subprocess.run(["ffmpeg", "-v", "quiet", "-nostdin", "-threads", str(threads), "-i", path, "-f", "rawvideo", "-"],
                                  stdout=subprocess.PIPE, check=False).stdout
        self.assertNotEqual(decoded(1), decoded(5))

    def test_many_are_as_alone(self):
        paths = [self.broken(codec) for codec in ("h264", "mpeg4")]
        alone = {path.name: self.dumped(path, f"alone-{path.stem}") for path in paths}
        for threads in ("1", "3"):  # with several each is read a second time, beside the others
            out = self.folder / f"many-{threads}"
            done = saccade("dump", *paths, self.clip, "-o", out, *OPTIONS, "--jobs", "2", "--threads", threads)
            self.assertEqual(done.returncode, 3, done.stderr.decode())
            self.assertEqual(done.stderr.count(b"is damaged"), 2, done.stderr.decode())
            for name, folder in alone.items():
                self.assert_same(out / name, folder)

    def test_a_resumed_one_is_not_decoded_again(self):
        path = self.broken("h264")
        out = self.dumped(path, "first")
        again = saccade("dump", path, "-o", out, *OPTIONS, "--resume")
        self.assertEqual(again.returncode, 3, "it is damaged still")
        self.assertIn(b"is damaged", again.stderr)
        self.assertIn(b"already complete", again.stdout)

    def test_frames_before_the_first_shown_are_no_damage(self):
        """An open GOP, entered midway: its leading pictures refer to what was not decoded, and are not shown."""
        path = make_clip(self.folder / "open.mp4", 4, codec=("-c:v", "libx264", "-x264-params",
                                                             "open-gop=1:keyint=30:bframes=3:ref=4", "-pix_fmt", "yuv420p"))
        for start in ("0", "1.3", "1.7", "2.5"):
            out = self.folder / f"open-{start}"
            done = saccade("dump", path, "-o", out, "--start", start, "--log-level", "debug")
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            self.assertNotIn(b"over again", done.stderr)

    def test_over_http_as_from_disk(self):
        path = self.broken("h264")
        disk = self.dumped(path, "disk")
        handler = functools.partial(QuietFiles, directory=str(self.folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            for threads in ("1", "3"):
                out = self.dumped(f"http://127.0.0.1:{server.server_port}/{path.name}", f"http-{threads}", "--threads", threads)
                self.assert_same(out, disk)
            server.shutdown()

    def test_both_readings_are_one_run(self):
        path = self.broken("h264")
        chunks = path.stat().st_size / 4096
        out = self.folder / "one-run"
        with served(self.folder, chunk_s=2.5 / chunks) as url:
            done = saccade("dump", f"{url}/{path.name}", "-o", out, *OPTIONS, "--progress", "json")
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        lines = [json.loads(line) for line in done.stderr.splitlines() if line.startswith(b"{")]
        self.assertGreaterEqual(len(lines), 4)
        for name in ("elapsed_s", "frames", "emissions"):
            values = [line[name] for line in lines]
            self.assertEqual(values, sorted(values), name)
        self.assertEqual([line["done"] for line in lines], [False] * (len(lines) - 1) + [True])
        manifest = load_json(out, "manifest")
        self.assertEqual([manifest[name] for name in ("frames", "emissions")], [lines[-1][name] for name in ("frames", "emissions")])
        self.assertGreaterEqual(manifest["wall_s"], lines[-1]["elapsed_s"])
        self.assertGreater(manifest["wall_s"], 4, "the server alone takes five seconds, probing aside")

    def test_interrupt_in_the_second_reading_takes_no_count_back(self):
        path = self.broken("h264")
        chunks = path.stat().st_size / 4096
        out, asked = self.folder / "taken-back", threading.Event()
        with served(self.folder, chunk_s=2.5 / chunks, second=staticmethod(asked.set)) as url:
            process = subprocess.Popen([SACCADE, "dump", f"{url}/{path.name}", "-o", str(out), *OPTIONS, "--threads", "2", "--progress", "json"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            self.assertTrue(asked.wait(60 * PATIENCE))
            for line in process.stderr:
                if not line.startswith(b"{"):
                    continue
                first = json.loads(line)
                if first["elapsed_s"] > 3.5:
                    break
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30 * PATIENCE)
        lines = [first, *(json.loads(line) for line in err.splitlines() if line.startswith(b"{"))]
        self.assertTrue(lines[-1]["done"], err)
        self.assertFalse(lines[0]["done"])
        self.assertFalse((out / "manifest.json").exists() and load_json(out, "manifest")["complete"])
        for name in ("elapsed_s", "frames", "emissions"):
            values = [line[name] for line in lines]
            self.assertEqual(values, sorted(values), name)

    def between_readings(self, jobs):
        """An interrupt while the input is opened for the second time."""
        path = self.broken("h264")
        out = self.folder / f"between-{jobs}"
        asked, released = threading.Event(), threading.Event()

        def wait():
            asked.set()
            released.wait()
        with served(self.folder, second=staticmethod(wait)) as url:
            inputs = [f"{url}/{path.name}", *([self.clip] if jobs > 1 else [])]
            process = subprocess.Popen([SACCADE, "dump", *map(str, inputs), "-o", str(out), *OPTIONS, "--threads", "2", "--jobs", str(jobs)],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertTrue(asked.wait(60 * PATIENCE))
            folder = out / path.name if jobs > 1 else out
            other = saccade("dump", self.clip, "-o", folder, "--overwrite")
            self.assertEqual(other.returncode, 2, other.stderr.decode())
            self.assertIn(b"another run is writing there", other.stderr)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30 * PATIENCE)
            released.set()
        self.assertEqual(process.returncode, 4, err.decode())
        rows = {len(array) for array in load(folder).values()}
        self.assertEqual(len(rows), 1)
        self.assertIn(f"interrupted; {folder} holds the first {rows.pop()} emissions, without a manifest", err.decode())
        self.assertNotIn(b"nothing was written", err)
        self.assertFalse((folder / "manifest.json").exists())

    def test_interrupt_between_two_readings_keeps_the_first(self):
        self.between_readings(1)

    def test_interrupt_between_two_readings_of_one_of_many_keeps_the_first(self):
        self.between_readings(2)

    def test_a_second_reading_that_fails_is_told(self):
        path = self.broken("h264")
        out = self.folder / "gone"
        moved = path.with_suffix(".moved")
        with served(self.folder, second=staticmethod(lambda: path.exists() and path.rename(moved))) as url:
            for jobs in ("1", "2"):
                done = saccade("dump", f"{url}/{path.name}", self.clip, "-o", out, *OPTIONS, "--jobs", jobs, "--overwrite")
                self.assertEqual(done.returncode, 3, done.stderr.decode())
                self.assertIn(b"404", done.stderr)
                self.assertFalse((out / path.name / "manifest.json").exists())
                self.assertTrue((out / self.clip.name / "manifest.json").exists())
                if moved.exists():
                    moved.rename(path)

    def test_a_pipe_is_read_once(self):
        path = self.broken("mpeg4")
        out = self.folder / "piped"
        with path.open("rb") as file:
            done = saccade("dump", "-", "-o", out, *OPTIONS, stdin=file)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertGreater(load_json(out, "manifest")["frames"], 0)


if __name__ == "__main__":
    unittest.main()
