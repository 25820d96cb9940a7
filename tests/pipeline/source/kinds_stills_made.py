"""Stills whose bytes are written here: EXIF in each format that has it, TIFF, and AVIF with its items and properties."""
import struct
import zlib

import numpy as np

from kinds import ffmpeg, picture
from kinds_made import STORED_FOR, box, pixels, with_exif

QUARTERS = {5: lambda image: image.swapaxes(0, 1), 6: lambda image: np.rot90(image, 1),
            7: lambda image: np.rot90(image, 2).swapaxes(0, 1), 8: lambda image: np.rot90(image, -1)}
AS_STORED = {1: lambda image: image, 2: lambda image: image[:, ::-1], 3: lambda image: image[::-1, ::-1],
             4: lambda image: image[::-1]} | QUARTERS


def exif(orientation, order=">", kind=3, before=(), wide=False):
    """A TIFF directory with tag 274 of type 3 (SHORT) or 4 (LONG), and entries (tag, type, count, value) before it."""
    entries = [*before, (274, kind, 1, orientation)]
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + ("HHHQ" if wide else "HI"), *((43, 8, 0, 16) if wide else (42, 8)))
    body = struct.pack(order + ("Q" if wide else "H"), len(entries))
    for tag, type_, count, value in entries:
        field = struct.pack(order + ("H" if type_ == 3 else "I"), value).ljust(8 if wide else 4, b"\0")
        body += struct.pack(order + ("HHQ" if wide else "HHI"), tag, type_, count) + field
    return head + body + bytes(8 if wide else 4)


def jpeg_with(data, content):
    return with_exif(data, 1)[:2] + struct.pack(">BBH", 0xff, 0xe1, len(content) + 8) + b"Exif\0\0" + content + data[2:]


def png_with(data, content, where=b"IDAT"):
    """eXIf before the first chunk of this name: IEND puts it after the pixels."""
    at = data.index(where) - 4
    chunk = b"eXIf" + content
    return data[:at] + struct.pack(">I", len(content)) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[at:]


def webp_with(data, content, flag=8):
    """The picture of a simple or extended WebP with an EXIF chunk; flag 0: VP8X does not announce it."""
    chunks = data[12:]
    if not chunks.startswith(b"VP8X"):
        if chunks.startswith(b"VP8L"):
            bits, = struct.unpack("<I", chunks[9:13])
            width, height = bits & 0x3fff, bits >> 14 & 0x3fff
        else:
            width, height = (side - 1 for side in struct.unpack("<HH", chunks[14:18]))
        chunks = b"VP8X" + struct.pack("<II", 10, 0) + struct.pack("<I", width)[:3] + struct.pack("<I", height)[:3] + chunks
    chunks = chunks[:8] + bytes([chunks[8] | flag]) + chunks[9:]
    chunks += b"EXIF" + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def marked(mark, orientation, *encoder, chain="null", width=65, height=49, content=None):
    """A `make` of a picture that is stored by this orientation, and says so by `mark(data, content)`."""
    def make(path):
        ffmpeg("-f", "lavfi", "-i", f"{picture(width, height, 1)},{chain},{STORED_FOR[orientation]}", "-frames:v", 1, *encoder, path)
        path.write_bytes(mark(path.read_bytes(), exif(orientation) if content is None else content))
    return make


def numbered(mark, suffix, *encoder):
    """A `make` of s000 ... s007: stored by the orientations 1 to 8, all the same when seen upright, numbered in the middle."""
    def make(path):
        for number in range(8):
            target = path.with_name(f"s{number:03d}{suffix}")
            ffmpeg("-f", "lavfi", "-i", f"{picture()},select=eq(n\\,{number}),{STORED_FOR[number + 1]}", "-frames:v", 1, *encoder, target)
            target.write_bytes(mark(target.read_bytes(), exif(number + 1, "<>"[number % 2])))
    return make


def tiff(images, orientation=1, order="<", kinds=None, loop=False):
    """Uncompressed pages of u8 or u16 RGB, each stored by `orientation`. `kinds`: NewSubfileType of each; None: none."""
    out = bytearray((b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 0))
    link = 4
    for number, image in enumerate(images):
        stored = np.ascontiguousarray(AS_STORED[orientation](image))
        height, width = stored.shape[:2]
        bits, data = len(out), len(out) + 6
        out += struct.pack(order + "HHH", *[8 * stored.itemsize] * 3) + stored.astype(stored.dtype.newbyteorder(order)).tobytes()
        out += bytes(len(out) % 2)
        entries = [] if not kinds or kinds[number] is None else [(254, 4, 1, kinds[number])]
        entries += [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, data),
                    (274, 3, 1, orientation), (277, 3, 1, 3), (278, 3, 1, height), (279, 4, 1, stored.nbytes)]
        out[link:link + 4] = struct.pack(order + "I", len(out))
        out += struct.pack(order + "H", len(entries))
        for tag, kind, count, value in entries:
            short = kind == 3 and count == 1
            out += struct.pack(order + "HHI", tag, kind, count) + struct.pack(order + ("H" if short else "I"), value).ljust(4, b"\0")
        link = len(out)
        out += struct.pack(order + "I", 8 if loop else 0)
    if loop:
        out[link:link + 4] = out[4:8]
    return bytes(out)


