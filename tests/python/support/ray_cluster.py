"""A Ray cluster on this machine, a process that obeys lines on stdin, `add` and `kill N`, and answers in JSON."""

from __future__ import annotations

import json
import sys
from typing import Any

from ray.cluster_utils import Cluster

NODE: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}


def say(cluster: Any, nodes: list[Any]) -> None:
    raylets = [node.all_processes["raylet"][0].process.pid for node in nodes]
    print(json.dumps({"address": cluster.address, "raylets": raylets}), flush=True)


def main() -> None:
    cluster: Any = Cluster(initialize_head=True, head_node_args=NODE)
    nodes = [cluster.head_node]
    nodes.append(cluster.add_node(**NODE))
    say(cluster, nodes)
    for line in sys.stdin:
        command, _, number = line.strip().partition(" ")
        if command == "add":
            nodes.append(cluster.add_node(**NODE))
        elif command == "kill":
            cluster.remove_node(nodes.pop(int(number)), allow_graceful=False)
        say(cluster, nodes)
    cluster.shutdown()


if __name__ == "__main__":
    main()
