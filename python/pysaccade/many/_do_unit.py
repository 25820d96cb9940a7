"""One unit: worked on in a folder of this machine, put into the store, marked as done."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pysaccade._native._errors import InputError, UnavailableError
from pysaccade.many._catalog import commits_of, marker_name
from pysaccade.many._inputs import fetch_inputs, is_fetched, siblings_of
from pysaccade.many._markers import PARTS, marker_of, marker_refusal, marker_text
from pysaccade.many._native_work import DONE, PARTIAL, REFUSED, STOPPED, UNAVAILABLE, USAGE, run
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._store import LASTING, OUR_DISK, LocalStore, insist
from pysaccade.many._tally import HELD

_MARKERS_AT_ONCE = 256
_PASSING = (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ECONNRESET, errno.EHOSTDOWN, errno.EREMOTEIO)


@dataclass(frozen=True)
class Outcome:
    """What became of a unit. `marker` is the store's; None: it isn't done, and `code` and `line` say why.

    `passing`: of the network or a disk that failed, after some tries: it may go well at another time or place.
    """

    unit: str
    marker: dict[str, Any] | None
    code: int = DONE
    line: str = ""
    passing: bool = False

    @property
    def held(self) -> bool:
        """It waits: videos are missing, and nothing of their folders can be read here."""
        return self.marker is None and self.code == STOPPED and HELD.search(self.line) is not None

    @property
    def refused(self) -> bool:
        """No video of it took the plan's options: they are wrong, or it is strange, which other units tell."""
        return self.marker is None and self.code == USAGE and REFUSED in self.line


class UnitWork:
    """A unit on its way: `prepare`, `compute`, `finish`, each of which another thread may do. `remove` at the end.

    Args:
        plan: The store's.
        unit: Of `plan`.
        folder: A folder of this process, on this machine.
        engine: Who placed the work: stands in the marker.
        arguments: Options of `saccade work`.
        input_options: Of fsspec's file system of the inputs.
    """

    def __init__(
        self, plan: Plan, unit: Unit, folder: Path, *, engine: str, arguments: Sequence[str], input_options: Any = None
    ) -> None:
        self._plan, self._unit, self._input_options = plan, unit, dict(input_options or {})
        self._place = folder / unit.name
        own = ["--unit", unit.name, "--engine", engine, "--progress", "none", "--max-bad", "100"]
        self._arguments = [*own, *arguments]  # the whole run judges how many are bad, not a unit
        self._outcome: Outcome | None = None
        self._in_place = False
        self._fetched: list[dict[str, Any]] = []
        self._stop = threading.Event()

    def prepare(self) -> None:
        """Fetch what lies in buckets. Nothing to do where the unit is done already."""
        with self._caught():
            if self._is_done():
                return
            items = self._items()
            self._in_place = self._is_in_place(items)
            if self._in_place:
                return
            self.remove()
            for sub in ("inputs", "local/plan", "staged"):
                (self._place / sub).mkdir(parents=True)
            self._fetched = fetch_inputs(items, self._place / "inputs", self._input_options, self._stop)
            self._write_plan()

    def _write_plan(self, siblings: Sequence[dict[str, Any]] = ()) -> None:
        for file, text in self._plan.alone(self._unit, self._fetched, siblings).items():
            (self._place / "local/plan" / file).write_text(text, encoding="utf-8")

    def _items(self) -> list[dict[str, Any]]:
        return insist(self._plan.items, self._unit)

    def _is_in_place(self, items: list[dict[str, Any]]) -> bool:
        """Whether the program can work in the store by itself."""
        return self._plan.store.local and not any(is_fetched(item["uri"]) for item in items)

    def cancel(self) -> None:
        """End `prepare`, which another thread does, with a StoppedError."""
        self._stop.set()

    def compute(self) -> None:
        """Run `saccade work` on it."""
        if self._outcome is not None:
            return
        with self._caught():
            if self._is_done():
                return
            if isinstance(self._plan.store, LocalStore) and self._in_place:
                ended = self._ended(["work", self._plan.store.path, *self._arguments])
                self._outcome = dataclasses.replace(ended, marker=_marker(self._plan, self._unit))
                return
            local, staged = (os.fspath(self._place / name) for name in ("local", "staged"))
            command = ["work", local, "--staging", staged, *self._arguments]
            ended = self._ended(command)
            if ended.refused and self._options_suit():
                ended = self._ended(command)
            if ended.held and self._has_siblings():
                ended = self._ended(command)
            if ended.code not in (DONE, PARTIAL):
                self._outcome = ended

    def _is_done(self) -> bool:
        """Whether it has a marker, perhaps another run's."""
        done = _marker(self._plan, self._unit)
        if done is not None:
            self._outcome = Outcome(self._unit.name, done)
        return done is not None

    def _ended(self, command: Sequence[str | Path]) -> Outcome:
        """How the program ended; what it says of its copy of the plan is said of the store."""
        code, line = run(command)
        passing = code == STOPPED and any(os.strerror(number) in line for number in _PASSING)
        line = line.replace(str(self._place / "local"), str(self._plan.store))
        outcome = Outcome(self._unit.name, None, code, line, passing)
        return dataclasses.replace(outcome, passing=False) if outcome.held else outcome

    def _has_siblings(self) -> bool:
        """Whether other units have inputs in the same folders; then the program finds some in its copy of the plan."""
        found = insist(siblings_of, self._plan, self._fetched)
        (self._place / "siblings").mkdir(exist_ok=True)
        found = fetch_inputs(found, self._place / "siblings", self._input_options, self._stop)
        found = [item for item in found if "fault" not in item]
        self._write_plan(found)
        return bool(found)

    def _options_suit(self) -> bool:
        """Whether a video of the plan is done; then the program is told so by its unit's marker."""
        found = suiting_marker(self._plan)
        if found is not None:
            (self._place / "local/commits").mkdir(exist_ok=True)
            (self._place / "local" / found[0]).write_bytes(found[1])
        return found is not None

    def finish(self) -> Outcome:
        """Commit it, and say what became of it."""
        if self._outcome is None:
            with self._caught():
                staged = self._place / "staged"
                _rename_in_quarantine(staged, self._unit.name, str(self._place / "local"), str(self._plan.store))
                self._outcome = Outcome(self._unit.name, commit(self._plan, self._unit, staged))
        self.remove()
        assert self._outcome is not None
        return self._outcome

    def remove(self) -> None:
        """Remove what was made in the folder."""
        shutil.rmtree(self._place, ignore_errors=True)

    @contextlib.contextmanager
    def _caught(self) -> Iterator[None]:
        """What the disk or the store refuse is an outcome, not an exception; so is a missing library."""
        try:
            yield
        except (UnavailableError, OSError) as error:
            self._outcome = outcome_of(self._unit.name, error)


