"""`TokenRule`: how a model's server resizes a picture, and what the model counts."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass, fields
from typing import Any

from pysaccade._native import _abi, _calls
from pysaccade._native._arguments import number, quoted, whole, word

RESIZINGS = {
    "multiples": _abi.SACCADE_RESIZING_MULTIPLES,
    "budget": _abi.SACCADE_RESIZING_BUDGET,
    "padded": _abi.SACCADE_RESIZING_PADDED,
    "tiles": _abi.SACCADE_RESIZING_TILES,
    "aspect": _abi.SACCADE_RESIZING_ASPECT,
    "anyres": _abi.SACCADE_RESIZING_ANYRES,
    "fixed": _abi.SACCADE_RESIZING_FIXED,
    "cropped": _abi.SACCADE_RESIZING_CROPPED,
}
ANSWERS = {
    "pixels": _abi.SACCADE_ANSWER_PIXELS,
    "thousandths": _abi.SACCADE_ANSWER_THOUSANDTHS,
    "normalized": _abi.SACCADE_ANSWER_NORMALIZED,
}
_MOST_PX = 65536


@dataclass(frozen=True, kw_only=True)
class TokenRule:
    """How a model's server resizes a picture before the model sees it, and how many tokens the model counts.

    `TokenRule.of("qwen2.5-vl")` is a row of the table, `dataclasses.replace()` changes one. Limits that are 0 do not
    apply. Units are square: a patch that is a token, or a tile. docs/MODELS.md has what each resizing does.

    Raises:
        TypeError, ValueError: On first use: no picture can follow the rule.
    """

    resizing: str = "multiples"
    """"multiples", "budget", "padded", "tiles", "aspect", "anyres", "fixed" or "cropped"."""
    answer: str = "pixels"
    """How the model gives places: "pixels" of the picture, "thousandths" (0 to 1000) or "normalized" (0 to 1)."""
    unit_px: int = 28
    unit_tokens: float = 1.0
    """Of a patch or a tile. A picture's tokens are rounded up."""
    base_tokens: int = 0
    """Of a picture, beside its units."""
    min_pixels: int = 0
    max_pixels: int = 0
    max_units: int = 0
    max_side_px: int = 0
    """Of the long side."""
    max_short_px: int = 0
    """Of the short side."""
    max_aspect: int = 0
    """Long side over short side."""
    step_px: int = 28
    """The sides of views are multiples of this."""
    most_images: int = 0
    """Of a message; 0: 20."""
    name: str = ""
    """Of a row of the table: the model."""
    source: str = ""
    """Where it is published."""
    date: str = ""
    """When that was read."""

    @staticmethod
    def of(model: str) -> TokenRule:
        """The table's rule of this model.

        Raises:
            ValueError: The table does not have it.
        """
        found = table().get(model) if isinstance(model, str) else None
        if found is None:
            raise ValueError(
                f"TokenRule: there is no model {quoted(model)}; one of {', '.join(table())}, or a TokenRule"
            )
        return found

    @staticmethod
    def names() -> tuple[str, ...]:
        """The models of the table."""
        return tuple(table())

    def tokens(self, width: int, height: int) -> int:
        """What the model counts for a picture of this size.

        Raises:
            ValueError: Its server refuses such a picture.
        """
        return self._count("tokens", width, height)[0]

    def seen(self, width: int, height: int) -> tuple[int, int]:
        """(width, height) that the server makes of a picture of this size.

        Raises:
            ValueError: It refuses such a picture.
        """
        return self._count("seen", width, height)[1:]

    def fit(self, width: int, height: int, tokens: int) -> tuple[int, int]:
        """Find the largest (width, height) of at most so many tokens that the server does not resize.

        It has the shape width x height, as near as such sizes come.

        Raises:
            ValueError: None is so small.
        """
        size = (ctypes.c_int32 * 2)()
        at = ctypes.addressof(size)
        sides = _side(width, "fit", "width"), _side(height, "fit", "height")
        tokens = whole(tokens, "TokenRule.fit", "tokens", 1, 1 << 30)
        status = _calls.library().saccade_token_rule_fit(ctypes.byref(self.native()), *sides, tokens, at, at + 4)
        if _calls.check(status, "TokenRule.fit: ") == _abi.SACCADE_END:
            raise ValueError(f"TokenRule.fit: no picture of {tokens} tokens is left as it is; give more tokens")
        return size[0], size[1]

    def _count(self, who: str, width: int, height: int) -> tuple[int, int, int]:
        out = (ctypes.c_int32 * 3)()
        at = ctypes.addressof(out)
        sides = _side(width, who, "width"), _side(height, who, "height")
        status = _calls.library().saccade_token_rule_count(ctypes.byref(self.native()), *sides, at, at + 4, at + 8)
        _calls.check(status, "TokenRule: ")
        return out[0], out[1], out[2]

    def native(self) -> _abi.saccade_token_rule:
        """Give the rule as the library takes it."""
        rule = _calls.new(_abi.saccade_token_rule)
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("resizing", "answer"):
                words = RESIZINGS if field.name == "resizing" else ANSWERS
                setattr(rule, field.name, word(value, f"TokenRule: {field.name}", words))
            elif field.name == "unit_tokens":
                rule.unit_tokens = number(value, "TokenRule", field.name)
            elif field.name not in ("name", "source", "date"):
                setattr(rule, field.name, whole(value, "TokenRule", field.name, 0, 1 << 30))
        return rule


def rule_of(model: Any, who: str) -> TokenRule:
    """A model's name or a rule, as a rule."""
    if isinstance(model, TokenRule):
        return model
    if not isinstance(model, str):
        raise TypeError(f"{who}: model takes a name or a TokenRule, not {quoted(model)}")
    return TokenRule.of(model)


@functools.lru_cache(maxsize=1)
def table() -> dict[str, TokenRule]:
    """The library's table."""
    found = {}
    for name, row in _calls.rows("saccade_token_rule_describe", _abi.saccade_token_rule).items():
        values: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(TokenRule)}
        values.update({key: _calls.text(values[key]) for key in ("name", "source", "date")})
        values["resizing"] = _word(RESIZINGS, row.resizing)
        values["answer"] = _word(ANSWERS, row.answer)
        found[name] = TokenRule(**values)
    return found


def _word(words: dict[str, int], code: int) -> str:
    return next(word for word, value in words.items() if value == code)


def _side(value: Any, who: str, name: str) -> int:
    return whole(value, f"TokenRule.{who}", name, 1, _MOST_PX)
