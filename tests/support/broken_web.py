"""A web server of our own on loopback whose answers break as a test says: they end early, are reset, fall silent."""
import re
import socket
import ssl
import struct
import threading

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends a reset


class Break:
    """What becomes of one answer: so many bytes of its body, then `how`. A status is an answer without a body. size: of
    an answer in chunks, the rest is one chunk that says this of its size."""

    def __init__(self, after=None, how="close", status=None, size=None):
        self.after, self.how, self.status, self.size = after, how, status, size


WHOLE = Break()


class WebServer:
    """Serves `files`, a name each. breaks(name, number, begin): the Break of the number-th request (from 0) for that
    name, for bytes from `begin` on. ranges: takes byte ranges, or "said": says so and does not. length: "told",
    "chunked", "none" (the connection's end is the answer's), or bytes that are announced beyond those that are there.
    moved: names are asked for at /moved/NAME."""

    def __init__(self, files, breaks=lambda *_: WHOLE, ranges=True, length="told", moved=False, certificate=None):
        self.files, self.breaks, self.ranges, self.length, self.moved = files, breaks, ranges, length, moved
        self.requests = []  # (name, begin)
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, name):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/{'moved/' if self.moved else ''}{name}"

    def stop(self):
        """No more connections; those that stand still end."""
        self.released.set()
        self.socket.close()

    def count(self, name):
        return sum(asked == name for asked, _ in self.requests)

    def accept(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            if self.tls:
                client = self.tls.wrap_socket(client, server_side=True)
            request = b""
            while b"\r\n\r\n" not in request:
                data = client.recv(4096)
                if not data:
                    return
                request += data
            self.answer(client, request.decode())
        except OSError:
            pass
        finally:
            client.close()

    def answer(self, client, request):
        name = request.split()[1].lstrip("/").split("?")[0]
        if self.moved and name.startswith("moved/"):
            self.send_head(client, "302 Found", f"Location: /{name[6:]}")
            return
        span = re.search(r"(?i)^range: bytes=(\d+)-(\d*)", request, re.MULTILINE)
        takes_ranges = self.ranges is True
        begin = int(span[1]) if span and takes_ranges else 0
        with self.lock:
            number = self.count(name)
            self.requests.append((name, begin))
        if name not in self.files:
            self.send_head(client, "404 Not Found")
            return
        what = self.breaks(name, number, begin)
        if what.status:
            self.send_head(client, f"{what.status} No")
            return
        end = int(span[2]) + 1 if span and takes_ranges and span[2] else len(self.files[name])
        self.send(client, self.files[name][begin:end], begin, len(self.files[name]), what)

    @staticmethod
    def send_head(client, status, *fields):
        head = [f"HTTP/1.1 {status}", *fields, "Content-Length: 0", "Connection: close", "", ""]
        client.sendall("\r\n".join(head).encode())

    def send(self, client, body, begin, whole, what):
        more = self.length if isinstance(self.length, int) else 0
        head = ["HTTP/1.1 206 Partial Content" if self.ranges is True else "HTTP/1.1 200 OK", "Connection: close"]
        if self.ranges:
            head.append("Accept-Ranges: bytes")
        if self.ranges is True:
            head.append(f"Content-Range: bytes {begin}-{begin + len(body) + more - 1}/{whole + more}")
        if self.length == "chunked":
            head.append("Transfer-Encoding: chunked")
        elif self.length != "none":
            head.append(f"Content-Length: {len(body) + more}")
        client.sendall("\r\n".join([*head, "", ""]).encode())
        part = body if what.after is None else body[:what.after]
        if self.length == "chunked":
            for at in range(0, len(part), 4000):
                piece = part[at:at + 4000]
                client.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            if what.size is not None:
                client.sendall(b"%b\r\n%b\r\n" % (what.size.encode(), body[len(part):]))
            if what.after is None or what.size is not None:
                client.sendall(b"0\r\n\r\n")
        else:
            client.sendall(part)
        if what.after is None or what.how == "close":
            return
        if what.how == "stall":
            self.released.wait()
        else:
            # The reader takes what was sent before the reset throws the rest away.
            self.released.wait(0.3)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
