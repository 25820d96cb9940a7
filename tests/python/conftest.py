"""What the tests of pysaccade share: the program, the clips, folders of dumps.

They run on the package of this checkout and on what was built in build/ci; scripts/test sets the environment:
SACCADE_LIBRARY and SACCADE_PROGRAM. Truth comes from outside: NumPy, ffmpeg, torch.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("triton") is not None:
    # Triton and Mesa's llvmpipe bring an LLVM each, and triton crashes where it comes second (docs/PYTHON.md).
    import triton  # type: ignore[import-untyped]  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = set(filter(None, os.environ.get("SACCADE_REQUIRE", "").split(",")))


def skip_or_fail(tool: str, why: str) -> None:
    """Skip this test for want of a tool, or fail where SACCADE_REQUIRE has it."""
    if tool in REQUIRED:
        pytest.fail(f"{tool} is required: {why}")
    pytest.skip(why)


def import_or_skip(module: str) -> Any:
    """Import a module; for want of it skip what asks, a test or a whole file, or fail where SACCADE_REQUIRE has it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if module.partition(".")[0] in REQUIRED:
            pytest.fail(f"{module} is required: {error}")
        pytest.skip(str(error), allow_module_level=True)


# A background job may ignore Ctrl-C, and then so would every process that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("torch") and importlib.util.find_spec("torch") is None:
        skip_or_fail("torch", "torch is not installed")
    if item.get_closest_marker("cuda"):
        import pysaccade._native._library as library

        if library.load().saccade_backend_check(b"cuda", 0) != 0:
            skip_or_fail("cuda", "no GPU that CUDA can use")


@pytest.fixture(scope="session")
def program() -> Path:
    """The program `saccade` that was built."""
    from pysaccade._native._errors import UnavailableError
    from pysaccade._native._library import program as find

    try:
        return find()
    except UnavailableError as error:
        pytest.fail(f"build it first (scripts/build.sh): {error}")


@pytest.fixture(scope="session")
def clip() -> Path:
    """A short clip that comes with the project."""
    return ROOT / "assets" / "demo.mp4"


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an S3-compatible server with a bucket, which the environment names."""
    for module in ("s3fs", "moto", "pyarrow"):
        if importlib.util.find_spec(module) is None:
            skip_or_fail("s3", f"{module} is not installed")
    import bucket_support as support

    with support.s3_server(tmp_path_factory.mktemp("s3") / "log") as url:
        before = dict(os.environ)
        support.set_environment(url)
        support.file_system(url).mkdir(support.BUCKET)
        yield url
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture(scope="session")
def ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    if found is None:
        skip_or_fail("ffmpeg", "ffmpeg is not installed")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def run_program(program: Path):
    """Run `saccade ARGUMENTS...` and return what it printed; fails where it does."""

    def run(*arguments: object) -> str:
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def dumped(run_program, clip: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete dump of a few seconds of the clip, made by the program. Copy it before you change it."""
    folder = tmp_path_factory.mktemp("dumped") / "demo"
    run_program("dump", clip, "-o", folder, "--duration", 4, "--log-level", "error")
    return folder


@pytest.fixture
def copy(dumped: Path, tmp_path: Path) -> Path:
    """A copy of `dumped` to damage."""
    return Path(shutil.copytree(dumped, tmp_path / "copy"))
