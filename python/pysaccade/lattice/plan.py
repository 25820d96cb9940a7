"""Which patches to sample: a plan, made by a Lattice or by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from pysaccade._native._positions import positions
from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade.lattice._words import Position

Array = Any


@dataclass(init=False, eq=False, repr=False)
class PatchPlan:
    """Patches to sample, S x S samples each, 2^lod pixels apart around a centre.

        >>> plan = sc.PatchPlan(torch.rand(9, 2), 1.5, patch_size=8, size=(480, 640))
        >>> sc.TexturePyramid(torch.rand(3, 480, 640)).sample_patches(plan).shape
        torch.Size([9, 3, 8, 8])

    Leading axes are those of what the plan was made for: [N, ..] for one image, [B, N, ..] for a batch,
    [B, K, N, ..] for K fixations of each image. Tensors on one device, or NumPy arrays.

    Convention: centers are uv = (x, y) in [0, 1], origin at the top left, the centre of pixel i of W at (i + 0.5) / W.
    """

    centers: Array  # [.., N, 2] uv
    lod: Array  # [.., N]
    coverage: Array  # [.., N] f32: the share of samples inside the frame
    patch_size: int  # S
    _coverage_by: Any = None
    _kept_lod: Any = None  # of a Lattice, which other plans read too: `lod` is a copy of it, made when it is asked for

    def __init__(
        self,
        centers: Array,
        lod: Array,
        coverage: Array | Callable[[PatchPlan], Array] | None = None,
        patch_size: int = 16,
        *,
        size: tuple[int, int] | None = None,
    ) -> None:
        """Make a plan by hand.

        Args:
            centers: [.., N, 2] uv, f32 or f64.
            lod: [.., N], taken in the type of centers; or a number for all.
            coverage: [.., N]; left out, it is worked out from `size` when it is read, for a pyramid that has a level
                for each lod: of one with fewer, where sampling clamps the lod, patches are smaller than it takes them.
            patch_size: S.
            size: (H, W) of the image, for the coverage.

        Raises:
            TypeError, ValueError: Types, shapes or devices don't go together. The text names them.
        """
        who = "PatchPlan"
        _checks.require_coordinates(centers, who, "centers", 2)
        if centers.ndim < 2:
            raise ValueError(f"{who}: centers is {list(centers.shape)}, it must be [N, 2] or [B, N, 2]")
        if isinstance(lod, (int, float)):
            lod = filled(centers, float(lod))
        _checks.require_coordinates(lod, who, "lod")
        _checks.require_together(who, ("centers", centers), [("lod", lod)])
        if lod.shape != centers.shape[:-1]:
            raise ValueError(
                f"{who}: lod is {list(lod.shape)}, centers is {list(centers.shape)}; "
                f"lod must be {list(centers.shape[:-1])}"
            )
        if lod.dtype != centers.dtype:
            lod = lod.to(centers.dtype) if _checks.is_tensor(lod) else lod.astype(centers.dtype)
        self._set(centers, lod, coverage, _checks.whole(patch_size, who, "patch_size", 1, 1024), size)

    def _set(
        self,
        centers: Array,
        lod: Array,
        coverage: Array | Callable[[PatchPlan], Array] | None,
        patch_size: int,
        size: tuple[int, int] | None,
    ) -> None:
        self.centers = centers
        self.lod = lod
        self.patch_size = patch_size
        self.size = size
        if coverage is None:
            return
        if callable(coverage):
            self._coverage_by = coverage
        else:
            self.coverage = coverage

    @classmethod
    def _trusted(
        cls,
        centers: Array,
        lod: Array,
        coverage: Array | Callable[[PatchPlan], Array] | None,
        patch_size: int,
        size: tuple[int, int] | None,
    ) -> PatchPlan:
        made = cls.__new__(cls)
        made._set(centers, lod, coverage, patch_size, size)
        return made

    @classmethod
    def _with_kept(cls, centers: Array, lod: Array, coverage: Any, patch_size: int, size: Any) -> PatchPlan:
        """A plan of tensors whose lod lies in memory that its lattice keeps."""
        if _checks.is_compiling():  # memory of the trace, which keeps nothing
            return cls._trusted(centers, lod, coverage, patch_size, size)
        made = cls.__new__(cls)
        made.centers, made._kept_lod = centers, lod
        made._coverage_by, made.patch_size, made.size = coverage, patch_size, size
        return made

    def _lod_to_read(self) -> Array:
        """Lod for who doesn't give it away."""
        found = self.__dict__.get("lod")
        return self._kept_lod if found is None else found

    def __getattr__(self, name: str) -> Any:
        kept = self.__dict__.get("_kept_lod") if name == "lod" else None
        if name != "coverage" and kept is None:
            raise AttributeError(f"'PatchPlan' object has no attribute {name!r}")
        if not _checks.is_tensor(self.centers):
            return self._made(name, kept)
        with _checks.recording().normal_mode():  # kept, whatever mode it is read in
            return self._made(name, kept)

    def _made(self, name: str, kept: Array | None) -> Array:
        """What is made when it is asked for, from then on."""
        if kept is not None:
            self.lod = kept.clone(memory_format=_contiguous())
            return self.lod
        if self._coverage_by is not None:
            found = self._coverage_by(self)
        elif self.__dict__.get("size") is not None:
            found = coverage_of(self)
        else:
            raise ValueError("PatchPlan: coverage needs the image's size; pass PatchPlan(..., size=(H, W))")
        self.coverage = found
        return found

    @property
    def count(self) -> int:
        """N, the patches of one fixation."""
        return int(self.centers.shape[-2])

    @property
    def visible(self) -> Array:
        """[.., N] bool: the patches that meet the image. The others are there to fill up."""
        return self.coverage > 0

    def positions(self, kind: Position = "thw", *, t: float = 0.0) -> Array:
        """Where the patches lie, f32, on their device, as an emission has it.

            >>> plan = sc.PatchPlan(torch.tensor([[0.25, 0.75]]), 0.0, patch_size=16, size=(64, 64))
            >>> plan.positions(t=3)  # the second patch of the fourth row would be 3, 3.0, 1.0
            tensor([[3.0000, 2.5000, 0.5000]])

        Args:
            kind: "thw" [.., N, 3]: t, row, column in patches of full resolution; "uv" [.., N, 2]; "xyl" [.., N, 3]: u,
                v, lod.
            t: What "thw" begins with.

        Raises:
            ValueError: `kind` is none of these, or "thw" and the plan has no `size`.

        Convention: h = v H / S - 1/2, w = u W / S - 1/2.
        """
        size = self.__dict__.get("size")
        if size is None and kind == "thw":
            raise ValueError("PatchPlan: positions('thw') needs the image's size; pass PatchPlan(..., size=(H, W))")
        parts = [self.centers, self._lod_to_read()[..., None]]
        places: Array
        if _checks.is_tensor(self.centers):
            import torch

            places = torch.cat(parts, -1).float()
        else:
            places = np.concatenate(parts, -1, dtype=np.float32)
        return positions(places, kind, size=size or (1, 1), patch_size=self.patch_size, t=t)

    @property
    def geometry(self) -> Array:
        """[.., N, 4]: u, v, lod, coverage, as emissions and dumps have it."""
        parts = (self.centers, self.lod[..., None], self.coverage[..., None])
        if _checks.is_tensor(self.centers):
            import torch

            return torch.cat([parts[0], parts[1], parts[2].to(self.lod.dtype)], dim=-1)
        return np.concatenate(parts, axis=-1, dtype=self.lod.dtype)

    def __len__(self) -> int:
        """N, the patches of one fixation."""
        return self.count

    def to(self, device: Any) -> PatchPlan:
        """The same plan as torch tensors on a device."""
        import torch

        def moved(array: Array) -> Array:
            tensor = array if _checks.is_tensor(array) else torch.from_numpy(np.ascontiguousarray(readable(array)))
            return tensor.to(device)

        coverage = self.__dict__.get("coverage")
        return PatchPlan._trusted(
            moved(self.centers),
            moved(self.lod),
            self._coverage_by if coverage is None else moved(coverage),
            self.patch_size,
            self.size,
        )

    def __repr__(self) -> str:
        return f"PatchPlan({list(self.centers.shape[:-1])} patches of {self.patch_size}x{self.patch_size})"


