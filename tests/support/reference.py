"""What a dump should hold, computed from its definition with NumPy and ffmpeg's decoder: nothing of the program's code.

Frames are lists of planes: [luma (H, W, 1), chroma (h, w, 2)] of the stream's own samples, or [rgb (H, W, 3)]. Samples of
more than 8 bits are aligned to the top of 16, where the texture keeps them (its means are rounded there).
"""
import json
import os
import pathlib
import subprocess

import numpy as np
from program import SACCADE, ffmpeg

MEDIA = pathlib.Path(os.environ.get("SACCADE_SOURCE_DIR", ".")).resolve().parent / "shared" / "media"
TILE = 16
DEPTH = {"yuv420p10le": 10, "yuv420p12le": 12}
KR_KB = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593), "smpte240m": (0.212, 0.087)}


def make_clip(path, source, *encoder):
    ffmpeg("-f", "lavfi", "-i", source, *encoder, "-flags:v", "+bitexact", path)
    return path


def chroma_location(path):
    """As ffprobe reads it from the file."""
    return subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=chroma_location", "-of",
                           "default=nw=1:nk=1", path], check=True, capture_output=True, text=True).stdout.strip()


def raw_clip(path, frames, rate=25):
    """A lossless RGB clip of the given (H, W, 3) arrays."""
    height, width = frames[0].shape[:2]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}",
                    "-r", str(rate), "-i", "-", "-c:v", "png", str(path)], input=b"".join(f.tobytes() for f in frames), check=True)
    return path


