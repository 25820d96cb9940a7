"""Where emissions lie: kind of array, device, type. torch is loaded here, and only where it is used."""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
from typing import Any, NamedTuple

import numpy as np

from pysaccade._native._arguments import is_tensor, quoted, require_dense
from pysaccade._native._errors import UnavailableError

# The library's word of a sample type -> NumPy's; torch names them alike.
DTYPES = {"u8": "uint8", "f16": "float16", "f32": "float32"}


class Place(NamedTuple):
    """Where a stream's patches shall go, as far as the caller said."""

    kind: str  # "torch" or "numpy"
    device: str  # "auto", "cpu" or "cuda"
    ordinal: int | None  # of a CUDA device; None: the current one


def torch_is_there() -> bool:
    """Whether torch can be imported; doesn't import it."""
    return sys.modules.get("torch") is not None or importlib.util.find_spec("torch") is not None


def import_torch() -> Any:
    """Import torch.

    Raises:
        UnavailableError: It isn't installed, or can't be loaded.
    """
    try:
        import torch
    except (ImportError, OSError) as error:
        line = (str(error) or "torch").splitlines()[0]
        raise UnavailableError(f"{line}; install torch, or pass array='numpy'") from None
    return torch


def place_of(array: str, device: Any, who: str = "Stream", otherwise: str = "pass device='cpu', or ") -> Place:
    """Read the arguments `array` and `device` of `who`. `otherwise`: what to do without a GPU, before other advice.

    Raises:
        TypeError: `device` is no device.
        ValueError: No patches can be there.
        UnavailableError: It needs torch, or a torch with CUDA, and there is none.
    """
    if array not in {"auto", "torch", "numpy"}:
        raise ValueError(f"{who}: array is 'auto', 'torch' or 'numpy', not {quoted(array)}")
    name, index = device_of(device, who)
    if array == "numpy" and name == "cuda":
        raise ValueError(
            f"{who}: NumPy's arrays can't lie on device={quoted(device)}; pass device='cpu', or array='torch'"
        )
    kind = array if array != "auto" else "torch" if name == "cuda" or torch_is_there() else "numpy"
    if kind == "torch":
        torch = import_torch()
        if name == "cuda" and not torch.cuda.is_available():
            raise UnavailableError(
                f"{who}: torch {torch.__version__} finds no GPU for device={quoted(device)}; {otherwise}install a "
                "torch with CUDA"
            )
        if name == "cuda" and index is not None and index >= torch.cuda.device_count():
            count = torch.cuda.device_count()
            raise UnavailableError(f"{who}: there is no device 'cuda:{index}'; torch finds {count}")
    return Place(kind, name, index)


def device_of(device: Any, who: str) -> tuple[str, int | None]:
    """(name, index) of "auto", "cpu", "cuda", "cuda:1", 1 or a torch.device."""
    if type(device).__name__ == "device" and hasattr(device, "index"):
        device = str(device)
    elif isinstance(device, int) and not isinstance(device, bool):
        device = f"cuda:{device}"
    if not isinstance(device, str):
        raise TypeError(f"{who}: device takes 'auto', 'cpu', 'cuda', 'cuda:N' or a torch.device, not {quoted(device)}")
    name, colon, number = device.partition(":")
    if name not in {"auto", "cpu", "cuda"} or (name == "auto" and colon) or (colon and not number.isdecimal()):
        raise ValueError(f"{who}: device is 'auto', 'cpu', 'cuda' or 'cuda:N', not {quoted(device)}")
    return name, int(number) if colon and name == "cuda" else None


def dtype_word(dtype: Any) -> str:
    """The library's word for a type of samples: from "u8", "uint8", np.uint8, torch.uint8 ...

    Raises:
        TypeError: It is no type.
        ValueError: Patches don't come in it.
    """
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    name = str(dtype).removeprefix("torch.")
    if type(dtype).__name__ != "dtype" or not str(dtype).startswith("torch."):
        try:
            name = np.dtype(dtype).name
        except TypeError:
            if not isinstance(dtype, str):
                raise TypeError(f"Stream: dtype takes uint8, float16 or float32, not {quoted(dtype)}") from None
    for word, numpy_name in DTYPES.items():
        if name == numpy_name:
            return word
    advice = "; take float32 and pass it through .to(torch.bfloat16)" if name == "bfloat16" else ""
    raise ValueError(f"Stream: dtype is uint8, float16 or float32, not {name}{advice}")


def current_cuda_index(place: Place) -> int:
    """The ordinal of the CUDA device meant: the one named, else torch's current one. Starts no CUDA."""
    if place.ordinal is not None:
        return place.ordinal
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return 0


