"""Gradients by torch.autograd.Function, which costs a tenth of an operator that is registered in Python.

If a transform or a compiler joins while gradients are computed (create_graph=True, vmap of a backward), the operators
take over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from pysaccade._operators import _operators, _recording
from pysaccade._operators import _tensor_abi as abi
from pysaccade._operators._layout import Layout, layout_of
from pysaccade.tensors._call.storage import Storage

# torch.autograd's own vmap, which knows no rules of operators.
_is_batched = getattr(getattr(torch._C, "_functorch", None), "is_legacy_batchedtensor", lambda _: False)


def needs_operator(*gradients: Tensor | None) -> bool:
    """Whether a backward is intercepted, or what it gives will be differentiated."""
    for gradient in gradients:
        if gradient is not None and _is_batched(gradient):
            raise RuntimeError(
                "pysaccade: is_grads_batched=True is not possible here; call torch.autograd.grad once for each gradient"
            )
    return torch.is_grad_enabled() or _recording.is_traced(*gradients)


class Mipmaps(torch.autograd.Function):
    """saccade::mipmaps: levels 1.. of image [B,C,H,W] or [C,H,W], which are made, or lie in a Storage."""

    @staticmethod
    def forward(ctx: Any, image: Tensor, levels: int | Storage, odd: int) -> Any:
        """Make so many levels, or give those that are there."""
        ctx.odd = odd
        ctx.image = (image.shape, image.dtype, image.device)
        ctx.set_materialize_grads(False)
        if isinstance(levels, Storage):
            return tuple(level.detach() for level in levels.levels[1:])
        return tuple(_operators.mipmaps_now(image, levels, odd))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gather what each texel of the image has of its levels."""
        if needs_operator(*gradients):
            return _mipmaps_operator(ctx, gradients)
        if all(gradient is None for gradient in gradients):
            return None, None, None
        shape, dtype, device = ctx.image
        return _operators._mipmaps_backward_now([None, *gradients], shape, dtype, device, ctx.odd), None, None


def _mipmaps_operator(ctx: Any, gradients: tuple[Tensor | None, ...]) -> Any:
    """Mipmaps.backward() by the operator, which takes batches."""
    shape, dtype, device = ctx.image
    if len(shape) == 4:
        return _operators._mipmaps_autograd(ctx, list(gradients))
    ctx.image = ((1, *shape), dtype, device)
    found, *rest = _operators._mipmaps_autograd(ctx, [None if each is None else each[None] for each in gradients])
    ctx.image = (shape, dtype, device)
    return None if found is None else found[0], *rest


def mipmaps(image: Tensor, levels: int, odd: int) -> Any:
    """Levels 1.. of [B,C,H,W] or [C,H,W], recorded by autograd where it records."""
    if levels == 1 or image.numel() == 0:
        return _operators._empty_levels(image, levels, odd)
    if _recording.needs_gradient(image):
        return Mipmaps.apply(image, levels, odd)
    return _operators.mipmaps_now(image, levels, odd)


class Call(NamedTuple):
    """A sampling but for its tensors."""

    derived: int  # how levels 1.. came from the image, as the library says it; -1: they are the caller's
    levels: int  # how many
    size: int  # S
    dtype: torch.dtype
    scale: float
    padding: int
    max_anisotropy: int
    rotate: bool
    nearest: bool


def _options(call: Call) -> bytes:
    return abi.packed_options(call.scale, call.padding, call.max_anisotropy, call.rotate, call.nearest)


