"""Cases in which what FFmpeg decodes is not yet the picture: headers, tags and layers that have to be heeded."""
import numpy as np

import kinds_made as made
from kinds import CORNERS, Case, encode, ffmpeg, h264, picture, rotated, tags, yuv
from kinds_streams import Pattern, glued, rewritten

HALF = {place: tuple(value * 128 / 255 for value in rgb) for place, rgb in CORNERS.items()}
ONE = {"ids": [0], "tolerance": 1}
VEILED = {"ids": [None], "tolerance": 1, "corners": HALF, "says": "over black"}


def written(data):
    return lambda path: path.write_bytes(data)


def orientations():
    """EXIF holds for its own picture."""
    every = [None, 3, None, 6, 1, 8, 2, 5]

    def motion(target):
        def make(path):
            made.exif_pictures(every[:3] + [4] + [None] * 4)(path)
            ffmpeg("-framerate", 25, "-i", path.with_name("s%03d.jpg"), "-c", "copy", "-f", target, path)
        return make
    return [Case("exif", "sequence.jpg", Pattern(made.exif_pictures(every), "s%03d.jpg"), tolerance=6),
            Case("exif", "first.jpg", Pattern(made.exif_pictures([6] + [None] * 7), "s%03d.jpg"), size=(64, 48), tolerance=6),
            Case("exif", "mirrored.jpg", Pattern(made.exif_pictures([7, None, 4, None, 3, 3, None, 1]), "s*.jpg"), tolerance=6),
            Case("exif", "motion.avi", motion("avi"), tolerance=6), Case("exif", "motion.mkv", motion("matroska"), tolerance=6)]


def alphas():
    """Four bytes a pixel, the fourth unused: and twins whose header says that it is alpha."""
    image = made.pixels()
    clear = "format=bgra,lutrgb=a=0"
    raw = ["-c:v", "rawvideo"]
    return [
        Case("opaque", "dib.avi", encode(*raw, chain=clear), tolerance=0),
        Case("opaque", "dib.mkv", encode(*raw, "-allow_raw_vfw", 1, chain=clear), tolerance=0),
        Case("opaque", "dib_filtered.avi", encode(*raw, chain=clear), tolerance=0, options=("--vf", "hflip,hflip")),
        Case("opaque", "true.tga", written(made.tga(image, 0, 0)), **ONE),
        Case("opaque", "half.tga", written(made.tga(image, 128, 0)), **ONE),
        Case("opaque", "packed.tga", written(made.tga(image, 0, 0, packed=True)), **ONE),
        Case("opaque", "mapped.tga", written(made.tga(image, 0, 0, mapped=True)), **ONE),
        Case("opaque", "alpha.tga", written(made.tga(image, 128, 8)), **VEILED),
        Case("opaque", "half.bmp", written(made.bmp(image, 128)), **ONE),
        Case("opaque", "v5.bmp", written(made.bmp(image, 128, 124)), **ONE),
        Case("opaque", "masks.bmp", written(made.bmp(image, 128, 108, made.ALPHA_MASKS)), **VEILED),
        Case("opaque", "alpha.mov", encode(*raw, chain="format=argb,lutrgb=a=128"), [None] * 8, corners=HALF, tolerance=1,
             says="over black"),
    ]


def cmyk():
    planes = made.cmyk_planes()
    coarse = [plane if i % 3 == 0 else plane[::2, ::2] for i, plane in enumerate(planes)]
    quarter = {place: CORNERS[place] for place in CORNERS}
    return [Case("cmyk", "plain.jpg", written(made.flat_jpeg(planes)), [0], tolerance=3, says="CMYK"),
            Case("cmyk", "filtered.jpg", written(made.flat_jpeg(planes)), [0], tolerance=3, options=("--vf", "vflip,vflip")),
            Case("cmyk", "rotated.jpg", written(made.with_exif(made.flat_jpeg(planes), 3)), [0], tolerance=3,
                 corners=rotated("BR", "BL", "TR", "TL")),
            Case("cmyk", "coarse.jpg", written(made.flat_jpeg(coarse, [(2, 2), (1, 1), (1, 1), (2, 2)])), [None], tolerance=9,
                 corners=quarter, says="CMYK"),
            Case("cmyk", "adobe.jpg", written(made.flat_jpeg(made.cmyk_planes(True), extra=made.ADOBE)), [0], tolerance=3)]


def limited_rgb():
    squeeze = "lutrgb=" + ":".join(f"{c}='16+val*219/255+0.5'" for c in "rgb")
    deep = "format=gbrp10le,lutrgb=" + ":".join(f"{c}='64+val*876/1023+0.5'" for c in "rgb")

    def tagged(chain):
        """FFV1 in Matroska. From FFmpeg 7 on the program tags all RGB as full, so the tag is set in the file."""
        full = encode("-c:v", "ffv1", "-color_range", "pc", "-write_crc32", 0, chain=chain)
        return rewritten(full, made.limited_in_matroska)
    return [
        Case("rgb", "limited.mkv", tagged(squeeze), tolerance=2, says="RGB is tagged limited"),
        Case("rgb", "limited10.mkv", tagged(deep), tolerance=2, says="RGB is tagged limited"),
        Case("rgb", "limited.mp4", encode("-c:v", "libx264rgb", "-qp", 0, "-bsf:v", "h264_metadata=video_full_range_flag=0",
                                          chain=squeeze + ",format=rgb24"), tolerance=2, says="RGB is tagged limited"),
        Case("rgb", "limited_filtered.mkv", tagged(squeeze), tolerance=2, options=("--vf", "hflip,hflip")),
        Case("rgb", "full.mp4", encode("-c:v", "libx264rgb", "-qp", 0, chain="format=rgb24"), tolerance=2)]


