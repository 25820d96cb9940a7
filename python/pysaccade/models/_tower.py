"""What a vision tower takes of a look: cells of 2 x 2 patches in the order in which towers merge them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pysaccade._native._arrays import import_torch
from pysaccade._native._normalize import published
from pysaccade.models._rules import TokenRule
from pysaccade.stream._stream import Stream

if TYPE_CHECKING:
    from torch import Tensor

    from pysaccade.emission._emission import Emission

MERGE = 2  # patches along a cell's side: what towers merge into one token


@dataclass(frozen=True, kw_only=True)
class TowerKind:
    """How a tower reads pixels."""

    name: str
    normalize: str
    """Of the library's table."""
    temporal: int
    """Frames that a patch holds. A single frame is repeated, as the models' processors do with images."""
    window_px: int = 0
    """Side of the windows that most layers attend within; 0: none."""
    rule: str = "qwen2.5-vl"
    """Row of the table of models that has the size of a cell."""

    @property
    def cell_px(self) -> int:
        """Side of a cell: of what becomes one token."""
        return TokenRule.of(self.rule).unit_px


@dataclass(eq=False, repr=False, kw_only=True)
class TowerInput:
    """What a vision tower takes of one look: n cells of 2 x 2 patches, each a token behind the tower.

    `sc.qwen()` and `sc.onevision()` make it. Tensors lie on the stream's device.
    """

    pixels: Tensor
    """[n, 3, 2S, 2S] u8: the cells as they are in the frame. S: a patch's side in pixels."""
    cells: Tensor
    """[n] i64: which cells of the frame's grid these are, row by row from the top left; -1: padding."""
    image_grid_thw: Tensor
    """[1, 3] i64: 1, rows and columns of patches: of the frame (`qwen`), or of the cells here (`onevision`)."""
    patch_positions: Tensor
    """[4n, 3] i64: t, row, column of each patch in the frame's grid of patches; t is the frame's number. With coarse
    patches f32. Padding has -1."""
    grid: tuple[int, int]
    """Rows and columns of cells in the frame."""
    kind: TowerKind
    frame: int
    """The frame's number from 0; of a canvas that of its last cell."""
    pts_ns: int
    """Its presentation time in nanoseconds."""

    @property
    def pixel_values(self) -> Tensor:
        """[4n, 3 * T * S * S] f32: normalised patches, the four of a cell after each other, as processors make them."""
        return pixel_values(self.pixels, self.kind)

    @property
    def pts_seconds(self) -> float:
        """Presentation time in seconds."""
        return self.pts_ns / 1e9

    @property
    def token_positions(self) -> Tensor:
        """[n, 3] i64: t, row, column of each token in the frame's grid of cells, as language models count them."""
        first = self.patch_positions[:: MERGE * MERGE]
        return first // first.new_tensor([1, MERGE, MERGE])

    def arguments(self, tower: Any) -> dict[str, Any]:
        """Keywords for a vision tower of `transformers` (Qwen2-VL, Qwen2.5-VL, Qwen3-VL): `tower(**arguments)`.

        The tower then runs these cells alone, at their places in the frame. Its `pooler_output` [n, D] has their order.
        Layers of windows see whole windows; in other layers the cells that are here attend to each other.
        """
        torch = import_torch()
        device = self.pixels.device
        count = len(self.cells) * MERGE * MERGE
        ends = torch.tensor([0, count], dtype=torch.int32, device=device)
        found = {
            "hidden_states": self.pixel_values,
            "grid_thw": self.image_grid_thw,
            "position_ids": self.patch_positions[:, 1:],
            "cu_seqlens": ends,
        }
        if getattr(tower.config, "window_size", 0):
            windows, order = torch.sort(self.windows, stable=True)
            sizes = torch.unique_consecutive(windows, return_counts=True)[1] * MERGE * MERGE
            found["window_index"] = order
            found["cu_window_seqlens"] = torch.cat([ends[:1], sizes.cumsum(0).int()])
        if getattr(tower.config, "num_position_embeddings", 0):
            from transformers.vision_utils import get_vision_interpolation_indices_and_weights

            indices, weights = get_vision_interpolation_indices_and_weights(
                self.image_grid_thw, tower.num_grid_per_side, align_corners=True, spatial_merge_size=MERGE
            )
            here = self.patches_of_grid
            found["interp_indices"], found["interp_weights"] = indices[here], weights[here]
        return found

    @property
    def windows(self) -> Tensor:
        """[n] i64: the window that each cell lies in, row by row."""
        return windows_of(self.cells, self.grid, self.kind)

    @property
    def patches_of_grid(self) -> Tensor:
        """[4n] i64: which patches of the frame these are, in merge order."""
        four = self.cells.new_tensor(range(MERGE * MERGE))
        return (self.cells[:, None] * len(four) + four).flatten()

    def select(self, index: Any) -> TowerInput:
        """The same with these cells alone; `index`: what indexes a tensor of n."""
        torch = import_torch()
        patches = torch.arange(len(self) * MERGE * MERGE, device=self.cells.device).reshape(-1, MERGE * MERGE)
        return replace(
            self,
            pixels=self.pixels[index],
            cells=self.cells[index],
            patch_positions=self.patch_positions[patches[index].flatten()],
        )

    def __len__(self) -> int:
        """n, the number of cells, of tokens behind the tower."""
        return len(self.cells)

    def __repr__(self) -> str:
        rows, cols = self.grid
        return (
            f"TowerInput({self.kind.name}, frame {self.frame}, {self.pts_seconds:.3f} s, {len(self)} cells of "
            f"{rows} x {cols} on {self.pixels.device})"
        )


