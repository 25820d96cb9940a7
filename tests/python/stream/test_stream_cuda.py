"""Streams on a GPU: the CPU's bytes, the caller's stream, no wait, no leak. Skipped where there is none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pysaccade as sc

pytestmark = [pytest.mark.torch, pytest.mark.cuda]
ROUNDS = int(os.environ.get("SACCADE_LEAK_ROUNDS", "300"))


def cpu(source: Any, **options: Any) -> list[sc.Emission]:
    return list(sc.Stream(source, device="cpu", **options))


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32"])
@pytest.mark.parametrize("hwdec", ["no", "auto"])
def test_patches_are_the_cpus(dtype: str, hwdec: str, clip: Path):
    import torch

    options: dict[str, Any] = {"every": 3, "frames": 90, "dtype": getattr(torch, dtype)}
    if dtype != "uint8":
        options["normalize"] = "clip"
    stream = sc.Stream(clip, device="cuda", hwdec=hwdec, **options)
    count = 0
    for mine, wanted in zip(stream, cpu(clip, **options), strict=True):
        assert mine.patches.device.type == mine.geometry.device.type == mine.changed.device.type == "cuda"
        assert torch.equal(mine.patches.cpu(), wanted.patches)
        assert torch.equal(mine.geometry.cpu(), wanted.geometry)
        assert torch.equal(mine.changed.cpu(), wanted.changed)
        assert int(mine.damaged_tiles) == wanted.damaged_tiles
        assert (mine.frame, mine.pts_ns, mine.fixation) == (wanted.frame, wanted.pts_ns, wanted.fixation)
        count += 1
    assert count == 30


@pytest.mark.parametrize("size", [6, 16])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_what_changed_is_the_cpus_while_the_eye_moves(size: int, dtype: str):
    import torch

    rng = np.random.default_rng(5)
    picture = rng.integers(0, 256, (120, 160, 3), np.uint8)
    frames = []
    for _ in range(40):  # a pixel or a block of it; means absorb some of that, and some comes back
        picture = picture.copy()
        y, x, side = rng.integers(0, 112), rng.integers(0, 152), rng.integers(1, 8)
        picture[y : y + side, x : x + side] ^= rng.integers(0, 3, (side, side, 3), np.uint8)
        frames.append(picture)
    options: dict[str, Any] = {
        "lattice": "nested",
        "every": "frame",
        "tokens": 70,
        "patch_size": size,
        "dtype": getattr(torch, dtype),
        "fixation": "random",
        "seed": 4,
    }
    ones = 0
    for mine, wanted in zip(
        sc.Stream(frames, device="cuda", **options), sc.Stream(frames, device="cpu", **options), strict=True
    ):
        assert torch.equal(mine.patches.cpu(), wanted.patches)
        assert torch.equal(mine.changed.cpu(), wanted.changed)
        ones += int(wanted.changed.sum())
    assert 70 < ones < 40 * 70


def test_auto_is_the_gpu_and_the_cpu_can_be_asked_for(clip: Path):
    assert next(sc.Stream(clip)).patches.device.type == "cuda"
    assert next(sc.Stream(clip, device="cpu")).patches.device.type == "cpu"
    assert next(sc.Stream(clip, device="cpu", backend="cuda")).patches.device.type == "cpu"
    assert isinstance(next(sc.Stream(clip, array="numpy")).patches, np.ndarray)


def test_work_queued_before_and_memory_freed_after_do_no_harm(clip: Path):
    """Queue work, free, decode, 200 runs: vision 9606."""
    import torch

    wanted = [emission.patches.cuda() for emission in cpu(clip, every="frame", frames=8)]
    wrong = 0
    for _ in range(200):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            scratch = [torch.empty_like(wanted[0]) for _ in range(8)]
            torch.cuda._sleep(2_000_000)  # what is freed now is still to be written by work in the queue
            for tensor in scratch:
                tensor.fill_(255)
            del scratch, tensor
            stream = sc.Stream(clip, device="cuda", every="frame", frames=8)
            found = [emission.patches for emission in stream]
            wrong += sum(int(not torch.equal(mine, right)) for mine, right in zip(found, wanted, strict=True))
            del found
    assert wrong == 0


def test_emissions_made_ahead_are_ordered_with_the_callers_stream(clip: Path):
    import torch

    wanted = [emission.patches.cuda() for emission in cpu(clip, every="frame", frames=40)]
    stream = sc.Stream(clip, device="cuda", every="frame", frames=40, prefetch=3)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    for number, right in enumerate(wanted):
        with torch.cuda.stream(streams[number % 3]):
            emission = next(stream)
            torch.cuda._sleep(200_000)
            differ = (emission.patches != right).sum()
            del emission  # its memory may go to the next one, but not before this work has read it
        torch.cuda.current_stream().wait_stream(streams[number % 3])
        wrong += differ
    assert int(wrong) == 0
    assert next(stream, None) is None


def test_batches_lie_on_the_gpu(clip: Path):
    import torch

    wanted = torch.stack([emission.patches for emission in cpu(clip, every="frame", frames=20)])
    batches = list(sc.Stream(clip, device="cuda", every="frame", frames=20).batched(8))
    assert [len(batch) for batch in batches] == [8, 8, 4]
    assert torch.equal(torch.cat([batch.patches for batch in batches]).cpu(), wanted)


@pytest.mark.parametrize("layout", ["chw", "hwc", "channels last", "slice"])
def test_frames_on_the_gpu_are_read_where_they_lie(layout: str):
    import torch

    generator = torch.Generator().manual_seed(5)
    frames = torch.randint(0, 256, (6, 3, 96, 128), dtype=torch.uint8, generator=generator)
    given = {
        "chw": lambda frame: frame.cuda(),
        "hwc": lambda frame: frame.permute(1, 2, 0).contiguous().cuda(),
        "channels last": lambda frame: frame[None].cuda().contiguous(memory_format=torch.channels_last)[0],
        "slice": lambda frame: torch.nn.functional.pad(frame.cuda(), (3, 5, 1, 2))[:, 1:-2, 3:-5],
    }[layout]
    options = {"lattice": "uniform", "lod": 0, "tokens": 48, "every": "frame"}
    blocks = frames.unflatten(2, (6, 16)).unflatten(4, (8, 16)).permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
    stream = sc.Stream((given(frame) for frame in frames), device="cuda", **options)
    for emission, wanted in zip(stream, blocks, strict=True):
        assert torch.equal(emission.patches.cpu(), wanted)


def test_attention_on_the_gpu_is_looked_at(clip: Path):
    import torch

    stream = sc.Stream(clip, device="cuda", fixation="center")
    next(stream)
    weights = torch.zeros(6, 8, device="cuda", dtype=torch.bfloat16)
    weights[1, 6] = 1
    stream.attend(weights)
    assert next(stream).fixation == pytest.approx((6.5 / 8, 1.5 / 6))


def test_two_gpus_keep_to_themselves(clip: Path):
    """Memory on GPU 0: VPF 199."""
    import torch

    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU")
    wanted = cpu(clip, every=5, frames=50)
    streams = [sc.Stream(clip, device=f"cuda:{index}", every=5, frames=50) for index in (0, 1)]
    for first, second, right in zip(*streams, wanted, strict=True):
        assert (first.patches.device.index, second.patches.device.index) == (0, 1)
        assert torch.equal(first.patches.cpu(), right.patches)
        assert torch.equal(second.patches.cpu(), right.patches)
    before = torch.cuda.mem_get_info(0)[0]
    stream = sc.Stream(clip, device="cuda:1", every=5)
    next(stream)
    assert abs(torch.cuda.mem_get_info(0)[0] - before) < 1 << 20
    with torch.cuda.device(1):
        assert next(sc.Stream(clip, device="cuda")).patches.device.index == 1


def test_device_memory_stays_flat_over_open_iterate_close(clip: Path):
    import torch

    def used() -> int:
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, whole = torch.cuda.mem_get_info()
        return whole - free

    for number in range(ROUNDS):
        stream = sc.Stream(clip, device="cuda", every="frame")
        for index, _ in enumerate(stream):
            if index == 2:
                break
        if number % 2:
            stream.close()
        del stream, _
        if number == ROUNDS // 3:
            early = used()
    assert used() - early < 8 << 20


def test_step_is_captured_in_a_cuda_graph():
    """Frames on the device, a target on the device, an eye that doesn't move."""
    import torch

    frame = torch.zeros(3, 96, 128, dtype=torch.uint8, device="cuda")
    options = {"lattice": "uniform", "lod": 0, "tokens": 48, "every": "frame", "fixation": "center"}

    def frames():
        while True:
            yield frame

    stream = sc.Stream(frames(), device="cuda", **options)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(4):
            next(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        emission = next(stream)
    for seed in range(3):
        generator = torch.Generator().manual_seed(seed)
        picture = torch.randint(0, 256, frame.shape, dtype=torch.uint8, generator=generator)
        frame.copy_(picture)
        graph.replay()
        blocks = picture.unflatten(1, (6, 16)).unflatten(3, (8, 16)).permute(1, 3, 0, 2, 4).flatten(0, 1)
        assert torch.equal(emission.patches.cpu(), blocks)
