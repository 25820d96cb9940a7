"""Counts of a run over many units: progress lines, and when to stop because something is wrong with all of it."""

from __future__ import annotations

import collections
import json
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
_EACH_S = 10.0
_MOST_CRASHES = 20
_ENOUGH = 100  # items, before a share means something


class Tally:
    """Counts of the units that this run is to do.

    Args:
        plan: The store's.
        units: How many units, items and seconds of media the run has, done ones included.
        progress: "auto" (a line), "json" or "none": what is said on stderr, each 10 s and at the end.
        max_bad_percent: More items given up than this stop the run.
        metrics: A text file for Prometheus, written as often.
    """

    def __init__(
        self, plan: Plan, units: Sequence[Any], *, progress: str = "auto", max_bad_percent: float = 5.0,
        metrics: str | None = None,
    ) -> None:  # fmt: skip
        self._plan, self._progress, self._max_bad, self._metrics = plan, progress, max_bad_percent, metrics
        self._begin, self._said = time.monotonic(), time.monotonic()
        self._total = sum(unit.items for unit in units)
        self._total_s = sum(unit.media_s for unit in units)
        self._media = {unit.name: unit.media_s for unit in units}
        self.units, self.units_done = len(units), 0
        self.done = self.damaged = self.quarantined = self.frames = 0
        self._media_s = self._here_s = 0.0
        self._here_items = self._here_bad = self._crashes = 0
        self._classes: collections.Counter[str] = collections.Counter()

    def add(self, marker: dict[str, Any], *, here: bool = True) -> None:
        """Count a unit. `here`: it was done by this run."""
        self.units_done += 1
        self.done += marker["done"]
        self.damaged += marker["damaged"]
        self.quarantined += marker["quarantined"]
        self._classes.update(marker.get("classes", {}))
        media_s = self._media.get(marker["unit"], 0.0)
        self._media_s += media_s
        if here:
            self.frames += marker.get("frames", 0)
            self._here_s += media_s
            self._here_items += marker["items"]
            self._here_bad += marker["quarantined"]
            crashes = marker.get("classes", {}).get("crash", 0)
            self._crashes = self._crashes + crashes if crashes == marker["items"] else 0
        if time.monotonic() - self._said >= _EACH_S:
            self.say()

    def why_stop(self) -> str | None:
        """Why it makes no sense to go on; None: it does."""
        if self._crashes >= _MOST_CRASHES:
            return f"the last {self._crashes} videos all crashed the program; is the installation broken?"
        bad = 100.0 * self._here_bad / max(self._here_items, 1)
        if self._here_items >= _ENOUGH and bad > self._max_bad:
            share = f"{self._here_bad} of {self._here_items} videos were given up"
            return (
                f"{share}, more than {self._max_bad:g} %; is the installation broken? `status` and quarantine/ say why"
            )
        return None

    def facts(self) -> dict[str, Any]:
        """The counts; in = done + damaged + quarantined + pending."""
        elapsed = time.monotonic() - self._begin
        counted = self.done + self.damaged + self.quarantined
        left = max(self._total_s - self._media_s, 0.0)
        eta = left * elapsed / self._here_s if self._here_s > 0 else None
        return {
            "in": self._total, "done": self.done, "damaged": self.damaged, "quarantined": self.quarantined,
            "duplicate": 0, "pending": self._total - counted, "classes": dict(self._classes),
            "units": self.units, "units_done": self.units_done,
            "media_s": round(self._media_s, 3), "media_hours": round(self._media_s / 3600, 4), "frames": self.frames,
            "frames_per_s": round(self.frames / elapsed, 1) if elapsed > 0 else 0.0,
            "eta_s": None if eta is None else round(eta, 1), "elapsed_s": round(elapsed, 3),
        }  # fmt: skip

    def say(self, *, last: bool = False) -> None:
        """Write a line on stderr."""
        self._said = time.monotonic()
        facts = self.facts()
        if self._metrics is not None:
            _write_metrics(Path(self._metrics), facts)
        if self._progress == "none":
            return
        if self._progress == "json":
            print(json.dumps({**facts, "last": last}), file=sys.stderr, flush=True)
            return
        eta = "" if facts["eta_s"] is None or last else f", {facts['eta_s']:.0f} s left"
        print(
            f"{self._plan.store}: {self.units_done} of {self.units} units, {self.done} done, {self.damaged} damaged, "
            f"{self.quarantined} quarantined, {facts['pending']} pending, {facts['media_hours']:.2f} hours of video, "
            f"{facts['frames_per_s']:.0f} frames/s{eta}",
            file=sys.stderr,
            flush=True,
        )


def _write_metrics(path: Path, facts: Mapping[str, Any]) -> None:
    text = "".join(
        f"# HELP saccade_{name} {what}\n# TYPE saccade_{name} gauge\nsaccade_{name} {facts[member]}\n"
        for name, member, what in _METRICS
    )
    draft = path.with_name(path.name + ".tmp")
    draft.write_text(text)
    draft.replace(path)
