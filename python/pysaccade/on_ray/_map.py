"""`map_patches`: `Patches` as a stage of Ray Data, with the settings that Ray's defaults lack."""

from __future__ import annotations

import operator
import re
from typing import Any

from pysaccade._native._errors import UnavailableError
from pysaccade.on_ray._patches import Patches

try:
    import ray
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("pysaccade.ray needs Ray: pip install 'pysaccade[ray]'", name="ray") from error

_RESTARTS = 16
_OLDEST = (2, 52)  # older ones fail where rows with patches and rows without come together


def _check_version(version: str) -> None:
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < _OLDEST:
        raise UnavailableError(
            f"map_patches: Ray {version} can't join rows with patches and rows without; it needs Ray "
            f"{'.'.join(map(str, _OLDEST))} or later"
        )


def map_patches(
    dataset: Any,
    *,
    concurrency: int | None = None,
    cpus: float = 1,
    gpus: float = 0,
    batch_size: int = 8,
    **options: Any,
) -> Any:
    """Rows of videos to rows of patches: `dataset.map_batches(Patches, ...)`, so that nothing hangs or gets lost.

    Actors are restarted and their batches done again 16 times, not for ever, which is Ray's default. They never hold
    all CPUs of the cluster: reading, which comes before, would starve.

    Args:
        dataset: A ray.data.Dataset with a column `uri`.
        concurrency: How many actors; by default as many as fit beside one CPU for reading.
        cpus: Of an actor.
        gpus: Of an actor.
        batch_size: Videos of a call. What an actor's death costs at most.
        **options: Of `Patches`.

    Returns:
        A Dataset of the rows that stand at `Patches`.

    Raises:
        ValueError: So many actors would hold all CPUs.
        UnavailableError: This Ray is too old.
    """
    from ray.data import ActorPoolStrategy  # seconds, which `run` doesn't need

    _check_version(ray.__version__)
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    resources: Any = ray.cluster_resources
    there = float(resources().get("CPU", 0.0))
    if concurrency is None:
        if there <= cpus:  # one CPU: share it with reading
            cpus = there / 2
        concurrency = max(int((there - 1) / cpus), 1) if cpus else 1
    if operator.index(concurrency) < 1:
        raise ValueError(f"map_patches: concurrency is {concurrency}; it must be 1 or more")
    if concurrency * cpus >= there:
        raise ValueError(
            f"map_patches: {concurrency} actors of {cpus:g} CPUs would hold all {there:g} of the cluster, and reading "
            "would wait for ever; take a smaller concurrency or cpus"
        )
    return dataset.map_batches(
        Patches,
        fn_constructor_kwargs={"jobs": max(int(cpus), 1), **options},
        batch_size=batch_size,
        compute=ActorPoolStrategy(size=concurrency),
        num_cpus=cpus,
        num_gpus=gpus,
        max_restarts=_RESTARTS,
        max_task_retries=_RESTARTS,
    )
