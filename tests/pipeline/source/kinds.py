"""What the tests of unusual inputs share: a picture whose every corner and frame is known, and its reading from a dump."""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from patience import PATIENCE
from program import SACCADE  # noqa: E402

# Corners, and the block in the middle whose grey says which frame it is.
CORNERS = {"TL": (220, 40, 30), "TR": (40, 190, 60), "BL": (40, 60, 210), "BR": (230, 220, 40)}
GREY_FIRST, GREY_STEP = 30, 25


def picture(width=64, height=48, frames=8, rate=25):
    """The test picture as an FFmpeg source, planar RGB."""
    def plane(channel):
        tl, tr, bl, br = (CORNERS[corner][channel] for corner in ("TL", "TR", "BL", "BR"))
        middle = "lt(abs(X+0.5-W/2),W/8)*lt(abs(Y+0.5-H/2),H/8)"
        return (f"if({middle},{GREY_FIRST}+{GREY_STEP}*N,if(lt(Y,H/2),if(lt(X,W/2),{tl},{tr}),"
                f"if(lt(X,W/2),{bl},{br})))")
    planes = ":".join(f"{name}='{plane(channel)}'" for channel, name in enumerate("rgb"))
    return f"nullsrc=s={width}x{height}:r={rate}:d={frames / rate:.9f},format=gbrp,geq={planes},format=gbrp"


def yuv(matrix="709", depth_format="yuv420p", limited=True):
    """A filter from planar RGB, by zimg, which knows matrix and range."""
    return f"zscale=m={matrix}:r={'tv' if limited else 'pc'},format={depth_format}"


def tags(matrix="bt709", limited=True):
    return ["-colorspace", matrix, "-color_range", "tv" if limited else "pc"]


H264 = ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "2", "-g", "8"]


@dataclasses.dataclass
class Case:
    """One file, how it is made, and what must come out. `make(path)` writes it; `path` has the case's name."""
    kind: str
    name: str
    make: object
    ids: list = dataclasses.field(default_factory=lambda: list(range(8)))  # frames that come out; None: not looked at
    times: list = None  # seconds; None: 1/25 s apart from the first on
    size: tuple = (64, 48)
    corners: dict = dataclasses.field(default_factory=lambda: dict(CORNERS))  # as displayed; {}: not looked at
    tolerance: float = 3
    exit: int = 0
    ffmpeg_may_refuse: bool = False  # newer releases do: where this one does, so do we
    says: str = ""  # a pattern in stderr or in the notes
    options: tuple = ()
    stdin: bool = False
    sar: float = 1.0  # None: not looked at


def ffmpeg(*arguments, folder=None):
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *map(str, arguments)], check=True, cwd=folder,
                   capture_output=True, timeout=60)


def ffmpeg_version(library):
    """Major and minor number of one of FFmpeg's libraries."""
    told = subprocess.run(["ffmpeg", "-version"], check=True, capture_output=True, text=True, timeout=60).stdout
    return tuple(map(int, re.search(rf"^{library} +(\d+)\. *(\d+)", told, re.MULTILINE).groups()))


def ffmpeg_opens(path):
    """Whether the FFmpeg that is here reads the file's header."""
    return subprocess.run(["ffprobe", "-v", "error", path], check=False, capture_output=True, timeout=60).returncode == 0


def encode(*arguments, source=None, chain="", **shape):
    """A `make` of a Case: the picture, through `chain`, by these arguments."""
    graph = (source or picture(**shape)) + ("," + chain if chain else "")
    return lambda path: ffmpeg("-f", "lavfi", "-i", graph, *arguments, path)


def h264(*arguments, chain="", **shape):
    """A `make` as encode()'s: H.264 in BT.709."""
    return encode(*H264, *tags(), *arguments, chain=(chain + "," if chain else "") + yuv(), **shape)


def rotated(*names):
    """Where the corners go: the corner that is seen at TL, TR, BL, BR."""
    return {place: CORNERS[name] for place, name in zip(("TL", "TR", "BL", "BR"), names)}


