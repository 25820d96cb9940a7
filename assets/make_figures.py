#!/usr/bin/python3
"""Makes the README's first picture: the frame, what a second's looks send, and what a model then has, side by side.

    assets/make_figures.py [--saccade PROGRAM] [--clip CLIP] [--emission N] [--output PICTURE.png]
    assets/make_figures.py --caption           prints the picture's caption for the README; needs NumPy alone

Runs `saccade dump CLIP` on the CPU, with its defaults otherwise, and reads the dump's arrays. The panels are drawn from
these and from the frame, which ffmpeg decodes. The third panel has all patches up to that frame, painted in their order;
each sample is a square that covers the pixels of which it is the mean. Prints the numbers of the second. The same versions
of everything give the same bytes.

Needs NumPy, Pillow (Debian: python3-numpy, python3-pil), the DejaVu fonts (fonts-dejavu-core), ffmpeg and `saccade`.
"""
import argparse
import functools
import io
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError:
    Image = None  # --caption draws nothing

ROOT = pathlib.Path(__file__).resolve().parents[1]
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
EMISSION = 50                 # of desktop.mp4: a line has been typed, and the page begins to scroll
PANEL = (512, 288)            # about twice the size at which a README shows it
GAP, MARGIN, CAPTION, LEGEND = 20, 20, 62, 56
CLOSE_UP_PX = 432             # width of what the lower row magnifies
CLOSE_UP_AT = (0.42, 0.63)    # of the frame: its centre, where the line is typed
LEVEL_COLOURS = ("#e02d1b", "#ef7d00", "#d9b400", "#2f9e44", "#1c7ed6", "#7048e8", "#c2255c")
INK, FAINT = "#1f2328", "#59636e"


def font(name, size):
    return ImageFont.truetype(str(FONTS / f"DejaVu{name}.ttf"), size, layout_engine=ImageFont.Layout.BASIC)


class Second:
    """The looks of the second that ends with emission `last` of a dump: their patches in the frame, coarse ones first."""

    def __init__(self, dump, clip, last):
        index = np.load(dump / "index.npy")[: last + 1]
        self.geometry = np.load(dump / "geometry.npy")[: last + 1]
        self.patches = np.load(dump / "patches.npy", mmap_mode="r")[: last + 1]
        stream = json.loads((dump / "meta.json").read_text())["stream"]
        self.clip, self.size = clip, (stream["width_px"], stream["height_px"])
        self.frame, self.pts_s = int(index["frame"][-1]), float(index["pts_ns"][-1]) / 1e9
        self.looks = np.flatnonzero(index["pts_ns"] > index["pts_ns"][-1] - 1_000_000_000)
        side = self.patches.shape[-1]
        self.full = len(self.looks) * -(-self.size[0] // side) * -(-self.size[1] // side)
        placed = sorted((self.placed(look, n) for look in self.looks for n in self.inside(look)), key=lambda one: -one[0])
        self.levels, self.boxes = [level for level, _ in placed], [box for _, box in placed]
        self.held = sum(len(self.inside(look)) for look in range(last + 1))

    def inside(self, look):
        return np.flatnonzero(self.geometry[look, :, 3] > 0)

    def placed(self, look, n):
        """(level, box in pixels) of a patch."""
        u, v, lod, _ = self.geometry[look, n]
        half = self.patches.shape[-1] * 2 ** lod / 2
        x, y = u * self.size[0], v * self.size[1]
        return int(round(float(lod))), tuple(int(round(float(edge))) for edge in (x - half, y - half, x + half, y + half))

    @functools.cached_property
    def picture(self):
        return decoded(self.clip, self.frame)

    def count(self, level):
        return self.levels.count(level)

    def painted(self):
        """What the model has: all patches so far at their places, each sample a square."""
        canvas = Image.new("RGB", self.size, (128, 128, 128))
        for look in range(len(self.geometry)):
            for n in self.inside(look):
                left, top, right, bottom = self.placed(look, n)[1]
                patch = Image.fromarray(np.ascontiguousarray(self.patches[look, n].transpose(1, 2, 0)), "RGB")
                canvas.paste(patch.resize((right - left, bottom - top), Image.Resampling.NEAREST), (left, top))
        return canvas


def decoded(clip, number):
    """Frame `number` of `clip`, from 0, as a picture."""
    scale = "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-i", str(clip),
               "-vf", f"select=eq(n\\,{number}),{scale},format=rgb24", "-frames:v", "1",
               "-f", "image2pipe", "-c:v", "ppm", "-"]
    return Image.open(io.BytesIO(subprocess.run(command, check=True, capture_output=True).stdout)).convert("RGB")


def outlined(picture, second, region, size):
    """`region` of the frame, paled, at `size`, under the outlines of the patches; each level has a colour."""
    pale = Image.blend(picture, Image.new("RGB", picture.size, "white"), 0.35)
    panel = pale.resize(size, Image.Resampling.LANCZOS, box=region)
    draw = ImageDraw.Draw(panel)
    scale = size[0] / (region[2] - region[0])
    for (left, top, right, bottom), level in zip(second.boxes, second.levels):
        corners = [round((left - region[0]) * scale), round((top - region[1]) * scale),
                   round((right - region[0]) * scale), round((bottom - region[1]) * scale)]
        width = 1 if corners[2] - corners[0] < 16 else 2
        draw.rectangle(corners, outline=LEVEL_COLOURS[level], width=width)
    return panel


