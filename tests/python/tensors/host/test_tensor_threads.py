"""The host's work is done on torch's own threads, as many as torch has; in forked processes, which lack them, too."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")

import pysaccade as sc  # noqa: E402
from tensor_support import image  # noqa: E402

CHILD = """
import os, signal, sys, torch
torch.set_num_threads(2)
x = torch.rand(3, 700, 900)
(x + x).sum()  # on two threads, which a child does not have
if sys.argv[1] == "before":
    import pysaccade as sc
    sc.TexturePyramid(x)
right = [x.numpy().astype("f8")]
for _ in range(2):
    a = right[-1]
    right.append((a[:, ::2, ::2] + a[:, ::2, 1::2] + a[:, 1::2, ::2] + a[:, 1::2, 1::2]) / 4)
if os.fork() == 0:
    signal.alarm(60)  # one that waits for ever ends by it
    import pysaccade as sc
    found = sc.TexturePyramid(x, levels=3)
    same = all(abs(found.level(n).numpy() - right[n]).max() < 1e-6 for n in range(3))
    os._exit(0 if same else 3)
_, status = os.wait()
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("loaded", ["before", "after"])
def test_forked_process_does_its_work(loaded):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, loaded], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def threads_of_this_process():
    return set(os.listdir("/proc/self/task"))


def test_work_starts_no_thread_beside_torchs():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    seen, done = set(), threading.Event()

    def watch():
        while not done.is_set():
            seen.update(threads_of_this_process())

    watcher = threading.Thread(target=watch)
    try:
        x = image(3, 1024, 1024)
        (x + x).sum()
        watcher.start()
        known = threads_of_this_process()
        for _ in range(200):
            sc.generate_mipmaps(x, 5)
    finally:
        done.set()
        watcher.join()
        torch.set_num_threads(before)
    assert seen <= known
