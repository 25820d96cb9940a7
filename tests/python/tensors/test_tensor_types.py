"""What a type checker knows of the tensor functions: tensors give tensors, arrays give arrays, options have names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import import_or_skip

import_or_skip("torch")
import_or_skip("mypy")

ROOT = Path(__file__).parents[3]
GOOD = """
from typing import Any, TypeAlias
import numpy as np
import torch
from typing_extensions import assert_type
import pysaccade as sc

Numbers: TypeAlias = np.ndarray[Any, Any]

def of_tensors(x: torch.Tensor, plan: sc.PatchPlan) -> torch.Tensor:
    pyramid = sc.TexturePyramid(x)
    assert_type(pyramid.sample_foveated(x, tokens=60, snap="straight_through"), torch.Tensor)
    assert_type(pyramid.sample_foveated(x, return_plan=True)[0], torch.Tensor)
    assert_type(sc.sample_foveated(pyramid, x), torch.Tensor)
    assert_type(sc.sample_patches([x, x], plan, normalize="clip"), torch.Tensor)
    assert_type(sc.sample_anisotropic(pyramid, plan, (1, 0)), torch.Tensor)
    assert_type(sc.sample(pyramid, x), torch.Tensor)
    assert_type(sc.generate_mipmaps(x), list[torch.Tensor])
    assert_type(pyramid.level(0), torch.Tensor)
    assert_type(pyramid[1], torch.Tensor)
    assert_type(sc.gaussian_field(x, x, x, x), torch.Tensor)
    assert_type(sc.GaussianField(3)(x), torch.Tensor)
    kept = sc.TexturePyramid.create_persistent(size=(4, 4), min_samples=3)
    assert_type(kept.update(x), sc.Damage)
    return kept.sample_patches(plan)

def of_arrays(x: Numbers, plan: sc.PatchPlan) -> None:
    assert_type(sc.TexturePyramid(x).sample_patches(plan), Numbers)
    assert_type(sc.sample([x], x), Numbers)
    assert_type(sc.mahalanobis(x, x, x), Numbers)
"""
BAD = """
import torch
import pysaccade as sc

def wrong(x: torch.Tensor, pyramid: sc.TexturePyramid[torch.Tensor]) -> None:
    pyramid.sample_foveated(x, num_patchs=273)
    pyramid.sample_foveated(x, snap="strait")
    sc.sample_foveated(pyramid, x, num_patchs=3)
    sc.TexturePyramid(x, odd="nope")
    sc.TexturePyramid(x, filtering="soft")
    sc.sample(pyramid, x, padding="zero")
    pyramid.update(x)
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Lines of each snippet that mypy --strict objects to."""
    folder = tmp_path_factory.mktemp("types")
    for name, text in (("good", GOOD), ("bad", BAD)):
        (folder / f"{name}.py").write_text(text)
    files = [str(folder / "good.py"), str(folder / "bad.py")]
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary", *files]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)  # its pyproject.toml says where we are
    found = {"good": set(), "bad": set()}
    for line in run.stdout.splitlines():
        path, number, what = line.split(":", 2)
        if what.startswith(" error:"):
            found[Path(path).stem].add(int(number))
    assert run.stderr == ""
    return found


def test_right_calls_have_types(lines):
    assert lines["good"] == set()


def test_wrong_options_are_errors(lines):
    first = BAD.splitlines().index("def wrong(x: torch.Tensor, pyramid: sc.TexturePyramid[torch.Tensor]) -> None:") + 2
    assert lines["bad"] == set(range(first, first + 7))
