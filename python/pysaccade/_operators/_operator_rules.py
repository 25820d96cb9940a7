"""What the operators of _operators.py say to torch's transforms: vmap, and second derivatives, which they refuse."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pysaccade._operators import _operators
from pysaccade._operators._refusal import refuse

_WITHOUT_GAPS = ("gaussian_field", "gaussian_field_backward", "mahalanobis")
# Arguments that are places [B, M, ..]: where all others are shared, those that are mapped are just more places.
_PLACES = {"sample": (1, 2, 3), "gaussian_field": (0,), "mahalanobis": (0,)}
_BACKWARDS = ("mipmaps_backward", "sample_backward", "gaussian_field_backward")


def _no_second_gradient(name: str) -> None:
    def refused(ctx: Any, *gradients: Any) -> Any:
        refuse(name)

    torch.library.register_autograd(f"saccade::{name}_backward", refused, lib=_operators._library)


for _name in ("sample", "gaussian_field"):
    _no_second_gradient(_name)


# ---- vmap: the mapped axis joins the batch ---------------------------------------------------------------------------


def _in_front(tensor: Tensor, dim: int | None, many: int) -> Tensor:
    """The mapped axis first; what is not mapped is repeated."""
    if dim is None:
        return tensor.expand(many, *tensor.shape)
    return tensor.movedim(dim, 0)


def _is_mapped(dim: Any) -> bool:
    return any(map(_is_mapped, dim)) if isinstance(dim, (list, tuple)) else dim is not None


def _as_places(value: Tensor | None, dim: int | None, many: int) -> Tensor | None:
    """[V,B,M,..] as [B,V*M,..]."""
    return None if value is None else _in_front(value, dim, many).transpose(0, 1).flatten(1, 2).contiguous()


def _joined(value: Any, dim: Any, many: int) -> Any:
    """[V,B,..] as [V*B,..], of a tensor or a list of them; anything else stays.

    What is not mapped is copied where B is more than 1.
    """
    if isinstance(value, Tensor):
        return _in_front(value, dim, many).flatten(0, 1)
    if isinstance(value, (list, tuple)) and any(isinstance(each, Tensor) for each in value):
        dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
        return [_joined(each, one, many) for each, one in zip(value, dims, strict=True)]
    return value


def _split(value: Any, many: int) -> Any:
    if isinstance(value, Tensor):
        return value.reshape(many, value.shape[0] // many, *value.shape[1:]) if value.dim() > 1 else value
    return [_split(each, many) for each in value]


def _out_dims(value: Any) -> Any:
    if isinstance(value, Tensor):
        return 0 if value.dim() > 1 else None  # an empty vector stands for nothing
    return [_out_dims(each) for each in value]


def _map_batch(name: str) -> None:
    operator = getattr(torch.ops.saccade, name)

    def rule(info: Any, in_dims: Any, *arguments: Any) -> Any:
        many = info.batch_size
        if many == 0:
            raise ValueError(f"pysaccade: vmap of {name} over an axis of length 0")
        places = _PLACES.get(name, ())
        if places and not any(_is_mapped(dim) for index, dim in enumerate(in_dims) if index not in places):
            wide = [
                _as_places(value, in_dims[index], many) if index in places else value
                for index, value in enumerate(arguments)
            ]
            made = operator(*wide)
            return made.unflatten(1, (many, made.shape[1] // many)), 1
        joined = [_joined(value, dim, many) for value, dim in zip(arguments, in_dims, strict=True)]
        if name in _WITHOUT_GAPS:
            joined = [value.contiguous() if isinstance(value, Tensor) else value for value in joined]
        if name == "mipmaps_backward":  # its second argument is the shape of the result
            joined[1] = [many * joined[1][0], *joined[1][1:]]
        made = operator(*joined)
        dims = _out_dims(made)
        return _split(made, many), dims

    torch.library.register_vmap(f"saccade::{name}", rule, lib=_operators._library)


if hasattr(torch.library, "register_vmap"):  # torch 2.5 and later
    for _name in ("mipmaps", "sample", "gaussian_field", "mahalanobis", *_BACKWARDS):
        _map_batch(_name)
