"""Other inputs of the folders in which a unit's lie: by them the program sees whether a folder can be read here."""

from __future__ import annotations

import json
import random
from typing import Any

from pysaccade.many._inputs import is_fetched
from pysaccade.many._plan import Plan

_MOST, _MOST_FETCHED = 20, 3  # of a folder


def siblings_of(plan: Plan, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items of the plan with other inputs in the folders of these, at most some of each, chosen by chance."""
    chosen: dict[str, list[dict[str, Any]]] = {_folder(item["uri"]): [] for item in items}
    seen = dict.fromkeys(chosen, 0)
    own = {item["uri"] for item in items}
    with plan.store.open("plan/items.jsonl") as file:
        for line in file:
            item = json.loads(line)
            folder = _folder(item["uri"])
            if folder not in chosen or item["uri"] in own:
                continue
            some, most = chosen[folder], _MOST_FETCHED if is_fetched(item["uri"]) else _MOST
            seen[folder] += 1
            if len(some) < most:
                some.append(item)
            elif (at := random.randrange(seen[folder])) < most:
                some[at] = item
    return [item for some in chosen.values() for item in some]


def _folder(uri: str) -> str:
    """As app/work/judge/folder.cpp has it, by the text alone; what FFmpeg opens by itself lies in "the network"."""
    scheme, found, rest = uri.partition("://")
    if not found or scheme == "file":
        return uri.removeprefix("file://").rpartition("/")[0]
    if not is_fetched(uri):
        return "the network"
    bucket = rest.partition("/")[0]
    return f"{scheme}://{bucket}" if bucket else uri.rpartition("/")[0]
