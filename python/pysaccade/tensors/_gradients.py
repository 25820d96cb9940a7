"""Gradients without an operator around them: the way of calls at which autograd alone looks on.

An operator that is registered in Python costs 100 us and more each way, a torch.autograd.Function 10. Where somebody
else joins while gradients are computed (create_graph=True, vmap of a backward), the operators take over.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pysaccade._native._held import FREED, HIGH
from pysaccade._operators import _operators, _recording
from pysaccade._operators import _tensor_abi as abi
from pysaccade._operators._gate import is_held, readable
from pysaccade._operators._place import place_of
from pysaccade.tensors._known import Known
from pysaccade.tensors._storage import Layout, Storage, layout_of, pack_at
from pysaccade.tensors._way import DENSE, Way, made_apart

# torch.autograd's own vmap, which knows no rules of operators.
_is_batched = getattr(getattr(torch._C, "_functorch", None), "is_legacy_batchedtensor", lambda _: False)


def is_seen(*gradients: Tensor | None) -> bool:
    """Whether someone looks on at a backward, or will differentiate what it gives."""
    for gradient in gradients:
        if gradient is not None and _is_batched(gradient):
            raise RuntimeError(
                "pysaccade: is_grads_batched=True is not possible here; call torch.autograd.grad once for each gradient"
            )
    return torch.is_grad_enabled() or _recording.is_traced(*gradients)


class Mipmaps(torch.autograd.Function):
    """saccade::mipmaps: levels 1.. of image [B,C,H,W]."""

    @staticmethod
    def forward(ctx: Any, image: Tensor, known: Known) -> Any:
        """Make the levels."""
        ctx.odd = known.odd
        ctx.image = (image.shape, image.dtype, image.device)
        ctx.set_materialize_grads(False)
        return tuple(made_apart(image, known))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gather what each texel of the image has of its levels."""
        if is_seen(*gradients):
            return _operators._mipmaps_autograd(ctx, list(gradients))[:2]
        if all(gradient is None for gradient in gradients):
            return None, None
        shape, dtype, device = ctx.image
        return _operators._mipmaps_backward_now([None, *gradients], shape, dtype, device, ctx.odd), None


class StoredLevels(torch.autograd.Function):
    """Levels 1.. of an image as they lie in a Storage, with their way back to the image."""

    @staticmethod
    def forward(ctx: Any, image: Tensor, storage: Storage, odd: int) -> Any:
        """Give the levels that are there."""
        ctx.odd = odd
        ctx.image = (image.shape, image.dtype, image.device)
        ctx.set_materialize_grads(False)
        return tuple(level.detach() for level in storage.levels[1:])

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """As Mipmaps.backward()."""
        return *Mipmaps.backward(ctx, *gradients), None


class Call(NamedTuple):
    """A sampling but for its tensors."""

    derived: int  # how levels 1.. came from the image, as the library says it; -1: they are the caller's
    levels: int  # how many
    size: int  # S
    dtype: torch.dtype
    scale: float
    zeros: bool
    max_anisotropy: int
    rotate: bool


def _options(call: Call) -> bytes:
    return abi.packed_options(call.scale, call.zeros, call.max_anisotropy, call.rotate)


class ImagePatches(torch.autograd.Function):
    """saccade::sample of an image whose levels lie in a Storage: its gradient goes to the image."""

    @staticmethod
    def forward(
        ctx: Any, image: Tensor, centers: Tensor, lod: Tensor, direction: Tensor | None, storage: Storage, call: Call
    ) -> Tensor:
        """Sample patches [B,N,C,S,S]."""
        batch, many = lod.shape
        patches = torch.empty(
            (batch, many, image.shape[1], call.size, call.size), dtype=call.dtype, device=image.device
        )
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
        if is_seen(gradient):
            levels = [image, *layout.views(flat)]
            settings = (call.scale, call.zeros, call.max_anisotropy, call.rotate, call.derived, wanted)
            found = torch.ops.saccade.sample_backward(gradient, levels, centers, lod, direction, *settings)
            return (*[each if want else None for each, want in zip(found, wanted, strict=True)], None, None)
        packed = _packed(image, flat, layout)
        places = abi.readable_places(centers, lod, direction)
        return (*_image_gradients(gradient, image, layout, packed, places, wanted, call), None, None)


def _layout(image: Tensor, flat: Tensor, call: Call) -> Layout:
    """Where the levels of a saved image lie in a saved `flat`."""
    layout = layout_of(image.shape, image.stride(), abi.dtype_code(image), call.levels, call.derived)
    if layout.total != flat.numel() or image.dtype != flat.dtype:
        raise RuntimeError(
            "pysaccade: the image's memory was replaced between the sampling and its backward, as module.to() and "
            "image.data = ... do; compute the gradient first"
        )
    return layout


def _packed(image: Tensor, flat: Tensor, layout: Layout) -> bytes:
    """The levels of a saved image, in the memory that they have by now."""
    if not is_held(image) or not is_held(flat):
        raise ValueError(
            f"pysaccade: the memory of an image or of its levels {FREED}, between the sampling and its backward"
        )
    return layout.pack(image.data_ptr(), flat.data_ptr(), image.element_size())


