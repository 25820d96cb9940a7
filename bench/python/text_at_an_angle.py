#!/usr/bin/env python3
"""Characters that Tesseract reads of a page photographed at an angle: isotropic against anisotropic patches, the same
number of samples. A Markdown table.

    apt-get install tesseract-ocr; PYTHONPATH=python bench/python/text_at_an_angle.py [--save FOLDER]

The page is seen foreshortened across its lines, and rotated. Both kinds of patches lie along the lines, whose direction
text_direction() finds, and tile the same area.
"""

from __future__ import annotations

import argparse
import difflib
import math
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

import pysaccade as sc

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
LINES = (
    "The eye rests on the line that",
    "was just typed and sees it whole",
    "while pages far away become grey",
    "bars between two saccades",
    "four of them in each second",
)
LETTER_PX, LINE_PX, MARGIN_PX = 40, 64, 24
SQUEEZE = 4  # of the page, across its lines
PATCH = 32


def page() -> Image.Image:
    """The page seen from above."""
    font = ImageFont.truetype(FONT, LETTER_PX)
    picture = Image.new("L", (768, 2 * MARGIN_PX + LINE_PX * len(LINES)), 255)
    draw = ImageDraw.Draw(picture)
    for k, line in enumerate(LINES):
        draw.text((MARGIN_PX, MARGIN_PX + k * LINE_PX), line, fill=0, font=font)
    return picture


def photograph(flat: Image.Image, degrees: float) -> Tensor:
    """The page at an angle, [1,H,W]: squeezed across its lines, then rotated."""
    squeezed = flat.resize((flat.width, flat.height // SQUEEZE), Image.Resampling.BOX)
    wide = Image.new("L", (1024, 1024), 255)
    wide.paste(squeezed, ((1024 - squeezed.width) // 2, (1024 - squeezed.height) // 2))
    rotated = wide.rotate(-degrees, Image.Resampling.BICUBIC, fillcolor=255)
    return torch.from_numpy(np.asarray(rotated, np.float32).copy())[None] / 255


def read_page(image: Tensor, direction: Tensor, ratio: float, lod: float, flat: Image.Image) -> tuple[Image.Image, int]:
    """Patches that tile the page along its lines, put together; and their number."""
    unit = direction / direction.norm()
    across = torch.stack([-unit[1], unit[0]])
    step_along, step_across = ratio * 2**lod, 2**lod
    columns = math.ceil(flat.width / (PATCH * step_along))
    rows = math.ceil(flat.height / SQUEEZE / (PATCH * step_across))
    at = torch.stack(
        torch.meshgrid(torch.arange(columns) - (columns - 1) / 2, torch.arange(rows) - (rows - 1) / 2, indexing="xy"),
        -1,
    ).reshape(-1, 2)
    places = 512 + at[:, :1] * PATCH * step_along * unit + at[:, 1:] * PATCH * step_across * across
    plan = sc.PatchPlan(places / 1024, lod, patch_size=PATCH)
    patches = sc.sample_anisotropic(sc.TexturePyramid(image), plan, unit * ratio)
    grid = patches.reshape(rows, columns, PATCH, PATCH).permute(0, 2, 1, 3).reshape(rows * PATCH, columns * PATCH)
    picture = Image.fromarray((grid.clamp(0, 1) * 255).byte().numpy())
    # as large as the page itself, so that both are read at one size
    size = round(columns * PATCH * step_along), round(rows * PATCH * step_across * SQUEEZE)
    return picture.resize(size, Image.Resampling.BICUBIC), rows * columns


def recognised(picture: Image.Image) -> float:
    """Share of the text's characters that Tesseract reads, in order."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.png"
        picture.save(path)
        command = ["tesseract", str(path), "-", "--psm", "6"]
        read = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    wanted = "".join(" ".join(LINES).split())
    matcher = difflib.SequenceMatcher(None, wanted, "".join(read.split()), autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / len(wanted)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--save", type=Path, help="folder for the pictures that Tesseract reads")
    arguments = parser.parse_args()
    if shutil.which("tesseract") is None or not Path(FONT).is_file():
        raise SystemExit("install tesseract-ocr and fonts-dejavu-core")
    flat = page()
    print(
        "| angle | direction found | isotropic | patches | anisotropic, ratio 4 | patches |\n|---|---|---|---|---|---|"
    )
    for degrees in (0, 15, 30, 50):
        image = photograph(flat, degrees)
        spot = sc.PatchPlan(torch.tensor([[0.5, 0.5]]), 3.0, patch_size=PATCH)
        direction = sc.text_direction(sc.TexturePyramid(image), spot)[0]
        found = math.degrees(math.atan2(float(direction[1]), float(direction[0])))
        cells = []
        for name, ratio, lod in (("isotropic", 1.0, 1.0), ("anisotropic", 4.0, 0.0)):
            picture, count = read_page(image, direction, ratio, lod, flat)
            cells += [f"{100 * recognised(picture):.0f} %", str(count)]
            if arguments.save:
                picture.save(arguments.save / f"{name}-{degrees}.png")
        print(f"| {degrees} | {found:.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
