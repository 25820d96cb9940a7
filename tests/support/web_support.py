"""The viewer that serves a page, a client that speaks to it without a browser, and a relay as a proxy would be."""
import asyncio
import json
import os
import re
import signal
import socket
import struct
import threading
import time

from browser import connect, websockets
from patience import PATIENCE
from required import skip_or_fail
from view_support import ViewerProcess

HEADER = struct.Struct("<BBBxIIHHq8x")
TOKEN = "0123456789abcdef0123456789abcdef"


class ServedViewer(ViewerProcess):
    """Serves `source`; where: what --serve is given."""

    def __init__(self, source, *arguments, where="127.0.0.1:0", token=TOKEN, environment=None):
        settings = {**os.environ, **({"SACCADE_TOKEN": token} if token else {}), **(environment or {})}
        super().__init__(source, "--serve", where, *arguments, environment=settings)
        try:
            self.at = self.wait_for(lambda line: line["event"] == "listening", "where it listens")
        except AssertionError:
            self.kill()
            if self.process.returncode == 69:
                skip_or_fail("gl", "".join(self.errors))
            raise
        self.url, self.watch_url, self.port = self.at["url"], self.at["watch_url"], self.at["port"]
        self.base = self.url.split("#")[0]
        self.watch_token = self.watch_url.split("#")[1]

    def states(self):
        return [line for line in self.history if line["event"] != "listening"]

    def cpu_s(self):
        """User and system time of the program so far."""
        fields = open(f"/proc/{self.process.pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self):
        text = open(f"/proc/{self.process.pid}/status", encoding="ascii").read()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) * 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.finish()


class WebClient:
    """A page without a browser: says hello, acknowledges, gathers what is told."""

    def __init__(self, port, token=TOKEN, path="/socket", origin=None, hello=True, version=1, acks=True, host="127.0.0.1"):
        if websockets is None:
            skip_or_fail("browser", "python3-websockets is not installed")
        self.loop = asyncio.new_event_loop()
        self.acks = acks
        self.pictures, self.files, self.texts = [], [], []
        self.state, self.role = {}, {}
        self.number = 0
        self.close_code, self.close_reason = None, ""
        self.bytes = 0
        options = {"origin": origin} if origin else {}
        try:
            self.socket = connect(self.loop, f"ws://{host}:{port}{path}", compression=None, **options)
        except BaseException:
            self.loop.close()
            raise
        if hello:
            self.say(f"hello {version} {token}")

    def say(self, text):
        try:
            self.loop.run_until_complete(self.socket.send(text))
        except websockets.ConnectionClosed as closed:
            self._note_close(closed)

    def send(self, kind, *rest):
        """An input; returns its number."""
        self.number += 1
        self.say(" ".join(map(str, (kind, self.number, *rest))))
        return self.number

    def _note_close(self, closed):
        self.close_reason = closed.rcvd.reason if getattr(closed, "rcvd", None) else getattr(closed, "reason", "")
        self.close_code = getattr(closed, "code", None) or (closed.rcvd.code if getattr(closed, "rcvd", None) else 1006)

    def receive(self, seconds=0.2):
        """Takes one message; None: none came, or the connection is closed."""
        async def take():
            return await asyncio.wait_for(self.socket.recv(), seconds)
        try:
            data = self.loop.run_until_complete(take())
        except asyncio.TimeoutError:
            return None
        except websockets.ConnectionClosed as closed:
            self._note_close(closed)
            return None
        self._take(data)
        return data

    def _take(self, data):
        if isinstance(data, str):
            message = json.loads(data)
            self.texts.append(message)
            if message["type"] == "state":
                self.state = message
            elif message["type"] == "role":
                self.role = message
            return
        self.bytes += len(data)
        kind, flags, rung, seq, applied, width, height, pts_ns = HEADER.unpack_from(data)
        if kind == 2:
            name, content = data[32:].split(b"\0", 1)
            self.files.append((name.decode(), content))
            return
        self.pictures.append({"seq": seq, "sharp": bool(flags & 1), "rung": rung, "applied": applied, "size": (width, height),
                              "pts_ns": pts_ns, "jpeg": data[32:], "at": time.monotonic()})
        del self.pictures[:-200]
        if self.acks:
            self.say(f"ack {seq}")

    def wait_for(self, wanted, what, seconds=30):
        end = time.monotonic() + seconds * PATIENCE
        while not wanted(self):
            if self.close_code is not None or time.monotonic() > end:
                raise AssertionError(f"not {what}; closed: {self.close_code}; state {self.state}; role {self.role}")
            self.receive()
        return self

    def wait_closed(self, seconds=15):
        end = time.monotonic() + seconds * PATIENCE
        while self.close_code is None and time.monotonic() < end:
            self.receive()
        return self.close_code

    def applied(self, number, seconds=30):
        """Waits for the picture, or the state, that has input `number` in it."""
        newest = lambda: max([self.state.get("applied", 0), *(p["applied"] for p in self.pictures[-1:])])
        return self.wait_for(lambda _: newest() >= number, f"input {number} applied", seconds)

    def close(self):
        if self.loop.is_closed():
            return
        try:
            self.loop.run_until_complete(self.socket.close())
        except websockets.ConnectionClosed:  # it was broken already
            pass
        self.loop.close()


class Relay:
    """Passes bytes on to `port`, as a proxy does that serves it below `prefix`; bits_per_s: of a narrow link."""

    def __init__(self, port, prefix="", bits_per_s=None):
        self.target, self.prefix, self.rate = port, prefix.encode(), bits_per_s
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, False), daemon=True).start()

    def _pass(self, source, target, is_request):
        free_at = time.monotonic()
        try:
            if is_request and self.prefix:
                target.sendall(source.recv(65536).replace(b" " + self.prefix, b" ", 1))
            while data := source.recv(4096 if self.rate else 65536):
                if self.rate and not is_request:
                    free_at = max(free_at, time.monotonic()) + len(data) * 8 / self.rate
                    time.sleep(max(free_at - time.monotonic(), 0))
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
