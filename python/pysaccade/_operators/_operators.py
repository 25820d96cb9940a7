"""The torch operators of pysaccade: saccade::mipmaps, sample, gaussian_field, mahalanobis, their fakes and gradients.

Registered when this module is imported. The public functions check their arguments and call these.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from pysaccade._operators import _tensor_abi as abi
from pysaccade._operators._gate import readable
from pysaccade._operators._layout import extent, layout_of
from pysaccade._operators._refusal import Refusal

_library: Any = cast(Any, torch.library).Library("saccade", "DEF")
_DEVICES = ("CPU", "CUDA")


def _define(schema: str, function: Any, fake: Any) -> None:
    name = schema.split("(", maxsplit=1)[0]
    _library.define(schema)
    for device in _DEVICES:
        _library.impl(name, function, device)
    torch.library.register_fake(f"saccade::{name}", fake, lib=_library)


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype that sums of `dtype` are kept in."""
    return torch.float64 if dtype == torch.float64 else torch.float32


# ---- Mip levels ------------------------------------------------------------------------------------------------------


def _empty_levels(image: Tensor, levels: int, odd: int) -> list[Tensor]:
    height, width = image.shape[-2:]
    head = image.shape[:-2]
    return [
        image.new_empty((*head, extent(height, level, odd), extent(width, level, odd))) for level in range(1, levels)
    ]


def mipmaps_now(image: Tensor, levels: int, odd: int) -> list[Tensor]:
    """Levels 1.. of image [B,C,H,W] or [C,H,W], without an operator around it."""
    image = readable(image)
    dtype, device = image.dtype, image.device
    layout = layout_of(image.shape, image.stride(), dtype, levels, odd)
    places = zip(layout.shapes, layout.steps, strict=True)
    # a third faster than new_empty()
    out = [torch.empty_strided(shape, steps, dtype=dtype, device=device) for shape, steps in places]
    size = abi.reduce_workspace_bytes(image, levels)
    workspace = torch.empty(size, dtype=torch.uint8, device=device) if size else None
    packed = layout.pack_apart(image.data_ptr(), [level.data_ptr() for level in out])
    abi.reduce(image, packed, levels, odd, workspace)
    return out


def _mipmaps_backward_now(
    gradients: list[Tensor | None], shape: list[int], dtype: torch.dtype, device: torch.device, odd: int
) -> Tensor:
    base = torch.empty(shape, dtype=dtype, device=device)
    dense = [None if gradient is None else gradient.contiguous() for gradient in gradients]
    abi.reduce_backward(base, dense, odd)
    return base


_define(
    "mipmaps(Tensor image, int levels, int odd) -> Tensor[]",
    mipmaps_now,
    _empty_levels,
)
_define(
    "mipmaps_backward(Tensor?[] gradients, SymInt[] shape, ScalarType dtype, Device device, int odd) -> Tensor",
    _mipmaps_backward_now,
    lambda gradients, shape, dtype, device, odd: torch.empty(shape, dtype=dtype, device=device),
)


def _mipmaps_setup(ctx: Any, inputs: Any, output: Any) -> None:
    image, _, ctx.odd = inputs
    ctx.image = (list(image.shape), image.dtype, image.device)


def _mipmaps_autograd(ctx: Any, gradients: list[Tensor | None]) -> Any:
    shape, dtype, device = ctx.image
    if all(gradient is None for gradient in gradients):
        return None, None, None
    result = torch.ops.saccade.mipmaps_backward([None, *gradients], shape, dtype, device, ctx.odd)
    if torch.is_grad_enabled():
        # torch records no operator whose argument is a list of optional tensors: the way back would just be missing
        result = Refusal.apply("mipmaps", result, *[each for each in gradients if each is not None])
    return result, None, None


torch.library.register_autograd("saccade::mipmaps", _mipmaps_autograd, setup_context=_mipmaps_setup, lib=_library)

# ---- Patches ---------------------------------------------------------------------------------------------------------

_SETTINGS = "float scale, int padding, int max_anisotropy, bool rotate, bool nearest"


