"""A texture that keeps the mip levels of an image: `TexturePyramid`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pysaccade._operators import _checks
from pysaccade._operators._gate import readable
from pysaccade._operators._tensor_abi import address
from pysaccade.tensors._call.storage import Storage
from pysaccade.tensors._pyramid_arguments import FILTERING, SEVEN, persistent_size
from pysaccade.tensors._sampled_texture import SampledTexture
from pysaccade.tensors._texture import seen
from pysaccade.tensors._types import ArrayT, Filtering, Odd
from pysaccade.tensors.mipmaps import levels_above

if TYPE_CHECKING:
    from pysaccade.tensors.persistent import PersistentTexture

Array = Any


class TexturePyramid(SampledTexture[ArrayT]):
    """An image or a batch of them with all its mip levels, to be sampled: a texture.

        >>> pyramid = sc.TexturePyramid(torch.rand(2, 3, 512, 640))  # [B,C,H,W], or [C,H,W]
        >>> pyramid
        TexturePyramid(float32 [2, 3, 512, 640], 7 levels)
        >>> pyramid.sample_foveated(torch.tensor([[0.5, 0.5], [0.3, 0.4]]), num_patches=273).shape
        torch.Size([2, 273, 3, 16, 16])

    Level 0 is the image itself: nothing is copied. The levels follow a tensor: after a write in place (a step of an
    optimizer, load_state_dict()), or where it got other memory (module.to()), the next sampling makes them again.
    Writes to NumPy arrays and to tensors of torch.inference_mode() are not counted: call `generate_mipmaps()` then.
    Where the image requires a gradient, everything that is sampled gives one back, through all levels at once.

    Convention: uv = (x, y) in [0, 1], origin at the top left, the centre of pixel i of W at (i + 0.5) / W. `lod` is
    log2 of the distance of samples in pixels of level 0; fractions mix two levels; it is clamped to [0, levels - 1].
    """

    def __init__(
        self,
        image: ArrayT | None = None,
        *,
        levels: int | None = SEVEN,
        odd: Odd = "edge",
        filtering: Filtering = "exact",
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

        Raises:
            TypeError, ValueError: The image has no such levels, or an argument is wrong.
        """
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

    # ---- Making ------------------------------------------------------------------------------------------------------

    def _take(self, image: Array, who: str) -> None:
        _checks.require_texture(image, who)
        if self.filtering == "hardware":
            from pysaccade.tensors._call.hardware import refuse_image

            refuse_image(image, who)
        if image.ndim > 4:
            raise ValueError(f"{who}: image is {list(image.shape)}, it must be [C, H, W] or [B, C, H, W]")
        self._count = _checks.level_count(self._asked, image.shape[-2:], self._odd, who)
        self._batched = image.ndim == 4
        self._image = image if self._batched else image[None]
        self._source, self._seen, self._made = image, None, False
        self._of_tensors = _checks.is_tensor(image)
        self._storage = self._list = self._graph = self._hardware = self._counter = self._version = None

    def _make(self) -> None:
        self._made, self._graph = True, None
        if self._hardware:
            self._hardware.is_stale = True
        image: Array = self._image
        if not self._of_tensors:
            self._image = image = readable(image)
            self._storage = Storage(image, self._count, self._odd)
            self._seen = seen(self._source)
            return
        _recording = _checks.recording()
        if _recording.is_traced(image):
            return
        self._counter, self._version = _recording.counter_of(self._source)
        self._seen = seen(self._source)
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
        if not self._is_in_place():
            self._make_again()
        elif self._counter is None or self._counter._version == self._version:
            return
        elif self._storage is None or self._is_copied():
            self._make_again()
        else:
            storage = self._storage
            storage.fill(self._odd)
            _checks.recording().count_write((storage.flat,))
            self._note_change()

    def _make_again(self) -> None:
        """Make the levels of the image as it is now, in memory of their own."""
        with _checks.recording().normal_mode() if self._of_tensors else nullcontext():
            self._take(self._source, "TexturePyramid")
            self._make()

    def _is_copied(self) -> bool:
        """Whether level 0 is a copy: C can't read the image as it lies."""
        return self._storage is not None and address(self._image) != address(self._source)

    def generate_mipmaps(self, image: ArrayT | None = None) -> TexturePyramid[ArrayT]:
        """Make the levels: the second step after mips=False, or again after a write that nothing counted.

            >>> sc.TexturePyramid(levels=3, mips=False).generate_mipmaps(torch.rand(3, 64, 48)).level(2).shape
            torch.Size([3, 16, 12])

        Args:
            image: Another image that takes the place of the first; None: the one that is there.

        Returns:
            This pyramid.

        Raises:
            TypeError, ValueError: There is no image yet, or it has no such levels.
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
    def from_levels(cls, levels: Sequence[ArrayT], *, filtering: Filtering = "exact") -> TexturePyramid[ArrayT]:
        """Take levels of your own, finest first; each gets its own gradient.

            >>> sc.TexturePyramid.from_levels([torch.rand(1, 8, 8), torch.rand(1, 4, 4)]).levels
            2

        Args:
            levels: [C,h,w] or [B,C,h,w] each, of one type and place; sizes halve, rounded down or up.
            filtering: As for a pyramid of an image.

        Raises:
            TypeError, ValueError: They are not levels of one image.
        """
        who = "TexturePyramid.from_levels"
        made = cls(filtering=filtering)
        made._given = True
        made._take_levels(levels, who)
        if filtering == "hardware":
            from pysaccade.tensors._call.hardware import refuse_image

            refuse_image(made._image, who)
        return made

    # ---- Copies: of the image or of the levels given, never of addresses ---------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        left = {"_storage", "_list", "_graph", "_hardware", "_image", "_seen", "_counter", "_version"}
        return {name: value for name, value in self.__dict__.items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._given:
            self._take_levels(self._source, "TexturePyramid")
        elif self._source is not None:
            if self._made:
                self._make_again()
            else:
                self._take(self._source, "TexturePyramid")

    @staticmethod
    def create_persistent(
        size: tuple[int, int] | None = None,
        *,
        resolution: int | tuple[int, int] | None = None,
        channels: int = 3,
        batch: int | None = None,
        dtype: Any = None,
        device: Any = None,
        levels: int | None = SEVEN,
        odd: Odd = "edge",
        threshold: float = 0.0,
        min_samples: int = 0,
        filtering: Filtering = "exact",
        min_pixels: int | None = None,
    ) -> PersistentTexture:
        """Make a texture that stays, to be fed with the frames of a video: update(frame).

            >>> texture = sc.TexturePyramid.create_persistent(size=(48, 64))
            >>> texture.update(torch.zeros(3, 48, 64, dtype=torch.uint8))
            Damage([3, 4] tiles)

        Args:
            size: (H, W).
            resolution: (W, H), or the side of a square, in place of size.
            channels: C.
            batch: B, for frames [B,C,H,W]; None: frames are [C,H,W].
            dtype: Of the frames; torch.uint8.
            device: Where it lies; torch's default device.
            levels: How many; None: down to the smallest. Left out: 7, or as many as there are.
            odd: As for a pyramid of an image.
            threshold: A sample changed where it differs by more than this: in 8-bit codes, of u16 frames 256 each; of
                floats in their own unit.
            min_samples: A tile changed where more than so many of its samples (all channels) did.
            filtering: As for a pyramid of an image.
            min_pixels: Deprecated: `min_samples`.

        Returns:
            A texture that has level() and the sample functions of a pyramid, and update(), update_partial() and
            update_mipmaps_incremental(). On a GPU an update allocates nothing but its Damage, and waits for nothing.

        Raises:
            TypeError, ValueError: An argument is wrong. The text names it and what to pass.
            UnavailableError: The library has no kernels for the device.
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
            min_samples=min_samples,
            filtering=filtering,
            min_pixels=min_pixels,
        )
