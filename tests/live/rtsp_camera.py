"""An RTSP camera of our own on loopback, packets between the replies, whose stamps, numbers and stray bytes a test decides."""
import base64
import contextlib
import socket
import struct
import threading
import time

CLOCK = 90000
LONGEST = 1300  # bytes of a packet


def units_of(picture):
    """The NAL units of a picture with start codes, without its delimiter."""
    units = [unit for unit in picture.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1") if unit]
    return [unit for unit in units if unit[0] & 31 != 9]


def payloads_of(unit):
    """RFC 6184: the unit itself, or its fragments."""
    if len(unit) <= LONGEST:
        return [unit]
    parts = [unit[at:at + LONGEST] for at in range(1, len(unit), LONGEST)]
    flags = [128] + [0] * (len(parts) - 2) + [64]
    return [bytes([unit[0] & 0xE0 | 28, flag | unit[0] & 31]) + part for flag, part in zip(flags, parts)]


class RtspCamera:
    """Plays the pictures of an H.264 byte stream, so many a second, from the first one on to each who connects, and closes.

    stamp(k): the k-th picture's time, in 90000ths. before(k): bytes ahead of it. number(n): of the n-th packet. source(k):
    its SSRC. says_bye: the end is announced by RTCP. resets: it ends by a TCP reset. unsent: bytes that lack at its end."""

    def __init__(self, pictures, rate, stamp=None, before=lambda k: b"", number=lambda n: n, source=lambda k: 0x1234, says_bye=False, resets=False, unsent=0):
        self.pictures, self.rate = [units_of(picture) for picture in pictures], rate
        self.stamp = stamp or (lambda k: 1000 + k * CLOCK // rate)
        self.before, self.number, self.source, self.says_bye, self.resets, self.unsent = before, number, source, says_bye, resets, unsent
        self.connections = 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self.socket.getsockname()[1]}/live"
        threading.Thread(target=self.accept, daemon=True).start()

    def stop(self):
        self.socket.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.socket.accept()
                self.connections += 1
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        lock = threading.Lock()
        with contextlib.suppress(OSError), client, client.makefile("rb") as requests:
            while True:
                line, head = requests.readline(), {}
                if not line:
                    return
                while (field := requests.readline()) not in (b"\r\n", b"\n", b""):
                    key, _, value = field.decode().partition(":")
                    head[key.lower()] = value.strip()
                method = line.split()[0].decode()
                with lock:
                    client.sendall(self.reply(method, head.get("cseq", "0")))
                if method == "PLAY":
                    threading.Thread(target=self.play, args=(client, lock), daemon=True).start()

    def reply(self, method, number):
        fields, body = [f"CSeq: {number}", "Session: 7;timeout=60"], ""
        if method == "DESCRIBE":
            sets = [next(unit for unit in self.pictures[0] if unit[0] & 31 == kind) for kind in (7, 8)]
            sprop = ",".join(base64.b64encode(unit).decode() for unit in sets)
            body = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
                    f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={sprop}\r\na=control:video\r\n")
            fields.append("Content-Type: application/sdp")
        if method == "OPTIONS":
            fields.append("Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER")
        if method == "SETUP":
            fields.append("Transport: RTP/AVP/TCP;unicast;interleaved=0-1")
        return "\r\n".join(["RTSP/1.0 200 OK", *fields, f"Content-Length: {len(body)}", "", body]).encode()

    def play(self, client, lock):
        begin, sent = time.monotonic(), 0
        with contextlib.suppress(OSError):
            for k, units in enumerate(self.pictures):
                time.sleep(max(0, begin + k / self.rate - time.monotonic()))
                payloads = [payload for unit in units for payload in payloads_of(unit)]
                packets = b""
                for i, payload in enumerate(payloads):
                    mark = 128 if i == len(payloads) - 1 else 0
                    packet = struct.pack(">BBHII", 128, 96 | mark, self.number(sent) % 65536, self.stamp(k) % 2**32, self.source(k)) + payload
                    packets += b"$\0" + struct.pack(">H", len(packet)) + packet
                    sent += 1
                if k == len(self.pictures) - 1:
                    packets = packets[:len(packets) - self.unsent]
                with lock:
                    client.sendall(self.before(k) + packets)
            if self.says_bye:
                client.sendall(b"$\1" + struct.pack(">HBBHI", 8, 0x81, 203, 1, self.source(0)))
            if self.resets:
                time.sleep(0.3)  # else the reset overtakes the last packets
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.shutdown(socket.SHUT_RD if self.resets else socket.SHUT_RDWR)  # serve() closes it then
