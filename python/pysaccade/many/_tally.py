"""Counts of a run over many units: progress lines, and when to stop because something is wrong with all of it."""

from __future__ import annotations

import collections
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pysaccade.many._plan import Plan

# As `saccade work --metrics` names them: name, member of the facts, help.
_METRICS = (
    ("videos_in", "in", "items of the plan, or of the share"),
    ("videos_done", "done", "items done"),
    ("videos_damaged", "damaged", "items done of which the input was damaged"),
    ("videos_quarantined", "quarantined", "items given up"),
    ("videos_duplicate", "duplicate", "rows that repeat others"),
    ("videos_pending", "pending", "items to come"),
    ("media_hours", "media_hours", "hours of video done"),
    ("frames", "frames", "frames done"),
    ("frames_per_second", "frames_per_s", "of this run"),
)
# What `saccade work --json` prints.
_COUNTS = (
    "in", "done", "damaged", "quarantined", "duplicate", "pending", "classes", "media_s", "media_hours", "frames",
)  # fmt: skip
_EACH_S = 10.0
_MOST_CRASHES = 20
_MOST_HELD = 20  # videos in a row
_ENOUGH = 100  # items, before a share means something
_BAD_OF_RECENT = 50.0  # percent
_ALL = 100.0
TOO_MANY_BAD = "videos were given up, more than"
ALL_MAY_BE_BAD = "max_bad_percent=100"
HELD = re.compile(r"(\d+) videos? held back")  # as the program says it of a unit


