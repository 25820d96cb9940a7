"""dump --views: pictures with a line of JSON each, beside the same arrays; whole at any moment."""
import json
import shutil
import subprocess
import unittest

import numpy as np
from crash_test import start, wait_for_rows
from dump_support import DumpTest, load, load_json, saccade


def lines(folder):
    return [json.loads(line) for line in (folder / "views.jsonl").read_text(encoding="utf-8").splitlines()]


def pixels(path, width, height):
    """A picture by FFmpeg, [H, W, 3]."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(height, width, 3)


class Views(DumpTest):
    seconds = 2

    def views(self, *options, of="qwen2.5-vl:900"):
        folder = self.folder / self.id().rsplit(".", 1)[-1]
        shutil.rmtree(folder, ignore_errors=True)
        self.dump("--views", of, *options, out=folder)
        return folder

    def test_each_line_names_a_picture_of_its_size(self):
        folder = self.views("--every", "5")
        found = lines(folder)
        index = load(folder)["index"]
        self.assertEqual(found[0]["reason"], "overview")
        self.assertEqual({line["file"] for line in found}, {f"views/{path.name}" for path in (folder / "views").iterdir()})
        tokens = np.zeros(len(index), int)
        for line in found:
            left, top, right, bottom = line["box"]
            self.assertEqual((right - left, bottom - top), (line["width"] << line["level"], line["height"] << line["level"]))
            self.assertEqual((line["width"] % 28, line["height"] % 28), (0, 0))
            self.assertEqual(line["tokens"], line["width"] // 28 * (line["height"] // 28))
            self.assertEqual(line["scale"], 0.5 ** line["level"])
            self.assertEqual((line["frame"], line["pts_ns"]), (index["frame"][line["emission"]], index["pts_ns"][line["emission"]]))
            pixels(folder / line["file"], line["width"], line["height"])
            tokens[line["emission"]] += line["tokens"]
        self.assertLessEqual(tokens.max(), 900)
        self.assertEqual(load_json(folder, "manifest")["views"], {"count": len(found), "tokens": int(tokens.sum())})

    def test_pixels_are_those_of_the_patches(self):
        """A grid of whole pixels over the frame, and a view at full size of the same."""
        folder = self.views("--lattice", "uniform", "--set", "lod=0", "--tokens", "300", "--frames", "1", of="claude-high:4700")
        arrays, compared = load(folder), 0
        fine = [line for line in lines(folder) if line["level"] == 0]
        width, height = map(int, self.size.split("x"))
        for line in fine:
            image = pixels(folder / line["file"], line["width"], line["height"])
            for (u, v, _, cover), patch in zip(arrays["geometry"][0], arrays["patches"][0]):
                at = float(u) * width - 8 - line["box"][0], float(v) * height - 8 - line["box"][1]
                x, y = map(round, at)
                inside = 0 <= x <= line["width"] - 16 and 0 <= y <= line["height"] - 16
                if cover == 1 and inside and abs(at[0] - x) + abs(at[1] - y) < 1e-3:
                    np.testing.assert_array_equal(image[y:y + 16, x:x + 16], patch.transpose(1, 2, 0))
                    compared += 1
        self.assertGreater(compared, 0)

    def test_the_arrays_stay_as_they_are(self):
        with_views, without = self.views("--every", "5"), self.folder / "without"
        self.dump("--every", "5", out=without)
        for name in ("patches", "geometry", "changed", "index"):
            self.assertEqual((with_views / f"{name}.npy").read_bytes(), (without / f"{name}.npy").read_bytes(), name)
        self.assertEqual(load_json(with_views, "meta")["options"].pop("views"), "qwen2.5-vl:900")
        self.assertNotIn("views", load_json(without, "meta")["options"])
        self.assertNotIn("views", load_json(without, "manifest"))

    def test_resume_keeps_them_and_overwrite_takes_them_out(self):
        folder = self.views("--every", "5")
        kept = (folder / "views.jsonl").stat().st_mtime_ns
        self.dump("--every", "5", "--views", "qwen2.5-vl:900", "--resume", out=folder)
        self.assertEqual((folder / "views.jsonl").stat().st_mtime_ns, kept)
        self.refuse(2, ["--overwrite"], "dump", self.clip, "-o", folder, "--every", "5", "--views", "claude", "--resume")
        self.dump("--every", "5", "--overwrite", out=folder)
        self.assertFalse((folder / "views.jsonl").exists())
        self.assertFalse((folder / "views").exists())

    def test_new_things_alone_take_fewer_tokens(self):
        first, *later = lines(self.views("--every", "5", of="qwen2.5-vl:900:new-only"))
        self.assertEqual(first["reason"], "overview")
        self.assertNotEqual(first["emission"], later[0]["emission"])
        self.assertNotIn("detail", [line["reason"] for line in later])

    def test_a_killed_run_leaves_lines_whose_pictures_are_whole(self):
        run = start("dump", "test://noise?size=320x240&rate=25&frames=100000", "-o", self.out, "--every", "frame",
                    "--views", "qwen2.5-vl:300")
        try:
            wait_for_rows(self, run, self.out)
        finally:
            run.kill()
            run.communicate()
        found = lines(self.out)
        self.assertGreater(len(found), 0)
        for line in found[-20:]:
            pixels(self.out / line["file"], line["width"], line["height"])

    def test_what_is_wrong_is_said(self):
        self.refuse(2, ["--views", "'gpt-2' is not qwen2-vl", ":TOKENS", ":new-only"], "dump", self.clip, "-o", self.out, "--views", "gpt-2")
        self.refuse(2, ["--views", "0"], "dump", self.clip, "-o", self.out, "--views", "claude:0")
        self.refuse(2, ["--views", "new"], "dump", self.clip, "-o", self.out, "--views", "claude:new")
        manifest = self.folder / "list.txt"
        manifest.write_text(f"{self.clip}\n", encoding="utf-8")
        self.refuse(2, ["--views", "--manifest"], "dump", "--manifest", manifest, "-o", self.out, "--views", "claude")
        self.assertEqual(saccade("profile", self.clip, "--views", "claude").returncode, 2)


if __name__ == "__main__":
    unittest.main()
