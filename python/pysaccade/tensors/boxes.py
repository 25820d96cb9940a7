"""Boxes of any shape, read as grids of one size: `roi_align`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pysaccade._operators import _checks
from pysaccade.tensors._sample_call import texture_of
from pysaccade.tensors.pyramid import TexturePyramid
from pysaccade.tensors.sampling import sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import Tensor

_WHO = "roi_align"
_MOST = 1 << 12  # bins, and samples of a bin, along an axis


def roi_align(
    pyramid: Any,
    boxes: Tensor | Sequence[Tensor],
    output_size: int | tuple[int, int],
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = False,
) -> Tensor:
    """Average boxes that need not be square over bins: torchvision.ops.roi_align, differentiable in the boxes too.

        >>> boxes = torch.tensor([[0.0, 4.0, 8.0, 60.0, 24.0]])
        >>> sc.roi_align(torch.rand(1, 3, 64, 64), boxes, (2, 8)).shape
        torch.Size([1, 3, 2, 8])

    Args:
        pyramid: A tensor [B, C, H, W]: the values are torchvision's. Or a TexturePyramid of one: each sample then reads
            the level of its distance to the next, so that few samples of a large box skip no pixel.
        boxes: [K, 5], (image, x1, y1, x2, y2), or for each image a tensor [L, 4], (x1, y1, x2, y2); in pixels of
            level 0 over `spatial_scale`.
        output_size: (rows, columns) of bins, or both as one number.
        spatial_scale: What the boxes' numbers are multiplied by.
        sampling_ratio: Samples of a bin along each axis; -1: one for each pixel that is begun, which makes a call for
            each number of them; a box without an area is then 0.
        aligned: True: a box's numbers are edges of pixels, as of `uv`. False: the centre of pixel i is at i, and a box
            is a pixel wide at least, as older models expect.

    Returns:
        [K, C, rows, columns]. Of codes (u8, u16) f32 from 0 to 1. Differentiable in the image and the boxes.

    Raises:
        TypeError, ValueError: An argument is wrong. The text names it and what to pass.

    Convention: samples more than a pixel outside the image are 0, others there are its edge.
    """
    if _checks.is_tensor(pyramid):
        pyramid = TexturePyramid(pyramid, levels=1)
    texture, base = texture_of(pyramid, _WHO)
    if not _checks.is_tensor(base) or not texture._batched:
        raise ValueError(f"{_WHO}: pyramid is {_checks.shown(base)}; pass a tensor [B, C, H, W], or a pyramid of one")
    rows, columns = output_size if isinstance(output_size, tuple) else (output_size, output_size)
    bins = (
        _checks.whole(columns, _WHO, "output_size", 1, _MOST),
        _checks.whole(rows, _WHO, "output_size", 1, _MOST),
    )
    if sampling_ratio != -1:
        _checks.whole(sampling_ratio, _WHO, "sampling_ratio", 1, _MOST)
    image, corners = _boxes_of(boxes, base)
    corners = corners * spatial_scale
    start, size = corners[:, :2], corners[:, 2:] - corners[:, :2]
    if aligned:
        start = start - 0.5
    else:
        size = size.clamp(min=1)
    return _averaged(pyramid, base, image, start, size, bins, sampling_ratio)


def _boxes_of(boxes: Any, base: Tensor) -> tuple[Tensor, Tensor]:
    """Whose image each box is of, [K], and its corners [K, 4]."""
    import torch

    if _checks.is_tensor(boxes):
        _checks.require_places(boxes, _WHO, "boxes", ("pyramid", base), None)
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise ValueError(f"{_WHO}: boxes is {_checks.shown(boxes)}; pass [K, 5], or a list of [L, 4], one an image")
        return boxes[:, 0].detach().long(), boxes[:, 1:]
    each = list(boxes)
    if len(each) != base.shape[0] or any(not _checks.is_tensor(one) or one.shape[1:] != (4,) for one in each):
        raise ValueError(
            f"{_WHO}: boxes is a list of {len(each)}; pass a tensor [L, 4] for each of {base.shape[0]} images"
        )
    counts = torch.tensor([len(one) for one in each], device=base.device)
    return torch.arange(len(each), device=base.device).repeat_interleave(counts), torch.cat(each)


def _averaged(
    pyramid: Any, base: Tensor, image: Tensor, start: Tensor, size: Tensor, bins: tuple[int, int], ratio: int
) -> Tensor:
    import torch

    dtype = base.dtype if base.is_floating_point() else torch.float32
    many = torch.tensor(bins, device=base.device, dtype=size.dtype)
    if ratio > 0:
        return _sampled(pyramid, image, start, size / many, bins, (ratio, ratio), dtype)
    found = torch.zeros((len(image), base.shape[1], bins[1], bins[0]), dtype=dtype, device=base.device)
    grids = (size.detach() / many).ceil().long()
    for grid in torch.unique(grids[(grids > 0).all(1)], dim=0):
        which = (grids == grid).all(1).nonzero()[:, 0]
        counts = (int(grid[0]), int(grid[1]))
        part = _sampled(pyramid, image[which], start[which], size[which] / many, bins, counts, dtype)
        found = found.index_copy(0, which, part)
    return found


def _sampled(
    pyramid: Any,
    image: Tensor,
    start: Tensor,
    bin_px: Tensor,
    bins: tuple[int, int],
    counts: tuple[int, int],
    dtype: torch.dtype,
) -> Tensor:
    """Boxes whose bins have the same number of samples: [K, C, rows, columns]."""
    import torch

    texture, base = texture_of(pyramid, _WHO)
    height, width = base.shape[-2:]
    step = bin_px / torch.tensor(counts, device=bin_px.device, dtype=bin_px.dtype)
    across, down = (
        torch.arange(n * k, device=step.device, dtype=step.dtype) + 0.5 for n, k in zip(bins, counts, strict=True)
    )
    x = start[:, :1] + across * step[:, :1]
    y = start[:, 1:] + down * step[:, 1:]
    shape = (len(image), y.shape[1], x.shape[1])
    places = torch.stack(
        [x[:, None, :].expand(shape), y[:, :, None].expand(shape)], -1
    )  # the centre of pixel i is at i
    lod = step.detach().amax(1).log2()[:, None, None].expand(places.shape[:-1])
    batch = base.shape[0]
    slot = torch.zeros_like(image)
    order = torch.argsort(image, stable=True)
    of_each = torch.bincount(image, minlength=batch)
    if len(of_each) > batch:
        raise ValueError(f"{_WHO}: a box is of image {len(of_each) - 1}; the pyramid has {batch}")
    slot[order] = torch.arange(len(image), device=image.device) - (of_each.cumsum(0) - of_each)[image[order]]
    most = int(of_each.max()) if len(image) else 0
    uv = places.new_zeros((batch, most, *places.shape[1:])).index_put((image, slot), places + 0.5)
    lods = lod.new_zeros((batch, most, *places.shape[1:-1])).index_put((image, slot), lod)
    values: Tensor = sample(pyramid, uv, lods if texture._count > 1 else None, unit="px", dtype=dtype)
    values = values.transpose(1, 2)[image, slot]  # [K, C, rows * k, columns * k]
    counts_x = (x >= -1) & (x <= width)
    counts_y = (y >= -1) & (y <= height)
    values = values * (counts_y[:, None, :, None] & counts_x[:, None, None, :])
    grid = values.reshape(len(image), base.shape[1], bins[1], counts[1], bins[0], counts[0])
    averages: Tensor = grid.mean((3, 5))
    return averages
