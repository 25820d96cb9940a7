"""What a file may make the program open: nothing outside its folder, nothing in the network unless allowed."""
import pathlib
import shutil
import tempfile
import unittest

from broken_web import WebServer
from dump_support import ffmpeg, load_json, saccade
from program import FolderTest


def server_of(test, folder):
    """A web server of a folder's files, until the test ends."""
    server = WebServer({path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}, ranges=False)
    test.addCleanup(server.stop)
    return server


class Untrusted(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.inside, cls.outside = cls.folder / "inside", cls.folder / "outside"
        for place in (cls.inside, cls.inside / "below", cls.outside):
            place.mkdir()
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
               cls.outside / "other.ts")
        shutil.copy(cls.outside / "other.ts", cls.inside / "own.ts")
        shutil.copy(cls.outside / "other.ts", cls.inside / "below" / "own.ts")
        (cls.inside / "link.ts").symlink_to(cls.outside / "other.ts")

    def playlist(self, *segments, name="list.m3u8"):
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1"]
        for segment in segments:
            lines += ["#EXTINF:0.4,", str(segment)]
        path = self.inside / name
        path.write_text("\n".join([*lines, "#EXT-X-ENDLIST", ""]))
        return path

    def dump(self, path, *options, **more):
        out = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "dump"
        done = saccade("dump", path, "-o", out, "--every", "frame", "--lattice", "uniform", "--patches", "16", *options, **more)
        complete = (out / "manifest.json").exists()
        return done, load_json(out, "manifest") if complete else None

    def expect_refused(self, path, *options, **more):
        done, manifest = self.dump(path, *options, **more)
        self.assertEqual(done.returncode, 65, done.stderr.decode())
        self.assertIsNone(manifest)

    def test_a_playlist_may_name_what_lies_beside_it(self):
        done, manifest = self.dump(self.playlist("own.ts", "below/own.ts"))
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(manifest["frames"], 20)

    def test_a_playlist_reads_nothing_elsewhere(self):
        other = self.outside / "other.ts"
        for name in ("../outside/other.ts", other, f"file://{other}", f"file:{other}", "link.ts", f"crypto:{other}",
                     f"subfile,,start,0,end,0,,:{other}", f"concat:{other}", "/etc/passwd", "file:///etc/passwd"):
            with self.subTest(name=str(name)):
                self.expect_refused(self.playlist(name))

    def test_a_playlist_without_its_end_ends_all_the_same(self):
        path = self.playlist("own.ts", "below/own.ts", "own.ts", "own.ts", "own.ts")
        path.write_text(path.read_text().replace("#EXT-X-ENDLIST\n", "").replace("DURATION:1", "DURATION:3600"))
        done, manifest = self.dump(path)
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertEqual(manifest["frames"], 50)
        self.assertTrue(manifest["input_damaged"])
        path = self.playlist("missing.ts")
        path.write_text(path.read_text().replace("#EXT-X-ENDLIST\n", ""))
        self.expect_refused(path)

    def test_what_was_left_out_is_damage(self):
        done, manifest = self.dump(self.playlist("own.ts", self.outside / "other.ts", "below/own.ts"))
        self.assertEqual(done.returncode, 3, done.stderr.decode())
        self.assertTrue(manifest["input_damaged"])
        self.assertIn(b"may not", done.stderr)

    def test_nor_do_other_lists(self):
        other = self.outside / "other.ts"
        for number, text in enumerate((f"ffconcat version 1.0\nfile '{other}'\n",
                                       "ffconcat version 1.0\nfile ../outside/other.ts\n")):
            path = self.inside / f"list{number}.ffconcat"
            path.write_text(text)
            self.expect_refused(path)
        own = self.inside / "own.ffconcat"
        own.write_text("ffconcat version 1.0\nfile own.ts\nfile below/own.ts\n")
        self.assertEqual(self.dump(own)[1]["frames"], 20)

    def test_a_manifest_on_disk_is_refused(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
               "-f", "dash", self.inside / "manifest.mpd")
        done, _ = self.dump(self.inside / "manifest.mpd")
        self.assertEqual(done.returncode, 65)
        self.assertIn(b"--allow-network", done.stderr)
        self.assertEqual(self.dump(self.inside / "manifest.mpd", "--allow-network")[1]["frames"], 10)

    def test_the_network_is_opened_only_when_allowed(self):
        server = server_of(self, self.outside)
        path = self.playlist(server.url("other.ts"))
        self.expect_refused(path)
        self.assertEqual(server.requests, [])
        done, manifest = self.dump(path, "--allow-network")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(manifest["frames"], 10)
        self.assertEqual(server.requests, [("other.ts", 0)])

    def test_a_playlist_from_elsewhere_reads_no_file(self):
        path = self.playlist(f"file://{self.outside}/other.ts", name="remote.m3u8")
        with open(path, "rb") as stdin:
            self.expect_refused("-", stdin=stdin)
        server = server_of(self, self.inside)
        for options in ((), ("--allow-network",)):
            self.expect_refused(server.url("remote.m3u8"), *options)
        self.assertEqual(server.requests, [("remote.m3u8", 0)] * 2)


if __name__ == "__main__":
    unittest.main()
