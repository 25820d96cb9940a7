"""Scenes as clips on disk: made once, kept by what made them."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess

from scenes import Scene

CACHE = pathlib.Path(os.environ.get("SACCADE_ACCURACY_CACHE", "~/.cache/saccade/accuracy")).expanduser()


def sources_key(*files: str) -> str:
    """Of the scripts that make something, so that a change of them makes it again."""
    here = pathlib.Path(__file__).parent
    return hashlib.sha256(b"".join((here / name).read_bytes() for name in files)).hexdigest()[:12]


def clip_path(name: str) -> pathlib.Path:
    """A path, or the name of a clip in $SACCADE_CLIPS."""
    return pathlib.Path(os.environ.get("SACCADE_CLIPS", ""), name)


def clip(scene: Scene, crf: int = 18, sources: tuple[str, ...] = ("scenes.py",)) -> pathlib.Path:
    """The scene as H.264 at a quality that a recorder would use."""
    path = CACHE / "clips" / f"{scene.name}-{sources_key(*sources)}-{scene.seconds:g}s-crf{crf}.mp4"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part.mp4")
    command = ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*scene.size)]
    command += ["-r", str(scene.fps), "-i", "-", "-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf)]
    command += [
        "-threads",
        "1",
        "-pix_fmt",
        "yuv420p",
        "-colorspace",
        "bt709",
        "-vf",
        "scale=out_color_matrix=bt709",
        str(part),
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        assert encoder.stdin is not None
        for n in range(round(scene.seconds * scene.fps)):
            encoder.stdin.write(scene.frame(n / scene.fps).tobytes())
        encoder.stdin.close()
    if encoder.returncode != 0:
        raise RuntimeError(f"ffmpeg: exit {encoder.returncode} while it wrote {part}")
    part.rename(path)
    return path
