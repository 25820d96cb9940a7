"""What the desktop clip shows: four windows, a bar, a clock and a pointer, drawn with Pillow.

A window is drawn again only when its state changes; compose() stacks them. Sizes are in pixels of the 1280x720 frame.
Text uses Pillow's basic layout: the same fonts then give the same pixels with and without libraqm.
"""
import functools
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT = 1280, 720
BAR = 30
TITLE = 32
SUPERSAMPLING = 4
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")

READER = (24, 48, 500, 694)   # left, top, right, bottom
CODE = (526, 48, 980, 336)
CHART = (926, 148, 1256, 456)
NOTES = (544, 382, 946, 694)
CLOCK = (1112, 584)           # centre of the dial
DIAL_RADIUS = 84
SCALE_SWITCH = (1176, 208)    # centre of the chart's linear | log switch

INK, FAINT, PAPER, ACCENT = "#22262e", "#8a909c", "#fcfcfa", "#d9582b"
BLUE, GRID = "#2d6cb5", "#e3e5ea"

READER_TITLE = "Why an eye moves"
READER_TEXT = """\
An eye sees sharply only at the middle of its gaze, in a spot about as wide as a thumb at arm's length. \
The rest is a sketch: enough to notice that something moved, too coarse to read.

So the eye keeps moving. About four times a second it jumps to another spot, rests there, and looks. \
A page is read in such jumps, a word or two at a time.

A camera knows no such thrift. It delivers every pixel of every frame, whether anything changed or not. \
A model that watches its video spends most of its effort on wallpaper.

Patches can be spent better. Near the fixation, each holds the very pixels of the frame. Farther out, a patch of \
the same size covers twice the width, then four times, then eight.

A page in the corner of the eye shrinks to grey lines. That is all one needs to know that there is a page, and to \
go there when a line changes.

What did not change need not be sent again. A quiet desktop costs almost nothing: a clock, a pointer, the letter \
that was just typed.

Where to look next? Motion calls the eye, and so does whatever differs from all around it. A place that was seen a \
moment ago can wait, for there is more to see elsewhere.

The picture that a model receives is never complete at once. It is gathered, look by look, as a reader gathers a \
page, and what was seen a moment ago is still there to be used."""

CODE_LINES = """\
import numpy as np

patches  = np.load("out/patches.npy")
geometry = np.load("out/geometry.npy")
changed  = np.load("out/changed.npy")

for i, new in enumerate(changed == 1):
    u, v, lod, coverage = geometry[i, new].T
    model.feed(patches[i, new], u, v, lod)
    print(i, new.sum(), "new patches")""".split("\n")
KEYWORDS = {"import", "as", "for", "in"}
BUILTINS = {"enumerate", "print"}

NOTES_TITLE = "Notes"
NOTES_TYPED = "Where the eye rests,\neach letter is sharp.\nThe rest waits."


@functools.lru_cache(maxsize=None)
def font(name, size):
    return ImageFont.truetype(str(FONTS / f"DejaVu{name}.ttf"), size, layout_engine=ImageFont.Layout.BASIC)


def smooth(size, draw_shape):
    """A mask of `size` with soft edges: `draw_shape(draw, scale)` draws it larger, and each pixel takes the mean."""
    scale = SUPERSAMPLING
    large = Image.new("L", (size[0] * scale, size[1] * scale), 0)
    draw_shape(ImageDraw.Draw(large), scale)
    return large.resize(size, Image.Resampling.BOX)


def rounded(size, radius):
    return smooth(size, lambda draw, s: draw.rounded_rectangle(
        (0, 0, size[0] * s - 1, size[1] * s - 1), radius * s, 255))


def disc(radius):
    return smooth((2 * radius, 2 * radius), lambda draw, s: draw.ellipse(
        (0, 0, 2 * radius * s - 1, 2 * radius * s - 1), 255))


def wrapped(text, face, width):
    """Lines of `text` no wider than `width`; an empty line between paragraphs."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if face.getlength(longer) > width and line:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def wallpaper():
    """A dusk gradient with wide rings, quiet enough to stay behind the windows."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    along = np.clip((x / WIDTH + y / HEIGHT) / 2, 0, 1)[..., None]
    colour = np.array([38, 52, 92]) * (1 - along) + np.array([64, 132, 140]) * along
    distance = np.hypot(x - CLOCK[0], y - CLOCK[1])
    for radius, light in ((760, 5), (560, 6), (380, 7), (220, 8)):
        colour += light * np.clip(radius - distance, 0, 1)[..., None]
    return Image.fromarray(np.clip(colour + 0.5, 0, 255).astype(np.uint8), "RGB")


