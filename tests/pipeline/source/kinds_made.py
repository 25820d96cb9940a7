"""Files whose bytes are written here, since no encoder makes them: headers that say what pixels mean, and containers."""
import struct

import numpy as np

from kinds import CORNERS, ffmpeg, picture


def pixels(width=64, height=48, number=0, corners=None):
    """The test picture as [height, width, 3] u8: four corners, and the grey block that tells which frame it is."""
    corners = corners or CORNERS
    y, x = np.arange(height)[:, None], np.arange(width)[None, :]
    image = np.zeros((height, width, 3), np.uint8)
    for place, rgb in corners.items():
        image[((y < height / 2) == (place[0] == "T")) & ((x < width / 2) == (place[1] == "L"))] = rgb
    image[(abs(x + 0.5 - width / 2) < width / 8) & (abs(y + 0.5 - height / 2) < height / 8)] = 30 + 25 * number
    return image


def tga(image, fourth, attributes, mapped=False, packed=False):
    """Truevision TGA of 32 bits, from the top: true colour, run-length packed, or with a colour map of 32 bits."""
    height, width = image.shape[:2]
    bgra = np.dstack([image[..., ::-1], np.full((height, width), fourth, np.uint8)])
    kind = 1 if mapped else 10 if packed else 2
    header = struct.pack("<BBBHHBHHHHBB", 0, int(mapped), kind, 0, 256 if mapped else 0, 32 if mapped else 0, 0, 0, width,
                         height, 8 if mapped else 32, 0x20 | attributes)
    if packed:
        return header + b"".join(b"\x80" + pixel.tobytes() for pixel in bgra.reshape(-1, 4))
    if not mapped:
        return header + bgra.tobytes()
    colours, index = np.unique(bgra.reshape(-1, 4), axis=0, return_inverse=True)
    table = np.zeros((256, 4), np.uint8)
    table[:len(colours)] = colours
    return header + table.tobytes() + index.astype(np.uint8).tobytes()


def bmp(image, fourth, header_size=40, masks=b""):
    """BI_RGB of 32 bits, from the bottom; with masks: BI_BITFIELDS, whose fourth mask makes it alpha."""
    height, width = image.shape[:2]
    bgra = np.dstack([image[..., ::-1], np.full((height, width), fourth, np.uint8)])[::-1]
    info = struct.pack("<IiiHHIIiiII", header_size, width, height, 1, 32, 3 if masks else 0, bgra.size, 0, 0, 0, 0) + masks
    info += bytes(header_size - len(info))
    start = 14 + len(info)
    return struct.pack("<2sIHHI", b"BM", start + bgra.size, 0, 0, start) + info + bgra.tobytes()


ALPHA_MASKS = struct.pack("<4I", 0xff0000, 0xff00, 0xff, 0xff000000)


class Bits:
    def __init__(self):
        self.bits = []

    def put(self, value, count):
        self.bits += [value >> i & 1 for i in range(count - 1, -1, -1)]

    def stuffed(self):
        bits = self.bits + [1] * (-len(self.bits) % 8)
        data = np.packbits(np.array(bits, np.uint8)).tobytes()
        return data.replace(b"\xff", b"\xff\x00")


