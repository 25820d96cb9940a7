"""`onevision`: a video as LLaVA-OneVision-2 takes it: blocks of 2 x 2 patches with their places in time and frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pysaccade._native._arrays import import_torch
from pysaccade.models._tower import MERGE, TowerInput, TowerKind, grid_of, grid_thw, looks, opened, patch_positions

if TYPE_CHECKING:
    from torch import Tensor

    from pysaccade.emission._emission import Emission

_KIND = TowerKind(name="llava-onevision-2", rule="qwen2-vl", normalize="clip", temporal=1)


def onevision(source: Any, *, coarse: bool = False, canvases: bool = False, **options: Any) -> Iterator[TowerInput]:
    """A video as `pixel_values`, `image_grid_thw` and `patch_positions` of LLaVA-OneVision-2, as vLLM takes them.

        for look in sc.onevision("rtsp://camera", rate=2):
            model(look.pixel_values, look.image_grid_thw, look.patch_positions, ...)

    A block is 2 x 2 patches of 14 px, which the model merges into one token. The first look has all blocks of the
    frame, later ones those that changed since, at full resolution and their true places: `patch_positions` has the
    frame's number, and row and column in patches. A look without a change is not given.

    Args:
        source: What `Stream` takes, or a `Stream` with lattice="uniform:0" and patch_size=28.
        coarse: Take the patches of a fovea instead (lattice "nested"): fine where the eye looks, coarse around it.
            Positions are then f32, in the same unit. `tokens` says how many blocks there are.
        canvases: Give canvases of the frame's own grid, as lmms-video-utils makes them: the first frame, then canvases
            that are filled with the blocks of as many looks as it takes. The last one is padded: black pixels at
            positions of -1. A canvas comes when it is full, so live it comes late.
        options: Of `Stream`: `rate` (looks a second, 4), `every`, `device`, `vf="scale=..."` ...

    Returns:
        An iterator of `TowerInput`. Rows and columns of `image_grid_thw` are those of a picture of the blocks that are
        here: the frame, a canvas, or one row of blocks.

    Raises:
        ValueError: The stream does not give these blocks, or `coarse` and `canvases` come together.
        InputError, UnavailableError: As `Stream`.
    """
    if coarse and canvases:
        raise ValueError("onevision: a canvas has blocks of full resolution; leave out coarse or canvases")
    stream, owned = opened(source, _KIND, "onevision", "nested" if coarse else "uniform:0", options)
    inputs = _inputs(looks(stream, owned), coarse)
    return _canvases(inputs) if canvases else inputs


def _inputs(emissions: Iterator[Emission], coarse: bool) -> Iterator[TowerInput]:
    for emission in emissions:
        blocks = emission.new.nonzero().flatten()
        if len(blocks) == 0:
            continue
        rows, cols = grid = grid_of(emission)
        whole = len(blocks) == rows * cols and not coarse
        yield TowerInput(
            pixels=emission.patches[blocks],
            cells=blocks,
            image_grid_thw=grid_thw(rows, cols, blocks) if whole else grid_thw(1, len(blocks), blocks),
            patch_positions=(
                _coarse_positions(emission, blocks) if coarse else patch_positions(emission.frame, blocks, cols)
            ),
            grid=grid,
            kind=_KIND,
            frame=emission.frame,
            pts_ns=emission.pts_ns,
        )


def _coarse_positions(emission: Emission, chosen: Tensor) -> Tensor:
    """[4n, 3] f32: t, row, column of the patches of these blocks, in patches of full resolution."""
    torch = import_torch()
    t, row, col = emission.positions("thw")[chosen].unbind(-1)
    half_step = torch.exp2(emission.lod[chosen]) / 2
    corners = torch.tensor([[-1, -1], [-1, 1], [1, -1], [1, 1]], device=row.device)
    rows, cols = (
        centre[:, None] * MERGE + 0.5 + half_step[:, None] * corner
        for centre, corner in ((row, corners[:, 0]), (col, corners[:, 1]))
    )
    positions: Tensor = torch.stack([t[:, None].expand_as(rows), rows, cols], dim=-1).flatten(0, 1)
    return positions


def _canvases(inputs: Iterator[TowerInput]) -> Iterator[TowerInput]:
    """The first input, then blocks of those that follow, as many at a time as the frame has."""
    torch = import_torch()
    first = next(inputs, None)
    if first is None:
        return
    yield first
    size = len(first)
    waiting = first.select(slice(0, 0))
    for last in inputs:
        waiting = replace(
            last,
            pixels=torch.cat([waiting.pixels, last.pixels]),
            cells=torch.cat([waiting.cells, last.cells]),
            image_grid_thw=first.image_grid_thw,
            patch_positions=torch.cat([waiting.patch_positions, last.patch_positions]),
        )
        if len(waiting) >= size:
            yield waiting.select(slice(0, size))
            waiting = waiting.select(slice(size, None))
    spare = size - len(waiting)
    if spare < size:
        pixels, cells, positions = waiting.pixels, waiting.cells, waiting.patch_positions
        yield replace(
            waiting,
            pixels=torch.cat([pixels, pixels.new_zeros(spare, *pixels.shape[1:])]),
            cells=torch.cat([cells, cells.new_full((spare,), -1)]),
            patch_positions=torch.cat([positions, positions.new_full((spare * MERGE * MERGE, 3), -1)]),
        )
