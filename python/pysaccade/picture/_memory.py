"""`PictureMemory`: what earlier emissions showed, until it changes. docs/DUMPS.md has the rule.

The same rule as kernels/picture/memory.cpp, operation for operation: both take the same decisions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

ROUNDING = 2.2  # codes: how far two roundings of one mean lie apart at most; no multiple of 4^-k, so nothing is a tie
MOST_CHANGED = 0.5  # of what can be compared; beyond it what still agrees does so by chance
STAYS, UNCOVERED = -1, -2  # in place of a patch's number
_UNSEEN = 255  # in place of a lod
_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
_BETWEEN = 0.02  # of a texel: centres are stored as f32


class Held:
    """What is known of each pixel of a frame: the sample that it lies in, and the lod of that."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size
        self.colors: Array = np.zeros((3, *size), np.float32)
        self.lod: Array = np.full(size, _UNSEEN, np.uint8)

    def forget(self) -> None:
        """Restart with nothing."""
        self.lod[:] = _UNSEEN

    def add(self, colors: Array, geometry: Array) -> Array:
        """Take in an emission; which of its patches is to be painted at each pixel, [H, W] i32.

        STAYS: what was there is finer, and this emission agrees with it. UNCOVERED: no patch lies there.

        Args:
            colors: [N, 3, S, S] f32 in 0 to 255.
            geometry: [N, 4] f32.

        Raises:
            ValueError: Samples lie between texels.
        """
        patches = _placed(geometry, colors.shape[-1], self.size)
        agreed = self._compare(colors, patches)
        owner: Array = np.full(self.size, UNCOVERED, np.int32)
        for patch, known in zip(patches, agreed, strict=True):
            own = owner[patch.pixels]
            if known is None:
                own[:] = patch.number
            else:
                stays = patch.spread(known) & (self.lod[patch.pixels] < patch.lod)
                own[:] = np.where(stays, STAYS, patch.number)
        for patch in patches:
            mine = owner[patch.pixels] == patch.number
            self.lod[patch.pixels][mine] = patch.lod
            np.copyto(self.colors[:, patch.pixels[0], patch.pixels[1]], patch.spread(patch.samples(colors)), where=mine)
        self.lod[owner == UNCOVERED] = _UNSEEN
        return owner

    def _compare(self, colors: Array, patches: list[_Placed]) -> list[Array | None]:
        """Forget what changed in this emission. Of each patch: which samples could be compared, None: none of it."""
        if not patches or (self.lod == _UNSEEN).all():
            return [None] * len(patches)
        levels = _levels(self.colors, self.lod, max(patch.lod for patch in patches))
        compared = changed = 0
        comparable: list[Array | None] = []
        doubted: Array = np.zeros(self.size, bool)
        for patch in patches:
            means, coarsest = levels[patch.lod]
            known = coarsest[patch.texels] <= patch.lod
            comparable.append(known if known.any() else None)
            if not known.any():
                continue
            differs = known & _differs(patch.samples(colors), means, patch)
            compared += int(known.sum()) << 2 * patch.lod
            changed += int(differs.sum()) << 2 * patch.lod
            if differs.any():
                patch.mark_around(differs, doubted)
        if changed > MOST_CHANGED * compared:
            self.forget()
        else:
            self.lod[doubted] = _UNSEEN
        return comparable


class _Placed:
    """Where the part of a patch lies that meets the frame, in texels of its level and in pixels."""

    def __init__(self, number: int, lod: int, left: int, top: int, side: int, size: tuple[int, int]) -> None:
        self.number, self.lod, self.size = number, lod, size
        rows, cols = (-(-extent >> lod) for extent in size)  # texels that meet the frame
        top_end, left_end = min(top + side, rows), min(left + side, cols)
        begin = (max(top, 0), max(left, 0))
        self.is_inside = begin[0] < top_end and begin[1] < left_end
        self.texels = np.s_[begin[0] : top_end, begin[1] : left_end]
        self.own = np.s_[begin[0] - top : top_end - top, begin[1] - left : left_end - left]
        ends = (min(top_end << lod, size[0]), min(left_end << lod, size[1]))
        self.pixels = np.s_[begin[0] << lod : ends[0], begin[1] << lod : ends[1]]

    def samples(self, colors: Array) -> Array:
        """[3, h, w] of these texels."""
        of_patch: Array = colors[self.number][:, self.own[0], self.own[1]]
        return of_patch

    def spread(self, of_texels: Array) -> Array:
        """[..., h, w] of texels as [..., H, W] of pixels."""
        pitch = 1 << self.lod
        height, width = (part.stop - part.start for part in self.pixels)
        return of_texels.repeat(pitch, -2).repeat(pitch, -1)[..., :height, :width]

    def mark_around(self, texels: Array, out: Array) -> None:
        """Set the pixels of these texels and of their eight neighbours."""
        wide = np.pad(texels, 1)
        wide = np.pad(wide, ((1, 1), (0, 0)))
        wide = wide[:-2] | wide[1:-1] | wide[2:]
        wide = np.pad(wide, ((0, 0), (1, 1)))
        wide = wide[:, :-2] | wide[:, 1:-1] | wide[:, 2:]
        pitch = 1 << self.lod
        wide = wide.repeat(pitch, 0).repeat(pitch, 1)
        spans = []
        for axis, part in enumerate(self.texels):
            begin = (part.start - 1) * pitch
            end = min(begin + wide.shape[axis], self.size[axis])
            spans.append((slice(max(begin, 0), end), slice(max(-begin, 0), end - begin)))
        (rows, from_rows), (cols, from_cols) = spans
        out[rows, cols] |= wide[from_rows, from_cols]


