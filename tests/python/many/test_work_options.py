"""`python -m pysaccade.work` refuses what the program refuses, in its words, before it looks at anything."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import pysaccade as sc
from pysaccade.many._asked import check_native, parsed, rest_without_json, with_settings
from pysaccade.many._put_plan import RefusedError
from pysaccade.work import main

STORE = "nosuch://bucket/store"  # who looks for it fails otherwise


@pytest.mark.parametrize(
    "arguments",
    [
        ["work", STORE, "--max-bad", "nan"],
        ["work", STORE, "--max-bad=-5"],
        ["work", STORE, "--max-bad", "200"],
        ["work", STORE, "--max-bad", ""],
        ["work", STORE, "--unit", "00000000", "--shard", "0/2"],
        ["work", STORE, "--bogus", "words", "--jobs", "zero"],
        ["work", STORE, "--jobs", "zero"],
        ["work", STORE, "--progress", "loud"],
        ["work", STORE, "--older-than", "3"],
        ["work", STORE, "more", "words"],
        ["work", STORE, "-o", "x"],
        ["work", STORE, "--glob", "*"],
        ["gc", STORE, "--older-than", "nan"],
        ["gc", STORE, "--older-than=-5"],
        ["gc", STORE, "more"],
        ["status", STORE, "--shard", "0/2"],
        ["status", STORE, "more"],
        ["verify", STORE, "--max-bad", "3"],
        ["retry", STORE, "-o", "x", "--class", "none"],
        ["plan", STORE, "-o", "x", "--jobs", "3"],
        ["plan", STORE, "-o", "x", "--patches", "many"],
    ],
)
def test_wrong_options_are_said_as_the_program_says_them(
    arguments: list[str], program: Path, capsys: pytest.CaptureFixture[str]
):
    told = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    code = main(arguments)
    said = capsys.readouterr()
    assert (code, said.out, said.err) == (told.returncode, "", told.stderr)
    assert len(said.err.splitlines()) == 1
    assert "/dev/null" not in said.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["work"], "STORE"),
        (["walk", STORE], "invalid choice: 'walk'"),
        (["index", STORE, "--shard", "0/2"], "--shard: unknown option here"),
        (["index", STORE, "--glob", "*"], "--glob: unknown option here"),
        (["list", STORE, "-o", "x.jsonl", "--max-bad", "3"], "--max-bad: unknown option here"),
        (["list", STORE, "more", "-o", "x.jsonl"], "more: unknown option here"),
        (["work", STORE, "--storage-options", "x"], "invalid loads value: 'x'"),
    ],
)
def test_what_is_ours_alone_is_one_line(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert says in said.err
    assert len(said.err.splitlines()) == 1


def test_help_is_the_programs(program: Path, capsys: pytest.CaptureFixture[str]):
    told = subprocess.run([program, "work", "--help"], capture_output=True, text=True, check=True)
    assert main(["work", STORE, "--help"]) == 0
    assert capsys.readouterr().out == told.stdout


def test_right_options_are_passed(program: Path):
    assert check_native("work", "store", ["--jobs", "2", "--max-bad", "0", "--shard", "auto/3"])
    with pytest.raises(RefusedError, match="unknown option --bogus"):
        check_native("work", "store", ["--bogus"])


def test_settings_of_a_file_count(program: Path, tmp_path: Path):
    (tmp_path / "a b.toml").write_text(
        "shard = '1/2'\nmax-bad = 50\njobs = 3\njson = true\nmetrics = 'a b'\ngpus = [0, 1]\n"
    )
    given = ["work", STORE, f"--config={tmp_path / 'a b.toml'}", "--max-bad", "40", "--cores", "2"]
    options, rest = parsed(given, ["work"])
    found = with_settings(options, rest)
    assert (options.shard, options.max_bad, options.metrics) == ("1/2", "40", "a b")  # the command line wins
    assert {"--jobs=3", "--cores=2", "--gpus=0,1", "--json"} <= set(found)
    assert not [option for option in found if option.startswith(("--config", "--shard", "--max-bad"))]
    assert check_native("work", "store", ["--unit", "00000000", *rest_without_json(found)[1]])


def test_ray_that_can_not_join_rows_is_refused():
    pytest.importorskip("ray")
    from pysaccade.on_ray._map import _check_version

    for fine in ("2.52.0", "2.60.1", "3.0.0.dev0"):
        _check_version(fine)
    for old in ("2.40.0", "2.51.1", "2.9.3"):
        with pytest.raises(sc.UnavailableError, match=f"Ray {old} .* needs Ray 2.52 or later"):
            _check_version(old)


def test_ray_checks_before_it_starts(tmp_path: Path):
    pytest.importorskip("ray")
    import pysaccade.ray

    for wrong in ({"max_bad_percent": float("nan")}, {"max_bad_percent": -5}, {"arguments": ["--jobs", "zero"]}):
        with pytest.raises(sc.InputError, match="'(nan|-5|zero)' is not"):
            pysaccade.ray.run(tmp_path / "nothing", **wrong)
