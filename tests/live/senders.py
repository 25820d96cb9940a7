"""Senders of our own for the tests: an MJPEG camera over HTTP, pictures of an H.264 stream over TCP at any pace."""
import base64
import contextlib
import http.server
import re
import socket
import subprocess
import threading
import time

WIDTH, HEIGHT = 160, 120


def make_jpegs(count=25):
    """So many pictures, each of another shade."""
    graph = f"color=black:s={WIDTH}x{HEIGHT}:r=25,format=yuvj420p,geq=lum='20+8*N':cb=128:cr=128"
    raw = subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", graph, "-frames:v", str(count), "-f", "image2pipe", "-c:v", "mjpeg",
                          "-q:v", "2", "-"], capture_output=True, check=True).stdout
    return [b"\xff\xd8" + rest for rest in raw.split(b"\xff\xd8")[1:]]


@contextlib.contextmanager
def mjpeg_camera(jpegs, rate, password=None, seconds=60):
    """Serves multipart pictures, paced from the connection on. Yields its host and port, and the times at which pictures were sent."""
    sent = []

    class Camera(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            wanted = password and "Basic " + base64.b64encode(password.encode()).decode()
            if wanted and self.headers.get("Authorization") != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="camera"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
            self.end_headers()
            begin = time.monotonic()
            with contextlib.suppress(OSError):
                for n in range(int(seconds * rate)):
                    time.sleep(max(0, begin + n / rate - time.monotonic()))
                    jpeg = jpegs[n % len(jpegs)]
                    self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg + b"\r\n")
                    sent.append(time.time())

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}", sent
        server.shutdown()


def pictures_of_ts(data, pid=256):
    """A transport stream, cut where a picture of the PID begins."""
    packets = [data[i:i + 188] for i in range(0, len(data), 188)]
    begins = [i for i, p in enumerate(packets) if ((p[1] & 31) << 8 | p[2]) == pid and p[1] & 64]
    begins[0] = 0
    return [b"".join(packets[a:b]) for a, b in zip(begins, begins[1:] + [len(packets)])]


def pictures_of_h264(data):
    """An H.264 byte stream with delimiters, cut before each."""
    begins = [m.start() for m in re.finditer(b"\x00\x00\x00\x01\x09", data)]
    return [data[a:b] for a, b in zip(begins, begins[1:] + [len(data)])]


@contextlib.contextmanager
def paced_tcp(pieces, rate):
    """Sends the pieces to the first who connects, so many a second. Yields the URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def send():
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                begin = time.monotonic()
                with connection:
                    for n, piece in enumerate(pieces):
                        time.sleep(max(0, begin + n / rate - time.monotonic()))
                        connection.sendall(piece)

        threading.Thread(target=send, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
