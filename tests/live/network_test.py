"""MPEG-TS over UDP, TCP and HTTP from ffmpeg's command line; files over HTTP; slow and stalling ones."""
import functools
import http.server
import pathlib
import threading
import unittest

import numpy as np

from live_support import LiveTest, build_shim, free_port, listens, socket
from patience import wait_for

RATE, SECONDS = 25, 4
GRAPH = f"testsrc2=size=320x240:rate={RATE}:duration={SECONDS}"
ENCODE = ("-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", str(RATE // 2), "-pix_fmt", "yuv420p", "-f", "mpegts")


class Network(LiveTest):
    def sender(self, url, *options, seconds=SECONDS, paced=True):
        graph = f"testsrc2=size=320x240:rate={RATE}:duration={seconds}"
        return self.start("ffmpeg", "-v", "error", "-nostdin", *(["-re"] if paced else []), "-f", "lavfi", "-i", graph, *ENCODE, *options, url)

    def check(self, frames, policy):
        arrays, manifest = self.arrays(), self.manifest()
        self.assertEqual(len(arrays["index"]), frames)
        self.assertEqual(manifest["queue_policy"], policy)
        steps = np.diff(arrays["index"]["pts_ns"]) * RATE / 1e9
        np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
        self.assertEqual(manifest["frames_decoded"], manifest["frames"] + sum(manifest["drops"].values()))
        self.assertTrue(self.meta()["stream"]["live"])

    def test_udp(self):
        port = free_port(socket.SOCK_DGRAM)
        process = self.dump(f"udp://127.0.0.1:{port}", "--frames", 30, "--live-policy", "block")
        self.sender(f"udp://127.0.0.1:{port}?pkt_size=1316", seconds=60)
        self.finish(process, 0)
        self.check(30, "block")

    def test_udp_that_falls_silent(self):
        port = free_port(socket.SOCK_DGRAM)
        process = self.dump(f"udp://127.0.0.1:{port}", "--set", "stall-timeout=1", "--reconnect", 0)
        self.sender(f"udp://127.0.0.1:{port}?pkt_size=1316")
        self.finish(process, 3, "nothing came for 1 s")
        self.assertTrue(self.manifest()["complete"])
        self.assertEqual(self.manifest()["queue_policy"], "latest")

    def test_tcp_in_full(self):
        port = free_port()
        self.sender(f"tcp://127.0.0.1:{port}?listen", paced=False)
        process = self.connect(f"tcp://127.0.0.1:{port}", "--live-policy", "block")
        self.finish(process, 0)
        self.check(RATE * SECONDS, "block")
        self.assertFalse(self.manifest()["live"]["broke_off"])

    def connect(self, url, *options, env=None):
        """Once the sender listens."""
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        wait_for(lambda: listens(port), missing=f"nobody listens on {port}")
        return self.dump(url, *options, env=env)

    def test_http_stream(self):
        port = free_port()
        self.sender(f"http://127.0.0.1:{port}/live.ts", "-listen", "1", paced=False)
        self.finish(self.connect(f"http://127.0.0.1:{port}/live.ts", "--live-policy", "block"), 0)
        self.check(RATE * SECONDS, "block")

    def test_http_file_is_no_live_stream(self):
        clip = self.folder / "clip.mp4"
        self.finish(self.start("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", GRAPH, "-pix_fmt", "yuv420p", clip), 0)
        handler = functools.partial(Ranges, directory=str(self.folder))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.finish(self.dump(f"http://127.0.0.1:{server.server_address[1]}/clip.mp4", "--start", 1), 0)
            server.shutdown()
        index = np.load(self.out / "index.npy")
        np.testing.assert_allclose(index["pts_ns"] * 1e-9, 1 + np.arange(len(index)) / RATE, atol=1e-6)
        self.assertEqual(len(index), RATE * (SECONDS - 1))
        self.assertFalse(self.meta()["stream"]["live"])
        self.assertNotIn("live", self.manifest())
        self.assertFalse((self.out / "live.npy").exists())

    def test_a_disk_slower_than_the_source(self):
        port = free_port()
        self.sender(f"tcp://127.0.0.1:{port}?listen", seconds=3)
        env = {**build_shim(self.folder, "slow_disk"), "SACCADE_DISK_MS": "400"}
        self.finish(self.connect(f"tcp://127.0.0.1:{port}", env=env), 0)
        manifest, index = self.manifest(), self.arrays()["index"]
        self.assertGreater(manifest["drops"]["stale"], 0)
        self.assertEqual(manifest["frames_decoded"], len(index) + sum(manifest["drops"].values()))
        self.assertGreater(np.diff(index["frame"]).max(), 1)  # a dropped frame leaves a hole in the numbers


class Ranges(http.server.SimpleHTTPRequestHandler):
    """Byte ranges, as any file server has them."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = (pathlib.Path(self.directory) / self.path.lstrip("/")).read_bytes()
        begin = int(self.headers.get("Range", "bytes=0-")[6:].split("-")[0])
        self.send_response(206)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Range", f"bytes {begin}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        try:
            self.wfile.write(body[begin:])
        except OSError:
            pass


if __name__ == "__main__":
    unittest.main()
