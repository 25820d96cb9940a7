"""A Wayland desktop without a monitor or systemd: dbus-daemon, PipeWire, WirePlumber, sway and the desktop's portal, begun by hand."""
import os
import pathlib
import shutil
import subprocess
import time

import numpy as np
from live_support import build_shim
from patience import wait_for
from program import ffmpeg
from required import skip_or_fail

PORTAL = "org.freedesktop.portal.Desktop"
BACKEND = "org.freedesktop.impl.portal.desktop.wlr"
BUS = """<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""
PROGRAMS = {"dbus-daemon": "dbus-daemon", "pipewire": "pipewire", "wireplumber": "wireplumber", "sway": "sway", "backend": "/usr/libexec/xdg-desktop-portal-wlr",
            "portal": "/usr/libexec/xdg-desktop-portal"}


class Bus:
    """A session bus and PipeWire of their own, in a folder of a short name: a socket's path has 107 bytes at most. Programs by name in `processes`; `environment` is for those that use it."""

    def __init__(self, folder):
        for program in [*PROGRAMS.values(), "swaybg", "foot", "grim"]:
            if shutil.which(program) is None:
                skip_or_fail("wayland", f"{program} is not installed")
        self.folder = pathlib.Path(folder)
        self.runtime = self.folder / "run"
        self.runtime.mkdir(parents=True, mode=0o700)
        self.processes = {}
        self.environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "SWAYSOCK", "LD_PRELOAD")}
        self.environment.update(XDG_RUNTIME_DIR=str(self.runtime), XDG_CONFIG_HOME=str(self.folder / "config"), XDG_STATE_HOME=str(self.folder / "state"),
                                HOME=str(self.folder), XDG_CURRENT_DESKTOP="sway", XDG_SESSION_TYPE="wayland",
                                DBUS_SESSION_BUS_ADDRESS=f"unix:path={self.runtime}/bus")
        (self.folder / "bus.conf").write_text(BUS.format(path=self.runtime / "bus"))
        self.start("dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile")
        wait_for((self.runtime / "bus").exists, missing="the session bus")
        self.start("pipewire")
        wait_for((self.runtime / "pipewire-0").exists, missing="PipeWire")
        self.start("wireplumber")

    def start(self, name, *arguments, program=None, environment=None):
        log = open(self.folder / f"{name}.log", "w")  # noqa: SIM115
        self.processes[name] = subprocess.Popen([program or PROGRAMS[name], *map(str, arguments)], env=environment or self.environment,
                                                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        return self.processes[name]

    def has(self, name):
        asked = subprocess.run(["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner",
                                f"string:{name}"], env=self.environment, capture_output=True, text=True, check=False)
        return "boolean true" in asked.stdout

    def kill(self, name):
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self):
        for name in reversed(list(self.processes)):
            self.kill(name)


class Desktop(Bus):
    """sway, whose output HEADLESS-1 the portal shares without a dialog."""

    def __init__(self, folder, width, height):
        super().__init__(folder)
        config = self.folder / "config"
        (config / "xdg-desktop-portal-wlr").mkdir(parents=True)
        (config / "xdg-desktop-portal-wlr" / "config").write_text("[screencast]\nchooser_type=none\noutput_name=HEADLESS-1\nmax_fps=60\n")
        (config / "sway.conf").write_text(f"output HEADLESS-1 resolution {width}x{height}\noutput HEADLESS-1 bg #203040 solid_color\n"
                                          "default_border none\nfocus_follows_mouse no\n")
        self.shim = {"LD_PRELOAD": build_shim(self.folder, "wayland_shim")["LD_PRELOAD"]}
        self.start_sway()
        self.start_portal()

    def start_sway(self):
        for stale in (*self.runtime.glob("wayland-*"), *self.runtime.glob("sway-ipc.*")):
            stale.unlink()
        self.start("sway", "-c", self.folder / "config" / "sway.conf",
                   environment={**self.environment, **self.shim, "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman", "WLR_LIBINPUT_NO_DEVICES": "1"})
        wait_for(lambda: list(self.runtime.glob("wayland-?")) and list(self.runtime.glob("sway-ipc.*.sock")), missing="sway")
        self.environment["WAYLAND_DISPLAY"] = next(self.runtime.glob("wayland-?")).name
        self.environment["SWAYSOCK"] = str(next(self.runtime.glob("sway-ipc.*.sock")))

    def start_portal(self):
        self.start("backend", environment={**self.environment, **self.shim})
        wait_for(lambda: self.has(BACKEND), missing="the portal's backend")
        self.start("portal")
        wait_for(lambda: self.has(PORTAL), missing="the portal")

    def sway(self, *command):
        subprocess.run(["swaymsg", "-q", *map(str, command)], env=self.environment, check=True)

    def paint(self, color):
        """Another colour behind all windows: six hexadecimal digits."""
        self.sway("output", "HEADLESS-1", "bg", f"#{color}", "solid_color")

    def grab(self):
        """What wlr-screencopy shows, without the pointer: [H, W, 3] u8."""
        path = self.folder / f"grab-{time.monotonic_ns()}.png"
        subprocess.run(["grim", "-o", "HEADLESS-1", str(path)], env=self.environment, check=True)
        size = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0", str(path)],
                              check=True, capture_output=True, text=True).stdout
        width, height = map(int, size.strip().strip(",").split(","))
        return np.frombuffer(ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"), np.uint8).reshape(height, width, 3)


class Terminal:
    """foot, which fills the output and shows what is written to it."""

    def __init__(self, desktop):
        self.path = desktop.folder / "letters"
        os.mkfifo(self.path)
        desktop.start("foot", "--font=monospace:pixelsize=13", "--override=cursor.blink=no", "cat", self.path, program="foot")
        self.fifo = open(self.path, "w")  # noqa: SIM115
        self.fifo.flush()

    def write(self, text):
        self.fifo.write(text)
        self.fifo.flush()

    def close(self):
        self.fifo.close()
