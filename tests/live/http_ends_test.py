"""Answers over HTTP that tell no length: whole where the container's promise is kept, lost where it is not."""
import socket
import unittest

import numpy as np

from broken_web import WebServer
from live_support import LiveTest, build_shim, subprocess

HEADS = {"1.0": b"HTTP/1.0 200 OK\r\n\r\n", "1.1": b"HTTP/1.1 200 OK\r\n\r\n",
         "close": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}


class Server(WebServer):
    """Sends the same bytes to all that connect, and closes."""

    def __init__(self, head, body):
        super().__init__({"file": body})
        self.bytes, self.connections = head + body, 0

    def answer(self, client, request):
        self.connections += 1
        client.sendall(self.bytes)
        client.shutdown(socket.SHUT_WR)
        while client.recv(4096):
            pass


class HttpEnds(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = {}
        for name, more in {"a.mp4": ["-movflags", "faststart"], "a.mkv": [], "a.ts": [], "a.flv": [], "a.nut": []}.items():
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=2", "-c:v", "libx264", *more,
                            cls.folder / name], check=True)
            cls.files[name] = (cls.folder / name).read_bytes()
        for name in ("sound.mkv", "sound.flv"):  # it goes on for two seconds after the pictures
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", cls.folder / "a.mkv", "-f", "lavfi", "-i", "sine=d=4", "-c:v", "copy",
                            cls.folder / name], check=True)
            cls.files[name] = (cls.folder / name).read_bytes()

    def run_dump(self, head, body, code, says="", options=(), env=None):
        server = Server(head, body)
        self.addCleanup(server.stop)
        # By one thread: what is damaged is read once then.
        process = self.dump(server.url("file"), "--threads", 1, "--reconnect", 1, "--overwrite", *options, env=env)
        self.finish(process, code, says)
        self.assertEqual(server.connections, 1, "nothing broke, so nobody connects again")

    def test_whole_files_end_without_complaint(self):
        for name, body in self.files.items():
            for version, head in HEADS.items():
                with self.subTest(name=name, version=version):
                    self.run_dump(head, body, 0)
                    self.assertEqual(len(np.load(self.out / "index.npy")), 50)
                    self.assertFalse(self.manifest()["input_damaged"])
                    self.assertEqual(self.manifest()["queue_policy"], "block")

    def test_a_transport_stream_is_dumped_as_from_disk(self):
        """A live source has a threshold and drops frames; what may be a file has neither, however slow its reader is."""
        self.finish(self.dump(self.folder / "a.ts", "--threads", 1), 0)
        want = {name: np.load(self.out / f"{name}.npy") for name in ("patches", "changed", "index")}
        for env in (None, {**build_shim(self.folder, "slow_disk"), "SACCADE_DISK_MS": "80"}):
            self.run_dump(HEADS["1.0"], self.files["a.ts"], 0, env=env)
            for name, array in want.items():
                np.testing.assert_array_equal(np.load(self.out / f"{name}.npy"), array)

    def test_the_newest_frame_wins_if_asked_for(self):
        self.run_dump(HEADS["1.0"], self.files["a.ts"], 0, options=("--live-policy", "latest"))
        self.assertEqual(self.manifest()["queue_policy"], "latest")

    def test_files_that_lack_their_end_are_lost(self):
        for name in ("a.mp4", "a.mkv", "a.ts", "sound.mkv", "sound.flv"):
            with self.subTest(name=name):
                self.run_dump(HEADS["1.0"], self.files[name][:len(self.files[name]) * 3 // 4 + 7], 3, "lost connection")

    def test_connections_that_end_at_once_are_followed_by_longer_pauses(self):
        """Four frames are too few to know a file by: it is taken for a camera that breaks again and again."""
        brief = self.folder / "brief.ts"
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=s=160x120:r=25:d=0.16", "-c:v", "mpeg2video", brief],
                       check=True)
        server = Server(HEADS["1.0"], brief.read_bytes())
        self.addCleanup(server.stop)
        self.finish(self.dump(server.url("file"), "--frames", 14), 0, "; reconnecting\n", "; reconnecting in 0.25 s\n", "; reconnecting in 0.5 s\n")
        self.assertGreaterEqual(server.connections, 4)


if __name__ == "__main__":
    unittest.main()
