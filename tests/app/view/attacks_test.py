"""What a stranger may try against `view --serve`, over raw sockets: all of it is refused, and the viewer goes on."""
import base64
import pathlib
import shutil
import socket
import struct
import tempfile
import time
import unittest

from patience import PATIENCE
from program import saccade
from web_support import TOKEN, ServedViewer, WebClient

SOURCE = "test://box?size=320x180&rate=25&frames=2500"
KEY = base64.b64encode(bytes(16)).decode()
ACCEPT = "ICX+Yqv66kxgM0FcWaLWlFLwTAI="  # of that key, by RFC 6455: base64(sha1(key + "258EAFA5-..."))


def upgrade(host="127.0.0.1", *lines):
    head = ["GET /socket HTTP/1.1", f"Host: {host}", "Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {KEY}",
            "Sec-WebSocket-Version: 13", *lines]
    return "\r\n".join([*head, "", ""]).encode()


def frame(payload, opcode=1, masked=True, final=True, length=None, reserved=0):
    """One frame of a WebSocket (RFC 6455, 5.2). length: what it claims."""
    size = len(payload) if length is None else length
    head = bytes([final << 7 | reserved << 4 | opcode])
    bit = 0x80 if masked else 0
    head += bytes([bit | size]) if size < 126 else bytes([bit | 126]) + struct.pack(">H", size) if size < 65536 else bytes([bit | 127]) + struct.pack(">Q", size)
    mask = b"\x5a\xa5\x0f\xf0"
    return head + (mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)) if masked else payload)


HELLO = frame(f"hello 1 {TOKEN}".encode())


