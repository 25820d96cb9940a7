"""`python -m pysaccade.work list` and `index`: manifests of what lies in a bucket, a store's index as one Parquet file.

The program itself reads stores and inputs in buckets: `saccade plan`, `work`, `status` ... `python -m pysaccade.work
plan` and the others run it, for this version only.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade._native._library import program
from pysaccade.many import _folded
from pysaccade.many._catalog import facts_of, lines_of, marker_name, stamps_of
from pysaccade.many._list import write_list
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import insist, open_store

__all__ = ["main"]

_PROGRAMS = ("plan", "work", "status", "verify", "gc", "retry")
_DONE, _STOPPED, _USAGE, _UNAVAILABLE = 0, 1, 2, 69


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives its exit code, as docs/SCALE.md lists them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] and given[0] in _PROGRAMS:
            _become_program(given)
        options = _parser().parse_args(given)
        return _list(options) if options.command == "list" else _index(options)
    except (InputError, ValueError) as error:
        code, line = _USAGE, str(error)
    except UnavailableError as error:
        code, line = _UNAVAILABLE, str(error)
    except OSError as error:
        code, line = _STOPPED, (str(error) or type(error).__name__).splitlines()[0]
    print(f"saccade: {line}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m pysaccade.work", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True)
    of_list = commands.add_parser("list", help="write a manifest of the videos below a URL or folder")
    of_list.add_argument("where", metavar="URL")
    of_list.add_argument("-o", "--output", required=True, metavar="MANIFEST", help="a .jsonl, .csv or .txt")
    of_list.add_argument("--suffix", help="files that end so, as mp4,mkv (default: as videos do)")
    of_list.add_argument("--glob", help="files whose name below the URL it matches; * also matches /")
    of_index = commands.add_parser("index", help="fold a store's index into STORE/index.parquet")
    of_index.add_argument("store", metavar="STORE")
    for one in (of_list, of_index):
        one.add_argument("--storage-options", type=json.loads, default={}, metavar="JSON",
                         help="of fsspec's file system")  # fmt: skip
        one.add_argument("--scratch", metavar="DIR", help="where a file lies while it is written")
        one.add_argument("--json", action="store_true", help="the counts as JSON")
    return parser


def _become_program(given: Sequence[str]) -> NoReturn:
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--scratch")
    parser.add_argument("--storage-options")
    options, rest = parser.parse_known_args(given)
    command = given[0]
    print(f"saccade: `python -m pysaccade.work {command}` is now `saccade {command}`, for buckets too", file=sys.stderr)
    os.environ.setdefault("SACCADE_PYTHON", sys.executable)
    for name, value in (("SACCADE_STORAGE_OPTIONS", options.storage_options), ("TMPDIR", options.scratch)):
        if value is not None:
            os.environ[name] = value
    os.execv(program(), ["saccade", *rest])


def _index(options: argparse.Namespace) -> int:
    store = open_store(options.store, options.storage_options)
    facts, stamps = insist(facts_of, store), insist(stamps_of, store)
    units = sorted(stamps)
    with Scratch(options.scratch) as folder:
        lines = lines_of(store, facts["hash"], [marker_name(unit) for unit in units])
        count = _folded.fold(lines, stamps, facts["hash"], folder / _folded.NAME)
        store.put(_folded.NAME, folder / _folded.NAME)
    if options.json:
        print(_json_line({"videos": count, "units": len(units), "of_units": facts["units"]}))
    else:
        of_units = f"{len(units)} of {_counted(facts['units'], 'unit')}"
        print(f"{store}/{_folded.NAME}: {_counted(count, 'video')} of {of_units}")
    return _DONE


def _list(options: argparse.Namespace) -> int:
    suffixes = None if options.suffix is None else options.suffix.split(",")
    listed = write_list(
        options.where, options.output, glob=options.glob, suffixes=suffixes, options=options.storage_options
    )
    if options.json:
        print(_json_line({"videos": listed.videos, "bytes": listed.nbytes, "left_out": listed.left_out}))
    else:
        size, others = f"{listed.nbytes / 1e6:.1f} MB", _counted(listed.left_out, "other file")
        print(f"{shown_url(options.output)}: {_counted(listed.videos, 'video')}, {size}; {others} left out")
    return _DONE


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _json_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
