"""Cases of stills that say which way up they are: EXIF in JPEG, PNG and WebP, TIFF's tag, AVIF's properties; pages."""
import functools

import kinds_stills_made as made
from kinds import Case, encode, ffmpeg_version, rotated
from kinds_made import clap
from kinds_mended import written
from kinds_streams import Pattern, rewritten

JPEG = ("-q:v", 1, "-pix_fmt", "yuvj444p")
LOSSLESS = ("-c:v", "libwebp", "-lossless", 1)
LOSSY = ("-c:v", "libwebp", "-lossless", 0, "-q:v", 98)
ONE = {"ids": [0], "size": (65, 49)}
PIXELS = ONE | {"tolerance": 0}
NEAR = ONE | {"tolerance": 8}


def numbered():
    """Eight orientations in both byte orders, each picture by its own."""
    kinds = [(made.jpeg_with, ".jpg", JPEG, 6), (made.png_with, ".png", (), 0), (made.webp_with, ".webp", LOSSLESS, 0),
             (made.webp_with, ".lossy.webp", LOSSY, 12)]
    cases = [Case("stills", f"numbered{suffix}", Pattern(made.numbered(mark, suffix, *encoder), "s%03d" + suffix), tolerance=tolerance)
             for mark, suffix, encoder, tolerance in kinds]

    def tiffs(path):
        for number in range(8):
            page = made.image(64, 48, number)
            path.with_name(f"s{number:03d}.tif").write_bytes(made.tiff([page], number + 1, "<>"[number % 2]))
    return [*cases, Case("stills", "numbered.tif", Pattern(tiffs, "s%03d.tif"), tolerance=0)]


def written_otherwise():
    """Of odd size, rotated, in the forms that readers meet."""
    png, webp = functools.partial(made.marked, made.png_with), functools.partial(made.marked, made.webp_with)
    late = functools.partial(made.marked, lambda data, content: made.png_with(data, content, b"IEND"))
    unannounced = functools.partial(made.marked, lambda data, content: made.webp_with(data, content, flag=0))
    deep = "format=rgb48be"
    veil = "format=rgba,colorchannelmixer=aa=1"
    cases = [
        Case("stills", "6.png", png(6), **PIXELS), Case("stills", "late.png", late(5), **PIXELS),
        Case("stills", "deep.png", png(7, chain=deep), **ONE, says="rgb48be is converted to rgba"),
        Case("stills", "adam7.png", png(8, "-flags", "+ildct"), **PIXELS),
        Case("stills", "prefixed.png", png(6, content=b"Exif\0\0" + made.exif(6)), **PIXELS),
        Case("stills", "prefixed.webp", webp(6, *LOSSLESS, content=b"Exif\0\0" + made.exif(6)), **PIXELS),
        Case("stills", "twice_prefixed.webp", webp(8, *LOSSLESS, content=b"Exif\0\0Exif\0\0" + made.exif(8, "<")), **PIXELS),
        Case("stills", "unannounced.webp", unannounced(6, *LOSSLESS), **PIXELS),
        Case("stills", "odd_length.webp", webp(6, *LOSSLESS, content=made.exif(6) + b"\0"), **PIXELS),
        Case("stills", "alpha.webp", webp(5, *LOSSLESS, chain=veil), **PIXELS, says="over black"),
        Case("stills", "long.jpg", made.marked(made.jpeg_with, 6, *JPEG, content=made.exif(6, kind=4)), **NEAR),
        Case("stills", "wide.png", png(6, content=made.exif(6, "<", wide=True)), **PIXELS),
        Case("stills", "filtered.png", png(6), **PIXELS, options=("--vf", "hflip,hflip")),
    ]
    for order in "<>":
        cases += [Case("stills", f"{name}.tif", written(made.tiff([made.image(deep=deep)], 6, order)), **ONE, tolerance=0)
                  for name, deep in ((f"eight{'le' if order == '<' else 'be'}", False), (f"sixteen{'le' if order == '<' else 'be'}", True))]
    # Another tag that makes no sense is no reason to forget this one: FFmpeg 5.1 does.
    odd_tags = [(271, 2, 1 << 20, 1 << 30), (0x9999, 200, 7, 7), (0x8769, 4, 1, 1 << 31)]
    return cases + [Case("stills", "odd_tags.jpg", made.marked(made.jpeg_with, 6, *JPEG, content=made.exif(6, before=odd_tags)), **NEAR),
                    Case("stills", "odd_tags.webp", webp(6, *LOSSLESS, content=made.exif(6, before=odd_tags)), **PIXELS)]


def animated():
    """One orientation for all frames of an APNG."""
    def make(path):
        encode("-f", "apng", chain="transpose=2")(path)
        path.write_bytes(made.png_with(path.read_bytes(), made.exif(6), b"fcTL"))
    return [Case("stills", "every.png", make, tolerance=0)]


def damaged():
    """A picture is whole without its EXIF."""
    whole = made.exif(6)
    contents = {"cut": whole[:15], "empty": whole[:4], "magic": b"XX" + whole[2:], "far": whole[:4] + b"\x7f\xff\xff\xff" + whole[8:],
                "full": whole[:8] + b"\xff\xff" + bytes(100), "nine": made.exif(9), "zero": made.exif(0),
                "negative": whole[:4] + b"\xff\xff\xff\xff" + whole[8:]}
    kinds = [(made.jpeg_with, "jpg", JPEG, NEAR), (made.png_with, "png", (), PIXELS), (made.webp_with, "webp", LOSSLESS, PIXELS)]
    return [Case("damaged EXIF", f"{name}.{suffix}", made.marked(mark, 1, *encoder, content=content), **expected)
            for name, content in contents.items() for mark, suffix, encoder, expected in kinds]