def full_box(kind, body, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags) + body)


IROT = {90: box(b"irot", b"\1"), 180: box(b"irot", b"\2"), 270: box(b"irot", b"\3")}  # anticlockwise
IMIR = {"top": box(b"imir", b"\0"), "left": box(b"imir", b"\1")}  # what is swapped with the other side
# The same as EXIF's orientations, as libavif writes them.
AS_PROPERTIES = {1: (), 2: (IMIR["left"],), 3: (IROT[180],), 4: (IMIR["top"],), 5: (IROT[90], IMIR["top"]), 6: (IROT[270],),
                 7: (IROT[270], IMIR["top"]), 8: (IROT[90],)}


def coded(path, chain="null", width=65, height=49):
    """AV1 of one picture: its item's payload, its av1C, and its size as stored."""
    plain = path.with_name("plain-" + path.name)
    ffmpeg("-f", "lavfi", "-i", f"{picture(width, height, 1)},{chain},scale=out_color_matrix=bt709:out_range=tv,format=yuv444p",
           "-frames:v", 1, "-c:v", "libaom-av1", "-still-picture", 1, "-crf", 1, "-cpu-used", 8, "-colorspace", "bt709",
           "-color_range", "tv", plain)
    data = plain.read_bytes()
    config = data.index(b"av1C") - 4
    size = data.index(b"ispe") + 8
    payload = data[data.index(b"mdat") + 4:]
    length, = struct.unpack(">I", data[config:config + 4])
    return payload, data[config:config + length], struct.unpack(">II", data[size:size + 8])


def avif(parts, transformations, item=1, wide=False, derived=None):
    """A still AVIF. `transformations`: property boxes, associated in this order. `wide`: the longer forms of the boxes that
    FFmpeg does not read. `derived`: the type of a primary item before the coded one."""
    payload, config, (width, height) = parts
    number = ">I" if wide else ">H"  # of items in iinf and ipma
    properties = [full_box(b"ispe", struct.pack(">II", width, height)), config, *transformations]
    if wide:
        properties.insert(0, box(b"free", bytes(300)))  # not associated
    indices = range(2 if wide else 1, len(properties) + 1)
    flags = 1 if wide else 0
    links = b"".join(struct.pack(">H", 0x8000 | i) if wide else bytes([0x80 | i]) for i in indices)
    types = [b"av01"] if derived is None else [derived, b"av01"]
    infos = b"".join(full_box(b"infe", struct.pack(number, item + i) + b"\0\0" + kind + b"\0", 3 if wide else 2)
                     for i, kind in enumerate(types))

    def meta(offset):
        places = b"".join(struct.pack(">HHHII", item + i, 0, 1, offset, len(payload)) for i in range(len(types)))
        return full_box(b"meta", b"".join([
            full_box(b"hdlr", b"\0\0\0\0pict" + bytes(13)), full_box(b"pitm", struct.pack(">H", item)),
            full_box(b"iloc", struct.pack(">BBH", 0x44, 0, len(types)) + places),
            full_box(b"iinf", struct.pack(number, len(types)) + infos, int(wide)),
            box(b"iprp", box(b"ipco", b"".join(properties)) +
                full_box(b"ipma", struct.pack(">I", 1) + struct.pack(number, item) + bytes([len(indices)]) + links, int(wide), flags))]))
    start = box(b"ftyp", b"avif\0\0\0\0avifmif1miaf")
    offset = len(start) + len(meta(0)) + 8
    return start + meta(offset) + box(b"mdat", payload)


def into_animation(data, added):
    """More boxes in the sample entry of an animated AVIF: what lies behind moves, and the tables of offsets say so."""
    out = bytearray(data)
    at, path = out.index(b"moov") - 4, []
    for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"av01"):
        at = out.index(name, at) - 4
        path.append(at)
        at += 8
    end = path[-1] + struct.unpack(">I", out[path[-1]:path[-1] + 4])[0]
    offsets = out.index(b"stco") + 8
    count, = struct.unpack(">I", out[offsets:offsets + 4])
    for place in [*path, *range(offsets + 4, offsets + 4 + 4 * count, 4)]:
        value, = struct.unpack(">I", out[place:place + 4])
        out[place:place + 4] = struct.pack(">I", value + len(added))
    out[end:end] = added
    return bytes(out)


def image(width=65, height=49, number=0, deep=False):
    shown = pixels(width, height, number)
    return shown.astype(np.uint16) * 257 if deep else shown
