"""Cases of what a stream can be: its times, its damage, its changes, what else is in the file, and its name."""
import pathlib
import struct

from kinds import H264, Case, encode, ffmpeg, h264, picture, tags, yuv

MPEG2 = ["-c:v", "mpeg2video", "-q:v", "2", "-g", "8"]


def rewritten(make, change):
    """A file whose bytes are changed after it was made."""
    def changed(path):
        make(path)
        path.write_bytes(change(path.read_bytes()))
    return changed


def glued(*makes):
    """Transport streams, end to end."""
    def make(path):
        parts = []
        for number, part in enumerate(makes):
            piece = path.with_name(f"{number}-{path.name}")
            part(piece)
            parts.append(piece.read_bytes())
        path.write_bytes(b"".join(parts))
    return make


def times():
    frame = [i / 25 for i in range(8)]
    gap = [0, .04, .08, .12, 3600.16, 3600.2, 3600.24, 3600.28]
    vfr = [0, .01, .04, .09, .16, .25, .36, .49]
    wrap = 2 ** 33 / 90000
    return [
        Case("times", "plain.mp4", h264(), times=frame),
        Case("times", "b_frames.mp4", encode("-c:v", "libx264", "-preset", "veryfast", "-qp", "2", "-bf", "3", *tags(),
                                             chain=yuv()), times=frame),
        Case("times", "vfr.mkv", h264("-fps_mode", "passthrough", "-enc_time_base", "1/1000",
                                      chain="settb=1/1000,setpts=N*N*10"), times=vfr),
        Case("times", "gap.mkv", h264("-fps_mode", "passthrough", "-enc_time_base", "1/1000",
                                      chain="settb=1/1000,setpts=N*40+gte(N\\,4)*3600000"), times=gap),
        Case("times", "duplicate.nut", encode("-c:v", "ffv1", *tags("smpte170m"), "-avoid_negative_ts", "disabled", "-bsf:v",
                                              "setts=pts='if(eq(N,3),PREV_OUTPTS,PTS)':dts=DTS-2", chain=yuv("170m")),
             times=frame),
        Case("times", "no_times.h264", encode("-c:v", "libx264", "-preset", "veryfast", "-qp", "2", "-bf", "3", *tags(),
                                              chain=yuv()), times=None),
        Case("times", "wrap.ts", h264("-output_ts_offset", f"{wrap - 1.4 - 0.12:.6f}", "-muxpreload", "0"), times=None),
        Case("times", "backward.ts", glued(h264(), h264()), list(range(8)) * 2, times=None),
        Case("times", "rate_zero.y4m", rewritten(encode(chain=yuv("170m")), lambda data: data.replace(b"F25:1", b"F0:0")),
             times=None),
        Case("times", "fps1000.mkv", h264(rate=1000), times=[i / 1000 for i in range(8)]),
        Case("times", "edit_list.mp4", edit_list, [3, 4, 5, 6, 7], times=None),
        Case("times", "fragments.mp4", h264("-movflags", "frag_every_frame+empty_moov+default_base_moof"), times=frame),
        Case("times", "lying_duration.mp4", rewritten(h264(), lie_about_duration), times=frame),
        Case("times", "starts_late.mp4", h264("-output_ts_offset", "1.5"), times=[1.5 + t for t in frame]),
    ]


def edit_list(path):
    """A cut without encoding: what lies before it stays in the file and must not be seen."""
    plain = path.with_name("plain.mp4")
    h264()(plain)
    ffmpeg("-ss", "0.12", "-i", plain, "-c", "copy", path)


def lie_about_duration(data):
    """mvhd and tkhd promise a hundred times more."""
    at = data.index(b"mvhd") + 4 + 16
    duration, = struct.unpack(">I", data[at:at + 4])
    return data[:at] + struct.pack(">I", duration * 100) + data[at + 4:]


