"""RTSP from a real server, GStreamer's: both transports, an end, a restart, a server that is gone or never answers."""
import signal
import socket
import threading
import unittest

import numpy as np

from live_support import LiveTest, free_port, make_h264, rtsp_needed, start_rtsp

RATE = 25


@rtsp_needed
class Rtsp(LiveTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clip = make_h264(cls.folder / "clip.h264", rate=RATE)

    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.url = f"rtsp://127.0.0.1:{self.port}/live"

    def check_frames(self, transport, attempts=1):
        start_rtsp(self, self.clip, self.port, RATE)
        for left in reversed(range(attempts)):
            process = self.dump(self.url, "--rtsp-transport", transport, "--frames", 40, "--live-policy", "block", "--overwrite")
            try:
                self.finish(process, 0)
                break
            except AssertionError:
                if left == 0:
                    raise
        arrays = self.arrays()
        self.assertEqual(len(arrays["index"]), 40)
        steps = np.diff(arrays["index"]["pts_ns"]) * RATE / 1e9
        self.assertGreater(steps.min(), 0)
        self.assertAlmostEqual(np.median(steps), 1, delta=0.5)  # paced by a clock, on a machine that may be busy
        manifest = self.manifest()
        self.assertEqual(manifest["live"]["capture_to_patch"]["count"], manifest["frames"])
        self.assertEqual(manifest["frames_decoded"], manifest["frames"] + sum(manifest["drops"].values()))
        self.assertEqual((manifest["live"]["gap_count"], manifest["live"]["gaps"]), (0, []))
        self.assertFalse(arrays["live"]["gaps"].any())
        self.assertTrue(self.meta()["stream"]["live"])
        ages = np.sort(arrays["live"]["age_ns"] * 1e-6)
        self.assertAlmostEqual(manifest["live"]["capture_to_patch"]["p50_ms"], ages[(len(ages) + 1) // 2 - 1], delta=0.02 * ages[-1] + 0.1)

    def test_tcp(self):
        self.check_frames("tcp")

    def test_udp(self):
        self.check_frames("udp", attempts=3)  # a busy machine loses datagrams, and with them the start of a stream

    def test_a_stream_that_ends(self):
        start_rtsp(self, self.clip, self.port, RATE, "--once")
        self.finish(self.dump(self.url, "--reconnect", 0), 0)
        manifest = self.manifest()
        self.assertTrue(manifest["complete"])
        self.assertFalse(manifest["live"]["broke_off"])
        self.assertGreater(manifest["frames_decoded"], 0)

    def test_a_server_that_restarts(self):
        server = start_rtsp(self, self.clip, self.port, RATE)
        # No frame is left out, so that the row before the gap is the last frame before it.
        process = self.dump(self.url, "--reconnect", 100, "--set", "reconnect-delay-max=0.5", "--live-policy", "block")
        self.wait_for_rows(15, process)
        server.kill()
        server.wait()
        before = self.rows()
        start_rtsp(self, self.clip, self.port, RATE)
        self.wait_for_rows(before + 40, process)
        self.stop(process)
        arrays, manifest = self.arrays(), self.manifest()
        live, index = arrays["live"], arrays["index"]
        self.assertEqual(manifest["live"]["gap_count"], 1)
        self.assertEqual(sorted(set(live["gaps"])), [0, 1])
        first = int(np.argmax(live["gaps"] == 1))
        gap = manifest["live"]["gaps"][0]
        self.assertEqual((gap["emission"], gap["frame"], gap["pts_ns"]), (first, index["frame"][first], index["pts_ns"][first]))
        self.assertGreater(np.diff(index["pts_ns"]).min(), 0)
        # The time on the dump's axis is the time that passed: between the captures, or, where the sender has told its
        # clock of one of them only, between the arrivals. A frame arrived after its capture and before it was done.
        captured = live["captured_unix_ns"][first - 1:first + 1] * 1e-9
        done = captured + live["age_ns"][first - 1:first + 1] * 1e-9
        passed = (index["pts_ns"][first] - index["pts_ns"][first - 1]) * 1e-9
        self.assertGreater(passed, captured[1] - done[0] - 0.01)
        self.assertLess(passed, done[1] - captured[0] + 0.01)
        self.assertAlmostEqual(manifest["live"]["gap_s"], gap["length_s"], delta=0.01)
        # The picture is damaged whole, so a patch is unchanged only where its place last had the very same bytes.
        self.assertEqual(index["damaged_tiles"][first], 20 * 15)
        self.assertTrue((arrays["changed"][first] == 1).any())
        for patch in np.flatnonzero(arrays["changed"][first] == 0):
            same_place = (arrays["geometry"][:first] == arrays["geometry"][first, patch]).all(axis=2)
            self.assertTrue(same_place.any(), f"patch {patch}: its place is new")
            emission, slot = np.argwhere(same_place)[-1]
            np.testing.assert_array_equal(arrays["patches"][emission, slot], arrays["patches"][first, patch])

    def test_a_server_that_is_gone(self):
        server = start_rtsp(self, self.clip, self.port, RATE)
        process = self.dump(self.url, "--reconnect", 2)
        self.wait_for_rows(15, process)
        server.kill()
        self.finish(process, 3, "2 tries")
        manifest = self.manifest()
        self.assertTrue(manifest["complete"] and manifest["live"]["broke_off"])
        self.assertEqual(manifest["emissions"], len(self.arrays()["index"]))

    def test_a_signal_while_it_waits_to_reconnect(self):
        server = start_rtsp(self, self.clip, self.port, RATE)
        process = self.dump(self.url, "--reconnect", 1000, "--set", "reconnect-delay-max=600")
        self.wait_for_rows(15, process)
        server.kill()
        server.wait()
        self.stop(process, signal.SIGTERM)

    def test_a_server_that_stalls(self):
        server = start_rtsp(self, self.clip, self.port, RATE)
        process = self.dump(self.url, "--reconnect", 0, "--set", "stall-timeout=2")
        self.wait_for_rows(15, process)
        server.send_signal(signal.SIGSTOP)
        self.finish(process, 3, "nothing came for 2 s")
        self.assertTrue(self.manifest()["complete"])

    def test_a_server_that_never_answers(self):
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", self.port))
            listener.listen()
            self.finish(self.dump(self.url, "--set", "open-timeout=0.5"), 65, "--set open-timeout", seconds=30)
            self.assertFalse(self.out.exists())

    def test_nobody_listens(self):
        self.finish(self.dump(self.url), 65, "refused", seconds=30)

    def test_profile(self):
        start_rtsp(self, self.clip, self.port, RATE)
        output, _ = self.finish(self.saccade("profile", self.url, "--frames", 30), 0)
        rows = [line.split()[0] for line in output.splitlines() if line]
        self.assertIn("capture", rows)
        self.assertIn("arrival", rows)

    def test_killed(self):
        start_rtsp(self, self.clip, self.port, RATE)
        process = self.dump(self.url)
        self.wait_for_rows(30, process)
        process.kill()
        process.wait()
        arrays = self.arrays()
        self.assertEqual(len({len(array) for array in arrays.values()}), 1)
        self.assertGreaterEqual(len(arrays["live"]), 30)
        self.assertTrue((arrays["live"]["captured_unix_ns"] > 10**18).all())  # written whole: after the year 2001
        self.assertFalse((self.out / "manifest.json").exists())

    def test_stopped_and_continued(self):
        start_rtsp(self, self.clip, self.port, RATE)
        process = self.dump(self.url, "--set", "stall-timeout=2")
        self.wait_for_rows(15, process)
        process.send_signal(signal.SIGSTOP)
        threading.Event().wait(3)  # longer than the time-out: it is not the sender that stalled
        process.send_signal(signal.SIGCONT)
        before = self.rows()
        self.wait_for_rows(before + 25, process)
        self.stop(process)
        self.assertEqual(self.manifest()["live"]["gap_count"], 0)


if __name__ == "__main__":
    unittest.main()
