"""`examples/vlm.py` runs on a clip with small towers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, import_or_skip

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("model", ["qwen2.5-vl", "qwen3-vl"])
def test_script_runs_on_a_clip_with_small_towers(clip: Path, model: str):
    import_or_skip("transformers")
    command = [sys.executable, ROOT / "examples/vlm.py", clip, "--looks", "3", "--model", model]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(", features (") == 3
    run, of = map(int, re.search(r"(\d+) of (\d+) tokens were run", done.stdout).groups())
    assert 0 < run <= of
