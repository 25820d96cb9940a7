"""`python -m pysaccade.work`: the program's `plan`, `work`, `status` ... for stores in buckets and for Parquet."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from pysaccade._native._arguments import shown_url
from pysaccade._native._errors import InputError, UnavailableError
from pysaccade._native._library import program
from pysaccade.many import _check, _folded
from pysaccade.many._asked import (
    asks_json,
    check,
    parsed,
    program_says,
    rest_without_json,
    run_program,
    shared,
    with_settings,
)
from pysaccade.many._catalog import lines_of, marker_name, stamps_of
from pysaccade.many._inputs import is_fetched
from pysaccade.many._list import write_list
from pysaccade.many._manifest import local_manifest
from pysaccade.many._mirror import forget, mirror
from pysaccade.many._native_work import DONE, GOES_ON, INTERRUPTED, STOPPED, UNAVAILABLE, USAGE, stop_line
from pysaccade.many._plan import Plan, Unit
from pysaccade.many._put_plan import RefusedError, hash_there, name_source, put_plan
from pysaccade.many._run_units import pending_of, run_units, share_of
from pysaccade.many._scratch import Scratch
from pysaccade.many._store import LocalStore, insist, open_store
from pysaccade.many._tally import Tally, counted, json_line

_CHUNK_BYTES = 16 << 20
_SCHEME = re.compile(rb'"uri":"([A-Za-z][A-Za-z0-9+.-]*)://')
_HELP = """\
The commands `plan`, `work`, `status`, `verify`, `gc` and `retry` of `saccade`, with the same options, where STORE or
inputs lie in a bucket ("s3://bucket/prefix", by fsspec), or the manifest is Parquet. STORE comes first:

  python -m pysaccade.work list s3://bucket/clips -o clips.jsonl      the videos there, as a manifest
  python -m pysaccade.work plan clips.parquet -o s3://bucket/store --every frame
  python -m pysaccade.work work s3://bucket/store --shard 3/64
  python -m pysaccade.work status s3://bucket/store
  python -m pysaccade.work index s3://bucket/store     folds the index into STORE/index.parquet

--suffix mp4,mkv       of `list`: files that end so (default: as videos do)
--glob PATTERN         of `list`: files whose name below the URL it matches; * also matches /
--scratch DIR          where units are worked on (default: where temporary files lie)
--storage-options JSON of fsspec's file system, such as '{"endpoint_url": "http://..."}'; the environment is heeded, too
Other options are the program's (docs/OPTIONS.md). docs/SCALE.md has the rest.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives its exit code, as docs/SCALE.md lists them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_HELP, end="")
        return DONE if given else USAGE
    try:
        options, rest = parsed(given, list(_COMMANDS))
        return _COMMANDS[options.command](options, rest) if check(options, rest) else DONE
    except RefusedError as refused:
        code, line = refused.code, str(refused)
    except InputError as error:
        code, line = USAGE, str(error)
    except UnavailableError as error:
        code, line = UNAVAILABLE, str(error)
    except ValueError as error:
        code, line = USAGE, str(error)
    except OSError as error:
        code, line = STOPPED, (str(error) or type(error).__name__).splitlines()[0]
    except KeyboardInterrupt:
        code, line = INTERRUPTED, f"interrupted; {GOES_ON}"
    print(f"saccade: {line}", file=sys.stderr)
    return code


def _plan(options: argparse.Namespace, rest: list[str]) -> int:
    if options.output is None:
        raise RefusedError(USAGE, "plan: no STORE; write -o STORE")
    store = open_store(options.output, options.storage_options)
    with Scratch(options.scratch) as folder:
        manifest = local_manifest(options.first, folder, options.storage_options)
        local = LocalStore(folder / "store")
        target = store.path if isinstance(store, LocalStore) else local.path
        if target == local.path and hash_there(store) is not None:  # the program compares, and says what differs
            for name in ("units.jsonl", "plan.json"):
                local.create(f"plan/{name}", store.read(f"plan/{name}"))
        code, said, fault = program_says(["plan", manifest.path, "-o", str(target), *rest])
        if code == DONE and isinstance(store, LocalStore):
            name_source(store, "manifest", "name", manifest.path, manifest.name, folder)
        elif code == DONE:
            put_plan(local, store, "manifest", "name", manifest.name)
        sys.stdout.write(said.replace(str(local), str(store)))
        sys.stderr.write(manifest.renamed(fault).replace(str(local), str(store)))
        return code