def dump(clip, folder, *options):
    """Runs the program; returns {patches, geometry, changed, index, meta, manifest}."""
    done = subprocess.run([SACCADE, "dump", str(clip), "-o", str(folder), "--progress", "none", *map(str, options)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    folder = pathlib.Path(folder)
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("patches", "geometry", "changed", "index")}
    return arrays | {name: json.loads((folder / f"{name}.json").read_text()) for name in ("meta", "manifest")}


def decode(clip, width, height, pixel_format):
    """Every frame as ffmpeg decodes it, in the stream's own samples."""
    data = ffmpeg("-i", clip, "-map", "0:v:0", "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixel_format, "-")
    if pixel_format == "rgb24":
        return [[frame] for frame in np.frombuffer(data, np.uint8).reshape(-1, height, width, 3)]
    samples = np.frombuffer(data, "<u2" if pixel_format.endswith("le") else np.uint8)
    samples = samples << (16 - DEPTH.get(pixel_format, 16)) if samples.dtype == np.uint16 else samples
    chroma_width, chroma_height = (width + 1) // 2, (height + 1) // 2
    sizes = [width * height, chroma_width * chroma_height, chroma_width * chroma_height]
    frames = []
    for frame in samples.reshape(-1, sum(sizes)):
        luma, cb, cr = np.split(frame, np.cumsum(sizes)[:2])
        chroma = np.stack([cb.reshape(chroma_height, chroma_width), cr.reshape(chroma_height, chroma_width)], axis=-1)
        frames.append([luma.reshape(height, width, 1), chroma])
    return frames


# --- damage: the texture follows the frames by whole tiles ---

def tile_counts(differs, tile):
    """Samples that differ, per tile, of a boolean (H, W, C)."""
    height, width, _ = differs.shape
    rows, cols = -(-height // tile), -(-width // tile)
    padded = np.zeros((rows * tile, cols * tile), np.int64)
    padded[:height, :width] = differs.sum(axis=-1)
    return padded.reshape(rows, tile, cols, tile).sum(axis=(1, 3))


def textures(frames, threshold=0, min_samples=0):
    """Yields (texture planes, damaged tiles as a boolean grid) after each frame. threshold: in 8-bit codes."""
    unit = 256 if frames[0][0].dtype == np.uint16 else 1
    texture = None
    for frame in frames:
        if texture is None:
            texture = [plane.copy() for plane in frame]
            rows, cols = (-(-extent // TILE) for extent in frame[0].shape[:2])
            yield texture, np.ones((rows, cols), bool)
            continue
        counts = 0
        for plane, (held, new) in enumerate(zip(texture, frame)):
            counts = counts + tile_counts(np.abs(held.astype(np.int64) - new) > threshold * unit, TILE >> plane)
        damaged = counts > min_samples
        for plane, (held, new) in enumerate(zip(texture, frame)):
            mask = np.kron(damaged, np.ones((TILE >> plane, TILE >> plane), bool))[:held.shape[0], :held.shape[1]]
            held[mask] = new[mask]
        yield texture, damaged


# --- the pyramid and its samples ---

def pyramid(plane, levels, multiple):
    """Level l: the mean over 4^l samples of the edge-padded plane, rounded once, half up."""
    height, width, _ = plane.shape
    padded = np.pad(plane, ((0, -height % multiple), (0, -width % multiple), (0, 0)), mode="edge").astype(np.int64)
    result = [padded]
    for level in range(1, levels):
        size = 1 << level
        blocks = padded.reshape(padded.shape[0] // size, size, padded.shape[1] // size, size, -1).sum(axis=(1, 3))
        result.append((blocks + (1 << (2 * level - 1))) >> (2 * level))
    return result


def bilinear(image, x, y):
    """image (H, W, C) at texel coordinates x (N, S), y (N, S): (N, S, S, C), rows along y."""
    height, width, _ = image.shape
    x0, y0 = np.floor(x), np.floor(y)
    fx, fy = (x - x0)[:, None, :, None], (y - y0)[:, :, None, None]

    def texel(dx, dy):
        column = np.clip(x0 + dx, 0, width - 1).astype(int)[:, None, :]
        row = np.clip(y0 + dy, 0, height - 1).astype(int)[:, :, None]
        return image[row, column].astype(np.float64)
    return (texel(0, 0) * (1 - fx) + texel(1, 0) * fx) * (1 - fy) + (texel(0, 1) * (1 - fx) + texel(1, 1) * fx) * fy


def trilinear(levels, x_px, y_px, lod, scale, shift):
    """Positions in level-0 luma pixels; `shift` (x, y) in this plane's level-0 texels. (N, S, S, C)."""
    size = x_px.shape[1]
    lod = np.clip(lod, 0, len(levels) - 1)
    result = np.zeros((len(lod), size, size, levels[0].shape[2]))
    for level, image in enumerate(levels):
        weight = np.clip(1 - np.abs(lod - level), 0, 1)
        used = np.flatnonzero(weight > 0)
        if used.size:
            x = (x_px[used] * scale + shift[0]) / 2.0**level - 0.5
            y = (y_px[used] * scale + shift[1]) / 2.0**level - 0.5
            result[used] += weight[used, None, None, None] * bilinear(image, x, y)
    return result


def to_rgb(luma, chroma, matrix, full_range, bits):
    """ITU-R BT.601/709/2020, quantised as H.273 says. Codes of `bits` bits, above 8 aligned to the top of 16; R'G'B' 0..1."""
    if bits > 8:
        luma, chroma = luma / (1 << (16 - bits)), chroma / (1 << (16 - bits))
    kr, kb = KR_KB[matrix]
    top, unit = (1 << bits) - 1, 1 << (bits - 8)
    y = luma / top if full_range else (luma - 16 * unit) / (219 * unit)
    c = (chroma - 128 * unit) / (top if full_range else 224 * unit)
    cb, cr = c[..., 0], c[..., 1]
    red = y + 2 * (1 - kr) * cr
    blue = y + 2 * (1 - kb) * cb
    green = (y - kr * red - kb * blue) / (1 - kr - kb)
    return np.clip(np.stack([red, green, blue], axis=1), 0, 1)


def positions(geometry, width, height, patch_size):
    """Sample positions of each patch in level-0 pixels: x (N, S), y (N, S)."""
    geometry = geometry.astype(np.float64)
    offsets = (np.arange(patch_size) - (patch_size - 1) / 2)[None, :] * 2.0 ** geometry[:, 2:3]
    return geometry[:, 0:1] * width + offsets, geometry[:, 1:2] * height + offsets


def patches(texture, geometry, patch_size, levels, color):
    """The (N, 3, S, S) u8 patches that `geometry` (N, 4) asks for. color: dict(matrix, full_range, bits, site)."""
    height, width = texture[0].shape[:2]
    x, y = positions(geometry, width, height, patch_size)
    lod = geometry[:, 2].astype(np.float64)
    multiple = max(64, 1 << (levels - 1))
    first = trilinear(pyramid(texture[0], levels, multiple), x, y, lod, 1.0, (0, 0))
    if len(texture) == 1:
        rgb = np.moveaxis(first, -1, 1) / 255
    else:
        second = trilinear(pyramid(texture[1], max(levels - 1, 1), multiple // 2), x, y, np.maximum(lod - 1, 0), 0.5, color["site"])
        rgb = to_rgb(first[..., 0], second, color["matrix"], color["full_range"], color["bits"])
    values = np.floor(rgb * 255 + 0.5).astype(np.uint8)
    values[geometry[:, 3] == 0] = 0
    return values


def coverage(geometry, width, height, patch_size):
    """Share of a patch's samples whose position lies inside the image."""
    x, y = positions(geometry, width, height, patch_size)
    inside_x = ((x >= 0) & (x < width)).sum(axis=1)
    inside_y = ((y >= 0) & (y < height)).sum(axis=1)
    return inside_x * inside_y / patch_size**2
