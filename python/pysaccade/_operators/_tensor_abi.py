"""The C interface of the tensor operations (include/saccade/tensor.h), for torch tensors and NumPy arrays alike.

Functions here take arrays of one place that have been checked, and write into arrays that the caller made.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

from pysaccade._native import _abi, _calls
from pysaccade._native._errors import UnavailableError
from pysaccade._operators._gate import readable

Array = Any  # torch.Tensor or numpy.ndarray
Places = tuple[bytes, bytes, bytes]  # centers, lod and direction

U8, F16, F32 = _abi.SACCADE_U8, _abi.SACCADE_F16, _abi.SACCADE_F32
U16, BF16, F64 = _abi.SACCADE_U16, _abi.SACCADE_BF16, _abi.SACCADE_F64
FLOOR, EDGE = _abi.SACCADE_ODD_FLOOR, _abi.SACCADE_ODD_EDGE
MASK_DIFF, MASK_PIXELS, MASK_TILES = _abi.SACCADE_MASK_DIFF, _abi.SACCADE_MASK_PIXELS, _abi.SACCADE_MASK_TILES

_CODES = {"uint8": U8, "float16": F16, "float32": F32, "uint16": U16, "bfloat16": BF16, "float64": F64}
_ARRAY = struct.Struct(_abi.FORMATS["saccade_array"])
_PLACE = struct.Struct(_abi.FORMATS["saccade_place"])
_OPTIONS = struct.Struct(_abi.FORMATS["saccade_sample_options"])
_UPDATE = struct.Struct(_abi.FORMATS["saccade_update_options"])
_GAUSSIANS = struct.Struct(_abi.FORMATS["saccade_gaussians"])
REST_BYTES = _ARRAY.size - 8
_AT = struct.Struct(f"=Q{REST_BYTES}s")  # an address, and the rest of a saccade_array
_REST = struct.Struct(_ARRAY.format.replace("@P", "="))
_NOTHING = _ARRAY.pack(0, *([0] * 10), 0, 0)
_OK = _abi.SACCADE_OK
LEVELS_AT_ONCE = 7  # which a launch makes without a workspace

_library: ctypes.CDLL | None = None
_code_of: dict[object, int] = {}


def _open() -> ctypes.CDLL:
    global _library  # noqa: PLW0603 (a cache that the hot paths read)
    if _library is None:
        library = _calls.library()
        _library = library
    return _library


def _fail(library: ctypes.CDLL, status: int) -> NoReturn:
    function, colon, text = library.saccade_last_error().decode().partition(": ")
    text = f"pysaccade: {text}" if colon and function.startswith("saccade_") else f"{function}{colon}{text}"
    if status == _abi.SACCADE_ERROR_USAGE:
        raise ValueError(text)
    if status == _abi.SACCADE_ERROR_MEMORY:
        raise MemoryError(text)
    raise UnavailableError(text)


def dtype_code(array: Array) -> int:
    """The code of an array's dtype in the C interface. Raises TypeError for one that isn't among them."""
    return _code(array.dtype)


def _code(dtype: Any) -> int:
    code = _code_of.get(dtype)
    if code is None:
        name = str(dtype).removeprefix("torch.")
        if name not in _CODES:
            raise TypeError(f"dtype {dtype} is not among uint8, uint16, float16, bfloat16, float32, float64")
        code = _code_of[dtype] = _CODES[name]
    return code


@lru_cache(maxsize=1024)
def rest_of(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any, axes: int) -> bytes:
    """saccade_array without its address, of `axes` axes; a batch that is missing has size 1. Strides in elements."""
    alone, missing = (1,) * (axes - len(shape)), (0,) * (5 - axes)
    return _REST.pack(*alone, *shape, *missing, *alone, *strides, *missing, _code(dtype), 0)


def _pack(array: Array | None, axes: int) -> bytes:
    """saccade_array of `axes` axes; where the array has one less, it is a batch of one."""
    if array is None:
        return _NOTHING
    if hasattr(array, "data_ptr"):
        return _AT.pack(array.data_ptr(), rest_of(array.shape, array.stride(), array.dtype, axes))
    return _AT.pack(array.ctypes.data, rest_of(array.shape, element_strides(array), array.dtype, axes))


def element_strides(array: Array) -> tuple[int, ...]:
    """Strides of a tensor or an array, in elements."""
    if hasattr(array, "data_ptr"):
        return tuple(array.stride())
    return tuple(stride // array.itemsize for stride in array.strides)


@lru_cache(maxsize=256)
def _host(threads: int) -> bytes:
    return _PLACE.pack(_PLACE.size, 0, 0, 0, threads, 0)


@lru_cache(maxsize=4096)
def _stream_of(device: int, stream: int) -> bytes:
    return _PLACE.pack(_PLACE.size, stream, 1, device, 1, 0)


def place_of(array: Array) -> bytes:
    """saccade_place: where `array` lies, and on CUDA the current stream of that device.

    The host's work takes as many threads as torch's own, or as many as this process has cores.
    """
    if not hasattr(array, "data_ptr"):
        return _host(len(os.sched_getaffinity(0)))
    torch: Any = sys.modules["torch"]
    if not array.is_cuda:
        return _host(torch.get_num_threads())
    index = array.get_device()
    return _stream_of(index, torch._C._cuda_getCurrentRawStream(index))


def address(array: Array | None) -> int | None:
    if array is None:
        return None
    found: int = array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data
    return found


def reduce_workspace_bytes(base: Array, count: int) -> int:
    """Bytes of workspace that reduce() of `count` levels needs on the base's place; 0 for up to LEVELS_AT_ONCE."""
    if count <= LEVELS_AT_ONCE:
        return 0
    return int(_open().saccade_reduce_workspace_bytes(_pack(base, 4), count))


