"""Video for vision-language models: a video as the few patches that a model does not have yet.

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
from typing import TYPE_CHECKING, Any

from pysaccade._native import _display

if TYPE_CHECKING:
    from pysaccade import channels as channels
    from pysaccade import reference as reference
    from pysaccade._native._errors import DamagedInputWarning as DamagedInputWarning
    from pysaccade._native._errors import InputError as InputError
    from pysaccade._native._errors import UnavailableError as UnavailableError
    from pysaccade.dumps._collate import collate as collate
    from pysaccade.dumps._dataset import DumpDataset as DumpDataset
    from pysaccade.dumps._dump import Dump as Dump
    from pysaccade.dumps._program import dump as dump
    from pysaccade.emission._batch import EmissionBatch as EmissionBatch
    from pysaccade.emission._emission import Emission as Emission
    from pysaccade.lattice._lattice import Lattice as Lattice
    from pysaccade.lattice.acuity import eccentricity as eccentricity
    from pysaccade.lattice.acuity import level_of_detail as level_of_detail
    from pysaccade.lattice.plan import PatchPlan as PatchPlan
    from pysaccade.many._shards import open_shards as open_shards
    from pysaccade.models._onevision import onevision as onevision
    from pysaccade.models._qwen import qwen as qwen
    from pysaccade.models._rules import TokenRule as TokenRule
    from pysaccade.models._token_cache import TokenCache as TokenCache
    from pysaccade.models._tower import TowerInput as TowerInput
    from pysaccade.models._views import Views as Views
    from pysaccade.models._views import views as views
    from pysaccade.picture._gl import GLBuffer as GLBuffer
    from pysaccade.picture._gl import GLResource as GLResource
    from pysaccade.picture._paint import PictureMemory as PictureMemory
    from pysaccade.picture._paint import paint as paint
    from pysaccade.picture._show import Picture as Picture
    from pysaccade.picture._show import show as show
    from pysaccade.picture._view import View as View
    from pysaccade.picture._view import view as view
    from pysaccade.stream._stream import Stream as Stream
    from pysaccade.tensors._gaussian_module import CUDALearnableGaussianField as CUDALearnableGaussianField
    from pysaccade.tensors._gaussian_module import GaussianField as GaussianField
    from pysaccade.tensors.anisotropic import sample_anisotropic as sample_anisotropic
    from pysaccade.tensors.boxes import roi_align as roi_align
    from pysaccade.tensors.damage import Damage as Damage
    from pysaccade.tensors.foveated import sample_foveated as sample_foveated
    from pysaccade.tensors.gaussian import gaussian_field as gaussian_field
    from pysaccade.tensors.gaussian import mahalanobis as mahalanobis
    from pysaccade.tensors.gaussian import scale_tril_of as scale_tril_of
    from pysaccade.tensors.mipmaps import generate_mipmaps as generate_mipmaps
    from pysaccade.tensors.pool import TexturePool as TexturePool
    from pysaccade.tensors.pyramid import TexturePyramid as TexturePyramid
    from pysaccade.tensors.sampling import sample as sample
    from pysaccade.tensors.sampling import sample_at_level as sample_at_level
    from pysaccade.tensors.sampling import sample_patches as sample_patches
    from pysaccade.tensors.text import text_direction as text_direction

# Public name -> the module of this package that holds it. Keep the imports above in step: they are for type checkers.
_MODULES = {
    "CUDALearnableGaussianField": "tensors._gaussian_module",
    "Damage": "tensors.damage",
    "DamagedInputWarning": "_native._errors",
    "Dump": "dumps._dump",
    "DumpDataset": "dumps._dataset",
    "Emission": "emission._emission",
    "EmissionBatch": "emission._batch",
    "GLBuffer": "picture._gl",
    "GLResource": "picture._gl",
    "GaussianField": "tensors._gaussian_module",
    "InputError": "_native._errors",
    "Lattice": "lattice._lattice",
    "PatchPlan": "lattice.plan",
    "Picture": "picture._show",
    "PictureMemory": "picture._paint",
    "Stream": "stream._stream",
    "TexturePool": "tensors.pool",
    "TexturePyramid": "tensors.pyramid",
    "TokenCache": "models._token_cache",
    "TokenRule": "models._rules",
    "TowerInput": "models._tower",
    "UnavailableError": "_native._errors",
    "View": "picture._view",
    "Views": "models._views",
    "collate": "dumps._collate",
    "dump": "dumps._program",
    "eccentricity": "lattice.acuity",
    "gaussian_field": "tensors.gaussian",
    "generate_mipmaps": "tensors.mipmaps",
    "level_of_detail": "lattice.acuity",
    "mahalanobis": "tensors.gaussian",
    "onevision": "models._onevision",
    "open_shards": "many._shards",
    "paint": "picture._paint",
    "qwen": "models._qwen",
    "roi_align": "tensors.boxes",
    "sample": "tensors.sampling",
    "sample_anisotropic": "tensors.anisotropic",
    "sample_at_level": "tensors.sampling",
    "sample_foveated": "tensors.foveated",
    "sample_patches": "tensors.sampling",
    "scale_tril_of": "tensors.gaussian",
    "show": "picture._show",
    "text_direction": "tensors.text",
    "view": "picture._view",
    "views": "models._views",
}

_SUBMODULES = ("channels", "reference")  # need torch

__all__ = [
    "CUDALearnableGaussianField",
    "Damage",
    "DamagedInputWarning",
    "Dump",
    "DumpDataset",
    "Emission",
    "EmissionBatch",
    "GLBuffer",
    "GLResource",
    "GaussianField",
    "InputError",
    "Lattice",
    "PatchPlan",
    "Picture",
    "PictureMemory",
    "Stream",
    "TexturePool",
    "TexturePyramid",
    "TokenCache",
    "TokenRule",
    "TowerInput",
    "UnavailableError",
    "View",
    "Views",
    "collate",
    "dump",
    "eccentricity",
    "gaussian_field",
    "generate_mipmaps",
    "level_of_detail",
    "mahalanobis",
    "onevision",
    "open_shards",
    "paint",
    "qwen",
    "roi_align",
    "sample",
    "sample_anisotropic",
    "sample_at_level",
    "sample_foveated",
    "sample_patches",
    "scale_tril_of",
    "show",
    "text_direction",
    "view",
    "views",
]
__version__: str


def _show(what: object, **options: Any) -> Any:
    return importlib.import_module("pysaccade.picture._show").show(what, **options)


def _views(*arguments: Any) -> Any:
    return importlib.import_module("pysaccade.models._views").of_emission(*arguments)


_display.show, _display.views = _show, _views


def __getattr__(name: str) -> object:
    if name == "__version__":
        from pysaccade._native._library import package_version

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