def _image_gradients(
    gradient: Tensor,
    image: Tensor,
    layout: Layout,
    packed: bytes,
    places: tuple[Tensor, Tensor, Tensor | None],
    wanted: list[bool],
    call: Call,
) -> list[Tensor | None]:
    """The library's gradients of the image, centers, lod and direction, those that are wanted; packed: the levels."""
    unit = base = sums = None
    device = image.device
    if wanted[0]:
        base = image.new_empty(image.shape)
        fixed = image.is_cuda and torch.are_deterministic_algorithms_enabled()
        unit = torch.empty(2, dtype=torch.float64, device=device) if fixed else None
        wide = 8 if fixed or image.dtype == torch.float64 else 4
        # the base itself takes level 0's sums where it is wide enough
        elements = layout.dense + (0 if unit is None and image.element_size() == wide else image.numel())
        sums = torch.empty(elements * wide, dtype=torch.uint8, device=device)
    found = [
        place.new_empty(place.shape) if want and place is not None else None
        for place, want in zip(places, wanted[1:], strict=True)
    ]
    gradient = readable(gradient)
    abi.sample_image_backward(
        abi.place_of(image),
        packed,
        call.levels,
        abi.packed_places(*places),
        _options(call),
        abi._pack(gradient, 5),
        call.derived,
        None if base is None else abi._pack(base, 4),
        sums,
        unit,
        found,
    )
    return [base, *found]


class WayPatches(torch.autograd.Function):
    """saccade::sample of an image and a plan whose Way is known, in the caller's shapes."""

    @staticmethod
    def forward(
        ctx: Any, image: Tensor, centers: Tensor, lod: Tensor, storage: Storage, way: Way, packed: abi.Places
    ) -> Tensor:
        """Sample patches [..,C,S,S]."""
        ctx.save_for_backward(image, storage.flat, centers, lod)
        places = image.data_ptr(), storage.flat.data_ptr(), centers.data_ptr(), lod.data_ptr()
        ctx.made = way, storage, packed, places
        return way.sample(image, storage, packed)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Give the image, centers and lod their gradients."""
        (gradient,) = gradients
        image, flat, centers, lod = ctx.saved_tensors
        way, storage, packed, places = ctx.made
        needs = ctx.needs_input_grad
        wants_image = needs[0] and way.floating
        now = image.data_ptr(), flat.data_ptr(), centers.data_ptr(), lod.data_ptr()
        fixed = image.is_cuda and torch.are_deterministic_algorithms_enabled()
        if is_seen(gradient) or now != places or fixed:
            wanted = [wants_image, needs[1], needs[2], False]
            return (*_way_gradients(gradient, (image, flat, centers, lod), way, wanted), *_NO_GRADIENTS)
        if gradient.stride() == way.stride and not gradient.is_neg() and gradient.data_ptr() >= HIGH:
            packed_gradient = pack_at(gradient.data_ptr(), way.out)
        else:
            gradient = readable(gradient.reshape(way.flat))
            packed_gradient = abi._pack(gradient, 5)
        base = sums = to_centers = to_lod = None
        if wants_image:
            base = torch.empty_like(image, memory_format=DENSE)
            sums = image.new_empty(way.sums)
        if needs[1]:
            to_centers = torch.empty_like(centers)
        if needs[2]:
            to_lod = torch.empty_like(lod)
        abi.sample_image_backward(
            place_of(image),
            storage.packed,
            way.count,
            packed,
            way.options,
            packed_gradient,
            way.known.odd,
            None if base is None else pack_at(base.data_ptr(), way.base),
            sums,
            None,
            (to_centers, to_lod, None),
        )
        return (base, to_centers, to_lod, *_NO_GRADIENTS)


_NO_GRADIENTS = (None,) * 3  # of the storage, the way and what is packed
# Past Function.apply(), which looks for transforms: where a way is gone, there is none.
apply_way: Any = super(torch.autograd.Function, WayPatches).apply


def _way_gradients(gradient: Tensor, saved: Any, way: Way, wanted: list[bool]) -> list[Tensor | None]:
    """WayPatches.backward() where someone looks on, or saved tensors lie elsewhere by now."""
    image, flat, centers, lod = saved
    batch, many = way.flat[:2]
    call = Call(way.known.odd, way.known.layout.levels, way.flat[4], way.dtype, way.scale, False, 1, True)
    arranged = _arranged(centers, (batch, many, 2)), _arranged(lod, (batch, many))
    layout = _layout(image, flat, call)
    gradient = gradient.reshape(way.flat)
    found: list[Tensor | None]
    if is_seen(gradient):
        levels = [image, *layout.views(flat)]
        settings = (call.scale, call.zeros, call.max_anisotropy, call.rotate, call.derived, wanted)
        found = list(torch.ops.saccade.sample_backward(gradient, levels, *arranged, None, *settings))
    else:
        packed = _packed(image, flat, layout)
        places = abi.readable_places(*arranged, None)
        found = _image_gradients(gradient, image, layout, packed, places, wanted, call)
    found = [each if want else None for each, want in zip(found, wanted, strict=True)][:3]
    shapes = (image.shape, centers.shape, lod.shape)
    return [None if each is None else each.reshape(shape) for each, shape in zip(found, shapes, strict=True)]


def _arranged(places: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A plan's places [B,M,..]: those of one image are repeated for a batch."""
    return places.reshape(shape) if places.numel() == math.prod(shape) else places.expand(shape)


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
        settings = (call.scale, call.zeros, call.max_anisotropy, call.rotate, call.derived, wanted)
        backward = torch.ops.saccade.sample_backward if is_seen(gradient) else _operators._sample_backward_now
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
        if is_seen(gradient):
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
