"""Sizes that a compiler has as symbols: torch.export with dynamic axes, torch.compile(dynamic=True), sizes that change.

What is right is the same function without a compiler. The last bits of a grid's lods differ: torch's log2 is not the
library's.
"""

from __future__ import annotations

import pytest

from conftest import import_or_skip

torch = import_or_skip("torch")
import pysaccade as sc  # noqa: E402
from tensor_support import image, uniform  # noqa: E402

CLOSE = 2e-5
LATTICE = sc.Lattice(size=(64, 80), tokens=40)
TRIL = torch.eye(2).repeat(20, 1, 1) * 0.3
FIELD = (uniform(20, 2), TRIL, uniform(20, 3))


def pyramid(x):
    return sc.TexturePyramid(x)


# x [b,3,64,80] and u [b,n,2]
CALLS = {
    "points": lambda x, u: sc.sample(pyramid(x), u, 1.5),
    "points, three levels": lambda x, u: sc.sample(sc.TexturePyramid(x, levels=3), u, u[..., 0]),
    "footprints": lambda x, u: sc.sample(pyramid(x), u, uv_da=u[..., None] * torch.ones(2) * 0.1, max_anisotropy=4),
    "patches": lambda x, u: pyramid(x).sample_patches(sc.PatchPlan(u, u[..., 0])),
    "patches of one plan": lambda x, u: pyramid(x).sample_patches(sc.PatchPlan(u[0], 1.0), normalize="clip"),
    "fixations": lambda x, u: pyramid(x).sample_patches(sc.PatchPlan(u[:, None].expand(-1, 3, -1, -1), 1.0)),
    "foveated": lambda x, u: sc.sample_foveated(pyramid(x), u[:, 0], LATTICE),
    "foveated by default": lambda x, u: sc.sample_foveated(pyramid(x), u[:, 0]),
    "foveated freely": lambda x, u: pyramid(x).sample_foveated(u[:, 0], snap=False, tokens=50),
    "foveated grid": lambda x, u: sc.sample_foveated(pyramid(x), u[:, 0], m0=1.0, e0=0.5, unit="uv", tokens=50),
    "foveated levels": lambda x, u: sc.sample_foveated(sc.generate_mipmaps(x), u[:, 0], LATTICE),
    "numbers": lambda x, u: pyramid(x).sample_foveated((0.3, 0.4), tokens=50),
    "at a level": lambda x, u: sc.sample_at_level(pyramid(x), 2, u),
    "anisotropic": lambda x, u: pyramid(x).sample_anisotropic(sc.PatchPlan(u, 1.0), u + 1),
    "mipmaps": lambda x, u: sc.generate_mipmaps(x)[3],
    "all mipmaps": lambda x, u: sc.generate_mipmaps(x, None, odd="edge")[-1],
    "level": lambda x, u: pyramid(x).level(2),
    "direction": lambda x, u: sc.text_direction(pyramid(x[:, :1]), LATTICE.plan(u[:, 0])),
    "field": lambda x, u: sc.gaussian_field(u, *FIELD),
    "fields": lambda x, u: sc.gaussian_field(u, u + 0.1, TRIL[:1].expand(u.shape[0], u.shape[1], 2, 2), u),
    "distances": lambda x, u: sc.mahalanobis(u, *FIELD[:2]),
    "eccentricity": lambda x, u: sc.level_of_detail(
        sc.eccentricity(u, u[:, 0], size=(64, 80)), m0=2.3, e0=2.3, levels=7
    ),
}


def arguments(batch, points, size=(64, 80)):
    return image(batch, 3, *size), uniform(batch, points, 2, seed=points)


SOME = ("points", "foveated by default", "fields")


@pytest.mark.parametrize(("name", "strict"), [*((name, False) for name in CALLS), *((name, True) for name in SOME)])
def test_exports_with_dynamic_batch_and_points(name, strict):
    call = CALLS[name]

    class Module(torch.nn.Module):
        def forward(self, x, u):
            return call(x, u).clone()

    batch, points = torch.export.Dim("batch", min=2, max=64), torch.export.Dim("points", min=2, max=4096)
    dynamic = ({0: batch}, {0: batch, 1: points})
    made = torch.export.export(Module(), arguments(2, 30), dynamic_shapes=dynamic, strict=strict).module()
    for given in (arguments(2, 30), arguments(5, 17)):
        assert torch.allclose(made(*given), call(*given), atol=CLOSE)


@pytest.mark.parametrize(("name", "dynamic"), [*((name, True) for name in CALLS), *((name, None) for name in SOME)])
def test_compiles_for_sizes_that_change(name, dynamic):
    torch._dynamo.reset()
    call = CALLS[name]
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for batch, points in ((2, 30), (5, 17), (3, 8)):
        x, u = arguments(batch, points)
        x.requires_grad_()
        made, expected = compiled(x, u), call(x, u)
        assert torch.allclose(made, expected, atol=CLOSE)
        if expected.requires_grad:
            (found,), (wanted,) = (torch.autograd.grad(each.square().sum(), x) for each in (made, expected))
            assert torch.allclose(found, wanted, atol=CLOSE)


SIZED = ("points", "patches", "foveated grid", "mipmaps", "all mipmaps", "numbers")


@pytest.mark.parametrize("name", SIZED)
def test_compiles_for_images_of_many_sizes(name):
    torch._dynamo.reset()
    call = CALLS[name]
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for size in ((64, 80), (48, 96), (70, 131)):
        given = arguments(2, 9, size)
        assert torch.allclose(compiled(*given), call(*given), atol=CLOSE)


@pytest.mark.parametrize("name", ["points", "mipmaps"])
def test_exports_with_dynamic_height_and_width(name):
    call = CALLS[name]

    class Module(torch.nn.Module):
        def forward(self, x, u):
            return call(x, u).clone()

    height, width = (torch.export.Dim(word, min=130, max=4096) for word in ("height", "width"))
    dynamic = ({2: height, 3: width}, {})
    made = torch.export.export(Module(), arguments(2, 9, (164, 180)), dynamic_shapes=dynamic).module()
    given = arguments(2, 9, (141, 203))
    assert torch.allclose(made(*given), call(*given), atol=CLOSE)
