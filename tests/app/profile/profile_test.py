"""saccade profile: the numbers agree with each other, with the input, and with the exit code."""
import json
import os
import signal
import subprocess
import time
import unittest

from patience import PATIENCE
from program import SACCADE, FolderTest, auto_backend, ffprobe, make_clip, saccade, saccade_json, usable_cores
from signals import catches

WIDTH, HEIGHT, FRAMES = 320, 180, 50
PIPELINE_STAGES = ["update", "scanpath", "sample"]
STAGED = ["diff", "upload", "mips", "scanpath", "sample"]


def wait_for_handler(pid):
    """Until the process catches SIGINT, and a little longer: then it reads its input."""
    deadline = time.monotonic() + 20 * PATIENCE
    while time.monotonic() < deadline and not catches(pid, signal.SIGINT):
        time.sleep(0.02)
    time.sleep(0.3 * PATIENCE)


class Profile(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clip = make_clip(os.path.join(cls.folder, "clip.mp4"),
                             f"testsrc2=size={WIDTH}x{HEIGHT}:rate=25:duration={FRAMES / 25}")
        cls.report = saccade_json("profile", cls.clip, "--budget-ms", "20")

    def test_counts_equal_the_frames_of_the_input(self):
        truth = int(ffprobe(self.clip, "-count_frames", "-show_entries", "stream=nb_read_frames")["streams"][0]["nb_read_frames"])
        self.assertEqual(truth, FRAMES)
        self.assertEqual(self.report["frames"], truth)
        for stage in ["decode", "wait", "update", "scanpath", "frame"]:
            self.assertEqual(self.report["stages"][stage]["count"], truth, stage)
        self.assertEqual(self.report["stages"]["sample"]["count"], self.report["emissions"]["count"])
        self.assertEqual(self.report["emissions"]["count"], 8)  # 2 s at 4 fixations a second

    def test_times_are_in_order(self):
        for stage, times in self.report["stages"].items():
            self.assertLessEqual(times["p50_ms"], times["p95_ms"], stage)
            self.assertLessEqual(times["p95_ms"], times["p99_ms"], stage)
            self.assertLessEqual(times["p99_ms"], times["max_ms"] * (1 + 1 / 64), stage)
            self.assertAlmostEqual(times["mean_ms"] * times["count"], times["total_ms"], delta=1e-6 * times["total_ms"] + 1e-9)
            self.assertAlmostEqual(times["budget_share"], times["p99_ms"] / 20, places=9)

    def test_stages_add_up_to_the_frame(self):
        parts = sum(self.report["stages"][stage]["total_ms"] for stage in PIPELINE_STAGES)
        whole = self.report["stages"]["frame"]["total_ms"]
        self.assertAlmostEqual(parts, whole, delta=0.02 * whole)

    def test_staged_does_the_same_in_more_steps(self):
        staged = saccade_json("profile", self.clip, "--set", "staged")
        parts = sum(staged["stages"][stage]["total_ms"] for stage in STAGED)
        whole = staged["stages"]["frame"]["total_ms"]
        self.assertAlmostEqual(parts, whole, delta=0.02 * whole)
        self.assertNotIn("update", staged["stages"])
        for what in ("damaged_tiles", "bytes_uploaded", "share_p95"):
            self.assertEqual(staged["damage"][what], self.report["damage"][what])

    def test_damage_follows_from_sizes(self):
        damage = self.report["damage"]
        self.assertEqual(damage["tiles"], FRAMES * (WIDTH // 16) * ((HEIGHT + 15) // 16))
        padded = (HEIGHT + 63) // 64 * 64  # the texture's height; its width is a multiple of 64 as it is
        self.assertEqual(damage["bytes_full_upload"], FRAMES * WIDTH * padded * 3 // 2)
        self.assertAlmostEqual(damage["share"], damage["damaged_tiles"] / damage["tiles"], places=9)
        self.assertAlmostEqual(damage["upload_saving"], 1 - damage["bytes_uploaded"] / damage["bytes_full_upload"], places=9)
        self.assertGreaterEqual(damage["share_p95"], damage["share"])

    def test_still_picture_is_uploaded_once(self):
        report = saccade_json("profile", "test://static?size=160x96&frames=40")
        damage = report["damage"]
        self.assertEqual(damage["damaged_tiles"], 10 * 6)
        self.assertAlmostEqual(damage["share"], 1 / 40, places=9)
        self.assertEqual(damage["share_p95"], 0)
        # Once: the picture, and at most the padding that repeats its edge up to multiples of 64.
        self.assertGreaterEqual(damage["bytes_uploaded"], 160 * 96 * 3 // 2)
        self.assertLessEqual(damage["bytes_uploaded"], 192 * 128 * 3 // 2)
        self.assertEqual(damage["rectangles_max"], 1)

    def test_rates_and_machine(self):
        r = self.report
        self.assertAlmostEqual(r["frames_per_s"], r["frames"] / r["wall_s"], places=6)
        self.assertAlmostEqual(r["real_time_factor"] * r["wall_s"], (FRAMES - 1) / 25, places=6)
        self.assertEqual(r["cpu"]["threads"], usable_cores())
        self.assertGreater(r["peak_resident_bytes"], WIDTH * HEIGHT * 3 // 2)
        self.assertEqual((r["backend"], r["decoder"]), (auto_backend(), "h264"))
        self.assertEqual(r["drops"], {"stale": 0, "closed": 0})
        self.assertGreater(r["emissions"]["patches_per_emission"], 0)
        self.assertEqual(r["emissions"]["patches"], r["emissions"]["count"] * r["emissions"]["patches_per_emission"])
        self.assertFalse(r["interrupted"])

    def test_every_frame_samples_every_frame(self):
        self.assertEqual(saccade_json("profile", self.clip, "--every", "frame")["emissions"]["count"], FRAMES)

    def test_a_budget_guards_a_build(self):
        over = saccade("profile", self.clip, "--budget-ms", "0.0001")
        self.assertEqual(over.returncode, 3)
        self.assertEqual(len(over.stderr.strip().splitlines()), 1, over.stderr)
        self.assertIn("budget", over.stderr)
        self.assertIn("frame", over.stdout)  # the table is printed all the same
        within = saccade("profile", self.clip, "--budget-ms", "10000")
        self.assertEqual((within.returncode, within.stderr), (0, ""))

    def test_bad_usage(self):
        self.assertEqual(saccade("profile", self.clip, "--budget-ms", "0").returncode, 2)
        self.assertEqual(saccade("profile", self.clip, self.clip).returncode, 2)
        missing = saccade("profile", os.path.join(self.folder, "missing.mp4"))
        self.assertEqual(missing.returncode, 65)
        self.assertEqual(len(missing.stderr.strip().splitlines()), 1, missing.stderr)

    def test_table_has_a_row_a_stage(self):
        text = saccade("profile", self.clip).stdout
        for stage in ["decode", "wait", *PIPELINE_STAGES, "frame"]:
            rows = [line for line in text.splitlines() if line.startswith(stage + " ")]
            self.assertEqual(len(rows), 1, stage)
            self.assertEqual(int(rows[0].split()[1]), self.report["stages"][stage]["count"], stage)

    def test_trace_opens_in_perfetto(self):
        path = os.path.join(self.folder, "trace.json")
        self.assertEqual(saccade("profile", self.clip, "--trace", path).returncode, 0)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        complete = [event for event in events if event["ph"] == "X"]
        names = {event["name"] for event in complete}
        self.assertEqual(names, {"decode", "wait", "frame", *PIPELINE_STAGES})
        self.assertEqual(len({event["tid"] for event in complete}), 2)
        threads = {event["args"]["name"] for event in events if event["ph"] == "M"}
        self.assertEqual(threads, {"decode", "pipeline"})
        ends = {}
        for event in sorted((event for event in complete if event["name"] != "frame"), key=lambda event: event["ts"]):
            self.assertGreaterEqual(event["dur"], 0)
            self.assertGreaterEqual(event["ts"], ends.get(event["tid"], 0) - 1e-3, event)  # stages do not overlap
            ends[event["tid"]] = event["ts"] + event["dur"]
        frames = [event["args"]["frame"] for event in complete if event["name"] == "frame"]
        self.assertEqual(frames, list(range(FRAMES)))
        tiles = [event["args"]["value"] for event in events if event["ph"] == "C" and event["name"] == "damaged tiles"]
        self.assertEqual(sum(tiles), self.report["damage"]["damaged_tiles"])

    def test_a_trace_on_a_full_disk_is_an_error(self):
        done = saccade("profile", self.clip, "--trace", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("/dev/full: the trace could not be written", done.stderr)

    def test_interrupt_while_opening(self):
        for command in ("profile", "info"):
            with subprocess.Popen([SACCADE, command, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                wait_for_handler(process.pid)
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=20 * PATIENCE)
            self.assertEqual(process.returncode, 4, errors)
            self.assertIn(b"interrupted", errors)

    def test_unwritable_trace_is_an_error(self):
        result = saccade("profile", self.clip, "--trace", os.path.join(self.folder, "no", "such", "trace.json"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("trace.json", result.stderr)

    def test_interrupt_prints_what_was_measured(self):
        trace = os.path.join(self.folder, "endless.json")
        process = subprocess.Popen([SACCADE, "profile", "test://noise?frames=1000000", "--json", "--trace", trace], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        deadline = time.monotonic() + 60 * PATIENCE
        while time.monotonic() < deadline and (not os.path.exists(trace) or os.path.getsize(trace) < 4000):
            time.sleep(0.05)  # until frames went through
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60 * PATIENCE)
        self.assertEqual(process.returncode, 4, errors)
        report = json.loads(output)
        self.assertTrue(report["interrupted"])
        self.assertGreater(report["frames"], 0)
        self.assertEqual(report["stages"]["frame"]["count"], report["frames"])


if __name__ == "__main__":
    unittest.main()