def reduce(base: Array, levels: bytes, count: int, odd: int, workspace: Array | None) -> None:
    """Write levels 1.. of `count` packed ones; `base` is level 0."""
    library = _library or _open()
    size = 0 if workspace is None else workspace.nbytes
    status = library.saccade_reduce(place_of(base), levels, count, odd, address(workspace), size)
    if status != _OK:
        _fail(library, status)


def update(
    base: Array,
    levels: bytes,
    count: int,
    workspace: Array | None,
    frame: Array | None,
    mask: Array | None,
    options: bytes,
    tiles: Array,
    energy: Array,
) -> None:
    """Write what is new in frame [B,C,H,W] into the levels; tiles and energy [B,rows,cols] are written, too.

    mask: uint8 or bool, [B,H,W] of pixels or [B,rows,cols] of tiles.
    """
    library = _library or _open()
    status = library.saccade_update(
        place_of(base),
        levels,
        count,
        address(workspace),
        0 if workspace is None else workspace.nbytes,
        None if frame is None else _pack(frame, 4),
        None if mask is None else _ARRAY.pack(mask.data_ptr(), *mask.shape, 1, 1, *mask.stride(), 0, 0, U8, 0),
        options,
        tiles.data_ptr(),
        energy.data_ptr(),
    )
    if status != _OK:
        _fail(library, status)


@lru_cache(maxsize=256)
def packed_update_options(threshold: float, min_samples: int, odd: int, mask_kind: int) -> bytes:
    """saccade_update_options."""
    return _UPDATE.pack(_UPDATE.size, threshold, min_samples, odd, mask_kind, 0)


def reduce_backward(base: Array, gradients: Sequence[Array | None], odd: int, unit: Array | None = None) -> None:
    """Base [B,C,H,W] is written: what each texel has of the levels' gradients."""
    library = _open()
    gradients = [None if gradient is None else readable(gradient) for gradient in gradients]
    packed = b"".join([_pack(gradient, 4) if unit is None else _pack_integers(gradient) for gradient in gradients])
    status = library.saccade_reduce_backward(place_of(base), _pack(base, 4), packed, len(gradients), odd, address(unit))
    if status != _OK:
        _fail(library, status)


def _pack_integers(array: Array | None) -> bytes:
    if array is None:
        return _NOTHING
    return _ARRAY.pack(array.data_ptr(), *array.shape, 0, *array.stride(), 0, F64, 0)


def readable_places(centers: Array, lod: Array, direction: Array | None) -> tuple[Array, Array, Array | None]:
    """Centers [B,N,2], lod [B,N] and direction [B,N,2] as C can read them."""
    return readable(centers, True), readable(lod), None if direction is None else readable(direction, True)


@lru_cache(maxsize=256)
def packed_options(scale: float, padding: int, max_anisotropy: int, rotate: bool, nearest: bool) -> bytes:
    """saccade_sample_options."""
    return _OPTIONS.pack(_OPTIONS.size, scale, padding, max_anisotropy, rotate, nearest, 0)


def packed_levels(levels: Sequence[Array]) -> bytes:
    """Levels [B,C,h,w], which C can read as they lie."""
    return b"".join([_pack(level, 4) for level in levels])


def packed_places(centers: Array, lod: Array, direction: Array | None) -> Places:
    """readable_places(), which the caller keeps until the call, as every one of a sampling takes them."""
    return _pack(centers, 3), _pack(lod, 2), _NOTHING if direction is None else _pack(direction, 3)


def sample(base: Array, levels: bytes, count: int, places: Places, options: bytes, patches: Array) -> None:
    """Patches [B,N,C,S,S] is written, on the place of `base`."""
    library = _library or _open()
    status = library.saccade_sample(place_of(base), levels, count, *places, options, _pack(patches, 5))
    if status != _OK:
        _fail(library, status)


