"""Textures with the sampling functions as methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from pysaccade.tensors import anisotropic, foveated, sampling
from pysaccade.tensors._texture import Texture
from pysaccade.tensors._types import AnisotropicOptions, ArrayT, FoveatedOptions, PatchOptions, SampleOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pysaccade.lattice._lattice import Lattice
    from pysaccade.lattice.plan import PatchPlan


class SampledTexture(Texture[ArrayT]):
    """A texture that is sampled by its methods."""

    def sample(self, uv: Any, lod: Any = None, **options: Unpack[SampleOptions]) -> ArrayT:
        """As `pysaccade.sample(self, uv, lod, ...)`."""
        values: ArrayT = sampling.sample(self, uv, lod, **options)
        return values

    def sample_patches(self, plan: PatchPlan, **options: Unpack[PatchOptions]) -> ArrayT:
        """As `pysaccade.sample_patches(self, plan, ...)`."""
        patches: ArrayT = sampling.sample_patches(self, plan, **options)
        return patches

    @overload
    def sample_at_level(
        self,
        level: Any,
        centers: Any = None,
        *,
        num_patches: int | None = None,
        patch_size: int = 16,
        return_plan: Literal[False] = False,
        **options: Unpack[PatchOptions],
    ) -> ArrayT: ...
    @overload
    def sample_at_level(
        self,
        level: Any,
        centers: Any = None,
        *,
        num_patches: int | None = None,
        patch_size: int = 16,
        return_plan: Literal[True],
        **options: Unpack[PatchOptions],
    ) -> tuple[ArrayT, PatchPlan]: ...
    def sample_at_level(self, level: Any, centers: Any = None, **options: Any) -> Any:
        """As `pysaccade.sample_at_level(self, level, centers, ...)`."""
        return sampling.sample_at_level(self, level, centers, **options)

    @overload
    def sample_foveated(
        self,
        fixation: Any,
        lattice: Lattice | int | None = None,
        *,
        return_plan: Literal[False] = False,
        **options: Unpack[FoveatedOptions],
    ) -> ArrayT: ...
    @overload
    def sample_foveated(
        self,
        fixation: Any,
        lattice: Lattice | int | None = None,
        *,
        return_plan: Literal[True],
        **options: Unpack[FoveatedOptions],
    ) -> tuple[ArrayT, PatchPlan]: ...
    def sample_foveated(self, fixation: Any, lattice: Lattice | int | None = None, **options: Any) -> Any:
        """As `pysaccade.sample_foveated(self, fixation, lattice, ...)`."""
        return foveated.sample_foveated(self, fixation, lattice, **options)

    @overload
    def sample_anisotropic(
        self,
        plan: PatchPlan,
        direction: Any,
        *,
        return_plan: Literal[False] = False,
        **options: Unpack[AnisotropicOptions],
    ) -> ArrayT: ...
    @overload
    def sample_anisotropic(
        self, plan: PatchPlan, direction: Any, *, return_plan: Literal[True], **options: Unpack[AnisotropicOptions]
    ) -> tuple[ArrayT, PatchPlan]: ...
    @overload
    def sample_anisotropic(
        self,
        fixation: Any,
        text_orientation: Any,
        num_patches: int | None = None,
        /,
        *,
        return_plan: Literal[False] = False,
        **options: Unpack[AnisotropicOptions],
    ) -> ArrayT: ...
    @overload
    def sample_anisotropic(
        self,
        fixation: Any,
        text_orientation: Any,
        num_patches: int | None = None,
        /,
        *,
        return_plan: Literal[True],
        **options: Unpack[AnisotropicOptions],
    ) -> tuple[ArrayT, PatchPlan]: ...
    def sample_anisotropic(self, plan: Any, direction: Any, num_patches: int | None = None, **options: Any) -> Any:
        """As `pysaccade.sample_anisotropic(self, plan, direction, ...)`, which also takes a fixation."""
        return anisotropic.sample_anisotropic(self, plan, direction, num_patches, **options)