def changes():
    wide = h264("-f", "mpegts", width=96, height=48)
    deep = encode(*H264, *tags(), chain=yuv("709", "yuv420p10le"))
    fine = encode(*H264, *tags(), chain=yuv("709", "yuv422p"))
    sar = h264(chain="setsar=2/1")
    other = encode(*H264, *tags("smpte170m", False), chain=yuv("170m", limited=False))
    both = list(range(8)) * 2
    theora = encode("-c:v", "libtheora", "-q:v", 10, *tags("smpte170m"), chain=yuv("170m"))
    wide_theora = encode("-c:v", "libtheora", "-q:v", 10, *tags("smpte170m"), chain=yuv("170m"), width=96, height=48)
    part = {"ids": list(range(2, 8)), "size": (96, 48), "options": ("--start", 0.4)}
    mxf, long_mxf = (encode("-c:v", "mpeg2video", "-q:v", 1, "-qmin", 1, "-g", 1, *tags(), chain=yuv(), frames=frames) for frames in (8, 16))
    return [Case("change", "part.ts", glued(h264(), wide), **part, times=None),
            Case("change", "part.ogv", glued(theora, wide_theora), **part, times=[0.4 + i / 25 for i in range(6)], tolerance=6),
            Case("change", "two.mxf", glued(mxf, mxf), exit=3, tolerance=6, says="a second video begins at byte [0-9]+ of the file and is not read"),
            Case("change", "two_lengths.mxf", glued(mxf, long_mxf), exit=65, says="inconsistent FooterPartition"),
            Case("change", "size.ts", glued(h264(), wide), both, times=None),
            Case("change", "format.ts", glued(h264(), fine), both, times=None, tolerance=4),
            Case("change", "depth.ts", glued(deep, h264()), both, times=None),
            Case("change", "colour.ts", glued(h264(), other), both, times=None),
            Case("change", "colour_filtered.ts", glued(h264(), other), both, times=None,
                 options=("--vf", "scale=64:48,format=yuv444p")),
            Case("change", "sar.ts", glued(h264(), sar), both, times=None, says="changes from 1 to 2:")]


