"""NumPy arrays in, NumPy arrays out, in a process where torch can't be imported."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import pysaccade as sc
from conftest import import_or_skip

BLOCKED = """
import sys
sys.modules["torch"] = None  # import torch: ImportError
import numpy as np
import pysaccade as sc

rng = np.random.default_rng(0)
image = rng.random((2, 3, 40, 36), dtype=np.float32)
levels = sc.generate_mipmaps(image, 4)
x = image
for level in levels[1:]:
    x = x[..., : x.shape[-2] // 2 * 2, : x.shape[-1] // 2 * 2]
    x = (((x[..., ::2, ::2] + x[..., ::2, 1::2]) + x[..., 1::2, ::2]) + x[..., 1::2, 1::2]) * np.float32(0.25)
    assert type(level) is np.ndarray and np.array_equal(level, x)

pyramid = sc.TexturePyramid(image)
patches, plan = sc.sample_foveated(pyramid, (0.4, 0.6), tokens=60, return_plan=True)
assert type(patches) is np.ndarray and patches.shape == (2, len(plan), 3, 16, 16), patches.shape
assert pyramid.sample_foveated(np.array([[0.1, 0.2], [0.3, 0.4]], np.float32)).shape[:2][0] == 2
assert plan.geometry.shape == (len(plan), 4)
for kind in ("nested", "grid", "uniform"):
    free = sc.Lattice(kind, tokens=60, size=(40, 36)).plan(np.array([0.4, 0.6]))
    assert free.coverage.dtype == np.float32
assert pyramid.sample_at_level(1, [[0.5, 0.5]]).shape == (2, 1, 3, 16, 16)
assert pyramid.sample_anisotropic(plan, (2.0, 1.0)).shape == patches.shape
uv = rng.random((2, 5, 2), dtype=np.float32)
assert sc.sample(pyramid, uv, 0.5).shape == (2, 3, 5)
da = np.full((2, 5, 2, 2), 0.05, np.float32)
assert sc.sample(pyramid, uv, uv_da=da, max_anisotropy=4).shape == (2, 3, 5)
codes = (image * 255).astype(np.uint8)
assert sc.TexturePyramid(codes).sample_patches(plan).dtype == np.uint8
assert sc.TexturePyramid(codes).sample_patches(plan, normalize="clip").dtype == np.float32
out = np.empty(patches.shape, np.float16)
assert pyramid.sample_patches(plan, out=out) is out

mean, tril = rng.random((7, 2)), np.eye(2) * 0.3 + np.zeros((7, 2, 2))
weight, at = rng.random((7, 3)), rng.random((5, 2))
q = (((at[:, None] - mean) / 0.3) ** 2).sum(-1)
assert np.allclose(sc.mahalanobis(at, mean, tril), q)
assert np.allclose(sc.gaussian_field(at, mean, tril, weight), np.exp(-q / 2) @ weight)
assert sc.level_of_detail(np.array([0.0, 3.5]), m0=1.0, e0=0.5, levels=3).tolist() == [0.0, 2.0]
assert sc.eccentricity(at, (0.5, 0.5), size=(10, 10)).shape == (5,)
print("done")
"""


def test_everything_forward_works_without_torch():
    done = subprocess.run([sys.executable, "-W", "error", "-c", BLOCKED], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.torch
def test_numpy_and_torch_give_the_same_bits():
    import torch

    image = np.random.default_rng(1).random((2, 3, 50, 44), dtype=np.float32)
    tensor = torch.from_numpy(image)
    at = np.array([[0.2, 0.9], [0.6, 0.4]], np.float32)
    here, plan = sc.sample_foveated(sc.TexturePyramid(image), at, return_plan=True)
    there, plan_too = sc.sample_foveated(sc.TexturePyramid(tensor), torch.from_numpy(at), return_plan=True)
    assert np.array_equal(here, there.numpy())
    assert np.array_equal(plan.geometry, plan_too.geometry.numpy())
    assert torch.equal(sc.TexturePyramid(tensor).sample_patches(plan), there)
    upside_down = sc.TexturePyramid(image[:, :, ::-1]).sample_patches(plan)
    assert np.array_equal(upside_down, sc.TexturePyramid(tensor.flip(2)).sample_patches(plan).numpy())


@pytest.mark.parametrize("snap", [True, False])
def test_fixation_of_plain_numbers_gives_numpy_plans(snap):
    import_or_skip("torch") if not snap else None
    plan = sc.Lattice(size=(64, 64), tokens=40, levels=4).plan((0.3, 0.4), snap=snap)
    assert type(plan.centers) is np.ndarray
    assert plan.centers.shape == (len(plan), 2)
