"""How a notebook displays emissions and dumps: the package sets `show` to its own, which knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

show: Callable[..., Any]  # pysaccade.show()
