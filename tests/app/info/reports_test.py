"""docs/REPORTS.md is right: each member that it names is there, and what it calls one fact is equal in all reports."""
import json
import pathlib
import re
import unittest

from program import FolderTest, make_clip, saccade, saccade_json

TABLE = pathlib.Path(__file__).resolve().parents[3] / "docs/REPORTS.md"


def rows():
    """(fact, {report: [members]}) of the table."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.read_text().splitlines() if line.startswith("|")]
    reports = [name.strip("`") for name in lines[0][1:]]
    return [(line[0], {report: re.findall(r"`([^`]+)`", cell) for report, cell in zip(reports, line[1:])}) for line in lines[2:]]


def member(report, path):
    for name in path.split("."):
        report = report[name]
    return report


class Reports(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        clip = make_clip(str(cls.folder / "clip.mp4"), "testsrc2=size=128x64:rate=25:duration=1")
        out = cls.folder / "out"
        cls.printed = json.loads(saccade("dump", clip, "-o", out, "--backend", "cpu", "--json").stdout)
        cls.reports = {"info": saccade_json("info", clip), "profile": saccade_json("profile", clip, "--backend", "cpu"),
                       **{name: json.loads((out / name).read_text()) for name in ("meta.json", "manifest.json")}}

    def test_every_member_is_there_and_one_fact_is_one_value(self):
        table = rows()
        self.assertGreater(len(table), 15)
        apart = {"stream": {"sar", "dar", "start_pts_ns"}}  # of `info` alone
        for fact, members in table:
            with self.subTest(fact):
                found = [[member(self.reports[report], path) for path in paths] for report, paths in members.items() if paths]
                self.assertGreater(len(found), 0)
                if fact in {"times of the stages", "how long it took"}:
                    continue
                for values in found:
                    for value in values:
                        for name in apart["stream"] if isinstance(value, dict) else ():
                            value.pop(name, None)
                self.assertEqual([values for values in found if values != found[0]], [])

    def test_reconstruct_names_the_input_as_the_others_do(self):
        report = saccade_json("reconstruct", self.folder / "out", "-o", self.folder / "seen.png")
        self.assertEqual(report["input"], self.reports["info"]["input"])

    def test_dump_prints_its_manifest_and_its_folder(self):
        added = {"path": str(self.folder / "out"), "patches": self.reports["meta.json"]["patches"]}
        self.assertEqual(self.printed, {**self.reports["manifest.json"], **added})


if __name__ == "__main__":
    unittest.main()
