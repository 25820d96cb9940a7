"""The Python of docs/ runs as it is printed, in a folder with the project's assets."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT


def blocks(page: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(run_program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With assets/, and what the pages say was dumped before."""
    path = tmp_path_factory.mktemp("docs")
    (path / "assets").symlink_to(ROOT / "assets")
    run_program("dump", ROOT / "assets/desktop.mp4", "-o", path / "out/desktop", "--log-level", "error")
    run_program(
        "dump", ROOT / "assets/demo.mp4", "-o", path / "out/demo/patches", "--duration", 3, "--log-level", "error"
    )
    return path


BLOCKS = {"README.md": 2, "docs/PYTHON.md": 5, "docs/DUMPS.md": 3, "docs/MODELS.md": 7}
PAGES = [(page, i) for page in BLOCKS for i in range(len(blocks(page)))]


@pytest.mark.torch
@pytest.mark.parametrize(("page", "number"), PAGES)
def test_block_runs_as_printed(folder: Path, page: str, number: int):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", blocks(page)[number]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_page_has_blocks():
    assert {page: len(blocks(page)) for page in BLOCKS} == BLOCKS
