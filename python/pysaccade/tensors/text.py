"""The direction that lines of text run in, from the structure tensor, for sample_anisotropic()."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pysaccade._operators import _checks
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors._channel_makers import LUMA, gradient
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import ArrayT
from pysaccade.tensors.pyramid import TexturePyramid
from pysaccade.tensors.sampling import as_plan, sample


def text_direction(pyramid: Texture[ArrayT], plan: PatchPlan, *, level: int = 2, ratio: float | Tensor = 2.0) -> ArrayT:
    """Find the direction of text in each patch.

    Lines of text, seen so coarsely that letters melt, are bars: brightness changes across them. The structure tensor is
    the mean of the outer product of the gradient over a patch's area; text runs along its second eigenvector.

        >>> lines = torch.zeros(1, 128, 128)
        >>> lines[:, ::24] = lines[:, 1::24] = lines[:, 2::24] = 1.0  # three rows of 24, as level
        >>> pyramid = sc.TexturePyramid(lines)
        >>> plan = sc.PatchPlan(torch.tensor([[0.5, 0.5]]), 2.0)
        >>> sc.text_direction(pyramid, plan, ratio=4.0).round()
        tensor([[4., 0.]])

    Args:
        pyramid: Of one channel, or of R'G'B'; of NumPy arrays it needs torch, too.
        plan: The patches, of the pyramid's kind.
        level: Of the pyramid, that the gradient is taken of: one on which letters melt and lines don't. Lines about
            6 * 2^level pixels apart are right.
        ratio: Length of the result, 1 to 16: how much coarser sample_anisotropic() is along the text; a number or
            [.., N].

    Returns:
        [.., N, 2] of the plan's kind, its x not below 0. Where nothing has a direction it is (ratio, 0).

    Raises:
        TypeError, ValueError: An argument is wrong, or the pyramid has 2 channels or more than 3.

    Convention: (x, y) in pixels, y downwards.
    """
    found: ArrayT = _found(pyramid, plan, level, ratio)
    return found


def _found(pyramid: Any, plan: PatchPlan, level: int, ratio: float | Tensor) -> Any:
    who = "text_direction"
    if not isinstance(pyramid, Texture):
        raise TypeError(f"{who}: pyramid takes a TexturePyramid, not {_checks.shown(pyramid)}")
    if not _checks.is_tensor(pyramid._base()):
        levels = [torch.from_numpy(np.ascontiguousarray(pyramid[n])) for n in range(pyramid.levels)]
        found = _found(TexturePyramid.from_levels(levels), plan, level, ratio)
        return found.numpy()
    level = _checks.whole(level, who, "level", 0, pyramid.levels - 1)
    plan = as_plan(plan, pyramid._base(), who)
    with torch.no_grad():
        coarse = pyramid._levels_now()[level]
        products = TexturePyramid(_products(_brightness(coarse, who)), levels=None)
        area = plan.lod.float() + (math.log2(plan.patch_size) - level)
        places = plan.centers.float()
        found = _sampled(products, places, area, batched=pyramid._batched)
        xx, yy, xy = found.unbind(-1)
        angle = 0.5 * torch.atan2(2 * xy, xx - yy) + math.pi / 2  # of the second eigenvector
        direction = torch.stack([torch.cos(angle), torch.sin(angle)], -1)
        direction = torch.where(direction[..., :1] < 0, -direction, direction)
        level_ground = torch.tensor([1.0, 0.0], device=direction.device)
        flat = torch.hypot(xx - yy, 2 * xy) <= 1e-6 * (xx + yy) + 1e-12
        direction = torch.where(flat[..., None], level_ground, direction)
        length = torch.as_tensor(ratio, dtype=direction.dtype, device=direction.device)
        return (direction * (length[..., None] if length.ndim else length)).to(plan.centers.dtype)


def _brightness(image: Tensor, who: str) -> Tensor:
    values = image.to(torch.int32).float() if image.dtype == torch.uint16 else image.float()
    if values.shape[1] == 1:
        return values
    if values.shape[1] != 3:
        raise ValueError(f"{who}: pyramid has {values.shape[1]} channels; pass one of R'G'B' or of 1 channel")
    weights = torch.tensor(LUMA, device=values.device).view(1, 3, 1, 1)
    return (values * weights).sum(1, keepdim=True)


def _products(luma: Tensor) -> Tensor:
    """Products of the gradient, [B,3,h,w]: xx, yy, xy. Scharr's, whose direction is right at any angle."""
    x, y = gradient(torch.nn.functional.pad(luma, (1, 1, 1, 1), mode="replicate"))
    return torch.cat([x * x, y * y, x * y], 1)


def _sampled(products: TexturePyramid[Tensor], places: Tensor, lod: Tensor, *, batched: bool) -> Any:
    """[.., N, 3]."""
    if not batched:
        alone = TexturePyramid.from_levels([products.level(n)[0] for n in range(products.levels)])
        return sample(alone, places, lod).movedim(0, -1)
    if lod.ndim == 1:
        batch = products.shape[0]
        places, lod = places.expand(batch, *places.shape), lod.expand(batch, *lod.shape)
    return sample(products, places, lod).movedim(1, -1)
