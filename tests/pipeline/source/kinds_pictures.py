"""Cases of what a picture can be: rotated, odd, huge, of every format and colour."""
from kinds import CORNERS, H264, Case, encode, h264, rotated, tags, yuv
from program import rotate_container


def stored(codec, chain, *arguments, **shape):
    return encode("-c:v", codec, *arguments, chain=chain, **shape)


def asks_rotation(degrees, *first):
    """A file whose container asks for a rotation, anticlockwise."""
    def make(path):
        plain = path.with_name("plain-" + path.name)
        (first[0] if first else h264())(plain)
        rotate_container(plain, path, degrees)
    return make


def orientation():
    quarter, half, three = rotated("BL", "TL", "BR", "TR"), rotated("BR", "BL", "TR", "TL"), rotated("TR", "BR", "TL", "BL")
    sei = "h264_metadata=display_orientation=insert:"
    odd = stored("png", "null", width=66, height=50)
    return [
        Case("orientation", "rot90.mp4", asks_rotation(90), size=(48, 64), corners=three),
        Case("orientation", "rot180.mp4", asks_rotation(180), corners=half),
        Case("orientation", "rot270.mp4", asks_rotation(270), size=(48, 64), corners=quarter),
        Case("orientation", "rot90_odd.mov", asks_rotation(90, stored("png", "crop=65:49:0:0:exact=1", width=66, height=50)),
             size=(49, 65), corners=three, tolerance=0),
        Case("orientation", "rot180_rgb.mov", asks_rotation(180, odd), size=(66, 50), corners=half, tolerance=0),
        Case("orientation", "rot90_sar2.mp4", asks_rotation(90, h264(chain="setsar=2/1")), size=(48, 64), corners=three,
             sar=0.5),
        Case("orientation", "sei_hflip.h264", h264("-bsf:v", sei + "flip=horizontal"),
             corners=rotated("TR", "TL", "BR", "BL")),
        Case("orientation", "sei_rot90.mp4", h264("-bsf:v", sei + "rotate=90"), size=(48, 64), corners=three),
        Case("orientation", "sar_16_15.mp4", h264(chain="setsar=16/15"), sar=16 / 15),
    ]


def sizes():
    grey = {}
    return [
        Case("size", "odd65x49.mkv", stored("ffv1", "zscale=m=709:r=tv,format=yuv420p,crop=65:49:0:0:exact=1",
                                            *tags(), width=66, height=50), size=(65, 49)),
        Case("size", "one_by_one.mkv", stored("ffv1", "crop=1:1:0:0,format=bgr0"), size=(1, 1), corners=grey),
        Case("size", "one_by_one.mov", stored("png", "crop=1:1:0:0"), size=(1, 1), corners=grey),
        Case("size", "two_by_two.mp4", h264(chain="crop=2:2:0:0"), size=(2, 2), corners=grey),
        Case("size", "column1x256.mov", stored("png", "scale=1:256,setsar=1"), size=(1, 256), corners=grey),
        Case("size", "row4096x16.mkv", stored("ffv1", "scale=4096:16:flags=neighbor,setsar=1,format=bgr0", frames=2), [0, 1],
             size=(4096, 16), corners=grey),
        Case("size", "row17000x16.mov", stored("png", "scale=17000:16:flags=neighbor,setsar=1", frames=2), [0, 1],
             size=(17000, 16), corners=grey),
        Case("size", "column16x17000.mov", stored("png", "scale=16:17000:flags=neighbor,setsar=1", frames=2), [0, 1],
             size=(16, 17000), corners=grey),
        Case("size", "cropped1080.mp4", h264(chain="scale=480:270:flags=neighbor", width=64, height=36), size=(480, 270)),
        Case("size", "over_the_limit.png", encode("-frames:v", 1, chain="scale=12000:12000:flags=neighbor,format=monob"),
             exit=65, says="--set max-pixels"),
    ]


