"""A texture that stays: frames of a video are written into it by what changed, and its levels follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from pysaccade._native._errors import UnavailableError
from pysaccade._native._held import is_freed
from pysaccade._operators import _checks, _recording, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade._operators._place import place_of
from pysaccade.tensors._storage import pack_at
from pysaccade.tensors._way import model
from pysaccade.tensors.damage import Damage, tile_grid
from pysaccade.tensors.pyramid import SEVEN, TexturePyramid

if TYPE_CHECKING:
    from pysaccade.tensors.pool import TexturePool

_PLAIN = (Tensor, torch.nn.Parameter)
_count_write = _recording.count_write
_UPDATE = _tensor_abi._UPDATE
_DIFF, _PIXELS, _TILES = 0, 1, 2  # saccade_update_mask


class PersistentTexture(TexturePyramid):
    """What TexturePyramid.create_persistent() makes: a TexturePyramid that owns its memory and takes frames.

    After any update its levels equal those of a pyramid of level 0, bit for bit. It gives no gradients.
    """

    def __init__(
        self,
        size: tuple[int, int],
        *,
        channels: int = 3,
        batch: int | None = None,
        dtype: torch.dtype = torch.uint8,
        device: Any = None,
        levels: int | None = SEVEN,
        odd: str = "edge",
        threshold: float = 0.0,
        min_pixels: int = 0,
        filtering: str = "exact",
    ) -> None:
        """As TexturePyramid.create_persistent()."""
        who = "TexturePyramid.create_persistent"
        height, width = _checks.fixed_size(size, who)
        channels = _checks.whole(channels, who, "channels", 1, 1 << 16)
        if not (isinstance(threshold, (int, float)) and threshold >= 0):
            raise ValueError(f"{who}: threshold is {threshold!r}; it must be 0 or more, in the frames' unit")
        if not isinstance(dtype, torch.dtype):
            raise TypeError(f"{who}: dtype takes a torch.dtype, such as torch.uint8, not {_checks.shown(dtype)}")
        shape = (channels, height, width)
        if batch is not None:
            shape = (_checks.whole(batch, who, "batch", 1, 1 << 20), *shape)  # type: ignore[assignment]
        device = torch.get_default_device() if device is None else device
        with _recording.lasting():  # also of a pool that makes it later
            image = torch.zeros(shape, dtype=dtype, device=device)
            super().__init__(image, levels=levels, odd=odd, filtering=filtering)
            storage = self._storage
            if storage is None:
                raise UnavailableError(
                    f"{who}: no kernels for device '{image.device.type}'; pass device='cpu', or make a TexturePyramid "
                    "of each frame"
                )
            storage.keep_workspace(self._odd)
        self.threshold = float(threshold)
        self.min_pixels = _checks.whole(min_pixels, who, "min_pixels", 0, 255)
        self._image = storage.image
        self._store = storage
        self._from = storage.image.data_ptr()  # level 0's memory; a frame that lies in it is copied first
        self._to = self._from + storage.image.nbytes
        rows, columns = tile_grid((height, width))
        self._grid = (1 if batch is None else batch, rows, columns)
        self._is_new = True
        self._tiles_like = model(self._grid if self._batched else self._grid[1:], image.new_empty(0, dtype=torch.bool))
        self._energy_like = model(self._tiles_like.shape, image.new_empty(0, dtype=torch.float32))
        self._taken: Any = None  # of the last frame: what _frame() looked at, and the library's struct but the address
        self._options: dict[Any, bytes] = {}
        self._pool: TexturePool | None = None
        self._queued: Any = None  # the pool's: what the last one who borrowed it queued on a GPU
        self._settings = self.threshold, self.min_pixels, filtering
        self._persistent = True

    @property
    def tile_grid(self) -> tuple[int, int]:
        """(rows, columns) of tiles of 16 x 16 pixels."""
        return self._grid[1:]

    def generate_mipmaps(self, image: Any = None) -> TexturePyramid:
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
        self.threshold, self.min_pixels, self.filtering = self._settings
        self._storage = self._store

    def _give_back(self) -> None:
        """Let every use of it raise ValueError until it is borrowed again."""
        self.clear()
        self._storage = self._taken = None

    # ---- Updates -----------------------------------------------------------------------------------------------------

    def update(self, frame: Tensor) -> Damage:
        """Take a frame: tiles that differ from level 0 are written, and the levels above them follow. One launch.

        Args:
            frame: [C,H,W] or [B,C,H,W], as the texture was made.

        Returns:
            The tiles that changed; the first time all of them.
        """
        if self._taken is not None and frame.__class__ in _PLAIN and not self._is_new and not frame.requires_grad:
            rest = self._taken.get((frame.shape, frame.stride(), frame.dtype, frame.device))
            at = frame.data_ptr()
            plain = rest is not None and not frame.is_neg() and at % frame.element_size() == 0
            if plain and at and not is_freed(frame, at) and not self._from <= at < self._to:
                return self._call(pack_at(at, rest), None, _DIFF)
        who = "TexturePyramid.update"
        batched = self._frame(frame, who)
        if self._is_new:
            return self._write_all(batched)
        packed = _tensor_abi._pack(batched, 4)
        if frame.__class__ in _PLAIN and frame.data_ptr() == batched.data_ptr() and not frame.is_neg():
            self._taken = {(frame.shape, frame.stride(), frame.dtype, frame.device): packed[8:]}
        return self._call(packed, None, _DIFF)

    def update_partial(self, frame: Tensor, changed: Any = None) -> Damage:
        """Take the parts of a frame that are known to have changed.

        Args:
            frame: [C,H,W] or [B,C,H,W], as the texture was made.
            changed: bool [H,W] or [B,H,W], pixels; bool [rows, columns] or [B, rows, columns], tiles, tensors or NumPy
                arrays; a Damage; None: the tiles that differ, as update().

        Returns:
            The tiles that changed. The first time, and the first time that it is borrowed from a pool, all: the whole
            frame is written.
        """
        who = "TexturePyramid.update_partial"
        if changed is None:
            return self.update(frame)
        batched = self._frame(frame, who)
        mask, kind = self._mask(changed, who)
        if self._is_new:
            return self._write_all(batched)
        return self._call(_tensor_abi._pack(batched, 4), mask, kind)

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
        batched: Tensor = frame if frame.ndim == 4 or not self._batched else frame[None]
        if not self._batched:
            batched = frame[None]
        if batched.shape != base.shape or batched.dtype != base.dtype:
            raise ValueError(
                f"{who}: frame is {_checks.shown(frame)}; the texture is {_checks.dtype_name(base)} {list(self.shape)}"
            )
        if batched.device != base.device:
            raise ValueError(
                f"{who}: the texture is on {base.device}, frame on {batched.device}; pass frame.to('{base.device}')"
            )
        if batched.requires_grad and torch.is_grad_enabled():
            raise ValueError(f"{who}: a persistent texture gives no gradient; pass frame.detach()")
        if _checks.recording().is_traced(batched):
            return batched
        return batched.clone() if self._from <= batched.data_ptr() < self._to else readable(batched)

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
        for shape, kind in ((self.size, _PIXELS), (self.tile_grid, _TILES)):
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

    def _call(self, frame: bytes | None, mask: Tensor | None, kind: int) -> Damage:
        store, base = self._store, self._source
        if base.data_ptr() != self._source_at or store.flat.data_ptr() != store.flat_at:
            self._require_memory()
        if base._version != self._version and frame is not None:  # of tiles that this frame doesn't change
            self._fill()
        tiles = torch.empty_like(self._tiles_like, memory_format=torch.contiguous_format)
        energy = torch.empty_like(self._energy_like, memory_format=torch.contiguous_format)
        abi = _tensor_abi
        library = abi._library or abi._open()
        workspace = store.workspace
        chosen = (self.threshold, self.min_pixels, kind)
        options = self._options.get(chosen)
        if options is None:
            options = _UPDATE.pack(_UPDATE.size, self.threshold, self.min_pixels, self._odd, kind, 0)
            self._options = {chosen: options}
        packed_mask = None
        if mask is not None:
            packed_mask = abi._ARRAY.pack(mask.data_ptr(), *mask.shape, 1, 1, *mask.stride(), 0, 0, abi.U8, 0)
        status = library.saccade_update(
            place_of(store.image),
            store.packed,
            store.layout.levels,
            None if workspace is None else workspace.data_ptr(),
            0 if workspace is None else workspace.nbytes,
            frame,
            packed_mask,
            options,
            tiles.data_ptr(),
            energy.data_ptr(),
        )
        if status != 0:
            abi._fail(library, status)
        _count_write((store.flat,) if frame is None else (store.image, store.flat))
        self._version = base._version
        if self._texture:
            self._texture.is_stale = True
        return Damage(tiles, None, energy)

    def _fill(self) -> None:
        self._require_memory()
        self._store.fill(self._odd)
        _count_write((self._store.flat,))
        self._note_change()

    def _refresh(self) -> None:
        """Make the levels again where level 0 was written through level(0)."""
        if self._is_compiled():
            return
        self._require_memory()
        if self._source._version != self._version:
            self._fill()

    def _require_memory(self) -> None:
        if self._storage is None:
            raise ValueError("TexturePyramid: this texture was released to its pool; acquire() another")
        if not self._is_in_place():
            raise ValueError(
                "TexturePyramid: its memory, or its levels', was replaced or freed; make another by create_persistent()"
            )

    def __reduce__(self) -> Any:
        """A copy is of level 0; it is in no pool."""
        self._require_memory()
        options = {
            "channels": self.channels,
            "batch": self._grid[0] if self._batched else None,
            "levels": self._asked,
            "odd": "edge" if self._odd == _checks.EDGE else "floor",
            "threshold": self.threshold,
            "min_pixels": self.min_pixels,
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
