#!/usr/bin/env python3
"""What `pysaccade.Stream` costs, in pairs of runs in alternation. Medians, as a Markdown table.

    bench/python/stream_bench.py dump CLIP...       Stream on every frame against `saccade dump --every frame`
    bench/python/stream_bench.py cost               Python's own time for an emission
    bench/python/stream_bench.py ahead CLIP...      a step of --work-ms for each emission, with and without prefetch
    bench/python/stream_bench.py others CLIP...     against PyNvVideoCodec, torchcodec, decord, PyAV, OpenCV: with torch
    bench/python/stream_bench.py others --device cuda CLIP...
    bench/python/stream_bench.py threads CLIP...    1, 8 and 14 in threads of this process, on the GPU: Streams with
                                                    patches on every frame against PyNvVideoCodec's bare decoders

The others decode, make a pyramid by avg_pool2d and sample the same patches by grid_sample: of each level those that
need it.
They do less: no search for what changed, no exact means. What isn't installed is left out. `saccade` is found as by the
package: SACCADE_PROGRAM and SACCADE_LIBRARY name another one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import pysaccade as sc
from pysaccade._native._library import program

LEVELS = 7


def in_pairs(works: dict[str, Callable[[], float]], pairs: int) -> dict[str, list[float]]:
    """Frames a second of each work, run in alternation."""
    rates: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(pairs):
        for name, work in works.items():
            rates[name].append(work())
    return rates


def ratio(rates: dict[str, list[float]], one: str, other: str) -> str:
    """The ratio of two works' rates: median, least and most of the pairs."""
    ratios = [a / b for a, b in zip(rates[one], rates[other], strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})"


def whole_rate(clip: Path, **options: Any) -> float:
    """Frames a second of stream_rate(), opening included."""
    begin = time.perf_counter()
    count = sum(1 for _ in sc.Stream(clip, lattice="nested", every="frame", **options))
    if options.get("device") == "cuda":
        torch.cuda.synchronize()
    return count / (time.perf_counter() - begin)


def stream_rate(clip: Path, **options: Any) -> float:
    """Frames a second of a Stream with patches on every frame, once it is open: as the program's own clock counts."""
    stream = sc.Stream(clip, lattice="nested", every="frame", **options)
    begin = time.perf_counter()
    count = sum(1 for _ in stream)
    if options.get("device") == "cuda":
        torch.cuda.synchronize()
    return count / (time.perf_counter() - begin)


def dump_rate(clip: Path) -> float:
    """Frames a second of the program's dump, by its own clock: from the open source on."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program(), "dump", clip, "-o", f"{folder}/dump", "--every", "frame", "--lattice", "nested"]
        command += ["--log-level", "error"]
        subprocess.run([*command, "--progress", "none"], check=True, stdout=subprocess.DEVNULL)
        manifest = json.loads(Path(folder, "dump", "manifest.json").read_text())
    return float(manifest["frames_per_s"])


def bench_dump(clips: list[Path], pairs: int, device: str) -> None:
    """Stream against the program."""
    print("| clip | dump, frames/s | Stream, frames/s | ratio, median (min .. max) |\n|---|---|---|---|")
    for clip in clips:
        works = {"dump": partial(dump_rate, clip), "stream": partial(stream_rate, clip, device=device)}
        rates = in_pairs(works, pairs)
        dump, stream = (statistics.median(rates[name]) for name in ("dump", "stream"))
        print(f"| {clip.name} | {dump:.0f} | {stream:.0f} | {ratio(rates, 'stream', 'dump')} |", flush=True)


def bench_cost(pairs: int, device: str) -> None:
    """Python's own time for an emission: processor time of the thread that iterates, beside that of bare C calls."""
    count = 20_000
    source = f"test://static?size=64x64&frames={count}&rate=1000"
    options: dict[str, Any] = {"lattice": "grid", "patches": 16, "fixation": "center", "every": "frame"}
    print("| array | an emission, us | of it the library's call, us | Python's own, us |\n|---|---|---|---|")
    for array in ("torch", "numpy"):
        if array == "numpy" and device == "cuda":
            continue
        whole, bare = [], []
        for _ in range(pairs):
            stream = sc.Stream(source, array=array, device=device, **options)
            next(stream)
            begin = time.thread_time()
            for _ in stream:
                pass
            whole.append((time.thread_time() - begin) / count * 1e6)
            bare.append(_bare_call_us(sc.Stream(source, array=array, device=device, **options), count))
        own = [a - b for a, b in zip(whole, bare, strict=True)]
        figures = " | ".join(f"{statistics.median(values):.1f}" for values in (whole, bare, own))
        print(f"| {array} | {figures} |", flush=True)


