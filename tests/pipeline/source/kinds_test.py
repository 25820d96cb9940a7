"""Every kind of unusual input, made by ffmpeg, through the whole program: frames, times, size, colours, refusals."""
import concurrent.futures
import dataclasses
import pathlib
import tempfile
import unittest

import kinds
import kinds_mended
import kinds_pictures
import kinds_stills
import kinds_streams
from broken_web import WebServer
from program import FolderTest


def run(case, folder):
    """The finished dump of a case; an exception where it can't be made."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    path = place / case.name
    case.make(path)
    result = kinds.Result(case, path, place / "dump")
    return result


class Kinds(FolderTest):
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
            with self.subTest(name=case.name):
                if ranges is not None:
                    path = self.folder / case.name
                    case.make(path)
                    server = WebServer({case.name: path.read_bytes()}, ranges=ranges)
                    self.addCleanup(server.stop)
                    case = dataclasses.replace(case, make=kinds_stills.Elsewhere(server.url(case.name)))
                kinds.check(self, case, run(case, self.folder))

    def test_streams(self):
        self.check_all(kinds_streams.cases())


if __name__ == "__main__":
    unittest.main()
