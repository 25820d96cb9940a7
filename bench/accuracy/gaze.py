"""A replay of real gaze: python bench/accuracy/gaze.py --data eyekit/example

Three people read a page each (Pescuma et al., in the repository of eyekit). The page is drawn as they saw it, and their
fixations drive the stream. At each fixation: what Tesseract reads of the word that is fixated, of the one that is
fixated next, and of one elsewhere on the page, in the receiver's picture. `pip install eyekit` reads the recording.
"""

from __future__ import annotations

import argparse
import itertools
import pathlib
import sys
from typing import Any, NamedTuple

import eyekit
import numpy as np
import ocr
from clips import clip
from PIL import Image, ImageDraw, ImageFont
from samplers import Look, sampler_of, tokens_of
from scenes import Scene
from stats import interval
from table import sampler_label

import pysaccade as sc

SIZE = (1920, 1080)  # pixels of the screen of the recording
FACE = "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf"  # as wide as the Courier New that was shown
FPS = 25
MARGIN = 4  # pixels around a word that are read, too
LEAST = 3  # letters of a word that counts
TITLES = ("fixated", "fixated next", "elsewhere")


class Fixation(NamedTuple):
    seconds: float
    at: tuple[float, float]  # u, v
    word: Any  # eyekit's, or None


class Reading(NamedTuple):
    """A page, what stands where on it, and where someone looked."""

    scene: Scene
    words: list[Any]
    fixations: list[Fixation]


def page(text: Any) -> np.ndarray:
    """The text in black on a light ground, [H, W, 3] u8."""
    image = Image.new("RGB", SIZE, (240, 240, 240))
    font = ImageFont.truetype(FACE, text.font_size)
    for line, baseline in zip(text.lines(), text.baselines, strict=True):
        ImageDraw.Draw(image).text((text.position[0], baseline), line.text, (0, 0, 0), font, anchor="ls")
    return np.asarray(image)


def readings(folder: pathlib.Path) -> list[Reading]:
    """Fixations are put on the lines that were read, as is usual: trackers drift."""
    texts = eyekit.io.load(str(folder / "example_texts.json"))
    out = []
    for name, trial in eyekit.io.load(str(folder / "example_data.json")).items():
        text, sequence = texts[trial["passage_id"]]["text"], trial["fixations"]
        sequence.snap_to_lines(text)
        words = [word for word in text.words() if len(word.text) >= LEAST]
        fixations = []
        for fixation in sequence:
            word = next((word for word in words if fixation in word), None)
            place = fixation.x / SIZE[0], fixation.y / SIZE[1]
            fixations.append(Fixation(fixation.start / 1000, place, word))
        picture = page(text)
        scene = Scene(f"page-{name}", sequence.end / 1000, lambda _, picture=picture: picture, size=SIZE, fps=FPS)
        out.append(Reading(scene, words, fixations))
    return out


def crop(picture: np.ndarray, word: Any) -> np.ndarray:
    """The word's letters: of eyekit's box, which is a line high, the middle."""
    left, right, middle = int(word.x_tl), int(word.x_br), int((word.y_tl + word.y_br) / 2)
    return picture[middle - 20 : middle + 20, left - MARGIN : right + MARGIN].copy()


def looked_at(looks: list[Look], reading: Reading) -> list[tuple[Look, Fixation, Fixation]]:
    """Of each fixation on a word after which another word is fixated: the last look of its time, and both."""
    out = []
    for now, then in itertools.pairwise(reading.fixations):
        during = [look for look in looks if now.seconds - 1e-6 <= look.seconds < then.seconds]
        if during and now.word and then.word and now.word != then.word:
            out.append((during[-1], now, then))
    return out


def measure(reading: Reading, sampler: str, budget: int) -> tuple[float, list[list[float]]]:
    """Tokens to encode a second, and of each of TITLES the characters right at each fixation."""
    path = clip(reading.scene, sources=("scenes.py",))
    rows = np.array([(f.seconds, *f.at) for f in reading.fixations])
    looks = list(sampler_of(sampler)(reading.scene, path, budget, fixation=rows, threshold=8))
    memory = sc.PictureMemory()
    wanted = {id(look): pair for look, *pair in looked_at(looks, reading)}
    rng, crops, truth = np.random.default_rng(1), [], []
    for look in looks:
        kept = sc.paint(look.patches, look.geometry, look.size, memory=memory)
        if id(look) in wanted:
            now, then = wanted[id(look)]
            for word in (now.word, then.word, reading.words[rng.integers(len(reading.words))]):
                crops.append(crop(kept, word))
                truth.append(word.text)
    letters = ["".join(filter(str.isalnum, text)) for text in ocr.read(crops)]  # a comma beside the word is not its own
    right = [ocr.characters_right(text, word) for text, word in zip(letters, truth, strict=True)]
    return tokens_of(looks, reading.scene.seconds)["tokens_s"], [right[n :: len(TITLES)] for n in range(len(TITLES))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder example of eyekit's repository")
    parser.add_argument("--samplers", nargs="+", required=True, help="NAME+OPTION=VALUE:TOKENS")
    arguments = parser.parse_args()
    if not (arguments.data / "example_data.json").exists():
        parser.exit(1, f"gaze: no example_data.json in {arguments.data}; git clone https://github.com/jwcarr/eyekit\n")
    people = readings(arguments.data)
    print(f"| sampler | to encode, a second | {' | '.join(TITLES)} |\n|---|---|{'---|' * len(TITLES)}")
    for name in arguments.samplers:
        sampler, _, budget = name.rpartition(":")
        found = [measure(person, sampler, int(budget)) for person in people]
        tokens = np.mean([tokens for tokens, _ in found])
        columns = zip(*(columns for _, columns in found), strict=True)
        cells = ["{:.2f} ({:.2f} to {:.2f})".format(*interval(column)) for column in columns]
        label = sampler_label({"sampler": sampler, "budget": budget})
        print(f"| {label} | {tokens:.0f} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