def sample_now(
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    direction: Tensor | None,
    size: int,
    dtype: torch.dtype,
    scale: float,
    padding: int,
    max_anisotropy: int,
    rotate: bool,
    nearest: bool,
    derived: int = -1,
) -> Tensor:
    """Patches [B,N,C,S,S], without an operator around it; of one image B may lack, of the places, too."""
    out = torch.empty((*lod.shape, levels[0].shape[1], size, size), dtype=dtype, device=levels[0].device)
    levels = [readable(level) for level in levels]
    centers, lod, direction = abi.readable_places(centers, lod, direction)
    places = abi.packed_places(centers, lod, direction)
    options = abi.packed_options(scale, padding, max_anisotropy, rotate, nearest)
    abi.sample(levels[0], abi.packed_levels(levels), len(levels), places, options, out)
    return out


def _sample_fake(
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    direction: Tensor | None,
    size: int,
    dtype: torch.dtype,
    *_: Any,
) -> Tensor:
    return levels[0].new_empty((lod.shape[0], lod.shape[1], levels[0].shape[1], size, size), dtype=dtype)


_define(
    f"sample(Tensor[] levels, Tensor centers, Tensor lod, Tensor? direction, int size, ScalarType dtype, {_SETTINGS}, "
    "int derived) -> Tensor",
    sample_now,
    _sample_fake,
)


def image_gradients(
    gradient: Tensor,
    image: Tensor,
    levels: bytes,
    count: int,
    above: int,
    places: tuple[Tensor, Tensor, Tensor | None],
    options: bytes,
    derived: int,
    wanted: list[bool],
) -> list[Tensor | None]:
    """Gradients of an image [B,C,H,W], centers, lod and direction, those that are wanted.

    levels: all `count` of them, packed; above: how many elements levels 1.. have; derived: how they came of the image.
    """
    unit = base = sums = None
    if wanted[0]:
        base = torch.empty(image.shape, dtype=image.dtype, device=image.device)
        fixed = image.is_cuda and torch.are_deterministic_algorithms_enabled()
        unit = torch.empty(2, dtype=torch.float64, device=image.device) if fixed else None
        bytes_each = 8 if fixed else wide(image.dtype).itemsize
        # the base itself takes level 0's sums where it is wide enough
        elements = above + (0 if unit is None and image.element_size() == bytes_each else image.numel())
        sums = torch.empty(elements * bytes_each, dtype=torch.uint8, device=image.device)
    found = [
        torch.empty(place.shape, dtype=place.dtype, device=place.device) if want and place is not None else None
        for place, want in zip(places, wanted[1:], strict=True)
    ]
    gradient, packed = readable(gradient), abi.packed_places(*places)
    abi.sample_image_backward(image, levels, count, packed, options, gradient, derived, base, sums, unit, found)
    return [base, *found]


def _sample_backward_now(
    gradient: Tensor,
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    direction: Tensor | None,
    scale: float,
    padding: int,
    max_anisotropy: int,
    rotate: bool,
    nearest: bool,
    derived: int,
    wanted: list[bool],
) -> list[Tensor]:
    """Gradients of the levels (or of their image), centers, lod and direction; empty: not wanted. None share memory."""
    levels = [readable(level) for level in levels]
    places = abi.readable_places(centers, lod, direction)
    options = abi.packed_options(scale, padding, max_anisotropy, rotate, nearest)
    packed, count = abi.packed_levels(levels), len(levels)
    if derived >= 0 or not wanted[0]:
        above = sum(level.numel() for level in levels[1:])
        chosen = [derived >= 0 and wanted[0], *wanted[1:]]
        order = max(derived, 0)
        found = image_gradients(gradient, levels[0], packed, count, above, places, options, order, chosen)
        return [gradient.new_empty(0) if each is None else each for each in found]
    unit: Tensor | None = None
    if gradient.is_cuda and torch.are_deterministic_algorithms_enabled():
        unit = torch.empty(2, dtype=torch.float64, device=gradient.device)
        abi.gradient_unit(gradient, unit)
    dtype = torch.int64 if unit is not None else wide(levels[0].dtype)
    sums = [torch.zeros(level.shape, dtype=dtype, device=level.device) for level in levels]
    given = [
        place.new_empty(place.shape) if want and place is not None else None
        for place, want in zip(places, wanted[1:], strict=True)
    ]
    abi.sample_backward(levels, packed, abi.packed_places(*places), options, readable(gradient), sums, unit, given)
    to_levels = [_as_gradient(part, unit, level) for part, level in zip(sums, levels, strict=True)]
    return [*to_levels, *[gradient.new_empty(0) if each is None else each for each in given]]


