"""`Clip`: an item of a data set, which tells torch's own collate function what goes in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils.data import _utils


class Clip(dict[str, Any]):
    """A dict of tensors. Those of a batch differ in their lengths, mostly."""


def finished(item: Clip, transform: Callable[[dict[str, Any]], Any] | None) -> Any:
    """What a data set gives: the item, or what the caller's function makes of it."""
    made = item if transform is None else transform(item)
    return Clip(made) if type(made) is dict and "patches" in made else made


def _collate(batch: Sequence[Clip], *, collate_fn_map: Any = None) -> Any:
    """What torch's `default_collate` does with clips: stack them, or say that `sc.collate` can."""
    try:
        return _utils.collate.collate([dict(item) for item in batch], collate_fn_map=collate_fn_map)
    except (RuntimeError, TypeError, KeyError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(
            "DataLoader: clips differ in their numbers of tokens, which torch can't stack; pass collate_fn=sc.collate "
            f"({first})"
        ) from None


_utils.collate.default_collate_fn_map[Clip] = _collate
