"""Patches of a pyramid as they mostly are sampled, without options: the shortest way on the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pysaccade._operators import _recording, _tensor_abi
from pysaccade.lattice.plan import PatchPlan
from pysaccade.tensors import _way
from pysaccade.tensors._gradients import Call, ImagePatches, apply_way
from pysaccade.tensors._sample_call import arranged
from pysaccade.tensors._storage import Storage
from pysaccade.tensors._values import Values, normalized, values_of
from pysaccade.tensors.pyramid import TexturePyramid

PLAIN = _recording._PLAIN
_is_watched = _recording.is_watched
_is_grad_enabled = torch.is_grad_enabled


def sample_plain(pyramid: TexturePyramid, plan: PatchPlan, dtype: Any = None) -> Tensor | None:
    """Patches of a plan, without other options; None: someone looks on, or the long way says what is wrong."""
    storage, centers, lod = pyramid._storage, plan.centers, plan.__dict__.get("lod")
    if lod is None:
        lod = plan._kept_lod
    if storage is None or lod.__class__ not in PLAIN or centers.__class__ not in PLAIN or _is_watched():
        return None
    if dtype.__class__ is not torch.dtype and dtype is not None:
        return None
    if not pyramid._is_current(storage):
        pyramid._refresh()
        storage = pyramid._storage
        if storage is None or storage.known is None:
            return _sample_first(pyramid, plan, None, dtype)
    known = storage.known
    if plan.size is not None and plan.size != known.size:
        return None
    # fmt: off
    key = (centers.shape, centers.stride(), centers.dtype, centers.device,
           lod.shape, lod.stride(), lod.dtype, lod.device, plan.patch_size, dtype)
    # fmt: on
    way = known.ways.get(key)
    if way is None:
        return _sample_first(pyramid, plan, key, dtype)
    places = way.places_of(centers, lod)
    if places is None or centers.is_neg() or lod.is_neg():
        return _sample_first(pyramid, plan, None, dtype)
    image: Any = pyramid._image
    if _is_grad_enabled():
        learns = centers.requires_grad or lod.requires_grad
        if pyramid._source is not image and not pyramid._persistent:
            image = pyramid._recorded()
        if learns or image.requires_grad:
            if pyramid._persistent or (learns and way.repeats):
                return _sample_first(pyramid, plan, key, dtype)
            patches: Tensor = apply_way(image, centers, lod, storage, way, places)
            return patches
    sampled: Tensor = way.sample(image, storage, places)
    return sampled


def sample_normalized(pyramid: TexturePyramid, plan: PatchPlan, dtype: Any, normalize: Any) -> Tensor | None:
    """The same, then (x - mean) / std."""
    image: Any = pyramid._source
    if image.__class__ not in PLAIN or _is_watched():
        return None
    word = normalize if normalize.__class__ is str else None
    key = (image.shape[-3], image.dtype, dtype, word) if word is not None and dtype.__class__ in _DTYPES else None
    values = None if key is None else _values.get(key)
    if values is None:
        try:
            values = values_of(image, dtype, normalize, None, "sample_patches")
        except (TypeError, ValueError):  # the long way knows who was called
            return None
        if key is not None and len(_values) < _MOST_VALUES:
            _values[key] = values
    patches = sample_plain(pyramid, plan, values.dtype)
    return None if patches is None else normalized(patches, values, not patches.requires_grad)


_DTYPES = (torch.dtype, type(None))
_MOST_VALUES = 256
_values: dict[Any, Values] = {}  # by channels, the image's type, the patches', and the word for mean and std


def _sample_first(pyramid: TexturePyramid, plan: PatchPlan, key: Any, dtype: Any) -> Tensor | None:
    """The same where its way is not known yet, or has to go through more of torch."""
    pyramid._refresh()
    image: Any = pyramid._recorded()
    centers, lod = plan.centers, plan._lod_to_read()
    storage = pyramid._storage
    if (
        storage is None
        or image.__class__ not in PLAIN
        or centers.device != image.device
        or lod.device != image.device
        or not _recording.is_native(image)
    ):
        return None
    learns = _recording.needs_gradient(image, centers, lod)
    if learns and pyramid._persistent:
        return None
    flat_centers, flat_lod, shape = arranged(centers, lod, image, pyramid._batched, "sample_patches")
    flat_centers, flat_lod, _ = _tensor_abi.readable_places(flat_centers, flat_lod, None)
    size = plan.patch_size
    try:
        values = values_of(image, dtype, None, None, "sample_patches")
    except (TypeError, ValueError):  # the long way knows who was called
        return None
    if learns:
        call = Call(pyramid._odd, storage.layout.levels, size, values.dtype, values.scale, False, 1, True)
        patches = ImagePatches.apply(image, flat_centers, flat_lod, None, storage, call)
    else:
        patches = _sampled(image, flat_centers, flat_lod, storage, size, values)
    whole = (*shape, *patches.shape[2:])
    if key is not None and key not in storage.known.ways:
        _way.keep(storage, key, (centers, lod), image, (flat_centers, flat_lod), patches, whole, values.scale)
    found: Tensor = patches if patches.shape == whole else patches.reshape(whole)
    return found


def _sampled(image: Any, centers: Tensor, lod: Tensor, storage: Storage, size: int, values: Values) -> Tensor:
    """Patches [B,M,C,S,S], which nobody looks at."""
    batch, many = lod.shape
    patches = torch.empty((batch, many, image.shape[1], size, size), dtype=values.dtype, device=image.device)
    if not patches.numel():
        return patches
    places = _tensor_abi.packed_places(centers, lod, None)
    options = _tensor_abi.packed_options(values.scale, False, 1, True)
    _tensor_abi.sample(image, storage.packed, storage.layout.levels, places, options, patches)
    return patches