def sample_image_backward(
    image: Array,
    levels: bytes,
    count: int,
    places: Places,
    options: bytes,
    gradient: Array,
    odd: int,
    base: Array | None,
    sums: Array | None,
    unit: Array | None,
    found: Sequence[Array | None],
) -> None:
    """Write the gradients of an image [B,C,H,W] (base), and of centers, lod and direction (found): those given."""
    library = _library or _open()
    status = library.saccade_sample_image_backward(
        place_of(image),
        levels,
        count,
        *places,
        options,
        _pack(gradient, 5),
        odd,
        None if base is None else _pack(base, 4),
        address(sums),
        0 if sums is None else sums.nbytes,
        address(unit),
        *map(address, found),
    )
    if status != _OK:
        _fail(library, status)


def sample_backward(
    levels: Sequence[Array],
    packed: bytes,
    places: Places,
    options: bytes,
    gradient: Array,
    level_gradients: Sequence[Array],
    unit: Array | None,
    found: Sequence[Array | None],
) -> None:
    """Add the gradients of the levels, and write those of centers, lod and direction (found)."""
    library = _open()
    sums = [_pack(level, 4) if unit is None else _pack_integers(level) for level in level_gradients]
    status = library.saccade_sample_backward(
        place_of(levels[0]),
        packed,
        len(levels),
        *places,
        options,
        _pack(gradient, 5),
        b"".join(sums),
        0,
        len(levels) - 1,
        address(unit),
        *map(address, found),
    )
    if status != _OK:
        _fail(library, status)


def gradient_unit(gradient: Array, unit: Array) -> None:
    """Unit: two f64 on the gradient's device; the first becomes the step of integer gradients."""
    library = _open()
    gradient = readable(gradient)
    status = library.saccade_gradient_unit(place_of(gradient), _pack(gradient, 5), address(unit))
    if status != _OK:
        _fail(library, status)


def plan_at(fixations: Array, at_px: Array, size: tuple[int, int], snap_px: int, centers: Array) -> None:
    """Centers [M,N,2] is written, of fixations [M,2] and at_px [N,2], all tensors without gaps."""
    library = _library or _open()
    fixations = readable(fixations)
    status = library.saccade_lattice_plan_at(
        place_of(fixations),
        dtype_code(fixations),
        fixations.data_ptr(),
        fixations.shape[0],
        at_px.data_ptr(),
        at_px.shape[0],
        size[1],
        size[0],
        snap_px,
        centers.data_ptr(),
    )
    if status != _OK:
        _fail(library, status)


class Gaussians:
    """saccade_gaussians over contiguous x [B,P,D], mean [B,G,D], scale_tril [B,G,D,D], weight [B,G,K]; B may lack."""

    def __init__(self, x: Array, mean: Array, scale_tril: Array, weight: Array | None, most_q: float) -> None:
        """`most_q`: pairs of a greater q count 0."""
        x, mean, scale_tril = readable(x), readable(mean), readable(scale_tril)
        weight = None if weight is None else readable(weight)
        self._read = x, mean, scale_tril, weight  # as long as `packed` has their addresses
        self.place = place_of(x)
        *leading, points, dimensions = x.shape
        # fmt: off
        self.packed = _GAUSSIANS.pack(
            _GAUSSIANS.size, address(x), address(mean), address(scale_tril), address(weight) or 0, most_q,
            leading[0] if leading else 1, points, mean.shape[-2], dimensions,
            0 if weight is None else weight.shape[-1], _code(x.dtype))
        # fmt: on

    def workspace_bytes(self) -> int:
        """Bytes on the device that field() and backward() need."""
        return int(_open().saccade_gaussian_workspace_bytes(self.place, self.packed))

    def field(self, workspace: Array | None, out: Array) -> None:
        """Write out [B,P,K]."""
        library = _library or _open()
        status = library.saccade_gaussian_field(self.place, self.packed, address(workspace), address(out))
        if status != _OK:
            _fail(library, status)

    def backward(self, gradient: Array, workspace: Array | None, results: Sequence[Array | None]) -> None:
        """Write the gradients of x, mean, scale_tril and weight, where they are given."""
        library = _open()
        gradient = readable(gradient)
        addresses = [address(result) for result in results]
        status = library.saccade_gaussian_field_backward(
            self.place, self.packed, address(gradient), address(workspace), *addresses
        )
        if status != _OK:
            _fail(library, status)

    def mahalanobis(self, out: Array) -> None:
        """Write q into out [B,P,G]."""
        library = _open()
        status = library.saccade_mahalanobis(self.place, self.packed, address(out))
        if status != _OK:
            _fail(library, status)
