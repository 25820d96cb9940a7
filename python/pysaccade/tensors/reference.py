"""Every tensor operation of pysaccade in a few lines of plain PyTorch: the definition that tests hold the kernels to.

Differentiable by autograd, any device, slow. Shapes and conventions are those of the functions of the same names in
`pysaccade`.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["gaussian_field", "generate_mipmaps", "mahalanobis", "sample", "sample_anisotropic", "sample_patches"]


def _batched(image: Tensor) -> Tensor:
    return image if image.dim() == 4 else image.unsqueeze(0)


def generate_mipmaps(image: Tensor, levels: int = 5, *, odd: str = "floor") -> list[Tensor]:
    """[image, level 1, ...]. Floating: repeated means of 2 x 2; integers: means of 4^l texels of level 0, halves up."""
    x = _batched(image)
    integral = not x.is_floating_point()
    if integral:
        x = x.to(torch.int64)
    height, width = x.shape[-2:]
    if odd == "edge":
        unit = 2 ** (levels - 1)
        # the image goes on as its last row and column
        rows = torch.arange(-(-height // unit) * unit, device=x.device).clamp(max=height - 1)
        columns = torch.arange(-(-width // unit) * unit, device=x.device).clamp(max=width - 1)
        x = x[..., rows, :][..., columns]
    out = [image]
    sums = x
    exact = torch.promote_types(x.dtype, torch.float32)  # halves are added as floats, and rounded once
    for level in range(1, levels):
        a, b = sums[..., ::2, ::2], sums[..., ::2, 1::2]
        c, d = sums[..., 1::2, ::2], sums[..., 1::2, 1::2]
        h, w = c.shape[-2], b.shape[-1]
        if not integral:
            a, b, c, d = (texels.to(exact) for texels in (a, b, c, d))
        four = ((a[..., :h, :w] + b[..., :h, :w]) + c[..., :h, :w]) + d[..., :h, :w]
        sums = four if integral else (four / 4).to(x.dtype)
        stored = ((sums + (1 << (2 * level - 1))) >> (2 * level)).to(image.dtype) if integral else sums
        if odd == "edge":
            stored = stored[..., : -(-height // 2**level), : -(-width // 2**level)]
        out.append(stored if image.dim() == 4 else stored[0])
    return out


def _read_level(level: Tensor, index: int, places_px: Tensor, padding: str, mode: str) -> Tensor:
    """[B,C,h,w] at level-0 pixels [B,*P,2] -> [B,C,*P], by grid_sample."""
    texel = places_px / 2**index  # the centre of texel i is i + 1/2
    if mode == "nearest":
        texel = texel.floor() + 0.5
    if padding == "wrap":
        rows, columns = (torch.arange(-1, n + 2, device=level.device) % n for n in level.shape[-2:])
        level, texel = level[..., rows, :][..., columns], texel + 1
    height, width = level.shape[-2:]
    size = torch.tensor([width, height], dtype=places_px.dtype, device=places_px.device)
    batch, *shape, _ = places_px.shape
    grid = (2 * texel / size - 1).reshape(batch, 1, -1, 2)
    read = F.grid_sample(
        level, grid, mode=mode, padding_mode="zeros" if padding == "zeros" else "border", align_corners=False
    )
    return read.reshape(batch, level.shape[1], *shape)


def _folded(places_px: Tensor, image: Tensor, padding: str) -> Tensor:
    """Places of an image that repeats, within the image."""
    if padding not in ("wrap", "mirror"):
        return places_px
    height, width = image.shape[-2:]
    size = torch.tensor([width, height], dtype=places_px.dtype, device=places_px.device)
    period = size if padding == "wrap" else 2 * size
    places_px = places_px - period * (places_px / period).floor()
    return places_px if padding == "wrap" else torch.where(places_px > size, period - places_px, places_px)


def _trilinear(levels: list[Tensor], places_px: Tensor, lod: Tensor, padding: str, mode: str) -> Tensor:
    """Lod [B,*P], already within the levels."""
    places_px = _folded(places_px, levels[0], padding)
    out = torch.zeros((), dtype=places_px.dtype, device=places_px.device)
    first = lod.detach().floor().clamp(max=len(levels) - 1)
    for index, level in enumerate(levels):
        # 1 at the level, 0 one level further: continuous, and its slope is the difference of the two
        fine = torch.where(first == index, 1 - (lod - index), torch.zeros_like(lod))
        coarse = torch.where(first == index - 1, lod - (index - 1), torch.zeros_like(lod))
        if index == len(levels) - 1:
            fine = torch.where(first == index, torch.ones_like(lod), torch.zeros_like(lod))
        weight = (fine + coarse).unsqueeze(1)
        out = out + weight * _read_level(level.to(places_px.dtype), index, places_px, padding, mode)
    return out


def _clamped(lod: Tensor, levels: int) -> Tensor:
    """Within the levels; the gradient is 1 from 0 on and before the last level, as of the side above, else 0."""
    last = levels - 1
    return torch.where((lod >= 0) & (lod < last), lod, lod.detach().clamp(0, last))


def sample(levels: list[Tensor], uv: Tensor, lod: Tensor, *, padding: str = "border", mode: str = "bilinear") -> Tensor:
    """[B,C,h,w] levels at uv [B,*P,2] and lod [B,*P] -> [B,C,*P]."""
    height, width = levels[0].shape[-2:]
    size = torch.tensor([width, height], dtype=uv.dtype, device=uv.device)
    return _trilinear(levels, uv * size, _clamped(lod, len(levels)), padding, mode)


def _offsets(size: int, like: Tensor) -> Tensor:
    return torch.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2


def sample_patches(
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    patch_size: int = 16,
    *,
    padding: str = "border",
    mode: str = "bilinear",
) -> Tensor:
    """[B,C,h,w] levels around centers [B,N,2] at lod [B,N] -> [B,N,C,S,S]; samples are 2^lod level-0 pixels apart."""
    direction = torch.zeros_like(centers) + torch.tensor([1.0, 0.0], dtype=centers.dtype, device=centers.device)
    return sample_anisotropic(levels, centers, lod, direction, patch_size, max_anisotropy=1, padding=padding, mode=mode)


def sample_anisotropic(
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    direction: Tensor,
    patch_size: int = 16,
    *,
    max_anisotropy: int = 16,
    rotate: bool = True,
    padding: str = "border",
    mode: str = "bilinear",
) -> Tensor:
    """As sample_patches, with steps of |direction| 2^lod along `direction` [B,N,2] and of 2^lod across it."""
    height, width = levels[0].shape[-2:]
    size_px = torch.tensor([width, height], dtype=centers.dtype, device=centers.device)
    lod = _clamped(lod, len(levels))
    pitch = (2.0**lod)[..., None, None, None]
    length = direction.norm(dim=-1, keepdim=True)
    has_length = length > 0
    length = torch.where(has_length, length, torch.ones_like(length))
    right = torch.tensor([1.0, 0.0], dtype=direction.dtype, device=direction.device)
    unit = torch.where(has_length, direction / length, right)
    ratio = length.clamp(1, max_anisotropy)
    line = (unit * ratio)[:, :, None, None, :]
    if rotate:
        along, across = line, torch.stack([-unit[..., 1], unit[..., 0]], -1)[:, :, None, None, :]
    else:
        along = torch.tensor([1.0, 0.0], dtype=centers.dtype, device=centers.device).expand_as(line)
        across = torch.tensor([0.0, 1.0], dtype=centers.dtype, device=centers.device).expand_as(line)
    steps = _offsets(patch_size, centers)
    grid = steps[None, None, None, :, None] * along + steps[None, None, :, None, None] * across
    count = ratio.detach().ceil()[..., 0]
    total = torch.zeros((), dtype=centers.dtype, device=centers.device)
    for probe in range(int(count.max()) if count.numel() else 0):
        t = (probe + 0.5) / count - 0.5
        places = (centers * size_px)[:, :, None, None, :] + (grid + t[..., None, None, None] * line) * pitch
        values = _trilinear(levels, places, lod[..., None, None].expand(places.shape[:-1]), padding, mode)
        used = (probe < count)[:, None, :, None, None]
        total = total + torch.where(used, values, torch.zeros_like(values)) / count[:, None, :, None, None]
    return total.transpose(1, 2)


def mahalanobis(x: Tensor, mean: Tensor, scale_tril: Tensor) -> Tensor:
    """X [..,P,D], mean [..,G,D], scale_tril [..,G,D,D] -> q [..,P,G]: |L^-1 (x - mean)|^2."""
    difference = x.unsqueeze(-2) - mean.unsqueeze(-3)  # [.., P, G, D]
    v = torch.linalg.solve_triangular(scale_tril.tril().unsqueeze(-4), difference.unsqueeze(-1), upper=False)
    return torch.sum(v.squeeze(-1).square(), -1)


def gaussian_field(
    x: Tensor, mean: Tensor, scale_tril: Tensor, weight: Tensor, *, cutoff: float | None = None
) -> Tensor:
    """Sum over g of weight [..,G,K] exp(-q/2) -> [..,P,K]; pairs further than `cutoff` standard deviations count 0."""
    q = mahalanobis(x, mean, scale_tril)
    e = torch.exp(-q / 2)
    if cutoff is not None:
        e = torch.where(q > cutoff**2, torch.zeros_like(e), e)
    return e @ weight
