"""`Stream`: a video, or frames of your own, as an iterator of emissions."""

from __future__ import annotations

import atexit
import ctypes
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pysaccade._native import _abi, _arrays, _calls, _process
from pysaccade._native._errors import UnavailableError
from pysaccade._native._normalize import normalization_of
from pysaccade.emission._batch import EmissionBatch
from pysaccade.emission._emission import Emission
from pysaccade.stream import _handle, _info
from pysaccade.stream._fixations import Fixation, FixationRequest, fixation_of
from pysaccade.stream._options import NativeOptions, table, unknown_name
from pysaccade.stream._sources import Source, source_of
from pysaccade.stream._take import Facts, Taker
from pysaccade.stream._texture import StreamTexture

_SLICE_MS = 100  # a wait looks at Ctrl-C and at other threads this often
_OWN_NAMES = ("device", "array")


_open_streams: weakref.WeakSet[Stream] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """At the end of the process: whoever waits ends, and then the library's threads do."""
    for stream in list(_open_streams):
        stream.close()


class Stream(Iterator[Emission]):
    """A video as the few patches that an eye would look at: an iterator of `Emission`.

        for emission in sc.Stream("clip.mp4"):
            tokens = encoder(emission.patches[emission.new])    # [n, 3, 16, 16] on your device

    Args:
        source: A path, "-", a URL or device, "lavfi:GRAPH", "test://NAME"; or an iterable of frames: tensors or arrays
            [3, H, W] or [H, W, 3] u8 (also [H, W] gray, RGBA), each alone or as (frame, seconds). Frames without a time
            come at `input_rate` a second, 25 by default. They are read where they lie.
        device: Where patches are: "cpu", "cuda", "cuda:1", a torch.device, or "auto": the GPU if there is one that
            torch and the library can use. It also decides where the texture is and, by `hwdec`, what decodes.
        array: "torch", "numpy", or "auto": torch if it is installed.
        lattice: "nested", "grid" or "uniform".
        fixation: Where the eye goes: "saliency", "center[:U,V]", "random", "raster[:COLSxROWS]", "file:PATH"; or
            (u, v); or a scanpath: a tensor or an array [n, 3] of t_s, u, v with t_s from the first frame on, or [n, 2]
            of u, v, one at each fixation; or a callable that is given this stream whenever a fixation is due, and
            returns (u, v), or None to leave it to "saliency".
        rate: Fixations a second of the video's own time.
        every: "fixation", "frame" or N: patches on landing, at each frame, or each N frames.
        dtype: Of the samples: torch.uint8, float16 or float32, NumPy's, or "u8", "f16", "f32". Floats are in [0, 1].
        normalize: "clip", "imagenet", "siglip", or (mean, std) of three numbers each; floats alone.
        hwdec: "auto", "no" or "cuda": what decodes.
        live_policy: "auto", "block" or "latest": what becomes of frames when the source is faster.
        options: All others of the command line by their names: `patches=200`, `input_format="h264"` (docs/OPTIONS.md).
            None stands for the default.

    Each emission owns its memory. On a GPU it is made in the order of your current CUDA stream, and nobody waits.

    The source is opened here. At the end of a source, iterating once more opens it again; a loop that was left goes on
    where it stopped; `reopen()` begins again at any moment. Waiting lets other threads run, and Ctrl-C ends it. Threads
    may share a stream by next(stream): each emission goes to one of them. A stream belongs to its process: it pickles
    as its settings, and the copy opens its source where it is first used.

    Raises:
        TypeError, ValueError: An option is unknown, has a wrong value, or conflicts with another one.
        InputError: The source can't be used, or breaks later on.
        UnavailableError: A device or library is missing or has failed.
    """

    def __init__(
        self,
        source: Any,
        *,
        device: Any = "auto",
        array: str = "auto",
        lattice: str = "nested",
        fixation: Any = "saliency",
        rate: float = 4.0,
        every: str | int = "fixation",
        dtype: Any = "u8",
        normalize: Any = None,
        hwdec: str = "auto",
        live_policy: str = "auto",
        **options: Any,
    ) -> None:
        settings: dict[str, Any] = {
            **options,
            "device": device,
            "array": array,
            "lattice": lattice,
            "fixation": fixation,
            "rate": rate,
            "every": every,
            "dtype": dtype,
            "normalize": normalize,
            "hwdec": hwdec,
            "live_policy": live_policy,
        }
        self._configure(source, settings)
        self._opened()

    # ---- settings ----------------------------------------------------------------------------------------------------

    def _configure(self, source: Any, settings: Mapping[str, Any]) -> None:
        """Check what can be checked without opening; `settings`: the keywords of __init__."""
        for name in settings:
            if name not in _OWN_NAMES and name not in table():
                raise unknown_name(name, _OWN_NAMES)
        self._taking = threading.RLock()  # one thread takes emissions
        self._lock = threading.RLock()  # of the handle
        self._waiting = 0  # threads that want the handle while another one waits with it
        self._pending: deque[Callable[[_handle.Handle], int]] = deque()
        self._handle: _handle.Handle | None = None
        self._closed = False
        self._over = False
        self._forks = _process.forks()
        self._settings = dict(settings)
        self._word = _arrays.dtype_word(settings["dtype"])
        self._normalization = normalization_of(settings["normalize"], self._word)
        self._place = _arrays.place_of(settings["array"], settings["device"])
        self._source: Source = source_of(source, settings)
        self._fixation: Fixation = fixation_of(settings["fixation"], settings["rate"])
        backend = settings.get("backend")
        if self._place.device == "cuda" and backend not in (None, "auto", "cuda"):
            raise ValueError(f"Stream: device={settings['device']!r} conflicts with backend={backend!r}; leave one out")

    def _native_options(self) -> NativeOptions:
        """The library's options of these settings; the caller frees them."""
        place = self._place
        native = NativeOptions()
        try:
            for name, value in self._settings.items():
                if name not in {*_OWN_NAMES, "backend", "fixation", "dtype", "normalize"}:
                    native.set(name, value)
            native.set("dtype", self._word)
            native.set("normalize", self._normalization.name)
            native.set("fixation", self._fixation.option)
            backend = self._settings.get("backend")
            if backend in (None, "auto") and place.device != "auto":
                backend = place.device
            if _process.cuda_is_lost():
                backend = self._without_cuda(backend)
            native.set("backend", backend)
            self._ordinal = _arrays.current_cuda_index(place)
            native.set("device", self._ordinal)
        except BaseException:
            native.free()
            raise
        return native

    @staticmethod
    def _without_cuda(backend: str | None) -> str:
        """The backend of a process that was forked from one that had used CUDA."""
        if backend == "cuda":
            raise UnavailableError(
                "Stream: CUDA was used before this process was forked, and can't be used in it; start workers by "
                "spawn, or pass device='cpu'"
            )
        if backend in (None, "auto"):
            _process.LOGGER.warning(
                "CUDA was used before this process was forked: the CPU takes over; spawn workers instead"
            )
            return "cpu"
        return str(backend)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unopened, (type(self), self._source.original, self._settings)

    # ---- opening and closing -----------------------------------------------------------------------------------------

    def _opened(self) -> _handle.Handle:
        """The handle, of a source that is open: opened now if it never was."""
        if self._closed:
            raise _closed_error()
        if self._handle is None:
            self._forks = _process.forks()
            self._open()
        assert self._handle is not None
        return self._handle

    def _check_process(self) -> None:
        if self._forks != _process.forks() and self._handle is not None:
            raise _handle.fork_error()

    def _check_use(self) -> None:
        """Raise in a forked child, and in a callable or an iterable that uses the stream by which it was asked."""
        self._check_process()
        if self._is_asking():
            raise ValueError(
                "Stream: inside its own fixation callable or its source a stream gives its request, texture, info and "
                "geometry, and takes look, attend and close"
            )

    def _is_asking(self) -> bool:
        return threading.get_ident() in (self._fixation.asking, self._source.asking)

    def _open(self) -> None:
        native = self._native_options()
        try:
            handle = _handle.Handle(native)
        finally:
            native.free()
        try:
            self._fixation.give_to(handle, self)
            self._handle = handle  # where close(), from another thread, finds it
            self._source.open(handle, on_this_thread=self._settings.get("backend") == "gl")
            self._info = handle.info()
            self._geometry = handle.geometry()
            _process.note_backend(self._geometry.backend)
            self._taker = Taker(handle, self._memory(), self._word, self._normalization)
            self._facts = Facts(self._info.size, self._info.sar, self._normalization)
        except BaseException:
            self._handle = None
            handle.free()
            if self._closed:
                raise ValueError("Stream: it was closed while it opened") from None
            raise
        self._over = False
        _open_streams.add(self)

    def _memory(self) -> _arrays.Memory:
        shape = self._geometry
        patches = (shape.patch_count, 3, shape.patch_size, shape.patch_size)
        ordinal = None
        if self._place.kind == "torch" and self._place.device != "cpu" and shape.backend == "cuda":
            torch = _arrays.import_torch()
            ordinal = self._ordinal if torch.cuda.is_available() else None
        return _arrays.Memory(self._place.kind, self._word, patches, ordinal)

    def reopen(self, source: Any = None) -> Stream:
        """Begin again at the start of the source, or of another one, with the same settings. Returns the stream."""
        self._check_use()
        with self._taking, self._mine():
            if source is not None:
                self._source = source_of(source, self._settings)
            self._drop()
            self._closed = False
            self._opened()
        return self

    def close(self) -> None:
        """End decoding and give everything back; emissions stay. Loops over it end, in any thread. Again: nothing."""
        self._closed = True
        if self._forks != _process.forks():  # a forked child: all that is the parent's
            return
        handle = self._handle
        if handle is None:
            return
        handle.interrupt()
        if not self._is_asking():  # else the library still works with it, and _take() drops it
            with self._mine():
                self._drop()

    def _drop(self) -> None:
        handle, self._handle = self._handle, None
        self._pending.clear()
        if handle is not None:
            handle.free()

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._closed

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- emissions ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Stream:
        self._check_use()
        if self._closed:
            raise _closed_error()
        if self._over:
            self.reopen()
        return self

    def __next__(self) -> Emission:
        self._check_use()
        with self._taking:
            if self._closed:  # a loop ends, whether close() comes while it waits or between
                raise StopIteration
            with self._lock:
                self._opened()
            arrays = self._taker.memory.empty()
            if not self._take(tuple(map(_arrays.address, arrays))):
                raise StopIteration
            return self._facts.emission(arrays, self._taker.view)

    def batched(self, n: int, *, drop_last: bool = False) -> Iterator[EmissionBatch]:
        """Give n emissions at a time, in one block of memory: patches [n, N, C, S, S].

        The last batch holds what is left, unless `drop_last` leaves it out.
        """
        if n < 1:
            raise ValueError(f"Stream.batched: n is at least 1, not {n}")
        return iter(self)._batches(n, drop_last)

    def _batches(self, n: int, drop_last: bool) -> Iterator[EmissionBatch]:
        while batch := self._batch(n):
            if len(batch) == n or not drop_last:
                yield batch
            if len(batch) < n:
                return

    def _batch(self, n: int) -> EmissionBatch | None:
        """The next n emissions, fewer at the end of the stream; None: it was there."""
        self._check_use()
        emissions: list[Emission] = []
        with self._taking:
            if self._closed:
                return None
            with self._lock:
                self._opened()
            arrays = self._taker.memory.empty((n,))
            begins = [_arrays.address(array) for array in arrays]
            strides = [_arrays.bytes_of(array) // n for array in arrays]
            for index in range(n):
                addresses = tuple(begin + index * stride for begin, stride in zip(begins, strides, strict=True))
                if not self._take(addresses):
                    break
                slot = [array[index] for array in arrays]
                emissions.append(self._facts.emission(slot, self._taker.view))
        if not emissions:
            return None
        patches, geometry, changed = (array[: len(emissions)] for array in arrays[:3])
        return EmissionBatch(patches=patches, geometry=geometry, changed=changed, emissions=tuple(emissions))

    def _take(self, addresses: Sequence[int]) -> bool:
        """Wait for the next emission and write it to these addresses; False: the stream is over, or was closed."""
        while not self._closed:
            with self._lock:
                if self._over or self._handle is None:
                    return False
                while self._pending:
                    self._pending.popleft()(self._handle)
                try:
                    status = self._source.take(self._handle, self._taker, _SLICE_MS, addresses)
                except Exception:
                    if not self.closed:
                        raise
                    self._drop()  # closed by its own source, whose frame then came too late
                    return False
                if status != _abi.SACCADE_LATER:
                    return self._is_emission(status)
            if self._waiting:
                time.sleep(0.001)  # locks know no queue: else this thread would have it again at once
        return False

    def _is_emission(self, status: int) -> bool:
        """Whether the status is that of an emission; raises for errors."""
        if status == _abi.SACCADE_OK:
            return True
        error = self._fixation.error()
        if self._closed:  # by a callable of the caller's, or another thread
            self._drop()
        if isinstance(error, StopIteration):  # else it would look like the video's end
            raise RuntimeError("Stream: the fixation callable raised StopIteration") from error
        if error is not None:  # a callable of the caller's
            raise error
        self._over = True
        failed = None if status == _abi.SACCADE_END else _calls.error(status)
        if self._handle is not None:
            self._handle.pass_log_on()
        if failed is not None and not self._closed:
            raise failed
        return False

    # ---- where to look -----------------------------------------------------------------------------------------------

    def look(self, u: float, v: float) -> None:
        """Let the next fixation that begins be at (u, v); those after it are the scanpath's again. Any thread.

        Raises:
            ValueError: The place is outside [0, 1].
        """
        u, v = float(u), float(v)
        if not (0 <= u <= 1 and 0 <= v <= 1):
            raise ValueError(f"Stream.look: ({u:g}, {v:g}) is outside the frame; u and v are 0 to 1")
        self._ask(lambda handle: handle.call("look", u, v, prefix="Stream.look: "))

    def attend(self, map: Any, uv_box: Any = None) -> None:  # noqa: A002
        """Let fixations fall on the peak of a model's attention from now on, with inhibition of return. Any thread.

        Args:
            map: [h, w] weights, a tensor on either device or an array; leading axes of 1 are dropped. Only their
                differences count. NaN and -inf are never looked at. It holds until the next one; None gives the eye
                back to `fixation`.
            uv_box: left, top, right, bottom of the map in the frame; None: all of it.

        Raises:
            TypeError, ValueError: It can be no such map.
        """
        if map is None:
            self._ask(lambda handle: handle.call("attend", None, 0, 0, None))
            return
        weights = np.ascontiguousarray(_arrays.as_host_array(map, "Stream.attend: map"), np.float32)
        while weights.ndim > 2 and weights.shape[0] == 1:
            weights = weights[0]
        if weights.ndim != 2:
            raise ValueError(f"Stream.attend: map is [h, w], not {list(weights.shape)}")
        box = None
        if uv_box is not None:
            edges = _arrays.as_host_array(uv_box, "Stream.attend: uv_box").astype(np.float32).reshape(-1)
            if edges.shape != (4,):
                raise ValueError(f"Stream.attend: uv_box is left, top, right, bottom, not {uv_box!r}")
            box = (ctypes.c_float * 4)(*edges.tolist())
        rows, cols = weights.shape
        self._ask(
            lambda handle: handle.call("attend", _arrays.address(weights), rows, cols, box, prefix="Stream.attend: ")
        )

    @property
    def request(self) -> FixationRequest | None:
        """Inside a callable `fixation`: what it is asked for; else None."""
        return self._fixation.request

    def _ask(self, work: Callable[[_handle.Handle], int]) -> None:
        """Do this with the handle: now, or, where another thread waits with it, before that takes its next frame."""
        self._check_process()
        if not self._is_asking() and self._lock.acquire(blocking=False):
            try:
                work(self._opened())
            finally:
                self._lock.release()
        else:
            self._pending.append(work)

    def _mine(self) -> _Mine:
        return _Mine(self)

    # ---- facts -------------------------------------------------------------------------------------------------------

    @property
    def info(self) -> _info.StreamInfo:
        """Facts of the source."""
        self._facts_there()
        return self._info

    @property
    def geometry(self) -> _info.Geometry:
        """Shapes of emissions and texture: `patch_count`, `patch_size`, `levels` ..., and the backend."""
        self._facts_there()
        return self._geometry

    @property
    def hwdec_reason(self) -> str:
        """Why the GPU doesn't decode, where that was asked for; else empty."""
        return self.info.hwdec_reason

    @property
    def counters(self) -> _info.Counters:
        """Totals since the source was opened."""
        self._check_use()
        with self._mine():
            return self._opened().counters()

    @property
    def texture(self) -> StreamTexture:
        """The last frame that was taken, with all its levels."""
        return StreamTexture(self)

    def _facts_there(self) -> None:
        """Open a stream that was unpickled; what is known stays known after close()."""
        if not hasattr(self, "_info"):
            with self._mine():
                self._opened()

    def _read_level(self, level: int, plane: int) -> np.ndarray[Any, np.dtype[Any]]:
        self._check_process()
        with self._mine():
            handle = self._opened()
            shape = handle.level(plane, level)
            kind = np.dtype(np.uint8 if shape.bytes_per_channel == 1 else np.uint16)
            texels = np.empty((shape.height, shape.width, shape.channels), kind)
            handle.call("read_level", plane, level, _arrays.address(texels), texels.nbytes)
            frame = texels[: shape.image_height, : shape.image_width]
            return frame[..., 0] if shape.channels == 1 else frame

    def __repr__(self) -> str:
        shown = self._source.describe()
        if self._closed:
            return f"Stream({shown}, closed)"
        if self._handle is None:
            return f"Stream({shown}, not opened yet)"
        shape, info = self._geometry, self._info
        return (
            f"Stream({shown}, {info.width_px}x{info.height_px}, {shape.patch_count} patches of "
            f"{shape.patch_size}x{shape.patch_size} {self._word}, backend {shape.backend})"
        )


class _Mine:
    """The handle's lock, said aloud: a thread that waits for emissions then lets go of it for a moment."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def __enter__(self) -> None:
        self._stream._waiting += 1
        try:
            self._stream._lock.acquire()
        finally:
            self._stream._waiting -= 1

    def __exit__(self, *_: object) -> None:
        self._stream._lock.release()


def _closed_error() -> ValueError:
    return ValueError("Stream: it was closed; reopen() opens it again")


def _unopened(kind: type[Stream], source: Any, settings: Mapping[str, Any]) -> Stream:
    """A stream of these settings that opens its source when it is first used: what a pickle gives."""
    stream = kind.__new__(kind)
    stream._configure(source, settings)
    return stream