class Tally:
    """Counts of the units that this run is to do, as `saccade work` has them.

    Args:
        plan: The store's.
        units: How many units, items and seconds of media the run has, done ones included.
        progress: "auto" (a line), "json" or "none": what is said on stderr, each 10 s; as JSON also at the end.
        max_bad_percent: More items given up than this, of all that have ended, stop the run.
        metrics: A text file for Prometheus, written as often.
    """

    def __init__(
        self, plan: Plan, units: Sequence[Any], *, progress: str = "auto", max_bad_percent: float = 5.0,
        metrics: str | None = None,
    ) -> None:  # fmt: skip
        self._plan, self._progress, self._max_bad, self._metrics = plan, progress, max_bad_percent, metrics
        self._begin, self._said = time.monotonic(), time.monotonic()
        self._total = sum(unit.items for unit in units)
        self._planned_s = sum(unit.media_s for unit in units)
        self._planned = {unit.name: unit.media_s for unit in units}
        self.units, self.units_done = len(units), 0
        self.done = self.damaged = self.quarantined = self.frames = 0
        self._media_s = 0.0  # shown, of what is done; the plan's are a guess, and count for how much is left alone
        self._ended_s = self._here_s = 0.0
        self._here_frames = self._crashes = self._held_in_a_row = 0
        self._judged_items = self._judged_bad = 0
        self._classes: collections.Counter[str] = collections.Counter()
        self._recent: collections.deque[tuple[int, int]] = collections.deque()  # items and bad ones of the last units
        self._last_done: dict[str, Any] | None = None
        self._ask_at = 0
        self._held: list[str] = []

    def add(self, marker: dict[str, Any], *, here: bool = True) -> None:
        """Count a unit, after those that ended before it. `here`: it was done by this run."""
        self.units_done += 1
        self.done += marker["done"]
        self.damaged += marker["damaged"]
        self.quarantined += marker["quarantined"]
        self._classes.update(marker.get("classes", {}))
        frames, planned_s = marker.get("frames", 0), self._planned.get(marker["unit"], 0.0)
        self.frames += frames
        self._media_s += marker.get("media_s", 0.0)
        self._ended_s += planned_s
        if here:
            self._here_frames += frames
            self._here_s += planned_s
        self._judged_items += marker["items"]
        self._judged_bad += marker["quarantined"]
        crashes = marker.get("classes", {}).get("crash", 0)
        self._crashes = self._crashes + crashes if crashes == marker["items"] else 0
        if marker["done"] + marker["damaged"] > 0:
            self._last_done = marker
            self._held_in_a_row = 0
        self._recent.append((marker["items"], marker["quarantined"]))
        while self._recent_counts()[0] - self._recent[0][0] >= _ENOUGH:
            self._recent.popleft()
        if time.monotonic() - self._said >= _EACH_S:
            self.say()

    @property
    def options_suit(self) -> bool:
        """Whether a video has taken the plan's options."""
        return self.done + self.damaged > 0

    def hold(self, unit: str, line: str) -> str | None:
        """Note a unit that holds videos back, whose folder can't be read: `line`. Gives why to stop; None: go on."""
        self._held.append(f"unit {unit}: {line}")
        found = HELD.search(line)
        self._held_in_a_row += int(found[1]) if found else 1
        return self._held[-1] if self._held_in_a_row >= _MOST_HELD else None

    def held(self) -> str | None:
        """Why units are left that hold videos back; None: there are none."""
        if len(self._held) < 2:
            return self._held[0] if self._held else None
        return f"{counted(len(self._held), 'unit')} wait; {self._held[0]}"

    def why_stop(self) -> str | None:
        """Why it makes no sense to go on; None: it does, or nothing is left. Counts what all runs have done."""
        if self.done + self.damaged + self.quarantined >= self._total:
            return None
        if self._crashes >= _MOST_CRASHES and self._max_bad < _ALL:
            return f"the last {self._crashes} videos all crashed the program; is the installation broken?"
        bad = _ALL * self._judged_bad / max(self._judged_items, 1)
        if self._judged_items >= _ENOUGH and bad > self._max_bad:
            share = f"{self._judged_bad} of {self._judged_items} {TOO_MANY_BAD} {self._max_bad:g} %"
            way = f"Once it is mended, or where it is the videos, {ALL_MAY_BE_BAD} goes on"
            return f"{share}: is the installation broken? {way}"
        return None

    def _recent_counts(self) -> tuple[int, int]:
        return sum(items for items, _ in self._recent), sum(bad for _, bad in self._recent)

    def asks(self) -> dict[str, Any] | None:
        """A unit's marker where a video that was done is to be done again: so many were given up since.

        Inputs, a network or a device may be gone, long before those that were given up are more than may be of all. Or
        bad videos stand together, as `answered` then tells.
        """
        items, bad = self._recent_counts()
        many = items >= _ENOUGH and _ALL * bad > max(self._max_bad, _BAD_OF_RECENT) * items
        if not many or self._judged_items < self._ask_at:
            return None
        self._ask_at = self._judged_items + _ENOUGH
        return self._last_done

    def answered(self, key: str, why: str | None) -> str | None:
        """Why to stop, after the video of this key has been done again, or wasn't: `why`."""
        if why is None:
            return None
        items, bad = self._recent_counts()
        return (
            f"{bad} of the last {items} videos were given up, and {key}, which was done before, can't be done any more"
            f": {why}: are the inputs still there? Where it is the videos, {ALL_MAY_BE_BAD} goes on"
        )

    def counts(self) -> dict[str, Any]:
        """What `saccade work --json` prints; in = done + damaged + quarantined + pending."""
        ended = self.done + self.damaged + self.quarantined
        return {
            "in": self._total, "done": self.done, "damaged": self.damaged, "quarantined": self.quarantined,
            "duplicate": 0, "pending": self._total - ended, "classes": dict(sorted(self._classes.items())),
            "media_s": self._media_s, "media_hours": self._media_s / 3600, "frames": self.frames,
        }  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """The counts, and how fast it goes: what `--progress json` reports."""
        elapsed = max(time.monotonic() - self._begin, 1e-6)
        counts, left_s = self.counts(), max(self._planned_s - self._ended_s, 0.0)
        eta = left_s * elapsed / self._here_s if self._here_s > 0 else None
        return {
            **counts, "frames_per_s": self._here_frames / elapsed, "eta_s": eta if counts["pending"] else 0,
            "elapsed_s": elapsed,
        }  # fmt: skip

    def line(self) -> str:
        """The counts, as `saccade work` ends with them."""
        return counts_line(self.counts())

    def say(self, *, last: bool = False) -> None:
        """Report on stderr, and into the metrics."""
        self._said = time.monotonic()
        facts = self.facts()
        if self._metrics is not None:
            _write_metrics(Path(self._metrics), facts)
        if self._progress == "json":
            print(json_line({**facts, "last": last}), file=sys.stderr, flush=True)
        elif self._progress == "auto" and not last:
            eta = "" if facts["eta_s"] is None else f", {facts['eta_s']:.0f} s left"
            print(
                f"saccade: {facts['in'] - facts['pending']} of {counted(facts['in'], 'video')}, "
                f"{facts['media_hours']:.2f} hours of video, {facts['frames_per_s']:.0f} frames/s, "
                f"{self.quarantined} bad{eta}",
                file=sys.stderr,
                flush=True,
            )


def counts_line(counts: Mapping[str, Any]) -> str:
    """Counts that add up, as the program says them."""
    classes = ", ".join(f"{count} {kind}" for kind, count in counts["classes"].items())
    return (
        f"{counts['in']} in = {counts['done']} done + {counts['damaged']} damaged + {counts['quarantined']} quarantined"
        f"{f' ({classes})' if classes else ''} + {counts['duplicate']} duplicate + {counts['pending']} pending"
    )


def only_counts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What `saccade work --json` prints, from facts that hold more."""
    return {name: facts[name] for name in _COUNTS}


def counted(count: int, what: str) -> str:
    """So many: 1 unit, 2 units."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def json_line(value: Any) -> str:
    """JSON as the program prints it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _write_metrics(path: Path, facts: Mapping[str, Any]) -> None:
    text = "".join(
        f"# HELP saccade_{name} {what}\n# TYPE saccade_{name} gauge\nsaccade_{name} {json_line(facts[member])}\n"
        for name, member, what in _METRICS
    )
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(text)
    draft.replace(path)