def _work(options: argparse.Namespace, rest: list[str]) -> int:
    store = open_store(options.first, options.storage_options)
    plan = insist(Plan, store)
    if isinstance(store, LocalStore) and not _has_remote_inputs(plan):  # the program checks it
        os.execv(program(), ["saccade", "work", str(store.path), *shared(options), *rest])
    rest = with_settings(options, rest)
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup(1): it is to outlive its terminal
        signal.signal(signal.SIGHUP, _interrupt)
    insist(plan.check_content)
    units = share_of(plan.units, options.shard) if options.unit is None else [_unit(plan, options.unit)]
    as_json, rest = rest_without_json(rest)
    tally = Tally(plan, units, progress=options.progress or "auto", metrics=options.metrics,
                  max_bad_percent=float(options.max_bad or 5))  # fmt: skip
    todo = pending_of(plan, units, tally)
    try:
        with Scratch(options.scratch) as folder:
            code, why = run_units(
                plan, todo, folder, tally, engine=options.engine or "work", arguments=rest,
                input_options=options.storage_options, others=_others(plan, units) if options.unit is None else (),
            )  # fmt: skip
    except KeyboardInterrupt:
        code, why = INTERRUPTED, f"{store}: interrupted; {GOES_ON}"
    else:
        why = why and f"{store}: {stop_line(code, why)}"
    tally.say(last=True)
    if why:
        raise RefusedError(code, why)
    print(json_line(tally.counts()) if as_json else f"{store}: {tally.line()}")
    return code


def _others(plan: Plan, units: Sequence[Unit]) -> list[Unit]:
    own = {unit.name for unit in units}
    return [unit for unit in plan.units if unit.name not in own]


def _unit(plan: Plan, name: str) -> Unit:
    for unit in plan.units:
        if unit.name == name:
            return unit
    what = f"they are {plan.units[0].name} to {plan.units[-1].name}" if plan.units else "it is empty"
    raise RefusedError(USAGE, f"--unit {name}: the plan has no such unit; {what}")


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def _has_remote_inputs(plan: Plan) -> bool:
    """Whether any input must be fetched; reads all of the items' URIs."""
    with plan.store.open("plan/items.jsonl") as file:
        rest = b""
        while chunk := file.read(_CHUNK_BYTES):
            whole, newline, rest_of = (rest + chunk).rpartition(b"\n")
            rest = rest_of
            for found in _SCHEME.finditer(whole + newline):
                if is_fetched(f"{found[1].decode()}://"):
                    return True
    return False


def _status(options: argparse.Namespace, rest: list[str]) -> int:
    """Needs a store's small files alone. Where a marker is wrong the plan is compared, too, and all of it is read."""
    store = open_store(options.first, options.storage_options)
    if isinstance(store, LocalStore):
        return run_program(["status", str(store.path), *rest])
    plan = insist(Plan, store)
    for whole in (False, True):
        with mirror(plan, "commits", "quarantine", items=whole) as copy:
            code, said, fault = program_says(["status", str(copy), *rest])
        if code != STOPPED:
            break
    sys.stdout.write(said.replace(str(copy), str(store)))
    sys.stderr.write(fault.replace(str(copy), str(store)))
    return code


def _retry(options: argparse.Namespace, rest: list[str]) -> int:
    """Quarantine becomes a plan in another store, which may be a bucket, too."""
    store = open_store(options.first, options.storage_options)
    if options.output is None:
        raise RefusedError(USAGE, "retry: no STORE for what is to be tried again; write -o STORE2")
    target = open_store(options.output, options.storage_options)
    if isinstance(target, LocalStore) and isinstance(store, LocalStore):
        return run_program(["retry", str(store.path), "-o", str(target.path), *rest])
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.scratch)))
        source = store.path if isinstance(store, LocalStore) else stack.enter_context(
            mirror(insist(Plan, store), "commits", "quarantine", items=True)
        )  # fmt: skip
        local = target if isinstance(target, LocalStore) else LocalStore(folder / "store")
        code, said, fault = program_says(["retry", str(source), "-o", str(local), *rest])
        if code == DONE and (local.path / "plan").exists():  # else there is nothing to try again
            if isinstance(target, LocalStore):
                name_source(local, "retry_of", "store", str(source), str(store), folder)
            else:
                put_plan(local, target, "retry_of", "store", str(store))
        for stream, text in ((sys.stdout, said), (sys.stderr, fault)):
            stream.write(text.replace(str(local), str(target)).replace(str(source), str(store)))
        return code