def avif_file(*transformations, orientation=None, chain="null", **form):
    def make(path):
        stored = made.STORED_FOR[orientation] if orientation else "null"
        path.write_bytes(made.avif(made.coded(path, f"{chain},{stored}"), transformations or made.AS_PROPERTIES[orientation], **form))
    return make


def avifs():
    upright = {"ids": [0], "tolerance": 5}
    cases = [Case("avif", f"{n}.avif", avif_file(orientation=n), size=(65, 49), **upright) for n in range(1, 9)]
    # A quarter anticlockwise after the mirror is EXIF's 7; before it, 5.
    mirror_first = made.IMIR["top"], made.IROT[90]
    middle = clap((65, 1), (49, 1), (-2, 2), (-4, 2))  # of 72x60: 3 left, 4 right, 3 or 4 above
    cases += [
        Case("avif", "mirror_first.avif", avif_file(*mirror_first, orientation=7), size=(65, 49), **upright),
        Case("avif", "mirrors.avif", avif_file(made.IMIR["top"], made.IMIR["left"], orientation=3), size=(65, 49), **upright),
        Case("avif", "item7.avif", avif_file(orientation=6, item=7), size=(65, 49), **upright),
        Case("avif", "wide.avif", avif_file(orientation=8, item=300, wide=True), size=(65, 49), **upright),
        Case("avif", "none.avif", avif_file(orientation=1), size=(65, 49), **upright),
        Case("avif", "clap.avif", avif_file(middle, chain="pad=72:60:3:3:white"), size=(65, 49), says="container's tags", **upright),
        Case("avif", "clap_rotated.avif", avif_file(clap((49, 1), (65, 1), (-4, 2), (2, 2)), made.IROT[270], chain="pad=72:60:3:3:white,transpose=2"),
             size=(65, 49), says="container's tags", **upright),
        Case("avif", "clap_after.avif", avif_file(made.IROT[270], middle, chain="pad=72:60:3:3:white,transpose=2"), size=(65, 49),
             says="container's tags", **upright),
        Case("avif", "clap_no.avif", avif_file(middle, chain="pad=72:60:3:3:white"), ids=[None], size=(72, 60), corners={},
             options=("--set", "crop-tags=no")),
    ]
    cases += [Case("avif", f"{kind}.avif", avif_file(orientation=1, derived=kind.encode()), exit=65, says=f"'{kind}' of other pictures")
              for kind in ("grid", "iovl", "iden")]
    moving = encode("-c:v", "libaom-av1", "-crf", 4, "-cpu-used", 8, "-colorspace", "bt709", "-color_range", "tv",
                    chain="scale=out_color_matrix=bt709:out_range=tv,format=yuv444p")
    quarter = rotated("BL", "TL", "BR", "TR")
    three = rotated("BR", "TR", "BL", "TL")
    return cases + [
        Case("avif", "moving.avif", rewritten(moving, lambda data: made.into_animation(data, made.IROT[270])), size=(48, 64),
             corners=quarter, tolerance=8),
        Case("avif", "moving_both.avif", rewritten(moving, lambda data: made.into_animation(data, made.IROT[270] + made.IMIR["left"])),
             size=(48, 64), corners=rotated("TL", "BL", "TR", "BR"), tolerance=8),
        Case("avif", "moving_mirrored.avif", rewritten(moving, lambda data: made.into_animation(data, made.IMIR["left"] + made.IROT[270])),
             size=(48, 64), corners=three, tolerance=8)]


class Elsewhere:
    """A `make` of nothing: the program is given this name."""

    def __init__(self, name):
        self.name = name

    def __call__(self, path):
        pass

    def input(self, _):
        return self.name


def unsought(name, **more):
    """An AVIF from where nothing can be read twice: FFmpeg passes on its properties from 8 on."""
    if ffmpeg_version("libavformat") >= (62, 0):
        return Case("avif", name, avif_file(orientation=6), ids=[0], size=(65, 49), tolerance=5, **more)
    return Case("avif", name, avif_file(orientation=6), ids=[None], size=(49, 65), corners={}, says="orientation can't be read", **more)


def through_pipe():
    return unsought("piped.avif", stdin=True)


def through_http(ranges):
    if not ranges:
        return unsought("without_ranges.avif")
    return Case("avif", "ranges.avif", avif_file(orientation=7), ids=[0], size=(65, 49), tolerance=5)


def pages():
    """The first page is read; others are counted, but for smaller copies and masks."""
    page = made.image
    several = {"ids": [0], "size": (64, 48), "tolerance": 0, "exit": 3}
    whole = several | {"exit": 0}
    smaller = page(32, 24)

    def sequence(path):
        for number in range(8):
            first = page(64, 48, number)
            path.with_name(f"s{number:03d}.tif").write_bytes(made.tiff([first, first] if number == 3 else [first]))
    return [
        Case("pages", "five.tif", written(made.tiff([page(64, 48, n) for n in range(5)])), says="the first of 5 pages", **several),
        Case("pages", "two.tif", written(made.tiff([page(64, 48), page(20, 70)], 1, ">")), says="the first of 2 pages", **several),
        Case("pages", "loop.tif", written(made.tiff([page(64, 48), smaller], loop=True)), says="the first of 2 pages", **several),
        Case("pages", "overviews.tif", written(made.tiff([page(64, 48), smaller, smaller], kinds=[0, 1, 4])), **whole),
        Case("pages", "both.tif", written(made.tiff([page(64, 48), smaller, page(64, 48)], kinds=[None, 1, 2])), says="the first of 2 pages",
             **several),
        Case("pages", "sequence.tif", Pattern(sequence, "s%03d.tif"), tolerance=0, exit=3, says="the first of 2 pages"),
    ]


def cases():
    return numbered() + written_otherwise() + animated() + damaged() + avifs() + pages()
