"""Forks, workers, signals, threads, leaks: what users of other decoders complain of."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import pysaccade as sc
from conftest import ROOT
from stream_support import run_python

BOX = "test://box?size=320x240&frames=40&rate=20"
ROUNDS = int(os.environ.get("SACCADE_LEAK_ROUNDS", "300"))


def numpy_stream(source: object = BOX, **options: object) -> sc.Stream:
    return sc.Stream(source, array="numpy", device="cpu", **options)


def in_child(work) -> str:
    """What work() returns in a forked child, or its exception."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(work())
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        text = file.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return text


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Python 3.12: forks with threads
class TestFork:
    def test_stream_opened_before_a_fork_is_one_clear_error_in_the_child(self):
        """Hangs: torchcodec 766, lerobot 2488."""
        stream = numpy_stream(every="frame")
        next(stream)
        uses = [
            lambda: next(stream),
            lambda: list(stream),
            lambda: list(stream.batched(2)),
            lambda: stream.look(0.5, 0.5),
            lambda: stream.counters,
            lambda: stream.texture.level(0),
            stream.reopen,
        ]
        for use in uses:
            assert in_child(use).startswith("UnavailableError: Stream: it was opened before a fork")
        assert next(stream).frame == 1  # the parent goes on

    def test_child_may_close_collect_and_open_streams_of_its_own(self):
        stream = numpy_stream(every="frame")
        first = next(stream)

        def work():
            nonlocal stream
            stream.close()
            del stream
            gc.collect()
            other = numpy_stream(every="frame")
            np.testing.assert_array_equal(next(other).patches, first.patches)
            return sum(1 for _ in other)

        assert in_child(work) == "39"
        assert next(stream).frame == 1

    def test_cuda_that_was_used_before_the_fork_is_said_to_be_lost(self, monkeypatch: pytest.MonkeyPatch):
        """CUDA in a forked worker: vision 8072. The parent's use is pretended, so that no GPU is needed."""
        from pysaccade._native import _process

        monkeypatch.setattr(_process, "_cuda_was_used", True)
        monkeypatch.setattr(_process, "_forks", 0)
        wanted = numpy_stream(every="frame").geometry
        assert in_child(lambda: sc.Stream(BOX, array="numpy", backend="cuda")).startswith(
            "UnavailableError: Stream: CUDA was used before this process was forked"
        )
        assert in_child(lambda: sc.Stream(BOX, array="numpy").geometry.backend) == "cpu"
        assert in_child(lambda: numpy_stream(every="frame").geometry.lattice) == wanted.lattice

    def test_unopened_stream_opens_in_the_child(self):
        import pickle

        stream = pickle.loads(pickle.dumps(numpy_stream(every="frame")))
        assert in_child(lambda: sum(1 for _ in stream)) == "40"

    def test_fork_while_another_thread_waits(self, tmp_path: Path):
        """Locks that a thread held at the fork are held for ever in the child."""
        os.mkfifo(tmp_path / "pipe")
        held = os.open(tmp_path / "pipe", os.O_RDWR)
        raw = {"input_format": "rawvideo", "input_size": "16x16", "pixel_format": "gray", "stall_timeout": 0}
        os.write(held, bytes(256))
        stream = numpy_stream(tmp_path / "pipe", every="frame", **raw)
        waiter = threading.Thread(target=lambda: list(stream))
        waiter.start()
        try:
            time.sleep(0.1)
            for use in (
                lambda: next(stream),
                lambda: stream.counters,
                lambda: sum(1 for _ in numpy_stream(every="frame")),
            ):
                assert in_child(use) in {"40"} or in_child(use).startswith(
                    "UnavailableError: Stream: it was opened before"
                )
        finally:
            stream.close()
            waiter.join()
            os.close(held)


@pytest.mark.torch
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dataloader_workers_open_pickled_streams(method: str, clip: Path):
    import pickle

    from torch.utils.data import DataLoader

    settings = pickle.dumps(sc.Stream(clip, every=10, frames=50, device="cpu"))
    streams = [pickle.loads(settings) for _ in range(3)]
    loader = DataLoader(_Clips(streams), batch_size=None, num_workers=2, multiprocessing_context=method)
    clips = list(loader)
    assert [len(each) for each in clips] == [5, 5, 5]
    wanted = [emission.patches for emission in sc.Stream(clip, every=10, frames=50, device="cpu")]
    for each in clips:
        for patches, right in zip(each, wanted, strict=True):
            assert patches.equal(right)


