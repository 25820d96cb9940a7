"""Pyramids, sampling, channels and Gaussian fields of the caller's own tensors and arrays."""
