"""Where to look: lattices around a fixation, and the plans of patches that they make."""

from __future__ import annotations

from pysaccade.lattice._lattice import Lattice
from pysaccade.lattice.plan import PatchPlan

__all__ = ["Lattice", "PatchPlan"]
