"""Docstrings of the tensor functions: each has an example that runs as it stands, and says what is raised."""

from __future__ import annotations

import doctest
import inspect
from functools import reduce
from typing import Any

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402

FUNCTIONS = (
    *("generate_mipmaps", "sample", "sample_anisotropic", "sample_at_level", "sample_foveated", "sample_patches"),
    *(
        "eccentricity",
        "level_of_detail",
        "text_direction",
        "gaussian_field",
        "mahalanobis",
        "scale_tril_of",
        "roi_align",
    ),
    *("channels.components", "channels.pca", "Lattice.plan", "PatchPlan.positions"),
    *("TexturePyramid.generate_mipmaps", "TexturePyramid.from_levels", "TexturePyramid.create_persistent"),
)
CLASSES = ("TexturePyramid", "TexturePool", "Damage", "Lattice", "PatchPlan", "GaussianField", "channels.ChannelStack")
EXAMPLES = (*FUNCTIONS, *CLASSES)


def named(name: str) -> Any:
    return reduce(getattr, name.split("."), sc)


def docstring(name: str) -> str:
    return inspect.getdoc(named(name)) or ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_as_it_stands(name: str, capsys: pytest.CaptureFixture[str]):
    test = doctest.DocTestParser().get_doctest(docstring(name), {"sc": sc, "torch": torch}, name, None, None)
    assert test.examples
    failed, _ = doctest.DocTestRunner(verbose=False).run(test)
    assert not failed, capsys.readouterr().out


def test_example_of_a_frame_that_changes():
    from pysaccade.tensors.persistent import PersistentTexture

    text = inspect.getdoc(PersistentTexture.update) or ""
    test = doctest.DocTestParser().get_doctest(text, {"sc": sc, "torch": torch}, "update", None, None)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.parametrize("name", [*FUNCTIONS, *(f"{each}.__init__" for each in CLASSES if each != "Damage")])
def test_it_says_what_is_raised_and_names_every_argument(name: str):
    text = docstring(name)
    assert "Raises:" in text
    for argument in inspect.signature(named(name)).parameters:
        if argument not in {"self", "cls"}:
            assert f"    {argument}: " in text, argument


def test_no_tensor_function_is_left_out():
    tensor_names = {name for name, module in sc._MODULES.items() if module.startswith(("tensors.", "lattice."))}
    assert tensor_names - {"CUDALearnableGaussianField"} <= set(EXAMPLES)
