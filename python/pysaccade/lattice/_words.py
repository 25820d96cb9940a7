"""Words of lattices and kinds of arrays, for type checkers: a tensor gives tensors, an array gives arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    ArrayT = TypeVar("ArrayT", Tensor, "np.ndarray[Any, Any]")
else:
    ArrayT = TypeVar("ArrayT")

Kind = Literal["nested", "grid", "uniform"]
Unit = Literal["deg", "uv"]
Preset = Literal["geisler-perry", "horton-hoyt", "rovamo-virsu", "uv"]
Snap = bool | Literal["straight_through"]
Position = Literal["thw", "uv", "xyl"]
