"""The frozen plan of a store: its units, and the lines of a unit's items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from pysaccade._native._errors import InputError
from pysaccade.many._store import Store

_CHUNK_BYTES = 16 << 20
_WAY_BACK = "put plan/ back from a copy, or plan again, into another STORE"


class Unit(NamedTuple):
    """A line of plan/units.jsonl."""

    name: str
    offset: int
    nbytes: int
    items: int
    media_s: float


class Plan:
    """What a store's plan says. Reads plan.json and units.jsonl; items are read a unit at a time.

    Raises:
        InputError: There is no plan, or it is damaged.
    """

    def __init__(self, store: Store, facts: dict[str, Any] | None = None) -> None:
        """`facts`: plan.json, where it was read already and units are known from elsewhere."""
        self.store = store
        self.facts = facts_of(store) if facts is None else facts
        self.hash: str = self.facts["hash"]
        self.units: list[Unit] = [] if facts is not None else self._read_units()

    def _read_units(self) -> list[Unit]:
        store = self.store
        where = f"{store}/plan/units.jsonl"
        try:
            lines = [json.loads(line) for line in store.read("plan/units.jsonl").splitlines()]
            units = [
                Unit(line["unit"], line["offset"], line["bytes"], line["items"], line["media_s"]) for line in lines
            ]
        except FileNotFoundError:
            raise InputError(f"{where}: no such file; {_WAY_BACK}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{where}: damaged: {error}; {_WAY_BACK}") from None
        if len(units) != self.facts["units"]:
            raise InputError(f"{where}: {len(units)} of {self.facts['units']} units; {_WAY_BACK}")
        return units

    def items(self, unit: Unit) -> list[dict[str, Any]]:
        """The lines of a unit's items.

        Raises:
            InputError: They are damaged.
        """
        where = f"{self.store}/plan/items.jsonl"
        try:
            content = self.store.read_part("plan/items.jsonl", unit.offset, unit.nbytes)
            items = [json.loads(line) for line in content.splitlines()]
        except FileNotFoundError:
            raise InputError(f"{where}: no such file; {_WAY_BACK}") from None
        except ValueError as error:
            raise InputError(f"{where}: damaged: {error}; {_WAY_BACK}") from None
        if len(items) != unit.items:
            raise InputError(f"{where}: {len(items)} of the {unit.items} items of unit {unit.name}; {_WAY_BACK}")
        return items

    def check_content(self) -> None:
        """Read all of units.jsonl and items.jsonl, and compare their hash with plan.json's. Once for a command.

        Raises:
            InputError: They do not belong together.
        """
        files = [self._sha256(f"plan/{name}.jsonl") for name in ("items", "units")]
        texts = [_line(self.facts[name]) for name in ("options", "settings")]
        if hashlib.sha256("\n".join(["saccade-plan 1", *files, "".join(texts)]).encode()).hexdigest() != self.hash:
            raise InputError(
                f"{self.store}: plan/items.jsonl, units.jsonl and plan.json do not belong together: their hash is "
                f"another one than plan.json says; they were changed after `plan`: {_WAY_BACK}"
            )

    def _sha256(self, name: str) -> str:
        digest = hashlib.sha256()
        try:
            with self.store.open(name) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    digest.update(chunk)
        except FileNotFoundError:
            raise InputError(f"{self.store}/{name}: no such file; {_WAY_BACK}") from None
        return digest.hexdigest()

    def alone(self, unit: Unit, items: list[dict[str, Any]], siblings: Sequence[dict[str, Any]] = ()) -> dict[str, str]:
        """Files of a plan that holds this unit alone, of the same hash: what `saccade work --unit` needs to see.

        `siblings`: items of other units, by which the program may see whether their folders can be read.
        """
        text, others = ("".join(_line(item) for item in some) for some in (items, siblings))
        count, begin = len(items) + len(siblings), len(text.encode())
        lines = [{"unit": unit.name, "offset": 0, "bytes": begin, "items": unit.items, "media_s": unit.media_s}]
        if siblings:
            lines.append({"unit": "siblings", "offset": begin, "bytes": len(others.encode()), "items": len(siblings),
                          "media_s": 0})  # fmt: skip
        facts = {**self.facts, "units": len(lines), "items": count, "in": count, "duplicates": 0}
        return {"items.jsonl": text + others, "units.jsonl": "".join(_line(line) for line in lines),
                "plan.json": json.dumps(facts, ensure_ascii=False)}  # fmt: skip


def facts_of(store: Store) -> dict[str, Any]:
    """plan/plan.json of a store.

    Raises:
        InputError: There is no plan, or it is damaged.
    """
    advice = "make a store with `saccade plan` or `python -m pysaccade.work plan`"
    try:
        facts = json.loads(store.read("plan/plan.json"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{store}: no plan/plan.json in it; {advice}") from None
    except ValueError as error:
        raise InputError(f"{store}/plan/plan.json: damaged: {error}; {_WAY_BACK}") from None
    if not isinstance(facts, dict) or facts.get("format") != "saccade-plan" or "hash" not in facts:
        raise InputError(f"{store}/plan/plan.json: not of a plan; {advice}")
    if not isinstance(facts.get("schema"), int) or facts["schema"] > 1:
        raise InputError(
            f"{store}: schema {facts.get('schema')} is newer than this pysaccade knows (1); upgrade pysaccade"
        )
    return facts


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"
