#!/usr/bin/env python3
"""Makes the desktop clip: 13 s of 1280x720 at 25 frames/s, under 700 KB.

    assets/make_desktop.py [OUTPUT.mp4] [--frame N=PICTURE.png]

     0.0 ..  4.6 s  the pointer goes to a page of text, which scrolls in three steps
     4.6 ..  6.1 s  the pointer goes to a chart and clicks: its axis becomes logarithmic
     6.1 .. 11.8 s  it clicks into the notes, and three lines are typed
    11.8 .. 13.0 s  it returns to the page, which scrolls back
All the time a clock ticks once a second, and the chart gains a bar each half second: the share of the picture's 16x16
tiles that changed from frame to frame, measured on these very frames.

Needs NumPy, Pillow (Debian: python3-numpy, python3-pil), the DejaVu fonts (fonts-dejavu-core) and ffmpeg with libx264.
One encoder thread: the same versions of all these write the same bytes. --frame writes one frame as a PNG instead.
"""
import argparse
import pathlib
import subprocess

import numpy as np

import desktop_scene as scene

RATE, SECONDS = 25, 13
FRAMES = RATE * SECONDS
TILE = 16
SLOTS = 2 * SECONDS                   # bars of the chart
STARTS_S = 10 * 3600 + 8 * 60 + 24    # the clock's time in the first frame

# Where the pointer rests: from the first time until the second.
POINTER = [(0.0, 1.0, (690, 600)), (1.7, 4.6, (420, 560)), (5.4, 6.1, (1204, 212)), (6.7, 7.2, (810, 560)),
           (7.7, 11.8, (872, 640)), (12.3, 13.0, (436, 470))]
CLICKS = [5.6, 6.9]
CLICK_S = 0.36
SCROLLS = [(2.0, 0.5, 110), (2.9, 0.5, 110), (3.8, 0.5, 85), (12.4, 0.5, -140)]  # begin, length, pixels
LOGARITHMIC_FROM = 5.64
TYPING_FROM, KEYS_PER_SECOND = 7.2, 16


def eased(t, begin, length):
    """0 before `begin`, 1 after `begin + length`, smooth between."""
    x = min(max((t - begin) / length, 0.0), 1.0)
    return x * x * (3 - 2 * x)


def pointer_at(t):
    x, y = POINTER[0][2]
    for (_, leaves, start), (arrives, _, end) in zip(POINTER, POINTER[1:]):
        part = eased(t, leaves, arrives - leaves)
        bow = 24 * part * (1 - part)  # hands move in slight arcs
        if part > 0:
            x, y = start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]) - bow
    return round(x), round(y)


def typed_at(t):
    """How many letters have been typed; there is a pause after each word, and a longer one after each line."""
    at = TYPING_FROM
    for count, letter in enumerate(scene.NOTES_TYPED):
        if t < at:
            return count
        at += {" ": 1.6, "\n": 6.0}.get(letter, 0.7 + 0.15 * (count * 7 % 5)) / KEYS_PER_SECOND
    return len(scene.NOTES_TYPED)


def state_at(frame, shares):
    t = frame / RATE
    typed = typed_at(t)
    typing = 0 < typed < len(scene.NOTES_TYPED)
    clicks = [(t - begin) / CLICK_S for begin in CLICKS if 0 <= t - begin < CLICK_S]
    return {
        "seconds": STARTS_S + frame // RATE,
        "scrolled": round(sum(px * eased(t, begin, length) for begin, length, px in SCROLLS)),
        "shares": tuple(shares),
        "logarithmic": t >= LOGARITHMIC_FROM,
        "typed": typed,
        "caret": t > CLICKS[-1] and (typing or int(2 * t) % 2 == 0),
        "pointer": pointer_at(t),
        "click": clicks[0] if clicks else None,
    }


def changed_share(before, after):
    """Percent of the tiles in which any sample differs."""
    differs = (before != after).any(axis=2)
    tiles = differs.reshape(scene.HEIGHT // TILE, TILE, scene.WIDTH // TILE, TILE).any(axis=(1, 3))
    return 100 * float(tiles.mean())


def frames():
    """All frames in order, as arrays [720, 1280, 3] u8."""
    desktop = scene.Desktop(SLOTS)
    shares, recent, before = [], [], None
    for number in range(FRAMES):
        if 2 * number // RATE > len(shares):
            shares.append(round(sum(recent) / len(recent), 3))
            recent = []
        picture = np.asarray(desktop.compose(**state_at(number, shares)))
        recent.append(0.0 if before is None else changed_share(before, picture))
        before = picture
        yield picture


def encode(output):
    command = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y",
               "-f", "rawvideo", "-pixel_format", "rgb24", "-video_size", f"{scene.WIDTH}x{scene.HEIGHT}",
               "-framerate", str(RATE), "-i", "pipe:0",
               "-vf", "scale=out_color_matrix=bt709:out_range=tv:flags=bicubic+accurate_rnd+full_chroma_int+bitexact,"
               "format=yuv420p,setsar=1",
               "-c:v", "libx264", "-preset", "slow", "-crf", "18", "-threads", "1", "-g", str(FRAMES),
               "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
               "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-movflags", "+faststart",
               str(output)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        for picture in frames():
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
    if encoder.returncode:
        raise SystemExit(f"{output}: ffmpeg failed with {encoder.returncode}")
    print(f"{output}: {output.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent / "desktop.mp4")
    parser.add_argument("--frame", metavar="N=PICTURE.png", help="write frame N as a picture, and no clip")
    arguments = parser.parse_args()
    if arguments.frame is None:
        return encode(arguments.output)
    number, _, path = arguments.frame.partition("=")
    for i, picture in enumerate(frames()):
        if i == int(number):
            return scene.Image.fromarray(picture).save(path)
    raise SystemExit(f"--frame: the clip has frames 0 to {FRAMES - 1}")


if __name__ == "__main__":
    main()
