"""A parent may close any of stdin, stdout and stderr: no file of ours gets their numbers, and a dump is whole."""
import itertools
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from patience import PATIENCE
from program import SACCADE

SOURCE = "test://box?size=128x96&frames=12"


class StandardStreams(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="saccade-streams-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_with(self, closed, *arguments):
        """With these closed by a shell, the others to files. Returns the exit code and what they hold."""
        names = {0: "</dev/null", 1: f">{self.folder}/stdout", 2: f"2>{self.folder}/stderr"}
        ends = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" if fd in closed else text for fd, text in names.items())
        done = subprocess.run(["sh", "-c", f'exec "$0" "$@" {ends}', SACCADE, *map(str, arguments)], timeout=120 * PATIENCE, check=False)
        texts = [(self.folder / name).read_text() if (self.folder / name).exists() else "" for name in ("stdout", "stderr")]
        return done.returncode, *texts

    def dump(self, closed, out):
        return self.run_with(closed, "dump", SOURCE, "-o", out, "--every", "frame", "--backend", "cpu", "--log-level", "debug")

    def test_each_combination(self):
        whole = self.folder / "whole"
        self.assertEqual(self.dump((), whole)[0], 0)
        for closed in itertools.chain.from_iterable(itertools.combinations(range(3), n) for n in (1, 2, 3)):
            out = self.folder / "-".join(map(str, closed))
            code, _, errors = self.dump(closed, out)
            self.assertEqual(code, 1 if 1 in closed else 0, errors)  # the results could not be printed
            if 1 in closed and 2 not in closed:
                self.assertIn("stdout", errors)
            self.assertTrue((out / "manifest.json").exists(), closed)
            for name in ("patches.npy", "geometry.npy", "changed.npy", "index.npy"):
                self.assertEqual((out / name).read_bytes(), (whole / name).read_bytes(), (closed, name))

    def test_stdin_that_is_the_input(self):
        code, _, errors = self.run_with((0,), "dump", "-", "-o", self.folder / "none")
        self.assertEqual(code, 65)
        self.assertIn("-:", errors)


if __name__ == "__main__":
    unittest.main()
