"""Makers of channels: from a frame, from a fixation, from time.

Sums have one written order: a part of a frame gives the very bits that the whole would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

LUMA = (0.2126, 0.7152, 0.0722)  # BT.709
EDGE_REACH_PX = 16  # distances to edges beyond this are this
EDGE_MAGNITUDE = 0.1  # of Scharr's: 1 is a step from black to white
_CENTER_PX, _SURROUND_PX = 1, 8  # half sides of the two boxes


@dataclass(frozen=True)
class Maker:
    """Channels that are computed.

    make(frame, **about) gives [B, len(names), h, w] from a frame [B, 3, h + 2 reach, w + 2 reach], f32 in 0..1, its
    edges repeated. about: uv [2, h, w]; fixations [2, 2], the newest and the one before, [2, B, 2] of a stack that was
    made with batch=B; changed_at [B, 1, h, w], the
    number of the update that changed a texel last; now, the number of this one; size (H, W).
    """

    names: Sequence[str]
    make: Callable[..., Tensor]
    reach_px: int = 0  # how far around a pixel it looks
    of: str = "frame"  # "frame", "fixation", "time" (changes with every update) or "nothing"


@dataclass(frozen=True)
class Slot:
    """Channels that the user fills by ChannelStack.set()."""

    name: str
    names: Sequence[str]


def slot(name: str, channels: int = 1) -> Slot:
    """Make room for channels of your own: "attention", or "embedding.0" to "embedding.7"."""
    if channels < 1:
        raise ValueError(f"slot: channels is {channels}; it must be 1 or more")
    return Slot(name, [name] if channels == 1 else [f"{name}.{k}" for k in range(channels)])


def _inner(block: Tensor, reach: int) -> Tensor:
    return block[..., reach : block.shape[-2] - reach, reach : block.shape[-1] - reach] if reach else block


def _moved(block: Tensor, reach: int, dy: int, dx: int) -> Tensor:
    """The block without its rim, seen (dx, dy) further."""
    height, width = block.shape[-2] - 2 * reach, block.shape[-1] - 2 * reach
    return block[..., reach + dy : reach + dy + height, reach + dx : reach + dx + width]


def _rgb(frame: Tensor, **_: Any) -> Tensor:
    return frame


def _luma(frame: Tensor, **_: Any) -> Tensor:
    return (frame[:, 0:1] * LUMA[0] + frame[:, 1:2] * LUMA[1]) + frame[:, 2:3] * LUMA[2]


def gradient(luma: Tensor) -> tuple[Tensor, Tensor]:
    """Scharr's x and y of [B,1,h+2,w+2]: [B,1,h,w] each, 1 for a step from 0 to 1."""

    def at(dy: int, dx: int) -> Tensor:
        return _moved(luma, 1, dy, dx)

    x = ((at(-1, 1) - at(-1, -1)) * 3 + (at(0, 1) - at(0, -1)) * 10) + (at(1, 1) - at(1, -1)) * 3
    y = ((at(1, -1) - at(-1, -1)) * 3 + (at(1, 0) - at(-1, 0)) * 10) + (at(1, 1) - at(-1, 1)) * 3
    return x / 16, y / 16


def _magnitude(x: Tensor, y: Tensor) -> Tensor:
    return torch.sqrt(x * x + y * y)


def _scharr(frame: Tensor, **_: Any) -> Tensor:
    x, y = gradient(_luma(frame))
    return torch.cat([x, y, _magnitude(x, y)], 1)


def _box(block: Tensor, half: int) -> Tensor:
    """Mean of (2 half + 1)^2 around each pixel; the block loses `half` on each side."""
    height, width = block.shape[-2] - 2 * half, block.shape[-1] - 2 * half
    across = block[..., :width].clone()
    for k in range(1, 2 * half + 1):
        across += block[..., k : k + width]
    down = across[..., :height, :].clone()
    for k in range(1, 2 * half + 1):
        down += across[..., k : k + height, :]
    return down / (2 * half + 1) ** 2


def _center_surround(frame: Tensor, **_: Any) -> Tensor:
    luma = _luma(frame)
    return (_box(_inner(luma, _SURROUND_PX - _CENTER_PX), _CENTER_PX) - _box(luma, _SURROUND_PX)).abs()


def _edge_distance(frame: Tensor, **_: Any) -> Tensor:
    """Distance in pixels to the next edge, Euclidean, at most EDGE_REACH_PX, as a part of that."""
    edges = _magnitude(*gradient(_luma(frame))) > EDGE_MAGNITUDE
    reach = EDGE_REACH_PX
    far = float(reach * reach)
    height, width = edges.shape[-2] - 2 * reach, edges.shape[-1] - 2 * reach
    down = torch.full((*edges.shape[:-2], height, edges.shape[-1]), far, device=edges.device)
    for k in range(-reach, reach + 1):
        there = edges[..., reach + k : reach + k + height, :]
        down = torch.where(there, down.clamp(max=float(k * k)), down)
    nearest = torch.full((*edges.shape[:-2], height, width), far, device=edges.device)
    for k in range(-reach, reach + 1):
        nearest = torch.minimum(nearest, down[..., reach + k : reach + k + width] + float(k * k))
    return torch.sqrt(nearest) / reach


def _position(frame: Tensor, *, uv: Tensor, **_: Any) -> Tensor:
    return uv.expand(frame.shape[0], *uv.shape)


def _distance_from(point: Tensor, frame: Tensor, uv: Tensor) -> Tensor:
    """Of all texels uv [2, h, w] from a point [2], or from each image's own [B, 2]: [B, 1, h, w]."""
    x, y = (uv - point[..., None, None]).unbind(-3)
    distance = torch.sqrt(x * x + y * y)
    return distance.unsqueeze(-3).expand(frame.shape[0], 1, *distance.shape[-2:])


def _eccentricity(frame: Tensor, *, uv: Tensor, fixations: Tensor, **_: Any) -> Tensor:
    return _distance_from(fixations[0], frame, uv)


def _previous_fixation(frame: Tensor, *, uv: Tensor, fixations: Tensor, **_: Any) -> Tensor:
    return _distance_from(fixations[1], frame, uv)


def _last_change(frame: Tensor, *, changed_at: Tensor, **_: Any) -> Tensor:
    return changed_at


def _age(frame: Tensor, *, changed_at: Tensor, now: float, **_: Any) -> Tensor:
    return now - changed_at


MAKERS: dict[str, Maker] = {
    "rgb": Maker(("r", "g", "b"), _rgb),
    "luma": Maker(("luma",), _luma),
    "scharr": Maker(("scharr_x", "scharr_y", "scharr"), _scharr, reach_px=1),
    "center_surround": Maker(("center_surround",), _center_surround, reach_px=_SURROUND_PX),
    "edge_distance": Maker(("edge_distance",), _edge_distance, reach_px=EDGE_REACH_PX + 1),
    "position": Maker(("x", "y"), _position, of="nothing"),
    "eccentricity": Maker(("eccentricity",), _eccentricity, of="fixation"),  # in uv
    "previous_fixation": Maker(("previous_fixation",), _previous_fixation, of="fixation"),  # distance from it, in uv
    "last_change": Maker(("last_change",), _last_change),  # number of the update
    "age": Maker(("age",), _age, of="time"),  # in updates
}
