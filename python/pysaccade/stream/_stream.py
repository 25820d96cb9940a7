"""`Stream`: a video, or frames of your own, as an iterator of emissions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from pysaccade._native import _arrays
from pysaccade._native._arguments import number, quoted, whole
from pysaccade.emission._batch import EmissionBatch, joined
from pysaccade.emission._emission import Emission
from pysaccade.stream import _handle, _info
from pysaccade.stream._core import Core, closed_error
from pysaccade.stream._fixations import FixationRequest
from pysaccade.stream._sources import source_of
from pysaccade.stream._texture import StreamTexture


class Stream(Core, Iterator[Emission]):
    """A video as the few patches that a model does not have yet: an iterator of `Emission`.

        for emission in sc.Stream("clip.mp4"):
            tokens = encoder(emission.patches[emission.new])    # [n, 3, 16, 16] on your device

    Args:
        source: A path, "-", a URL or device, "screen:", "lavfi:GRAPH", "test://NAME"; or an iterable of frames: tensors
            or arrays [3, H, W] or [H, W, 3] u8 (also [H, W] gray, RGBA), each alone or as (frame, seconds). Frames
            without a time come at `input_rate` a second, 25 by default; times are from -4e9 to 4e9 seconds. They are
            read where they lie. As (frame, boxes) or (frame, seconds, boxes), boxes [n, 4] say where it may differ from
            the frame before: left, top, right, bottom in pixels, none where it is the same. What is given is that of a
            whole comparison, but costs in proportion to the boxes (with device="cpu"). If something changed outside
            them all the same, it may be missed, until a box or a frame without boxes covers it.
        device: Where patches are: "cpu", "cuda", "cuda:1", a torch.device, or "auto": the GPU if there is one that
            torch and the library can use. It also decides where the texture is and, by `hwdec`, what decodes.
        array: "torch", "numpy", or "auto": torch if it is installed.
        lattice: "adaptive": each look sends the squares that bring the receiver's picture nearest to the frame, at most
            `tokens` of them; or "nested": a fovea; or "grid" or "uniform" (docs/GAZE.md). Default: nested where an
            option of a fovea is given (`fovea`, `e0`, `m0`, `preset`, another `patch_size` than 16), else adaptive.
        fixation: Where the eye goes, which decides what "nested" and "grid" sample: "novelty", "saliency",
            "center[:U,V]", "random", "raster[:COLSxROWS]", "file:PATH"; or (u, v); or a scanpath: a tensor or an array
            [n, 3] of t_s, u, v with t_s from the first frame on, or [n, 2] of u, v, one at each fixation; or a callable
            that is given this stream whenever a fixation is due, and returns (u, v), or None to leave it to "novelty".
        rate: Looks a second of the video's own time.
        every: "fixation", "frame" or N: patches on landing, at each frame, or each N frames.
        dtype: Of the samples: torch.uint8, float16 or float32, NumPy's, or "u8", "f16", "f32". Floats are in [0, 1].
        normalize: "clip", "imagenet", "siglip", or (mean, std) of three numbers each; floats alone.
        hwdec: "auto", "no" or "cuda": what decodes.
        live_policy: "auto", "block" or "latest": what becomes of frames when the source is faster.
        prefetch: How many emissions a thread of the stream's makes ahead while you work with the last one. What you
            tell the stream then counts for those that are not made yet, and `texture` and `counters` are of the newest;
            a callable `fixation` and an iterable source are asked on that thread. 0: each is made when you ask for it.
        options: All others of the command line by their names: `tokens=200`, `input_format="h264"` (docs/OPTIONS.md).
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
        lattice: str | None = None,
        fixation: Any = "novelty",
        rate: float = 4.0,
        every: str | int = "fixation",
        dtype: Any = "u8",
        normalize: Any = None,
        hwdec: str = "auto",
        live_policy: str = "auto",
        prefetch: int = 0,
        **options: Any,
    ) -> None:
        settings: dict[str, Any] = {
            **options,
            "device": device,
            "array": array,
            "fixation": fixation,
            "rate": rate,
            "every": every,
            "dtype": dtype,
            "normalize": normalize,
            "hwdec": hwdec,
            "live_policy": live_policy,
            "prefetch": prefetch,
        }
        if lattice is not None:
            settings["lattice"] = lattice
        self._configure(source, settings)
        self._opened()

    # ---- settings ----------------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _unopened, (type(self), self._source.original, self._settings)

    # ---- opening and closing -----------------------------------------------------------------------------------------

    def reopen(self, source: Any = None) -> Stream:
        """Begin again at the start of the source, or of another one, with the same settings. Returns the stream.

        Where another one can't be opened the stream keeps the one it had, and begins that again when it is next used.
        """
        self._check_use()
        following = None if source is None else source_of(source, self._settings)
        self._stop_ahead()
        with self._taking, self._mine():
            before = self._source, self._closed
            self._source = following or self._source
            self._drop()
            self._closed = False
            try:
                self._opened()
            except BaseException:
                if following is not None and not self._closed:
                    self._source, self._closed = before
                    self._over = False
                raise
        return self

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- emissions ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Stream:
        self._check_use()
        if self._closed:
            raise closed_error()
        if self._over if self._ahead is None else self._ahead.over:
            self.reopen()
        return self

    def __next__(self) -> Emission:
        self._check_use()
        if self._prefetch:
            return self._take_ahead()
        with self._taking:
            if self._closed:  # a loop ends, whether close() comes while it waits or between
                raise StopIteration
            with self._lock:
                self._opened()
            arrays, addresses = self._taker.memory.one()
            if not self._take(addresses):
                raise StopIteration
            return self._facts.emission(arrays, self._taker.view)

    def _poll(self) -> Emission | None:
        """Wait a little: next(), or None if no emission came. An iterable source is waited for."""
        self._check_use()
        with self._taking:
            if self._closed:
                raise StopIteration
            with self._lock:
                self._opened()
            taken = self._try_one(*self._taker.memory.one())
            if taken is False:
                raise StopIteration
            return taken if isinstance(taken, Emission) else None

    def batched(self, n: int, *, drop_last: bool = False) -> Iterator[EmissionBatch]:
        """Give n emissions at a time, in one block of memory: patches [n, N, C, S, S].

        The last batch holds what is left, unless `drop_last` leaves it out.
        """
        n = whole(n, "Stream.batched", "n", 1, 1 << 20)
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
        if self._prefetch:
            return self._batch_ahead(n)
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

    def _batch_ahead(self, n: int) -> EmissionBatch | None:
        emissions: list[Emission] = []
        while len(emissions) < n:
            try:
                emissions.append(self._take_ahead())
            except StopIteration:
                break
        return joined(emissions) if emissions else None

    # ---- where to look -----------------------------------------------------------------------------------------------

    def look(self, u: float, v: float) -> None:
        """Let the next fixation that begins be at (u, v); those after it are the scanpath's again. Any thread.

        Raises:
            ValueError: The place is outside [0, 1].
        """
        u, v = number(u, "Stream.look", "u"), number(v, "Stream.look", "v")
        if not (0 <= u <= 1 and 0 <= v <= 1):
            raise ValueError(f"Stream.look: ({u:g}, {v:g}) is outside the frame; u and v are 0 to 1")
        self._ask(lambda handle: handle.call("look", u, v, prefix="Stream.look: "))

    def attend(self, map: Any, uv_box: Any = None) -> None:  # noqa: A002
        """Let fixations fall on the peak of a model's attention from now on, with inhibition of return. Any thread.

        Weights count from the map's least to its greatest. Around places that were looked at they are lowered for a few
        seconds, and the highest that is left is next. Where one peak rises from a map that is level elsewhere, nothing
        else has weight, and the eye stays at that peak; with noise below the peak it goes elsewhere and comes back.

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
        if weights.size == 0:
            raise ValueError(f"Stream.attend: map is empty, {list(weights.shape)}; pass None to take it back")
        box = None
        if uv_box is not None:
            edges = _arrays.as_host_array(uv_box, "Stream.attend: uv_box").astype(np.float32).reshape(-1)
            if edges.shape != (4,):
                raise ValueError(f"Stream.attend: uv_box is left, top, right, bottom, not {quoted(uv_box)}")
            box = (ctypes.c_float * 4)(*edges.tolist())
        rows, cols = weights.shape
        self._ask(
            lambda handle: handle.call("attend", _arrays.address(weights), rows, cols, box, prefix="Stream.attend: ")
        )

    def forget(self, region: Any = None) -> None:
        """With `lattice="adaptive"`, and for views: send a part of the frame again, because it was lost. Any thread.

        Args:
            region: left, top, right, bottom in the frame, 0 to 1; None: all of it.

        Raises:
            TypeError, ValueError: region is not such a box, or the lattice is not adaptive and no views were taken.
        """
        box = None
        if region is not None:
            edges = _arrays.as_host_array(region, "Stream.forget: region").astype(np.float32).reshape(-1)
            if edges.shape != (4,):
                raise ValueError(f"Stream.forget: region is left, top, right, bottom, not {quoted(region)}")
            box = (ctypes.c_float * 4)(*edges.tolist())
        self._ask(lambda handle: handle.call("forget", box, prefix="Stream.forget: "))

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
        return StreamTexture(self.info.size, self.geometry, self._read_level)

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
            handle.call("read_level", plane, level, _arrays.address(texels), texels.nbytes, prefix="Stream.texture: ")
            frame = texels[: shape.image_height, : shape.image_width]
            return frame[..., 0] if shape.channels == 1 else frame

    def __repr__(self) -> str:
        opened = self._info.uri if hasattr(self, "_info") else ""  # without secrets, by the library's rules
        shown = repr(opened) if opened else self._source.describe()
        if self._closed:
            return f"Stream({shown}, closed)"
        if self._handle is None:
            return f"Stream({shown}, not opened yet)"
        shape, info = self._geometry, self._info
        return (
            f"Stream({shown}, {info.width_px}x{info.height_px}, {shape.patch_count} patches of "
            f"{shape.patch_size}x{shape.patch_size} {self._word}, backend {shape.backend})"
        )


def _unopened(kind: type[Stream], source: Any, settings: Mapping[str, Any]) -> Stream:
    """A stream of these settings that opens its source when it is first used: what a pickle gives."""
    stream = kind.__new__(kind)
    stream._configure(source, settings)
    return stream
