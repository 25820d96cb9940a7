"""`TokenCache`: a vision tower that runs what changed, and keeps the features of the rest."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pysaccade._native._arguments import whole
from pysaccade._native._arrays import import_torch
from pysaccade.models._tower import MERGE, TowerInput, patch_positions, windows_of

if TYPE_CHECKING:
    from torch import Tensor

_ATTENTION = "saccade_held"  # our name among the attention functions of transformers


class TokenCache:
    """Features of whole frames from a vision tower that runs only what changed.

        cache = sc.TokenCache(tower)
        for look in sc.qwen("clip.mp4"):
            features = cache(look)          # [rows * cols, D]: of all of the frame

    A tower whose layers all attend within windows (`fullatt_block_indexes=[]`) runs the windows that changed. Features
    are kept by place and content: what was shown at this place before is not run again when it comes back.

    In other towers each token depends on all. The cells that changed (in towers with windows: the windows) are then run
    against the keys and values that the others had when they were last run. Such features are approximate: what is kept
    does not know of later changes elsewhere. All cells are run again at every `refresh`th look, and when half of them
    changed. No feature is then older than `refresh` looks, and `error` says what this cost.

    Args:
        tower: A vision tower of Qwen2-VL, Qwen2.5-VL or Qwen3-VL in `transformers`.
        refresh: Looks from one run of all cells to the next, in towers that do not only attend within windows.
        memory: How many frames' worth of features of windows is kept at most.

    One stream at a time: reset() before another one. Gradients are not recorded.

    Raises:
        TypeError, ValueError: It is not such a tower, or a number is out of range.
    """

    def __init__(self, tower: Any, *, refresh: int = 64, memory: int = 4) -> None:
        if not hasattr(tower, "blocks") or not hasattr(getattr(tower, "config", None), "spatial_merge_size"):
            raise TypeError("TokenCache: tower is a vision tower of Qwen2-VL, Qwen2.5-VL or Qwen3-VL in transformers")
        self._tower = tower
        self._refresh = whole(refresh, "TokenCache", "refresh", 1, 1 << 30)
        self._memory = whole(memory, "TokenCache", "memory", 1, 1 << 20)
        full = range(len(tower.blocks))
        if getattr(tower.config, "window_size", 0):
            full = tower.config.fullatt_block_indexes
        self._full = [tower.blocks[index].attn for index in full]
        self.reset()

    def reset(self) -> None:
        """Forget all features and counts."""
        self.tokens_run: int = 0
        """Tokens that the tower computed."""
        self.tokens: int = 0
        """Tokens of the features that were returned."""
        self.error: float = 0.0
        """Towers that do not only attend within windows: by what share the kept features differed from those of the
        last run of all cells, root mean square. 0 before the second such run."""
        self._features: list[Tensor] = []  # [N, D] of the frame: the pooler's, then those of deep stacks
        self._count = 0  # N; 0: before the first look
        self._pixels: Any = None  # [N, 3, 2S, 2S] u8: the frame as it is now, for towers that attend to all
        self._age = 0
        self._windows: OrderedDict[tuple[int, bytes], list[Tensor]] = OrderedDict()
        self._held: dict[Any, tuple[Tensor, Tensor]] = {}  # of a layer: keys and values [1, heads, 4N, d]

    @property
    def deepstack(self) -> list[Tensor]:
        """Qwen3-VL: the features for the language model's first layers, [rows * cols, D] each, of the last look."""
        return [each.clone() for each in self._features[1:]]

    def __call__(self, look: TowerInput) -> Tensor:
        """Features [rows * cols, D] of the frame, row by row, for the language model.

        Raises:
            ValueError: The look is not of the tower's model, the first one is not a whole frame, or the frame's size
                changed.
        """
        torch = import_torch()
        self._check(look)
        count = look.grid[0] * look.grid[1]
        with torch.no_grad():
            if self._full:
                self._run_against_held(look, count)
            else:
                self._run_windows(look, count)
        self._count = count
        self.tokens += count
        return self._features[0].clone()

    def _check(self, look: TowerInput) -> None:
        config, kind, count = self._tower.config, look.kind, look.grid[0] * look.grid[1]
        reads = config.patch_size * MERGE, config.temporal_patch_size, getattr(config, "window_size", 0)
        if reads != (kind.cell_px, kind.temporal, kind.window_px):
            raise ValueError(f"TokenCache: the look is for {kind.name}, and the tower is of another model")
        if not self._count and len(look) != count:
            raise ValueError(
                "TokenCache: the first look must be a whole frame; begin with the first one, or whole=True"
            )
        if self._count not in (0, count):
            raise ValueError("TokenCache: the frame's size changed; call reset()")

    # ---- towers of windows -------------------------------------------------------------------------------------------

    def _run_windows(self, look: TowerInput, count: int) -> None:
        torch = import_torch()
        order = torch.argsort(look.windows, stable=True)
        windows, sizes = torch.unique_consecutive(look.windows[order], return_counts=True)
        parts = order.split(sizes.tolist())
        contents = look.pixels.cpu().numpy()
        keys = [
            (window, hashlib.blake2b(contents[part.cpu().numpy()], digest_size=16).digest())
            for window, part in zip(windows.tolist(), parts, strict=True)
        ]
        fresh = [index for index, key in enumerate(keys) if key not in self._windows]
        if fresh:
            run = torch.cat([parts[index] for index in fresh])
            for found, index in zip(
                self._run(look.select(run), [len(parts[index]) for index in fresh]), fresh, strict=True
            ):
                self._windows[keys[index]] = found
        for key, part in zip(keys, parts, strict=True):
            self._windows.move_to_end(key)
            self._keep(look.cells[part], self._windows[key], count)
        last = look.cells.new_tensor([count - 1])
        most = self._memory * (int(windows_of(last, look.grid, look.kind)) + 1)
        while len(self._windows) > most:
            self._windows.popitem(last=False)

    def _run(self, look: TowerInput, sizes: list[int]) -> list[list[Tensor]]:
        """The features of these cells, in parts of these sizes."""
        self.tokens_run += len(look)
        outputs = _outputs(self._tower(**look.arguments(self._tower)))
        return [list(part) for part in zip(*(each.split(sizes) for each in outputs), strict=True)]

    # ---- towers in which tokens depend on all ------------------------------------------------------------------------

    def _run_against_held(self, look: TowerInput, count: int) -> None:
        is_first = not self._count
        if is_first:
            self._pixels = look.pixels.clone()
        else:
            self._pixels[look.cells] = look.pixels
        self._age += 1
        is_whole = is_first or self._age >= self._refresh or 2 * len(look) >= count
        changed = look.cells
        if is_whole:
            look = self._whole(look, count)
            self._age = 0
        outputs = self._attend(look)
        self.tokens_run += len(look)
        if is_whole and len(changed) < count:
            kept = look.cells.new_ones(count).index_fill(0, changed, 0).bool()
            now = outputs[0][kept].float()
            difference = (self._features[0][kept].float() - now).square().mean()
            self.error = float((difference / now.square().mean()).sqrt())
        self._keep(look.cells, outputs, count)

    def _whole(self, look: TowerInput, count: int) -> TowerInput:
        """All cells, as they were last seen."""
        torch = import_torch()
        cells = torch.arange(count, device=look.cells.device)
        positions = patch_positions(look.frame, cells, look.grid[1])
        return replace(look, pixels=self._pixels, cells=cells, patch_positions=positions)

    def _attend(self, look: TowerInput) -> list[Tensor]:
        """Run these cells; where a layer attends to all, the others are there with the keys and values they had."""
        from transformers import AttentionInterface

        AttentionInterface.register(_ATTENTION, _attention)
        arguments = look.arguments(self._tower)
        patches = look.patches_of_grid
        if "window_index" in arguments:
            patches = patches.reshape(-1, MERGE * MERGE)[arguments["window_index"]].flatten()
        config = self._tower.config
        before = config._attn_implementation
        config._attn_implementation = _ATTENTION
        try:
            held = _Held(self._full, self._held, patches)
            return _outputs(self._tower(**arguments, saccade_held=held))
        finally:
            config._attn_implementation = before

    def _keep(self, cells: Tensor, features: list[Tensor], count: int) -> None:
        if not self._features:
            self._features = [each.new_zeros(count, each.shape[-1]) for each in features]
        for held, each in zip(self._features, features, strict=True):
            held[cells] = each


class _Held:
    """Keys and values of the layers that attend to all, and which patches are run."""

    def __init__(self, layers: list[Any], memory: dict[Any, tuple[Tensor, Tensor]], patches: Tensor) -> None:
        self.layers, self.memory, self.patches = layers, memory, patches


def _attention(module: Any, query: Tensor, key: Tensor, value: Tensor, *_: Any, **keywords: Any) -> Any:
    """An attention function of transformers: [1, heads, n, d] each, of the patches that are run."""
    torch = import_torch()
    held: _Held = keywords["saccade_held"]
    if any(module is layer for layer in held.layers):
        if module not in held.memory:
            held.memory[module] = torch.empty_like(key), torch.empty_like(value)
        keys, values = held.memory[module]
        keys[:, :, held.patches] = key
        values[:, :, held.patches] = value
        key, value = keys, values
    found = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=keywords["scaling"])
    return found.transpose(1, 2).contiguous(), None


def _outputs(found: Any) -> list[Any]:
    return [found.pooler_output, *(getattr(found, "deepstack_features", None) or [])]