def formats():
    """(pixel format, codec, container, tolerance): flat colours, which every sampling can hold."""
    deep = [("yuv420p10le", 1.5), ("yuv422p10le", 1.5), ("yuv444p12le", 1.5), ("yuv420p16le", 1.5)]
    eight = ["yuv420p", "yuv422p", "yuv440p", "yuv444p", "yuv411p", "yuv410p"]
    cases = [Case("format", f"{fmt}.mkv", stored("ffv1", yuv("709", fmt), *tags()), tolerance=3.5) for fmt in eight]
    cases += [Case("format", f"{fmt}.mkv", stored("ffv1", yuv("709", fmt), *tags()), tolerance=tolerance)
              for fmt, tolerance in deep]
    packed = [("uyvy422", "yuv422p"), ("yuyv422", "yuv422p"), ("nv12", "yuv420p"), ("nv21", "yuv420p")]
    cases += [Case("format", f"{fmt}.nut", stored("rawvideo", f"{yuv('170m', planar)},format={fmt}"), tolerance=3.5)
              for fmt, planar in packed]
    rgb = [("rgb24", "rawvideo", "nut", 0), ("bgra", "rawvideo", "nut", 0), ("bgr24", "rawvideo", "avi", 0),
           ("rgb565le", "rawvideo", "nut", 9), ("gbrp", "ffv1", "mkv", 0), ("gbrp10le", "ffv1", "mkv", 1),
           ("rgb48be", "png", "mov", 1), ("rgb24", "png", "mov", 0)]
    cases += [Case("format", f"{fmt}_{codec}.{container}", stored(codec, f"format={fmt}"), tolerance=tolerance)
              for fmt, codec, container, tolerance in rgb]
    palette = "split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse=dither=none"
    cases += [Case("format", "palette.mov", stored("png", palette), tolerance=3),
              Case("format", "bitmap.mov", stored("png", "lutrgb=r='if(gt(val,128),255,0)':g='if(gt(val,128),255,0)':"
                                                  "b='if(gt(val,128),255,0)',format=monob"),
                   corners={"TR": (255,) * 3, "BR": (255,) * 3, "TL": (0,) * 3, "BL": (0,) * 3},
                   ids=[None] * 8, tolerance=0)]
    return cases + greys() + alphas()


def greys():
    def luma(rgb):
        return tuple([round(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2])] * 3)
    corners = {place: luma(rgb) for place, rgb in CORNERS.items()}
    full = "scale=out_range=pc,format=gray"
    return [Case("format", "gray.mkv", stored("ffv1", full, "-color_range", "pc"), corners=corners),
            Case("format", "gray.mov", stored("png", full), corners=corners),
            Case("format", "gray16.mov", stored("png", full + ",format=gray16be"), corners=corners)]


def alphas():
    """Half transparent: over black, half as bright; and the middle too."""
    half = {place: tuple(value * 128 / 255 for value in rgb) for place, rgb in CORNERS.items()}
    veil = "format=rgba,colorchannelmixer=aa=0.50196"
    return [Case("alpha", name, encode("-c:v", codec, *more, chain=f"{veil},format={fmt}"), [None] * 8, corners=half,
                 tolerance=tolerance, says="over black")
            for name, codec, fmt, tolerance, more in (
                ("png.mov", "png", "rgba", 1, ()), ("qtrle.mov", "qtrle", "argb", 1, ()),
                ("ffv1.mkv", "ffv1", "yuva444p", 4, ()), ("apng.png", "apng", "rgba", 1, ("-f", "apng")))]


def colours():
    """(matrix for zimg, tag, limited)."""
    kinds = [("170m", "smpte170m"), ("709", "bt709"), ("7", "smpte240m"), ("2020_ncl", "bt2020nc")]
    cases = [Case("colour", f"{tag}_{'tv' if limited else 'pc'}.mkv",
                  stored("ffv1", yuv(matrix, "yuv420p", limited), *tags(tag, limited)))
             for matrix, tag in kinds for limited in (True, False)]
    bare = "setparams=colorspace=unknown:range=unknown"
    cases += [
        Case("colour", "untagged_small.y4m", encode(chain=f"{yuv('170m')},{bare}"), says="bt601 is assumed"),
        Case("colour", "untagged_wide.y4m", encode(chain=f"{yuv('709')},{bare}", width=1280, height=16, frames=2),
             [None] * 2, size=(1280, 16), corners={}, says="bt709 is assumed"),
        # Through filters that work on matrix and range: FFmpeg 7's agree on both before the first frame.
        Case("colour", "filtered_tv.mkv", stored("ffv1", yuv("709"), *tags()), options=("--vf", "scale=64:48,format=yuv444p")),
        Case("colour", "filtered_pc.mkv", stored("ffv1", yuv("2020_ncl", "yuv420p", False), *tags("bt2020nc", False)),
             options=("--vf", "scale=64:48,format=yuv444p")),
        # The container's word against the codec's: the decoder's frame says what it is.
        Case("colour", "mismatched.mov", encode(*H264, *tags("bt709"), "-color_primaries", "bt709", "-color_trc", "bt709",
                                                "-bsf:v", "h264_metadata=matrix_coefficients=6", chain=yuv("170m") +
                                                ",setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709")),
        Case("colour", "pq.mkv", hdr("smpte2084"), [None] * 8, corners={}, says=r"HDR \(PQ\) is tone-mapped"),
        Case("colour", "hlg.mkv", hdr("arib-std-b67"), [None] * 8, corners={}, says=r"HDR \(HLG\) is tone-mapped")]
    return cases


def hdr(transfer):
    chain = f"zscale=m=2020_ncl:r=tv:p=2020:t={transfer}:tin=709:pin=709:npl=100,format=yuv420p10le"
    return encode("-c:v", "ffv1", *tags("bt2020nc"), "-color_trc", transfer, "-color_primaries", "bt2020", chain=chain)


def cases():
    return orientation() + sizes() + formats() + colours()
