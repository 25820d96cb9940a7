"""`EmissionBatch`: emissions of a stream side by side in one block of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from pysaccade.emission._emission import Emission, host_array, moved, std_of


@dataclass(eq=False, repr=False, kw_only=True)
class EmissionBatch:
    """B emissions, oldest first; `batch[i]` is one of them, `batch[2:5]` a batch of some, without a copy.

    The arrays lie on the stream's device, what is per emission is a tuple of B values.
    """

    patches: Any
    """[B, N, C, S, S] u8, f16 or f32."""
    geometry: Any
    """[B, N, 4] f32: u, v, lod, coverage."""
    changed: Any
    """[B, N] bool: False where these are the very bytes that were last emitted at this place."""
    emissions: tuple[Emission, ...]
    """The B emissions: views into the arrays above."""

    @property
    def frame(self) -> tuple[int, ...]:
        """The frames' numbers from 0."""
        return tuple(emission.frame for emission in self.emissions)

    @property
    def pts_ns(self) -> tuple[int, ...]:
        """Presentation times in nanoseconds."""
        return tuple(emission.pts_ns for emission in self.emissions)

    @property
    def pts_seconds(self) -> tuple[float, ...]:
        """Presentation times in seconds."""
        return tuple(emission.pts_seconds for emission in self.emissions)

    @property
    def fixation(self) -> tuple[tuple[float, float], ...]:
        """(u, v) of where the eye looks, each."""
        return tuple(emission.fixation for emission in self.emissions)

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of the frames in pixels."""
        return self.emissions[0].size

    @property
    def uv(self) -> Any:
        """[B, N, 2] f32: the patches' centres."""
        return self.geometry[..., :2]

    @property
    def lod(self) -> Any:
        """[B, N] f32: log2 of the distance of samples, in pixels."""
        return self.geometry[..., 2]

    @property
    def coverage(self) -> Any:
        """[B, N] f32: the share of samples inside the frame."""
        return self.geometry[..., 3]

    @property
    def visible(self) -> Any:
        """[B, N] bool: the patch shows some of the frame. The others hold its repeated edge."""
        return self.coverage > 0

    @property
    def new(self) -> Any:
        """[B, N] bool: visible and changed."""
        return self.changed & self.visible

    def positions(self, kind: str = "thw") -> Any:
        """[B, N, 3] or [B, N, 2] f32: `Emission.positions` of each."""
        each = [emission.positions(kind) for emission in self.emissions]
        return _stacked(each)

    def to(self, device: Any = None, dtype: Any = None, *, non_blocking: bool = False) -> EmissionBatch:
        """The same batch as torch tensors on `device`; as `Emission.to`, in one step for all."""
        patches, geometry, changed = moved(self, "EmissionBatch.to", device, dtype, non_blocking=non_blocking)
        return self._with(patches, geometry, changed)

    def numpy(self) -> EmissionBatch:
        """The same batch as NumPy arrays in host memory; waits for a GPU."""
        return self._with(*(host_array(array) for array in (self.patches, self.geometry, self.changed)))

    def _with(self, patches: Any, geometry: Any, changed: Any) -> EmissionBatch:
        """The same emissions in these arrays."""
        emissions = tuple(
            replace(
                emission,
                patches=patches[index],
                geometry=geometry[index],
                changed=changed[index],
                std=std_of(emission, patches) if hasattr(patches, "is_floating_point") else emission.std,
            )
            for index, emission in enumerate(self.emissions)
        )
        return EmissionBatch(patches=patches, geometry=geometry, changed=changed, emissions=emissions)

    def __len__(self) -> int:
        """B."""
        return len(self.emissions)

    @overload
    def __getitem__(self, index: int) -> Emission: ...
    @overload
    def __getitem__(self, index: slice) -> EmissionBatch: ...
    def __getitem__(self, index: int | slice) -> Emission | EmissionBatch:
        if not isinstance(index, slice):
            return self.emissions[index]
        emissions = self.emissions[index]
        if not emissions:
            raise IndexError(f"EmissionBatch: [{index.start}:{index.stop}] of {len(self)} emissions holds none")
        if index.step is not None and index.step < 0:  # torch has no such views
            return joined(emissions)
        patches, geometry, changed = (array[index] for array in (self.patches, self.geometry, self.changed))
        return EmissionBatch(patches=patches, geometry=geometry, changed=changed, emissions=emissions)

    def __iter__(self) -> Iterator[Emission]:
        return iter(self.emissions)

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.patches.shape))
        return f"EmissionBatch({len(self)} emissions, {self.emissions[0].pts_seconds:.3f} s and on, patches [{shape}])"


def joined(emissions: Sequence[Emission]) -> EmissionBatch:
    """Emissions of one stream, each in memory of its own, copied side by side."""
    arrays = {}
    for name in ("patches", "geometry", "changed"):
        each = [getattr(emission, name) for emission in emissions]
        arrays[name] = _stacked(each)
    views = tuple(
        replace(emission, **{name: array[index] for name, array in arrays.items()})
        for index, emission in enumerate(emissions)
    )
    return EmissionBatch(**arrays, emissions=views)


def _stacked(each: list[Any]) -> Any:
    if hasattr(each[0], "detach"):
        import torch

        return torch.stack(each)
    return np.stack(each)