def pixel_values(pixels: Tensor, kind: TowerKind) -> Tensor:
    """Normalised patches [4n, 3 * T * S * S] of cells [n, 3, 2S, 2S] u8, to the bit as processors of images make them.

    A processor subtracts 255 mean and divides by 255 deviation, in f32.
    """
    torch = import_torch()
    size = pixels.shape[-1] // MERGE
    patches: Any = pixels.reshape(-1, 3, MERGE, size, MERGE, size)  # n, channel, row, y, column, x
    patches = patches.permute(0, 2, 4, 1, 3, 5).reshape(-1, 3, 1, size, size).float()
    norm = published()[kind.normalize]
    mean, std = (
        torch.tensor(each, device=pixels.device)[:, None, None, None] * 255.0 for each in (norm.mean, norm.std)
    )
    values: Tensor = patches.sub_(mean).div_(std).expand(-1, -1, kind.temporal, -1, -1).flatten(1)
    return values


def windows_of(cells: Tensor, grid: tuple[int, int], kind: TowerKind) -> Tensor:
    """The window of each cell: of a tower without windows, one for all."""
    if not kind.window_px:
        return cells * 0
    side = kind.window_px // kind.cell_px
    cols = grid[1]
    return (cells // cols // side) * -(-cols // side) + cells % cols // side


def opened(source: Any, kind: TowerKind, who: str, lattice: str, options: dict[str, Any]) -> tuple[Stream, bool]:
    """A stream that gives the tower's cells, and whether it was made here.

    Raises:
        ValueError: `source` is a stream that gives something else.
    """
    import_torch()
    wanted: dict[str, Any] = {"lattice": lattice, "patch_size": kind.cell_px}
    if not isinstance(source, Stream):
        return Stream(source, **{"fixation": "center", **options, "array": "torch", **wanted}), True
    settings = source._settings
    differs = any(settings.get(name) != value for name, value in wanted.items()) or settings["array"] == "numpy"
    if options or differs or source._word != "u8":
        raise ValueError(
            f"{who}: takes a source with options, or a Stream with lattice='{lattice}', patch_size={kind.cell_px}, "
            "samples of u8 as tensors and no further options"
        )
    return source, False


def looks(stream: Stream, owned: bool) -> Iterator[Emission]:
    """The emissions of a stream, which is closed behind them where it was made here."""
    try:
        yield from stream
    finally:
        if owned:
            stream.close()


def grid_of(emission: Emission) -> tuple[int, int]:
    """Rows and columns of cells of an emission's frame."""
    height, width = emission.size
    side = emission.patch_size
    return -(-height // side), -(-width // side)


def grid_thw(rows: int, cols: int, like: Tensor) -> Tensor:
    """[1, 3] i64 of so many cells."""
    return like.new_tensor([[1, rows * MERGE, cols * MERGE]])


def patch_positions(frame: int, cells: Tensor, cols: int) -> Tensor:
    """[4n, 3] i64: t, row, column of the patches of cells at full resolution. cols: of cells in the frame."""
    torch = import_torch()
    offset = cells.new_tensor([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]])
    first = torch.stack([torch.full_like(cells, frame), cells // cols * MERGE, cells % cols * MERGE], dim=-1)
    positions: Tensor = (first[:, None] + offset).flatten(0, 1)
    return positions
