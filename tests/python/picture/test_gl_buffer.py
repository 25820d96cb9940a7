"""`GLBuffer`: a tensor's bytes in an OpenGL buffer; the wrong things said clearly."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import pysaccade as sc
from conftest import skip_or_fail

pytestmark = pytest.mark.torch
_PIXEL_UNPACK, _STREAM_DRAW = 0x88EC, 0x88E0


def test_without_a_gpu_it_says_what_is_missing():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(sc.UnavailableError, match=r"^GLBuffer: torch .* finds no GPU for device='cuda'"):
        sc.GLBuffer(1)
    with pytest.raises(ValueError, match="device is a GPU, not 'cpu'"):
        sc.GLBuffer(1, device="cpu")


class _Context:
    """An EGL context without a window, and the few calls that the tests need."""

    def __init__(self) -> None:
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        egl.eglGetProcAddress.argtypes = [ctypes.c_char_p]
        for name in ("eglGetPlatformDisplay", "eglCreateContext"):
            getattr(egl, name).restype = ctypes.c_void_p
        query = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
            egl.eglGetProcAddress(b"eglQueryDevicesEXT")
        )
        devices, count = (ctypes.c_void_p * 16)(), ctypes.c_int()
        query(16, devices, ctypes.byref(count))
        self.egl = egl
        for device in devices[: count.value]:
            display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x313F, ctypes.c_void_p(device), None))
            if not display or not egl.eglInitialize(display, None, None):
                continue
            egl.eglBindAPI(0x30A2)  # OpenGL
            config, found = ctypes.c_void_p(), ctypes.c_int()
            egl.eglChooseConfig(
                display, (ctypes.c_int * 3)(0x3040, 8, 0x3038), ctypes.byref(config), 1, ctypes.byref(found)
            )
            context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, None))
            if (
                context
                and egl.eglMakeCurrent(display, None, None, context)
                and b"NVIDIA" in self.call("glGetString", 0x1F00)
            ):
                return
        raise OSError("no OpenGL context on an NVIDIA GPU")

    def call(self, name: str, *arguments: Any) -> Any:
        result = ctypes.c_char_p if name == "glGetString" else None
        kinds = [ctypes.c_uint if isinstance(value, int) else type(value) for value in arguments]
        return ctypes.CFUNCTYPE(result, *kinds)(self.egl.eglGetProcAddress(name.encode()))(*arguments)


@pytest.fixture
def context() -> _Context:
    try:
        return _Context()
    except OSError as error:
        skip_or_fail("cuda-gl", str(error))
        raise


@pytest.mark.cuda
def test_tensor_arrives_in_the_buffer(context: _Context):
    import torch

    name = ctypes.c_uint()
    context.call("glGenBuffers", 1, ctypes.pointer(name))
    context.call("glBindBuffer", _PIXEL_UNPACK, name.value)
    context.call("glBufferData", _PIXEL_UNPACK, ctypes.c_ssize_t(4096), ctypes.c_void_p(), _STREAM_DRAW)
    data = torch.arange(4096, device="cuda").to(torch.uint8)
    with sc.GLBuffer(name.value) as buffer:
        assert buffer.nbytes == 4096
        for sync in (True, False):
            half = (data[:2048] + int(sync)).reshape(2, 1024)
            buffer.copy_from(half, sync=sync)
            buffer.copy_from(half.flip(0)[:, ::2], offset=2048, sync=sync)
            back = (ctypes.c_uint8 * 4096)()
            context.call("glGetBufferSubData", _PIXEL_UNPACK, ctypes.c_ssize_t(0), ctypes.c_ssize_t(4096), back)
            wanted = torch.cat([half.flatten(), half.flip(0)[:, ::2].flatten()]).cpu()
            assert bytes(back)[:3072] == wanted.numpy().tobytes()
        with pytest.raises(ValueError, match="GLBuffer.copy_from"):
            buffer.copy_from(data, offset=1)
        with pytest.raises(ValueError, match="tensor is on cpu; pass tensor.to"):
            buffer.copy_from(data.cpu())
    with pytest.raises(RuntimeError, match="it was freed"):
        buffer.copy_from(data)
    # As the first documents have it: by another name, `sync` by its place, free() by hand.
    resource = sc.GLResource(name.value)
    resource.copy_from(data, True)
    context.call("glGetBufferSubData", _PIXEL_UNPACK, ctypes.c_ssize_t(0), ctypes.c_ssize_t(4096), back)
    assert bytes(back) == data.cpu().numpy().tobytes()
    with pytest.raises(TypeError, match="takes a tensor, not bytes"):
        resource.copy_from(b"pixels")
    resource.free()
    resource.free()
    with pytest.raises(RuntimeError, match="it was freed"):
        resource.copy_from(data, sync=True)
    with pytest.raises(ValueError, match="GLBuffer"):
        sc.GLResource(999)
