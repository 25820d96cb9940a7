"""Senders whose clock is set while they send, and RTSP of which a part can't be read."""
import subprocess
import unittest

import numpy as np

from live_support import LiveTest, make_h264
from rtsp_camera import CLOCK, RtspCamera, payloads_of
from senders import paced_tcp, pictures_of_h264, pictures_of_ts

RATE, FRAMES, SET_AT = 20, 60, 30
HOUR = 3600 * CLOCK


def stamps(change):
    """The times of a sender whose clock is changed so at the picture SET_AT."""
    return lambda k: (change(k) if k >= SET_AT else 1_000_000 + k * CLOCK // RATE)


def of(k):
    return k * CLOCK // RATE


class CameraTest(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        clip = make_h264(cls.folder / "clip.h264", FRAMES, size="160x120", rate=RATE)
        cls.pictures = pictures_of_h264(clip.read_bytes())

    def camera(self, **options):
        camera = RtspCamera(self.pictures, RATE, **options)
        self.addCleanup(camera.stop)
        return camera

    def run_dump(self, url, code=0, words=(), options=("--reconnect", 0)):
        process = self.dump(url, "--overwrite", "--live-policy", "block", *options)
        _, errors = self.finish(process, code, *words)
        return np.load(self.out / "index.npy")["pts_ns"] * 1e-9, errors

    def check_times(self, times, frames=FRAMES):
        """All frames, none of them far from its neighbours: a machine that is held up may put seconds between them."""
        self.assertEqual(len(times), frames)
        steps = np.diff(times)
        self.assertGreater(steps.min(), 0)
        self.assertLess(steps.max(), 30)
        self.assertAlmostEqual(np.median(steps), 1 / RATE, delta=0.02)


class Clocks(CameraTest):
    def test_clocks_that_are_set(self):
        changes = {
            "again from 0": lambda k: of(k - SET_AT),
            "an hour ahead": lambda k: 1_000_000 + HOUR + of(k),
            "an hour back": lambda k: 1_000_000 - HOUR + of(k),
            "a second back": lambda k: 1_000_000 - CLOCK + of(k),
            "ten hours ahead, and back after ten pictures": lambda k: 1_000_000 + (10 * HOUR if k < SET_AT + 10 else 0) + of(k),
            "one stamp": lambda k: 1_000_000 + (-5 * HOUR if k == SET_AT else 0) + of(k),
        }
        for name, change in changes.items():
            with self.subTest(name):
                times, _ = self.run_dump(self.camera(stamp=stamps(change)).url)
                self.check_times(times)

    def test_the_clock_is_said_to_be_set(self):
        _, errors = self.run_dump(self.camera(stamp=stamps(lambda k: 1_000_000 + HOUR + of(k))).url)
        self.assertIn("times go on by arrival", errors)

    def test_stamps_that_wrap(self):
        times, errors = self.run_dump(self.camera(stamp=lambda k: 2**32 - CLOCK + of(k)).url)
        self.check_times(times)
        self.assertNotIn("times go on by arrival", errors)

    def test_the_duration_is_that_of_the_clock(self):
        camera = self.camera(stamp=stamps(lambda k: of(k - SET_AT)))
        times, _ = self.run_dump(camera.url, options=("--reconnect", 0, "--duration", FRAMES / RATE * 2 / 3))
        self.assertGreater(len(times), SET_AT)
        self.assertLess(len(times), FRAMES)

    def test_a_clock_that_is_set_while_it_reconnects(self):
        """The second connection's clock is another, and is set once more."""
        camera = self.camera()
        camera.stamp = lambda k: (7 * HOUR * camera.connections if k < SET_AT else 0) + of(k)
        times, _ = self.run_dump(camera.url, options=("--frames", 2 * FRAMES, "--set", "reconnect-delay-max=0.5"))
        self.assertEqual(camera.connections, 2)
        self.assertEqual(len(times), 2 * FRAMES)
        self.assertGreater(np.diff(times).min(), 0)
        self.assertLess(np.diff(times).max(), 30)

    def test_transport_streams_whose_clock_is_set(self):
        """Two recordings over one TCP connection: FFmpeg takes a time that is far back for one that wrapped."""
        def record(offset_s):
            path = self.folder / "part.ts"
            subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-r", str(RATE), "-i", self.folder / "clip.h264", "-c", "copy", "-output_ts_offset", str(offset_s),
                            str(path)], check=True)
            return pictures_of_ts(path.read_bytes())

        for first, second in ((9000, 0), (0, 9000), (9000, 8000), (3, 0)):
            with self.subTest(first=first, second=second), paced_tcp(record(first) + record(second), RATE) as url:
                times, _ = self.run_dump(url, options=("--reconnect", 0, "--input-format", "mpegts"))
                self.check_times(times, 2 * FRAMES)


