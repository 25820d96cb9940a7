"""A video that was done is done once more, where most of the last ones were given up: they may be bad, or all gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pysaccade._native._errors import InputError
from pysaccade.many._catalog import marker_name
from pysaccade.many._do_unit import Outcome, UnitWork
from pysaccade.many._markers import json_of
from pysaccade.many._native_work import INTERRUPTED, UNAVAILABLE
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import insist


class Witness(UnitWork):
    """One video of a unit. Nothing of it goes into the store.

    Args:
        plan: The store's.
        unit: Of `plan`, which is done.
        key: Of an item of it, which is done.
        folder: A folder of this process, on this machine.
        **given: Of `UnitWork`.
    """

    def __init__(self, plan: Plan, unit: Unit, key: str, folder: Path, **given: Any) -> None:
        super().__init__(plan, unit._replace(items=1), folder / "witness", **given)
        self._whole, self._key = unit, key

    def _items(self) -> list[dict[str, Any]]:
        return [item for item in insist(self._plan.items, self._whole) if item["key"] == self._key]

    def _is_in_place(self, items: list[dict[str, Any]]) -> bool:
        return False

    def _is_done(self) -> bool:
        return False

    def why_not(self) -> str | None:
        """Do it; why it can't be done any more, else None.

        None also where it wasn't done for want of something here, as a GPU, or of the store: that says nothing of the
        inputs, and the units that come next meet it themselves.
        """
        try:
            self.prepare()
            self.compute()
            if self._outcome is not None:
                return reason(self._outcome)
            staged = self._place / "staged"
            marker = json.loads((staged / marker_name(self._unit.name)).read_bytes())
            if marker["quarantine"] is None:
                return None
            line: str = json.loads((staged / marker["quarantine"]["name"]).read_bytes())["line"]
            return line
        finally:
            self.remove()


def reason(outcome: Outcome) -> str | None:
    """Why a video that was done can't be done again; None: that is not known, as something else went wrong."""
    elsewhere = outcome.code < 0 or outcome.code in (INTERRUPTED, UNAVAILABLE) or outcome.passing
    return None if elsewhere else outcome.line or f"saccade ended with {outcome.code}"


def key_of_done(plan: Plan, marker: dict[str, Any]) -> str:
    """The key of a video that a unit's marker has among those that are done.

    Raises:
        InputError: The unit's index part is damaged.
    """
    name = marker["index"]["name"]
    first = json_of(insist(plan.store.read, name).partition(b"\n")[0])
    key = first.get("key") if isinstance(first, dict) else None
    if not isinstance(key, str):
        raise InputError(f"{plan.store}/{name}: damaged: its first line has no key; run `saccade verify`")
    return key
