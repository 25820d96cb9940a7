"""`show`: a picture or a short film, which a notebook displays."""

from __future__ import annotations

import base64
import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pysaccade._native._errors import UnavailableError
from pysaccade.dumps._dump import Dump
from pysaccade.emission._emission import Emission
from pysaccade.picture._levels import levels_side_by_side
from pysaccade.picture._page import page_frame, write_page
from pysaccade.picture._paint import PictureMemory, fit, paint
from pysaccade.picture._painter import Image
from pysaccade.picture._png import encode_png

_LAST_SHOWN_S = 0.5


class Picture:
    """A picture or a film, as a PNG. A notebook displays it when it is a cell's last value; `save()` writes a file."""

    def __init__(
        self, images: list[Image], seconds: list[float], dump: Dump | None = None, memory: bool = False
    ) -> None:
        self._dump, self._memory = dump, memory
        self.images = images
        """[H, W, 3] u8 each; one for a picture."""
        self.seconds = seconds
        """How long each is shown."""

    def _repr_png_(self) -> bytes:
        return encode_png(self.images, self.seconds)

    def _repr_html_(self) -> str:
        if self._dump is not None:
            with contextlib.suppress(UnavailableError):  # without the program: the film alone
                return page_frame(self._dump.path, self._memory)
        return self._img_tag()

    def _img_tag(self) -> str:
        """HTML that displays it, without a file."""
        return img_tag(self._repr_png_())

    def __repr__(self) -> str:
        height, width = self.images[0].shape[:2]
        film = f", {len(self.images)} frames, {sum(self.seconds):.1f} s" if len(self.images) > 1 else ""
        return f"Picture({width}x{height}{film}; save() writes it)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .png: a film is one that moves in browsers (APNG). Another ending is a ValueError.

        Of a whole dump also a .html: one file with film, scanpath, outlines and damage (`saccade reconstruct`).
        """
        name = os.fsdecode(path)
        if self._dump is not None and Path(name).suffix.lower() == ".html":
            return write_page(self._dump.path, name, self._memory)
        if Path(name).suffix.lower() not in (".png", ".apng"):
            raise ValueError(f"save: path {name!r} is no .png or .apng, the only formats that are written")
        Path(name).write_bytes(self._repr_png_())


def show(
    what: Emission | Dump | Iterable[Emission] | Any,
    *,
    frame: Any = None,
    width: int = 640,
    mark: bool = True,
    most: int = 100,
    memory: bool | None = None,
) -> Picture:
    """What a model gets, as a picture or a film, to look at in a notebook.

    Args:
        what: An emission; a Dump or emissions in a row, which become a film at their times (a whole Dump in a notebook:
            a page with its scanpath, outlines and damage); a TexturePyramid of 1 or 3 channels, whose levels stand side
            by side, of a batch those of the first image; or a picture [H, W, 3] or [3, H, W], u8 or floats in [0, 1].
        frame: A picture, or one for each emission, to stand at the left: the frame that the model would get otherwise.
        width: Of what is painted, in pixels.
        mark: Draw where the eye looks.
        most: A film has at most so many frames; of more emissions some are left out, evenly.
        memory: Of a film: what earlier emissions showed finer stays, as `paint(memory=True)` has it. By default of
            a Dump of lattice "adaptive", whose emissions hold only what the receiver lacked.

    Raises:
        ValueError: There is nothing to show, or `frame` has another number of pictures than there are emissions.
    """
    if memory and (isinstance(what, Emission) or hasattr(what, "shape")):
        raise TypeError("show: memory=True needs a Dump or emissions in a row")
    if isinstance(what, Emission):
        return Picture([_beside(frame, paint(what, width=width, mark=mark))], [_LAST_SHOWN_S])
    if hasattr(what, "shape") and not hasattr(what, "level"):
        height, cols = what.shape[:2] if what.shape[-1] == 3 else what.shape[-2:]
        return Picture([_beside(frame, fit(what, round(height * width / cols)))], [_LAST_SHOWN_S])
    if hasattr(what, "level") and hasattr(what, "levels"):
        return Picture([_beside(frame, levels_side_by_side(what, width))], [_LAST_SHOWN_S])
    if not isinstance(what, (Dump, Iterable)):
        raise TypeError(
            f"show: what takes an Emission, a Dump, emissions, a TexturePyramid or a picture, not {type(what).__name__}"
        )
    emissions: Any = what if isinstance(what, Dump) else list(what)
    if not isinstance(what, Dump):
        for emission in emissions:
            if not isinstance(emission, Emission):
                raise TypeError(f"show: what holds a {type(emission).__name__}, which is no Emission")
    if memory is None:
        memory = isinstance(what, Dump) and what.meta["options"].get("lattice") == "adaptive"
    count = len(emissions)
    if count == 0:
        raise ValueError("show: there is no emission")
    chosen = np.unique(np.linspace(0, count - 1, min(count, max(most, 1))).astype(int)).tolist()
    frames = None if frame is None else list(frame)
    if frames is not None and len(frames) != count:
        raise ValueError(f"show: {len(frames)} frames for {count} emissions")
    shown = [emissions[i] for i in chosen]
    kept = PictureMemory() if memory else False
    wanted = set(chosen)
    images = []
    for i in range(count) if memory else chosen:
        image = paint(emissions[i], width=width, mark=mark, memory=kept)
        if i in wanted:
            images.append(_beside(frames and frames[i], image))
    times = [emission.pts_seconds for emission in shown]
    whole = what if isinstance(what, Dump) and what.is_whole and frames is None else None
    return Picture(images, [*np.diff(times).tolist(), _LAST_SHOWN_S], whole, memory)


def img_tag(png: bytes) -> str:
    """A PNG as an HTML element that holds it."""
    return f'<img src="data:image/png;base64,{base64.b64encode(png).decode()}">'


def _beside(frame: Any, image: Image) -> Image:
    if frame is None:
        return image
    return np.concatenate([fit(frame, image.shape[0]), image], axis=1)
