"""A texture that keeps its mip levels: `TexturePyramid`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade._operators._tensor_abi import _address
from pysaccade.tensors._known import Known, Table
from pysaccade.tensors._pyramid_arguments import checked_levels, persistent_size
from pysaccade.tensors._storage import Storage, element_strides
from pysaccade.tensors.mipmaps import levels_above

if TYPE_CHECKING:
    from pysaccade.lattice._lattice import Lattice
    from pysaccade.lattice.plan import PatchPlan
    from pysaccade.tensors.persistent import PersistentTexture

Array = Any

_pyramids = Table()
_sampling: Any = None  # modules, once they were used
_foveated: Any = None

SEVEN = _checks.Most.SEVEN
FILTERING = ("exact", "hybrid", "hardware")


class TexturePyramid:
    """An image or a batch of them with all its mip levels, to be sampled: a texture.

        pyramid = sc.TexturePyramid(image)  # [C,H,W] or [B,C,H,W]
        patches = pyramid.sample_foveated((0.5, 0.5))

    Level 0 is the image itself: nothing is copied. The levels follow a tensor: after a write in place (a step of an
    optimizer, load_state_dict()), or where it got other memory (module.to()), the next sampling makes them again.
    Writes to NumPy arrays and to tensors of torch.inference_mode() are not counted: call `generate_mipmaps()` then.
    Where the image requires a gradient, everything that is sampled gives one back, through all levels at once.

    Convention: uv = (x, y) in [0, 1], origin at the top left, the centre of pixel i of W at (i + 0.5) / W. `lod` is
    log2 of the distance of samples in pixels of level 0; fractions mix two levels; it is clamped to [0, levels - 1].
    """

    def __init__(
        self,
        image: Array | None = None,
        *,
        levels: int | None = SEVEN,
        odd: str = "edge",
        filtering: str = "exact",
        mips: bool = True,
    ) -> None:
        """Make the levels of an image, at once or (mips=False) in a second step by `generate_mipmaps()`.

        Args:
            image: [C,H,W] or [B,C,H,W], tensor or NumPy array; u8, u16, f16, bf16, f32 or f64. None: it comes with
                `generate_mipmaps(image)`.
            levels: How many, the image included; None: down to the smallest. Left out: 7, or as many as there are.
            odd: "edge": ceil(size / 2^l) texels, the last row and column repeated; "floor": as `avg_pool2d`.
            filtering: "exact": the same bits on every device, with and without gradients. "hardware": by the texture
                unit of a GPU, of u8, u16, f16 and f32 tensors on CUDA, without gradients; within 2/255 of the texels'
                range. "hybrid": "hardware" where it can be had and gradients are disabled (`torch.no_grad()`), else
                "exact": so the grad mode changes values.
            mips: False: nothing is computed yet.
        """
        if mips and filtering == "exact" and self._made_as_before(image, levels, odd):
            return
        who = "TexturePyramid"
        self._odd = _checks.ODD[_checks.choice(odd, _checks.ODD, who, "odd")]
        self.filtering = _checks.choice(filtering, FILTERING, who, "filtering")
        if levels is not None and not isinstance(levels, _checks.Most):
            _checks.whole(levels, who, "levels", 1, _checks.MOST_LEVELS)
        self._asked = levels
        if image is not None:
            self._take(image, who)
            if mips:
                self._make()
                self._remember(image, levels, odd)

    filtering = "exact"
    _made = False
    _storage: Storage | None = None  # of the levels; None under a trace, which makes them where it samples
    _list: list[Array] | None = None  # [B,C,h,w]: of a device without kernels, or given
    _graph: list[Array] | None = None
    _texture: Any = None  # of the texture unit, once it was sampled by
    _persistent = False
    _given = False  # levels are the caller's
    _of_tensors = False
    _image: Array | None = None  # level 0 [B,C,H,W]; a compiler does better by the source, which is no view
    _source: Any = None  # the image, or the levels, as they were given
    _source_at: int | None = None  # its address when the levels were made; None: it plays no part
    _counter: Any = None  # the image, or what counts its writes in its place
    _version: int | None = None  # the counter's when the levels were made
    _batched = True

    # ---- Making ------------------------------------------------------------------------------------------------------

    def _made_as_before(self, image: Array, levels: Any, odd: Any) -> bool:
        """Make the levels of a tensor as one of the same shape was checked before; False: there was none."""
        found = _pyramids.get(image, levels, odd)
        if found is None:
            return False
        known, base = found
        self._source, self._source_at = image, base
        self._made = self._of_tensors = True
        self._counter, self._version = _checks.recording().counter_of(image)
        self._count = known.count
        self._odd = known.odd
        self._asked = levels
        if not known.batched:
            self._batched = False
            image = image[None]
        self._image = image
        self._storage = Storage.of_known(image, base, known)
        return True

    def _remember(self, image: Any, levels: Any, odd: str) -> None:
        """Keep what was checked of this tensor for the next one of its shape."""
        storage = self._storage
        if storage is None or not _checks.is_tensor(image) or storage.layout.workspace:
            return
        if readable(image) is not image:
            return
        known = Known(storage.layout, self._count, self._odd, self._batched, image.element_size())
        storage.known = _pyramids.add(image, levels, odd, known)

    def _take(self, image: Array, who: str) -> None:
        _checks.require_texture(image, who)
        if self.filtering == "hardware":
            from pysaccade.tensors._hardware import refuse_image

            refuse_image(image, who)
        if image.ndim > 4:
            raise ValueError(f"{who}: image is {list(image.shape)}, it must be [C, H, W] or [B, C, H, W]")
        self._count = _checks.level_count(self._asked, image.shape[-2:], self._odd, who)
        self._batched = image.ndim == 4
        self._image = image if self._batched else image[None]
        self._source, self._source_at, self._made = image, None, False
        self._of_tensors = _checks.is_tensor(image)
        self._storage = self._list = self._graph = self._texture = self._counter = self._version = None

    def _make(self) -> None:
        self._made, self._graph = True, None
        if self._texture:
            self._texture.is_stale = True
        image = self._image
        assert image is not None
        if not self._of_tensors:
            self._image = image = readable(image)
            self._storage = Storage(image, self._count, self._odd)
            self._source_at = _address(self._source)
            return
        _recording = _checks.recording()
        if _recording.is_traced(image):
            return
        self._counter, self._version = _recording.counter_of(self._source)
        self._source_at = self._source.data_ptr()
        if _recording.is_native(image):
            self._image = image = readable(image)
            self._storage = Storage(image.detach() if image.requires_grad else image, self._count, self._odd)
        else:
            self._list = [image, *levels_above(image.detach(), self._count, self._odd)]

    def _refresh(self) -> None:
        """Make the levels again where the image was written since, or it or they have other memory.

        What autograd saved of them can't be used by a backward any more, as what it saved of the image.
        """
        if self._given or not self._made or self._is_compiled():
            return
        storage = self._storage
        if storage is not None and self._is_current(storage):
            return
        if not self._is_in_place():
            self._make_again()
        elif self._counter is None or self._counter._version == self._version:
            return
        elif storage is None or self._is_copied():
            self._make_again()
        else:
            storage.fill(self._odd)
            _checks.recording().count_write((storage.flat,))
            self._note_change()

    def _make_again(self) -> None:
        """Make the levels of the image as it is now, in memory of their own."""
        with _checks.recording().lasting() if self._of_tensors else nullcontext():
            self._take(self._source, "TexturePyramid")
            self._make()
        self._remember(self._source, self._asked, "edge" if self._odd == _checks.EDGE else "floor")

    def _note_change(self) -> None:
        """Levels were made in place, of what the image is now."""
        self._version = self._counter._version
        self._graph = None
        if self._texture:
            self._texture.is_stale = True

    def _is_copied(self) -> bool:
        """Whether level 0 is a copy: C can't read the image as it lies."""
        return self._storage is not None and _address(self._image) != self._source_at

    def generate_mipmaps(self, image: Array | None = None) -> TexturePyramid:
        """Make the levels: the second step after mips=False, or again after a write that nothing counted.

        Args:
            image: Another image that takes the place of the first; None: the one that is there.

        Returns:
            This pyramid.
        """
        who = "TexturePyramid.generate_mipmaps"
        if self._given:
            raise ValueError(f"{who}: the levels were given to from_levels(); make a TexturePyramid of the image")
        if image is not None:
            self._take(image, who)
        elif self._source is None:
            raise ValueError(f"{who}: there is no image yet; pass one")
        elif not self._is_compiled() and (not self._is_in_place() or self._is_copied()):
            self._take(self._source, who)
        self._make()
        return self

    @classmethod
    def from_levels(cls, levels: Sequence[Array], *, filtering: str = "exact") -> TexturePyramid:
        """Take levels of your own, finest first; each gets its own gradient.

        Args:
            levels: [C,h,w] or [B,C,h,w] each, of one type and place; sizes halve, rounded down or up.
            filtering: As for a pyramid of an image.
        """
        who = "TexturePyramid.from_levels"
        batched, is_batched = checked_levels(levels, who)
        made = cls(levels=len(batched), filtering=filtering)
        if filtering == "hardware":
            from pysaccade.tensors._hardware import refuse_image

            refuse_image(batched[0], who)
        made._source, made._given = list(levels), True
        made._take_levels(batched, is_batched)
        return made

    def _take_levels(self, batched: list[Array], is_batched: bool) -> None:
        self._list, self._image, self._batched, self._count = batched, batched[0], is_batched, len(batched)
        self._made, self._of_tensors = True, _checks.is_tensor(batched[0])

    # ---- Copies: of the image or of the levels given, never of addresses ---------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        left = {"_storage", "_list", "_graph", "_texture", "_image", "_source_at", "_counter", "_version"}
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._given:
            self._take_levels(*checked_levels(self._source, "TexturePyramid"))
        elif self._source is not None:
            if self._made:
                self._make_again()
            else:
                self._take(self._source, "TexturePyramid")

    @staticmethod
    def create_persistent(
        size: tuple[int, int] | None = None,
        *,
        resolution: tuple[int, int] | None = None,
        channels: int = 3,
        batch: int | None = None,
        dtype: Any = None,
        device: Any = None,
        levels: int | None = SEVEN,
        odd: str = "edge",
        threshold: float = 0.0,
        min_pixels: int = 0,
        filtering: str = "exact",
    ) -> PersistentTexture:
        """Make a texture that stays, to be fed with the frames of a video: update(frame).

        Args:
            size: (H, W).
            resolution: (W, H), in place of size.
            channels: C.
            batch: B, for frames [B,C,H,W]; None: frames are [C,H,W].
            dtype: Of the frames; torch.uint8.
            device: Where it lies; torch's default device.
            levels: How many; None: down to the smallest. Left out: 7, or as many as there are.
            odd: As for a pyramid of an image.
            threshold: A pixel changed where a channel differs by more than this.
            min_pixels: A tile changed where more than so many of its pixels did.
            filtering: As for a pyramid of an image.

        Returns:
            A TexturePyramid that also has update(), update_partial() and update_mipmaps_incremental(). On a GPU an
            update allocates nothing but its Damage, and waits for nothing.
        """
        from pysaccade._native._arrays import import_torch
        from pysaccade.tensors.persistent import PersistentTexture

        return PersistentTexture(
            persistent_size(size, resolution, "TexturePyramid.create_persistent"),
            channels=channels,
            batch=batch,
            dtype=import_torch().uint8 if dtype is None else dtype,
            device=device,
            levels=levels,
            odd=odd,
            threshold=threshold,
            min_pixels=min_pixels,
            filtering=filtering,
        )

    def update(self, frame: Array) -> Any:
        """Take a frame: of persistent textures alone."""
        raise ValueError("TexturePyramid.update: made of an image; make it by TexturePyramid.create_persistent(size)")

    def update_partial(self, frame: Array, changed: Any = None) -> Any:
        """Take parts of a frame: of persistent textures alone."""
        self.update(frame)

    def update_mipmaps_incremental(self, damage: Any = None) -> None:
        """Make levels again where level 0 was changed in place; without damage, or of an image: all of them."""
        self.generate_mipmaps()

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

    def level(self, level: int) -> Array:
        """Level `level`, [C,h,w] or [B,C,h,w]: a view. Of an image that requires a gradient it gives one back."""
        index = _checks.whole(level, "TexturePyramid.level", "level", -self.levels, self.levels - 1)
        found = self._differentiable()[index]
        return found if self._batched else found[0]

    def __len__(self) -> int:
        """How many levels there are."""
        return self.levels

    def __getitem__(self, level: int) -> Array:
        """As level()."""
        if not -self.levels <= level < self.levels:
            raise IndexError(f"level {level} of {self.levels}")
        return self.level(level)

    def __repr__(self) -> str:
        if self._source is None:
            return "TexturePyramid(no image yet)"
        made = "" if self._made else ", mips not made yet"
        return f"TexturePyramid({_checks.shown(self._first())}, {self.levels} levels{made})"

    # ---- What the sampling functions use -----------------------------------------------------------------------------

    def _memory(self) -> list[Array]:
        """All that this pyramid reads when it is sampled, where it is made already."""
        if self._storage is not None:
            return [self._image, self._storage.flat]
        return self._list or []

    def _recorded(self) -> Array:
        """Level 0 [B,C,H,W] with its way to the image, where autograd records: a view made before may have none."""
        source = self._first()
        if self._is_compiled() and not self._given and not self._persistent:
            return source if self._batched else source[None]
        image = self._base()
        if source is image or self._persistent or not self._of_tensors:
            return image
        if not _checks.recording().is_grad_enabled():
            return image
        if image.grad_fn is not None or not (source.requires_grad or image.requires_grad):
            return image
        view = source if self._batched else source[None]
        return view if self._storage is None or _checks.recording().is_traced(view) else readable(view)

    def _levels_now(self) -> list[Array]:
        """[B,C,h,w] each; level 0 is the image, with its gradient, the others are without one."""
        self._refresh()
        if self._storage is not None and (self._persistent or not self._is_compiled()):
            return [self._recorded(), *self._storage.levels[1:]]
        if self._given and self._of_tensors and _checks.recording().is_grad_enabled():
            return self._source if self._batched else [level[None] for level in self._source]
        if self._given:
            return self._list or []
        image = self._recorded()
        if not self._made:
            raise ValueError("TexturePyramid: its levels are not made yet; call generate_mipmaps()")
        if self._list is not None and not self._is_compiled():
            return [image, *self._list[1:]]
        return [image, *levels_above(image.detach(), self._count, self._odd)]

    def _is_compiled(self) -> bool:
        return self._of_tensors and bool(_checks.recording()._is_compiling())

    def _is_current(self, storage: Storage) -> bool:
        """Whether the levels are those of the image now, at a glance; False: look closer."""
        known, source = storage.known, self._source
        return (
            known is not None
            and self._counter._version == self._version
            and source.data_ptr() == self._source_at
            and source.shape == known.shape  # resize_()
            and not source.is_neg()
            and storage.flat.data_ptr() == storage.flat_at
        )

    def _is_in_place(self) -> bool:
        """Whether the image and its levels still lie where they lay when they were made."""
        source, storage = self._source, self._storage
        image: Any = self._image
        if self._source_at is None:  # made under a trace
            return not self._made or bool(_checks.recording().is_traced(image))
        shape = image.shape if self._batched else image.shape[1:]
        if source.dtype != image.dtype or source.shape != shape or _address(source) != self._source_at:
            return False
        # a copy of it was resolved, if it was negative from the beginning
        if self._of_tensors and source.is_neg() and _address(image) == self._source_at:
            return False
        if storage is None:
            return True
        layout = storage.layout  # resize_() changes the image's own
        if tuple(image.shape) != layout.shape or element_strides(image) != layout.strides:
            return False
        return _address(storage.flat) == storage.flat_at and storage.flat.shape == (layout.total,)

    def _differentiable(self) -> list[Array]:
        """[B,C,h,w] each, every level with its way back to the image."""
        levels = self._levels_now()
        image = levels[0]
        if self._given or not self._of_tensors or not _checks.recording().needs_gradient(image):
            return levels
        if _checks.recording().is_traced(image):
            return [image, *levels_above(image, self._count, self._odd)]
        if self._graph is None:
            if self._storage is not None:
                from pysaccade.tensors._gradients import StoredLevels

                self._graph = [image, *StoredLevels.apply(image, self._storage, self._odd)]
            else:
                self._graph = [image, *levels_above(image, self._count, self._odd)]
        return self._graph

    @property
    def _derived(self) -> int:
        """The library's word for how levels 1.. came from level 0; -1: they are the caller's."""
        return -1 if self._given else self._odd

    # ---- Sampling ----------------------------------------------------------------------------------------------------

    def sample(self, uv: Array, lod: Any = None, **options: Any) -> Array:
        """As `pysaccade.sample(self, uv, lod, ...)`."""
        from pysaccade.tensors.sampling import sample

        return sample(self, uv, lod, **options)

    def sample_patches(self, plan: PatchPlan, **options: Any) -> Array:
        """As `pysaccade.sample_patches(self, plan, ...)`."""
        global _sampling  # noqa: PLW0603 (an import statement costs half a microsecond each time)
        if _sampling is None:
            from pysaccade.tensors import sampling as loaded

            _sampling = loaded
        return _sampling.sample_patches(self, plan, **options)

    def sample_at_level(
        self, level: Any, centers: Any, *, patch_size: int = 16, return_plan: bool = False, **options: Any
    ) -> Any:
        """As `pysaccade.sample_at_level(self, ...)`: the patches; with return_plan=True (patches, plan)."""
        from pysaccade.tensors import sampling
        from pysaccade.tensors._sample_call import texture_of

        texture = texture_of(self, "sample_at_level")
        plan = sampling.plan_at_level(texture, level, centers, patch_size)
        patches = sampling.sample_patches(self, plan, **options)
        return (patches, plan) if return_plan else patches

    def sample_foveated(
        self, fixation: Any, lattice: Lattice | None = None, *, return_plan: bool = False, **options: Any
    ) -> Any:
        """As `pysaccade.sample_foveated(self, ...)`, but the patches alone unless return_plan=True."""
        global _foveated  # noqa: PLW0603
        if _foveated is None:
            from pysaccade.tensors import foveated as loaded

            _foveated = loaded
        found = None if options else _foveated.around(self, fixation, lattice)
        if found is None:
            found = _foveated.sample_foveated(self, fixation, lattice, **options)
        return found if return_plan else found[0]

    def sample_anisotropic(
        self, plan: PatchPlan, direction: Array, *, return_plan: bool = False, **options: Any
    ) -> Any:
        """As `pysaccade.sample_anisotropic(self, ...)`: the patches; with return_plan=True (patches, plan)."""
        from pysaccade.tensors.sampling import sample_anisotropic

        patches = sample_anisotropic(self, plan, direction, **options)
        return (patches, plan) if return_plan else patches