def close_up(size):
    """The part of the frame that the lower row magnifies: (left, top, right, bottom)."""
    width, height = CLOSE_UP_PX, round(CLOSE_UP_PX * PANEL[1] / PANEL[0])
    left, top = round(CLOSE_UP_AT[0] * size[0] - width / 2), round(CLOSE_UP_AT[1] * size[1] - height / 2)
    return left, top, left + width, top + height


def figure(second):
    whole, part = (0, 0, *second.size), close_up(second.size)
    painted = second.painted()
    columns = [
        ("the frame", f"{len(second.looks)} a second are {second.full:,} patches of 16x16",
         lambda region: second.picture.resize(PANEL, Image.Resampling.LANCZOS, box=region)),
        ("what this second sends", f"{len(second.levels):,} patches, where something changed",
         lambda region: outlined(second.picture, second, region, PANEL)),
        ("what the model has", f"{second.held:,} patches, sent since the beginning",
         lambda region: painted.resize(
             PANEL, Image.Resampling.LANCZOS if region == whole else Image.Resampling.BICUBIC, box=region)),
    ]
    width = 2 * MARGIN + 3 * PANEL[0] + 2 * GAP
    height = MARGIN + CAPTION + 2 * PANEL[1] + GAP + LEGEND
    sheet = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(sheet)
    for i, (title, subtitle, panel_of) in enumerate(columns):
        x, y = MARGIN + i * (PANEL[0] + GAP), MARGIN + CAPTION
        draw.text((x, MARGIN + 20), title, INK, font("Sans-Bold", 27), anchor="ls")
        draw.text((x, MARGIN + 49), subtitle, FAINT, font("Sans", 22), anchor="ls")
        sheet.paste(panel_of(whole), (x, y))
        scale = PANEL[0] / second.size[0]
        box = [x + part[0] * scale, y + part[1] * scale, x + part[2] * scale, y + part[3] * scale]
        lower = y + PANEL[1] + GAP
        for corner, end in ((box[0], x), (box[2], x + PANEL[0] - 1)):
            draw.line((corner, box[3], end, lower), fill=INK, width=2)
        draw.rectangle([round(edge) for edge in box], outline=INK, width=3)
        sheet.paste(panel_of(part), (x, lower))
        draw.rectangle((x, lower, x + PANEL[0] - 1, lower + PANEL[1] - 1), outline=INK, width=3)
    draw_legend(draw, second, height - LEGEND // 2 + 4)
    return sheet


def draw_legend(draw, second, y):
    """One line: how many patches each level has, and how many pixels wide their samples are."""
    levels = sorted(set(second.levels))
    face = font("Sans", 22)
    texts = [f"{second.count(level)} at {2 ** level} px" for level in levels]
    texts[0] = f"{second.count(levels[0])} patches at {2 ** levels[0]} px a sample"
    x = MARGIN
    for level, text in zip(levels, texts):
        draw.rectangle((x, y - 10, x + 20, y + 10), outline=LEVEL_COLOURS[level], width=4)
        draw.text((x + 32, y), text, INK, face, anchor="lm")
        x += 32 + round(face.getlength(text)) + 72


def caption(second):
    return ("*One second of a desktop: a line is typed, a clock goes on, and a page begins to scroll. The model gets "
            f"{len(second.levels)} patches of\n16x16 samples instead of the {second.full:,} of whole frames. With the "
            f"{second.held - len(second.levels):,} that it had before, it has the screen. The page\nthat scrolls is coarse until "
            "the next looks send what is missing.*")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = os.environ.get("SACCADE_BIN", ROOT / "build/ci/app/saccade")
    parser.add_argument("--saccade", type=pathlib.Path, default=program)
    parser.add_argument("--clip", type=pathlib.Path, default=ROOT / "assets/desktop.mp4")
    parser.add_argument("--emission", type=int, default=EMISSION)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/images/seen.png")
    parser.add_argument("--caption", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder) / "patches"
        subprocess.run([arguments.saccade, "dump", arguments.clip, "-o", dump, "--backend", "cpu", "--hwdec", "no",
                        "--log-level", "error"], check=True, stdout=subprocess.DEVNULL)
        second = Second(dump, arguments.clip, arguments.emission)
        if arguments.caption:
            print(caption(second))
            return
        sheet = figure(second)
    sheet.save(arguments.output, optimize=True)
    print(f"{arguments.output}: {sheet.width}x{sheet.height}, {arguments.output.stat().st_size} bytes")
    print(f"emissions {second.looks[0]} to {second.looks[-1]}, to frame {second.frame} at {second.pts_s:.3f} s: "
          f"{len(second.levels)} patches; {second.held} so far; full resolution would be {second.full} in this second")


if __name__ == "__main__":
    main()