class Attacks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.viewer = ServedViewer(SOURCE, "--set", "pause", "--show", "marks", "--set", "serve-origin=https://Hub.example:443")
        cls.addClassCleanup(cls.viewer.kill)
        cls.client = WebClient(cls.viewer.port)
        cls.addClassCleanup(cls.client.close)
        cls.client.wait_for(lambda c: c.role and c.pictures, "driving")

    def tearDown(self):  # whatever was tried, the one who drives goes on
        self.client.applied(self.client.send("set", f"loop {self.client.number % 2}"))

    @classmethod
    def tearDownClass(cls):
        if (code := cls.viewer.stop()) != 0:
            raise AssertionError(f"exit {code}: {''.join(cls.viewer.errors)}")

    def connect(self):
        made = socket.create_connection(("127.0.0.1", self.viewer.port), timeout=60 * PATIENCE)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.addCleanup(made.close)
        self.client.receive(0.001)  # answers pings
        return made

    @staticmethod
    def rest(made):
        """All until the other side closes."""
        got = b""
        try:
            while data := made.recv(65536):
                got += data
        except ConnectionError:
            pass
        return got

    def ask(self, request):
        made = self.connect()
        made.sendall(request)
        return self.rest(made)

    def status(self, request):
        answer = self.ask(request)
        return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None

    def test_only_its_own_files_are_served(self):
        for path, code in (("/", 200), ("/viewer.js", 200), ("/viewer.css", 200), ("/?x=1", 200), ("/../../etc/passwd", 404), ("/%2e%2e/etc/passwd", 404),
                           ("//etc/passwd", 404), ("/etc/passwd", 404), ("/index.html/", 404), ("/favicon.ico", 404), ("/socket", 426), ("*", 404), ("/\0", None)):
            with self.subTest(path):
                got = self.status(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                self.assertEqual(got, code) if code else self.assertIn(got, (400, 404))
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
            with self.subTest(method):
                self.assertIn(self.status(f"{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode()), (400, 405))

    def test_headers_shut_the_page_in(self):
        head, body = self.ask(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").split(b"\r\n\r\n", 1)
        fields = dict(line.split(": ", 1) for line in head.decode().lower().split("\r\n")[1:])
        self.assertEqual((fields["x-content-type-options"], fields["referrer-policy"], fields["cache-control"]), ("nosniff", "no-referrer", "no-store"))
        policy = dict((rule.strip() + " ").split(" ", 1) for rule in fields["content-security-policy"].split(";"))
        self.assertEqual((policy["default-src"].strip(), policy["script-src"].strip(), policy["connect-src"].strip()), ("'none'", "'self'", "'self'"))
        self.assertTrue(policy["frame-ancestors"].startswith("'self' http://localhost:*"))
        self.assertIn("https://hub.example", policy["frame-ancestors"].split())
        self.assertNotIn("set-cookie", fields)
        self.assertNotIn(TOKEN.encode(), head + body)
        bare = self.ask(b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertTrue(bare.startswith(b"HTTP/1.1 200"))
        self.assertTrue(bare.endswith(b"\r\n\r\n"))

    def test_requests_that_are_none(self):
        for request, codes in ((b"\0" * 64, (400, None)), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), (400, None)), (b"GET\r\n\r\n", (400, None)),
                               (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 9000 + b"\r\n\r\n", (431,)), (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", (431, 400)),
                               (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3000 + b"\r\n", (431,)),
                               (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", (400, 405, 413)),
                               (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", (400, 405)),
                               (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", (400, None)), (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, None))):
            with self.subTest(request[:40]):
                self.assertIn(self.status(request), codes)

    def test_pages_of_other_origins_may_not_connect(self):
        own = f"127.0.0.1:{self.viewer.port}"
        for host, lines, code in ((own, [], 101), (own, [f"Origin: http://{own}"], 101), ("evil.example", ["Origin: http://evil.example"], 101),  # it lacks the token
                                  (own, ["Origin: https://hub.example"], 101), (own, ["Origin: null"], 403), (own, ["Origin: "], 403),
                                  (own, ["Origin: http://evil.example"], 403), (own, ["Origin: file://"], 403), (own, ["Origin: http://127.0.0.1"], 403),
                                  (own, ["Origin: http://hub.example"], 403), (own, [f"Origin: http://{own}", "Origin: http://evil.example"], 403),
                                  (own, ["Host: evil.example", "Origin: http://evil.example"], 403), (own, [f"Origin: http://{own}.evil.example"], 403),
                                  (own, [f"Origin: http://{own}@evil.example"], 403)):
            with self.subTest(host=host, lines=lines):
                made = self.connect()
                made.sendall(upgrade(host, *lines))
                self.assertEqual(made.recv(4096).split(b" ", 2)[1], str(code).encode())

    def test_upgrades_that_are_none(self):
        for line, without in (("Sec-WebSocket-Version: 12", "Sec-WebSocket-Version: 13"), ("X: y", f"Sec-WebSocket-Key: {KEY}"), ("Connection: close", "Connection: Upgrade")):
            with self.subTest(line):
                answer = self.ask(upgrade().replace(without.encode(), line.encode()))
                self.assertNotIn(b" 101 ", answer.split(b"\r\n")[0])

    def test_who_does_not_wait_for_the_answer_is_refused(self):
        self.assertEqual(self.status(upgrade() + HELLO), 400)

    def joined(self):
        """A socket that is a WebSocket."""
        made = self.connect()
        made.sendall(upgrade())
        answer = made.recv(4096)
        self.assertTrue(answer.startswith(b"HTTP/1.1 101 ") and answer.endswith(b"\r\n\r\n") and ACCEPT.encode() in answer, answer)
        return made

    def said(self, *frames):
        made = self.joined()
        made.sendall(b"".join(frames))
        return self.rest(made)

    def test_frames_that_are_none(self):
        long = b"x" * 5000
        for name, sent in (("unmasked", frame(b"hello 1 " + TOKEN.encode(), masked=False)), ("compressed", frame(b"hello", reserved=4)), ("unknown opcode", frame(b"x", opcode=3)),
                           ("binary", frame(b"hello 1 " + TOKEN.encode(), opcode=2)), ("claims to be huge", frame(b"", length=2**62)), ("claims 2^64-1", frame(b"", length=2**64 - 1)),
                           ("too long", frame(long)), ("too long in pieces", b"".join(frame(long[:1000], opcode=0 if i else 1, final=False) for i in range(5))),
                           ("continues nothing", frame(b"x", opcode=0)), ("no UTF-8", frame(b"hello 1 \xff\xfe")), ("long ping", frame(b"x" * 200, opcode=9)),
                           ("ping in pieces", frame(b"x", opcode=9, final=False)), ("close with half a code", frame(b"\x03", opcode=8)), ("no hello", frame(b"ack 1")),
                           ("empty", frame(b"")), ("token with more", frame(f"hello 1 {TOKEN} x".encode())), ("hello of a number too large", frame(b"hello 99999999999999999999 x"))):
            with self.subTest(name):
                self.assertNotIn(b'"role"', self.said(sent))

    def test_every_split_of_the_input_is_understood(self):
        """The request and what follows it, each in two parts wherever it can be cut."""
        request, frames = upgrade(), HELLO + frame(b"ping 4711")
        for cut in range(1, max(len(request), len(frames))):
            made = self.connect()
            for whole, wanted in ((request, b"\r\n\r\n"), (frames, b"4711")):
                for part in filter(None, (whole[:cut], whole[cut:])):
                    made.sendall(part)
                    time.sleep(0.001)
                got = b""
                while wanted not in got:
                    data = made.recv(65536)
                    self.assertTrue(data, f"cut at {cut}: {got[:200]}")
                    got += data
            made.close()

    def test_strangers_keep_nobody_out(self):
        mute = [self.connect() for _ in range(30)]
        for made in mute[::2]:
            made.sendall(b"GET / HTTP/1.1\r\nHo")
        for _ in range(3):
            guest = WebClient(self.viewer.port, self.viewer.watch_token)
            guest.wait_for(lambda c: c.role and c.pictures, "in")
            guest.close()
        for made in mute:  # after 10 s they are dropped
            self.rest(made)

    def test_no_fork_of_it_listens_on_all_addresses(self):
        port = self.viewer.port
        hexadecimal = f"0100007F:{port:04X}"
        listening = [line.split() for line in open("/proc/net/tcp", encoding="ascii") if f":{port:04X} 00000000:0000 0A" in line]
        self.assertEqual([fields[1] for fields in listening], [hexadecimal])

    def test_the_token_is_nowhere_to_read(self):
        self.assertNotIn(TOKEN.encode(), open(f"/proc/{self.viewer.process.pid}/cmdline", "rb").read())
        self.assertNotIn(TOKEN, "".join(self.viewer.errors))
        done = saccade("view", SOURCE, "--serve", "127.0.0.1:0", "--serve-token", TOKEN)
        self.assertEqual(done.returncode, 2)


class Files(unittest.TestCase):
    def test_the_panel_reads_no_other_file_than_the_given_one(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        for name in ("given", "secret"):
            (folder / f"{name}.csv").write_text("t_s,u,v\n0,0.5,0.5\n1,0.2,0.2\n")
        viewer = ServedViewer(SOURCE, "--set", "pause", "--fixation", f"file:{folder}/given.csv")
        self.addCleanup(viewer.kill)
        client = WebClient(viewer.port)
        self.addCleanup(client.close)
        client.wait_for(lambda c: c.role and c.pictures, "driving")
        self.settings(client)
        box = viewer.wait_for(lambda s: "argument" in s.get("controls", {}), "the field of the file's name")["controls"]["argument"]
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        client.send("press", x, y, 0)
        client.applied(client.send("release", x, y, 0))
        client.wait_for(lambda c: c.state["typing"], "the field has the keyboard")
        client.send("key", "down", "a", 2, "KeyA")
        client.send("key", "up", "a", 2, "KeyA")
        client.send("paste", f"{folder}/secret.csv")
        client.send("key", "down", "Enter", 0, "Enter")
        client.applied(client.send("key", "up", "Enter", 0, "Enter"))
        client.wait_for(lambda c: "may not name files" in c.state["message"], "it is refused")
        text = self.settings(client)
        self.assertIn("given.csv", text)
        self.assertNotIn("secret", text)
        self.assertEqual(viewer.stop(), 0, "".join(viewer.errors))

    @staticmethod
    def settings(client):
        before = len(client.files)
        client.send("ask", "settings")
        client.wait_for(lambda c: len(c.files) > before, "the settings")
        return client.files[-1][1].decode()


if __name__ == "__main__":
    unittest.main()
