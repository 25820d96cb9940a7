"""Live sources on loopback for the tests: a fake camera, RTSP by GStreamer, MPEG-TS by ffmpeg. Each is stopped with its test."""
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import unittest

import numpy as np
from patience import PATIENCE, wait_for
from program import FolderTest
from required import required

HERE = pathlib.Path(__file__).resolve().parent
SACCADE = os.environ.get("SACCADE_BIN", "saccade")
LIVE_TYPE = np.dtype([("captured_unix_ns", "<i8"), ("age_ns", "<i8"), ("gaps", "<i4")])


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(type=kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    """Whether a TCP socket listens on the port; asked of the kernel, for a connection would be the sender's only one."""
    tables = [path for path in map(pathlib.Path, ("/proc/net/tcp", "/proc/net/tcp6")) if path.exists()]
    entries = [line.split() for path in tables for line in path.read_text().splitlines()[1:]]
    return any(entry[1].endswith(f":{port:04X}") and entry[3] == "0A" for entry in entries)


def gstreamer_fault():
    """Why no RTSP server can run here; empty: it can."""
    code = ("import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0');"
            "from gi.repository import Gst, GstRtspServer; Gst.init(None);"
            "assert Gst.ElementFactory.find('rtph264pay') and Gst.ElementFactory.find('appsrc')")
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def rtsp_needed(test):
    """Skips a test, or fails it where SACCADE_REQUIRE has rtsp, when there is no RTSP server."""
    fault = gstreamer_fault()
    if fault and required("rtsp"):
        raise AssertionError(f"SACCADE_REQUIRE has rtsp, but: {fault}")
    return unittest.skipIf(fault, f"no RTSP server of GStreamer's: {fault}")(test)


class LiveTest(FolderTest):
    """A temporary folder; processes that end with the test."""

    def setUp(self):
        self.out = self.folder / f"out-{self.id().rsplit('.', 1)[-1]}"

    def start(self, *command, **options):
        process = subprocess.Popen([str(part) for part in command], **{"stdin": subprocess.DEVNULL, "text": True, **options})

        def end():
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

        self.addCleanup(end)
        return process

    def saccade(self, *arguments, **options):
        return self.start(SACCADE, *arguments, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})

    def dump(self, source, *options, env=None, stdin=None):
        """A dump of every frame, begun."""
        return self.saccade("dump", source, "-o", self.out, "--every", "frame", "--fixation", "center", *options,
                            **({"env": env} if env else {}), **({"stdin": stdin} if stdin else {}))

    def finish(self, process, code, *words, seconds=120):
        """Waits for the end: this exit code and these words on stderr. Returns stdout and stderr."""
        output, errors = process.communicate(timeout=seconds * PATIENCE)
        self.assertEqual(process.returncode, code, errors)
        for word in words:
            self.assertIn(word, errors)
        return output, errors

    def arrays(self):
        return {name: np.load(self.out / f"{name}.npy", mmap_mode="r") for name in ("patches", "geometry", "changed", "index", "live")}

    def manifest(self):
        return json.loads((self.out / "manifest.json").read_text())

    def meta(self):
        return json.loads((self.out / "meta.json").read_text())

    def rows(self):
        """How many emissions the dump shows on disk by now."""
        try:
            return len(np.load(self.out / "index.npy", mmap_mode="r"))
        except (OSError, ValueError):
            return 0

    def wait_for_rows(self, count, process):
        wait_for(lambda: self.rows() >= count or process.poll() is not None, missing=lambda: f"{self.rows()} rows")
        if process.poll() is not None:
            self.fail(f"ended early, exit {process.returncode}: {process.communicate()[1]}")

    def stop(self, process, sign=signal.SIGINT):
        """Ends a live dump as a person does; it is complete then."""
        process.send_signal(sign)
        self.finish(process, 4, "stopped")
        self.assertTrue(self.manifest()["complete"])


def make_h264(path, frames=50, size="320x240", rate=25, graph=None):
    """An H.264 byte stream with delimiters, a key frame twice a second."""
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", graph or f"testsrc2=size={size}:rate={rate}", "-frames:v", str(frames),
                    "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", f"keyint={rate // 2}:aud=1",
                    "-pix_fmt", "yuv420p", "-f", "h264", str(path)], check=True)
    return path


def start_rtsp(test, clip, port, rate=25, *options):
    server = test.start("/usr/bin/python3", HERE / "rtsp_server.py", port, clip, rate, *options, stdout=subprocess.PIPE)
    if server.stdout.readline().strip() != "ready":
        raise AssertionError("the RTSP server did not start")
    return server


def build_shim(folder, name):
    """A shared library of one of the C files here, for LD_PRELOAD; and the environment that loads it."""
    library = pathlib.Path(folder) / f"{name}.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / f"{name}.c", "-ldl"], check=True)
    checks = os.environ.get("ASAN_OPTIONS", "")
    return {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": f"{checks}:verify_asan_link_order=0".lstrip(":")}


def write_pictures(path, pictures):
    """The fake camera's file format."""
    with open(path, "wb") as file:
        file.write(struct.pack("<I", len(pictures)) + struct.pack(f"<{len(pictures)}I", *map(len, pictures)) + b"".join(pictures))
    return str(path)
