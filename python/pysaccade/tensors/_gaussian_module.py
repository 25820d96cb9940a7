"""GaussianField: a sum of Gaussians as a torch module."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from pysaccade._native._arrays import place_of
from pysaccade._operators import _checks
from pysaccade.tensors.gaussian import MOST_DIMENSIONS, gaussian_field, require_cutoff

_FIRST_WIDTH = 0.5  # of a Gaussian, in mean distances of neighbours


def _volume(size: Any, who: str) -> tuple[float, ...]:
    """Lengths of a box, of one for a cube."""
    try:
        one = isinstance(size, (int, float)) or getattr(size, "ndim", None) == 0
        lengths = (float(size),) * 3 if one else tuple(float(each) for each in size)
    except (TypeError, ValueError):
        lengths = ()
    known = not isinstance(size, str) and 1 <= len(lengths) <= MOST_DIMENSIONS
    if not known or not all(math.isfinite(length) and length > 0 for length in lengths):
        raise ValueError(f"{who}: volume_size is {size!r}; pass 1 to 4 finite lengths above 0")
    return lengths


class GaussianField(nn.Module):
    """A field that is learnt: num_gaussians Gaussians in a box.

        >>> field = sc.GaussianField(1000, volume_size=(64, 64, 64))
        >>> loss = (field(torch.rand(500, 3) * 64) - 1).square().mean()
        >>> loss.backward()
        >>> field.means.grad.shape
        torch.Size([1000, 3])

    Parameters: means [G, D] in the units of volume_size; log_scales [G, D], the logarithm of L's diagonal; off_diagonal
    [G, D(D-1)/2], the rest of L row by row, with use_full_cov; weights [G, K].

    Convention: a point's coordinates are those of the box, 0 to volume_size[d] along axis d.
    """

    off_diagonal: nn.Parameter | None

    def __init__(
        self,
        num_gaussians: int,
        volume_size: float | Sequence[float] = (1.0, 1.0, 1.0),
        use_full_cov: bool = True,
        *,
        channels: int = 1,
        cutoff: float | None = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        """Spread Gaussians evenly over a box.

        Args:
            num_gaussians: G.
            volume_size: The box's size along each axis, 1 to 4 of them; one number: a cube.
            use_full_cov: False: axes of the Gaussians are those of the box.
            channels: K.
            cutoff: As gaussian_field().
            device: Of the parameters.
            dtype: torch.float32 or torch.float64.
            generator: Of the means.

        Raises:
            TypeError, ValueError: An argument is wrong. The text names it and what to pass.
        """
        super().__init__()
        who = "GaussianField"
        size = _volume(volume_size, who)
        num_gaussians = _checks.whole(num_gaussians, who, "num_gaussians", 1, 1 << 40)
        channels = _checks.whole(channels, who, "channels", 1, 1 << 20)
        require_cutoff(cutoff, who)
        if dtype not in {None, torch.float32, torch.float64}:
            raise TypeError(f"{who}: dtype is {_checks.shown(dtype)}; pass torch.float32 or torch.float64")
        dimensions = len(size)
        self.volume_size, self.cutoff = size, cutoff
        make: dict[str, Any] = {"device": device, "dtype": dtype}
        box = torch.tensor(size, **make)
        self.means = nn.Parameter(torch.rand(num_gaussians, dimensions, generator=generator, **make) * box)
        width = _FIRST_WIDTH * (math.prod(size) / num_gaussians) ** (1 / dimensions)
        self.log_scales = nn.Parameter(torch.full((num_gaussians, dimensions), math.log(width), **make))
        places = [(row, column) for row in range(dimensions) for column in range(row)]
        if use_full_cov and places:
            self.off_diagonal = nn.Parameter(torch.zeros(num_gaussians, len(places), **make))
        else:
            self.register_parameter("off_diagonal", None)
        self.weights = nn.Parameter(torch.full((num_gaussians, channels), 1 / num_gaussians, **make))
        self._rows, self._columns = [row for row, _ in places], [column for _, column in places]

    @property
    def num_gaussians(self) -> int:
        """G."""
        return int(self.means.shape[0])

    @property
    def scale_tril(self) -> Tensor:
        """L [G, D, D], lower triangular, its diagonal above 0."""
        tril = torch.diag_embed(self.log_scales.exp())
        if self.off_diagonal is None:
            return tril
        place = torch.zeros_like(tril)
        place[:, self._rows, self._columns] = self.off_diagonal
        return tril + place

    if TYPE_CHECKING:

        def __call__(self, x: Tensor) -> Tensor: ...  # nn.Module's gives Any

    def forward(self, x: Tensor) -> Tensor:
        """Values [.., K] at points x [.., D]; [..] of one channel."""
        _checks.require_array(x, "GaussianField", "x")
        if x.ndim == 0 or x.shape[-1] != len(self.volume_size):
            raise ValueError(
                f"GaussianField: x is {list(x.shape)}; its last axis must have length {len(self.volume_size)}"
            )
        points = x.reshape(-1, x.shape[-1])
        if points.dtype in {torch.float16, torch.bfloat16}:
            points = points.to(self.means.dtype)
        values = gaussian_field(points, self.means, self.scale_tril, self.weights, cutoff=self.cutoff)
        shaped: Tensor = values.reshape(*x.shape[:-1], values.shape[-1])
        return shaped.squeeze(-1) if shaped.shape[-1] == 1 else shaped

    def grid(self, shape: Sequence[int]) -> Tensor:
        """Values at the centres of the cells of a grid over the box: [*shape, K], [*shape] of one channel."""
        who, many = "GaussianField.grid", len(self.volume_size)
        cells = tuple(shape) if isinstance(shape, Iterable) else ()
        if len(cells) != many:
            raise ValueError(f"{who}: shape is {shape!r}; it must be {many} numbers of cells")
        cells = tuple(_checks.whole(each, who, f"shape[{axis}]", 1, 1 << 31) for axis, each in enumerate(cells))
        like = self.means
        axes = [
            (torch.arange(many, dtype=like.dtype, device=like.device) + 0.5) * (length / many)
            for many, length in zip(cells, self.volume_size, strict=True)
        ]
        values: Tensor = self(torch.stack(torch.meshgrid(*axes, indexing="ij"), -1))
        return values

    def extra_repr(self) -> str:
        """Say what the module holds."""
        full = "full" if self.off_diagonal is not None else "diagonal"
        return f"{self.num_gaussians} Gaussians, volume_size={self.volume_size}, {full} covariance"


class CUDALearnableGaussianField(GaussianField):
    """A GaussianField on a GPU by default: the name that the first documents have for it.

    Raises:
        UnavailableError: There is no such GPU. `device="cpu"` or a GaussianField does without.
    """

    def __init__(
        self,
        num_gaussians: int,
        volume_size: float | Sequence[float] = 10.0,
        use_full_cov: bool = True,
        device: Any = "cuda",
    ) -> None:
        """As GaussianField()."""
        place_of("torch", device, "CUDALearnableGaussianField")
        super().__init__(num_gaussians, volume_size, use_full_cov, device=device)