class Result:
    """A finished dump of every frame at full resolution."""

    def __init__(self, case, path, folder, backend="cpu"):
        given = case.make.input(path) if hasattr(case.make, "input") else path
        side = max(case.size)
        grid = min(1024, 2 * ((side + 31) // 16))  # wherever the middle lies, the frame is covered
        grid += grid % 2
        lattice = ["--strides", "1", "--grid-sizes", grid] if side <= 512 else ["--patches", "64"]
        command = [SACCADE, "dump", "-o", folder, "--every", "frame", "--fixation", "center", "--backend", backend,
                   *lattice, *case.options, "--", "-" if case.stdin else given]
        self.refused = case.ffmpeg_may_refuse and not ffmpeg_opens(path)
        with open(path if case.stdin else "/dev/null", "rb") as stdin:
            done = subprocess.run(list(map(str, command)), stdin=stdin, capture_output=True, timeout=120 * PATIENCE,
                                  check=False)
        self.exit, self.stderr = done.returncode, done.stderr.decode(errors="replace")
        self.folder = pathlib.Path(folder)
        self.complete = (self.folder / "manifest.json").exists()
        self.meta = self.read("meta.json")
        self.manifest = self.read("manifest.json")

    def read(self, name):
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else {}

    def array(self, name):
        return np.load(self.folder / f"{name}.npy", mmap_mode="r")

    def said(self):
        return self.stderr + "\n".join(self.meta.get("stream", {}).get("notes", []))

    def pixels(self, emission, places):
        """The samples at these places (u, v), from the patches that hold them."""
        patches, geometry = self.array("patches")[emission], self.array("geometry")[emission]
        stream = self.meta["stream"]
        size = np.array([stream["width_px"], stream["height_px"]])
        corners = np.round(geometry[:, :2] * size - 8).astype(int)
        found = []
        for place in places:
            pixel = np.floor(np.array(place) * size).astype(int)
            inside = np.all((corners <= pixel) & (pixel < corners + 16), axis=1)
            patch = int(np.argmax(inside))
            x, y = pixel - corners[patch]
            found.append(patches[patch, :, y, x].astype(float) if inside.any() else np.full(3, np.nan))
        return np.array(found)


PLACES = {"TL": (0.125, 0.125), "TR": (0.875, 0.125), "BL": (0.125, 0.875), "BR": (0.875, 0.875)}


def check(test, case, result):
    """All that a Case promises."""
    if result.refused:
        case = dataclasses.replace(case, exit=65, says=f"{re.escape(case.name)}: .*its header is damaged")
    said = f"{case.kind}: {case.name}: exit {result.exit}: {result.stderr}"
    test.assertEqual(result.exit, case.exit, said)
    if case.says:
        test.assertRegex(result.said(), case.says, said)
    if case.exit not in (0, 3):
        test.assertFalse(result.complete, said)
        lines = [line for line in result.stderr.splitlines() if not line.startswith("saccade: warning: ")]
        test.assertEqual(len(lines), 1, f"one line is enough: {said}")
        return
    test.assertTrue(result.complete, said)
    stream = result.meta["stream"]
    if case.size:
        test.assertEqual((stream["width_px"], stream["height_px"]), case.size, said)
    if case.sar:
        test.assertAlmostEqual(stream["sar"], case.sar, 5, said)
    check_frames(test, case, result, said)


def check_frames(test, case, result, said):
    index = result.array("index")
    times = index["pts_ns"] * 1e-9
    test.assertTrue(np.all(np.diff(index["pts_ns"]) > 0), f"times rise: {times}: {said}")
    if case.ids is not None:
        test.assertEqual(len(index), len(case.ids), said)
        expected = case.times if case.times is not None else [times[0] + i / 25 for i in range(len(case.ids))]
        np.testing.assert_allclose(times, expected, atol=1.1e-6, err_msg=said)
        if case.times is None and case.exit == 0:
            test.assertLess(abs(times[0]), 2, said)
    if not case.corners:
        return
    for emission, number in enumerate(case.ids or []):
        seen = result.pixels(emission, [*(PLACES[place] for place in case.corners), (0.5, 0.5)])
        np.testing.assert_allclose(seen[:-1], list(case.corners.values()), atol=case.tolerance,
                                   err_msg=f"frame {emission}: {said}")
        if number is not None:
            np.testing.assert_allclose(seen[-1], GREY_FIRST + GREY_STEP * number, atol=max(case.tolerance, 4),
                                       err_msg=f"frame {emission} should be {number}: {said}")
