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
    patches, geometry, hole = [], [], 0
    for stride, side in zip(STRIDES, SIDES, strict=True):
        span = S * stride
        for row in range(side):
            for col in range(side):
                x, y = cx + col * span - side * span // 2, cy + row * span - side * span // 2
                in_hole = abs(x + span / 2 - cx) < hole / 2 and abs(y + span / 2 - cy) < hole / 2
                if in_hole or x + span <= 0 or y + span <= 0 or x >= width or y >= height:
                    continue
                patches.append(_means(padded, x + pad, y + pad, stride))
                geometry.append(((x + span / 2) / width, (y + span / 2) / height, np.log2(stride), 1.0))
        hole = side * span
    return np.stack(patches), np.array(geometry, np.float32)


def by_change(frame: np.ndarray, before: np.ndarray | None, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Squares over the frame, split in four where most changed since `before`, until the budget is spent.

    What did not change counts for a twentieth of its detail: without `before` they are split by detail alone.
    The first are 128 pixels wide, or wider where those take more than half of the budget.
    """
    height, width = frame.shape[:2]
    top = _coarsest(height, width, tokens / 2, least=3)
    rows, cols = -(-height // (S << top)) * (S << top), -(-width // (S << top)) * (S << top)
    padded = np.pad(frame, ((0, rows - height), (0, cols - width), (0, 0)), mode="edge")
    luma = padded.astype(np.float32).mean(-1)
    detail = np.abs(np.diff(luma, axis=0, append=luma[-1:])) + np.abs(np.diff(luma, axis=1, append=luma[:, -1:]))
    weight = 0.05 * detail
    if before is not None:
        old = np.pad(before, ((0, rows - height), (0, cols - width), (0, 0)), mode="edge").astype(np.float32).mean(-1)
        weight = weight + np.maximum(np.abs(luma - old) - 4, 0)
    weights = _sums(weight[..., None].astype(np.float64))

    def gain(x: int, y: int, lod: int) -> float:
        span = S << lod
        return float(_box(weights, x, y, span)[0]) * lod  # a coarse square hides more of what is in it

    heap = [(-gain(x, y, top), x, y, top) for y in range(0, rows, S << top) for x in range(0, cols, S << top)]
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
    return _cut(padded, done, (height, width))


class ChangedSquares:
    """No eye, 25 lines: a thumbnail of at most an eighth of the budget, and where the picture differs most from what
    was sent last, tiles of 16 pixels for half of the rest and squares of 32.

    What was sent often in the last two seconds counts less. The first frame counts as sent: what is new is looked for.
    """

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.sent: np.ndarray | None = None
        self.log: list[tuple[float, int, int]] = []

    def pick(self, frame: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        (height, width), tokens = frame.shape[:2], self.tokens
        coarse = _coarsest(height, width, tokens / 8, least=4)
        side = S << coarse
        padded = np.pad(frame, ((0, -height % side), (0, -width % side), (0, 0)), mode="edge")
        luma = _luma(padded)
        if self.sent is None:
            self.sent = luma.copy()
        self.log = [row for row in self.log if row[0] >= seconds - 2]
        often = np.ones((luma.shape[0] // S, luma.shape[1] // S))
        np.add.at(often, tuple(np.array([row[1:] for row in self.log], int).reshape(-1, 2).T), 1)
        difference = np.maximum(np.abs(luma - self.sent) - 8, 0)
        error = difference.reshape(often.shape[0], S, often.shape[1], S).sum((1, 3)) / often
        picked = [(x, y, coarse) for y in range(0, height, side) for x in range(0, width, side)]
        for lod, budget in ((0, (len(picked) + tokens) // 2), (1, tokens)):
            rows, cols = often.shape[0] >> lod, often.shape[1] >> lod
            sides = error.reshape(rows, 1 << lod, cols, 1 << lod).sum((1, 3))
            for at in np.argsort(-sides, axis=None, kind="stable")[: max(budget - len(picked), 0)]:
                row, col = divmod(int(at), cols)
                if sides[row, col] > 0:
                    picked.append((col * S << lod, row * S << lod, lod))
                    tiles = np.s_[row << lod : (row + 1) << lod, col << lod : (col + 1) << lod]
                    error[tiles] = 0
                    self.log += [(seconds, (row << lod) + k // 2, (col << lod) + k % 2) for k in range(4**lod)]
                    pixels = np.s_[row * S << lod : (row + 1) * S << lod, col * S << lod : (col + 1) * S << lod]
                    means = luma[pixels].reshape(S, 1 << lod, S, 1 << lod).mean((1, 3)).astype(int)
                    self.sent[pixels] = means.repeat(1 << lod, 0).repeat(1 << lod, 1)
        return _cut(padded, picked, (height, width))


class OverviewAndCrops:
    """What agents do today: the frame made small, for at most a third of the tokens, and for the rest squares of
    64 pixels at full resolution, those that changed most since the look before."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.before: np.ndarray | None = None

    def __call__(self, frame: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        height, width = frame.shape[:2]
        coarse = _coarsest(height, width, self.tokens / 3, least=1)
        side = S << coarse
        padded = np.pad(frame, ((0, -height % max(side, 64)), (0, -width % max(side, 64)), (0, 0)), mode="edge")
        luma = _luma(padded)
        difference = np.maximum(np.abs(luma - (luma if self.before is None else self.before)) - 8, 0)
        self.before = luma
        cells = difference.reshape(luma.shape[0] // 64, 64, luma.shape[1] // 64, 64).sum((1, 3))
        picked = [(x, y, coarse) for y in range(0, height, side) for x in range(0, width, side)]
        for at in np.argsort(-cells, axis=None, kind="stable"):
            row, col = divmod(int(at), cells.shape[1])
            tiles = [(64 * col + x, 64 * row + y, 0) for y in range(0, 64, S) for x in range(0, 64, S)]
            tiles = [tile for tile in tiles if tile[0] < width and tile[1] < height]
            if cells[row, col] == 0 or len(picked) + len(tiles) > self.tokens:
                break
            picked += tiles
        return _cut(padded, picked, (height, width))


class Change:
    """by_change, frame after frame."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.before: np.ndarray | None = None

    def __call__(self, frame: np.ndarray, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        before, self.before = self.before, frame
        return by_change(frame, before, self.tokens)


def _coarsest(height: int, width: int, squares: float, least: int) -> int:
    """The finest level, from `least` on, of which so many squares cover the frame."""
    return next(lod for lod in range(least, 12) if -(-height // (S << lod)) * -(-width // (S << lod)) <= squares)


def _cut(
    image: np.ndarray, squares: list[tuple[int, int, int]], size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The means of squares (x, y, lod), and their geometry in a frame of (height, width)."""
    patches = np.stack([_means(image, x, y, 1 << lod) for x, y, lod in squares])
    reach = [(x + (S << lod) / 2, y + (S << lod) / 2, lod) for x, y, lod in squares]
    return patches, np.array([(x / size[1], y / size[0], lod, 1.0) for x, y, lod in reach], np.float32)


def _luma(image: np.ndarray) -> np.ndarray:
    red, green, blue = (image[..., n].astype(np.int32) for n in range(3))
    return (77 * red + 150 * green + 29 * blue) >> 8


def _sums(image: np.ndarray) -> np.ndarray:
    return np.pad(image.cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0)))


def _box(sums: np.ndarray, x: int, y: int, span: int) -> np.ndarray:
    return sums[y + span, x + span] - sums[y, x + span] - sums[y + span, x] + sums[y, x]


def _means(image: np.ndarray, x: int, y: int, stride: int) -> np.ndarray:
    """S x S means of stride x stride pixels from (x, y) on, [3, S, S] u8."""
    part = image[y : y + S * stride, x : x + S * stride]
    rows = part.reshape(S, stride, S * stride, 3).sum(1, dtype=np.uint32)
    total = rows.reshape(S, S, stride, 3).sum(2)
    return ((total + stride * stride // 2) // (stride * stride)).astype(np.uint8).transpose(2, 0, 1)
