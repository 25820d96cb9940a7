"""A fixed number of persistent textures, for many videos that come and go."""

from __future__ import annotations

import threading
from inspect import signature
from typing import Any, NoReturn

import torch

from pysaccade._native._errors import UnavailableError
from pysaccade._operators import _checks
from pysaccade.tensors._pyramid_arguments import persistent_size
from pysaccade.tensors.persistent import PersistentTexture

_OPTIONS = tuple(
    name for name in signature(PersistentTexture.__init__).parameters if name not in {"self", "size"}
)  # of create_persistent()
_COUNT = 32


class TexturePool:
    """Persistent textures that are made once and lent out.

        >>> pool = sc.TexturePool(2, size=(48, 64))  # device="cuda"
        >>> with pool.acquire() as texture:
        ...     damage = texture.update(torch.zeros(3, 48, 64, dtype=torch.uint8))
        >>> pool
        TexturePool(2 of 2 available, size=(48, 64))

    Any thread may acquire and release, each on its own current stream of CUDA: what one queued for a texture runs
    before what the next one queues. While a CUDA graph is captured nothing is ordered: borrow outside of it.
    """

    def __init__(
        self,
        count: int = _COUNT,
        size: tuple[int, int] | None = None,
        *,
        resolution: int | tuple[int, int] | None = None,
        pool_size: int | None = None,
        **options: Any,
    ) -> None:
        """Describe the textures; each is made when it is first needed.

        Args:
            count: How many at most; 32.
            size: (H, W).
            resolution: (W, H), or the side of a square, in place of size.
            pool_size: In place of count.
            options: As TexturePyramid.create_persistent().

        Raises:
            TypeError, ValueError: An argument is wrong. The text names it and what to pass.
        """
        if pool_size is not None:
            if count != _COUNT:
                raise ValueError("TexturePool: pool_size is another word for count; pass one of them")
            count = pool_size
        self.count = _checks.whole(count, "TexturePool", "count", 1, 1 << 20)
        self.size = persistent_size(size, resolution, "TexturePool")
        unknown = sorted(options.keys() - _OPTIONS)
        if unknown:
            raise TypeError(f"TexturePool: no option {', '.join(map(repr, unknown))}; there are {', '.join(_OPTIONS)}")
        if options.get("dtype", ...) is None:
            del options["dtype"]
        self._options = options
        first = PersistentTexture(self.size, **options)
        first._queued = _queued(first)  # what makes it is in this thread's stream
        self._free: list[PersistentTexture] = [first]
        self._made = 1
        self._changed = threading.Condition()

    def acquire(self, block: bool = False, timeout: float | None = None) -> PersistentTexture:
        """Borrow a texture as new: its first update() or update_partial() writes everything.

        Args:
            block: Wait until one is released.
            timeout: Seconds to wait at most; None: for ever.

        Raises:
            UnavailableError: All are lent out.
        """
        with self._changed:
            if not self._free and self._made < self.count:
                self._free.append(PersistentTexture(self.size, **self._options))
                self._made += 1
            if not self._free and not (block and self._changed.wait_for(lambda: bool(self._free), timeout)):
                raise UnavailableError(
                    f"TexturePool: pool of {self.count} exhausted; release a texture, pass block=True or a larger count"
                )
            texture = self._free.pop()
            texture._reset()
            texture._pool = self
        _wait(texture)
        return texture

    def release(self, texture: PersistentTexture) -> None:
        """Take a texture back. Whoever uses it from then on gets ValueError.

        Raises:
            ValueError: It is not one of this pool's that are lent out.
        """
        with self._changed:
            if texture._pool is not self:
                raise ValueError("TexturePool.release: this texture is not lent out by this pool")
            texture._pool = None
            texture._give_back()
            texture._queued = _queued(texture)
            self._free.append(texture)
            self._changed.notify()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Raise TypeError: a texture is lent out by one pool, whose copy would lend it again."""
        raise TypeError(
            "TexturePool can't be copied or pickled: its textures are lent out one by one, to any thread; make another "
            f"in its place, TexturePool({self.count}, size={self.size}, ...), or copy a texture, which is in no pool"
        )

    @property
    def available(self) -> int:
        """How many can be acquired now."""
        with self._changed:
            return len(self._free) + self.count - self._made

    def __len__(self) -> int:
        """How many textures there can be."""
        return self.count

    def __repr__(self) -> str:
        return f"TexturePool({self.available} of {self.count} available, size={self.size})"


# ---- Order on a GPU --------------------------------------------------------------------------------------------------


def _queued(texture: PersistentTexture) -> Any:
    """What is queued for a texture by now, as an event and the stream that it is on; None: nothing to wait for."""
    if texture.device.type != "cuda":
        return None
    stream = torch.cuda.current_stream(texture.device)
    with torch.cuda.device(texture.device):
        if torch.cuda.is_current_stream_capturing():
            return None
    return stream.record_event(), stream


def _wait(texture: PersistentTexture) -> None:
    """Let the current stream wait for what was queued for a texture on another."""
    queued, texture._queued = texture._queued, None
    if queued is None:
        return
    event, stream = queued
    current = torch.cuda.current_stream(texture.device)
    if current != stream:
        with torch.cuda.device(texture.device):
            if not torch.cuda.is_current_stream_capturing():
                current.wait_event(event)
