"""The notebooks of examples/ run from top to bottom."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

from conftest import ROOT, skip_or_fail

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.torch
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::RuntimeWarning")
def test_notebook_runs(path, monkeypatch: pytest.MonkeyPatch):
    for module in ("nbclient", "nbformat", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            skip_or_fail("notebooks", f"{module} is not installed")
    for tool in ("Xvfb", "xterm", "xdotool") if path.stem == "screen_agent" else ():
        if shutil.which(tool) is None:
            skip_or_fail("gl", f"{tool} is not installed")
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs before you commit"
    NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(ROOT / "examples")}}).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 8