def _placed(geometry: Array, side: int, size: tuple[int, int]) -> list[_Placed]:
    """The visible patches, coarse ones first."""
    placed = []
    x_px = geometry[:, 0].astype(np.float32) * np.float32(size[1])
    y_px = geometry[:, 1].astype(np.float32) * np.float32(size[0])
    for n in np.argsort(-geometry[:, 2], kind="stable"):
        if not geometry[n, 3] > 0:
            continue
        lod = round(float(geometry[n, 2]))
        pitch = 1 << max(lod, 0)
        left, top = (float(at[n]) / pitch - side / 2 for at in (x_px, y_px))
        off = max(abs(left - round(left)), abs(top - round(top)), abs(float(geometry[n, 2]) - lod))
        if off > _BETWEEN or not 0 <= lod < 25:
            raise ValueError(
                "memory: the samples lie between texels, so that nothing tells what stayed the same; "
                "sample with lattice nested, or paint without memory"
            )
        patch = _Placed(int(n), lod, round(left), round(top), side, size)
        if patch.is_inside:
            placed.append(patch)
    return placed


def _levels(colors: Array, lod: Array, last: int) -> list[tuple[Array, Array]]:
    """Of each level the means of what is held, the edge repeated, and the coarsest lod in them."""
    size, means, coarsest = lod.shape, colors, lod
    levels = [(means, coarsest)]
    for level in range(1, last + 1):  # each has a column and a row beyond the frame
        pads = [(0, 2 * ((-(-all_px >> level)) + 1) - extent) for all_px, extent in zip(size, lod.shape, strict=True)]
        colors, lod = np.pad(means, ((0, 0), *pads), mode="edge"), np.pad(coarsest, pads, mode="edge")
        upper, lower = colors[:, ::2], colors[:, 1::2]
        means = ((upper[..., ::2] + upper[..., 1::2]) + (lower[..., ::2] + lower[..., 1::2])) * np.float32(0.25)
        rows = np.maximum(lod[::2], lod[1::2])
        coarsest = np.maximum(rows[:, ::2], rows[:, 1::2])
        lod = coarsest
        levels.append((means, coarsest))
    return levels


def _differs(samples: Array, means: Array, patch: _Placed) -> Array:
    """Where samples [3, h, w] are no roundings of the means of their texels."""
    held = means[:, patch.texels[0], patch.texels[1]]
    delta = samples - held
    luma = _luma(delta)
    color = np.abs(delta - luma).max(axis=0)
    spread = _color_spread(means, patch) if patch.lod > 0 else np.float32(0)
    rounding = np.float32(ROUNDING)
    far = np.abs(luma) > rounding + spread * np.float32(0.0625)
    differs: Array = far | (color > rounding * 2 + spread * np.float32(0.5))
    return differs


def _color_spread(means: Array, patch: _Placed) -> Array:
    """How far colour (a channel less luma) goes apart in a texel and its neighbours: chroma is read between texels."""
    rows, cols = (
        np.clip(np.arange(part.start - 1, part.stop + 1), 0, -(-extent >> patch.lod) - 1)
        for part, extent in zip(patch.texels, patch.size, strict=True)
    )
    around = means[:, rows[:, None], cols]
    color = around - _luma(around)
    most, least = color, color
    for _ in range(2):
        most = np.maximum(np.maximum(most[:, :-2], most[:, 1:-1]), most[:, 2:]).transpose(0, 2, 1)
        least = np.minimum(np.minimum(least[:, :-2], least[:, 1:-1]), least[:, 2:]).transpose(0, 2, 1)
    spread: Array = (most - least).max(axis=0)
    return spread


def _luma(colors: Array) -> Array:
    luma: Array = (_LUMA[0] * colors[0] + _LUMA[1] * colors[1]) + _LUMA[2] * colors[2]
    return luma
