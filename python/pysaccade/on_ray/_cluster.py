"""What `run` asks a Ray cluster for: how many units at once, and which nodes are left out."""

from __future__ import annotations

import collections
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

_MOST_LOST = 3  # units of a node


class Nodes:
    """The cluster's nodes. One that three times in a row lacked a device, a library or inputs gets no more units."""

    def __init__(self, cpus: float, gpus: float) -> None:
        self._cpus, self._gpus = cpus, gpus
        self._lost: collections.Counter[str] = collections.Counter()

    def lacks(self, node: str) -> bool:
        """Note that a unit ended for want of something. True: the node is left out from now on."""
        self._lost[node] += 1
        return self._lost[node] == _MOST_LOST

    def does(self, node: str) -> None:
        """Note that a unit was done there."""
        if self._lost[node] < _MOST_LOST:
            self._lost[node] = 0

    def slots(self) -> dict[str, int]:
        """Node -> how many units it holds at once; nodes that are left out, and those that hold none, are not in it."""
        found = {}
        nodes: Any = ray.nodes
        for node in nodes():
            if node["Alive"] and self._lost[node["NodeID"]] < _MOST_LOST:
                count = self._held(node["Resources"])
                if count:
                    found[node["NodeID"]] = count
        return found

    def _held(self, resources: dict[str, float]) -> int:
        counts = [resources.get("CPU", 0.0) / self._cpus] if self._cpus else []
        counts += [resources.get("GPU", 0.0) / self._gpus] if self._gpus else []
        return int(min(counts, default=1.0) + 1e-6)

    def all_left_out(self) -> bool:
        """Whether some are left out, and no other could do a unit."""
        return any(count >= _MOST_LOST for count in self._lost.values()) and not self.slots()

    def placement(self, in_flight: collections.Counter[str], slots: dict[str, int]) -> Any:
        """Where Ray shall put the next unit: anywhere, evenly; once nodes are left out, on the freest of the others."""
        if not slots or all(count < _MOST_LOST for count in self._lost.values()):
            return "SPREAD"
        node = max(slots, key=lambda name: slots[name] - in_flight[name])
        in_flight[node] += 1
        return NodeAffinitySchedulingStrategy(node, soft=False)