def _as_gradient(sums: Tensor, unit: Tensor | None, level: Tensor) -> Tensor:
    if unit is None:
        return sums.to(level.dtype)
    return (sums.to(torch.float64) * unit[0]).to(level.dtype)


def _sample_backward_fake(
    gradient: Tensor,
    levels: list[Tensor],
    centers: Tensor,
    lod: Tensor,
    direction: Tensor | None,
    scale: float,
    padding: int,
    max_anisotropy: int,
    rotate: bool,
    nearest: bool,
    derived: int,
    wanted: list[bool],
) -> list[Tensor]:
    fits = levels if derived < 0 else levels[:1]
    results = [level.new_empty(level.shape) for level in fits] if wanted[0] else [gradient.new_empty(0)]
    places = [centers, lod, direction]
    for place, is_wanted in zip(places, wanted[1:], strict=True):
        results.append(gradient.new_empty(0) if place is None or not is_wanted else place.new_empty(place.shape))
    return results


_define(
    "sample_backward(Tensor gradient, Tensor[] levels, Tensor centers, Tensor lod, Tensor? direction, "
    f"{_SETTINGS}, int derived, bool[] wanted) -> Tensor[]",
    _sample_backward_now,
    _sample_backward_fake,
)


def _sample_setup(ctx: Any, inputs: Any, output: Any) -> None:
    levels, centers, lod, direction, _, _, *ctx.settings = inputs
    ctx.count = len(levels)
    ctx.has_direction = direction is not None
    ctx.save_for_backward(*levels, centers, lod, *([direction] if direction is not None else []))


def _sample_autograd(ctx: Any, gradient: Tensor) -> Any:
    saved = list(ctx.saved_tensors)
    levels, (centers, lod, *rest) = saved[: ctx.count], saved[ctx.count :]
    direction = rest[0] if ctx.has_direction else None
    needs = ctx.needs_input_grad
    floating = levels[0].is_floating_point()
    needs_levels = needs[0] if isinstance(needs[0], bool) else any(needs[0])
    wanted = [floating and needs_levels, needs[1], needs[2], ctx.has_direction and needs[3]]
    if not any(wanted):
        return (None,) * (6 + len(ctx.settings))
    *parts, to_centers, to_lod, to_direction = torch.ops.saccade.sample_backward(
        gradient, levels, centers, lod, direction, *ctx.settings, wanted
    )
    to_levels: list[Tensor | None] = [None] * ctx.count
    if wanted[0]:
        to_levels[: len(parts)] = parts
    return (
        to_levels,
        to_centers if wanted[1] else None,
        to_lod if wanted[2] else None,
        to_direction if wanted[3] else None,
        *([None] * (2 + len(ctx.settings))),
    )


torch.library.register_autograd("saccade::sample", _sample_autograd, setup_context=_sample_setup, lib=_library)

# ---- Gaussian fields -------------------------------------------------------------------------------------------------


def _workspace(gaussians: abi.Gaussians, like: Tensor) -> Tensor | None:
    size = gaussians.workspace_bytes() if like.is_cuda else 0
    return torch.empty(size, dtype=torch.uint8, device=like.device) if size else None


def _gaussian_field_now(x: Tensor, mean: Tensor, scale_tril: Tensor, weight: Tensor, most_q: float) -> Tensor:
    out = x.new_empty((*x.shape[:-1], weight.shape[-1]))
    if mean.shape[-2] == 0:
        return out.zero_()
    gaussians = abi.Gaussians(x, mean, scale_tril, weight, most_q)
    gaussians.field(_workspace(gaussians, x), out)
    return out


