"""`pip install .`: the wheel holds library, program and metadata, and works installed, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import pysaccade as sc
from conftest import ROOT, skip_or_fail
from pysaccade._native._library import load
from pysaccade._native._library import program as find_program


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """pip's settings that pack the library and the program of build/ci: nothing is compiled again."""
    if shutil.which("cmake") is None:
        skip_or_fail("cmake", "no CMake")
    build = Path(load()._name).parents[1]
    assert (build / "app/saccade").samefile(find_program())
    given = {"build-dir": tmp_path_factory.mktemp("build"), "cmake.define.SACCADE_PREBUILT": build}
    return [f"--config-settings={name}={value}" for name, value in given.items()]


def run(*command: object, **options: Any) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return done.stdout


@pytest.fixture(scope="session")
def wheel(settings: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", folder, *settings, ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """An interpreter of a new environment, which sees NumPy by `outside()`."""
    run(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv")
    return tmp_path / "venv/bin/python"


def outside() -> dict[str, str]:
    """An environment that leads to no checkout."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SACCADE_", "PYTHON"))}
    return {**clean, "PYTHONPATH": next(path for path in sys.path if path.endswith("site-packages"))}


def test_wheel_holds_library_program_types_and_metadata(wheel: Path):
    assert wheel.name.startswith(f"pysaccade-{sc.__version__}-py3-none-linux_")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"pysaccade-{sc.__version__}.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        entry = archive.read(f"{info}/entry_points.txt").decode()
    assert {f"pysaccade/{name}" for name in ("__init__.py", "py.typed", "lib/libsaccade.so", "bin/saccade")} <= names
    python = ROOT / "python"
    modules = {path.relative_to(python).as_posix() for path in (python / "pysaccade").rglob("*.py")}
    assert modules <= names
    others = [name for name in names - modules if not name.startswith((info, "pysaccade/lib/", "pysaccade/bin/"))]
    assert others == ["pysaccade/py.typed"]
    assert "Requires-Dist: numpy" in metadata
    assert "saccade = pysaccade.dumps._program:main" in entry


def test_library_in_the_wheel_is_the_built_one(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("pysaccade/lib/libsaccade.so") == Path(load()._name).read_bytes()
        assert archive.read("pysaccade/bin/saccade") == find_program().read_bytes()


def test_installed_wheel_dumps_and_reads(wheel: Path, python: Path, clip: Path, dumped: Path, tmp_path: Path):
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel)
    code = f"""if True:
        import sys, pysaccade as sc
        from pysaccade._native._library import load, program
        assert "venv" in sc.__file__, sc.__file__
        assert "venv" in str(program()) and "venv" in load()._name
        print(sc.dump({str(clip)!r}, "d", duration=4)["emissions"], len(sc.Dump("d")), sc.__version__)"""
    count = len(sc.Dump(dumped))
    assert run(python, "-c", code, cwd=tmp_path, env=outside()) == f"{count} {count} {sc.__version__}\n"
    assert (tmp_path / "d/patches.npy").read_bytes() == (dumped / "patches.npy").read_bytes()
    assert sc.__version__ in run(tmp_path / "venv/bin/saccade", "--version", env=outside())


def test_editable_install_finds_what_was_compiled(settings: list[str], python: Path, tmp_path: Path):
    pip = (python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, *settings, "--editable", ROOT, env=outside())
    code = """if True:
        import pysaccade as sc
        from pysaccade._native._library import load, program
        print(sc.__file__, load()._name, program(), sep="\\n")"""
    source, library, program = run(python, "-c", code, cwd=tmp_path, env=outside()).splitlines()
    assert source == str(ROOT / "python/pysaccade/__init__.py")
    site = next((tmp_path / "venv/lib").glob("python*/site-packages"))
    assert (library, program) == (str(site / "pysaccade/lib/libsaccade.so"), str(site / "pysaccade/bin/saccade"))
