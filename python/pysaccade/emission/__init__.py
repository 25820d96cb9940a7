"""What a stream or a dump gives at a fixation: `Emission`."""

from __future__ import annotations

from pysaccade.emission._batch import EmissionBatch
from pysaccade.emission._emission import Emission, Triple

__all__ = ["Emission", "EmissionBatch", "Triple"]