def _gaussian_field_backward_now(
    gradient: Tensor, x: Tensor, mean: Tensor, scale_tril: Tensor, weight: Tensor, most_q: float, wanted: list[bool]
) -> list[Tensor]:
    inputs = (x, mean, scale_tril, weight)
    empty = x.shape[-2] == 0 or mean.shape[-2] == 0 or weight.shape[-1] == 0
    make = torch.zeros_like if empty else torch.empty_like
    results = [make(tensor) if want else None for tensor, want in zip(inputs, wanted, strict=True)]
    if not empty:
        gaussians = abi.Gaussians(x, mean, scale_tril, weight, most_q)
        gaussians.backward(gradient.contiguous(), _workspace(gaussians, x), results)
    return [x.new_empty(0) if result is None else result for result in results]


_define(
    "gaussian_field(Tensor x, Tensor mean, Tensor scale_tril, Tensor weight, float most_q) -> Tensor",
    _gaussian_field_now,
    lambda x, mean, scale_tril, weight, most_q: x.new_empty((x.shape[0], x.shape[1], weight.shape[2])),
)
_define(
    "gaussian_field_backward(Tensor gradient, Tensor x, Tensor mean, Tensor scale_tril, Tensor weight, float most_q, "
    "bool[] wanted) -> Tensor[]",
    _gaussian_field_backward_now,
    lambda gradient, x, mean, scale_tril, weight, most_q, wanted: [
        tensor.new_empty(tensor.shape) if want else x.new_empty(0)
        for tensor, want in zip((x, mean, scale_tril, weight), wanted, strict=True)
    ],
)


def _gaussian_setup(ctx: Any, inputs: Any, output: Any) -> None:
    *tensors, ctx.most_q = inputs
    ctx.save_for_backward(*tensors)


def _gaussian_autograd(ctx: Any, gradient: Tensor) -> Any:
    wanted = list(ctx.needs_input_grad[:4])
    if not any(wanted):
        return (None,) * 5
    results = torch.ops.saccade.gaussian_field_backward(gradient, *ctx.saved_tensors, ctx.most_q, wanted)
    return (*[result if want else None for result, want in zip(results, wanted, strict=True)], None)


torch.library.register_autograd(
    "saccade::gaussian_field", _gaussian_autograd, setup_context=_gaussian_setup, lib=_library
)


def _mahalanobis_now(x: Tensor, mean: Tensor, scale_tril: Tensor) -> Tensor:
    out = x.new_empty((*x.shape[:-1], mean.shape[-2]))
    abi.Gaussians(x, mean, scale_tril, None, float("inf")).mahalanobis(out)
    return out


_define(
    "mahalanobis(Tensor x, Tensor mean, Tensor scale_tril) -> Tensor",
    _mahalanobis_now,
    lambda x, mean, scale_tril: x.new_empty((x.shape[0], x.shape[1], mean.shape[1])),
)


def _mahalanobis_setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _mahalanobis_autograd(ctx: Any, gradient: Tensor) -> Any:
    x, mean, scale_tril = ctx.saved_tensors
    axes = range(x.shape[-1])
    # Bounds as in gaussian_math.h: where the gradient is 0, as exp(-q/2) gives it, 0 comes back and not 0 * infinity.
    farthest, greatest = (2.0**514, 2.0**1022) if x.dtype == torch.float64 else (2.0**66, 2.0**126)
    lower = [[scale_tril[..., row, k].unsqueeze(-2) for k in range(row)] for row in axes]  # [B, 1, G] each
    scale = [scale_tril[..., i, i].unsqueeze(-2).reciprocal().clamp(-greatest, greatest) for i in axes]
    difference = x.unsqueeze(-2) - mean.unsqueeze(-3)  # [B, P, G, D]
    v: list[Tensor] = []  # L^-1 (x - mean)
    for row in axes:
        rest = sum((-lower[row][k] * v[k] for k in range(row)), difference[..., row])
        v.append((rest * scale[row]).clamp(-farthest, farthest))
    a: list[Tensor] = [2 * gradient * each for each in v]  # L^-T of that
    for column in reversed(axes):
        a[column] = sum((-lower[row][column] * a[row] for row in axes[column + 1 :]), a[column]) * scale[column]
    pull = torch.stack(a, -1)
    to_tril = -torch.einsum("...pgi,...pgj->...gij", pull, torch.stack(v, -1)).tril()
    return pull.sum(-2), -pull.sum(-3), to_tril


torch.library.register_autograd(
    "saccade::mahalanobis", _mahalanobis_autograd, setup_context=_mahalanobis_setup, lib=_library
)
