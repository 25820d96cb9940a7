"""Whole dumps by backend cuda and by NVDEC against backend cpu; and what happens where there is no device.

With a device: clips are encoded here, or come from the folder $SACCADE_CLIPS where this FFmpeg has no H.264 encoder.
SACCADE_REQUIRE=cuda makes a missing device a failure.
"""
import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np

from dump_support import DumpTest, SACCADE, ffmpeg, load_json, saccade
from program import cuda_facts, machine, rotate_container
from required import required, skip_or_fail


CUDA = cuda_facts()
REQUIRED = required("cuda")


def has_h264():
    done = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], capture_output=True, text=True, check=False)
    return "libx264" in done.stdout


class ClipTest(DumpTest):
    @classmethod
    def setUpClass(cls):
        if has_h264():
            super().setUpClass()
            cls.clips = [cls.clip]
        else:
            super(DumpTest, cls).setUpClass()  # a folder alone
            cls.clips = sorted(pathlib.Path(os.environ["SACCADE_CLIPS"]).glob("*.mp4")) if "SACCADE_CLIPS" in os.environ else []
            if not cls.clips:
                skip_or_fail("cuda", "no H.264 encoder, and no clips in $SACCADE_CLIPS")
            cls.clip = cls.clips[0]

    def dumped(self, clip, name, *options):
        out = self.folder / f"{self.id().rsplit('.', 1)[-1]}-{name}"
        return self.dump(*options, "--overwrite", clip=clip, out=out), load_json(out, "meta")


@unittest.skipIf(CUDA["available"], "this machine has a GPU")
class WithoutDevice(ClipTest):
    def test_asked_for(self):
        self.refuse(69, ["--backend cuda", "cpu"], "dump", self.clip, "-o", self.out, "--backend", "cuda")
        self.assertFalse(self.out.exists())

    def test_auto_is_cpu_and_says_why(self):
        _, meta = self.dumped(self.clip, "auto")
        self.assertEqual((meta["backend"], meta["hwdec"]), ("cpu", "no"))
        self.assertIn("no CUDA", meta["backend_reason"])


