"""What emissions and dumps offer and other rooms make: the package sets these to its own, which know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

show: Callable[..., Any]  # pysaccade.show()
views: Callable[..., Any]  # of an emission
