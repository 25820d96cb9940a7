"""Which tiles of a persistent texture an update changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from pysaccade._native import _abi
from pysaccade._operators import _recording

TILE_PX = _abi.SACCADE_TILE_PX


class Damage:
    """What an update changed, on the texture's device. Nothing waits for a GPU until something here is read there.

    Unpacks like a tuple: tiles, count, energy = texture.update(frame).

        >>> damage = sc.Damage(torch.tensor([[True, False]]))
        >>> int(damage.count), damage.pixels((16, 32)).sum()
        (1, tensor(256))

    Convention: a tile is 16 x 16 pixels of level 0; tile (row, column) begins at pixel (16 row, 16 column).
    """

    __slots__ = ("_count", "energy", "tiles")
    _fields = ("tiles", "count", "energy")

    def __init__(self, tiles: Tensor, count: Tensor | None = None, energy: Tensor | None = None) -> None:
        """Describe a change.

        Args:
            tiles: [rows, columns] or [B, rows, columns] bool: True where something changed.
            count: How many, a tensor; by default counted when it is read.
            energy: f32 like tiles, the sum of |differences| of a tile; None: it wasn't measured.
        """
        self.tiles = tiles
        self.energy = energy
        self._count = count

    @property
    def count(self) -> Tensor:
        """How many tiles changed: a tensor without axes, on the texture's device; int(count) waits for it."""
        if self._count is None:
            with _recording.normal_mode():  # kept, whatever mode it is read in
                self._count = self.tiles.sum()
        return self._count

    def pixels(self, size: tuple[int, int]) -> Tensor:
        """[.., H, W] bool: the pixels of the tiles, for an image of (H, W)."""
        height, width = size
        rows = self.tiles.repeat_interleave(TILE_PX, -2)[..., :height, :]
        return rows.repeat_interleave(TILE_PX, -1)[..., :width]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.tiles, self.count, self.energy))

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return (self.tiles, self.count, self.energy)[index]

    def __repr__(self) -> str:
        device = "" if self.tiles.device.type == "cpu" else f" on {self.tiles.device}"
        return f"Damage({list(self.tiles.shape)} tiles{device})"


def tile_grid(size: tuple[int, int]) -> tuple[int, int]:
    """(rows, columns) of tiles over an image of (H, W)."""
    height, width = size
    return -(-height // TILE_PX), -(-width // TILE_PX)
