"""How sharp the eye sees at a distance from its fixation."""

from __future__ import annotations

from pysaccade.lattice.acuity import PRESETS, UNITS, eccentricity, level_of_detail

__all__ = ["PRESETS", "UNITS", "eccentricity", "level_of_detail"]
