"""The viewer that serves a page, a client that speaks to it without a browser, and a relay as a proxy would be."""
import asyncio
import json
import os
import pathlib
import re
import signal
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

    def memory_bytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
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
    """Passes bytes on to `port`, as a proxy does that serves it below `prefix`; bits_per_s: of a narrow link; delay_s: of a far one,
    each way."""

    def __init__(self, port, prefix="", bits_per_s=None, delay_s=0):
        self.target, self.prefix, self.rate, self.delay_s = port, prefix.encode(), bits_per_s, delay_s
        self.tasks = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.server = self._run(asyncio.start_server(self._keep, "127.0.0.1", 0, backlog=1000))
        self.port = self.server.sockets[0].getsockname()[1]

    def _run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60 * PATIENCE)

    def _keep(self, reader, writer):
        task = self.loop.create_task(self._relay(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _relay(self, reader, writer):
        await asyncio.sleep(self.delay_s)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.close()
        try:
            await asyncio.gather(self._pass(reader, far_writer, True), self._pass(far_reader, writer, False))
        finally:
            for end in (writer, far_writer):
                end.close()

    async def _pass(self, reader, writer, is_request):
        """Reads at the link's rate; what was read is written `delay_s` later."""
        on_its_way = asyncio.Queue()
        writing = self.loop.create_task(self._write(on_its_way, writer))
        free_at, first = self.loop.time(), is_request and self.prefix
        try:
            while data := await reader.read(4096 if self.rate else 65536):
                if first:
                    data, first = data.replace(b" " + self.prefix, b" ", 1), False
                if self.rate and not is_request:
                    free_at = max(free_at, self.loop.time()) + len(data) * 8 / self.rate
                    await asyncio.sleep(free_at - self.loop.time())
                on_its_way.put_nowait((self.loop.time() + self.delay_s, data))
            on_its_way.put_nowait((self.loop.time() + self.delay_s, b""))
            await writing
        except OSError:
            pass
        finally:
            writing.cancel()

    async def _write(self, on_its_way, writer):
        while True:
            due, data = await on_its_way.get()
            await asyncio.sleep(due - self.loop.time())
            if not data:
                return writer.close()
            writer.write(data)
            await writer.drain()

    def close(self):
        async def end():
            self.server.close()
            for task in list(self.tasks):
                task.cancel()
            await asyncio.gather(*self.tasks, return_exceptions=True)
        self._run(end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