def damage():
    ts = h264("-g", "4", "-bf", "0", frames=16, width=320, height=240)
    mjpeg = encode("-c:v", "mjpeg", "-q:v", "2", "-pix_fmt", "yuvj420p")
    common = {"ids": None, "corners": {}, "exit": 3, "says": "damaged"}
    big = {**common, "size": (320, 240)}

    def cut(share):
        return lambda data: data[:int(len(data) * share)]

    def lose_packets(data):
        packets = [data[i:i + 188] for i in range(0, len(data), 188)]
        return b"".join(packet for i, packet in enumerate(packets) if not len(packets) * 0.3 < i < len(packets) * 0.4)

    def flip(data):
        damaged = bytearray(data)
        for at in range(len(data) // 3, len(data) - 200, 97):
            damaged[at] ^= 0x10
        return bytes(damaged)
    return [
        Case("damage", "cut.ts", rewritten(ts, cut(0.6)), **big),
        Case("damage", "cut.mkv", rewritten(h264(frames=16, width=320, height=240), cut(0.7)), **big),
        Case("damage", "cut_faststart.mp4", rewritten(h264("-movflags", "faststart", frames=16, width=320, height=240),
                                                      cut(0.7)), **big),
        Case("damage", "cut_last_frame.y4m", rewritten(encode(chain=yuv("170m")), cut(0.97)), list(range(7)), exit=3,
             says="cut short"),
        Case("damage", "lost_packets.ts", rewritten(ts, lose_packets), **big),
        Case("damage", "bit_flips.ts", rewritten(ts, flip), **big),
        Case("damage", "broken_mjpeg.avi", rewritten(mjpeg, flip), **common),
        Case("damage", "no_key_frame.ts", rewritten(h264("-g", "4", "-bf", "0", frames=8), from_second_frame),
             [4, 5, 6, 7], times=None),
        Case("damage", "header_only.mp4", rewritten(h264("-movflags", "faststart"), lambda data:
                                                    data[:data.index(b"mdat") + 8]), exit=65, says="no frame"),
        Case("damage", "no_moov.mp4", rewritten(h264(), lambda data: data[:data.index(b"moov") - 4]), exit=65,
             says="header is damaged or missing"),
        Case("damage", "empty.mp4", lambda path: path.write_bytes(b""), exit=65, says="empty"),
        Case("damage", "zeros.mp4", lambda path: path.write_bytes(bytes(4096)), exit=65, says="not a video"),
        Case("damage", "text.mp4", lambda path: path.write_text("no video\n" * 99), exit=65, says="not a video"),
        Case("damage", "folder.mp4", pathlib.Path.mkdir, exit=65, says="directory"),
        Case("damage", "missing.mp4", lambda path: None, exit=65, says="No such file"),
        Case("damage", "encrypted.mp4", h264("-encryption_scheme", "cenc-aes-ctr", "-encryption_key", "0" * 31 + "1",
                                             "-encryption_kid", "0" * 31 + "2"), exit=65, says="encrypted|no frame"),
    ]


def shortened():
    """Files that end early in ways that no decoder complains of: between pictures, or in one whose rest does not matter to it."""
    lost = {"ids": None, "corners": {}, "exit": 3, "says": "damaged"}
    tv = {**lost, "size": (720, 576), "sar": None, "options": ("--lattice", "nested", "--patches", 100)}

    def at(share):
        return lambda data: data[:int(len(data) * share)]

    def in_last(mark, more=0, index=b""):
        return lambda data: data[:data.rindex(mark, 0, data.rindex(index)) + more]

    def without_length(data):
        return in_last(b"00dc", 100, b"idx1")(data[:4] + b"\xff" * 4 + data[8:])

    def pal(*arguments):
        return lambda path: ffmpeg("-f", "lavfi", "-i", "testsrc2=s=720x576:r=25:d=2", *arguments, path)
    dv = pal("-c:v", "dvvideo", "-pix_fmt", "yuv420p")
    return [
        Case("shortened", "page.ogv", rewritten(encode("-c:v", "libtheora", "-page_duration", 1, chain=yuv()),
                                                in_last(b"OggS", 40)), **lost),
        Case("shortened", "picture.gif", rewritten(encode(), at(0.7)), **lost),
        Case("shortened", "picture.ivf", rewritten(encode("-c:v", "libvpx-vp9", chain=yuv()), at(0.7)), **lost),
        Case("shortened", "parts.mxf", rewritten(encode("-c:v", "mpeg2video", "-q:v", 2, chain=yuv()), at(0.7)), **lost),
        Case("shortened", "chunks.avi", rewritten(encode("-c:v", "mpeg4", "-q:v", 2, chain=yuv()), in_last(b"00dc", index=b"idx1")), **lost),
        Case("shortened", "chunk.avi", rewritten(encode("-c:v", "snow", "-strict", -2, chain=yuv()), without_length), **lost),
        Case("shortened", "fragment.mp4", rewritten(h264("-movflags", "frag_every_frame+empty_moov+default_base_moof"),
                                                    in_last(b"moof", 20)), list(range(7)), exit=3, says="damaged"),
        Case("shortened", "frame.dv", rewritten(dv, at(0.99)), **tv),
        *in_raw_streams(lost),
        Case("shortened", "whole.dv", dv, **{**tv, "exit": 0, "says": ""}),
        Case("shortened", "whole.gxf", pal("-c:v", "mpeg2video"), **{**tv, "exit": 0, "says": ""}),
    ]


def in_raw_streams(lost):
    """Pictures one behind the other, some between sounds, that end with a mark of their own or with nothing."""
    def amv(path):
        ffmpeg("-f", "lavfi", "-i", picture(rate=30), "-f", "lavfi", "-i", "sine=r=22050:d=0.266", "-ac", 1, "-block_size", 735, path)

    whole = {"ids": None, "corners": {}}
    jpegs = encode("-q:v", 2, "-pix_fmt", "yuvj420p", "-f", "mjpeg")
    parts = encode("-q:v", 2, "-pix_fmt", "yuvj420p", "-f", "mpjpeg")
    makes = {"a.amv": amv, "a.mjpeg": jpegs, "a.mjpg": encode("-q:v", 2, "-pix_fmt", "yuvj420p", "-f", "smjpeg"),
             "ten.mjpg": encode("-q:v", 2, "-pix_fmt", "yuvj420p", "-f", "smjpeg", rate=10),
             "a.obu": encode("-c:v", "libaom-av1", "-cpu-used", 8, "-lag-in-frames", 0, chain=yuv()),
             "a.mpjpeg": parts, "pipe.mpjpeg": parts, "pipe.mjpg": encode("-q:v", 2, "-pix_fmt", "yuvj420p", "-f", "smjpeg"),
             "live.mkv": h264("-live", 1), "pipe.mkv": h264(),
             "pipe.y4m": encode(chain=yuv())}
    cuts = {"a.amv": (4, 20, 300, 900), "a.mjpeg": (1, 2, 40, 400), "a.mjpg": (4, 10, 100), "a.obu": (1, 20), "live.mkv": (3, 600),
            "a.mpjpeg": (40,), "pipe.mpjpeg": (40,), "pipe.mjpg": (4, 10, 100), "pipe.mkv": (300,), "pipe.y4m": (5,)}
    cases = [Case("shortened", f"whole-{name}", make, **whole, stdin="pipe" in name) for name, make in makes.items()]
    for name, lacks in cuts.items():
        cases += [Case("shortened", f"{n}-{name}", rewritten(makes[name], lambda data, n=n: data[:-n]), **lost, stdin="pipe" in name) for n in lacks]
    return cases


def from_second_frame(data):
    """A transport stream without the packets of its first picture: the video's second packet start comes first."""
    packets = [data[i:i + 188] for i in range(0, len(data), 188)]
    def pid(packet):
        return (packet[1] & 0x1f) << 8 | packet[2]
    starts = [i for i, packet in enumerate(packets) if pid(packet) == 0x100 and packet[1] & 0x40]
    return b"".join(packet for i, packet in enumerate(packets) if pid(packet) != 0x100 or i >= starts[1])


def companions():
    tone = ["-f", "lavfi", "-i", "sine=d=0.3", "-map", "0", "-map", "1"]
    small = picture(32, 24)

    def with_cover(path):
        cover = path.with_name("cover.png")
        ffmpeg("-f", "lavfi", "-i", "color=c=red:s=16x16", "-frames:v", 1, cover)
        ffmpeg("-i", cover, "-f", "lavfi", "-i", picture() + "," + yuv(), "-map", "0", "-map", "1", *H264, *tags(),
               "-c:v:0", "png", "-disposition:v:0", "attached_pic", path)

    def two(path):
        ffmpeg("-f", "lavfi", "-i", f"{small},{yuv()}", "-f", "lavfi", "-i", f"{picture()},{yuv()}", "-map", "0",
               "-map", "1", *H264, *tags(), "-disposition:v:0", "0", "-disposition:v:1", "default", path)

    def subtitles(path):
        path.with_suffix(".srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nhello\n")
        ffmpeg("-i", path.with_suffix(".srt"), path)
    return [
        Case("tracks", "audio_only.m4a", lambda path: ffmpeg("-f", "lavfi", "-i", "sine=d=0.3", path), exit=65,
             says="no video stream.*audio"),
        Case("tracks", "subtitles_only.mkv", subtitles, exit=65, says="no video stream.*subtitle"),
        Case("tracks", "with_audio.mp4", lambda path: ffmpeg("-f", "lavfi", "-i", f"{picture()},{yuv()}", *tone, *H264,
                                                             *tags(), path)),
        Case("tracks", "cover_first.mp4", with_cover),
        Case("tracks", "two_best.mkv", two),
        Case("tracks", "two_first.mkv", two, size=(32, 24), options=("--stream", 0)),
        Case("tracks", "two_second.mkv", two, options=("--stream", 1)),
        Case("tracks", "two_third.mkv", two, options=("--stream", 2), exit=65, says="no video stream 2; it has 2"),
    ]


def interlaced():
    chain = f"{yuv()},tinterlace=interleave_top,setfield=tff"
    fields = [0, 2, 4, 6]
    return [Case("interlaced", "top_first.ts", encode(*MPEG2, *tags(), "-flags", "+ildct+ilme", "-top", 1, chain=chain, rate=50),
                 fields, times=None, says="top field first: deinterlaced by bwdif", tolerance=6),
            Case("interlaced", "woven.ts", encode(*MPEG2, *tags(), "-flags", "+ildct+ilme", "-top", 1, chain=chain, rate=50),
                 [None] * 4, times=None, says="left woven", options=("--deinterlace", "no"), tolerance=6)]


def images():
    delays = "settb=1/100,setpts='st(0,if(eq(N,0),0,ld(0)+gte(N,1)*5+eq(N,2)*20+eq(N,4)*7));ld(0)'"
    stamps = [0, .05, .30, .35, .47, .52, .57, .62]
    palette = "split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse=dither=none"

    def numbered(path):
        ffmpeg("-f", "lavfi", "-i", picture(), "-start_number", "5", path.with_name("shot%03d.png"))
    sequence = {"tolerance": 0}
    return [
        Case("images", "still.png", encode("-frames:v", 1), [0], tolerance=0),
        Case("images", "still.jpg", encode("-frames:v", 1, "-q:v", 1, "-pix_fmt", "yuvj444p"), [0], tolerance=6),
        Case("images", "sequence.png", Pattern(numbered, "shot%03d.png"), **sequence),
        Case("images", "glob.png", Pattern(numbered, "shot*.png"), **sequence),
        Case("images", "rate.png", Pattern(numbered, "shot%03d.png"), options=("--input-format", "framerate=10"),
             times=[i / 10 for i in range(8)], **sequence),
        Case("images", "delays.gif", encode("-fps_mode", "passthrough", chain=f"{palette},{delays}"), times=stamps),
        Case("images", "apng.png", encode("-f", "apng", "-fps_mode", "passthrough", chain=f"format=rgb24,{delays}"),
             times=stamps, tolerance=0),
    ]


class Pattern:
    """A `make` whose file is not what the program is given."""

    def __init__(self, make, leaf):
        self.make, self.leaf = make, leaf

    def __call__(self, path):
        self.make(path)

    def input(self, path):
        return str(path.with_name(self.leaf))


def raw():
    def planes(path):
        ffmpeg("-f", "lavfi", "-i", f"{picture()},{yuv('170m')}", "-pix_fmt", "nv12", "-f", "rawvideo", path)
    hints = ("--input-format", "rawvideo:video_size=64x48:pixel_format=nv12")
    return [Case("raw", "nv12.bin", planes, options=hints),
            Case("raw", "stdin.bin", planes, options=hints, stdin=True),
            Case("raw", "no_hints.yuv", planes, exit=65, says="video_size"),
            Case("raw", "stdin.y4m", encode(chain=yuv("170m")), stdin=True),
            Case("raw", "stdin.ts", h264(), stdin=True),
            Case("raw", "stdin.mkv", h264(), stdin=True)]


def names():
    leaves = ["sp ace.mp4", "100% real.mp4", "frame%03d.mp4", "ünï 测试 😀.mp4", "new\nline.mp4", "a:b.mp4", "-dash.mp4",
              "#hash?q=1&x.mp4", "quo'te\".mp4", "[a]{b}*.mp4", "noext", "wrong.jpg", "http:.mp4", "L" * 250 + ".mp4"]
    return [Case("name", leaf, h264("-f", "mp4")) for leaf in leaves]


def cases():
    return (times() + changes() + damage() + shortened() + companions() + interlaced() + images() + raw() + names())
