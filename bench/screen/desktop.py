"""A screen of its own with programs on it, and its pixels by XGetImage."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


class _XImage(ctypes.Structure):
    _fields_ = (("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int), ("format", ctypes.c_int),
                ("data", ctypes.c_void_p))  # fmt: skip


class Desktop:
    """Xvfb, and what runs on it; all ends with the context."""

    def __init__(self, width: int, height: int) -> None:
        self.size = width, height
        self._programs: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Desktop:
        width, height = self.size
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._server.stdout is not None
        self.display = f":{self._server.stdout.readline().strip()}"
        self.server_pid = self._server.pid
        self.environment = {**os.environ, "DISPLAY": self.display}
        self._x = ctypes.CDLL("libX11.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XDefaultRootWindow.restype = ctypes.c_ulong
        self._x.XGetImage.restype = ctypes.POINTER(_XImage)
        self._connection = ctypes.c_void_p(self._x.XOpenDisplay(self.display.encode()))
        self._root = ctypes.c_ulong(self._x.XDefaultRootWindow(self._connection))
        return self

    def __exit__(self, *_: object) -> None:
        self._x.XCloseDisplay(self._connection)
        for program in tuple(self._programs):
            self.end(program)
        self._server.terminate()
        self._server.wait()

    def run(self, *command: str, cwd: Path = ROOT) -> subprocess.Popen[str]:
        program = subprocess.Popen(
            command,
            env=self.environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._programs.append(program)
        return program

    def end(self, program: subprocess.Popen[str]) -> None:
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        self._programs.remove(program)

    def stop(self, stopped: bool) -> None:
        """Have no program draw, or all again."""
        for program in self._programs:
            os.killpg(program.pid, signal.SIGSTOP if stopped else signal.SIGCONT)

    def do(self, *words: object) -> str:
        """xdotool."""
        done = subprocess.run(
            ["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def grab(self) -> np.ndarray:
        """[H, W, 3] u8 of the screen without the pointer, by XGetImage: the server does nothing else meanwhile."""
        width, height = self.size
        image = self._x.XGetImage(self._connection, self._root, 0, 0, width, height, ctypes.c_ulong(~0), 2)
        pixels = np.ctypeslib.as_array(
            ctypes.cast(image.contents.data, ctypes.POINTER(ctypes.c_uint8)), (height, width, 4)
        )
        copy = pixels[..., 2::-1].copy()
        self._x.XDestroyImage(image)
        return copy

    def work(self, rng: random.Random) -> None:
        """Something that a person does: type, scroll, drag, or move the pointer."""
        width, height = self.size
        deed = rng.randrange(4)
        if deed == 0:
            self.do("type", "--delay", 1, "the quick brown fox "[: rng.randrange(1, 20)])
        elif deed == 1:
            self.do("key", rng.choice(("Return", "BackSpace", "Page_Up", "shift+Page_Up")))
        elif deed == 2 and (windows := self.do("search", "--onlyvisible", "--class", "xterm").split()):
            self.do("windowmove", rng.choice(windows), rng.randrange(width // 2), rng.randrange(height // 2))
        else:
            self.do("mousemove", rng.randrange(width), rng.randrange(height))

    def start_office(self) -> None:
        """Terminals, one that scrolls, and a video."""
        loop = "while true; do date; ls -l; sleep 0.2; done"
        self.run("xterm", "-geometry", "90x30+20+20")
        self.run("xterm", "-geometry", "90x30+700+20", "-e", f"sh -c '{loop}'")
        self.run("ffplay", "-loglevel", "quiet", "-loop", "0", "-left", "40", "-top", "480", "-x", "640", "-y", "360",
                 "assets/demo.mp4")  # fmt: skip
        time.sleep(4)
