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
    from pysaccade import channels as channels
    from pysaccade import reference as reference
    from pysaccade._batch import EmissionBatch as EmissionBatch
    from pysaccade._collate import collate as collate
    from pysaccade._dataset import DumpDataset as DumpDataset
    from pysaccade._dump import Dump as Dump
    from pysaccade._errors import DamagedInputWarning as DamagedInputWarning
    from pysaccade._errors import InputError as InputError
    from pysaccade._errors import UnavailableError as UnavailableError
    from pysaccade._gaussian_module import GaussianField as GaussianField
    from pysaccade._gl import GLBuffer as GLBuffer
    from pysaccade._paint import paint as paint
    from pysaccade._program import dump as dump
    from pysaccade._show import Picture as Picture
    from pysaccade._show import show as show
    from pysaccade.acuity import eccentricity as eccentricity
    from pysaccade.acuity import level_of_detail as level_of_detail
    from pysaccade.damage import Damage as Damage
    from pysaccade.emission import Emission as Emission
    from pysaccade.foveated import sample_foveated as sample_foveated
    from pysaccade.gaussian import gaussian_field as gaussian_field
    from pysaccade.gaussian import mahalanobis as mahalanobis
    from pysaccade.lattice import Lattice as Lattice
    from pysaccade.plan import PatchPlan as PatchPlan
    from pysaccade.pool import TexturePool as TexturePool
    from pysaccade.pyramid import TexturePyramid as TexturePyramid
    from pysaccade.pyramid import generate_mipmaps as generate_mipmaps
    from pysaccade.sampling import sample as sample
    from pysaccade.sampling import sample_anisotropic as sample_anisotropic
    from pysaccade.sampling import sample_at_level as sample_at_level
    from pysaccade.sampling import sample_patches as sample_patches
    from pysaccade.stream import Stream as Stream
    from pysaccade.text import text_direction as text_direction

# Public name -> the module of this package that holds it. Keep the imports above in step: they are for type checkers.
_MODULES = {
    "Damage": "damage",
    "DamagedInputWarning": "_errors",
    "Dump": "_dump",
    "DumpDataset": "_dataset",
    "Emission": "emission",
    "EmissionBatch": "_batch",
    "GLBuffer": "_gl",
    "GaussianField": "_gaussian_module",
    "InputError": "_errors",
    "Lattice": "lattice",
    "PatchPlan": "plan",
    "Picture": "_show",
    "Stream": "stream",
    "TexturePool": "pool",
    "TexturePyramid": "pyramid",
    "UnavailableError": "_errors",
    "collate": "_collate",
    "dump": "_program",
    "eccentricity": "acuity",
    "gaussian_field": "gaussian",
    "generate_mipmaps": "pyramid",
    "level_of_detail": "acuity",
    "mahalanobis": "gaussian",
    "paint": "_paint",
    "sample": "sampling",
    "sample_anisotropic": "sampling",
    "sample_at_level": "sampling",
    "sample_foveated": "foveated",
    "sample_patches": "sampling",
    "show": "_show",
    "text_direction": "text",
}

_SUBMODULES = ("channels", "reference")  # need torch

__all__ = [
    "Damage",
    "DamagedInputWarning",
    "Dump",
    "DumpDataset",
    "Emission",
    "EmissionBatch",
    "GLBuffer",
    "GaussianField",
    "InputError",
    "Lattice",
    "PatchPlan",
    "Picture",
    "Stream",
    "TexturePool",
    "TexturePyramid",
    "UnavailableError",
    "collate",
    "dump",
    "eccentricity",
    "gaussian_field",
    "generate_mipmaps",
    "level_of_detail",
    "mahalanobis",
    "paint",
    "sample",
    "sample_anisotropic",
    "sample_at_level",
    "sample_foveated",
    "sample_patches",
    "show",
    "text_direction",
]
__version__: str


def __getattr__(name: str) -> object:
    if name == "__version__":
        from pysaccade._library import package_version

        value: object = package_version()
    elif name in _SUBMODULES:
        value = importlib.import_module(f"pysaccade.{name}")
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"pysaccade.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'pysaccade' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES, "__version__"})
