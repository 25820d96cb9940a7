"""Plans into stores: one plan a store, whoever plans at the same time; and what a plan says that it was made of."""

from __future__ import annotations

import json
from pathlib import Path

from pysaccade.many._native_work import USAGE
from pysaccade.many._plan import facts_of
from pysaccade.many._store import LocalStore, Store

_CLAIM = "plan/claim.json"


class RefusedError(Exception):
    """Ends the command with a code and a line."""

    def __init__(self, code: int, line: str) -> None:
        super().__init__(line)
        self.code = code


def name_source(store: LocalStore, of: str, member: str, copy: str, name: str, folder: Path) -> None:
    """Have plan.json name what the caller named, where the program read a copy."""
    facts = json.loads(store.read("plan/plan.json"))
    if facts.get(of, {}).get(member) == copy != name:
        facts[of][member] = name
        draft = folder / "plan.json"
        draft.write_text(json.dumps(facts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        store.upload(draft, "plan/plan.json")


def _claim(store: Store, mine: str) -> bool:
    """Whether the plan of this hash is the one that may be uploaded: the first that asked, also when it asks again."""
    store.create(_CLAIM, (json.dumps({"hash": mine}) + "\n").encode())
    claimed: str = json.loads(store.read(_CLAIM))["hash"]
    return claimed == mine


def put_plan(local: LocalStore, store: Store, of: str, member: str, name: str) -> None:
    """Upload a plan; plan.json last, since it alone says that the plan is whole. `name`: instead of a local copy's."""
    mine = json.loads(local.read("plan/plan.json"))
    mine[of][member] = name
    if (other := hash_there(store)) is None:
        if not _claim(store, mine["hash"]):
            raise RefusedError(
                USAGE,
                f"-o {store}: another plan was begun there and is not whole yet ({_CLAIM}); choose another -o, or, "
                "where nobody makes that plan any more, remove STORE/plan/",
            )
        for file in ("plan/items.jsonl", "plan/units.jsonl"):
            store.upload(local.path / file, file)
        store.create("plan/plan.json", (json.dumps(mine, ensure_ascii=False, indent=1) + "\n").encode())
        other = hash_there(store)
    if other != mine["hash"]:
        raise RefusedError(
            USAGE,
            f"-o {store}: holds another plan; choose another -o",
        )


def hash_there(store: Store) -> str | None:
    """The hash of the plan that is there; None: there is none."""
    try:
        store.read("plan/plan.json")
    except FileNotFoundError:
        return None
    found: str = facts_of(store)["hash"]
    return found
