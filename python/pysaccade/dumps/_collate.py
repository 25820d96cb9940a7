"""`collate`: items of different lengths as one batch, padded or packed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pysaccade._native._arguments import quoted, shown
from pysaccade.emission._emission import Emission

try:
    import torch
    from torch import Tensor
    from torch.nn.utils.rnn import pad_sequence
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("collate needs torch: pip install 'pysaccade[torch]'", name="torch") from error
from pysaccade.dumps._shared import Batch, Lease, last_lease, lend, note_padding, shares

_LAYOUTS = ("padded", "packed")
_OF_TOKENS = ("patches", "geometry", "positions", "emission")  # [K, ...]
_OF_EMISSIONS = ("reuse", "frame", "pts_seconds", "fixation")  # [T, ...]


def collate(items: Iterable[Mapping[str, Any] | Emission], layout: str = "padded") -> dict[str, Any]:
    """Batch B items of a `DumpDataset`, or emissions, that have different numbers of tokens.

    Use it as a DataLoader's `collate_fn`; for the other layout `functools.partial(collate, layout="packed")`.

    Args:
        items: B items. An emission is taken as a clip of one, all patches that show some of the frame as its tokens.
        layout: "padded" or "packed".

    Returns:
        The items' keys. L and T are the longest item's tokens and emissions, N the most patches.

        "padded": patches [B, L, C, S, S] and the other tokens' keys likewise, zeros behind an item's own; `mask`
        [B, L] bool, True at tokens. Emissions' keys are [B, T, ...], `emission_mask` [B, T]; reuse is -1 there.

        "packed": patches [K, C, S, S], the items' tokens one after the other; `cu_seqlens` [B + 1] i32: item b has
        tokens cu_seqlens[b] to cu_seqlens[b + 1]; `max_seqlen`, an int. Emissions' keys are [sum of T, ...] with
        `cu_emissions` [B + 1] i32, and `reuse` counts tokens of the whole batch: encode(patches)[reuse] holds.

        Other keys are stacked where they are tensors of one shape, else lists.

    Raises:
        ValueError: No item, an unknown layout, or items whose patches have different types or shapes.
    """
    if layout not in _LAYOUTS:
        raise ValueError(f"collate: layout is {quoted(layout)}; it must be one of {_LAYOUTS}")
    if not isinstance(items, Iterable) or isinstance(items, (str, bytes, Mapping)):
        raise TypeError(f"collate: items takes a list of items, not {shown(items)}")
    rows = [_item_of(item) if isinstance(item, Emission) else _dict_of(item, i) for i, item in enumerate(items)]
    _check(rows)
    memory = _memory_for(rows, layout)
    batch: dict[str, Any] = {}
    if memory is not None:
        batch = Batch()
        batch.lease = memory
    most = max(row["reuse"].shape[1] for row in rows) if "reuse" in rows[0] else 0
    for key in rows[0]:
        values = [row[key] for row in rows]
        if key == "reuse":
            values = [value if value.shape[1] == most else _widened(value, most) for value in values]
        if key not in _OF_TOKENS + _OF_EMISSIONS:
            batch[key] = _stack(values)
        elif layout == "padded":
            batch[key] = _pad(values, -1 if key == "reuse" else 0, memory)
        else:
            batch[key] = _join(values, memory)
    tokens = [len(row["patches"]) for row in rows]
    emissions = [len(row["reuse"]) for row in rows] if "reuse" in rows[0] else []
    device = batch["patches"].device
    if layout == "padded":
        batch["mask"] = _mask(tokens, device)
        if emissions:
            batch["emission_mask"] = _mask(emissions, device)
        return batch
    batch["cu_seqlens"], batch["max_seqlen"] = _ends(tokens, device), max(tokens)
    if emissions:
        batch["cu_emissions"] = _ends(emissions, device)
        shift = torch.repeat_interleave(batch["cu_seqlens"][:-1].long(), torch.tensor(emissions, device=device))
        batch["reuse"] += shift[:, None] * (batch["reuse"] >= 0)
    return batch


def _dict_of(item: Any, number: int) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise TypeError(f"collate: item {number} is no item of a DumpDataset and no Emission, but {shown(item)}")
    if not isinstance(item.get("patches"), Tensor):
        raise ValueError(f"collate: item {number} has no tensor 'patches'")
    return dict(item)


def _item_of(emission: Emission) -> dict[str, Any]:
    """An emission as a clip of one."""
    e = emission.to()
    tokens = e.visible.nonzero()[:, 0]
    reuse = torch.full((1, len(e)), -1, dtype=torch.int64, device=tokens.device)
    reuse[0, tokens] = torch.arange(len(tokens), device=tokens.device)
    return {
        "patches": e.patches[tokens],
        "geometry": e.geometry[tokens],
        "positions": e.positions()[tokens],
        "emission": torch.zeros_like(tokens),
        "reuse": reuse,
        "frame": torch.tensor([e.frame], device=tokens.device),
        "pts_seconds": torch.tensor([e.pts_seconds], dtype=torch.float64, device=tokens.device),
        "fixation": torch.tensor([e.fixation], dtype=torch.float32, device=tokens.device),
    }


def _check(rows: list[dict[str, Any]]) -> None:
    if not rows:
        raise ValueError("collate: there is no item")
    first = rows[0]
    for i, row in enumerate(rows):
        if row.keys() != first.keys():
            raise ValueError(f"collate: items 0 and {i} differ in their keys: {sorted(row.keys() ^ first.keys())}")
        for key in set(_OF_TOKENS + _OF_EMISSIONS).intersection(row):
            have, want = row[key], first[key]
            same = key == "reuse" or have.shape[1:] == want.shape[1:]
            if have.dtype != want.dtype or not same:
                what = [f"{list(value.shape[1:])} {value.dtype}" for value in (want, have)]
                raise ValueError(
                    f"collate: {key} of items 0 and {i} differ: {what[0]} and {what[1]}; batch dumps of one kind"
                )


def _memory_for(rows: list[dict[str, Any]], layout: str) -> Lease | None:
    """In a DataLoader's worker, memory that the main process shares: that of the items' patches, if the batch fits."""
    patches = [row["patches"] for row in rows]
    if not shares() or any(value.device.type != "cpu" or value.requires_grad for value in patches):
        return None
    note_padding(layout == "padded")
    lease = last_lease()
    there = None if lease is None else lease.in_a_row(patches)
    wanted = len(patches) * max(map(len, patches)) if layout == "padded" else sum(map(len, patches))
    if there is not None and len(there) == wanted:
        return lease
    sizes = [[row[key].nbytes for row in rows] for key in _OF_TOKENS + _OF_EMISSIONS if key in rows[0]]
    return lend(sum(max(of_key) * len(rows) if layout == "padded" else sum(of_key) for of_key in sizes))


def _join(values: list[Tensor], memory: Lease | None) -> Tensor:
    """[K, ...] each as one [sum of K, ...]."""
    if memory is None:
        return torch.cat(values)
    rows = sum(map(len, values))
    there = memory.in_a_row(values)
    if there is not None and len(there) == rows:
        return there
    return torch.cat(values, out=memory.tensor((rows, *values[0].shape[1:]), values[0].dtype))


def _pad(values: list[Tensor], padding: int, memory: Lease | None) -> Tensor:
    """[K, ...] each as one [B, L, ...]."""
    most = max(map(len, values))
    if memory is None:
        return pad_sequence(values, batch_first=True, padding_value=padding)
    there = memory.in_a_row(values)
    if there is not None and len(there) == len(values) * most:
        return there.view(len(values), most, *values[0].shape[1:])
    padded = memory.tensor((len(values), most, *values[0].shape[1:]), values[0].dtype)
    if padded is None:
        return pad_sequence(values, batch_first=True, padding_value=padding)
    for row, value in zip(padded, values, strict=True):
        row[: len(value)] = value
        row[len(value) :] = padding
    return padded


def _stack(values: list[Any]) -> Any:
    tensors = all(isinstance(value, Tensor) and value.shape == values[0].shape for value in values)
    return torch.stack(values) if tensors else values


def _widened(reuse: Tensor, most: int) -> Tensor:
    return torch.nn.functional.pad(reuse, (0, most - reuse.shape[1]), value=-1)


def _mask(lengths: list[int], device: torch.device) -> Tensor:
    return torch.arange(max(lengths), device=device) < torch.tensor(lengths, device=device)[:, None]


def _ends(lengths: list[int], device: torch.device) -> Tensor:
    return torch.tensor([0, *lengths], device=device).cumsum(0).to(torch.int32)
