"""A password in a URL is used, and shown nowhere: not in what a run writes, prints or logs."""
import unittest

from live_support import LiveTest, free_port
from senders import make_jpegs, mjpeg_camera

USER, PASSWORD, TOKEN = "camuser", "hunter2pass", "tokensecret"


class Secrets(LiveTest):
    def check(self, *texts):
        for text in texts:
            for secret in (USER, PASSWORD, TOKEN):
                self.assertNotIn(secret, text)

    def check_files(self, folder):
        for path in folder.rglob("*"):
            self.check(str(path))
            if path.is_file():
                data = path.read_bytes()
                for secret in (USER, PASSWORD, TOKEN):
                    self.assertNotIn(secret.encode(), data, path)

    def run_all(self, *arguments):
        process = self.saccade(*arguments, "--log-level", "debug")
        output, errors = process.communicate(timeout=120)
        self.check(output, errors)
        return process.returncode, output + errors

    def test_a_run(self):
        with mjpeg_camera(make_jpegs(), 25, f"{USER}:{PASSWORD}") as (host, _):
            url = f"http://{USER}:{PASSWORD}@{host}/video?n=1&token={TOKEN}"
            for number, options in enumerate(((), ("--json",))):
                code, text = self.run_all("dump", url, "-o", self.folder / f"dump{number}", "--frames", 5, *options)
                self.assertEqual(code, 0, text)
                self.assertIn("***@", text)
            code, text = self.run_all("dump", url, f"http://{USER}:{PASSWORD}@{host}", "-o", self.folder / "two", "--frames", 3)
            self.assertEqual(code, 0, text)
            code, text = self.run_all("profile", url, "--frames", 5, "--trace", self.folder / "trace.json", "--json")
            self.assertEqual(code, 0, text)
            code, text = self.run_all("info", url)
            self.assertEqual(code, 0, text)
            self.assertIn("***@", text)
        self.check_files(self.folder)

    def test_errors(self):
        nobody = free_port()
        with mjpeg_camera(make_jpegs(), 25, "somebody:else") as (host, _):
            for url in (f"http://{USER}:{PASSWORD}@{host}/a?token={TOKEN}", f"rtsp://{USER}:{PASSWORD}@127.0.0.1:{nobody}/a", f"tcp://{USER}:{PASSWORD}@127.0.0.1:{nobody}",
                        f"srt://127.0.0.1:{nobody}?passphrase={PASSWORD}", f"rtmp://{USER}:{PASSWORD}@127.0.0.1:{nobody}/app/{'x' * 9}?key={TOKEN}",
                        f"http://{USER}:{PASSWORD}/x@{host}/", f"rtsp:{USER}:{PASSWORD}@127.0.0.1:{nobody}/a", f"foo://{USER}:{PASSWORD}@host/a",
                        f"foo://127.0.0.1:{nobody}?passphrase={PASSWORD}"):
                for arguments in (("dump", url, "-o", self.folder / "failed"), ("info", url), ("info", url, "test://box?size=64x64&frames=2", "--json"),
                                  ("view", url, "--offscreen", "--screenshot", f"0={self.folder}/shot.png")):
                    code, text = self.run_all(*arguments, "--set", "open-timeout=2")
                    no_viewer = arguments[0] == "view" and "this build has no viewer" in text
                    self.assertIn(code, (69,) if no_viewer else (2, 3, 65), text)
            code, text = self.run_all("profile", f"http://{USER}:{PASSWORD}@{host}/", f"http://{USER}:{PASSWORD}@{host}/")
            self.assertEqual(code, 2, text)
        self.check_files(self.folder)


if __name__ == "__main__":
    unittest.main()
