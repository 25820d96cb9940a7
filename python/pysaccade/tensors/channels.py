"""What a patch can hold beside colour: named channels of a frame, kept up to date together and sampled together.

    stack = sc.channels.ChannelStack((1080, 1920), ["rgb", "scharr", "eccentricity", sc.channels.slot("attention", 1)])
    stack.update(frame)                      # u8 or float [3,H,W]
    stack.set("attention", attention)        # [1,h,w], any resolution
    patches = stack.sample_foveated((0.5, 0.5))

Convention: all channels are numbers of about 0 to 1, but for those whose unit stands at their maker.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from pysaccade._operators import _checks, _recording
from pysaccade.tensors._channel_makers import MAKERS, Maker, Slot, slot
from pysaccade.tensors._pyramid_arguments import SEVEN, min_samples_of
from pysaccade.tensors.damage import TILE_PX, Damage
from pysaccade.tensors.persistent import PersistentTexture

__all__ = ["MAKERS", "ChannelStack", "Components", "Maker", "Slot", "components", "pca", "slot"]

_COUNTS = ("last_change", "age")  # makers whose numbers grow with every update


class ChannelStack:
    """Named channels of one video as one persistent texture of C channels, floats.

    An update computes again what the damage of the frame reaches: on the CPU the rectangle around it; on a GPU the
    whole level 0, which costs less there than to wait for the damage. The levels above follow by tile in both cases,
    and are those of a rebuild, bit for bit.

        >>> stack = sc.channels.ChannelStack((48, 64), ["rgb", "eccentricity", sc.channels.slot("attention")])
        >>> damage = stack.update(torch.zeros(3, 48, 64, dtype=torch.uint8))
        >>> stack.look((0.3, 0.4))
        >>> stack.set("attention", torch.rand(6, 8))
        >>> stack.sample_foveated((0.3, 0.4), tokens=40).shape[1:]
        torch.Size([5, 16, 16])
    """

    def __init__(
        self,
        size: tuple[int, int],
        channels: Iterable[str | Maker | Slot],
        *,
        batch: int | None = None,
        dtype: torch.dtype = torch.float32,
        frame_dtype: torch.dtype = torch.uint8,
        device: Any = None,
        levels: int | None = SEVEN,
        threshold: float = 0.0,
        min_samples: int = 0,
        min_pixels: int | None = None,
    ) -> None:
        """Name the channels.

        Args:
            size: (H, W) of the frames.
            channels: Words: "rgb", "luma", "scharr" (x, y and magnitude), "center_surround", "position",
                "eccentricity", "previous_fixation", "last_change", "age", "edge_distance"; Makers of your own; slots
                that you fill.
            batch: B, for frames [B,3,H,W].
            dtype: Of the channels: torch.float32, float16, bfloat16 or float64. Numbers of updates ("last_change",
                "age") are exact up to 2^24 in f32; f16 rounds them beyond 2048, and they end at 65504.
            frame_dtype: Of the frames.
            device: Where all lies.
            levels: Of the pyramid.
            threshold: As TexturePyramid.create_persistent(), of the frames.
            min_samples: As TexturePyramid.create_persistent(), of the frames.
            min_pixels: Deprecated: `min_samples`.

        Raises:
            TypeError, ValueError: There is no such channel, or an argument is wrong.
        """
        who = "ChannelStack"
        if dtype not in {torch.float32, torch.float16, torch.bfloat16, torch.float64}:
            raise TypeError(f"{who}: dtype is {dtype}; pass torch.float32, float16, bfloat16 or float64")
        if isinstance(channels, (str, Maker, Slot)) or not isinstance(channels, Iterable):
            raise TypeError(f"{who}: channels takes a list such as ['rgb', 'luma'], not {_checks.shown(channels)}")
        self.makers = [_maker(each) for each in channels]
        self.names: list[str] = [name for maker in self.makers for name in maker.names]
        if not self.names:
            raise ValueError(f"{who}: channels is empty; pass for example ['rgb', 'luma']")
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"{who}: channels named twice: {', '.join(twice)}")
        common: dict[str, Any] = {"batch": batch, "device": device}
        min_samples = min_samples_of(min_samples, min_pixels, who)
        self.frame = PersistentTexture(
            size, dtype=frame_dtype, levels=1, threshold=threshold, min_samples=min_samples, **common
        )
        self.pyramid = PersistentTexture(size, channels=len(self.names), dtype=dtype, levels=levels, **common)
        self.size = self.pyramid.size
        self.updates = 0
        self._first = {
            maker.names[0]: sum(len(m.names) for m in self.makers[:k]) for k, maker in enumerate(self.makers)
        }
        points = (2, 2) if batch is None else (2, batch, 2)
        where = self._base().shape
        with _recording.normal_mode():
            self._fixations = torch.full(points, 0.5, device=self.pyramid.device)
            self._changed_at = torch.zeros((where[0], 1, *self.size), dtype=torch.float32, device=self.pyramid.device)

    # ---- Facts -------------------------------------------------------------------------------------------------------

    def index(self, name: str) -> int:
        """Where a channel stands among the C of the texture."""
        if name not in self.names:
            raise ValueError(f"ChannelStack: no channel '{name}'; there are {', '.join(self.names)}")
        return self.names.index(name)

    def __getitem__(self, name: str) -> Tensor:
        """A channel at full resolution, [H,W] or [B,H,W]: a view."""
        level: Tensor = self.pyramid.level(0)
        return level[..., self.index(name), :, :]

    def __len__(self) -> int:
        """C, the number of channels."""
        return len(self.names)

    def __repr__(self) -> str:
        return f"ChannelStack({len(self)} channels of {self.size[0]}x{self.size[1]}: {', '.join(self.names)})"

    def _base(self) -> Tensor:
        image = self.pyramid._store.image
        assert isinstance(image, Tensor)
        return image

    # ---- What changes it ---------------------------------------------------------------------------------------------

    def update(self, frame: Tensor, changed: Any = None) -> Damage:
        """Take a frame [3,H,W] or [B,3,H,W]; what it changed is computed again.

        Args:
            frame: R'G'B', of the type that the stack was made for.
            changed: What is known to have changed, as TexturePyramid.update_partial() takes it; None: it is found.

        Returns:
            The tiles of the frame that changed.

        Raises:
            TypeError, ValueError: As TexturePyramid.update_partial().
        """
        damage = self.frame.update_partial(frame, changed)
        self.updates += 1
        tiles = damage.tiles if damage.tiles.ndim == 3 else damage.tiles[None]
        pixels = Damage(tiles).pixels(self.size)[:, None]
        self._changed_at.masked_fill_(pixels, float(self.updates))
        stale = torch.zeros_like(tiles)
        for maker in self.makers:
            if isinstance(maker, Slot) or maker.of == "fixation":
                continue
            if maker.of == "nothing" and self.updates > 1:
                continue
            everywhere = maker.of in {"time", "nothing"}
            reached = torch.ones_like(tiles) if everywhere else _dilated(tiles, maker.reach_px)
            stale |= reached
            self._remake(maker, reached)
        if self.updates == 1:
            for maker in self.makers:
                if not isinstance(maker, Slot) and maker.of == "fixation":
                    self._remake(maker, torch.ones_like(tiles))
                    stale.fill_(True)
        self.pyramid.update_mipmaps_incremental(stale)
        return damage

    def look(self, fixation: Any) -> None:
        """Take a new fixation: what depends on it is computed again.

        Args:
            fixation: (u, v), from 0 to 1; of a batch [B, 2], or one for all.

        Raises:
            TypeError, ValueError: It is something else, as a place in pixels.
        """
        self._fixations = torch.stack([self._point(fixation), self._fixations[0]])
        tiles = torch.ones(
            (self._base().shape[0], *self.pyramid.tile_grid), dtype=torch.bool, device=self.pyramid.device
        )
        for maker in self.makers:
            if not isinstance(maker, Slot) and maker.of == "fixation":
                self._remake(maker, tiles)
        self.pyramid.update_mipmaps_incremental(tiles)

    def _point(self, fixation: Any) -> Tensor:
        """A fixation [2], of a batch [B, 2]."""
        who, like = "ChannelStack.look", self._fixations[0]
        if _checks.is_tensor(fixation):
            _checks.require_array(fixation, who, "fixation")
        try:
            point = torch.as_tensor(fixation, device=like.device).detach()
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{who}: fixation takes (u, v), not {_checks.shown(fixation)}") from None
        if tuple(point.shape) not in {(2,), (1, 2), tuple(like.shape)}:
            many = f", or {list(like.shape)}" if like.ndim == 2 else ""
            raise ValueError(f"{who}: fixation is {list(point.shape)}; it must be (u, v){many}")
        point = point.to(like.dtype)
        _checks.require_uv(point, who, "fixation")
        return point.reshape(2) if like.ndim == 1 else point.expand(like.shape)

    def set(self, name: str, values: Tensor) -> None:
        """Fill a slot.

        Args:
            name: Of the slot.
            values: [k,h,w] or [B,k,h,w] of any resolution; [h,w] for a slot of one channel. Enlarged bilinearly.

        Raises:
            ValueError: There is no such slot, or the values have another shape.
        """
        found = next((each for each in self.makers if isinstance(each, Slot) and each.name == name), None)
        if found is None:
            slots = [each.name for each in self.makers if isinstance(each, Slot)]
            raise ValueError(f"ChannelStack.set: no slot '{name}'; there are {', '.join(slots) or 'none'}")
        if _checks.is_tensor(values):
            _checks.require_array(values, "ChannelStack.set", name)
        base = self._base()
        many = len(found.names)
        values = torch.as_tensor(values, device=base.device).detach()
        values = values.reshape(*([1] * (4 - values.ndim)), *values.shape)
        if values.ndim != 4 or values.shape[1] != many or values.shape[0] not in {1, base.shape[0]}:
            raise ValueError(f"ChannelStack.set: {name} is {list(values.shape)}; it must be [B, {many}, h, w]")
        values = values.to(torch.promote_types(base.dtype, torch.float32))
        if values.shape[-2:] != base.shape[-2:]:
            values = F.interpolate(values, size=self.size, mode="bilinear", align_corners=False)
        first = self._first[found.names[0]]
        base[:, first : first + many] = values.to(base.dtype)
        self.pyramid.update_mipmaps_incremental()

    def _remake(self, maker: Maker, tiles: Tensor) -> None:
        """Compute a maker's channels of level 0 where `tiles` [B,rows,columns] say, or further."""
        height, width = self.size
        top, bottom, left, right = 0, height, 0, width
        if tiles.device.type == "cpu":
            rows, columns = tiles.any(0).any(1).nonzero(), tiles.any(0).any(0).nonzero()
            if not len(rows):
                return
            top, bottom = int(rows[0]) * TILE_PX, min((int(rows[-1]) + 1) * TILE_PX, height)
            left, right = int(columns[0]) * TILE_PX, min((int(columns[-1]) + 1) * TILE_PX, width)
        base, reach = self._base(), maker.reach_px
        device = base.device
        ys = torch.arange(top - reach, bottom + reach, device=device).clamp(0, height - 1)
        xs = torch.arange(left - reach, right + reach, device=device).clamp(0, width - 1)
        frame = self.frame._store.image[:, :, ys][..., xs]
        uv = torch.stack(
            torch.meshgrid(
                (torch.arange(left, right, device=device) + 0.5) / width,
                (torch.arange(top, bottom, device=device) + 0.5) / height,
                indexing="xy",
            )
        )
        made = maker.make(
            _fractions(frame),
            uv=uv,
            fixations=self._fixations,
            changed_at=self._changed_at[..., top:bottom, left:right],
            now=float(self.updates),
            size=self.size,
        )
        first = self._first[maker.names[0]]
        if maker.names[0] in _COUNTS:
            made = made.clamp(max=torch.finfo(base.dtype).max)  # infinity would become NaN where levels are mixed
        base[:, first : first + len(maker.names), top:bottom, left:right] = made.to(base.dtype)

    # ---- Sampling ----------------------------------------------------------------------------------------------------

    def sample_foveated(self, fixation: Any, lattice: Any = None, **options: Any) -> Any:
        """As TexturePyramid.sample_foveated(): all channels in one launch, [.., N, C, S, S]."""
        return self.pyramid.sample_foveated(fixation, lattice, **options)

    def sample_patches(self, plan: Any, **options: Any) -> Tensor:
        """As TexturePyramid.sample_patches(): all channels in one launch."""
        patches: Tensor = self.pyramid.sample_patches(plan, **options)
        return patches


