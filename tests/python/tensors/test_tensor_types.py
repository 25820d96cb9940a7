"""What a type checker knows of the tensor functions: tensors give tensors, arrays give arrays, options have names."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from conftest import import_or_skip

import_or_skip("torch")
import_or_skip("mypy")
import pysaccade as sc  # noqa: E402
from pysaccade.tensors import _types  # noqa: E402

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
    assert_type(sc.sample_foveated(pyramid, x, 273, M0=1.0), torch.Tensor)
    assert_type(sc.sample_foveated([x, x], x, return_plan=True), tuple[torch.Tensor, sc.PatchPlan])
    assert_type(sc.sample_at_level(pyramid, 0, num_patches=100), torch.Tensor)
    assert_type(pyramid.sample_at_level(0, x, return_plan=True), tuple[torch.Tensor, sc.PatchPlan])
    assert_type(pyramid.sample_anisotropic((0.5, 0.5), (4, 1), 273), torch.Tensor)
    assert_type(sc.text_direction(pyramid, plan), torch.Tensor)
    assert_type(sc.eccentricity(x, (0.5, 0.5), size=(4, 4), unit="uv"), torch.Tensor)
    assert_type(sc.level_of_detail(2.0, m0=1.0, e0=1.0, levels=7), float)
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
    assert_type(sc.sample_foveated([x], (0.5, 0.5), 273), Numbers)
"""
BAD = """
import torch
import pysaccade as sc

def wrong(x: torch.Tensor, pyramid: sc.TexturePyramid[torch.Tensor], plan: sc.PatchPlan) -> None:
    pyramid.sample_foveated(x, num_patchs=273)
    pyramid.sample_foveated(x, snap="strait")
    sc.sample_foveated(pyramid, x, num_patchs=3)
    sc.TexturePyramid(x, odd="nope")
    sc.TexturePyramid(x, filtering="soft")
    sc.sample(pyramid, x, padding="zero")
    pyramid.update(x)
    sc.Lattice("nest")
    sc.Lattice(preset="rovamo")
    sc.Lattice(unit="degrees")
    sc.eccentricity(x, x, size=(4, 4), unit="px")
    sc.sample_at_level(pyramid, 0, num_patchs=3)
    plan.positions("hw")
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
    lines_of = BAD.splitlines()
    first = next(i for i, line in enumerate(lines_of) if line.startswith("def wrong(")) + 2
    assert lines["bad"] == set(range(first, len(lines_of) + 1))


@pytest.mark.parametrize(
    ("function", "options", "others"),
    [
        (sc.sample_foveated, _types.FoveatedOptions, {"return_plan"}),
        (sc.sample_at_level, _types.PatchOptions, {"num_patches", "patch_size", "return_plan"}),
        (sc.sample_anisotropic, _types.AnisotropicOptions, {"return_plan"}),
        (sc.sample_patches, _types.PatchOptions, set()),
        (sc.sample, _types.SampleOptions, set()),
    ],
)
def test_typed_options_are_those_of_the_function(function, options, others):
    keywords = {name for name, each in inspect.signature(function).parameters.items() if each.kind is each.KEYWORD_ONLY}
    assert set(typing.get_type_hints(options)) == keywords - others
    assert others <= keywords