def _contiguous() -> Any:
    import torch

    return torch.contiguous_format


def even_centers(count: int, size: tuple[int, int]) -> list[list[float]]:
    """[count, 2] uv: the centres of cells that are about square in pixels. Rows differ by one cell at most."""
    height, width = size
    rows = min(count, max(1, round(math.sqrt(count * height / width))))
    ends = [row * count // rows for row in range(rows + 1)]
    return [
        [(cell + 0.5) / (end - begin), (row + 0.5) / rows]
        for row, (begin, end) in enumerate(pairwise(ends))
        for cell in range(end - begin)
    ]


def filled(centers: Array, value: float) -> Array:
    """One number for each centre [.., N, 2]: [.., N]."""
    if _checks.is_tensor(centers):
        import torch

        return torch.full(centers.shape[:-1], value, dtype=centers.dtype, device=centers.device)
    return np.full(centers.shape[:-1], value, centers.dtype)


def _inside(at_px: Array, pitch_px: Array, offsets: Array, extent: int) -> Array:
    """[.., N] samples of an axis that lie in [0, extent)."""
    places = at_px[..., None] + offsets * pitch_px[..., None]
    return ((places >= 0) & (places < extent)).sum(-1)


def coverage_of(plan: PatchPlan, levels: int = _checks.MOST_LEVELS) -> Array:
    """Share of each patch's samples inside the frame, [.., N] f32, of a pyramid of `levels`, or of one with enough."""
    assert plan.size is not None
    height, width = plan.size
    size = plan.patch_size
    last = float(levels - 1)
    lod = plan._lod_to_read()
    if _checks.is_tensor(lod):
        import torch

        centers, lod = plan.centers.detach(), torch.nan_to_num(lod.detach(), nan=0.0).clamp(0, last)
        steps = torch.arange(size, dtype=centers.dtype, device=centers.device) - (size - 1) / 2
        pitch = torch.exp2(lod)
        across = _inside(centers[..., 0] * width, pitch, steps, width)
        down = _inside(centers[..., 1] * height, pitch, steps, height)
        return (across * down).to(torch.float32) / (size * size)
    steps = np.arange(size, dtype=plan.centers.dtype) - plan.centers.dtype.type((size - 1) / 2)
    pitch = np.exp2(np.clip(np.nan_to_num(lod, nan=0.0), 0, last))
    inside = _inside(plan.centers[..., 0] * width, pitch, steps, width)
    inside = inside * _inside(plan.centers[..., 1] * height, pitch, steps, height)
    return inside.astype(np.float32) / np.float32(size * size)