def _maker(what: str | Maker | Slot) -> Maker | Slot:
    if isinstance(what, str):
        if what not in MAKERS:
            raise ValueError(f"ChannelStack: no channel maker '{what}'; there are {', '.join(MAKERS)}, and slot()")
        return MAKERS[what]
    if not isinstance(what, (Maker, Slot)):
        raise TypeError(f"ChannelStack: channels takes words, Makers and slots, not {_checks.shown(what)}")
    return what


def _fractions(frame: Tensor) -> Tensor:
    """R'G'B' codes as f32 in 0..1; floats as they are."""
    if frame.dtype == torch.uint8:
        return frame.float() / 255
    if frame.dtype == torch.uint16:
        return frame.to(torch.int32).float() / 65535
    return frame.float()


def _dilated(tiles: Tensor, reach_px: int) -> Tensor:
    """Tiles [B,rows,columns] and those that a change in them reaches."""
    reach = -(-reach_px // TILE_PX)
    if reach == 0:
        return tiles
    side = 2 * reach + 1
    return F.max_pool2d(tiles[:, None].float(), side, stride=1, padding=reach)[:, 0] > 0


class Components(NamedTuple):
    """What pca() found in embeddings, for those of later frames."""

    vectors: Tensor  # [D, k]
    mean: Tensor  # [D]
    low: Tensor  # [k], what becomes 0
    high: Tensor  # [k], what becomes 1


def components(embedding: Tensor, channels: int) -> Components:
    """Find the principal components of embeddings, to reduce those of many frames alike.

        >>> sc.channels.components(torch.rand(8, 6, 6), 2).vectors.shape
        torch.Size([8, 2])

    Args:
        embedding: [B, D, h, w] or [D, h, w].
        channels: k, at most D. Components beyond the embedding's rank are 0.

    Returns:
        What pca(..., basis=) takes.

    Raises:
        ValueError: `embedding` has another shape, or fewer than `channels` dimensions.
    """
    rows = _rows(embedding)
    depth = rows.shape[1]
    if not 1 <= channels <= depth:
        raise ValueError(f"pca: channels is {channels}; the embedding has {depth}")
    mean = rows.mean(0)
    rows = rows - mean
    _, spread, vectors = torch.linalg.svd(rows, full_matrices=False)
    there = spread[:channels] > 8 * torch.finfo(spread.dtype).eps * spread[0]  # the rest are noise of rounding
    basis = (vectors[:channels] * there[:, None]).mT
    # a component has no sign of its own: its greatest part is positive
    sign = basis.gather(0, basis.abs().argmax(0, keepdim=True)).sign()
    basis = F.pad(basis * sign, (0, channels - basis.shape[1]))
    made = rows @ basis
    return Components(basis, mean, made.amin(0), made.amax(0))


def _rows(embedding: Tensor) -> Tensor:
    """Embeddings [B, D, h, w] or [D, h, w] as [B * h * w, D]."""
    if not _checks.is_tensor(embedding) or embedding.ndim not in {3, 4} or embedding.numel() == 0:
        raise ValueError(f"pca: embedding is {_checks.shown(embedding)}; it must be [B, D, h, w] or [D, h, w]")
    _checks.require_array(embedding, "pca", "embedding")
    return embedding.detach().float().movedim(-3, -1).reshape(-1, embedding.shape[-3])


def pca(embedding: Tensor, channels: int, *, basis: Components | Tensor | None = None) -> Tensor:
    """Reduce embeddings to a few channels by their principal components, for a slot.

        >>> sc.channels.pca(torch.rand(768, 6, 6), 16).shape
        torch.Size([16, 6, 6])

    Args:
        embedding: [B, D, h, w] or [D, h, w].
        channels: k, at most D. Channels beyond the embedding's rank are 0.
        basis: Of components(embedding, k) of an earlier frame: its mean and range too are then taken, and channels are
            alike from frame to frame, clamped to 0..1. Or [D, k] of your own. None: of this embedding.

    Returns:
        [B, k, h, w] or [k, h, w], each channel from 0 to 1.

    Raises:
        ValueError: `embedding` or `basis` has another shape.
    """
    rows = _rows(embedding)
    depth = rows.shape[1]
    if basis is None:
        basis = components(embedding, channels)
    vectors = basis.vectors if isinstance(basis, Components) else basis
    if not _checks.is_tensor(vectors) or tuple(vectors.shape) != (depth, channels):
        raise ValueError(f"pca: basis is {_checks.shown(vectors)}; it must be [{depth}, {channels}]")
    if isinstance(basis, Components):
        made = (rows - basis.mean) @ vectors
        low, high = basis.low, basis.high
    else:
        made = (rows - rows.mean(0)) @ vectors.to(rows)
        low, high = made.amin(0), made.amax(0)
    made = ((made - low) / (high - low).clamp(min=torch.finfo(made.dtype).tiny)).clamp(0, 1)
    shape = embedding.movedim(-3, -1).shape[:-1]
    return made.reshape(*shape, channels).movedim(-1, -3)
