"""`pip install .`: the wheel holds library, program and metadata, and works installed, away from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pysaccade as sc
from conftest import ROOT, skip_or_fail
from pysaccade._native._library import load
from pysaccade._native._library import program as find_program


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout with the library and the program of build/ci: nothing is compiled again."""
    if shutil.which("cmake") is None:
        skip_or_fail("cmake", "no CMake")
    library, program = load()._name, str(find_program())
    prebuilt = tmp_path_factory.mktemp("prebuilt")
    for part, path in (("capi/libsaccade.so", library), ("app/saccade", program)):
        (prebuilt / part).parent.mkdir()
        (prebuilt / part).symlink_to(path)
    settings = [f"build-dir={tmp_path_factory.mktemp('build')}", f"cmake.define.SACCADE_PREBUILT={prebuilt}"]
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    done = subprocess.run(
        [*command, *(f"--config-settings={setting}" for setting in settings)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return next(folder.glob("*.whl"))


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


def test_installed_wheel_dumps_and_reads(wheel: Path, clip: Path, dumped: Path, tmp_path: Path):
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], check=True)
    code = f"""if True:
        import sys, pysaccade as sc
        from pysaccade._native._library import load, program
        assert "venv" in sc.__file__, sc.__file__
        assert "venv" in str(program()) and "venv" in load()._name
        print(sc.dump({str(clip)!r}, "d", duration=4)["emissions"], len(sc.Dump("d")), sc.__version__)"""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SACCADE_", "PYTHON"))}
    site = next(path for path in sys.path if path.endswith("site-packages"))
    done = subprocess.run(
        [python, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**clean, "PYTHONPATH": site},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count = len(sc.Dump(dumped))
    assert done.stdout == f"{count} {count} {sc.__version__}\n"
    assert (tmp_path / "d/patches.npy").read_bytes() == (dumped / "patches.npy").read_bytes()
    said = subprocess.run(
        [tmp_path / "venv/bin/saccade", "--version"], capture_output=True, text=True, env=clean, check=False
    )
    assert sc.__version__ in said.stdout
