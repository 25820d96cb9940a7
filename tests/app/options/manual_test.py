"""docs/OPTIONS.md says what the table of options says, and so does the help of each command."""
import difflib
import os
import pathlib
import re
import unittest

from program import saccade

MANUAL = pathlib.Path(os.environ["SACCADE_SOURCE_DIR"], "docs", "OPTIONS.md")
VIDEOS = {"dump", "profile", "info", "reconstruct", "view", "plan"}
COMMANDS = (*sorted(VIDEOS), "work", "status", "verify", "gc", "retry")
GROUPS = {"all": set(COMMANDS), "of videos": VIDEOS, "of streams": VIDEOS - {"reconstruct"}}


class Manual(unittest.TestCase):
    def test_it_is_current(self):
        written = saccade("--print-options-md").stdout
        kept = MANUAL.read_text(encoding="utf-8")
        differs = "".join(difflib.unified_diff(kept.splitlines(True), written.splitlines(True), "kept", "written", n=0))
        self.assertEqual(differs, "", "docs/OPTIONS.md is out of date: saccade --print-options-md > docs/OPTIONS.md")

    def test_it_has_the_options_of_every_command(self):
        options = MANUAL.read_text(encoding="utf-8").split("\n## Which of two\n")[0]
        rows = dict(re.findall(r"^\| `(?:-\w, )?--([a-z0-9-]+).*?` \| .*? \| (.*?) \|", options, re.MULTILINE))
        of = {name: GROUPS.get(cell) or set(re.findall(r"`(\w+)`", cell)) for name, cell in rows.items()}
        for command in COMMANDS:
            text = saccade(command, "--help").stdout
            helped = set(re.findall(r"^ +(?:-\w[ ,]+)?--([a-z0-9-]+)", text, re.MULTILINE)) - {"help"}
            self.assertEqual(helped, {name for name, commands in of.items() if command in commands}, command)


if __name__ == "__main__":
    unittest.main()
