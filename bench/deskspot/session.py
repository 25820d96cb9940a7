"""A desktop of its own: Xvfb, a D-Bus session with the accessibility bus, and a light window manager."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

SIZE = (3840, 2160)  # pixels, W x H

PACKAGES = {  # what the bench runs, and the Debian package that has it
    "Xvfb": "xvfb",
    "openbox": "openbox",
    "xdotool": "xdotool",
    "ffmpeg": "ffmpeg",
    "dbus-daemon": "dbus",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
    "/usr/lib/x86_64-linux-gnu/gtk-2.0/modules/libgail.so": "libgail-common",
    "lowriter": "libreoffice-writer",
    "localc": "libreoffice-calc",
    "/usr/lib/libreoffice/program/libvclplug_gtk3lo.so": "libreoffice-gtk3",
    "gimp": "gimp",
    "inkscape": "inkscape",
    "chromium": "chromium",
    "xfce4-terminal": "xfce4-terminal",
    "tesseract": "tesseract-ocr",
}
MODULES = {"pyatspi": "python3-pyatspi", "PIL": "python3-pil"}

GTK3 = "[Settings]\ngtk-cursor-blink=false\ngtk-enable-animations=false\ngtk-theme-name=Adwaita\n"
GTK2 = "gtk-cursor-blink = 0\n"


def missing_packages() -> list[str]:
    """The Debian packages that the capture needs and this machine lacks."""
    import importlib.util

    names = [package for path, package in PACKAGES.items() if not (shutil.which(path) or pathlib.Path(path).exists())]
    names += [package for module, package in MODULES.items() if importlib.util.find_spec(module) is None]
    return names


class Desktop:
    """Starts on entry and ends all that it started on exit. Its programs keep their files in `folder`."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[bytes]] = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="deskspot-"))
        kept = {name: os.environ[name] for name in ("PATH", "TZ") if name in os.environ}
        self.environment = kept | {
            "HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "LANG": "C.UTF-8",
            "LIBGL_ALWAYS_SOFTWARE": "1",
            "GTK_MODULES": "gail:atk-bridge",
            "QT_ACCESSIBILITY": "1",
            "ACCESSIBILITY_ENABLED": "1",
            "GDK_BACKEND": "x11",
            "SAL_USE_VCLPLUGIN": "gtk3",
        }
        for path, text in ((".config/gtk-3.0/settings.ini", GTK3), (".gtkrc-2.0", GTK2)):
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text(text)
        (self.folder / "run").mkdir(mode=0o700)

    def __enter__(self) -> Desktop:
        self.environment["DISPLAY"] = ":" + self._say(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "{}x{}x24".format(*SIZE), "-dpi", "96", "-nolisten", "tcp"]
        )
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self._say(
            ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        )
        self.run("openbox")
        self.ask("xdotool", "mousemove", str(SIZE[0] - 1), str(SIZE[1] - 1))  # where it hovers over nothing
        self.ask("dbus-send", "--session", "--print-reply", "--dest=org.a11y.Bus", "/org/a11y/bus",
                 "org.freedesktop.DBus.Properties.Set", "string:org.a11y.Status", "string:IsEnabled",
                 "variant:boolean:true")  # fmt: skip
        os.environ |= {key: self.environment[key] for key in ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "HOME")}
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._started):
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _say(self, command: list[str]) -> str:
        """Start a server that prints one line when it is ready."""
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   start_new_session=True)  # fmt: skip
        self._started.append(process)
        assert process.stdout is not None
        return process.stdout.readline().decode().strip()

    def run(self, *command: str, **environment: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, env=self.environment | environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
                                   start_new_session=True)  # fmt: skip
        self._started.append(process)
        return process

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a program and what it started: it leads its own process group."""
        for signal_ in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, signal_)
                process.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
        if process in self._started:
            self._started.remove(process)

    def ask(self, *command: str) -> str:
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout

    def window(self, name: str, program: str, seconds: float = 120) -> str:
        """Wait for a top-level window whose title matches `name`, and give its number."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.ask("xdotool", "search", "--onlyvisible", "--name", name).split():
                return found[0]
            time.sleep(0.5)
        raise TimeoutError(f"capture: {program} showed no window in {seconds:.0f} s; see whether it starts by hand")

    def place(self, window: str, x: int, y: int, width: int, height: int) -> None:
        """Move and size a window."""
        self.ask("xdotool", "windowsize", "--sync", window, str(width), str(height))
        self.ask("xdotool", "windowmove", window, str(x), str(y))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.ask("xdotool", "key", "--clearmodifiers", key)
            time.sleep(0.4)

    def grab(self) -> np.ndarray:
        """The screen, [H, W, 3] u8."""
        command = ["ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size", "{}x{}".format(*SIZE)]
        command += ["-i", self.environment["DISPLAY"], "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        raw = subprocess.run(command, capture_output=True, check=True).stdout
        return np.frombuffer(raw, np.uint8).reshape(SIZE[1], SIZE[0], 3)

    def still(self, seconds: float = 90, calm: int = 3, every: float = 1.0) -> np.ndarray:
        """The screen once `calm` grabs in a row were equal; after `seconds` whatever it shows."""
        last, alike, end = self.grab(), 1, time.monotonic() + seconds
        while alike < calm:
            time.sleep(every)
            now = self.grab()
            alike = alike + 1 if np.array_equal(now, last) else 1
            last = now
            if time.monotonic() > end:
                print("capture: the screen still changes; it is taken as it is", file=sys.stderr)
                break
        return last