def fields():
    """x265's field coding: each picture is a field, which its SEI says; 8 pictures of 64x48."""
    def coded(order, container):
        return lambda path: ffmpeg("-f", "lavfi", "-i", f"{picture()},{yuv()}", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                                   f"interlace={order}:qp=4:log-level=none", *tags(), "-f", container, path)
    told = {"says": "each picture is one field", "tolerance": 6}
    return [Case("fields", "top.hevc", coded("tff", "hevc"), **told), Case("fields", "bottom.mp4", coded("bff", "mp4"), **told),
            Case("fields", "kept.mkv", coded("tff", "matroska"), options=("--deinterlace", "no"), **told),
            Case("fields", "asked.ts", coded("tff", "mpegts"), options=("--deinterlace", "yes"), times=None, **told),
            Case("fields", "woven.hevc", coded("tff", "hevc"), None, size=(64, 96), corners={},
                 options=("--vf", "weave=first_field=top"), **told)]


def dolby_vision():
    def record(profile, compatibility):
        body = bytes([1, 0, profile << 1, 1 << 3 | 5, compatibility << 4]) + bytes(19)
        return made.box(b"dvcC", body)

    def tagged(*profile):
        hevc = encode("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "qp=4:log-level=none", "-tag:v", "hvc1", *tags(),
                      chain=yuv("709", "yuv420p10le"))
        return rewritten(hevc, lambda data: made.into_sample_entry(data, b"hvc1", record(*profile)))
    return [Case("dolby", "p5.mp4", tagged(5, 0), says="Dolby Vision profile 5"),
            Case("dolby", "p8.mp4", tagged(8, 2))]


def layers():
    return [Case("layers", "two.ivf", lambda path: made.superframes(path, (32, 24), (64, 48)), tolerance=5),
            Case("layers", "three.ivf", lambda path: made.superframes(path, (16, 12), (32, 24), (64, 48)), tolerance=5),
            Case("layers", "two.webm", copied("ivf", lambda path: made.superframes(path, (32, 24), (64, 48))), tolerance=5),
            Case("layers", "one.ivf", lambda path: made.superframes(path, (64, 48)), tolerance=5)]


def copied(suffix, make, *options):
    def copy(path):
        make(path.with_suffix("." + suffix))
        ffmpeg("-i", path.with_suffix("." + suffix), "-c", "copy", *options, path)
    return copy


def crops():
    """A frame around the test picture that tags cut away: 4 left, 6 right, 2 above, 8 below."""
    chain = "pad=74:58:4:2:white"
    wide = h264(chain=chain)
    by_tag = {"says": "container's tags"}
    shown = made.clap((64, 1), (48, 1), (-1, 1), (-3, 1))  # the centre moves by (4 - 6) / 2 and (2 - 8) / 2

    def mp4(tag, make=wide, entry=b"avc1"):
        return rewritten(make, lambda data: made.into_sample_entry(data, entry, tag))

    def jpegs(*video):
        def make(path):
            ffmpeg("-f", "lavfi", "-i", f"{picture()},{chain}", "-q:v", 1, "-pix_fmt", "yuvj444p", path.with_name("c%d.jpg"))
            frames = [path.with_name(f"c{i + 1}.jpg").read_bytes() for i in range(8)]
            path.write_bytes(made.matroska(frames, 74, 58, b"".join(made.ebml(*element) for element in video)))
        return make
    tagged = [("54cc", 4), ("54dd", 6), ("54bb", 2), ("54aa", 8)]
    whole = {"size": (74, 58), "corners": {}}
    odd = h264(chain="pad=74:58:5:3:white")
    quarter = rotated("TR", "BR", "TL", "BL")
    return [
        Case("crop", "clap.mp4", mp4(shown), **by_tag),
        Case("crop", "clap.mov", mp4(shown, h264("-f", "mov", chain=chain)), **by_tag),
        Case("crop", "clap_fractions.mp4", mp4(made.clap((640, 10), (96, 2), (-2, 2), (-6, 2))), **by_tag),
        Case("crop", "clap_odd.mp4", mp4(made.clap((64, 1), (48, 1), (0, 1), (-2, 1)), odd), **by_tag),
        Case("crop", "clap_rotated.mp4", rotated_clap(90, shown), size=(48, 64), corners=quarter, **by_tag),
        Case("crop", "clap_rgb.mov", mp4(shown, encode("-c:v", "png", chain=chain), b"png "), tolerance=0, **by_tag),
        Case("crop", "clap_nonsense.mp4", mp4(made.clap((640, 1), (48, 1))), ids=[None] * 8, ffmpeg_may_refuse=True, **whole),
        Case("crop", "clap_no.mp4", mp4(shown), ids=[None] * 8, options=("--set", "crop-tags=no"), **whole),
        Case("crop", "pixel.mkv", jpegs(*tagged), tolerance=6, **by_tag),
        Case("crop", "pixel_display.mkv", jpegs(*tagged, ("54b0", 64), ("54ba", 48)), tolerance=6, **by_tag),
        Case("crop", "pixel_wide.mkv", jpegs(*tagged, ("54b0", 4), ("54ba", 3), ("54b2", 3)), tolerance=6, **by_tag),
        Case("crop", "pixel_sar.mkv", jpegs(*tagged, ("54b0", 128), ("54ba", 48)), tolerance=6, sar=2.0, **by_tag),
        Case("crop", "pixel_no.mkv", jpegs(*tagged), ids=[None] * 8, options=("--set", "crop-tags=no"), **whole),
        Case("crop", "pixel_all.mkv", jpegs(("54cc", 40), ("54dd", 40)), ids=[None] * 8, ffmpeg_may_refuse=True, **whole),
    ]


