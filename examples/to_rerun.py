#!/usr/bin/env python3
"""A dump or a stream into Rerun: pictures, patches, the eye's path and counts, on the video's own time.

    python examples/to_rerun.py out/desktop                        a dump; starts the viewer
    python examples/to_rerun.py out/desktop --save seen.rrd        into a file: `rerun seen.rrd` shows it
    python examples/to_rerun.py out/desktop --video desktop.mp4    the video's frames, too, below the patches' outlines
    python examples/to_rerun.py clip.mp4 --set tokens=140 --every frame
    python examples/to_rerun.py rtsp://camera/stream --connect     to a viewer that runs already; Ctrl-C ends it

Needs `pip install rerun-sdk`. Timelines: `video`, a presentation time, exact to the nanosecond; `frame`; and of live
sources `captured`. Below `picture` positions are pixels of the painted picture, below `frame` those of the video.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import pysaccade as sc

PICTURE, FRAME = "picture", "frame"  # what is painted, and the video: each in its own pixels
REACHED_S = 10  # a viewer that was just started takes a few
COLORS = [(255, 220, 60), (90, 220, 120), (70, 190, 255), (170, 130, 255), (255, 110, 190), (255, 140, 70)]  # by level


Pair = np.ndarray[Any, np.dtype[Any]]  # x, y


class Recording:
    """Logs emissions, one after the other, to Rerun's recording in force."""

    def __init__(self, rr: Any, *, jpeg: int, width: int | None, path: int, video: Any) -> None:
        self.rr, self.jpeg, self.width, self.most = rr, jpeg, width, path
        self.path: list[tuple[float, float]] = []  # fixations in the frame, u and v, the newest last
        self.levels: set[int] = set()
        self.video = video is not None
        if self.video:
            rr.log(f"{FRAME}/video", video, static=True)

    def log(self, emission: sc.Emission) -> None:
        """One emission; its arrays may be on any device."""
        rr, emission = self.rr, emission.numpy()
        rr.set_time("video", duration=np.timedelta64(emission.pts_ns, "ns"))
        rr.set_time("frame", sequence=emission.frame)
        if emission.captured_unix_ns:
            rr.set_time("captured", timestamp=np.datetime64(emission.captured_unix_ns, "ns"))
        image = sc.paint(emission, width=self.width)
        picture = rr.Image(image)
        rr.log(f"{PICTURE}/seen", picture.compress(jpeg_quality=self.jpeg) if self.jpeg else picture)
        if not emission.in_flight and (not self.path or self.path[-1] != emission.fixation):
            self.path = [*self.path, emission.fixation][-self.most :]
        self._marks(PICTURE, emission, image.shape)
        if self.video:
            rr.log(f"{FRAME}/video", rr.VideoFrameReference(nanoseconds=emission.pts_ns))
            self._marks(FRAME, emission, emission.size)
        self._counts(emission)

    def _marks(self, space: str, emission: sc.Emission, shape: tuple[int, ...]) -> None:
        extent = np.array([shape[1], shape[0]])
        self._outlines(space, emission, extent)
        self._eye(space, emission, extent)

    def _outlines(self, space: str, emission: sc.Emission, extent: Pair) -> None:
        """The patches inside the frame, coloured by level; those that a model need not encode again are faint."""
        seen = emission.visible
        rows, cols = emission.size
        scale = extent / (cols, rows)
        half = emission.patch_size / 2 * np.exp2(emission.lod[seen].astype(np.float64))[:, None] * scale
        colors = np.array([(*color_of(level), 255) for level in levels_of(emission)], np.uint8).reshape(-1, 4)
        colors[~emission.changed[seen], 3] = 70
        thin = self.rr.Radius.ui_points(0.6)
        boxes = self.rr.Boxes2D(centers=emission.uv[seen] * extent, half_sizes=half, colors=colors, radii=thin)
        self.rr.log(f"{space}/patches", boxes)

    def _eye(self, space: str, emission: sc.Emission, extent: Pair) -> None:
        rr, color = self.rr, (160, 160, 160) if emission.in_flight else (255, 0, 60)
        eye = np.array([emission.fixation]) * extent
        rr.log(f"{space}/fixation", rr.Points2D(eye, radii=rr.Radius.ui_points(6), colors=[color]))
        strips = [np.array(self.path) * extent] if len(self.path) > 1 else []
        line = rr.LineStrips2D(strips, radii=rr.Radius.ui_points(1), colors=[(255, 255, 255, 160)])
        rr.log(f"{space}/scanpath", line)

    def _counts(self, emission: sc.Emission) -> None:
        counts = {
            "changed": np.count_nonzero(emission.changed),
            "new": np.count_nonzero(emission.new),
            "visible": np.count_nonzero(emission.visible),
            "damaged_tiles": emission.damaged_tiles,
        }
        levels, patches = np.unique(levels_of(emission), return_counts=True)
        found = dict(zip(levels.tolist(), patches.tolist(), strict=True))
        self.levels |= found.keys()
        for level in sorted(self.levels):  # a level that was there before is 0 now
            counts[f"level/{level}"] = found.get(level, 0)
        for name, count in counts.items():
            self.rr.log(f"counts/{name}", self.rr.Scalars(float(count)))
        if emission.captured_unix_ns:
            self.rr.log("live/age_s", self.rr.Scalars(emission.age_seconds))
            self.rr.log("live/gaps", self.rr.Scalars(float(emission.gaps)))


