"""Arguments that many functions take, read in one voice: the function, the argument, what came, what to write."""

from __future__ import annotations

import operator
import os
import re
import sys
import warnings
from typing import Any

import numpy as np

_names: dict[Any, str] = {}  # of dtypes: a microsecond each time


def is_tensor(value: Any) -> bool:
    """Whether this is a torch tensor; doesn't load torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def dtype_name(array: Any) -> str:
    """Name an array's dtype as NumPy does: "float32"."""
    dtype = array.dtype
    name = _names.get(dtype)
    if name is None:
        name = _names[dtype] = str(dtype).removeprefix("torch.")
    return name


def shown(value: Any) -> str:
    """Describe what came: "float32 [1, 3, 4, 4] on cuda:0"."""
    if is_tensor(value) and value.is_nested:  # has no shape
        return f"{dtype_name(value)} nested tensor"
    if is_tensor(value) or isinstance(value, np.ndarray):
        device = getattr(value, "device", None)
        place = f" on {device}" if is_tensor(value) and str(device) != "cpu" else ""
        return f"{dtype_name(value)} {list(value.shape)}{place}"
    text = " ".join(f"{type(value).__name__} {value!r}".split())
    return text[:80] if without_secrets(text) == text else type(value).__name__


def quoted(value: Any) -> str:
    """A value as Python writes it, in one line; its type alone where a URL could be inside."""
    text = " ".join(repr(value).split())
    return text[:80] if without_secrets(text) == text else f"this {type(value).__name__}"


def require_dense(tensor: Any, who: str, name: str) -> None:
    """Raise TypeError for a torch tensor whose elements don't lie at strides: sparse, nested, MKL-DNN's."""
    if tensor.is_nested or tensor.layout is not sys.modules["torch"].strided:
        kind = "nested" if tensor.is_nested else str(tensor.layout).removeprefix("torch.")
        advice = f"{name}.to_padded_tensor(0)" if tensor.is_nested else f"{name}.to_dense()"
        raise TypeError(f"{who}: {name} is a {kind} tensor; pass {advice}")


def whole(value: Any, who: str, name: str, least: int, most: int) -> int:
    """Return an integer within a range.

    Raises:
        TypeError: It is none.
        ValueError: It is out of the range.
    """
    try:
        if isinstance(value, (bool, str, float)):
            raise TypeError
        number = operator.index(value)  # also fixes a size that torch.compile has as a symbol
    except (TypeError, ValueError):
        raise TypeError(f"{who}: {name} takes an integer, not {shown(value)}") from None
    if not least <= number <= most:
        raise ValueError(f"{who}: {name} is {number}; the range is {least} to {most}")
    return number


def word(value: Any, name: str, words: dict[str, int]) -> int:
    """Return the code of one of these words.

    Raises:
        ValueError: It is none of them.
    """
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {', '.join(words)}, not {quoted(value)}")
    return words[value]


def pair(value: Any, name: str, form: str) -> tuple[Any, Any]:
    """Return two values that come together.

    Raises:
        TypeError: They are not two.
    """
    try:
        first, second = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} takes {form}, not {shown(value)}") from None
    return first, second


def number(value: Any, who: str, name: str) -> float:
    """Return a number as a float: Python's, NumPy's, or a tensor of one.

    Raises:
        TypeError: It is none.
    """
    try:
        if isinstance(value, (bool, str, bytes)) or getattr(value, "ndim", 0) != 0:
            raise TypeError
        return float(value)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"{who}: {name} takes a number, not {shown(value)}") from None


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn whoever called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pysaccade."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def deprecated(who: str, name: str, instead: str) -> None:
    """Warn of an argument that leaves with the next version."""
    warn(f"{who}: {name} leaves with the next version; {instead}", DeprecationWarning)


def path(value: Any, who: str, name: str = "path") -> str:
    """Return a path as a text.

    Raises:
        TypeError: It is none.
        ValueError: It is empty, or holds a zero character.
    """
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise TypeError(f"{who}: {name} takes a path, not {shown(value)}")
    text = os.fsdecode(value)
    if not text:
        raise ValueError(f"{who}: {name} is empty")
    if "\0" in text:
        raise ValueError(f"{who}: {name} holds a zero character")
    return text


def without_secrets(name: str) -> str:
    """A source's name as it may be shown: of one that could hold a user, a password or a token, the scheme alone.

    The library's own texts show more: it knows where secrets lie.
    """
    if name.startswith("test://") or not ("://" in name or any(sign in name for sign in "@?=&")):
        return name
    scheme, colon, _ = name.partition(":")
    return f"{scheme}:..." if colon and scheme.isalnum() else "..."


def shown_url(url: str) -> str:
    """A bucket's URL without a user, a password and what is asked for behind '?'."""
    scheme, colon, rest = url.partition("://")
    if not colon:
        return url
    return f"{scheme}://{re.split('[?#]', rest.rpartition('@')[2], maxsplit=1)[0]}"
