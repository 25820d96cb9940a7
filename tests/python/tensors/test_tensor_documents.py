"""The first documents' uses of a texture pyramid, as they were written down: `import pysaccade as texturevlm`."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT, import_or_skip

torch = import_or_skip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves with the next version:DeprecationWarning")
import pysaccade as texturevlm  # noqa: E402
from tensor_support import image  # noqa: E402


def test_foveated():
    tex = texturevlm.TexturePyramid(image(3, 256, 256), levels=7)
    patches = tex.sample_foveated(fixation=(0.5, 0.5), num_patches=256, patch_size=16, M0=1.0, e0=0.5, unit="uv")
    assert patches.shape == (256, 3, 16, 16)
    patches, plan = tex.sample_foveated((0.3, 0.6), return_plan=True)
    assert patches.shape == (len(plan), 3, 16, 16)
    assert len(plan) <= 273


def test_page_of_tensors_runs_as_printed():
    text = (ROOT / "docs" / "TENSORS.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    exec("\n".join(blocks), {})
