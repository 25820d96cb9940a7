"""Samplers of others' rules in NumPy, on whole frames: exact means of squares, as saccade's own patches hold them."""

from __future__ import annotations

import heapq

import numpy as np

S = 16
# Segment This Thing (Schmidt and Newcombe, CVPR 2025): token size 16; strides and sides of its rings, 172 tokens.
STRIDES, SIDES = (1, 2, 4, 6, 8), (4, 4, 6, 8, 10)


def ring_patches(frame: np.ndarray, fixation: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """The published rings around a fixation (u, v); those that lie outside the frame, all of them, are left out."""
    height, width = frame.shape[:2]
    cx, cy = round(fixation[0] * width), round(fixation[1] * height)
    pad = max(s * g for s, g in zip(STRIDES, SIDES, strict=True)) * S // 2
    padded = np.pad(frame, ((pad, pad), (pad, pad), (0, 0)))
    sums = _sums(padded)
    patches, geometry, hole = [], [], 0
    for stride, side in zip(STRIDES, SIDES, strict=True):
        span = S * stride
        for row in range(side):
            for col in range(side):
                x, y = cx + col * span - side * span // 2, cy + row * span - side * span // 2
                in_hole = abs(x + span / 2 - cx) < hole / 2 and abs(y + span / 2 - cy) < hole / 2
                if in_hole or x + span <= 0 or y + span <= 0 or x >= width or y >= height:
                    continue
                patches.append(_means(sums, x + pad, y + pad, stride))
                geometry.append(((x + span / 2) / width, (y + span / 2) / height, np.log2(stride), 1.0))
        hole = side * span
    return np.stack(patches), np.array(geometry, np.float32)


def by_change(frame: np.ndarray, before: np.ndarray | None, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares of 128 pixels over the frame, split in four where most changed since `before`, until the budget is spent.

    What did not change counts for a twentieth of its detail: a first frame is split by detail alone.
    """
    height, width = frame.shape[:2]
    rows, cols = -(-height // 128) * 128, -(-width // 128) * 128
    padded = np.pad(frame, ((0, rows - height), (0, cols - width), (0, 0)), mode="edge")
    luma = padded.astype(np.float32).mean(-1)
    detail = np.abs(np.diff(luma, axis=0, append=luma[-1:])) + np.abs(np.diff(luma, axis=1, append=luma[:, -1:]))
    weight = 0.05 * detail
    if before is not None:
        old = np.pad(before, ((0, rows - height), (0, cols - width), (0, 0)), mode="edge").astype(np.float32).mean(-1)
        weight = weight + np.maximum(np.abs(luma - old) - 4, 0)
    weights = _sums(weight[..., None].astype(np.float64))
    sums = _sums(padded)

    def gain(x: int, y: int, lod: int) -> float:
        span = S << lod
        return float(_box(weights, x, y, span)[0]) * lod  # a coarse square hides more of what is in it

    heap = [(-gain(x, y, 3), x, y, 3) for y in range(0, rows, 128) for x in range(0, cols, 128)]
    heapq.heapify(heap)
    done: list[tuple[int, int, int]] = []
    count = len(heap)
    while heap and count + 3 <= tokens:
        cost, x, y, lod = heapq.heappop(heap)
        if lod == 0 or cost >= 0:
            done.append((x, y, lod))
            continue
        half, count = S << (lod - 1), count - 1
        for dx, dy in ((0, 0), (half, 0), (0, half), (half, half)):
            if x + dx < width and y + dy < height:
                heapq.heappush(heap, (-gain(x + dx, y + dy, lod - 1), x + dx, y + dy, lod - 1))
                count += 1
    done += [(x, y, lod) for _, x, y, lod in heap]
    patches = np.stack([_means(sums, x, y, 1 << lod) for x, y, lod in done])
    geometry = [((x + (S << lod) / 2) / width, (y + (S << lod) / 2) / height, lod, 1.0) for x, y, lod in done]
    return patches, np.array(geometry, np.float32)


def _sums(image: np.ndarray) -> np.ndarray:
    kind = np.float64 if image.dtype.kind == "f" else np.int64
    return np.pad(image.astype(kind).cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0)))


def _box(sums: np.ndarray, x: int, y: int, span: int) -> np.ndarray:
    return sums[y + span, x + span] - sums[y, x + span] - sums[y + span, x] + sums[y, x]


def _means(sums: np.ndarray, x: int, y: int, stride: int) -> np.ndarray:
    """S x S means of stride x stride pixels from (x, y) on, [3, S, S] u8."""
    at = sums[y : y + S * stride + 1 : stride, x : x + S * stride + 1 : stride]
    total = at[1:, 1:] - at[:-1, 1:] - at[1:, :-1] + at[:-1, :-1]
    return ((total + stride * stride // 2) // (stride * stride)).astype(np.uint8).transpose(2, 0, 1)
