"""`qwen`: a video as the patches that Qwen's vision towers take, those that changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pysaccade._native._arguments import quoted
from pysaccade.models._tower import (
    TowerInput,
    TowerKind,
    grid_of,
    grid_thw,
    looks,
    opened,
    patch_positions,
    windows_of,
)

if TYPE_CHECKING:
    from pysaccade.emission._emission import Emission

_KINDS = {
    kind.name: kind
    for kind in (
        TowerKind(name="qwen2-vl", rule="qwen2-vl", normalize="clip", temporal=2),
        TowerKind(name="qwen2.5-vl", rule="qwen2.5-vl", normalize="clip", temporal=2, window_px=112),
        TowerKind(name="qwen3-vl", rule="qwen3-vl", normalize="siglip", temporal=2),
    )
}


def qwen(source: Any, model: str = "qwen2.5-vl", *, whole: bool = False, **options: Any) -> Iterator[TowerInput]:
    """A video as what the vision towers of Qwen2-VL, Qwen2.5-VL and Qwen3-VL in `transformers` take of it.

        tower = transformers.AutoModel.from_pretrained("Qwen/Qwen2.5-VL-3B-Instruct").visual
        for look in sc.qwen("clip.mp4", rate=2):
            features = tower(**look.arguments(tower)).pooler_output    # [len(look), D], of what changed

    The first look has all of the frame; later ones have what changed since the look before: cells of 2 x 2 patches, and
    with Qwen2.5-VL all cells of the windows (112 x 112 px) that hold one. A look without a change is not given.

    Pixels are the frame's own: nothing is resized, and the right and lower edges are repeated to whole cells. A look is
    one frame, which fills both halves of a patch in time, as the models' processors do with images.

    Args:
        source: What `Stream` takes: a file, a URL, a camera, the screen, an iterable of frames. Or a `Stream` with
            lattice="uniform:0" and the model's patch_size (28; 32 of Qwen3-VL).
        model: "qwen2-vl", "qwen2.5-vl" or "qwen3-vl".
        whole: Give all cells at each look, whether they changed or not.
        options: Of `Stream`: `rate` (looks a second, 4), `every`, `device`, `vf="scale=1288:728"` ...

    Returns:
        An iterator of `TowerInput`, one for each look.

    Raises:
        ValueError: There is no such model, or the stream does not give its cells.
        InputError, UnavailableError: As `Stream`.
    """
    if not isinstance(model, str) or model not in _KINDS:
        raise ValueError(f"qwen: model is {', '.join(_KINDS)}, not {quoted(model)}")
    kind = _KINDS[model]
    stream, owned = opened(source, kind, "qwen", "uniform:0", options)
    return _inputs(looks(stream, owned), kind, whole)


def _inputs(emissions: Iterator[Emission], kind: TowerKind, whole: bool) -> Iterator[TowerInput]:
    for emission in emissions:
        rows, cols = grid = grid_of(emission)
        changed = emission.changed
        if whole:
            changed = changed | True
        elif kind.window_px:
            windows = windows_of(changed.new_ones(len(emission)).cumsum(0) - 1, grid, kind)
            touched = changed.new_zeros(int(windows[-1]) + 1)
            touched[windows[changed]] = True
            changed = touched[windows]
        cells = changed.nonzero().flatten()
        if len(cells) == 0:
            continue
        yield TowerInput(
            pixels=emission.patches[cells],
            cells=cells,
            image_grid_thw=grid_thw(rows, cols, cells),
            patch_positions=patch_positions(emission.frame, cells, cols),
            grid=grid,
            kind=kind,
            frame=emission.frame,
            pts_ns=emission.pts_ns,
        )