class Strays(CameraTest):
    """FFmpeg looks for a line that begins with a packet. In few bytes it finds none before the end, in many it does by chance."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        quiet = make_h264(cls.folder / "quiet.h264", FRAMES, rate=RATE, graph=f"color=gray:s=160x120:r={RATE}")
        cls.clips = {"few": pictures_of_h264(quiet.read_bytes()), "many": cls.pictures}

    def test_bytes_between_packets(self):
        for bytes_are in ("few", "many"):
            for stray in (b"\0\1\2stray bytes", b"\0", b"HTTP/1.1 200 OK\r\nX: y"):
                with self.subTest(stray=stray, bytes_are=bytes_are):
                    camera = RtspCamera(self.clips[bytes_are], RATE, before=lambda k, stray=stray: stray if k % 10 == 5 else b"")
                    self.addCleanup(camera.stop)
                    times, errors = self.run_dump(camera.url, 3)
                    self.assertLess(len(times), FRAMES)
                    if bytes_are == "few":
                        self.assertIn("lost connection: what comes is not RTSP any more", errors)

    def test_it_goes_on_as_after_any_lost_connection(self):
        camera = RtspCamera(self.clips["few"], RATE, before=lambda k: b"stray" if k == 10 and camera.connections == 1 else b"")
        self.addCleanup(camera.stop)
        times, _ = self.run_dump(camera.url, 0, ["lost connection", "reconnecting"], ("--frames", 10 + FRAMES, "--set", "reconnect-delay-max=0.5"))
        self.assertEqual(len(times), 10 + FRAMES)
        self.assertEqual(self.manifest()["live"]["gap_count"], 1)

    def test_replies_between_packets_are_none(self):
        reply = b"RTSP/1.0 200 OK\r\nCSeq: 99\r\n\r\n"
        for stray in (reply, b"\r\n", b"GET_PARAMETER rtsp://a/ RTSP/1.0\r\nCSeq: 5\r\n\r\n"):
            with self.subTest(stray=stray):
                times, _ = self.run_dump(self.camera(before=lambda k, stray=stray: stray if k % 10 == 5 else b"").url)
                self.check_times(times)

    def test_an_end_with_and_without_bye(self):
        for says_bye in (False, True):
            with self.subTest(says_bye=says_bye):
                times, _ = self.run_dump(self.camera(says_bye=says_bye).url)
                self.check_times(times)

    def test_an_end_inside_a_packet(self):
        for unsent in (1, 100):
            with self.subTest(unsent=unsent):
                self.run_dump(self.camera(unsent=unsent).url, 3, ["lost connection"])
        camera = RtspCamera(self.clips["few"], RATE)
        self.addCleanup(camera.stop)
        last = 16 + len(payloads_of(camera.pictures[-1][-1])[-1])
        for begun in (1, 3, 4, last - 1):  # bytes of the last packet: '$', its channel and length, its header and payload
            with self.subTest(begun=begun):
                camera.unsent = last - begun
                self.run_dump(camera.url, 3, ["lost connection"])

    def test_a_reset_is_no_end(self):
        times, _ = self.run_dump(self.camera(resets=True).url, 3, ["lost connection: Connection reset by peer"])
        self.check_times(times)

    def test_numbers_that_begin_again(self):
        """A sender that was restarted behind the same connection. A number from the past is dropped, and so are all after it."""
        camera = self.camera(number=lambda n: 30000 + n if n < 45 else n, source=lambda k: 1 if k < 30 else 2)
        self.run_dump(camera.url, 3, ["lost connection: what comes is not RTSP any more"])

    def test_large_streams_are_left_soon(self):
        """Not only at the end of the connection: what follows may be endless."""
        camera = self.camera(before=lambda k: b"\0" * 100_000 if k == 20 else b"")
        times, _ = self.run_dump(camera.url, 3, ["not RTSP any more"], ("--reconnect", 0, "--set", "stall-timeout=0"))
        self.assertLess(len(times), FRAMES)


if __name__ == "__main__":
    unittest.main()