class ImagePatches(torch.autograd.Function):
    """saccade::sample of an image whose levels lie in a Storage: its gradient goes to the image."""

    @staticmethod
    def forward(
        ctx: Any, image: Tensor, centers: Tensor, lod: Tensor, direction: Tensor | None, storage: Storage, call: Call
    ) -> Tensor:
        """Sample patches [B,N,C,S,S]; of one image B may lack, in all of them."""
        shape = (*lod.shape, image.shape[1], call.size, call.size)
        patches = torch.empty(shape, dtype=call.dtype, device=image.device)
        ctx.call = call
        ctx.save_for_backward(image, storage.flat, centers, lod, direction)
        if patches.numel():
            places = abi.packed_places(centers, lod, direction)
            abi.sample(image, storage.packed, call.levels, places, _options(call), patches)
        return patches

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give the image, centers, lod and direction their gradients."""
        (gradient,) = gradients
        image, flat, centers, lod, direction = ctx.saved_tensors
        call = ctx.call
        needs = ctx.needs_input_grad
        wanted = [needs[0] and image.is_floating_point(), needs[1], needs[2], direction is not None and needs[3]]
        layout = _layout(image, flat, call)
        if needs_operator(gradient):
            levels = [image, *layout.views(flat)]
            settings = (*call[4:], call.derived, wanted)
            found = _sample_operator(gradient, levels, centers, lod, direction, *settings)
            return (*[each if want else None for each, want in zip(found, wanted, strict=True)], None, None)
        packed = layout.pack(image.data_ptr(), flat.data_ptr())
        places = abi.readable_places(centers, lod, direction)
        measures = call.levels, layout.dense, places, _options(call), call.derived, wanted
        return (*_operators.image_gradients(gradient, image, packed, *measures), None, None)


def _layout(image: Tensor, flat: Tensor, call: Call) -> Layout:
    """Where the levels of a saved image lie in a saved `flat`."""
    layout = layout_of(image.shape, image.stride(), image.dtype, call.levels, call.derived)
    if layout.total != flat.numel() or image.dtype != flat.dtype:
        raise RuntimeError(
            "pysaccade: the image's memory was replaced between the sampling and its backward, as module.to() and "
            "image.data = ... do; compute the gradient first"
        )
    return layout


def _sample_operator(
    gradient: Tensor, levels: list[Tensor], centers: Tensor, lod: Tensor, direction: Tensor | None, *settings: Any
) -> list[Tensor]:
    """saccade::sample_backward, which takes batches."""
    operator = torch.ops.saccade.sample_backward
    if lod.ndim == 2:
        return list(operator(gradient, levels, centers, lod, direction, *settings))
    alone = (centers[None], lod[None], None if direction is None else direction[None])
    *parts, to_centers, to_lod, to_direction = operator(gradient[None], levels, *alone, *settings)
    return [*parts, *[each[0] if each.ndim > 1 else each for each in (to_centers, to_lod, to_direction)]]


class LevelPatches(torch.autograd.Function):
    """saccade::sample of levels that are the caller's: each gets its own gradient."""

    @staticmethod
    def forward(
        ctx: Any, call: Call, centers: Tensor, lod: Tensor, direction: Tensor | None, *levels: Tensor
    ) -> Tensor:
        """Sample patches [B,N,C,S,S]."""
        ctx.call = call
        ctx.save_for_backward(centers, lod, direction, *levels)
        return _operators.sample_now(list(levels), centers, lod, direction, *call[2:])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give centers, lod, direction and the levels their gradients."""
        (gradient,) = gradients
        centers, lod, direction, *levels = ctx.saved_tensors
        needs = ctx.needs_input_grad
        floating = levels[0].is_floating_point()
        wanted = [floating and any(needs[4:]), needs[1], needs[2], direction is not None and needs[3]]
        call: Call = ctx.call
        settings = (*call[4:], call.derived, wanted)
        backward = _sample_operator if needs_operator(gradient) else _operators._sample_backward_now
        *parts, to_centers, to_lod, to_direction = backward(gradient, levels, centers, lod, direction, *settings)
        places = [
            each if want else None for each, want in zip((to_centers, to_lod, to_direction), wanted[1:], strict=True)
        ]
        to_levels: list[Tensor | None] = [None] * len(levels)
        if wanted[0]:
            to_levels[: len(parts)] = parts
        return (None, *places, *to_levels)


class Field(torch.autograd.Function):
    """saccade::gaussian_field."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, scale_tril: Tensor, weight: Tensor, most_q: float) -> Tensor:
        """Sum the Gaussians."""
        ctx.most_q = most_q
        ctx.save_for_backward(x, mean, scale_tril, weight)
        return _operators._gaussian_field_now(x, mean, scale_tril, weight, most_q)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give x, mean, scale_tril and weight their gradients."""
        (gradient,) = gradients
        if needs_operator(gradient):
            return _operators._gaussian_autograd(ctx, gradient)
        wanted = list(ctx.needs_input_grad[:4])
        x, mean, tril, weight = ctx.saved_tensors
        found = _operators._gaussian_field_backward_now(gradient, x, mean, tril, weight, ctx.most_q, wanted)
        return (*[each if want else None for each, want in zip(found, wanted, strict=True)], None)


class Mahalanobis(torch.autograd.Function):
    """saccade::mahalanobis."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mean: Tensor, scale_tril: Tensor) -> Tensor:
        """Squared distances [B,P,G]."""
        ctx.save_for_backward(x, mean, scale_tril)
        return _operators._mahalanobis_now(x, mean, scale_tril)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """By operators of torch."""
        return _operators._mahalanobis_autograd(ctx, gradients[0])
