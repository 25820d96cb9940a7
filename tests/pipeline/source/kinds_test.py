"""Every kind of unusual input, made by ffmpeg, through the whole program: frames, times, size, colours, refusals."""
import concurrent.futures
import dataclasses
import http.server
import pathlib
import shutil
import tempfile
import threading
import unittest

import kinds
import kinds_mended
import kinds_pictures
import kinds_stills
import kinds_streams


def run(case, folder):
    """The finished dump of a case; an exception where it can't be made."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    path = place / case.name
    case.make(path)
    result = kinds.Result(case, path, place / "dump")
    return result


class OneFile(http.server.BaseHTTPRequestHandler):
    """Its server's `content`, by byte ranges where the server has them."""

    def do_GET(self):
        content = self.server.content
        asked = self.headers.get("Range") if self.server.ranges else None
        first = int(asked.split("=")[1].split("-")[0]) if asked else 0
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(content) - first))
        if asked:
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[first:])

    def log_message(self, *_):
        pass


class Kinds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="saccade-kinds-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

    def check_all(self, cases):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            runs = [(case, pool.submit(run, case, self.folder)) for case in cases]
            for case, future in runs:
                with self.subTest(kind=case.kind, name=case.name):
                    kinds.check(self, case, future.result())

    def test_pictures(self):
        self.check_all(kinds_pictures.cases())

    def test_mended(self):
        self.check_all(kinds_mended.cases())

    def test_stills(self):
        self.check_all(kinds_stills.cases())

    def test_items_through_a_pipe_and_http(self):
        for case, ranges in ((kinds_stills.through_pipe(), None), (kinds_stills.through_http(True), True),
                             (kinds_stills.through_http(False), False)):
            with self.subTest(name=case.name), http.server.ThreadingHTTPServer(("127.0.0.1", 0), OneFile) as server:
                if ranges is not None:
                    path = self.folder / case.name
                    case.make(path)
                    server.content, server.ranges = path.read_bytes(), ranges
                    threading.Thread(target=server.serve_forever, daemon=True).start()
                    url = f"http://127.0.0.1:{server.server_port}/{case.name}"
                    case = dataclasses.replace(case, make=kinds_stills.Elsewhere(url))
                kinds.check(self, case, run(case, self.folder))
                if ranges is not None:
                    server.shutdown()

    def test_streams(self):
        self.check_all(kinds_streams.cases())


if __name__ == "__main__":
    unittest.main()