def _bare_call_us(stream: sc.Stream, count: int) -> float:
    """Processor time of one call of the library, into the same memory each time."""
    next(stream)
    taker = stream._taker
    _arrays, addresses = taker.memory.one()
    begin = time.thread_time()
    while taker.take(1000, addresses) == 0:
        pass
    return (time.thread_time() - begin) / count * 1e6


def bench_ahead(clips: list[Path], pairs: int, device: str, work_ms: float) -> None:
    """Emissions made ahead, while this thread does other work that holds no lock, as a model's step does."""

    def rate(clip: Path, prefetch: int) -> float:
        stream = sc.Stream(clip, lattice="nested", every="frame", device=device, prefetch=prefetch)
        begin = time.perf_counter()
        count = 0
        for _ in stream:
            time.sleep(work_ms / 1e3)
            count += 1
        return count / (time.perf_counter() - begin)

    print("| clip | prefetch 0, frames/s | 2, frames/s | 2 is faster by, median (min .. max) |\n|---|---|---|---|")
    for clip in clips:
        rates = in_pairs({str(count): partial(rate, clip, count) for count in (0, 2)}, pairs)
        none, two = (statistics.median(rates[name]) for name in ("0", "2"))
        print(f"| {clip.name} | {none:.0f} | {two:.0f} | {ratio(rates, '2', '0')} |", flush=True)


# ---- the same work by others -----------------------------------------------------------------------------------------


class TorchPatches:
    """A pyramid by avg_pool2d, and patches of known places by grid_sample."""

    def __init__(self, geometry: Tensor, size: tuple[int, int], patch: int, device: str) -> None:
        """The grids of the sampled positions, by level: known before a frame comes."""
        height, width = size
        lod = geometry[:, 2]
        step = torch.exp2(lod)[:, None] * (torch.arange(patch) - (patch - 1) / 2)
        x = (geometry[:, 0, None] * width + step) / width * 2 - 1
        y = (geometry[:, 1, None] * height + step) / height * 2 - 1
        count = len(geometry)
        grid = torch.stack([x[:, None].expand(count, patch, patch), y[:, :, None].expand(count, patch, patch)], dim=-1)
        self.groups = []
        for level in range(LEVELS):
            index = ((lod - level).abs() < 1).nonzero().flatten()
            weight = (1 - (lod[index] - level).abs())[:, None, None, None]
            self.groups.append([part.to(device) for part in (index, grid[index].reshape(1, -1, patch, 2), weight)])
        self.shape = (count, 3, patch, patch)
        self.device = device

    def __call__(self, frame: Tensor) -> Tensor:
        """[3, H, W] u8 -> [N, 3, S, S] f32 in [0, 1]."""
        image = frame.to(self.device)[None].float() / 255
        out = torch.zeros(self.shape, device=self.device)
        for index, grid, weight in self.groups:
            if len(index):
                samples = F.grid_sample(image, grid, padding_mode="border", align_corners=False)
                patches = samples[0].reshape(3, -1, self.shape[2], self.shape[3]).transpose(0, 1)
                out.index_add_(0, index, weight * patches)
            image = F.avg_pool2d(image, 2, ceil_mode=True)
        return out


def torchcodec_frames(clip: Path, device: str) -> Iterator[Tensor]:
    """Frames by torchcodec, on the device."""
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(str(clip), device=device, seek_mode="approximate", num_ffmpeg_threads=0)
    for index in range(len(decoder)):
        yield decoder[index]


def decord_frames(clip: Path, _: str) -> Iterator[Tensor]:
    """Frames by decord."""
    import decord

    decord.bridge.set_bridge("native")
    reader = decord.VideoReader(str(clip))
    for _ in range(len(reader)):
        yield torch.from_numpy(reader.next().asnumpy()).permute(2, 0, 1)


def av_frames(clip: Path, _: str) -> Iterator[Tensor]:
    """Frames by PyAV, with threads."""
    import av

    with av.open(str(clip)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for frame in container.decode(video=0):
            yield torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1)


def opencv_frames(clip: Path, _: str) -> Iterator[Tensor]:
    """Frames by OpenCV."""
    import cv2

    capture = cv2.VideoCapture(str(clip))
    while True:
        there, frame = capture.read()
        if not there:
            return
        yield torch.from_numpy(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)).permute(2, 0, 1)


def nvidia_frames(clip: Path, device: str) -> Iterator[Tensor]:
    """Frames by PyNvVideoCodec's ThreadedDecoder, on the GPU: its RGBP is [3 H, W] or [3, H, W]."""
    if device != "cuda":
        raise RuntimeError("only on a GPU")
    import PyNvVideoCodec

    decoder = PyNvVideoCodec.ThreadedDecoder(
        str(clip), buffer_size=16, output_color_type=PyNvVideoCodec.OutputColorType.RGBP
    )
    try:
        while frames := decoder.get_batch_frames(8):
            for frame in frames:
                planes = torch.from_dlpack(frame)
                yield planes if planes.ndim == 3 else planes.reshape(3, -1, planes.shape[-1])
    finally:
        decoder.end()