class _Clips:
    """A map-style data set of streams."""

    def __init__(self, streams: list[sc.Stream]) -> None:
        self.streams = streams

    def __len__(self) -> int:
        return len(self.streams)

    def __getitem__(self, index: int) -> list:
        return [emission.patches for emission in self.streams[index]]


SILENT = {"open_timeout": 0, "stall_timeout": 0}
RAW = {"input_format": "rawvideo", "input_size": "16x16", "pixel_format": "gray", **SILENT}


@pytest.mark.parametrize("waits", ["opening", "next", "batched"])
def test_ctrl_c_ends_a_wait(waits: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    code = f"""
import os, sys
import pysaccade as sc
held = os.open(sys.argv[1], os.O_RDWR)
if sys.argv[2] != "opening":
    os.write(held, bytes(256))
print("ready", flush=True)
try:
    stream = sc.Stream(sys.argv[1], array="numpy", every="frame", **{RAW!r})
    for _ in stream if sys.argv[2] == "next" else stream.batched(5):
        print("one", flush=True)
except KeyboardInterrupt:
    print("interrupted")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path / "pipe", waits],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if waits == "next":
        assert process.stdout.readline() == "one\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "interrupted\n"
    assert process.returncode == 0


def test_process_may_end_while_a_stream_is_open_and_while_a_thread_waits(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    done = run_python(
        f"""
        import os, sys, threading
        import pysaccade as sc
        unfinished = sc.Stream({BOX!r}, array="numpy")
        next(unfinished)
        held = os.open(sys.argv[1], os.O_RDWR)
        os.write(held, bytes(256))
        waiting = sc.Stream(sys.argv[1], array="numpy", every="frame", **{RAW!r})
        threading.Thread(target=lambda: list(waiting), daemon=True).start()
        print("end")
        """,
        tmp_path / "pipe",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


@pytest.mark.parametrize("waits", ["opening", "next"])
def test_other_threads_run_while_one_waits(waits: str, tmp_path: Path):
    """The GIL held: torchcodec 699, 1701. What the wait is for comes from a Python thread of the same process."""
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)

    def feed() -> None:
        time.sleep(0.2)
        for _ in range(4):
            os.write(held, bytes(range(256)))

    feeder = threading.Thread(target=feed)
    if waits == "next":
        os.write(held, bytes(256))
    else:
        feeder.start()
    stream = numpy_stream(tmp_path / "pipe", every="frame", **RAW)
    if waits == "next":
        next(stream)
        feeder.start()
    assert [next(stream).frame for _ in range(3)][-1] >= 2
    assert (stream.info.duration_ns, stream.info.frame_count) == (None, None)  # of unknown length: torchcodec 695
    feeder.join()
    stream.close()
    os.close(held)


def test_thirty_streams_are_open_at_once():
    """Many decoders cost: torchcodec 527, 715."""
    wanted = [emission.patches for emission in numpy_stream(every=20)]
    streams = [numpy_stream(every=20) for _ in range(30)]
    for right in wanted:
        for stream in streams:
            np.testing.assert_array_equal(next(stream).patches, right)


def test_close_from_another_thread_ends_a_wait(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(held, bytes(256))
    stream = numpy_stream(tmp_path / "pipe", every="frame", **RAW)
    threading.Timer(0.2, stream.close).start()
    assert len(list(stream)) == 1
    assert stream.closed
    os.close(held)


def test_stream_answers_other_threads_while_one_waits(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    held = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(held, bytes(256))
    stream = numpy_stream(tmp_path / "pipe", every="frame", **RAW)
    first = threading.Event()
    waiter = threading.Thread(target=lambda: [first.set() for _ in stream])
    waiter.start()
    assert first.wait(120)
    for _ in range(5):
        assert stream.counters.frames <= 1
        assert stream.texture.level(0).shape == (16, 16)
        stream.look(0.5, 0.5)
    stream.close()
    waiter.join()
    os.close(held)


def test_many_streams_side_by_side_do_not_mix(clip: Path):
    """Corruption across streams: torchcodec 868, 930. Many decoders at once: torchcodec 527, 715."""
    sources = [(clip, {"start": start, "frames": 12, "every": "frame"}) for start in (0, 3, 6)] + [
        (BOX, {"every": 3})
    ] * 3
    wanted = [[emission.patches for emission in numpy_stream(source, **options)] for source, options in sources]
    found: list[list[np.ndarray] | None] = [None] * len(sources)

    def work(index: int) -> None:
        source, options = sources[index]
        found[index] = [emission.patches for emission in numpy_stream(source, **options)]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(sources))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for right, mine in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(right, mine)
    interleaved = [numpy_stream(source, **options) for source, options in sources]
    for step in range(8):
        for index, stream in enumerate(interleaved):
            np.testing.assert_array_equal(next(stream).patches, wanted[index][step])


@pytest.mark.parametrize("fixation", ["saliency", lambda _: None, [[0, 0.5, 0.5]]], ids=["policy", "callable", "path"])
def test_stream_is_collected_without_close(fixation: object):
    stream = numpy_stream(fixation=fixation)
    next(stream)
    gone = weakref.ref(stream)
    gc.disable()
    try:
        del stream
        assert gone() is None  # no reference in a circle
    finally:
        gc.enable()


@pytest.mark.timeout(max(300, ROUNDS))
def test_memory_threads_and_files_stay_flat_over_open_iterate_close(clip: Path):
    """Leaks over 10,000 rounds: torchcodec 747, decord 27. SACCADE_LEAK_ROUNDS sets how many."""
    done = run_python(
        """
        import ctypes, gc, os, resource, sys
        import numpy as np
        import pysaccade as sc
        from pysaccade._native import _abi, _calls
        rounds, clip = int(sys.argv[1]), sys.argv[2]

        def facts():
            gc.collect()
            ctypes.CDLL(None).malloc_trim(0)  # what the allocator keeps for later is no leak
            with open("/proc/self/statm") as file:
                resident = int(file.read().split()[1]) * resource.getpagesize()
            use = _calls.new(_abi.saccade_memory_use)
            _calls.check(_calls.library().saccade_get_memory_use(ctypes.byref(use)))
            counts = (len(os.listdir(f"/proc/self/{what}")) for what in ("fd", "task"))
            return resident, *counts, use.streams, use.emissions

        for number in range(rounds):
            how = number % 6
            settings = {"array": "numpy", "device": "cpu", "every": "frame"}
            if how < 4:
                stream = sc.Stream(clip, threads=1, **settings)
            elif how == 4:
                look = lambda stream: stream.texture.level(6)[0, :2] / 255
                stream = sc.Stream(clip, threads=1, fixation=look, **settings)
            else:
                stream = sc.Stream([np.full((480, 640, 3), n, np.uint8) for n in range(9)], **settings)
                stream.attend(np.eye(3))
            for index, emission in enumerate(stream):
                if index == 1 + how:
                    break
            if how == 0:
                stream.close()
            if how == 1:
                stream.reopen()
            if how == 2:
                try:
                    stream.reopen("nowhere.mp4")
                except sc.InputError:
                    pass
            del stream, emission
            if number in (rounds // 3, rounds - 1):
                print(*facts())
        """,
        ROUNDS,
        clip,
        timeout=max(240, ROUNDS),
    )
    assert (done.returncode, done.stderr) == (0, "")
    (early, *early_counts), (late, *late_counts) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert late_counts == early_counts
    assert late_counts[2:] == [0, 0]
    assert late - early < 12 << 20, f"{early} -> {late} bytes"


@pytest.mark.parametrize(
    "order", ["av cv2 pysaccade torchcodec", "pysaccade torchcodec av cv2", "torchcodec pysaccade cv2 av"]
)
def test_other_ffmpegs_in_the_process_do_no_harm(order: str, clip: Path):
    """Two FFmpegs in one process."""
    done = run_python(
        """
        import importlib, sys
        found = []
        for name in sys.argv[2].split():
            try:
                found.append(importlib.import_module(name))
            except (ImportError, RuntimeError, OSError):
                assert name != "pysaccade"
        import pysaccade as sc
        clip = sys.argv[1]
        def mine():
            return [emission.patches.sum() for emission in sc.Stream(clip, array="numpy", device="cpu", frames=30)]
        before = mine()
        if "av" in sys.modules:
            with sys.modules["av"].open(clip) as container:
                next(container.decode(video=0)).to_ndarray(format="rgb24")
        if "cv2" in sys.modules:
            assert sys.modules["cv2"].VideoCapture(clip).read()[0]
        if "torchcodec" in sys.modules:
            from torchcodec.decoders import VideoDecoder
            VideoDecoder(clip)[0]
        assert mine() == before
        print(len(found))
        """,
        clip,
        order,
    )
    assert done.returncode == 0, done.stderr
    if int(done.stdout) == 1:
        pytest.skip("none of av, cv2, torchcodec is installed")
