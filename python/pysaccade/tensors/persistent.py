"""A texture that stays: frames of a video are written into it by what changed, and its levels follow."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from pysaccade._native._errors import UnavailableError
from pysaccade._operators import _checks, _recording, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade.tensors._call import hardware as _hardware
from pysaccade.tensors._call.storage import Storage
from pysaccade.tensors._pyramid_arguments import FILTERING, SEVEN, min_samples_of
from pysaccade.tensors._sampled_texture import SampledTexture
from pysaccade.tensors._types import Filtering, Odd
from pysaccade.tensors.damage import Damage, tile_grid


class Pool(Protocol):
    """What lends textures: pool.TexturePool."""

    def release(self, texture: PersistentTexture) -> None:
        """Take a texture back."""


class PersistentTexture(SampledTexture[Tensor]):
    """What TexturePyramid.create_persistent() makes: levels that own their memory, and take frames.

    After any update its levels equal those of a TexturePyramid of level 0, bit for bit. It gives no gradients.
    """

    _gives_gradients = False
    _storage: Storage | None  # None: it was released to its pool

    def __init__(
        self,
        size: tuple[int, int],
        *,
        channels: int = 3,
        batch: int | None = None,
        dtype: torch.dtype = torch.uint8,
        device: Any = None,
        levels: int | None = SEVEN,
        odd: Odd = "edge",
        threshold: float = 0.0,
        min_samples: int = 0,
        filtering: Filtering = "exact",
        min_pixels: int | None = None,
    ) -> None:
        """As TexturePyramid.create_persistent()."""
        who = "TexturePyramid.create_persistent"
        height, width = _checks.fixed_size(size, who)
        channels = _checks.whole(channels, who, "channels", 1, 1 << 16)
        if not (isinstance(threshold, (int, float)) and threshold >= 0):
            raise ValueError(f"{who}: threshold is {threshold!r}; it must be 0 or more")
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"{who}: dtype takes a torch.dtype, such as torch.uint8, not {_checks.shown(dtype)}")
        self._odd = _checks.ODD[_checks.choice(odd, _checks.ODD, who, "odd")]
        self.filtering = _checks.choice(filtering, FILTERING, who, "filtering")
        self.threshold = float(threshold)
        self.min_samples = min_samples_of(min_samples, min_pixels, who)
        self._asked = levels
        self._count = _checks.level_count(levels, (height, width), self._odd, who)
        self._batched = batch is not None
        batch = 1 if batch is None else _checks.whole(batch, who, "batch", 1, 1 << 20)
        device = torch.get_default_device() if device is None else device
        with _recording.normal_mode():  # also of a pool that makes it later
            image = torch.zeros((batch, channels, height, width), dtype=dtype, device=device)
            _checks.require_texture(image, who)
            if filtering == "hardware":
                _hardware.refuse_image(image, who)
            if not _recording.is_native(image):
                raise UnavailableError(
                    f"{who}: no kernels for device '{image.device.type}'; pass device='cpu', or make a TexturePyramid "
                    "of each frame"
                )
            self._store = Storage(image, self._count, self._odd)
            self._store.keep_workspace(self._odd)
        self._storage = self._store
        self._made = self._of_tensors = True
        self._image = image
        self._source = self._counter = image if self._batched else image[0]
        self._version = image._version
        self._grid = (batch, *tile_grid((height, width)))
        self._is_new = True
        self._pool: Pool | None = None
        self._queued: Any = None  # the pool's: what the last one who borrowed it queued on a GPU
        self._settings = self.threshold, self.min_samples, self.filtering

    @property
    def tile_grid(self) -> tuple[int, int]:
        """(rows, columns) of tiles of 16 x 16 pixels."""
        return self._grid[1:]

    def generate_mipmaps(self, image: Any = None) -> PersistentTexture:
        """Make all levels again from level 0."""
        if image is not None:
            raise ValueError("TexturePyramid.generate_mipmaps: a persistent texture takes frames by update(frame)")
        self._fill()
        return self

    def clear(self) -> None:
        """Let the next update() or update_partial() write everything, whatever level 0 holds."""
        self._is_new = True

    def _reset(self) -> None:
        """Make it as new: what one who borrowed it set or wrote, the next one does not see."""
        self.clear()
        self.threshold, self.min_samples, self.filtering = self._settings
        self._storage = self._store

    def _give_back(self) -> None:
        """Let every use of it raise ValueError until it is borrowed again."""
        self.clear()
        self._storage = None

    # ---- Updates -----------------------------------------------------------------------------------------------------

    def update(self, frame: Tensor) -> Damage:
        """Take a frame: tiles that differ from level 0 are written, and the levels above them follow. One launch.

            >>> texture = sc.TexturePyramid.create_persistent(size=(48, 64))
            >>> frame = torch.zeros(3, 48, 64, dtype=torch.uint8)
            >>> first = texture.update(frame)
            >>> frame[:, 20, 20] = 255
            >>> texture.update(frame).tiles.nonzero()
            tensor([[1, 1]])

        Args:
            frame: [C,H,W] or [B,C,H,W], as the texture was made.

        Returns:
            The tiles that changed; the first time all of them.

        Raises:
            TypeError, ValueError: The frame has another shape, type or device, or a gradient is asked for.
        """
        who = "TexturePyramid.update"
        batched = self._frame(frame, who)
        if self._is_new:
            return self._write_all(batched)
        return self._call(batched, None, _tensor_abi.MASK_DIFF)

    def update_partial(self, frame: Tensor, changed: Any = None) -> Damage:
        """Take the parts of a frame that are known to have changed.

        Args:
            frame: [C,H,W] or [B,C,H,W], as the texture was made.
            changed: bool [H,W] or [B,H,W], pixels; bool [rows, columns] or [B, rows, columns], tiles, tensors or NumPy
                arrays; a Damage; None: the tiles that differ, as update().

        Returns:
            The tiles that changed. The first time, and the first time that it is borrowed from a pool, all: the whole
            frame is written.

        Raises:
            TypeError, ValueError: As update(); or `changed` is neither of pixels nor of tiles.
        """
        who = "TexturePyramid.update_partial"
        if changed is None:
            return self.update(frame)
        batched = self._frame(frame, who)
        mask, kind = self._mask(changed, who)
        if self._is_new:
            return self._write_all(batched)
        return self._call(batched, mask, kind)

    def update_mipmaps_incremental(self, damage: Any = None) -> None:
        """Make the levels above changed parts of level 0 again, which was written through level(0).

        Args:
            damage: What changed, as update_partial() takes it; None: everything.
        """
        who = "TexturePyramid.update_mipmaps_incremental"
        if damage is None:
            self._fill()
            return
        self._require_memory()
        mask, kind = self._mask(damage, who)
        self._call(None, mask, kind)

    def _frame(self, frame: Any, who: str) -> Tensor:
        _recording.refuse_script(who)
        base = self._store.image
        if not _checks.is_tensor(frame):
            raise TypeError(f"{who}: frame takes a torch tensor, not {_checks.shown(frame)}")
        _checks.require_array(frame, who, "frame")
        batched: Tensor = frame[None] if frame.ndim == 3 and self._batched else frame
        if batched.shape != self._source.shape or batched.dtype != base.dtype:
            raise ValueError(
                f"{who}: frame is {_checks.shown(frame)}; the texture is {_checks.dtype_name(base)} {list(self.shape)}"
            )
        if batched.device != base.device:
            raise ValueError(
                f"{who}: the texture is on {base.device}, frame on {batched.device}; pass frame.to('{base.device}')"
            )
        if batched.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{who}: a persistent texture gives no gradient; pass frame.detach()")
        if _recording.is_traced(batched):
            return batched
        begin = base.data_ptr()
        return batched.clone() if begin <= batched.data_ptr() < begin + base.nbytes else readable(batched)

    def _mask(self, changed: Any, who: str) -> tuple[Tensor, int]:
        """A mask [B, h, w] of bytes, and whether of pixels or tiles."""
        if isinstance(changed, Damage):
            changed = changed.tiles
        if isinstance(changed, np.ndarray) and changed.dtype in {np.dtype(np.bool_), np.dtype(np.uint8)}:
            changed = torch.from_numpy(np.ascontiguousarray(changed)).to(self._store.image.device)
        if not _checks.is_tensor(changed) or changed.dtype not in {torch.bool, torch.uint8}:
            raise TypeError(f"{who}: changed takes a bool tensor or array, or a Damage, not {_checks.shown(changed)}")
        _checks.require_array(changed, who, "changed")
        base = self._store.image
        if changed.device != base.device:
            raise ValueError(
                f"{who}: the texture is on {base.device}, changed on {changed.device}; pass changed.to('{base.device}')"
            )
        batch = self._grid[0]
        for shape, kind in ((self.size, _tensor_abi.MASK_PIXELS), (self.tile_grid, _tensor_abi.MASK_TILES)):
            if tuple(changed.shape[-2:]) == tuple(shape) and changed.shape[:-2] in {(), (1,), (batch,)}:
                return readable(changed.expand(batch, *shape)), kind
        raise ValueError(
            f"{who}: changed is {list(changed.shape)}; it must be {list(self.size)} of pixels or "
            f"{list(self.tile_grid)} of tiles"
        )

    def _write_all(self, frame: Tensor) -> Damage:
        self._require_memory()
        self._store.image.copy_(frame)
        self._fill()
        self._is_new = False
        tiles = torch.ones(self._grid, dtype=torch.bool, device=frame.device)
        energy = torch.zeros(self._grid, dtype=torch.float32, device=frame.device)
        return self._damage(tiles, energy)

    def _damage(self, tiles: Tensor, energy: Tensor) -> Damage:
        return Damage(tiles, None, energy) if self._batched else Damage(tiles[0], None, energy[0])

    def _call(self, frame: Tensor | None, mask: Tensor | None, kind: int) -> Damage:
        self._require_memory()
        store, counter = self._store, self._counter
        if counter._version != self._version and frame is not None:  # of tiles that this frame doesn't change
            self._fill()
        _, rows, columns = self._grid
        shape, steps = self._grid if self._batched else (rows, columns), (rows * columns, columns, 1)
        place = shape, steps[-len(shape) :]
        tiles = torch.empty_strided(*place, dtype=torch.bool, device=store.image.device)
        energy = torch.empty_strided(*place, dtype=torch.float32, device=store.image.device)
        options = _tensor_abi.packed_update_options(self.threshold, self.min_samples, self._odd, kind)
        levels = store.packed, store.layout.levels, store.workspace
        _tensor_abi.update(store.image, *levels, frame, mask, options, tiles, energy)
        _recording.count_write((store.flat,) if frame is None else (store.image, store.flat))
        self._note_change()
        return Damage(tiles, None, energy)

    def _fill(self) -> None:
        self._require_memory()
        self._store.fill(self._odd)
        _recording.count_write((self._store.flat,))
        self._note_change()

    def _refresh(self) -> None:
        """Make the levels again where level 0 was written through level(0)."""
        if self._is_compiled():
            return
        self._require_memory()
        if self._counter._version != self._version:
            self._fill()

    def _require_memory(self) -> None:
        if self._storage is None:
            raise ValueError("TexturePyramid: this texture was released to its pool; acquire() another")

    def __reduce__(self) -> Any:
        """A copy is of level 0; it is in no pool."""
        self._require_memory()
        options = {
            "channels": self.channels,
            "batch": self._grid[0] if self._batched else None,
            "levels": self._asked,
            "odd": "edge" if self._odd == _checks.EDGE else "floor",
            "threshold": self.threshold,
            "min_samples": self.min_samples,
            "filtering": self.filtering,
        }
        return _again, (type(self), self.size, options, self._store.image, self._is_new)

    # ---- The pool ----------------------------------------------------------------------------------------------------

    def release(self) -> None:
        """Give the texture back to the pool that it is from; once."""
        if self._pool is None:
            raise ValueError("TexturePyramid.release: this texture is from no pool, or was released")
        self._pool.release(self)

    def __enter__(self) -> PersistentTexture:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self.release()


def _again(
    kind: type[PersistentTexture], size: tuple[int, int], options: dict[str, Any], image: Tensor, is_new: bool
) -> PersistentTexture:
    """Rebuild a texture that holds this level 0 [B,C,H,W]."""
    made = kind(size, dtype=image.dtype, device=image.device, **options)
    made._store.image.copy_(image)
    made._store.fill(made._odd)
    made._is_new = is_new
    return made
