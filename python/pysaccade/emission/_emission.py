"""`Emission`: the patches of one fixation, from a stream or from a dump."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pysaccade._native import _display
from pysaccade._native._arguments import number
from pysaccade._native._positions import positions
from pysaccade.emission._device import target_of

Triple = tuple[float, float, float]


def pointer_of(u: float, v: float) -> tuple[float, float] | None:
    """The pointer's place as an emission has it; the library and dumps say NaN where there is none."""
    return None if math.isnan(u) else (u, v)


@dataclass(eq=False, repr=False, kw_only=True)
class Emission:
    """The patches of one fixation: what a model reads in place of a frame.

    N patches of C channels and S x S samples. The three arrays are torch tensors of a `Stream`, on its device, and
    NumPy arrays of a `Dump`, read-only and memory-mapped; `to()` gives tensors of either.

    Convention: u, v in [0, 1] of the frame as displayed, origin at the top left. lod: a sample is 2^lod pixels wide.
    """

    patches: Any
    """[N, C, S, S] u8, f16 or f32: R'G'B' samples, normalised where that was asked for."""
    geometry: Any
    """[N, 4] f32: the centre's u and v, lod, coverage (the share of samples inside the frame)."""
    changed: Any
    """[N] bool: False where these are the very bytes that were last emitted at this place (u, v, lod)."""
    frame: int
    """The frame's number from 0; a dropped frame leaves a hole."""
    pts_ns: int
    """Presentation time in nanoseconds, as the video gives it."""
    fixation: tuple[float, float]
    """(u, v) of where the eye looks."""
    size: tuple[int, int]
    """(H, W) of the frame as displayed, in pixels."""
    in_flight: bool = False
    """In the middle of a saccade."""
    damaged_tiles: int = 0
    """Tiles of 16 x 16 pixels of this frame that changed."""
    gaps: int = 0
    """How often a live stream was interrupted before."""
    captured_unix_ns: int = 0
    """Live sources: when the frame was captured; else 0."""
    age_seconds: float = 0.0
    """Live sources: from capture until these patches were there; else 0."""
    pointer: tuple[float, float] | None = None
    """Screens: (u, v) of what the pointer points at; None: it is outside the frame, or there is none."""
    sar: float = 1.0
    """The width of a pixel over its height."""
    mean: Triple = (0.0, 0.0, 0.0)
    """What was subtracted from samples in [0, 1], each channel."""
    std: Triple = (1.0, 1.0, 1.0)
    """What they were divided by then."""
    _maker: Any = field(default=None)
    """Of a stream's: what makes views of its frame."""

    @property
    def pts_seconds(self) -> float:
        """Presentation time in seconds."""
        return self.pts_ns / 1e9

    @property
    def patch_size(self) -> int:
        """S: samples along a patch's side."""
        return int(self.patches.shape[-1])

    @property
    def uv(self) -> Any:
        """[N, 2] f32: the patches' centres."""
        return self.geometry[:, :2]

    @property
    def lod(self) -> Any:
        """[N] f32: log2 of the distance of samples, in pixels."""
        return self.geometry[:, 2]

    @property
    def coverage(self) -> Any:
        """[N] f32: the share of samples inside the frame."""
        return self.geometry[:, 3]

    @property
    def visible(self) -> Any:
        """[N] bool: the patch shows some of the frame. The others hold its repeated edge."""
        return self.coverage > 0

    @property
    def new(self) -> Any:
        """[N] bool: what a model must encode again: visible and changed."""
        return self.changed & self.visible

    def __len__(self) -> int:
        """N, the number of patches."""
        return int(self.patches.shape[0])

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.patches.shape))
        u, v = self.fixation
        return (
            f"Emission(frame {self.frame}, {self.pts_seconds:.3f} s, patches [{shape}] {_name(self.patches.dtype)}"
            f"{_device(self.patches)}, {int(self.new.sum())} new, fixation ({u:.3f}, {v:.3f}))"
        )

    def positions(self, kind: str = "thw", *, t: float | None = None) -> Any:
        """Where the patches lie, f32, on their device.

        Args:
            kind: "thw" [N, 3]: t, row, column in patches of full resolution; "uv" [N, 2]; "xyl" [N, 3]: u, v, lod.
            t: What "thw" begins with; by default the frame's number.

        Convention: h = v H / S - 1/2, w = u W / S - 1/2. Of a grid at lod 0 these are OneVision's integers; a coarse
        patch has the same unit, and mostly a fraction.

        Raises:
            ValueError: `kind` is none of these.
        """
        time = float(self.frame) if t is None else number(t, "positions", "t")
        return positions(self.geometry, kind, size=self.size, patch_size=self.patch_size, t=time)

    def to(self, device: Any = None, dtype: Any = None, *, non_blocking: bool = False) -> Emission:
        """The same emission as torch tensors on `device`; `dtype` is that of the patches alone.

        As torch's: samples keep their values, so that u8 becomes 0.0 to 255.0, which `std` says then. What is there
        already is not copied, but for arrays of a dump, which torch may not share. A dtype may stand first, and be
        named as a stream's: "f16", "float16", np.float16.

        Raises:
            TypeError, ValueError: It is no device or no dtype of torch's.
            UnavailableError: There is no such device.
        """
        patches, geometry, changed = moved(self, "Emission.to", device, dtype, non_blocking=non_blocking)
        return replace(self, patches=patches, geometry=geometry, changed=changed, std=std_of(self, patches))

    def numpy(self) -> Emission:
        """The same emission as NumPy arrays in host memory; waits for a GPU."""
        arrays = (host_array(array) for array in (self.patches, self.geometry, self.changed))
        return replace(self, **dict(zip(("patches", "geometry", "changed"), arrays, strict=True)))

    def views(self, budget: int = 1568, model: Any = "qwen2.5-vl", *, look: Any = None, new_only: bool = False) -> Any:
        """Pictures of this emission's frame that any vision-language model reads: `Views`.

        An overview, and crops at native or half resolution of what the model does not have: what changed, and detail
        that was never sent. The stream remembers what it gave, for one model: what did not change is not given again,
        until `stream.forget()`. There may be no view. Call it before the stream gives its next emission.

        Args:
            budget: Tokens of all views together, as the model counts them, at most.
            model: A row of the table (docs/MODELS.md), or a `TokenRule`.
            look: (u, v) of the frame, 0 to 1: what lies around it counts more.
            new_only: Give only what changed, or was lost, since it was last shown, and no detail that was never sent.
                The first views are then an overview alone.

        Raises:
            TypeError, ValueError: The model is not known, or the frame is not the stream's last one any more.
        """
        return _display.views(self, budget, model, look, new_only)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_maker": None}

    def _repr_png_(self) -> bytes:
        """The picture that a notebook displays."""
        png: bytes = _display.show(self)._repr_png_()
        return png


def moved(of: Any, who: str, device: Any, dtype: Any, *, non_blocking: bool) -> tuple[Any, Any, Any]:
    """The patches, geometry and changed of an emission or a batch as tensors there."""
    where, kind = target_of(device, dtype, who)
    patches = tensor(of.patches).to(device=where, dtype=kind, non_blocking=non_blocking)
    geometry, changed = (tensor(each).to(device=where, non_blocking=non_blocking) for each in (of.geometry, of.changed))
    return patches, geometry, changed


def std_of(of: Emission, patches: Any) -> Triple:
    """What an emission's samples were divided by, once they are these."""
    return (1 / 255,) * 3 if of.patches.itemsize == 1 and patches.is_floating_point() else of.std


def tensor(array: Any) -> Any:
    """An array as a torch tensor, shared where torch may write to it."""
    if not isinstance(array, np.ndarray):
        return array
    import torch

    return torch.from_numpy(array if array.flags.writeable else array.copy())


def host_array(array: Any) -> Any:
    """A tensor as an array in host memory."""
    return array if isinstance(array, np.ndarray) else array.detach().cpu().numpy()


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _device(array: Any) -> str:
    device = getattr(array, "device", None)
    return "" if device is None or str(device) == "cpu" else f" on {device}"
