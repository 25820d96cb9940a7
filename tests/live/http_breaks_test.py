"""Files over HTTP whose connection breaks: the rest is asked for where the server can, and said to be lost where not."""
import subprocess
import unittest

import numpy as np

from broken_web import WHOLE, Break, WebServer
from live_support import LiveTest

FRAMES = 60
# Names of the containers' files, with what ffmpeg is told. The index of an MP4 lies at its end unless it is moved.
KINDS = {"end.mp4": ["-c:v", "libx264"], "front.mp4": ["-c:v", "libx264", "-movflags", "faststart"], "a.mkv": ["-c:v", "libx264"],
         "a.ts": ["-c:v", "libx264"], "a.avi": ["-c:v", "mjpeg"], "a.ogv": ["-c:v", "libtheora", "-q:v", "9", "-page_duration", "1"]}


def make(path, options):
    """Noise below numbers: each frame has a grey of its own in its middle, and costs bytes."""
    graph = f"nullsrc=s=96x96:r=25,geq=lum='if(between(X,24,71)*between(Y,24,71),20+3*N,128+60*sin(X*Y+N))':cb=128:cr=128"
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", graph, "-frames:v", str(FRAMES), "-g", "10", "-bf", "0", "-pix_fmt", "yuv420p",
                    *options, str(path)], check=True)
    return path.read_bytes()