def rotated_clap(degrees, tag):
    from program import rotate_container

    def make(path):
        plain = path.with_name("plain.mp4")
        h264(chain="pad=74:58:4:2:white")(plain)
        rotate_container(plain, path, degrees)
        path.write_bytes(made.into_sample_entry(path.read_bytes(), b"avc1", tag))
    return make


def transport():
    """What stands before and after a transport stream is no damage; a stream goes on when its packet id changes."""
    junk = np.random.default_rng(5).integers(0, 256, 777, np.uint8).tobytes().replace(b"\x47", b"\x48")
    plain = h264()
    both = list(range(8)) * 2

    def part(pid, version, *more):
        return h264("-mpegts_start_pid", pid, "-tables_version", version, "-output_ts_offset", 0.32 * version, *more)

    def hevc(pid, version):
        return encode("-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "qp=4:bframes=0:log-level=none", *tags(), *lengths,
                      "-mpegts_start_pid", pid, "-tables_version", version, "-output_ts_offset", 0.32 * version, chain=yuv())
    lengths = ["-omit_video_pes_length", 0]  # else a picture ends where the next one of its packet id begins
    m2ts = h264("-f", "mpegts", "-mpegts_m2ts_mode", 1)
    return [
        Case("ends", "junk_before.ts", rewritten(plain, lambda data: junk + data), times=None),
        Case("ends", "zeros_after.ts", rewritten(plain, lambda data: data + bytes(1000)), times=None),
        Case("ends", "ones_after.ts", rewritten(plain, lambda data: data + b"\xff" * 5000), times=None),
        Case("ends", "long_after.ts", rewritten(plain, lambda data: data + bytes(300000)), times=None),
        Case("ends", "both.ts", rewritten(plain, lambda data: junk + data + bytes(77)), times=None),
        Case("ends", "padded.m2ts", rewritten(m2ts, lambda data: data + bytes(100)), times=None),
        Case("ends", "cut_padded_size.ts", rewritten(plain, lambda data: junk + data[:-100]), ids=None, corners={}, exit=3,
             says="cut short"),
        Case("ends", "cut.m2ts", rewritten(m2ts, lambda data: data[:-100]), ids=None, corners={}, exit=3, says="cut short"),
        Case("pid", "change.ts", glued(part(0x100, 0, *lengths), part(0x300, 1, *lengths)), both, times=None),
        Case("pid", "unbounded.ts", glued(part(0x100, 0), part(0x300, 1)), [*range(7), *range(8)], exit=3, says="1 corrupt packet",
             times=[1.4 + i / 25 for i in [*range(7), *range(8, 16)]]),
        Case("pid", "change_hevc.ts", glued(hevc(0x100, 0), hevc(0x200, 1)), both, times=None, tolerance=5),
        Case("clean", "clean.nut", encode("-c:v", "h261", "-qscale:v", 2, chain=f"scale=176:144:flags=neighbor,{yuv('170m')}"),
             ids=None, size=(176, 144), corners={}, sar=12 / 11),
        Case("clean", "clean.roq", encode("-c:v", "roqvideo", "-r", 30, "-pix_fmt", "yuvj444p", frames=12), ids=None, corners={}),
        Case("clean", "sound.roq", lambda path: ffmpeg("-f", "lavfi", "-i", picture(frames=12), "-f", "lavfi", "-i",
                                                       "sine=r=22050:d=0.6", "-c:v", "roqvideo", "-r", 30, "-ar", 22050, path),
             ids=None, corners={}),
        Case("clean", "cut.roq", rewritten(encode("-c:v", "roqvideo", "-r", 30, frames=12), lambda data: data[:-50]), ids=None,
             corners={}, exit=3, says="cut short"),
    ]


def cases():
    return (orientations() + alphas() + cmyk() + limited_rgb() + fields() + dolby_vision() + layers() + crops() + transport())
