"""`dump --backend gl` against `--backend cpu`: the same scanpath, geometry and damage; samples within two codes."""
import pathlib
import shutil

import numpy as np
from program import FolderTest, ffmpeg, make_clip, need_gl, saccade


class DumpGl(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        need_gl(cls.folder)

    def compare(self, source, *arguments):
        dumps = {}
        for backend in ("cpu", "gl"):
            out = self.folder / f"{self.id().rsplit('.', 1)[1]}-{backend}"
            result = saccade("dump", source, "-o", out, "--backend", backend, *arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotIn("OpenGL:", result.stderr)
            dumps[backend] = {name: np.load(out / f"{name}.npy") for name in ("patches", "geometry", "changed", "index")}
        cpu, gl = dumps["cpu"], dumps["gl"]
        self.assertGreater(len(cpu["index"]), 2)
        for name in ("geometry", "changed", "index"):
            np.testing.assert_array_equal(cpu[name], gl[name], err_msg=name)
        apart = np.abs(cpu["patches"].astype(float) - gl["patches"].astype(float))
        self.assertLessEqual(apart.max(), 2 if cpu["patches"].dtype == np.uint8 else 2 / 255)

    def test_a_clip_of_odd_size(self):
        clip = make_clip(self.folder / "odd.mp4", "testsrc2=size=330x186:rate=25:duration=3,noise=alls=6:allf=t")
        self.compare(clip)

    def test_trilinear_patches(self):
        clip = make_clip(self.folder / "grid.mp4", "mandelbrot=size=256x192:rate=10,trim=duration=2")
        self.compare(clip, "--lattice", "grid", "--patches", "50", "--every", "3")

    def test_floats(self):
        self.compare("test://pan?size=200x120&frames=20", "--dtype", "f32", "--every", "frame")

    def test_ten_bits_and_rgb(self):
        for pixel_format in ("yuv420p10le", "bgr0"):
            with self.subTest(pixel_format=pixel_format):
                clip = self.folder / f"{pixel_format}.mkv"
                ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x96:rate=10:duration=2", "-pix_fmt", pixel_format, "-c:v", "ffv1", clip)
                for backend in ("cpu", "gl"):
                    shutil.rmtree(self.folder / f"test_ten_bits_and_rgb-{backend}", ignore_errors=True)
                self.compare(clip, "--every", "frame")

    def test_damaged_ones_among_many_are_read_again(self):
        """A context belongs to a thread; what opens them again is another one."""
        clip = make_clip(self.folder / "whole.mp4", "testsrc2=size=128x96:rate=25:duration=2")
        data = bytearray(pathlib.Path(clip).read_bytes())
        for at in range(len(data) // 4, len(data) // 2, 997):
            data[at] ^= 0xff
        broken = [self.folder / f"broken{i}.mp4" for i in range(3)]
        for path in broken:
            path.write_bytes(data)
        options = ("--backend", "gl", "--every", "frame", "--threads", "3", "--log-level", "debug")
        many = saccade("dump", *broken, clip, "-o", self.folder / "many", "--jobs", "2", *options)
        self.assertEqual((many.returncode, many.stderr.count("decoded over again")), (3, 3), many.stderr)
        alone = saccade("dump", broken[0], "-o", self.folder / "alone", *options)
        self.assertEqual(alone.returncode, 3, alone.stderr)
        for path in broken:
            for name in ("patches", "index", "changed"):
                np.testing.assert_array_equal(np.load(self.folder / "many" / path.name / f"{name}.npy"),
                                              np.load(self.folder / "alone" / f"{name}.npy"), name)
