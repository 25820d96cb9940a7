"""Pictures of the viewer, a screen to open its window on, and how to compare pictures."""
import json
import os
import pathlib
import queue
import shutil
import subprocess
import threading
import time

import numpy as np
from patience import PATIENCE
from program import SACCADE, FolderTest, ffmpeg, make_clip, saccade
from required import skip_or_fail

GOLDEN = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"]) / "tests" / "ui" / "golden"


def read_png(path):
    """[H, W, 3] u8, decoded by ffmpeg."""
    size = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", str(path)],
                          check=True, capture_output=True, text=True).stdout
    width, height = map(int, size.strip().strip(",").split(","))
    return np.frombuffer(ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"), np.uint8).reshape(height, width, 3)


def difference(one, other):
    """(largest, mean) absolute difference of two pictures of one size."""
    apart = np.abs(one.astype(int) - other.astype(int))
    return int(apart.max()), float(apart.mean())


def shoot(folder, source, *arguments, t="0"):
    """The picture that the viewer makes of `source` without a window."""
    path = pathlib.Path(folder) / f"shot-{time.monotonic_ns()}.png"
    result = saccade("view", source, "--offscreen", "--screenshot", f"{t}={path}", *arguments)
    if result.returncode == 69:
        skip_or_fail("gl", result.stderr.strip())
    if result.returncode != 0 or "OpenGL" in result.stderr:
        raise AssertionError(f"exit {result.returncode}: {result.stderr}")
    return read_png(path)


def damaged_clip(folder):
    """Two seconds of which some bytes in the middle are wrong; the container is whole."""
    clip = pathlib.Path(make_clip(pathlib.Path(folder) / "damaged.ts", "testsrc2=size=160x120:rate=25:duration=2", "-g", "10"))
    data = bytearray(clip.read_bytes())
    middle = len(data) // 2 // 188 * 188
    for packet in range(middle, middle + 8 * 188, 188):
        data[packet + 100:packet + 180] = bytes(80)
    clip.write_bytes(data)
    return clip


class Screen:
    """An X server without a monitor."""

    def __init__(self, size="1400x900x24"):
        for tool in ("Xvfb", "xdotool"):
            if shutil.which(tool) is None:
                skip_or_fail("gl", f"{tool} is not installed")
        reader, writer = os.pipe()
        self.process = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
                                        pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            number = pipe.readline().strip()
        if not number:
            skip_or_fail("gl", "Xvfb did not start")
        self.display = f":{number}"
        self.environment = {**os.environ, "DISPLAY": self.display}
        for name in ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE"):  # no compositor's window: GLFW 3.4 would prefer it
            self.environment.pop(name, None)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, capture_output=True,
                              text=True, timeout=60 * PATIENCE).stdout.strip()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class ViewerProcess:
    """The program, and the state that it tells on stdout, a line of JSON each time."""

    def __init__(self, source, *arguments, environment):
        self.process = subprocess.Popen([SACCADE, "view", source, "--json", *map(str, arguments)], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.history = []
        self.errors = []
        self.readers = [threading.Thread(target=self._read, daemon=True),
                        threading.Thread(target=lambda: self.errors.extend(self.process.stderr), daemon=True)]
        for reader in self.readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))

    def drain(self):
        while True:
            try:
                self.history.append(self.lines.get_nowait())
            except queue.Empty:
                return self.history[-1] if self.history else None

    def wait_for(self, wanted, what, seconds=60):
        """The first state, from the newest known on, for which `wanted` holds."""
        end = time.monotonic() + seconds * PATIENCE
        state = self.drain()
        while state is None or not wanted(state):
            if self.process.poll() is not None and self.lines.empty():
                raise AssertionError(f"the viewer ended ({self.process.returncode}) before: {what}; {''.join(self.errors)}")
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds * PATIENCE} s: {what}; last state {state}; {''.join(self.errors)}")
            try:
                state = self.lines.get(timeout=0.2)
                self.history.append(state)
            except queue.Empty:
                pass
        return state

    def cpu_s(self):
        """User and system time of the program so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def finish(self):
        """Exit code, after the program ended by itself."""
        code = self.process.wait(timeout=60 * PATIENCE)
        for reader in self.readers:
            reader.join(timeout=10)
        self.drain()
        return code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(timeout=10)
        self.process.stdout.close()
        self.process.stderr.close()


class WindowedViewer(ViewerProcess):
    """In a window on `screen`."""

    def __init__(self, screen, source, *arguments, environment=None):
        super().__init__(source, *arguments, environment={**screen.environment, **(environment or {})})
        self.screen = screen
        self.window = None

    def find_window(self):
        self.wait_for(lambda state: state["frame"] >= 0, "a first frame")
        self.window = self.screen.xdotool("search", "--sync", "--onlyvisible", "--pid", self.process.pid).split()[0]
        self.screen.xdotool("windowfocus", "--sync", self.window)
        return self.window

    def key(self, *names):
        self.screen.xdotool("key", "--clearmodifiers", *names)


class WindowTest(FolderTest):
    """A screen, and viewers in windows of this size on it, which run in the test's folder."""
    size = (640, 360)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.screen = Screen()
        cls.addClassCleanup(cls.screen.close)

    def open(self, source, *arguments):
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            viewer = WindowedViewer(self.screen, source, "--size", "{}x{}".format(*self.size), *arguments)
        finally:
            os.chdir(before)
        self.addCleanup(viewer.kill)
        viewer.find_window()
        return viewer

    def quit(self, viewer, key="q"):
        viewer.key(key)
        self.assertEqual(viewer.finish(), 0, "".join(viewer.errors))
        self.assertNotIn("OpenGL", "".join(viewer.errors))
        self.assertEqual(viewer.history[-1]["event"], "end")
