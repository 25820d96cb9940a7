"""ctypes' view of the C headers: written by make_abi.py, and right by a C compiler's word."""

from __future__ import annotations

import ctypes
import inspect
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, skip_or_fail
from pysaccade._native import _abi, _calls, _library
from pysaccade._native._errors import UnavailableError

HEADERS = [ROOT / "include/saccade" / name for name in ("saccade.h", "picture.h", "views.h", "tensor.h")]
STRUCTS = {
    name: kind for name, kind in vars(_abi).items() if inspect.isclass(kind) and issubclass(kind, ctypes.Structure)
}
CONSTANTS = {name: value for name, value in vars(_abi).items() if name.startswith("SACCADE_")}


def test_abi_module_is_what_make_abi_writes():
    written = subprocess.run(
        [sys.executable, ROOT / "python/tools/make_abi.py"], capture_output=True, text=True, check=True
    )
    assert (ROOT / "python/pysaccade/_native/_abi.py").read_text() == written.stdout, (
        "run python3 python/tools/make_abi.py > python/pysaccade/_native/_abi.py"
    )


def test_sizes_offsets_and_constants_are_the_compilers(tmp_path: Path):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang-14")
    if compiler is None:
        skip_or_fail("cc", "no C compiler")
    lines = [f"#include <saccade/{path.name}>" for path in HEADERS]
    lines += ["#include <stdio.h>", "int main(void) {"]
    for name, kind in STRUCTS.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [
            f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name}*)0)->{field}));'
            for field, _ in kind._fields_
        ]
    lines += [f'printf("{name} %d\\n", (int){name});' for name in CONSTANTS]
    (tmp_path / "abi.c").write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run([compiler, "-I", ROOT / "include", "-o", tmp_path / "abi", tmp_path / "abi.c"], check=True)
    said = subprocess.run([tmp_path / "abi"], capture_output=True, text=True, check=True).stdout.split("\n")
    mine = []
    for name, kind in STRUCTS.items():
        mine.append(f"{name} {ctypes.sizeof(kind)}")
        mine += [f"{name}.{at} {getattr(kind, at).offset} {getattr(kind, at).size}" for at, _ in kind._fields_]
    mine += [f"{name} {value}" for name, value in CONSTANTS.items()]
    assert said[:-1] == mine
    sized = sum(path.read_text().count("size_t struct_size;") for path in HEADERS)
    assert len(STRUCTS) == sized + 1  # saccade_array is frozen and has no size
    assert len(CONSTANTS) >= 20


@pytest.mark.parametrize("name", list(_abi.FORMATS))
def test_a_packed_struct_has_the_bytes_of_the_struct(name: str):
    kind, letters = STRUCTS[name], struct.Struct(_abi.FORMATS[name])
    made = kind()
    for number, (field, ctype) in enumerate(kind._fields_):
        value = getattr(made, field)
        if isinstance(value, ctypes.Array):
            setattr(made, field, ctype(*[-number - 100 * k for k in range(len(value))]))
        else:
            setattr(made, field, number + 1)
    values = [getattr(made, field) for field, _ in kind._fields_]
    flat = [number for value in values for number in (value if isinstance(value, ctypes.Array) else [value])]
    assert letters.pack(*flat) == bytes(made)


def test_every_function_of_the_header_is_in_the_library_and_declared():
    text = "".join(path.read_text() for path in HEADERS)
    declared = {
        line.partition("(")[0].split()[-1].lstrip("*") for line in text.split("\n") if line.startswith("SACCADE_API")
    }
    assert declared == set(_abi.PROTOTYPES)
    for name in declared:
        assert getattr(_calls.library(), name).argtypes == _abi.PROTOTYPES[name][1]


def test_library_of_another_version_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_abi, "VERSION", (99, 7))
    _calls.library.cache_clear()
    with pytest.raises(UnavailableError, match=r"^libsaccade: .* is version \d.*, this package speaks 99\.7; [^\n]*$"):
        _calls.library()
    monkeypatch.undo()
    _calls.library.cache_clear()
    assert _calls.library() is _library.load()