def _verify(options: argparse.Namespace, rest: list[str]) -> int:
    store = open_store(options.first, options.storage_options)
    if isinstance(store, LocalStore):
        return run_program(["verify", str(store.path), *rest])
    as_json = asks_json(options, rest)
    done = _check.verify(insist(Plan, store))
    if as_json:
        print(json_line({"units": done.units, "members": done.members, "faults": done.faults}))
    else:
        counts = (done.units, "unit"), (done.members, "member"), (len(done.faults), "fault")
        print(f"{store}: {', '.join(counted(*count) for count in counts)}")
    for fault in done.faults:
        print(f"saccade: {store}: {fault}", file=sys.stderr)
    if done.of_units:
        again = "remove commits/UNIT.json of such a unit, and `work` does it again"
        print(f"saccade: {store}: {again}", file=sys.stderr)
    return STOPPED if done.faults else DONE


def _gc(options: argparse.Namespace, rest: list[str]) -> int:
    store = open_store(options.first, options.storage_options)
    if isinstance(store, LocalStore):
        age = [] if options.older_than is None else ["--older-than", options.older_than]
        return run_program(["gc", str(store.path), *age, *rest])
    as_json, dry_run = asks_json(options, rest), "--dry-run" in rest
    found = _check.remove_orphans(insist(Plan, store), float(options.older_than or 86400), dry_run=dry_run)
    copies, nbytes = 0 if dry_run else forget(store), sum(orphan.nbytes for orphan in found)
    if as_json:  # attempts are folders of the machines that work, not of a bucket
        print(json_line({"attempts": 0, "files": len(found), "bytes": nbytes}))
    else:
        for orphan in found if dry_run else ():
            print(f"{store}/{orphan.name}")
        what = f"{counted(0, 'attempt')} and {counted(len(found), 'file')} ({nbytes / 1e6:.1f} MB)"
        removed = f"{'would remove' if dry_run else 'removed'} {what}"
        print(f"{store}: {removed}{', and its copy on this machine' if copies else ''}")
    return DONE


def _index(options: argparse.Namespace, rest: list[str]) -> int:
    as_json, _ = rest_without_json(rest)
    store = open_store(options.first, options.storage_options)
    plan, stamps = insist(Plan, store), insist(stamps_of, store)
    units = sorted(stamps)
    with Scratch(options.scratch) as folder:
        lines = lines_of(store, plan.hash, [marker_name(unit) for unit in units])
        count = _folded.fold(lines, stamps, plan.hash, folder / _folded.NAME)
        store.upload(folder / _folded.NAME, _folded.NAME)
    if as_json:
        print(json_line({"videos": count, "units": len(units), "of_units": len(plan.units)}))
        return DONE
    of_units = f"{len(units)} of {counted(len(plan.units), 'unit')}"
    print(f"{store}/{_folded.NAME}: {counted(count, 'video')} of {of_units}")
    return DONE


def _list(options: argparse.Namespace, rest: list[str]) -> int:
    """A manifest of what lies in a bucket or folder."""
    if options.output is None:
        raise RefusedError(USAGE, "list: no manifest; write -o MANIFEST, a .jsonl, .csv or .txt")
    suffixes = None if options.suffix is None else options.suffix.split(",")
    listed = write_list(
        options.first, options.output, glob=options.glob, suffixes=suffixes, options=options.storage_options
    )
    if rest_without_json(rest)[0]:
        print(json_line({"videos": listed.videos, "bytes": listed.nbytes, "left_out": listed.left_out}))
    else:
        size, others = f"{listed.nbytes / 1e6:.1f} MB", counted(listed.left_out, "other file")
        print(f"{shown_url(options.output)}: {counted(listed.videos, 'video')}, {size}; {others} left out")
    return DONE


_COMMANDS = {
    "list": _list,
    "plan": _plan,
    "work": _work,
    "status": _status,
    "verify": _verify,
    "gc": _gc,
    "retry": _retry,
    "index": _index,
}