def greys(path):
    """The middle of each frame, by ffmpeg."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(raw.stdout, np.uint8).reshape(-1, 96, 96, 3)[:, 48, 48].astype(int)


def once(after, how="close"):
    """The first answer for a name breaks."""
    return lambda _name, number, _begin: Break(after, how) if number == 0 else WHOLE


class HttpBreaks(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.files = {name: make(cls.folder / name, options) for name, options in KINDS.items()}
        cls.greys = {name: greys(cls.folder / name) for name in KINDS}
        for name, grey in cls.greys.items():
            assert len(grey) == FRAMES and len(set(grey[:, 0])) == FRAMES, name

    def server(self, breaks=lambda *_: WHOLE, **options):
        server = WebServer(self.files, breaks, **options)
        self.addCleanup(server.stop)
        return server

    def run_dump(self, server, name, code, *words, options=()):
        """By one thread: what is damaged is not read a second time then."""
        process = self.dump(server.url(name), "--threads", 1, "--overwrite", "--lattice", "nested", "--strides", 1, "--grid-sizes", 1, "--set", "stall-timeout=1", "--threshold", 0, *options)
        _, errors = self.finish(process, code, *words)
        middle = np.load(self.out / "patches.npy")[:, 0, :, 8, 8].astype(int)
        want = self.greys[name][:len(middle)]
        # The last one before a break may be half a picture.
        kept = len(middle) if code == 0 else max(len(middle) - 1, 0)
        np.testing.assert_allclose(middle[:kept], want[:kept], atol=2)
        return len(middle), errors

    def check_whole(self, server, name, options=()):
        frames, _ = self.run_dump(server, name, 0, options=options)
        self.assertEqual(frames, FRAMES)
        self.assertFalse(self.manifest()["input_damaged"])

    def check_lost(self, server, name, *words, least=1):
        frames, errors = self.run_dump(server, name, 3, "lost connection", "what came before was kept", *words)
        self.assertTrue(least <= frames < FRAMES, frames)
        self.assertNotIn("is damaged", errors)
        self.assertIn("lost connection", self.manifest()["decode_errors"]["stream_error"])

    def test_the_rest_is_asked_for(self):
        for name, body in self.files.items():
            for how in ("close", "reset", "stall"):
                with self.subTest(name=name, how=how):
                    server = self.server(once(len(body) // 2, how))
                    self.check_whole(server, name)
                    self.assertGreater(server.count(name), 1)

    def test_every_answer_breaks(self):
        for name, body in self.files.items():
            with self.subTest(name=name):
                server = self.server(lambda *_, body=body: Break(len(body) // 5))
                self.check_whole(server, name)
                self.assertGreater(server.count(name), 4)

    def test_refusals_between(self):
        def breaks(_name, number, _begin):
            return (Break(20000), Break(status=503), Break(0), Break(status=429))[number] if number < 4 else WHOLE

        for name in ("end.mp4", "front.mp4", "a.mkv"):
            with self.subTest(name=name):
                self.check_whole(self.server(breaks), name)

    def test_behind_a_redirect(self):
        self.check_whole(self.server(once(20000), moved=True), "front.mp4")

    def test_over_tls(self):
        certificate = self.folder / "certificate.pem"
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", certificate, "-out", self.folder / "cert.pem",
                               "-days", "2", "-subj", "/CN=127.0.0.1"], capture_output=True, check=False)
        if made.returncode:
            self.skipTest("no openssl here")
        certificate.write_bytes(certificate.read_bytes() + (self.folder / "cert.pem").read_bytes())
        for how in ("close", "reset", "stall"):
            with self.subTest(how=how):
                self.check_whole(self.server(once(20000, how), certificate=certificate), "front.mp4")

    def test_start_and_loop_after_a_break(self):
        process = self.dump(self.server(once(20000)).url("front.mp4"), "--start", 1.0, "--loop=1")
        self.finish(process, 0)
        self.assertEqual(self.rows(), 2 * (FRAMES - 25))

    def test_a_server_without_ranges(self):
        for name, body in self.files.items():
            if name == "end.mp4":
                continue  # can't be read so at all: its index comes last
            for how in ("close", "reset", "stall"):
                with self.subTest(name=name, how=how):
                    server = self.server(lambda *_, body=body, how=how: Break(len(body) * 3 // 4, how), ranges=False)
                    self.check_lost(server, name, "can't be asked for the rest")
                    self.assertEqual(server.count(name), 1)

    def test_a_server_that_is_gone(self):
        def breaks(_name, number, _begin):
            return Break(30000) if number == 0 else Break(status=503)

        for name in ("front.mp4", "a.mkv", "a.ts"):
            with self.subTest(name=name):
                self.check_lost(self.server(breaks), name, f"of {len(self.files[name])}", "tries to get the rest failed")

    def test_ranges_that_are_only_said(self):
        server = self.server(once(30000), ranges="said")
        self.check_lost(server, "front.mp4", "tries to get the rest failed")
        # Without a length its end is not a break.
        server = self.server(ranges="said", length="chunked")
        self.check_whole(server, "a.mkv")
        self.assertEqual(server.count("a.mkv"), 1)

    def test_no_tries_with_reconnect_0(self):
        server = self.server(once(30000))
        frames, _ = self.run_dump(server, "front.mp4", 3, "lost connection", options=("--reconnect", 0))
        self.assertLess(frames, FRAMES)
        self.assertEqual(server.count("front.mp4"), 1)

    def test_a_length_that_never_comes(self):
        for name in ("front.mp4", "a.ts"):
            with self.subTest(name=name):
                body = self.files[name]
                server = WebServer({name: body[:len(body) * 3 // 4]}, length=len(body) - len(body) * 3 // 4)
                self.addCleanup(server.stop)
                self.check_lost(server, name, f"at byte {len(body) * 3 // 4} of {len(body)}")

    def test_a_file_that_is_cut_on_the_server_is_damaged(self):
        for name in ("front.mp4", "a.mkv"):
            with self.subTest(name=name):
                server = WebServer({name: self.files[name][:-20000]})
                self.addCleanup(server.stop)
                _, errors = self.run_dump(server, name, 3, "is damaged")
                self.assertNotIn("lost connection", errors)

    def test_a_file_that_changes_meanwhile(self):
        server = self.server()
        server.files = dict(self.files)

        def breaks(name, number, _begin):
            server.files[name] = self.files[name] + bytes(1000 * number)
            return Break(30000) if number == 0 else WHOLE

        server.breaks = breaks
        self.run_dump(server, "front.mp4", 3, "lost connection", "changed on its server")

    def test_a_file_that_changes_and_keeps_its_length(self):
        body = self.files["front.mp4"]
        middle = len(body) // 2
        server = self.server()
        server.files = dict(self.files)

        def breaks(name, number, _begin):
            if number == 1:
                server.files[name] = body[:middle] + bytes(byte ^ 0x5a for byte in body[middle:])
            return Break(middle) if number == 0 else WHOLE

        server.breaks = breaks
        process = self.dump(server.url("front.mp4"), "--threads", 1, "--overwrite")
        self.finish(process, 3, "lost connection", "does not decode", "changed on its server")

    def test_lost_while_it_is_opened(self):
        for ranges in (True, False):
            for how in ("close", "reset", "stall"):
                with self.subTest(ranges=ranges, how=how):
                    server = self.server(lambda _name, _number, begin, how=how: Break(max(40 - begin, 0), how), ranges=ranges)
                    process = self.dump(server.url("end.mp4"), "--overwrite", "--set", "stall-timeout=0.5", "--set", "reconnect-delay-max=0")
                    self.finish(process, 65, "lost connection while it was opened")

    def test_answers_without_a_length(self):
        for length in ("none", "chunked"):
            for name in ("front.mp4", "a.mkv", "a.ts", "a.ogv"):
                with self.subTest(name=name, length=length):
                    server = self.server(ranges=False, length=length)
                    frames, _ = self.run_dump(server, name, 0)
                    self.assertEqual((frames, server.count(name)), (FRAMES, 1))

    def test_answers_without_a_length_that_break(self):
        for length, how in (("none", "reset"), ("chunked", "close"), ("chunked", "reset"), ("chunked", "stall")):
            for name in ("front.mp4", "a.mkv"):
                with self.subTest(name=name, length=length, how=how):
                    body = self.files[name]
                    self.check_lost(self.server(lambda *_, body=body, how=how: Break(len(body) * 3 // 4, how), ranges=False, length=length), name)

    def test_chunks_whose_size_is_none(self):
        """FFmpeg reads an invalid size as the last chunk's. Only the container shows that more was to come."""
        for size in ("zz", " ", "f" * 20):
            for name in ("front.mp4", "a.mkv", "a.ts", "a.ogv"):
                with self.subTest(name=name, size=size):
                    body = self.files[name]
                    server = self.server(lambda *_, body=body, size=size: Break(len(body) * 3 // 4 + 7, size=size), ranges=False, length="chunked")
                    if size == "f" * 20:  # FFmpeg complains, and reads on: what follows may not be pictures
                        self.finish(self.dump(server.url(name), "--overwrite"), 3, "lost connection")
                    elif name == "a.ogv":
                        self.run_dump(server, name, 0, "whether all came is not known")
                    else:
                        self.check_lost(server, name)
                    self.assertEqual(server.count(name), 1)


class Playlists(LiveTest):
    """HLS and DASH: each segment is a file of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        make(cls.folder / "whole.mp4", ["-c:v", "libx264"])
        cls.greys = greys(cls.folder / "whole.mp4")
        copy = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "whole.mp4", "-c", "copy"]
        hls = ["-f", "hls", "-hls_time", "0.8", "-hls_list_size", "0", "-hls_playlist_type", "vod"]
        key = cls.folder / "key"
        key.write_bytes(bytes(range(16)))
        (cls.folder / "keyinfo").write_text("key\nkey\n")
        for made in ([*hls, "-hls_segment_filename", "s%d.ts", "list.m3u8"], [*hls, "-hls_segment_type", "fmp4", "-hls_segment_filename", "f%d.m4s", "fmp4.m3u8"],
                     [*hls, "-hls_key_info_file", "keyinfo", "-hls_segment_filename", "k%d.ts", "secret.m3u8"],
                     ["-f", "hls", "-hls_time", "0.8", "-hls_list_size", "0", "-hls_flags", "single_file", "single.m3u8"],
                     ["-f", "dash", "-seg_duration", "0.8", "list.mpd"]):
            subprocess.run([*copy, *made], check=True, cwd=cls.folder)
        cls.files = {path.name: path.read_bytes() for path in cls.folder.iterdir() if path.is_file()}

    def run_dump(self, name, breaks, code, *words, **options):
        server = WebServer(self.files, breaks, **options)
        self.addCleanup(server.stop)
        process = self.dump(server.url(name), "--threads", 1, "--overwrite", "--lattice", "nested", "--strides", 1, "--grid-sizes", 1, "--set", "stall-timeout=1")
        _, errors = self.finish(process, code, *words)
        middle = np.load(self.out / "patches.npy")[:, 0, :, 8, 8].astype(int)
        if code == 0:
            self.assertEqual(len(middle), FRAMES)
            np.testing.assert_allclose(middle, self.greys, atol=2)
        return server, errors

    def test_playlists_that_don_t_break(self):
        for name in ("list.m3u8", "fmp4.m3u8", "secret.m3u8", "single.m3u8", "list.mpd"):
            with self.subTest(name=name):
                self.run_dump(name, lambda *_: WHOLE, 0)

    def test_a_segment_that_breaks_is_asked_for_again(self):
        for name, segment in (("list.m3u8", "s1.ts"), ("list.m3u8", "s2.ts"), ("fmp4.m3u8", "f1.m4s"), ("secret.m3u8", "k1.ts")):
            for how in ("close", "reset", "stall"):
                with self.subTest(name=name, how=how):
                    server, _ = self.run_dump(name, lambda asked, number, _, s=segment, h=how: Break(3000, h) if (asked, number) == (s, 0) else WHOLE, 0)
                    self.assertGreater(server.count(segment), 1)

    def test_a_segment_that_is_refused_for_a_while(self):
        self.run_dump("list.m3u8", lambda asked, number, _: Break(status=503) if (asked, number) == ("s1.ts", 0) else WHOLE, 0)

    def test_a_segment_that_never_comes_whole(self):
        for name, segment in (("list.m3u8", "s1.ts"), ("list.m3u8", "s2.ts"), ("fmp4.m3u8", "f1.m4s"), ("secret.m3u8", "k1.ts"), ("list.mpd", "chunk-stream0-00002.m4s")):
            for how in ("close", "reset"):
                with self.subTest(name=name, segment=segment, how=how):
                    self.run_dump(name, lambda asked, *_, s=segment, h=how: Break(3000, h) if asked == s else WHOLE, 3, "lost connection", ranges=False)

    def test_a_segment_that_is_refused_for_good(self):
        for name, segment in (("list.m3u8", "s1.ts"), ("list.mpd", "chunk-stream0-00002.m4s")):
            with self.subTest(name=name):
                self.run_dump(name, lambda asked, *_, s=segment: Break(status=503) if asked == s else WHOLE, 3, "lost connection")

    def test_a_segment_that_is_not_there_is_damage(self):
        _, errors = self.run_dump("list.m3u8", lambda asked, *_: Break(status=404) if asked == "s1.ts" else WHOLE, 3, "1 segment missing")
        self.assertNotIn("lost connection", errors)


if __name__ == "__main__":
    unittest.main()
