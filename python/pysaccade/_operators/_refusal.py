"""Second derivatives, which the operators have not: an error says so."""

from __future__ import annotations

from typing import Any, NoReturn

import torch
from torch import Tensor


def refuse(name: str) -> NoReturn:
    raise RuntimeError(
        f"pysaccade: {name} has no second derivative (create_graph=True asks for one); pysaccade.reference has"
    )


class Refusal(torch.autograd.Function):
    """A gradient that can't be differentiated again, and says so when someone tries."""

    @staticmethod
    def forward(ctx: Any, name: str, result: Tensor, *of: Tensor) -> Tensor:
        """Pass the result of an operator's backward on; `of`: what it was computed from."""
        ctx.name = name
        return result.view_as(result)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        """Raise RuntimeError."""
        refuse(ctx.name)