@unittest.skipUnless(CUDA["available"] or REQUIRED, f"no CUDA: {CUDA['detail']}")
class WithDevice(ClipTest):
    def test_info_says_what_the_device_decodes(self):
        self.assertRegex(machine()["hwdec"][0]["detail"], r"NVDEC: .*h264 8\S* bit up to \d{4,}x\d{4,}.*hevc 8/10")
        self.assertRegex(CUDA["detail"], r"driver .*for CUDA \d+\.\d, .+ \(compute \d+\.\d, ")

    def test_many_at_once_are_as_alone(self):
        """Decoders go from one input to the next, and no picture with them: also where an input is damaged."""
        inputs = self.folder / "inputs"
        inputs.mkdir()
        whole = [path for path in self.clips if path.stat().st_size < 8 << 20][:2]
        names = []
        for number in range(4):
            for clip in whole:
                content = bytearray(clip.read_bytes())
                if number % 2:
                    places = np.random.default_rng(number).integers(len(content) // 20, len(content) // 8, 40)
                    for place in places:
                        content[place] ^= 0x5a
                names.append(f"{number}-{clip.name}")
                (inputs / names[-1]).write_bytes(content)
        options = ("--backend", "cuda", "--lattice", "uniform", "--set", "lod=1", "--every", "5", "--frames", "90")
        many = saccade("dump", *(inputs / name for name in names), "-o", self.folder / "many", "--jobs", "2", "--log-level",
                       "debug", *options, text=True)
        self.assertIn("decoders are kept, 2 at most", many.stderr)
        self.assertIn("is damaged, and decoded over again", many.stderr)
        for name in names:
            with self.subTest(input=name):
                alone = self.folder / f"alone-{name}"
                done = saccade("dump", inputs / name, "-o", alone, *options, text=True)
                damaged = name[0] in "13"
                self.assertEqual("is damaged" in done.stderr, damaged, "concealed by the GPU, and said")
                found = self.folder / "many" / name
                for folder in (alone, found):
                    meta = load_json(folder, "meta")
                    self.assertEqual((meta["hwdec"], "damaged" in meta.get("hwdec_reason", "")), ("no" if damaged else "cuda", damaged))
                for array in ("patches", "index", "changed"):
                    np.testing.assert_array_equal(np.load(found / f"{array}.npy"), np.load(alone / f"{array}.npy"), array)

    def test_damage_on_a_gpu_that_is_required(self):
        """Decoded over again where its decoder had a past; there all frames are, and it is said."""
        clip = min(self.clips, key=lambda path: path.stat().st_size)
        content = bytearray(clip.read_bytes())
        for place in np.random.default_rng(3).integers(len(content) // 20, len(content) // 8, 40):
            content[place] ^= 0x5a
        paths = [self.folder / f"required-{number}.mp4" for number in range(4)]
        for path in paths[:3]:
            path.write_bytes(clip.read_bytes())
        paths[3].write_bytes(content)
        options = ("--backend", "cuda", "--set", "require-hwdec", "--frames", "90")
        done = saccade("dump", *paths, "-o", self.folder / "required", "--jobs", "2", "--log-level", "debug", *options, text=True)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("required-3.mp4: is damaged, and decoded over again", done.stderr)
        for path in paths:
            out = self.folder / "required" / path.name
            self.assertEqual((load_json(out, "manifest")["frames"], load_json(out, "meta")["hwdec"]), (90, "cuda"))

    def test_a_video_that_it_does_not_decode_is_given_up_alone(self):
        """Among many, where the GPU is required; where it decodes none of them, the work stops."""
        lossless = self.folder / "lossless.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=128x96:d=1", "-c:v", "ffv1", lossless)
        for name, paths, code, counts in (("some", [lossless, *self.clips[:2]], 3, (2, 1, 0)), ("none", [lossless], 2, (0, 0, 1))):
            listed, store = self.folder / f"{name}.txt", self.folder / f"{name}-store"
            listed.write_text("".join(f"{path}\n" for path in paths))
            saccade("plan", listed, "-o", store, "--backend", "cuda", "--set", "require-hwdec", "--frames", "30")
            done = saccade("work", store, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            status = json.loads(saccade("status", store, "--json").stdout)
            self.assertEqual((status["done"], status["quarantined"], status["pending"]), counts)
            self.assertEqual(status["classes"], {"hwdec_unsupported": 1} if code == 3 else {})

    def test_no_memory_left(self):
        """A device that others have filled: exit 69, naming the call; nothing half made."""
        code = ("import torch, sys\nheld = []\n"
                "for size in (1 << 30, 1 << 26, 1 << 22, 1 << 20):\n"
                "    try:\n        while True: held.append(torch.empty(size, dtype=torch.uint8, device='cuda'))\n"
                "    except torch.OutOfMemoryError: pass\n"
                "print('full', flush=True)\nsys.stdin.read()")
        filler = subprocess.Popen(["python3", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        try:
            if filler.stdout.readline() != b"full\n":
                skip_or_fail("torch", "no PyTorch that can fill the device")
            for options in (("--hwdec", "no"), ("--set", "require-hwdec",)):
                with self.subTest(options=options):
                    done = saccade("dump", self.clip, "-o", self.out, "--backend", "cuda", *options)
                    self.assertEqual(done.returncode, 69, done.stderr)
                    self.assertIn(b"out of memory" if "no" in options else b"memory", done.stderr)
                    self.assertFalse((self.out / "manifest.json").exists())
        finally:
            filler.communicate()

    def expect_same(self, cpu, cuda, most):
        for name in ("index", "changed", "geometry"):
            np.testing.assert_array_equal(cpu[name], cuda[name], name)
        self.assertEqual(cpu["patches"].shape, cuda["patches"].shape)
        worst = max(int(np.abs(a.astype(int) - b.astype(int)).max()) for a, b in zip(cpu["patches"], cuda["patches"]))
        self.assertLessEqual(worst, most)

    def test_every_frame_of_every_clip(self):
        for clip in self.clips:
            with self.subTest(clip=str(clip)):
                cpu, meta = self.dumped(clip, "cpu", "--backend", "cpu", "--every", "frame")
                self.assertEqual((meta["backend"], meta["hwdec"]), ("cpu", "no"))
                host, meta = self.dumped(clip, "host", "--backend", "cuda", "--hwdec", "no", "--every", "frame")
                self.assertEqual((meta["backend"], meta["hwdec"]), ("cuda", "no"))
                self.expect_same(cpu, host, 1)
                device, meta = self.dumped(clip, "device", "--backend", "cuda", "--set", "require-hwdec", "--every", "frame")
                self.assertEqual((meta["backend"], meta["hwdec"]), ("cuda", "cuda"), meta["hwdec_reason"])
                self.expect_same(cpu, device, 1)

    def test_auto_is_the_device(self):
        cpu, _ = self.dumped(self.clip, "cpu", "--backend", "cpu")
        auto, meta = self.dumped(self.clip, "auto")
        self.assertEqual((meta["backend"], meta["hwdec"]), ("cuda", "cuda"), meta["hwdec_reason"])
        self.expect_same(cpu, auto, 1)

    def test_decoded_there_sampled_here(self):
        cpu, _ = self.dumped(self.clip, "cpu", "--backend", "cpu", "--frames", "40")
        copied, meta = self.dumped(self.clip, "copied", "--backend", "cpu", "--hwdec", "cuda", "--frames", "40")
        self.assertEqual((meta["backend"], meta["hwdec"]), ("cpu", "cuda"), meta["hwdec_reason"])
        self.expect_same(cpu, copied, 0)

    def test_rotated(self):
        for degrees in (90, 180, 270):
            rotated = self.folder / f"rotated-{degrees}.mp4"
            rotate_container(self.clip, rotated, degrees)
            cpu, meta = self.dumped(rotated, f"cpu-{degrees}", "--backend", "cpu", "--frames", "40", "--every", "frame")
            self.assertNotEqual(meta["stream"]["rotation_deg"], 0)
            device, meta = self.dumped(rotated, f"device-{degrees}", "--backend", "cuda", "--set", "require-hwdec", "--frames", "40",
                                     "--every", "frame")
            self.assertNotEqual(meta["stream"]["rotation_deg"], 0)
            self.expect_same(cpu, device, 1)

    def test_codecs(self):
        """Every codec that devices decode, 10 bits among them: encoded here, or from the folder codecs of $SACCADE_CLIPS."""
        encoders = subprocess.run(["ffmpeg", "-hide_banner", "-encoders"], capture_output=True, text=True, check=False).stdout
        kinds = {"hevc": ("libx265", "yuv420p"), "hevc10": ("libx265", "yuv420p10le"), "vp9": ("libvpx-vp9", "yuv420p"),
                 "av1": ("libsvtav1", "yuv420p"), "mpeg2video": ("mpeg2video", "yuv420p")}
        detail = machine()["hwdec"][0]["detail"]
        decoded = dict(re.findall(r"(\w+) ([\d/]+) bit", detail))  # what the device says of itself
        seen = []
        for name, (encoder, pixels) in kinds.items():
            clip = pathlib.Path(os.environ.get("SACCADE_CLIPS", ".")) / "codecs" / f"{name}.mkv"
            if f" {encoder} " in encoders:
                clip = self.folder / f"{name}.mkv"
                ffmpeg("-f", "lavfi", "-i", "testsrc2=s=640x360:r=30:d=1", "-pix_fmt", pixels, "-c:v", encoder, clip)
            elif not clip.exists():
                self.assertFalse(REQUIRED, f"no encoder for {name}, and no {clip}")
                continue
            with self.subTest(codec=name):
                seen.append(name)
                cpu, _ = self.dumped(clip, f"cpu-{name}", "--backend", "cpu", "--every", "frame")
                device, meta = self.dumped(clip, f"device-{name}", "--backend", "cuda", "--every", "frame")
                takes = decoded.get(meta["stream"]["codec"], "")
                self.assertEqual(meta["hwdec"], "cuda" if ("10" if name == "hevc10" else "8") in takes.split("/") else "no",
                                 meta["hwdec_reason"])
                # MPEG-2 leaves the inverse transform's rounding open: decoders differ by a code or so.
                self.expect_same(cpu, device, 1) if name != "mpeg2video" else self.assertEqual(len(cpu["index"]), len(device["index"]))
        self.assertIn("hevc10", seen)

    def test_upload_paths(self):
        """Level 0 through pixel buffers of OpenGL, from the host and from the device's decoder: the same dump."""
        cpu, _ = self.dumped(self.clip, "cpu", "--backend", "cpu", "--every", "frame", "--frames", "60")
        for name, options in (("host-pbo", ("--hwdec", "no", "--set", "upload=pbo")), ("device-pbo", ("--set", "require-hwdec", "--set", "upload=pbo")),
                              ("host-direct", ("--hwdec", "no", "--set", "upload=direct"))):
            with self.subTest(path=name):
                other, meta = self.dumped(self.clip, name, "--backend", "cuda", *options, "--every", "frame", "--frames", "60")
                self.assertEqual(meta["backend"], "cuda")
                self.expect_same(cpu, other, 1)

    def test_viewer_draws_from_cuda(self):
        """The view that GL draws is the same, whoever wrote its textures."""
        shots = []
        for backend in ("gl", "cuda"):
            shot = self.folder / f"{backend}.png"
            done = saccade("view", self.clip, "--offscreen", "--backend", backend, "--view", "foveated", "--show", "marks",
                           "--screenshot", f"0.5={shot}")
            self.assertEqual(done.returncode, 0, done.stderr)
            raw = subprocess.run(["ffmpeg", "-v", "error", "-i", shot, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                                 capture_output=True, check=True).stdout
            shots.append(np.frombuffer(raw, np.uint8).astype(int))
        self.assertGreater(shots[0].std(), 5)
        self.assertLessEqual(np.abs(shots[0] - shots[1]).max(), 1)

    def test_a_pipe(self):
        """Read once: what the device won't decode goes to the CPU without being reopened."""
        clip = self.folder / "pipe.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:d=1", "-c:v", "ffv1", clip)
        with open(clip, "rb") as stream:
            done = subprocess.run([SACCADE, "dump", "-", "-o", self.out, "--progress", "none"], stdin=stream,
                                  capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(load_json(self.out, "meta")["hwdec"], "no")

    def test_start_and_loop(self):
        span = ("--start", "0.5", "--duration", "1", "--loop=1", "--every", "frame")
        cpu, _ = self.dumped(self.clip, "cpu", "--backend", "cpu", *span)
        device, _ = self.dumped(self.clip, "device", "--backend", "cuda", "--set", "require-hwdec", *span)
        self.expect_same(cpu, device, 1)

    def test_what_the_device_does_not_decode(self):
        lossless = self.folder / "lossless.mkv"
        ffmpeg("-f", "lavfi", "-i", "testsrc2=s=320x240:d=1", "-c:v", "ffv1", lossless)
        cpu, _ = self.dumped(lossless, "cpu", "--backend", "cpu")
        cuda, meta = self.dumped(lossless, "cuda", "--backend", "cuda")
        self.assertEqual((meta["backend"], meta["hwdec"]), ("cuda", "no"))
        self.assertIn("ffv1", meta["hwdec_reason"])
        self.expect_same(cpu, cuda, 1)
        done = saccade("dump", lossless, "-o", self.out, "--set", "require-hwdec")
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn(b"ffv1", done.stderr)

    def test_stages(self):
        for options, stages in (((), {"update"}), (("--set", "staged",), {"diff", "upload", "mips"})):
            done = saccade("profile", self.clip, "--backend", "cuda", "--json", *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(set(report["stages"]) & {"update", "diff", "upload", "mips"}, stages)
            # The device's own times, by events: of as many frames, and shorter than what the host waited.
            self.assertEqual(set(report["device"]), stages | {"sample"})
            for stage in stages:
                self.assertGreaterEqual(report["device"][stage]["count"], report["stages"][stage]["count"] - 8)
                self.assertGreater(report["device"][stage]["p50_ms"], 0)


if __name__ == "__main__":
    unittest.main()