def levels_of(emission: sc.Emission) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The nearest whole level of each patch inside the frame."""
    return np.rint(emission.lod[emission.visible]).astype(np.int64)


def color_of(level: int) -> tuple[int, int, int]:
    """The outline's colour."""
    return COLORS[level % len(COLORS)]


def layout(video: bool) -> Any:
    """What the viewer opens with: what the model sees, the frame beside it if there is a video, and the counts."""
    import rerun.blueprint as rrb

    below = FRAME if video else PICTURE
    over = [f"{below}/{name}" for name in ("video" if video else "seen", "patches", "fixation", "scanpath")]
    seen = [f"{PICTURE}/{name}" for name in ("seen", "fixation", "scanpath")]
    views = [
        rrb.Spatial2DView(origin=PICTURE, contents=seen, name="seen"),
        rrb.Spatial2DView(origin=below, contents=over, name="frame" if video else "patches"),
    ]
    counts = rrb.TimeSeriesView(
        origin="counts", contents=[f"counts/{name}" for name in ("changed", "new", "visible")], name="how many patches"
    )
    levels = rrb.TimeSeriesView(origin="counts/level", name="by level")
    return rrb.Blueprint(
        rrb.Vertical(rrb.Horizontal(*views), rrb.Horizontal(counts, levels), row_shares=[3, 1]),
        rrb.TimePanel(timeline="video"),
    )


def emissions_of(arguments: argparse.Namespace) -> Iterable[sc.Emission]:
    """A folder is a dump, all else a stream's source."""
    if Path(arguments.source).is_dir():
        if arguments.set or arguments.every:
            raise ValueError(f"{arguments.source} is a dump: --set and --every are a stream's options")
        return sc.Dump(arguments.source, require_complete=not arguments.incomplete)
    options: dict[str, Any] = {"array": "numpy", "device": arguments.device}
    if arguments.every:
        options["every"] = arguments.every
    for text in arguments.set:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise ValueError(f"--set {text}: write NAME=VALUE, such as tokens=140")
        options[name.replace("-", "_")] = value
    return sc.Stream(arguments.source, **options)


def video_of(rr: Any, path: Path | None) -> Any:
    """The video as Rerun has it; raises here what its viewer would only show later."""
    if path is None:
        return None
    try:
        asset = rr.AssetVideo(contents=path.read_bytes(), media_type="video/mp4")
        asset.read_frame_timestamps_nanos()
    except (OSError, RuntimeError) as error:
        raise ValueError(f"--video {path}: {error}; Rerun shows MP4 of H.264, H.265, VP9 and AV1") from None
    return asset


def arguments_of(rr: Any) -> argparse.Namespace:
    """The command line; where to send it is what all of Rerun's examples understand."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", help="a dump's folder, or what a stream opens: a file, a URL, a camera, test://NAME")
    parser.add_argument("--video", type=Path, metavar="FILE", help="MP4 of these emissions, to show its frames as well")
    parser.add_argument("--width", type=int, metavar="PX", help="of the painted picture (default: as displayed)")
    parser.add_argument("--jpeg", type=int, default=90, metavar="QUALITY", help="1-100; 0: uncompressed (default: 90)")
    parser.add_argument("--path", type=int, default=20, metavar="N", help="fixations in the drawn path (default: 20)")
    parser.add_argument("--incomplete", action="store_true", help="a dump that was cut short or still goes on")
    parser.add_argument("--every", metavar="WHEN", help="stream: fixation, frame, or N frames (default: fixation)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="stream: any option; repeat it"
    )
    parser.add_argument("--device", default="auto", help="stream: cpu, cuda, cuda:1 (default: auto)")
    if rr is not None:
        rr.script_add_args(parser.add_argument_group("where to send it; by default a viewer is started"))
        arguments = parser.parse_args()
    else:
        parser.epilog = "rerun-sdk is not installed; it adds --save, --connect, --url, --serve and --stdout."
        arguments, _ = parser.parse_known_args()
    if not 0 <= arguments.jpeg <= 100:
        parser.error("--jpeg is 1 to 100, or 0: uncompressed")
    if arguments.path < 1:
        parser.error("--path is 1 or more")
    return arguments


def main() -> int:
    """Send all emissions; 0 when they are sent."""
    try:
        import rerun as rr
    except ModuleNotFoundError as error:
        if error.name != "rerun":
            raise
        arguments_of(None)
        print("to_rerun: Rerun's SDK is not installed: pip install rerun-sdk", file=sys.stderr)
        return 1
    arguments = arguments_of(rr)
    count, opened = 0, False
    try:
        emissions, video = emissions_of(arguments), video_of(rr, arguments.video)
        sink = rr.script_setup(arguments, "saccade", default_blueprint=layout(video is not None))
        opened = True
        rr.send_recording_name(arguments.source)
        sink.flush(timeout_sec=REACHED_S)  # raises where no viewer answers
        recording = Recording(rr, jpeg=arguments.jpeg, width=arguments.width, path=arguments.path, video=video)
        for emission in emissions:
            recording.log(emission)
            count += 1
        sink.flush()
    except KeyboardInterrupt:  # how a live source ends
        pass
    except (sc.InputError, sc.UnavailableError, ValueError, TypeError, RuntimeError, OSError) as error:
        print(f"to_rerun: {error}", file=sys.stderr)
        return 1
    finally:
        if opened:
            rr.disconnect()  # what was sent is whole, also after an error
    print(f"{count} emissions of {arguments.source}", file=sys.stderr)
    rr.script_teardown(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
