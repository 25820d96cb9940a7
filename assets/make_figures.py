#!/usr/bin/python3
"""Makes the README's first picture: the frame, the patches' outlines, and what a model gets, side by side.

    assets/make_figures.py [--saccade PROGRAM] [--clip CLIP] [--emission N] [--output PICTURE.png]
    assets/make_figures.py --caption           prints the picture's caption for the README; needs NumPy alone

Runs `saccade dump CLIP` on the CPU, with its defaults otherwise, and reads the dump's arrays. The panels are drawn from
these and from the frame, which ffmpeg decodes. In the third panel each sample is a square that covers the pixels of
which it is the mean. Prints the numbers of the emission. The same versions of everything give the same bytes.

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
EMISSION = 46                 # of desktop.mp4: the eye rests on the line that was just typed
PANEL = (512, 288)            # about twice the size at which a README shows it
GAP, MARGIN, CAPTION, LEGEND = 20, 20, 62, 56
CLOSE_UP_PX = 432             # width of what the lower row magnifies
FIXATION_IN_CLOSE_UP = (0.57, 0.66)  # where the fixation stands there, as shares of its size
LEVEL_COLOURS = ("#e02d1b", "#ef7d00", "#d9b400", "#2f9e44", "#1c7ed6", "#7048e8", "#c2255c")
INK, FAINT = "#1f2328", "#59636e"


def font(name, size):
    return ImageFont.truetype(str(FONTS / f"DejaVu{name}.ttf"), size, layout_engine=ImageFont.Layout.BASIC)


class Emission:
    """One emission of a dump: its frame, its fixation in pixels, and the patches in the frame, coarse ones first."""

    def __init__(self, dump, clip, number):
        index = np.load(dump / "index.npy")[number]
        self.number, self.frame, self.pts_s = number, int(index["frame"]), float(index["pts_ns"]) / 1e9
        stream = json.loads((dump / "meta.json").read_text())["stream"]
        self.clip, self.size = clip, (stream["width_px"], stream["height_px"])
        self.fixation = (float(index["fix_u"]) * self.size[0], float(index["fix_v"]) * self.size[1])
        geometry = np.load(dump / "geometry.npy")[number]
        patches = np.load(dump / "patches.npy", mmap_mode="r")[number]
        changed = np.load(dump / "changed.npy")[number]
        self.slots = len(geometry)
        inside = [i for i in np.argsort(-geometry[:, 2], kind="stable") if geometry[i, 3] > 0]
        self.levels = [int(round(float(geometry[i, 2]))) for i in inside]
        self.changed = int(changed[inside].sum())
        self.samples = [patches[i].transpose(1, 2, 0) for i in inside]
        side = patches.shape[-1]
        self.boxes = []
        for i, level in zip(inside, self.levels):
            half = side * 2 ** level / 2
            x, y = geometry[i, 0] * self.size[0], geometry[i, 1] * self.size[1]
            self.boxes.append(tuple(int(round(float(edge))) for edge in (x - half, y - half, x + half, y + half)))
        self.full = -(-self.size[0] // side) * -(-self.size[1] // side)

    @functools.cached_property
    def picture(self):
        return decoded(self.clip, self.frame)

    def count(self, level):
        return self.levels.count(level)

    def painted(self):
        """What the model gets: the patches at their places, each sample a square."""
        canvas = Image.new("RGB", self.size)
        for (left, top, right, bottom), samples in zip(self.boxes, self.samples):
            patch = Image.fromarray(np.ascontiguousarray(samples), "RGB")
            canvas.paste(patch.resize((right - left, bottom - top), Image.Resampling.NEAREST), (left, top))
        return canvas


def decoded(clip, number):
    """Frame `number` of `clip`, from 0, as a picture."""
    scale = "scale=flags=bicubic+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"
    command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-i", str(clip),
               "-vf", f"select=eq(n\\,{number}),{scale},format=rgb24", "-frames:v", "1",
               "-f", "image2pipe", "-c:v", "ppm", "-"]
    return Image.open(io.BytesIO(subprocess.run(command, check=True, capture_output=True).stdout)).convert("RGB")


def outlined(picture, emission, region, size):
    """`region` of the frame, paled, at `size`, under the outlines of the patches; each level has a colour."""
    pale = Image.blend(picture, Image.new("RGB", picture.size, "white"), 0.35)
    panel = pale.resize(size, Image.Resampling.LANCZOS, box=region)
    draw = ImageDraw.Draw(panel)
    scale = size[0] / (region[2] - region[0])
    for (left, top, right, bottom), level in zip(emission.boxes, emission.levels):
        corners = [round((left - region[0]) * scale), round((top - region[1]) * scale),
                   round((right - region[0]) * scale), round((bottom - region[1]) * scale)]
        width = 1 if corners[2] - corners[0] < 16 else 2
        draw.rectangle(corners, outline=LEVEL_COLOURS[level], width=width)
    return panel


def close_up(emission):
    """The part of the frame that the lower row magnifies: (left, top, right, bottom)."""
    width, height = CLOSE_UP_PX, CLOSE_UP_PX * PANEL[1] / PANEL[0]
    left = min(max(emission.fixation[0] - width * FIXATION_IN_CLOSE_UP[0], 0), emission.size[0] - width)
    top = min(max(emission.fixation[1] - height * FIXATION_IN_CLOSE_UP[1], 0), emission.size[1] - height)
    return round(left), round(top), round(left) + width, round(top) + round(height)


def figure(emission):
    whole, part = (0, 0, *emission.size), close_up(emission)
    painted = emission.painted()
    total = len(emission.levels)
    samples = sum(patch.shape[0] * patch.shape[1] for patch in emission.samples)
    columns = [
        ("the frame", f"{emission.full:,} patches of 16x16 pixels",
         lambda region: emission.picture.resize(PANEL, Image.Resampling.LANCZOS, box=region)),
        ("the patches", f"{total}, finest where the eye rests",
         lambda region: outlined(emission.picture, emission, region, PANEL)),
        ("what the model gets", f"{samples:,} samples for {emission.size[0] * emission.size[1]:,} pixels",
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
        scale = PANEL[0] / emission.size[0]
        box = [x + part[0] * scale, y + part[1] * scale, x + part[2] * scale, y + part[3] * scale]
        lower = y + PANEL[1] + GAP
        for corner, end in ((box[0], x), (box[2], x + PANEL[0] - 1)):
            draw.line((corner, box[3], end, lower), fill=INK, width=2)
        draw.rectangle([round(edge) for edge in box], outline=INK, width=3)
        sheet.paste(panel_of(part), (x, lower))
        draw.rectangle((x, lower, x + PANEL[0] - 1, lower + PANEL[1] - 1), outline=INK, width=3)
    draw_legend(draw, emission, height - LEGEND // 2 + 4)
    return sheet


def draw_legend(draw, emission, y):
    """One line: how many patches each level has, and how many pixels wide their samples are."""
    levels = sorted(set(emission.levels))
    face = font("Sans", 22)
    texts = [f"{emission.count(level)} at {2 ** level} px" for level in levels]
    texts[0] = f"{emission.count(levels[0])} patches at {2 ** levels[0]} px a sample"
    x = MARGIN
    for level, text in zip(levels, texts):
        draw.rectangle((x, y - 10, x + 20, y + 10), outline=LEVEL_COLOURS[level], width=4)
        draw.text((x + 32, y), text, INK, face, anchor="lm")
        x += 32 + round(face.getlength(text)) + 72


def caption(emission):
    return ("*One fixation on a desktop: the eye rests on the line that was just typed. The model gets "
            f"{len(emission.levels)} patches of 16x16 samples\ninstead of the {emission.full:,} of the whole frame. "
            "The typed line stays readable, and a page far away becomes grey lines.*")


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
        emission = Emission(dump, arguments.clip, arguments.emission)
        if arguments.caption:
            print(caption(emission))
            return
        sheet = figure(emission)
    sheet.save(arguments.output, optimize=True)
    print(f"{arguments.output}: {sheet.width}x{sheet.height}, {arguments.output.stat().st_size} bytes")
    print(f"emission {emission.number}: frame {emission.frame} at {emission.pts_s:.3f} s, fixation "
          f"{emission.fixation[0]:.0f}, {emission.fixation[1]:.0f} px; {len(emission.levels)} of {emission.slots} "
          f"patches inside the frame, {emission.changed} changed; full resolution would be {emission.full}")


if __name__ == "__main__":
    main()
