"""Foveated video for vision-language models: a video as the few patches that an eye would look at.

    import pysaccade as sc

    for emission in sc.Stream("clip.mp4"):  # live: torch tensors on your device
        ...
    dump = sc.Dump("out/clip")              # from disk: NumPy arrays, memory-mapped

Importing this package needs NumPy alone: it opens neither libsaccade nor FFmpeg, CUDA or torch. Each name loads what it
needs when it is first used. `Dump` never needs more than NumPy.

Convention: `uv` = (x, y) in [0, 1] of the frame as displayed, origin at the top left, the centre of pixel i of W at
(i + 0.5) / W. Channels come first. `lod` is log2 of the distance of a patch's samples in pixels, 0 is full resolution.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pysaccade._batch import EmissionBatch as EmissionBatch
    from pysaccade._collate import collate as collate
    from pysaccade._dataset import DumpDataset as DumpDataset
    from pysaccade._dump import Dump as Dump
    from pysaccade._errors import DamagedInputWarning as DamagedInputWarning
    from pysaccade._errors import InputError as InputError
    from pysaccade._errors import UnavailableError as UnavailableError
    from pysaccade._paint import paint as paint
    from pysaccade._program import dump as dump
    from pysaccade._show import Picture as Picture
    from pysaccade._show import show as show
    from pysaccade.emission import Emission as Emission
    from pysaccade.stream import Stream as Stream

# Public name -> the module of this package that holds it. Keep the imports above in step: they are for type checkers.
_MODULES = {
    "DamagedInputWarning": "_errors",
    "Dump": "_dump",
    "DumpDataset": "_dataset",
    "Emission": "emission",
    "EmissionBatch": "_batch",
    "InputError": "_errors",
    "Picture": "_show",
    "Stream": "stream",
    "UnavailableError": "_errors",
    "collate": "_collate",
    "dump": "_program",
    "paint": "_paint",
    "show": "_show",
}

__all__ = [
    "DamagedInputWarning",
    "Dump",
    "DumpDataset",
    "Emission",
    "EmissionBatch",
    "InputError",
    "Picture",
    "Stream",
    "UnavailableError",
    "collate",
    "dump",
    "paint",
    "show",
]
__version__: str


def __getattr__(name: str) -> object:
    if name == "__version__":
        from pysaccade._library import package_version

        value: object = package_version()
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"pysaccade.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'pysaccade' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
