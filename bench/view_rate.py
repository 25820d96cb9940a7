#!/usr/bin/env python3
"""Frames a second that `saccade view` shows of a clip, on a virtual screen with the software renderer, and what it dropped."""
import argparse
import json
import os
import statistics
import subprocess
import threading
import time


def ticks(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def virtual_screen():
    reader, writer = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "1920x1200x24", "-nolisten", "tcp"],
                              pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return server, ":" + pipe.readline().strip()


def measure(options, clip):
    server, display = virtual_screen()
    viewer = subprocess.Popen([options.saccade, "view", clip, "--json", "--loop", "--size", options.size, "--view", options.view,
                               "--show", "panel,marks" if options.overlay == "on" else "marks"], env={**os.environ, "DISPLAY": display},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    states = []
    reader = threading.Thread(target=lambda: states.extend(map(json.loads, viewer.stdout)), daemon=True)
    reader.start()
    while not states and viewer.poll() is None:
        time.sleep(0.05)
    time.sleep(1)  # shaders are compiled by now
    begin, used, first = time.monotonic(), ticks(viewer.pid), len(states) - 1
    time.sleep(options.seconds)
    seconds, used, last = time.monotonic() - begin, ticks(viewer.pid) - used, len(states) - 1
    viewer.terminate()
    viewer.wait()
    server.terminate()
    server.wait()
    before, after = states[first], states[last]
    draws = [state["draw_ms"] for state in states[first:last]]
    late = after["dropped_late"] - before["dropped_late"]
    stages = ", ".join(f"{name} {times['p50_ms']:.2f}" for name, times in after["stages"].items())
    print(f"{os.path.basename(clip)} view {options.view}, overlay {options.overlay}, {options.size}: "
          f"{(after['frames'] - before['frames']) / seconds:.2f} frames/s over {seconds:.0f} s, {late} dropped; "
          f"{100 * used / seconds:.0f} % of a core; draw {statistics.median(draws):.1f} ms; {stages}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--saccade", default="build/release/app/saccade")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--view", default="frame")
    parser.add_argument("--overlay", default="on", choices=["on", "off"])
    options = parser.parse_args()
    for clip in options.clips:
        measure(options, clip)


if __name__ == "__main__":
    main()
