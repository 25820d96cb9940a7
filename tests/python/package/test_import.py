"""`import pysaccade` is quick, needs NumPy alone, and opens no library of ours, FFmpeg's or CUDA's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pysaccade as sc
from conftest import ROOT


def run_python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_torch_and_no_native_library():
    code = """if True:
        import sys, json, pysaccade
        maps = open("/proc/self/maps").read()
        print(json.dumps([name in sys.modules for name in ("torch", "PIL", "numpy.random")]
            + [name in maps for name in ("libsaccade", "libavcodec", "libcuda", "libtorch")]))"""
    loaded = json.loads(run_python(code))
    assert loaded[:2] + loaded[3:] == [False] * 6


def test_every_public_name_is_listed_and_found():
    assert set(sc.__all__) == set(sc._MODULES)
    for name in sc.__all__:
        if name not in dir(sc):
            pytest.fail(name)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Strem'"):
        sc.Strem  # noqa: B018


def test_version_is_that_of_cmake():
    assert f"project(saccade VERSION {sc.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_missing_library_is_one_clear_line():
    code = """if True:
        import pysaccade as sc, pysaccade._native._library as library
        try: library.load()
        except sc.UnavailableError as error: print(error)"""
    assert run_python(code, SACCADE_LIBRARY="/nowhere/x.so") == "SACCADE_LIBRARY=/nowhere/x.so: no such file\n"


def test_library_that_is_no_library_is_one_clear_line(tmp_path: Path):
    (tmp_path / "x.so").write_text("no ELF")
    code = """if True:
        import pysaccade as sc, pysaccade._native._library as library
        try: library.load()
        except sc.UnavailableError as error: print(error)"""
    said = run_python(code, SACCADE_LIBRARY=str(tmp_path / "x.so"))
    assert said.count("\n") == 1
    assert "x.so" in said


def test_errors_are_what_python_programs_catch():
    assert issubclass(sc.InputError, OSError)
    assert issubclass(sc.UnavailableError, RuntimeError)