OTHERS: dict[str, Callable[[Path, str], Iterator[Tensor]]] = {
    "torchcodec": torchcodec_frames,
    "PyNvVideoCodec": nvidia_frames,
    "decord": decord_frames,
    "PyAV": av_frames,
    "OpenCV": opencv_frames,
}


def other_rate(frames: Callable[[Path, str], Iterator[Tensor]], clip: Path, device: str, most: int) -> float:
    """Frames a second of another decoder with torch's patches, opening included."""
    shape = next(sc.Stream(clip, lattice="nested", device="cpu", fixation="center"))
    work = TorchPatches(shape.geometry, shape.size, shape.patch_size, device)
    begin, count = time.perf_counter(), 0
    with torch.no_grad():
        for frame in islice(frames(clip, device), most):
            work(frame)
            count += 1
    if device == "cuda":
        torch.cuda.synchronize()
    return count / (time.perf_counter() - begin)


def bench_others(clips: list[Path], pairs: int, device: str, most: int) -> None:
    """Stream against the same work by others, opening included on both sides."""
    print(
        "| clip | by | frames/s | Stream, frames/s | Stream is faster by, median (min .. max) |\n|---|---|---|---|---|"
    )
    for clip in clips:
        mine = partial(whole_rate, clip, device=device, dtype="f32", frames=most)
        works: dict[str, Callable[[], float]] = {"Stream": mine}
        for name, frames in OTHERS.items():
            try:
                next(iter(frames(clip, device)))
            except (ImportError, RuntimeError, OSError) as error:
                print(f"{name} is left out: {str(error).splitlines()[0]}")
                continue
            works[name] = partial(other_rate, frames, clip, device, most)
        rates = in_pairs(works, pairs)
        stream = statistics.median(rates["Stream"])
        for name in works:
            if name != "Stream":
                rate = statistics.median(rates[name])
                print(
                    f"| {clip.name} | {name} | {rate:.0f} | {stream:.0f} | {ratio(rates, 'Stream', name)} |", flush=True
                )


# ---- many in one process ---------------------------------------------------------------------------------------------


def bare_frames(clip: Path) -> int:
    """All frames by PyNvVideoCodec's ThreadedDecoder as NVDEC makes them, used for nothing."""
    import PyNvVideoCodec

    decoder = PyNvVideoCodec.ThreadedDecoder(str(clip), buffer_size=16)
    count = 0
    while frames := decoder.get_batch_frames(8):
        count += len(frames)
    decoder.end()
    return count


def stream_frames(clip: Path) -> int:
    """All frames by a Stream, their patches left on the GPU."""
    return sum(1 for _ in sc.Stream(clip, lattice="nested", device="cuda", every="frame"))


def threads_rate(work: Callable[[Path], int], clip: Path, count: int) -> float:
    """Frames a second of so many side by side, opening included."""
    begin = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        frames = sum(pool.map(work, [clip] * count))
    torch.cuda.synchronize()
    return frames / (time.perf_counter() - begin)


def bench_threads(clips: list[Path], pairs: int) -> None:
    """Streams against bare decoders."""
    print("| clip | threads | PyNvVideoCodec, frames/s | Stream, frames/s | ratio, median (min .. max) |")
    print("|---|---|---|---|---|")
    for clip in clips:
        for count in (1, 8, 14):
            works = {
                name: partial(threads_rate, work, clip, count)
                for name, work in (("Stream", stream_frames), ("bare", bare_frames))
            }
            rates = in_pairs(works, pairs)
            bare, stream = (statistics.median(rates[name]) for name in ("bare", "Stream"))
            found = f"| {clip.name} | {count} | {bare:.0f} | {stream:.0f} | {ratio(rates, 'Stream', 'bare')} |"
            print(found, flush=True)


def main() -> None:
    """Run one of the five."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["dump", "cost", "ahead", "others", "threads"])
    parser.add_argument("clips", nargs="*", type=Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--frames", type=int, default=300, help="of `others`: at most so many of a clip")
    parser.add_argument("--work-ms", type=float, default=2.0, help="of `ahead`")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    arguments = parser.parse_intermixed_args()
    if arguments.what == "cost":
        bench_cost(arguments.pairs, arguments.device)
    elif not arguments.clips:
        parser.error("name a clip")
    elif arguments.what == "ahead":
        bench_ahead(arguments.clips, arguments.pairs, arguments.device, arguments.work_ms)
    elif arguments.what == "threads":
        bench_threads(arguments.clips, arguments.pairs)
    elif arguments.what == "dump":
        bench_dump(arguments.clips, arguments.pairs, arguments.device)
    else:
        bench_others(arguments.clips, arguments.pairs, arguments.device, arguments.frames)


if __name__ == "__main__":
    main()
