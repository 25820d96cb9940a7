"""Makes docs/images/tensors.png: patches around a fixation, and text at an angle.

PYTHONPATH=python python examples/tensor_pictures.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont

import pysaccade as sc

SIZE, PANEL = 384, 300
FONTS = ("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",)
TEXT = (
    "An eye sees a few words sharply and the page around them as grey lines. It jumps four times a second, "
    "and what it needs next decides where it lands. A model can read the same way: a few hundred patches, fine "
    "at one place and coarser around it, in place of all the pixels of a frame. "
)


def page(size: int, letter_px: int) -> torch.Tensor:
    """A page of text, [1, size, size] f32."""
    picture = Image.new("L", (size, size), 255)
    found = [path for path in FONTS if Path(path).is_file()]
    font = ImageFont.truetype(found[0], letter_px) if found else ImageFont.load_default()
    draw, words, y = ImageDraw.Draw(picture), (TEXT * 20).split(), 4
    while y < size:
        line = ""
        while draw.textlength(line + words[0], font=font) < size - 12:
            line += words.pop(0) + " "
        draw.text((6, y), line, fill=0, font=font)
        y += letter_px * 3 // 2
    return torch.from_numpy(np.asarray(picture, np.float32).copy())[None] / 255


def painted(patches: torch.Tensor, plan: sc.PatchPlan, size: int, outlines: bool = False) -> Image.Image:
    """What patches [N,1,S,S] hold, each at its place."""
    picture = Image.new("L", (size, size), 128)
    draw = ImageDraw.Draw(picture)
    for n in np.argsort(-plan.lod.numpy(), kind="stable"):
        side = round(plan.patch_size * 2 ** float(plan.lod[n]))
        x, y = (round(float(at) * size - side / 2) for at in plan.centers[n])
        tile = Image.fromarray((patches[n, 0].clamp(0, 1) * 255).byte().numpy())
        picture.paste(tile.resize((side, side), Image.Resampling.NEAREST), (x, y))
        if outlines:
            draw.rectangle((x, y, x + side, y + side), outline=90)
    return picture


def rotated(image: torch.Tensor, degrees: float) -> torch.Tensor:
    """The page seen at an angle."""
    picture = Image.fromarray((image[0] * 255).byte().numpy())
    picture = picture.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)
    return torch.from_numpy(np.asarray(picture, np.float32).copy())[None] / 255


def strip(image: torch.Tensor, lod: float, direction: torch.Tensor, spots: torch.Tensor) -> Image.Image:
    """Patches at `spots` [N,2] side by side, enlarged to the same size."""
    plan = sc.PatchPlan(spots, lod, patch_size=32)
    patches = sc.sample_anisotropic(sc.TexturePyramid(image), plan, direction)
    rows = [torch.cat(list(patches[k : k + 2, 0]), 1) for k in range(0, len(spots), 2)]
    picture = Image.fromarray((torch.cat(rows).clamp(0, 1) * 255).byte().numpy())
    return picture.resize((PANEL, PANEL), Image.Resampling.NEAREST)


def main() -> None:
    upright = page(SIZE, 11)
    pyramid = sc.TexturePyramid(upright)
    patches, plan = sc.sample_foveated(pyramid, torch.tensor([0.4, 0.45]), tokens=90, return_plan=True)
    first = [
        Image.fromarray((upright[0] * 255).byte().numpy()),
        painted(patches, plan, SIZE, outlines=True),
        painted(patches, plan, SIZE),
    ]
    angled = rotated(page(SIZE, 16), 25)
    # four patches of 32 x 32 samples each; the anisotropic ones keep the lines' height and halve their length
    spots = torch.tensor([[0.4, 0.4], [0.6, 0.4], [0.4, 0.6], [0.6, 0.6]])
    lines = sc.text_direction(sc.TexturePyramid(angled), sc.PatchPlan(spots, 1.0, patch_size=32), ratio=2.0)
    second = [
        Image.fromarray((angled[0] * 255).byte().numpy()),
        strip(angled, 1.0, lines / 2, spots),
        strip(angled, 0.5, lines, spots),
    ]
    whole = Image.new("L", (PANEL * 3 + 16, PANEL * 2 + 8), 255)
    for row, pictures in enumerate((first, second)):
        for column, picture in enumerate(pictures):
            small = picture.resize((PANEL, PANEL), Image.Resampling.LANCZOS)
            whole.paste(small, (column * (PANEL + 8), row * (PANEL + 8)))
    path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images" / "tensors.png")
    whole.quantize(32).save(path, optimize=True)
    print(path)


if __name__ == "__main__":
    main()
