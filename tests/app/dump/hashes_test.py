"""Not a byte of a dump changes: SHA-256 of the arrays of many dumps, as kept in kept_hashes.json.

No input depends on a codec or on a library's version (hash_inputs.py; H.264 decodes to the same bits everywhere), and none
is scaled or resampled on its way: what FFmpeg's scalers do may change, so 4:2:2, 4:4:4 and HDR are left to
test_reference.py. Of FFmpeg's filters only exact ones take part (transpose, flips, crop, packing of RGB), besides
`premultiply` in the case rgba_alpha, whose rounding is as old as the filter.

After a change of the output that is meant, renew the hashes, of the named cases or of all, and say why in the commit:

    /usr/bin/python3 tests/app/dump/hashes_test.py --renew [CASE...]

The program is $SACCADE_BIN, or build/ci/app/saccade. `--inputs DIR` writes the inputs, to run a case by hand: its options are
relative to that folder.
"""
import argparse
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("SACCADE_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[3]))
sys.path += [str(pathlib.Path(__file__).resolve().parent), str(ROOT / "tests" / "support")]
os.environ["SACCADE_BIN"] = os.path.abspath(os.environ.get("SACCADE_BIN", ROOT / "build/ci/app/saccade"))

import hash_inputs
import numpy as np
from dump_support import ARRAYS, saccade
from required import skip_or_fail

KEPT = pathlib.Path(__file__).resolve().parent / "kept_hashes.json"
RAW = "--input-format rawvideo:framerate=12:video_size="

CASES = {  # name: arguments of `saccade dump`, in the folder of the inputs
    # Fixations and when patches are emitted.
    "saliency": "test://box?size=320x180&frames=90",
    "saliency_noise_floor": "test://noise?size=160x96&frames=45&seed=3 --set noise-floor=40",
    "saliency_demo": "demo.mp4 --duration 6",
    "center": "test://fade?size=200x120&frames=60 --fixation center --every 5",
    "center_aside": "test://cut?size=200x120&frames=60 --fixation center:0.2,0.9 --every 7",
    "raster": "test://pan?size=320x180&frames=80 --fixation raster --rate 6",
    "raster_size": "i420_161x121.yuv --set pixel-format=yuv420p --fixation raster:3x2 " + RAW + "161x121",
    "random": "test://box?size=320x180&frames=90&rate=30000/1001 --fixation random --seed 7",
    "random_every_frame": "test://static?size=160x96&frames=20 --fixation random --seed 8 --rate 12 --every frame",
    "path": "test://box?size=320x180&frames=80 --fixation file:path.csv",
    "path_every_frame": "i420_161x121.yuv --set pixel-format=yuv420p --fixation file:path.csv --every frame " + RAW + "161x121",
    # Lattices.
    "nested_few": "demo.mp4 --frames 40 --patches 120 --fov-deg 90",
    "nested_e0": "test://box?size=320x180&frames=60 --e0 1 --m0 1.5",
    "nested_rings": "test://pan?size=320x180&frames=40 --strides 1,2,4,8 --grid-sizes 4,4,6,5 --fixation random --every 3",
    "nested_patch_6": "test://box?size=161x121&frames=40 --patch-size 6 --patches 400 --every 4",
    "nested_patch_32": "test://noise?size=322x180&frames=20 --patch-size 32 --every 4",
    "nested_levels_3": "test://pan?size=320x180&frames=40 --levels 3 --fixation raster",
    "grid": "test://pan?size=320x180&frames=60 --lattice grid",
    "grid_e0": "i420_161x121.yuv --set pixel-format=yuv420p --lattice grid --e0 0.4 --m0 0.3 --patches 50 --every 2 " + RAW + "161x121",
    "grid_patch_10": "test://box?size=161x121&frames=40 --lattice grid --patch-size 10 --levels 9 --patches 77 --every 4",
    "uniform": "test://box?size=320x180&frames=60 --lattice uniform --patches 40 --every 6",
    "uniform_lod": "i420_161x121.yuv --set pixel-format=yuv420p --lattice uniform:1.3 --patches 24 --every 2 " + RAW + "161x121",
    "preset_geisler_perry": "test://pan?size=320x180&frames=40 --preset geisler-perry --fixation random",
    "preset_horton_hoyt": "test://pan?size=320x180&frames=40 --preset horton-hoyt --lattice grid --fixation random",
    "preset_rovamo_virsu": "test://pan?size=320x180&frames=40 --preset rovamo-virsu --lattice grid --patches 60 --fixation random",
    "preset_uv": "test://pan?size=320x180&frames=40 --preset uv --fixation random",
    # What counts as a change.
    "threshold": "i420_161x121.yuv --set pixel-format=yuv420p --threshold 3 --every frame " + RAW + "161x121",
    "threshold_10_bits": "yuv420p10_160x96.yuv --set pixel-format=yuv420p10le --threshold 4 --every frame " + RAW + "160x96",
    "threshold_fade": "test://fade?size=200x120&frames=120 --threshold 8 --every 4",
    "min_samples": "nv12_160x96.yuv --set pixel-format=nv12 --min-samples 6 --every frame " + RAW + "160x96",
    # Types of samples.
    "f16_clip": "i420_161x121.yuv --set pixel-format=yuv420p --dtype f16 --normalize clip --every 3 " + RAW + "161x121",
    "f16_grid": "demo.mp4 --frames 30 --dtype f16 --lattice grid --every 10",
    "f32_imagenet": "test://box?size=200x120&frames=40 --dtype f32 --normalize imagenet --every 8",
    "f32_siglip_grid": "nv12_160x96.yuv --set pixel-format=nv12 --dtype f32 --normalize siglip --lattice grid " + RAW + "160x96",
    # Pixels of all kinds that pass straight through, and sizes.
    "nv12": "nv12_160x96.yuv --set pixel-format=nv12 --lattice grid --every 3 " + RAW + "160x96",
    "ten_bits": "yuv420p10_160x96.yuv --set pixel-format=yuv420p10le --fixation center --every frame " + RAW + "160x96",
    "ten_bits_odd_f32": "yuv420p10_131x67.yuv --set pixel-format=yuv420p10le --dtype f32 --lattice grid --every 3 " + RAW + "131x67",
    "p010": "p010_160x96.yuv --set pixel-format=p010le --lattice grid --every 3 " + RAW + "160x96",
    "sixteen_bits": "yuv420p16_96x64.yuv --set pixel-format=yuv420p16le --dtype f32 --every 3 " + RAW + "96x64",
    "gray": "gray_99x75.raw --set pixel-format=gray --every 3 " + RAW + "99x75",
    "gray_12_bits": "gray12_99x75.raw --set pixel-format=gray12le --lattice grid --every 3 " + RAW + "99x75",
    "rgb": "rgb24_97x61.raw --set pixel-format=rgb24 --threshold 2 --every 3 " + RAW + "97x61",
    "rgba_clear_or_opaque": "rgba_clear_98x60.raw --set pixel-format=rgba --every 3 " + RAW + "98x60",
    "rgba_alpha": "rgba_98x60.raw --set pixel-format=rgba --lattice grid --every 3 " + RAW + "98x60",
    "y4m_full_range": "full_98x66.y4m --every 3",
    "y4m_chroma_site_sar": "paldv_97x65.y4m --lattice grid --every 3",
    "y4m_mono": "mono_64x48.y4m --every 3",
    "y4m_ten_bits": "p10_66x50.y4m --every 3",
    "ppm_series": "shot%02d.ppm --input-format framerate=12 --every 3",
    "one_pixel": "test://noise?size=1x1&frames=12 --every frame",
    "tall": "test://noise?size=3x250&frames=20 --every 4",
    # Rotation, filters, and which part is read.
    "rotated_90": "demo_rot90.mp4 --frames 20 --every 10",
    "rotated_180": "demo_rot180.mp4 --frames 20 --every 10 --lattice grid",
    "rotated_270": "demo_rot270.mp4 --frames 20 --every 10",
    "mirrored": "demo_hflip.mp4 --frames 20 --every 10",
    "transposed": "demo_transpose.mp4 --frames 20 --every 10 --lattice grid",
    "filters": "i420_161x121.yuv --set pixel-format=yuv420p --vf crop=120:90:20:10,vflip --every 3 " + RAW + "161x121",
    "part": "demo.mp4 --start 5.1 --duration 1.5",
    "part_of_a_pattern": "test://pan?size=320x180&frames=90 --start 1.01 --duration 1 --every 5",
    "loop": "i420_161x121.yuv --set pixel-format=yuv420p --loop=2 --frames 60 " + RAW + "161x121",
}
CASES_SINCE_TOKENS = {  # with a budget inside the frame, and the policy novelty
    "tokens": "test://box?size=320x180&frames=90 --tokens 140",
    "tokens_demo": "demo.mp4 --duration 6",
    "tokens_fovea": "test://pan?size=320x180&frames=60 --tokens 200 --fovea 64 --fixation random --every 3",
    "tokens_fovea_deg": "i420_161x121.yuv --set pixel-format=yuv420p --tokens 90 --fovea 10deg --every 2 " + RAW + "161x121",
    "tokens_patch_6": "test://box?size=161x121&frames=40 --patch-size 6 --tokens 300 --every 4",
    "tokens_levels_3": "test://noise?size=320x180&frames=40 --levels 3 --tokens 180 --fixation raster --every 4",
    "novelty_10_bits": "yuv420p10_160x96.yuv --set pixel-format=yuv420p10le --patches 120 --rate 12 " + RAW + "160x96",
    "novelty_rgb": "rgb24_97x61.raw --set pixel-format=rgb24 --tokens 70 --patch-size 8 --rate 12 " + RAW + "97x61",
    "novelty_one_level": "test://box?size=96x64&frames=40 --levels 1 --tokens 64 --rate 12",
}
CASES_SINCE_ADAPTIVE = {  # by the defaults of today
    "adaptive": "test://box?size=320x180&frames=90",
    "adaptive_demo": "demo.mp4 --duration 6",
    "adaptive_budget": "demo.mp4 --duration 4 --tokens 140 --tokens-per-second 200 --context 30s",
    "adaptive_psnr": "test://pan?size=320x180&frames=60 --target-psnr 34 --every 4",
    "adaptive_every_frame": "i420_161x121.yuv --set pixel-format=yuv420p --every frame --tokens 30 " + RAW + "161x121",
    "adaptive_ten_bits": "yuv420p10_160x96.yuv --set pixel-format=yuv420p10le --every frame --set eye=1 --tokens 20 " + RAW + "160x96",
    "adaptive_gray": "gray_99x75.raw --set pixel-format=gray --every 3 --context 20 --tokens 9 " + RAW + "99x75",
    "adaptive_rgb": "rgb24_97x61.raw --set pixel-format=rgb24 --every 2 --ignore 0,0,30,30 " + RAW + "97x61",
    "adaptive_rotated": "demo_rot90.mp4 --frames 20 --every 10 --dtype f16",
    "adaptive_levels_2": "test://noise?size=322x180&frames=20 --levels 2 --every 4",
}
# What the older cases leave out had these values.
OLD_DEFAULTS = {"--fixation": "saliency", "--patches": "273"}
PATCHES_FOLLOW = ("--lattice", "--e0", "--preset", "--strides")
CASES |= CASES_SINCE_TOKENS | CASES_SINCE_ADAPTIVE
GL_CASES = (  # where a backend's own work differs: formats, uploads, levels, types of samples
    "saliency", "path_every_frame", "nested_patch_32", "nested_levels_3", "grid", "grid_e0", "grid_patch_10", "uniform", "threshold",
    "threshold_10_bits", "min_samples", "f16_clip", "f32_siglip_grid", "nv12", "ten_bits_odd_f32", "p010", "sixteen_bits", "gray",
    "rgb", "rgba_alpha", "y4m_chroma_site_sar", "one_pixel", "tall", "rotated_90", "loop", *CASES_SINCE_TOKENS, *CASES_SINCE_ADAPTIVE)


def arguments_of(case):
    given = CASES[case].split()
    if case in CASES_SINCE_ADAPTIVE:
        return given
    lattice = [] if "--lattice" in given else ["--lattice", "nested"]
    if case in CASES_SINCE_TOKENS:
        return given + lattice
    unsaid = [n for n in OLD_DEFAULTS if n not in given and not (n == "--patches" and any(o in given for o in PATCHES_FOLLOW))]
    return given + [word for name in unsaid for word in (name, OLD_DEFAULTS[name])] + lattice


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def dump(case, folder, backend):
    """What kept_hashes.json holds of one case. `folder`: of the inputs; the dump is read and removed."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        done = saccade("dump", *arguments_of(case), "-o", out, "--overwrite", "--backend", backend, cwd=folder)
        if done.returncode != 0:
            raise AssertionError(f"{case}: saccade dump {' '.join(arguments_of(case))}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
        record = {"options": CASES[case], "shape": "x".join(map(str, np.load(f"{out}/patches.npy", mmap_mode="r").shape))}
        return record | {name: sha256(pathlib.Path(out, f"{name}.npy").read_bytes()) for name in ARRAYS}


def make_inputs(folder):
    """{name: SHA-256} of the inputs, written to `folder`; the numbered pictures count as one."""
    made = hash_inputs.make(folder, ROOT / "assets" / "demo.mp4")
    one = {name: data for name, data in made.items() if not name.startswith("shot")}
    one["shot%02d.ppm"] = b"".join(data for name, data in made.items() if name.startswith("shot"))
    return {name: sha256(data) for name, data in one.items()}


def difference(kept, now, names=ARRAYS):
    """One line an array that is not as kept."""
    if kept is None:
        return [f"not kept yet, shape {now['shape']}"]
    lines = [f"kept for other options: {kept['options']}"] if kept["options"] != now["options"] else []
    if kept["shape"] != now["shape"]:
        lines.append(f"patches.npy has shape {now['shape']}, kept {kept['shape']}")
    return lines + [f"{name}.npy now {now[name]}, kept {kept[name]}" for name in names if kept[name] != now[name]]


class DumpHashes(unittest.TestCase):
    maxDiff = None  # of the inputs' hashes

    @classmethod
    def setUpClass(cls):
        cls.kept = json.loads(KEPT.read_text(encoding="utf-8"))
        folder = tempfile.TemporaryDirectory(prefix="saccade-hashes-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.inputs = make_inputs(cls.folder)

    def check(self, backend, cases, names=ARRAYS):
        for case in cases:
            with self.subTest(case=case):
                now = dump(case, self.folder, backend)
                lines = difference(self.kept["dumps"].get(case), now, names)
                if lines:
                    self.fail(f"saccade dump {' '.join(arguments_of(case))} --backend {backend}\n  " + "\n  ".join(lines) +
                              f"\nkept in {KEPT}; if the change is meant: {pathlib.Path(__file__).name} --renew {case}")

    def test_inputs_are_as_kept(self):
        """When this fails, the other failures say nothing about the program."""
        self.assertEqual(self.inputs, self.kept["inputs"])

    def test_no_case_is_kept_in_vain(self):
        self.assertEqual(sorted(set(self.kept["dumps"]) - set(CASES)), [])

    def test_cases_differ(self):
        """Each case shows something that no other does."""
        seen = {}
        for case, record in self.kept["dumps"].items():
            seen.setdefault((record["patches"], record["index"]), []).append(case)
        self.assertEqual([cases for cases in seen.values() if len(cases) > 1], [])

    def test_cpu(self):
        self.check("cpu", CASES)

    def test_gl(self):
        """The same hashes; where shaders sample, theirs may be a code or two off (test_dump_gl.py), all else is the same."""
        done = saccade("info", "--json")
        gl = next((b for b in json.loads(done.stdout)["backends"] if b["name"] == "gl" and b["available"]), None)
        if gl is None:
            skip_or_fail("gl", "info: backend gl is not available")
        by_cpu = "samples by the CPU" in gl["detail"]
        self.check("gl", GL_CASES, ARRAYS if by_cpu else [name for name in ARRAYS if name != "patches"])


def renew(cases):
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"dumps": {}}
    with tempfile.TemporaryDirectory(prefix="saccade-hashes-") as folder:
        kept["inputs"] = make_inputs(folder)
        for case in cases or CASES:
            now = dump(case, folder, "cpu")
            for line in difference(kept["dumps"].get(case), now):
                print(f"{case}: {line}")
            kept["dumps"][case] = now
    kept["dumps"] = {case: kept["dumps"][case] for case in CASES if case in kept["dumps"]}
    KEPT.write_text(json.dumps({"inputs": kept["inputs"], "dumps": kept["dumps"]}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Runs the test, or renews what it compares with.")
    parser.add_argument("--renew", nargs="*", choices=list(CASES), metavar="CASE", help="renew the hashes of these cases, or of all")
    parser.add_argument("--inputs", metavar="DIR", help="only write the inputs there")
    arguments, rest = parser.parse_known_args()
    if arguments.inputs:
        make_inputs(arguments.inputs)
    elif arguments.renew is not None:
        renew(arguments.renew)
    else:
        unittest.main(argv=[sys.argv[0], *rest])
