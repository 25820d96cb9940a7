"""Fields of Gaussians with full covariance, and their gradients."""

from __future__ import annotations

from pysaccade.tensors._gaussian_module import GaussianField
from pysaccade.tensors.gaussian import gaussian_field, mahalanobis

__all__ = ["GaussianField", "gaussian_field", "mahalanobis"]