def flat_jpeg(planes, sampling=None, extra=b""):
    """A baseline JPEG (ITU-T T.81) whose 8x8 blocks are flat: `planes` are samples [rows, columns], one a block. All
    quantisers are 1, so block values are exact. `sampling`: blocks across and down of each component in a unit."""
    sampling = sampling or [(1, 1)] * len(planes)
    most = max(h for h, _ in sampling), max(v for _, v in sampling)
    units = planes[0].shape[1] // sampling[0][0], planes[0].shape[0] // sampling[0][1]
    width, height = 8 * units[0] * most[0], 8 * units[1] * most[1]

    def segment(marker, body):
        return struct.pack(">BBH", 0xff, marker, len(body) + 2) + body
    lengths = [0, 1, 5, 1, 1, 1, 1, 1, 1]  # the luminance DC table of annex K
    dc = bytes(lengths + [0] * 7) + bytes(range(12))
    codes, code = {}, 0
    for bits, count in enumerate(lengths, 1):
        for _ in range(count):
            codes[len(codes)] = (code, bits)
            code += 1
        code <<= 1
    frame = struct.pack(">BHHB", 8, height, width, len(planes))
    frame += b"".join(bytes([i + 1, h << 4 | v, 0]) for i, (h, v) in enumerate(sampling))
    scan = bytes([len(planes)]) + b"".join(bytes([i + 1, 0]) for i in range(len(planes))) + bytes([0, 63, 0])
    out = Bits()
    before = [0] * len(planes)
    for row in range(units[1]):
        for column in range(units[0]):
            for i, (h, v) in enumerate(sampling):
                for block in range(h * v):
                    level = 8 * (int(planes[i][row * v + block // h, column * h + block % h]) - 128)
                    change, before[i] = level - before[i], level
                    size = abs(change).bit_length()
                    out.put(*codes[size])
                    out.put(change if change > 0 else change + (1 << size) - 1, size)
                    out.put(0, 1)  # end of block, the only code of the AC table
    tables = segment(0xdb, b"\0" + b"\1" * 64) + segment(0xc4, b"\0" + dc) + segment(0xc4, b"\x10" + bytes([1] + [0] * 15) + b"\0")
    return b"\xff\xd8" + extra + tables + segment(0xc0, frame) + segment(0xda, scan) + out.stuffed() + b"\xff\xd9"


ADOBE = b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"


def cmyk_planes(inverted=False):
    """The test picture in 8x8 blocks of 64x48, its black half of what is missing."""
    rgb = pixels()[4::8, 4::8].astype(float)
    black = (255 - rgb.max(axis=2)) / 2
    cmy = 255 - rgb * 255 / (255 - black[..., None])
    planes = [np.round(cmy[..., i]) for i in range(3)] + [np.round(black)]
    return [255 - plane for plane in planes] if inverted else planes


def with_exif(jpeg, orientation):
    """A JPEG with EXIF's tag 274; None: as it was."""
    if orientation is None:
        return jpeg
    tiff = b"MM\0\x2a" + struct.pack(">IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)
    body = b"Exif\0\0" + tiff
    return jpeg[:2] + struct.pack(">BBH", 0xff, 0xe1, len(body) + 2) + body + jpeg[2:]


STORED_FOR = {None: "null", 1: "null", 2: "hflip", 3: "hflip,vflip", 4: "vflip", 5: "transpose=0", 6: "transpose=2",
              7: "transpose=3", 8: "transpose=1"}  # what is seen upright, as it is stored under each orientation


def exif_pictures(orientations):
    """A `make` of s000.jpg ...: each stored by its own orientation, all the same when seen upright, numbered in the middle."""
    def make(path):
        for number, orientation in enumerate(orientations):
            target = path.with_name(f"s{number:03d}.jpg")
            ffmpeg("-f", "lavfi", "-i", f"{picture()},select=eq(n\\,{number}),{STORED_FOR[orientation]}", "-frames:v", 1, "-q:v", 1,
                   "-pix_fmt", "yuvj444p", target)
            target.write_bytes(with_exif(target.read_bytes(), orientation))
    return make


def box(kind, body):
    return struct.pack(">I4s", len(body) + 8, kind) + body


def into_sample_entry(mp4, kind, added, entry=None):
    """A box more in the only sample entry of a file whose moov comes last: all boxes around it grow, no offset moves."""
    data = bytearray(mp4)
    at, path = data.rindex(b"moov") - 4, []
    for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", kind):
        at = data.index(name, at) - 4
        path.append(at)
        at += 8
    end = path[-1] + struct.unpack(">I", data[path[-1]:path[-1] + 4])[0]
    for place in path:
        size, = struct.unpack(">I", data[place:place + 4])
        data[place:place + 4] = struct.pack(">I", size + len(added))
    if entry:
        data[path[-1] + 4:path[-1] + 8] = entry
    return bytes(data[:end]) + added + bytes(data[end:])


def clap(width, height, right=(0, 1), down=(0, 1)):
    return box(b"clap", struct.pack(">IIIIiIiI", *width, *height, *right, *down))


def ebml(element, *parts):
    """An element: its id in hex, and bytes, a number, or elements."""
    body = b"".join(part if isinstance(part, bytes) else part.to_bytes(max(1, (part.bit_length() + 7) // 8), "big") for part in parts)
    return bytes.fromhex(element) + struct.pack(">Q", 1 << 56 | len(body)) + body


def matroska(frames, width, height, video=b"", step_ms=40):
    """JPEGs as a Matroska file; `video`: more of the track's Video element."""
    head = ebml("1a45dfa3", ebml("4282", b"matroska"), ebml("4287", 4), ebml("4285", 2))
    info = ebml("1549a966", ebml("2ad7b1", 1000000))
    track = ebml("ae", ebml("d7", 1), ebml("73c5", 1), ebml("83", 1), ebml("86", b"V_MJPEG"),
                 ebml("e0", ebml("b0", width), ebml("ba", height), video))
    blocks = b"".join(ebml("a3", b"\x81" + struct.pack(">hB", round(i * step_ms), 0x80) + frame) for i, frame in enumerate(frames))
    return head + ebml("18538067", info, ebml("1654ae6b", track), ebml("1f43b675", ebml("e7", 0), blocks))


def limited_in_matroska(data):
    """The only track's Range, from full to limited."""
    full, limited = bytes.fromhex("55b98102"), bytes.fromhex("55b98101")
    if data.count(full) != 1:
        raise ValueError("not one Range that says full")
    return data.replace(full, limited)


def ivf_frames(data):
    at = 32
    while at < len(data):
        size, = struct.unpack("<I", data[at:at + 4])
        yield data[at + 12:at + 12 + size]
        at += 12 + size


def superframes(path, *sizes, frames=8):
    """VP9 whose packets hold the picture in each size, all of them shown and none referring to another: as scalable VP9."""
    layers = []
    for number, (width, height) in enumerate(sizes):
        part = path.with_name(f"layer{number}.ivf")
        ffmpeg("-f", "lavfi", "-i", f"{picture(width, height, frames)},zscale=m=709:r=tv,format=yuv420p", "-c:v", "libvpx-vp9", "-g", 1,
               "-lag-in-frames", 0, "-auto-alt-ref", 0, "-crf", 4, "-b:v", 0, "-colorspace", "bt709", "-color_range", "tv", part)
        layers.append(list(ivf_frames(part.read_bytes())))
    out = struct.pack("<4sHH4sHHIIII", b"DKIF", 0, 32, b"VP90", *sizes[-1], 25, 1, frames, 0)
    for number, parts in enumerate(zip(*layers)):
        marker = bytes([0xc0 | 3 << 3 | len(parts) - 1])
        packet = b"".join(parts) + marker + b"".join(struct.pack("<I", len(part)) for part in parts) + marker
        out += struct.pack("<IQ", len(packet), number) + packet
    path.write_bytes(out)