def outcome_of(unit: str, error: Exception) -> Outcome:
    """What an error makes of a unit."""
    line = (str(error) or type(error).__name__).splitlines()[0]
    if isinstance(error, (UnavailableError, InputError)):
        return Outcome(unit, None, UNAVAILABLE if isinstance(error, UnavailableError) else USAGE, line)
    if not isinstance(error, OSError):
        return Outcome(unit, None, STOPPED, f"{type(error).__name__}: {line}")
    return Outcome(unit, None, STOPPED, line, not isinstance(error, LASTING) and error.errno not in OUR_DISK)


def do_unit(work: UnitWork) -> Outcome:
    """All steps of a unit. Never raises for a video, whatever it does."""
    try:
        work.prepare()
        work.compute()
        return work.finish()
    finally:
        work.remove()


def suiting_marker(plan: Plan) -> tuple[str, bytes] | None:
    """Name and content of a marker in the store by which a video has taken the plan's options; None: there is none.

    Damaged markers tell nothing.
    """
    names = list(insist(commits_of, plan.store).values())
    for at in range(0, len(names), _MARKERS_AT_ONCE):
        some = names[at : at + _MARKERS_AT_ONCE]
        for name, content in insist(plan.store.read_many, some).items():
            if _suits(plan, content):
                return name, content
    return None


def _suits(plan: Plan, content: bytes) -> bool:
    marker = marker_of(content)
    if not isinstance(marker, dict) or marker.get("plan") != plan.hash:
        return False
    done, damaged = marker.get("done"), marker.get("damaged")
    return isinstance(done, int) and isinstance(damaged, int) and done + damaged > 0


def _rename_in_quarantine(staged: Path, unit: str, copy: str, store: str) -> None:
    """Have the reasons of a staged unit name the store, not the copy of its plan; file and marker get the new hash."""
    path = staged / marker_name(unit)
    marker = json.loads(path.read_bytes())
    if marker["quarantine"] is None:
        return
    old = staged / marker["quarantine"]["name"]
    before = old.read_bytes()
    content = before.replace(_in_json(copy), _in_json(store))
    if content == before:
        return
    digest = hashlib.sha256(content).hexdigest()
    name = f"quarantine/{unit}.{digest[:12]}.jsonl"
    (staged / name).write_bytes(content)
    old.unlink()
    marker["quarantine"] = {"name": name, "bytes": len(content), "sha256": digest}
    path.write_bytes(marker_text(marker))


def _in_json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


def commit(plan: Plan, unit: Unit, staged: Path) -> dict[str, Any]:
    """Put a unit's files into the store, then its marker; gives the marker that counts, perhaps another's.

    Raises:
        OSError: The store refuses, also after some tries; or its marker is damaged.
    """
    store, name = plan.store, marker_name(unit.name)
    if (found := _marker(plan, unit)) is not None:
        return found
    content = (staged / name).read_bytes()
    mine = json.loads(content)
    parts = [mine[part]["name"] for part in PARTS if mine[part] is not None]
    insist(store.make_folder, "commits")  # before any part: parts without this folder are a store that lacks some
    for part in parts:
        insist(store.upload, staged / part, part)
    insist(store.create, name, content)
    found = _marker(plan, unit)
    if found is None:
        raise OSError(f"{store}/{name}: was made and can't be read")
    if found == mine:
        for part in parts:
            if not insist(store.exists, part):
                insist(store.upload, staged / part, part)
    return found


def _marker(plan: Plan, unit: Unit) -> dict[str, Any] | None:
    """The store's; None: there is none."""
    try:
        marker = marker_of(insist(plan.store.read, marker_name(unit.name)))
    except (FileNotFoundError, NotADirectoryError):
        return None
    fault = marker_refusal(plan, unit, marker)
    if fault is not None:
        raise InputError(f"{plan.store}: {marker_name(unit.name)}: {fault}")
    assert isinstance(marker, dict)
    return marker
