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

    def test_numbers_that_a_line_repeats_are_those_of_the_table(self):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            page = pathlib.Path(folder, "page.md")
            table = "# Other\n| a | 3 |\n## The table\n| a | 1.00 (0.994 to 1.10) |\n| a, b | 1,092 | 0.051 |\n"

            def said(line, claim):
                page.write_text(f"{line} <!-- from {page.relative_to(ROOT)}#the-table: {claim} -->\n{table}")
                return check(page)

            line = "It is 1.00 (0.99), 1,092 of them 0.05."
            done = said(line, "a = 1.00 0.99; a, b = 1092 0.05")
            self.assertEqual((done.returncode, done.stdout.count("ok ")), (0, 4), done.stdout)
            for stale in ("a = 1.01", "a = 3", "a, b = 0.051", "a, b = 0.06"):  # of no cell, of another table, not in the line
                done = said(line, stale)
                self.assertEqual((done.returncode, done.stdout.count("STALE")), (1, 1), done.stdout)
            self.assertNotEqual(said(line, "c = 1.00").returncode, 0)


if __name__ == "__main__":
    unittest.main()
