"""Form: clang-format 14 has nothing to say, no file is too long, and no file speaks of the machine it was written on."""
import re
import shutil
import subprocess
import textwrap
import unittest

import repository
from required import skip_or_fail

FORMATTED = (".cpp", ".h", ".hpp", ".cu", ".cuh")
TEXT = repository.CODE + (".py", ".sh", ".cmake", ".txt", ".md", "")
LONGEST = 500
WIDEST = 120
EARLY = 12  # columns
COMMENT = re.compile(r"^( *)// (\S.*)$")


def clang_format_14():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and " 14." in subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout:
            return path
    return None


def early_breaks(text):
    """Lines of comments that the next line's first word would have fitted into by far."""
    found, lines = [], text.splitlines()
    for i, line in enumerate(lines):
        comment = COMMENT.match(line)
        if comment is None or re.search(r"[.:;,!?]$|^Note \[|^(?!.*[A-Za-z]{2})", comment[2]):
            continue
        rest = [comment[2]]
        for below in lines[i + 1:]:
            follows = COMMENT.match(below)
            if follows is None or follows[1] != comment[1]:
                break
            rest.append(follows[2])
            if re.search(r"[.:;!?]$", follows[2]):
                break
        if len(rest) == 1 or any(re.search(r"  |^[-*] ", part) for part in rest):
            continue
        filled = textwrap.wrap(" ".join(rest), WIDEST - len(comment[1]) - len("// "), break_long_words=False, break_on_hyphens=False)
        if WIDEST - len(line) - 1 - len(rest[1].split()[0]) >= EARLY and (len(filled) == 1 or " " in filled[-1]):
            found.append(i + 1)
    return found


class Form(unittest.TestCase):
    def test_clang_format(self):
        tool = clang_format_14()
        if tool is None:
            skip_or_fail("clang-format", "clang-format 14 is not installed")
        paths = [str(path) for path in repository.files(suffixes=FORMATTED)]
        self.assertTrue(paths)
        done = subprocess.run([tool, "--dry-run", "-Werror", *paths], cwd=repository.ROOT, capture_output=True, text=True, check=False)
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", done.stderr, re.MULTILINE)))
        self.assertEqual(done.returncode, 0, f"run clang-format -i on: {' '.join(wrong)}\n{done.stderr[:2000]}")

    def test_no_file_is_too_long(self):
        long = []
        for path in repository.files(suffixes=TEXT):
            lines = len((repository.ROOT / path).read_bytes().splitlines())
            if lines > LONGEST:
                long.append(f"{path}: {lines} lines")
        self.assertEqual(long, [], f"files of more than {LONGEST} lines: split them by concept")

    def test_no_tests_share_a_file(self):
        """ctest runs tests side by side: support/temp_dir.h (in Python: tempfile) gives each its own folder."""
        shared = re.compile(r"testing::" + r"TempDir\(|[\"']/" + "tmp/")
        found = [str(path) for path in repository.files(folders=("tests",), suffixes=repository.CODE + (".py",))
                 if shared.search((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])

    def test_no_comment_ends_in_an_orphan_word(self):
        """A formatter that breaks a long comment leaves one word behind: break the line by its meaning."""
        tail = re.compile(r"^( *)// \S.{80,}\n\1// \S+$(?!\n\1// )", re.MULTILINE)
        found = [f"{path}: {match.group(0).splitlines()[1].strip()}" for path in repository.files(suffixes=FORMATTED)
                 for match in tail.finditer((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])

    def test_no_comment_breaks_early(self):
        """A line is full, or breaks by its meaning: after punctuation, or where the paragraph would end in an orphan word."""
        found = [f"{path}:{line}" for path in repository.files(suffixes=FORMATTED)
                 for line in early_breaks((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])

    def test_early_breaks_are_found(self):
        full = "a comment of some length " * 4
        for text in (f"// {full[:60]}early\n// {full}goes on.\n", "int a;\n  // Throws when the\n  // input can't be opened.\n"):
            with self.subTest(text=text):
                self.assertEqual(len(early_breaks(text)), 1)
        for text in (f"// {full}and it\n// goes on.\n", f"// {full}a\n// it goes on up yes.\n", "// Note [Name]\n// What it says.\n",
                     "// A drawing:\n//   x x\n// . x x\n// x x .\n", "// One sentence.\n// Another one.\n", "// a list, its first\n// - item\n"):
            with self.subTest(text=text):
                self.assertEqual(early_breaks(text), [])

    def test_no_unfinished_work(self):
        marks = re.compile("|".join(("TO" + "DO", "FIX" + "ME")))
        found = [str(path) for path in repository.files() if marks.search((repository.ROOT / path).read_text(encoding="utf-8"))]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
