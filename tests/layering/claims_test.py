"""The numbers in README.md and docs/ are those that their commands print today: scripts/check-claims."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"])
SCRIPT = ROOT / "scripts/check-claims"


def check(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


class Claims(unittest.TestCase):
    def test_numbers_in_the_documents_are_not_stale(self):
        done = check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok      README.md", done.stdout)

    def test_a_stale_number_is_found_and_replaced(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            page = pathlib.Path(folder, "page.md")
            table = "<!-- made by: seq 2 | sed 's/^/- /' -->\n{}<!-- end -->\n"
            console = "<!-- run -->\n    $ echo a > file\n    $ cat file && echo '7 frames/s'   # both\n    {}\n    9 frames/s\n"
            page.write_text(table.format("- 1\n- 3\n") + console.format("b"))
            done = check(page)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertEqual(done.stdout.count("STALE"), 2, done.stdout)
            self.assertEqual(check("--write", page).returncode, 0)
            self.assertEqual(page.read_text(), table.format("- 1\n- 2\n") + console.format("a").replace("9", "7"))
            self.assertEqual(check(page).returncode, 0)

    def test_a_slow_number_is_compared_if_asked(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("<!-- made slowly by: echo 2 -->\n1\n<!-- end -->\n")
            self.assertEqual(check(page).returncode, 0)
            done = check("--slow", page)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("-1\n+2\n", done.stdout)

    def test_a_table_that_was_removed_is_stale(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("<!-- made by: echo 1 -->\n<!-- end -->\n")
            self.assertEqual(check(page).returncode, 1)
            self.assertEqual(check("--write", page).returncode, 0)
            self.assertIn("\n1\n", page.read_text())

    def test_a_command_that_fails_is_no_number(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("<!-- made by: echo 1; echo broken >&2; false -->\n1\n<!-- end -->\n")
            done = check("--write", page)
            self.assertEqual((done.returncode, page.read_text().count("\n1\n")), (1, 1))
            self.assertIn("broken", done.stdout)


if __name__ == "__main__":
    unittest.main()
