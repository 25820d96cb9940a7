"""Every operator in a few lines of plain torch: what the fast ones must equal."""

from __future__ import annotations

from pysaccade.tensors.reference import (
    gaussian_field,
    generate_mipmaps,
    mahalanobis,
    sample,
    sample_anisotropic,
    sample_patches,
)

__all__ = ["gaussian_field", "generate_mipmaps", "mahalanobis", "sample", "sample_anisotropic", "sample_patches"]