def current_cuda_stream(ordinal: int) -> int:
    """The cudaStream_t of torch's current stream on a device; 0: the default one."""
    torch: Any = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # without an object of torch's for it
    return int(raw(ordinal) if raw is not None else torch.cuda.current_stream(ordinal).cuda_stream)


class Memory:
    """Makes the arrays of one stream's emissions: on the host, or on a CUDA device by torch's allocator.

    An allocation on a GPU costs Python microseconds, so that there the small arrays of `BLOCK` emissions are one.
    """

    BLOCK = 16

    def __init__(
        self, kind: str, word: str, shape: tuple[int, ...], cuda_index: int | None, block: int | None = None
    ) -> None:
        """`shape`: [N, 3, S, S] of patches; `cuda_index`: None for the host; `block`: emissions, None: as above."""
        self.shape = shape
        self.cuda_index = cuda_index
        self.patches_bytes = math.prod(shape) * np.dtype(DTYPES[word]).itemsize
        self._block = block or (1 if cuda_index is None else self.BLOCK)
        self._small: list[tuple[tuple[Any, ...], tuple[int, ...]]] = []  # made ready, the next one last
        self._small_stream: int | None = None  # whose order they are allocated in
        if kind == "torch":
            torch = import_torch()
            device = torch.device("cpu" if cuda_index is None else f"cuda:{cuda_index}")
            self._empty: Any = functools.partial(torch.empty, device=device)
            self._dtypes: Any = getattr(torch, DTYPES[word]), torch.float32, torch.bool, torch.int32
        else:
            self._empty = np.empty
            self._dtypes = np.dtype(DTYPES[word]), np.dtype(np.float32), np.dtype(np.bool_), None

    def empty(self, rows: tuple[int, ...] = ()) -> tuple[Any, ...]:
        """Arrays that are not filled: patches [*rows, N, 3, S, S], geometry [*rows, N, 4] and changed [*rows, N].

        On a GPU also damaged_tiles [*rows]: there the host doesn't know it.
        """
        return self._empty((*rows, *self.shape), dtype=self._dtypes[0]), *self._empty_small(rows)

    def one(self) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        """empty() of one emission, and where each array lies."""
        if self._block == 1:
            arrays = self.empty()
            return arrays, tuple(map(address, arrays))
        patches = self._empty(self.shape, dtype=self._dtypes[0])
        stream = None if self.cuda_index is None else current_cuda_stream(self.cuda_index)
        if not self._small or stream != self._small_stream:
            self._small_stream = stream
            self._small = self._blocks()
        small, addresses = self._small.pop()
        return (patches, *small), (patches.data_ptr(), *addresses)

    def _empty_small(self, rows: tuple[int, ...]) -> tuple[Any, ...]:
        empty, (_, floats, flags, integers), count = self._empty, self._dtypes, self.shape[0]
        arrays = empty((*rows, count, 4), dtype=floats), empty((*rows, count), dtype=flags)
        return arrays if self.cuda_index is None else (*arrays, empty(rows, dtype=integers))

    def _blocks(self) -> list[tuple[tuple[Any, ...], tuple[int, ...]]]:
        """The small arrays of a block's emissions, in memory side by side, and where they lie."""
        arrays = self._empty_small((self._block,))
        views = zip(*(array.unbind(0) for array in arrays), strict=True)
        begins = [array.data_ptr() for array in arrays]
        steps = [array.nbytes // self._block for array in arrays]
        return [
            (each, tuple(begin + index * step for begin, step in zip(begins, steps, strict=True)))
            for index, each in enumerate(views)
        ]


def address(array: Any) -> int:
    """Where an array's or a tensor's first element lies."""
    if isinstance(array, np.ndarray):
        return int(array.__array_interface__["data"][0])
    return int(array.data_ptr())


def bytes_of(array: Any) -> int:
    """The size of an array or a tensor without gaps."""
    return int(array.nbytes)


def _who_and_name(what: str) -> tuple[str, str]:
    who, _, name = what.partition(": ")
    return (who, name) if name else (what.partition(" ")[0], what)


def as_host_array(values: Any, what: str) -> np.ndarray[Any, Any]:
    """A tensor on any device, an array or a sequence as a NumPy array; copied only where it must be.

    Raises:
        TypeError: It is none of these.
    """
    if is_tensor(values):
        require_dense(values, *_who_and_name(what))
        if values.device.type == "meta":
            raise TypeError(f"{what} is a meta tensor, which holds no numbers")
    if hasattr(values, "detach"):  # a tensor: off its device, off autograd, off the types that NumPy lacks
        values = values.detach()
        if values.is_floating_point() and values.element_size() < 4:
            values = values.float()
        values = values.cpu()
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{what}: {error}") from None
    if array.dtype == object or array.dtype.kind not in "fiub":
        raise TypeError(f"{what} takes numbers, not {type(values).__name__}")
    return array