class Window:
    """A titled window: an opaque picture with round corners, and the shadow under it, drawn once."""

    def __init__(self, rectangle, title, background, bar, ink):
        self.left, self.top, right, bottom = rectangle
        self.size = (right - self.left, bottom - self.top)
        self.mask = rounded(self.size, 9)
        self.background, self.bar, self.ink, self.title = background, bar, ink, title
        margin = 28
        shadow = Image.new("L", (self.size[0] + 2 * margin, self.size[1] + 2 * margin), 0)
        shadow.paste(self.mask.point(lambda value: value * 110 // 255), (margin, margin))
        self.shadow = shadow.filter(ImageFilter.GaussianBlur(11))
        self.shadow_at = (self.left - margin, self.top - margin + 7)
        self.cache = {}

    def blank(self):
        picture = Image.new("RGB", self.size, self.background)
        draw = ImageDraw.Draw(picture)
        draw.rectangle((0, 0, self.size[0], TITLE - 1), fill=self.bar)
        for i, colour in enumerate(("#e0655c", "#e2b34c", "#62b566")):
            picture.paste(colour, (14 + 20 * i, 10), disc(6))
        draw.text((self.size[0] // 2, TITLE // 2), self.title, self.ink, font("Sans", 13), anchor="mm")
        return picture

    def paste(self, onto, state, draw_content):
        """Puts the window onto the frame; `draw_content(picture, draw, *state)` draws what is in it."""
        if state not in self.cache:
            picture = self.blank()
            draw_content(picture, ImageDraw.Draw(picture), *state)
            self.cache = {state: picture}
        onto.paste("#060a14", self.shadow_at, self.shadow)
        onto.paste(self.cache[state], (self.left, self.top), self.mask)


@functools.lru_cache(maxsize=None)
def reader_page(width):
    """The whole text as one tall picture, of which the window shows a part."""
    face = font("Serif", 16)
    lines = wrapped(READER_TEXT, face, width - 60)
    page = Image.new("RGB", (width, 96 + sum(25 if line else 13 for line in lines)), PAPER)
    draw = ImageDraw.Draw(page)
    draw.text((30, 22), READER_TITLE, INK, font("Serif-Bold", 25))
    y = 76
    for line in lines:
        draw.text((30, y), line, INK, face)
        y += 25 if line else 13
    return page


def draw_reader(picture, draw, scrolled):
    width, height = picture.size
    page = reader_page(width)
    view = height - TITLE
    scrolled = min(scrolled, page.height - view)
    picture.paste(page.crop((0, scrolled, width, scrolled + view)), (0, TITLE))
    thumb = view * view // page.height
    y = TITLE + 4 + (view - 8 - thumb) * scrolled // max(page.height - view, 1)
    picture.paste("#c3c7cf", (width - 11, y), rounded((6, thumb), 3))


def code_words(line):
    """Splits a line into (text, colour): strings, keywords, names of functions, numbers, the rest."""
    for i, part in enumerate(line.split('"')):
        if i % 2:
            yield f'"{part}"', "#9fd08a"
            continue
        word = ""
        for letter in part + "\0":
            if letter.isalnum() or letter == "_":
                word += letter
                continue
            colour = ("#d79ae8" if word in KEYWORDS else "#7fbdf2" if word in BUILTINS
                      else "#eeb377" if word.isdigit() else "#dfe3ea")
            yield word, colour
            word = ""
            if letter != "\0":
                yield letter, "#aab2bf"


def draw_code(picture, draw):
    face = font("SansMono", 14)
    step = face.getlength("0")
    for row, line in enumerate(CODE_LINES):
        y = TITLE + 16 + 23 * row
        draw.text((38, y), str(row + 1), "#5d6678", face, anchor="ra")
        x = 56.0
        for text, colour in code_words(line):
            draw.text((round(x), y), text, colour, face)
            x += step * len(text)


def draw_chart(picture, draw, shares, logarithmic, slots):
    """`shares`: percent of tiles that changed, one for each half second so far, of `slots`."""
    left, top, right, bottom = 52, TITLE + 66, picture.width - 22, picture.height - 36
    draw.text((20, TITLE + 14), "Tiles changed", INK, font("Sans-Bold", 15))
    draw.text((20, TITLE + 35), "% of the screen", FAINT, font("Sans", 12))
    for i, name in enumerate(("linear", "log")):
        x, y = SCALE_SWITCH[0] - CHART[0] + 60 * i - 30, SCALE_SWITCH[1] - CHART[1]
        chosen = logarithmic == (name == "log")
        picture.paste(BLUE if chosen else "#e9ebef", (x - 28, y - 12), rounded((56, 24), 6))
        draw.text((x, y), name, "white" if chosen else INK, font("Sans", 12), anchor="mm")

    def height_of(share):
        fraction = (np.log10(max(share, 0.03)) - np.log10(0.03)) / 3.5 if logarithmic else share / 40
        return bottom - round(float(np.clip(fraction, 0, 1)) * (bottom - top))

    for share in (0.1, 1, 10) if logarithmic else (0, 10, 20, 30, 40):
        draw.line((left, height_of(share), right, height_of(share)), fill=GRID)
        draw.text((left - 8, height_of(share)), f"{share:g}", FAINT, font("Sans", 12), anchor="rm")
    draw.line((left, bottom, right, bottom), fill="#9aa1ad")
    pitch = (right - left) / slots
    for second in range(0, slots // 2 + 1, 2):
        draw.text((left + 2 * second * pitch, bottom + 14), f"{second} s", FAINT, font("Sans", 12), anchor="mm")
    for i, share in enumerate(shares):
        x = left + i * pitch
        colour = ACCENT if i == len(shares) - 1 else BLUE
        draw.rectangle((round(x) + 2, height_of(share), round(x + pitch) - 2, bottom - 1), fill=colour)


def draw_notes(picture, draw, typed, caret):
    face = font("Sans", 20)
    draw.text((26, TITLE + 18), NOTES_TITLE, INK, font("Sans-Bold", 23))
    draw.line((26, TITLE + 56, picture.width - 26, TITLE + 56), fill=GRID)
    lines = NOTES_TYPED[:typed].split("\n")
    y = TITLE + 72
    for line in lines:
        draw.text((26, y), line, INK, face)
        y += 32
    if caret:
        x = 27 + round(face.getlength(lines[-1]))
        draw.rectangle((x, y - 32, x + 1, y - 9), fill=ACCENT)


def draw_dial(frame, seconds):
    """The clock on the wallpaper: `seconds` since midnight; the hands point where a clock's do."""
    size, middle = 2 * DIAL_RADIUS, DIAL_RADIUS

    def hand(angle, begin, end, width):
        x, y = np.sin(angle), -np.cos(angle)
        return smooth((size, size), lambda draw, s: draw.line(
            [(s * (middle + r * x), s * (middle + r * y)) for r in (begin, end)], fill=255, width=round(width * s)))

    at = (CLOCK[0] - middle, CLOCK[1] - middle)
    frame.paste("#f4f5f7", at, disc(middle))
    for hour in range(12):
        frame.paste(INK, at, hand(hour * np.pi / 6, middle - (16 if hour % 3 == 0 else 11), middle - 6, 3))
    frame.paste(INK, at, hand(seconds / 43200 * 2 * np.pi, -10, middle * 0.5, 6))
    frame.paste(INK, at, hand(seconds / 3600 * 2 * np.pi, -10, middle * 0.76, 4))
    frame.paste(ACCENT, at, hand(seconds / 60 * 2 * np.pi, -16, middle * 0.82, 2))
    frame.paste(ACCENT, (CLOCK[0] - 5, CLOCK[1] - 5), disc(5))


def pointer_mask(points):
    return smooth((24, 30), lambda draw, s: draw.polygon([(x * s, y * s) for x, y in points], fill=255))


ARROW = [(2, 2), (2, 22), (6.6, 17.8), (9.6, 25), (13, 23.6), (10, 16.6), (16.2, 16.4)]
ARROW_OUTER = [(0.4, -1), (0.4, 25.4), (6, 20.4), (8.9, 27.2), (15.2, 24.5), (12.3, 18), (20, 17.6)]


class Desktop:
    def __init__(self, slots):
        self.slots = slots
        self.wallpaper = wallpaper()
        light = {"background": PAPER, "bar": "#e6e8ec", "ink": "#4a505c"}
        self.reader = Window(READER, "why-an-eye-moves.txt", **light)
        self.code = Window(CODE, "feed.py", background="#20242d", bar="#2c313c", ink="#aab2bf")
        self.chart = Window(CHART, "monitor", **light)
        self.notes = Window(NOTES, "notes", **light)
        self.arrow, self.arrow_outer = pointer_mask(ARROW), pointer_mask(ARROW_OUTER)

    def compose(self, *, seconds, scrolled, shares, logarithmic, typed, caret, pointer, click):
        """One frame, RGB. `seconds` since midnight; `scrolled` pixels of the page are above its window; for `shares`
        see draw_chart; `typed` letters stand in the notes; `pointer` is its tip in pixels; `click` goes from 0 to 1
        while the ring of a click grows, and is None otherwise."""
        frame = self.wallpaper.copy()
        draw = ImageDraw.Draw(frame)
        draw.rectangle((0, 0, WIDTH, BAR - 1), fill="#161b28")
        draw.text((20, BAR // 2), "desktop", "#e8ebf0", font("Sans-Bold", 13), anchor="lm")
        draw.text((112, BAR // 2), "file    edit    view    help", "#b9c0cc", font("Sans", 13), anchor="lm")
        clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        draw.text((WIDTH - 20, BAR // 2), clock, "#e8ebf0", font("Sans-Bold", 13), anchor="rm")
        draw_dial(frame, seconds)
        self.reader.paste(frame, (scrolled,), draw_reader)
        self.code.paste(frame, (), draw_code)
        self.chart.paste(frame, (shares, logarithmic, self.slots), draw_chart)
        self.notes.paste(frame, (typed, caret), draw_notes)
        x, y = pointer
        if click is not None:
            radius = 6 + 14 * click
            ring = smooth((44, 44), lambda d, s: d.ellipse(
                [(22 - radius) * s, (22 - radius) * s, (22 + radius) * s, (22 + radius) * s], outline=255, width=3 * s))
            frame.paste(ACCENT, (x - 22, y - 22), ring.point(lambda value: int(value * (1 - click))))
        frame.paste("white", (x - 2, y - 2), self.arrow_outer)
        frame.paste("black", (x - 2, y - 2), self.arrow)
        return frame
