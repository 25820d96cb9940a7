"""The mip levels of one image in one piece of memory."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from pysaccade._operators import _tensor_abi
from pysaccade._operators._layout import layout_of

Array = Any


class Storage:
    """Levels 1.. of an image [B,C,H,W], made by the library at once."""

    __slots__ = ("_levels", "flat", "image", "keeps_memory", "layout", "packed", "workspace")

    def __init__(self, image: Array, levels: int, odd: int) -> None:
        """The image, which C can read as it lies, stays level 0 itself: it is not copied."""
        self.image = image
        dtype = image.dtype
        if hasattr(image, "data_ptr"):
            self.layout = layout = layout_of(image.shape, image.stride(), dtype, levels, odd)
            empty = sys.modules["torch"].empty_strided  # a third faster than new_empty()
            self.flat = flat = empty((layout.total,), (1,), dtype=dtype, device=image.device)
            self.packed = layout.pack(image.data_ptr(), flat.data_ptr())
            self.keeps_memory: Any = image.untyped_storage()  # `packed` has its address
        else:
            self.layout = layout = layout_of(image.shape, _tensor_abi.element_strides(image), dtype, levels, odd)
            self.flat = flat = np.empty(layout.total, dtype)
            self.packed = layout.pack(image.ctypes.data, flat.ctypes.data)
            self.keeps_memory = image
        self.workspace: Array | None = None  # kept between calls by keep_workspace()
        self._levels: list[Array] | None = None
        if layout.total:
            self.fill(odd)

    def fill(self, odd: int) -> None:
        """Make levels 1.. from level 0."""
        workspace = self.workspace
        if workspace is None and self.layout.levels > _tensor_abi.LEVELS_AT_ONCE:
            workspace = self._workspace()
        _tensor_abi.reduce(self.image, self.packed, self.layout.levels, odd, workspace)

    def keep_workspace(self, odd: int) -> None:
        """Keep what the library needs from one update of these levels to the next."""
        self.workspace = self._workspace()
        if self.workspace is not None:
            self.fill(odd)

    def _workspace(self) -> Array | None:
        size = _tensor_abi.reduce_workspace_bytes(self.image, self.layout.levels)
        if not size:
            return None
        if not hasattr(self.image, "data_ptr"):
            return np.empty(size, np.uint8)
        torch = sys.modules["torch"]
        return torch.empty(size, dtype=torch.uint8, device=self.image.device)

    @property
    def levels(self) -> list[Array]:
        """All levels, [B,C,h,w], level 0 being the image itself. Views: nothing is copied."""
        if self._levels is None:
            image = self.image
            if getattr(image, "requires_grad", False):
                image = image.detach()
            self._levels = [image, *self.layout.views(self.flat)]
        return self._levels
