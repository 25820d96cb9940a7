"""The shared media set through `--backend gl`: the same fixations, damage and changes as on the CPU, samples within two
codes, the same exit code; a picture larger than a texture is refused in one line with both numbers."""
import json
import os
import pathlib
import re
import unittest

import numpy as np
from program import FolderTest, ffmpeg, need_gl, saccade, saccade_json

MEDIA = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"]).parent / "shared" / "media" / "made"


def entries():
    manifest = MEDIA / "manifest.json"
    if not manifest.exists():
        return {}
    return {name: entry for name, entry in json.loads(manifest.read_text()).items()
            if name[0] != "_" and "display" in entry and (MEDIA / name).is_file()
            and "rawvideo" not in entry.get("input_options", "")}


class CorpusGl(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        need_gl(cls.folder)

    def dump_all(self, backend, names):
        out = self.folder / backend
        result = saccade("dump", "-o", out, "--backend", backend, "--every", "frame", "--threads", "1", "--frames", "10",
                         "--lattice", "grid", "--patches", "32", "--levels", "4", "--log-level", "warn", "--",
                         *(MEDIA / name for name in names))
        return result, out

    def compare(self, name, cpu, gl):
        self.assertEqual((cpu / "manifest.json").exists(), (gl / "manifest.json").exists(), name)
        if not (cpu / "manifest.json").exists():
            return False
        for array in ("geometry", "changed", "index"):
            self.assertEqual((cpu / f"{array}.npy").read_bytes(), (gl / f"{array}.npy").read_bytes(), f"{name}: {array}")
        patches = [np.load(folder / "patches.npy", mmap_mode="r").astype(np.int16) for folder in (cpu, gl)]
        self.assertLessEqual(np.abs(patches[0] - patches[1]).max(), 2, name)
        counts = [json.loads((folder / "manifest.json").read_text()) for folder in (cpu, gl)]
        for key in ("frames", "damaged_tiles", "patches_changed", "input_damaged", "decode_errors"):
            self.assertEqual(counts[0][key], counts[1][key], f"{name}: {key}")
        return True

    def test_every_file(self):
        small = [name for name, entry in entries().items()
                 if entry["display"]["w"] * entry["display"]["h"] <= 500_000
                 and max(entry["display"]["w"], entry["display"]["h"]) <= 16384]
        if not small:
            self.skipTest("no ../shared/media here")
        cpu_result, cpu = self.dump_all("cpu", small)
        gl_result, gl = self.dump_all("gl", small)
        self.assertEqual(cpu_result.returncode, gl_result.returncode, gl_result.stderr)
        self.assertNotIn("OpenGL:", gl_result.stderr)
        compared = 0
        for name in small:
            with self.subTest(name=name):
                compared += self.compare(name, cpu / name, gl / name)
        self.assertGreater(compared, len(small) * 0.9)

    def test_larger_than_a_texture(self):
        backends = {entry["name"]: entry["detail"] for entry in saccade_json("info")["backends"]}
        limit = int(re.search(r"textures up to (\d+) a side", backends["gl"])[1])
        for width, height in ((limit + 1000, 16), (16, limit + 1000)):
            size = f"{width}x{height}"
            clip = self.folder / f"{size}.mov"
            ffmpeg("-f", "lavfi", "-i", f"color=c=red:size={size}:rate=25", "-frames:v", "1", "-c:v", "png", clip)
            result = saccade("dump", clip, "-o", self.folder / size, "--backend", "gl", "--lattice", "uniform")
            self.assertEqual(result.returncode, 65, result.stderr)
            lines = [line for line in result.stderr.splitlines() if not re.match(r"saccade: (info|warning)", line)]
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertRegex(lines[0], rf"{size}.*largest texture, \d+x\d+.*--vf scale")
            self.assertFalse((self.folder / size / "manifest.json").exists())
            result = saccade("dump", clip, "-o", self.folder / f"{size}-cpu", "--backend", "cpu", "--lattice", "uniform")
            self.assertEqual(result.returncode, 0 if limit + 1000 <= 32768 else 65, result.stderr)


if __name__ == "__main__":
    unittest.main()
