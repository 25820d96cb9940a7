"""Videos that no codec, library or random generator can change: integer arithmetic, written as raw samples, Y4M or PPM;
and the bundled clip with its display matrix replaced."""
import pathlib
import struct

import numpy as np

FRAMES = 24
MATRICES = {  # a, b, c, d of the track's display matrix (ISO/IEC 14496-12, 8.3.2)
    "rot90": (0, 1, -1, 0), "rot180": (-1, 0, 0, -1), "rot270": (0, -1, 1, 0), "hflip": (-1, 0, 0, 1), "transpose": (0, 1, 1, 0)}
PATH = "t_s,u,v\n" + "".join(f"{0.2 * i:.1f},{i * 7 % 11 / 10:.1f},{i * 3 % 8 / 8:.3f}\n" for i in range(12))


def mix(x):
    """splitmix64 (Steele, Lea, Flood 2014) of each element of a u64 array."""
    x = x + np.uint64(0x9e3779b97f4a7c15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return x ^ (x >> np.uint64(31))


def samples(frame, plane, width, height, bits=8):
    """One plane, [height, width] u8 or u16: ramps and grain that stay; in the left third a few pixels that differ by 0 to 7
    codes from frame to frame; a slow fade in the lowest quarter; a moving box. Each fourth frame repeats the one before."""
    frame -= frame % 4 == 3
    y, x = np.arange(height, dtype=np.uint64)[:, None], np.arange(width, dtype=np.uint64)[None, :]
    grain = mix((y << np.uint64(32) | x) + (np.uint64(plane) << np.uint64(60)))
    values = ((5 * x + 3 * y + np.uint64(50 * plane)) & np.uint64(127)) * np.uint64(256) + (grain >> np.uint64(50)) + np.uint64(4096)
    values = np.where((grain & np.uint64(63) == 0) & (3 * x < np.uint64(width)), values + np.uint64(256 * (frame * 5 % 8)), values)
    values[3 * height // 4:] += np.uint64(128 * frame)
    side_x, side_y = (width + 3) // 4, (height + 3) // 4
    left, top = frame * width // 30 % width, frame * height // 40 % height
    box = np.s_[top:top + side_y, left:left + side_x]
    values[box] = (mix(grain[box] + np.uint64(frame)) >> np.uint64(49)) + np.uint64(32768)
    return (values >> np.uint64(16 - bits)).astype(np.uint8 if bits == 8 else "<u2")


def planes_420(frame, width, height, bits=8):
    half = (width + 1) // 2, (height + 1) // 2
    return [samples(frame, 0, width, height, bits), samples(frame, 1, *half, bits), samples(frame, 2, *half, bits)]


def rgb(frame, width, height):
    return np.stack([samples(frame, plane, width, height) for plane in range(3)], axis=-1)


def planar(width, height, bits=8):
    return lambda frame: b"".join(plane.tobytes() for plane in planes_420(frame, width, height, bits))


def semi_planar(width, height, bits=8):
    """NV12, and P010 with its bits at the top of 16."""
    def picture(frame):
        luma, cb, cr = (plane << (16 - bits) if bits > 8 else plane for plane in planes_420(frame, width, height, bits))
        return luma.tobytes() + np.stack([cb, cr], axis=-1).tobytes()
    return picture


def gray(width, height, bits=8):
    return lambda frame: samples(frame, 0, width, height, bits).tobytes()


def rgba(width, height, of_alpha):
    def picture(frame):
        alpha = of_alpha(samples(frame, 3, width, height))
        return np.concatenate([rgb(frame, width, height), alpha[..., None].astype(np.uint8)], axis=-1).tobytes()
    return picture


def y4m(header, picture):
    return f"YUV4MPEG2 {header}\n".encode() + b"".join(b"FRAME\n" + picture(frame) for frame in range(FRAMES))


def raw(picture):
    return b"".join(picture(frame) for frame in range(FRAMES))


def with_matrix(mp4, name):
    """The clip, its only video track rotated."""
    at = mp4.index(b"tkhd") + 44
    assert mp4.count(b"tkhd") == 1 and mp4[at - 40] == 0, "one track, its header of version 0"
    a, b, c, d = MATRICES[name]
    one = 0x10000
    return mp4[:at] + struct.pack(">9i", a * one, b * one, 0, c * one, d * one, 0, 0, 0, 1 << 30) + mp4[at + 36:]


def make(folder, demo):
    """Writes all inputs; `demo`: assets/demo.mp4. Returns {name: bytes}."""
    clip = pathlib.Path(demo).read_bytes()
    made = {
        "i420_161x121.yuv": raw(planar(161, 121)),
        "nv12_160x96.yuv": raw(semi_planar(160, 96)),
        "yuv420p10_160x96.yuv": raw(planar(160, 96, 10)),
        "yuv420p10_131x67.yuv": raw(planar(131, 67, 10)),
        "p010_160x96.yuv": raw(semi_planar(160, 96, 10)),
        "yuv420p16_96x64.yuv": raw(planar(96, 64, 16)),
        "gray_99x75.raw": raw(gray(99, 75)),
        "gray12_99x75.raw": raw(gray(99, 75, 12)),
        "rgb24_97x61.raw": raw(lambda frame: rgb(frame, 97, 61).tobytes()),
        "rgba_clear_98x60.raw": raw(rgba(98, 60, lambda a: np.where(a < 96, 0, 255))),
        "rgba_98x60.raw": raw(rgba(98, 60, lambda a: a)),
        "full_98x66.y4m": y4m("W98 H66 F12:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL", planar(98, 66)),
        "paldv_97x65.y4m": y4m("W97 H65 F30000:1001 Ip A16:11 C420paldv", planar(97, 65)),
        "mono_64x48.y4m": y4m("W64 H48 F12:1 Ip A1:1 Cmono", gray(64, 48)),
        "p10_66x50.y4m": y4m("W66 H50 F12:1 Ip A1:1 C420p10", planar(66, 50, 10)),
        "path.csv": PATH.encode(),
        "demo.mp4": clip,
    }
    made |= {f"demo_{name}.mp4": with_matrix(clip, name) for name in MATRICES}
    made |= {f"shot{frame:02}.ppm": b"P6\n60 44\n255\n" + rgb(frame, 60, 44).tobytes() for frame in range(FRAMES)}
    for name, data in made.items():
        (pathlib.Path(folder) / name).write_bytes(data)
    return made
