"""`GLBuffer`: from a CUDA tensor into an OpenGL pixel buffer, without a way over the host."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from pysaccade._native import _arrays, _calls, _process
from pysaccade._native._arguments import quoted, require_dense


def _free(address: int, born: int) -> None:
    if born == _process.forks():
        _calls.library().saccade_gl_buffer_free(address)


class GLBuffer:
    """A pixel buffer of your OpenGL context that CUDA writes to: tensors become textures without leaving the GPU.

        with sc.GLBuffer(buffer) as pixels:      # glGenBuffers, glBufferData: of at least the tensor's bytes
            pixels.copy_from(frame)              # [H, W, 4] u8 on the GPU
            glTexSubImage2D(...)                 # from the bound GL_PIXEL_UNPACK_BUFFER

    Args:
        id: The buffer's OpenGL name. It stays yours; free() or the end of `with` takes it from CUDA alone.
        device: The GPU that the context is on: "cuda", "cuda:1", 1 or a torch.device.

    The OpenGL context that is current now must be current in every call, on one thread at a time.

    Raises:
        ValueError: There is no such buffer, or no context is current.
        UnavailableError: CUDA or OpenGL is missing, or they are on different GPUs.
    """

    def __init__(self, id: int, *, device: Any = "cuda") -> None:  # noqa: A002
        place = _arrays.place_of("torch", device, "GLBuffer", otherwise="it needs an NVIDIA GPU; ")
        if place.device != "cuda":
            raise ValueError(f"GLBuffer: device is a GPU, not {quoted(device)}")
        self.id = id
        self._index = _arrays.current_cuda_index(place)
        out = ctypes.c_void_p()
        lib = _calls.library()
        _calls.check(lib.saccade_gl_buffer_new(id, self._index, ctypes.byref(out)), "GLBuffer: ")
        assert out.value is not None
        self._address = out.value
        self._finalizer = weakref.finalize(self, _free, out.value, _process.forks())

    @property
    def nbytes(self) -> int:
        """The buffer's size."""
        size = ctypes.c_size_t()
        lib = _calls.library()
        _calls.check(lib.saccade_gl_buffer_size(self._alive(), ctypes.byref(size)), "GLBuffer: ")
        return size.value

    def copy_from(self, tensor: Any, sync: bool = True, *, offset: int = 0) -> None:
        """Copy a tensor's bytes to the buffer's byte `offset` and on, in the order of torch's current stream.

        Args:
            tensor: On the buffer's GPU; one that isn't contiguous is packed first.
            sync: Wait until the copy is done. Without it the driver keeps the order with OpenGL work that follows.
            offset: In bytes.

        Raises:
            TypeError: `tensor` is something else.
            ValueError: The tensor is on another device, or the buffer is too small.
            RuntimeError: The buffer was freed.
            UnavailableError: CUDA or OpenGL failed. It is a RuntimeError.
        """
        device = getattr(tensor, "device", None)
        if not hasattr(tensor, "data_ptr") or device is None:
            raise TypeError(f"GLBuffer.copy_from takes a tensor, not {type(tensor).__name__}")
        if device.type != "cuda" or device.index != self._index:
            raise ValueError(f"GLBuffer.copy_from: tensor is on {device}; pass tensor.to('cuda:{self._index}')")
        require_dense(tensor, "GLBuffer.copy_from", "tensor")
        packed = tensor.detach().contiguous()
        stream = _arrays.current_cuda_stream(self._index)
        lib = _calls.library()
        status = lib.saccade_gl_buffer_write(
            self._alive(), packed.data_ptr(), packed.nbytes, offset, stream or None, int(sync)
        )
        _calls.check(status, "GLBuffer.copy_from: ")

    def _alive(self) -> int:
        if not self._finalizer.alive:
            raise RuntimeError("GLBuffer: it was freed; make another of the OpenGL buffer")
        return self._address

    def free(self) -> None:
        """Take the buffer from CUDA; it stays OpenGL's. Again: nothing."""
        self._finalizer()

    def __enter__(self) -> GLBuffer:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


GLResource = GLBuffer  # what the first documents call it
