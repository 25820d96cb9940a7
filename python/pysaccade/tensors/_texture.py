"""Mip levels that can be sampled: what TexturePyramid and PersistentTexture have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

import numpy as np

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade.tensors._call.storage import Storage
from pysaccade.tensors._pyramid_arguments import checked_levels
from pysaccade.tensors._types import ArrayT
from pysaccade.tensors.mipmaps import levels_above

Array = Any


def seen(array: Array) -> tuple[Any, ...]:
    """Where and how an array lies: what `array.data = ...` and resize_() change."""
    if isinstance(array, np.ndarray):
        return array.ctypes.data, array.shape, array.strides, array.dtype
    return array.data_ptr(), array.shape, array.stride(), array.dtype, array.is_neg()


class Texture(Generic[ArrayT]):
    """Levels of an image or a batch of them: their facts, and what the sampling functions read of them."""

    filtering = "exact"
    _gives_gradients = True
    _odd: int
    _count: int  # of levels
    _made = False
    _storage: Storage | None = None  # of the levels; None under a trace, which makes them where it samples
    _list: list[Array] | None = None  # [B,C,h,w]: of a device without kernels, or given
    _graph: list[Array] | None = None  # levels with their gradients' way back to the image
    _hardware: Any = None  # of the texture unit, once it was sampled by
    _given = False  # levels are the caller's
    _of_tensors = False
    _image: Array | None = None  # level 0 [B,C,H,W]; a compiler does better by the source, which is no view
    _source: Any = None  # the image, or the levels, as they were given
    _seen: tuple[Any, ...] | None = None  # where and how it lay when the levels were made; None: it plays no part
    _counter: Any = None  # the image, or what counts its writes in its place
    _version: int | None = None  # the counter's when the levels were made
    _batched = True

    @classmethod
    def _of_levels(cls, levels: Sequence[ArrayT], who: str) -> Texture[ArrayT]:
        """Take levels of a caller."""
        made = cls()
        made._given = True
        made._take_levels(levels, who)
        return made

    def _take_levels(self, levels: Sequence[ArrayT], who: str) -> None:
        batched, self._batched = checked_levels(levels, who)
        self._list, self._image, self._count = batched, batched[0], len(batched)
        self._source, self._made, self._of_tensors = list(levels), True, _checks.is_tensor(batched[0])

    # ---- Facts -------------------------------------------------------------------------------------------------------

    def _base(self) -> Array:
        """Level 0 [B,C,H,W]."""
        self._first()
        return self._image

    def _first(self) -> Array:
        """Level 0 as it was given."""
        if self._source is None:
            raise ValueError("TexturePyramid: there is no image yet; call generate_mipmaps(image)")
        return self._source[0] if self._given else self._source

    @property
    def shape(self) -> tuple[int, ...]:
        """Of level 0: [C,H,W] or [B,C,H,W], as it was given."""
        return tuple(self._first().shape)

    @property
    def size(self) -> tuple[int, int]:
        """(H, W) of level 0."""
        height, width = self._first().shape[-2:]
        return height, width

    @property
    def channels(self) -> int:
        """C."""
        return int(self._first().shape[-3])

    @property
    def levels(self) -> int:
        """How many levels there are, the image included."""
        self._first()
        return self._count

    @property
    def dtype(self) -> Any:
        """Of the levels."""
        return self._first().dtype

    @property
    def device(self) -> Any:
        """Where the levels lie: a torch.device, or "cpu" for NumPy arrays."""
        first = self._first()
        return first.device if self._of_tensors else "cpu"

    def level(self, level: int) -> ArrayT:
        """Level `level`, [C,h,w] or [B,C,h,w]: a view. Of an image that requires a gradient it gives one back."""
        index = _checks.whole(level, "TexturePyramid.level", "level", -self.levels, self.levels - 1)
        found: ArrayT = self._differentiable()[index]
        return found if self._batched else found[0]

    def __len__(self) -> int:
        """How many levels there are."""
        return self.levels

    def __getitem__(self, level: int) -> ArrayT:
        """As level()."""
        if not -self.levels <= level < self.levels:
            raise IndexError(f"level {level} of {self.levels}")
        return self.level(level)

    def __repr__(self) -> str:
        if self._source is None:
            return f"{type(self).__name__}(no image yet)"
        made = "" if self._made else ", mips not made yet"
        return f"{type(self).__name__}({_checks.shown(self._first())}, {self.levels} levels{made})"

    def _note_change(self) -> None:
        """Levels were made in place, of what the image is now."""
        self._version = self._counter._version
        self._graph = None
        if self._hardware:
            self._hardware.is_stale = True

    # ---- What the sampling functions read ----------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Make the levels again where level 0 was written since. Those of a caller are as they are."""

    def _memory(self) -> list[Array]:
        """All that this pyramid reads when it is sampled, where it is made already."""
        if self._storage is not None:
            return [self._image, self._storage.flat]
        return self._list or []

    def _recorded(self) -> Array:
        """Level 0 [B,C,H,W] with its way to the image, where autograd records: a view made before may have none."""
        source = self._first()
        image: Array = self._image
        if not self._gives_gradients or not self._of_tensors:
            return image
        if self._is_compiled() and not self._given:
            return source if self._batched else source[None]
        if source is image or not _checks.recording().is_grad_enabled():
            return image
        if image.grad_fn is not None or not (source.requires_grad or image.requires_grad):
            return image
        view = source if self._batched else source[None]
        return view if self._storage is None or _checks.recording().is_traced(view) else readable(view)

    def _levels_now(self) -> list[Array]:
        """[B,C,h,w] each; level 0 is the image, with its gradient, the others are without one."""
        self._refresh()
        compiled = self._is_compiled()
        makes_again = compiled and self._gives_gradients
        storage: Any = None if makes_again else self._storage
        made: Any = None if makes_again else self._list
        if storage is not None:
            return [self._recorded(), *storage.levels[1:]]
        if self._given and self._of_tensors and _checks.recording().is_grad_enabled():
            return self._source if self._batched else [level[None] for level in self._source]
        if self._given:
            return self._list or []
        image: Array = self._recorded()
        if not self._made:
            raise ValueError("TexturePyramid: its levels are not made yet; call generate_mipmaps()")
        if made is not None:
            return [image, *made[1:]]
        return [image, *levels_above(image.detach(), self._count, self._odd)]

    def _is_compiled(self) -> bool:
        return self._of_tensors and bool(_checks.recording()._is_compiling())

    def _is_in_place(self) -> bool:
        """Whether the image still lies where it lay when its levels were made."""
        if self._seen is None:  # made under a trace
            return not self._made or bool(_checks.recording().is_traced(self._image))
        return seen(self._source) == self._seen

    def _differentiable(self) -> list[Array]:
        """[B,C,h,w] each, every level with its way back to the image."""
        levels: list[Array] = self._levels_now()
        image: Array = levels[0]
        if self._given or not self._of_tensors or not _checks.recording().needs_gradient(image):
            return levels
        if _checks.recording().is_traced(image):
            return [image, *levels_above(image, self._count, self._odd)]
        if self._graph is None:
            if self._storage is not None:
                from pysaccade.tensors._call.gradients import Mipmaps  # needs torch

                self._graph = [image, *Mipmaps.apply(image, self._storage, self._odd)]
            else:
                self._graph = [image, *levels_above(image, self._count, self._odd)]
        return self._graph

    @property
    def _derived(self) -> int:
        """The library's word for how levels 1.. came from level 0; -1: they are the caller's."""
        return -1 if self._given else self._odd
