"""Where to look: lattices of patches around a fixation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pysaccade._operators import _checks, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade.lattice._lattice_abi import KINDS, Facts, Key, facts_of, native_of
from pysaccade.lattice.acuity import PRESETS, UNITS, length, level_of_detail
from pysaccade.lattice.plan import PatchPlan, coverage_of

Array = Any

_MOST_WAYS = 64
SNAPS = (True, False, "straight_through")
_NO_GRADIENT = (
    "fixation requires a gradient and gets none; pass snap=False, which follows it exactly, or 'straight_through', or "
    "True where it needs none"
)


class Lattice:
    """How patches lie around a fixation: a recipe; plan() makes a plan of it for one size of image.

        lattice = sc.Lattice("nested", patches=273, size=(1080, 1920))
        plan = lattice.plan((0.3, 0.5))

    Kinds:
        "nested": square rings without gap or overlap, whose samples are exact texels; from the number of patches, or
            from e0 and m0, or from `rings`.
        "grid": evenly spread centres; resolution by eccentricity.
        "uniform": evenly spread centres, one resolution.

    The plans are those of the streams and dumps of this package, bit for bit.

    Convention: lod(e) = clamp(log2((e + e0) / m0), 0, levels - 1), with the eccentricity e in degrees (unit="deg": the
    image is `fov_deg` wide, pixels have the ratio `sar`) or in uv (unit="uv").
    """

    def __init__(
        self,
        kind: str = "nested",
        *,
        patches: int | None = None,
        patch_size: int = 16,
        size: tuple[int, int] | None = None,
        levels: int = 7,
        e0: float | None = None,
        m0: float | None = None,
        unit: str | None = None,
        fov_deg: float = 40.0,
        sar: float = 1.0,
        preset: str | None = None,
        rings: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        """Describe a lattice.

        Args:
            kind: "nested", "grid" or "uniform".
            patches: How many at most; 273, unless e0 and m0, a preset or rings decide.
            patch_size: S, even.
            size: (H, W) of the images. Left out: sample_foveated() takes it from the pyramid.
            levels: Of the pyramid.
            e0: Eccentricity at which resolution halves.
            m0: Magnification's numerator; by default e0.
            unit: Of e0 and m0: "deg", which is the default, or "uv".
            fov_deg: Horizontal field of view of the image.
            sar: Width of a pixel over its height.
            preset: "geisler-perry", "horton-hoyt", "rovamo-virsu" or "uv", in place of e0, m0 and unit.
            rings: Nested, one by one: (pixels a sample, patches along the side), innermost first.

        Raises:
            TypeError, ValueError: There is no such lattice.
        """
        who = "Lattice"
        _checks.choice(kind, KINDS, who, "kind")
        if unit is not None:
            _checks.choice(unit, UNITS, who, "unit")
        if preset is not None:
            if (e0, m0, unit) != (None, None, None):
                raise ValueError(f"{who}: preset sets e0, m0 and unit; leave them out, or the preset")
            e0, m0, unit = PRESETS[_checks.choice(preset, PRESETS, who, "preset")]
        if unit is not None and e0 is None and m0 is None:
            raise ValueError(f"{who}: unit is that of e0 and m0; pass one of them, or leave unit out")
        for name, number in (("e0", e0), ("m0", m0), ("fov_deg", fov_deg), ("sar", sar)):
            if number is not None and not (isinstance(number, (int, float)) and 0 < number < float("inf")):
                raise ValueError(f"{who}: {name} must be a number above 0, not {number!r}")
        if patches is not None:
            patches = _checks.whole(patches, who, "patches", 1, 1 << 20)
        if kind == "nested" and patches is not None and (e0 is not None or m0 is not None):
            raise ValueError(
                f"{who}: a nested lattice solves e0 from patches, or follows e0 and m0; leave one out, or take "
                "kind='grid'"
            )
        if kind == "uniform" and (e0 is not None or m0 is not None):
            raise ValueError(f"{who}: a uniform lattice has one resolution; leave e0, m0 and preset out")
        if rings is not None and (kind != "nested" or patches is not None or e0 is not None or m0 is not None):
            raise ValueError(f"{who}: rings are a nested lattice's; leave patches, e0, m0 and preset out")
        self.kind, self.patches, self.unit = kind, patches, unit or "deg"
        self.fov_deg, self.sar = _checks.fixed_number(fov_deg), _checks.fixed_number(sar)
        self.e0, self.m0 = (None if number is None else _checks.fixed_number(number) for number in (e0, m0))
        self.patch_size = _checks.whole(patch_size, who, "patch_size", 2, 256)
        self.levels = _checks.whole(levels, who, "levels", 1, _checks.MOST_LEVELS)
        self.rings = None if rings is None else tuple((int(stride), int(side)) for stride, side in rings)
        self.size = None if size is None else _checks.fixed_size(size, who)
        self._facts: Facts | None = None
        self._bound: dict[tuple[tuple[int, int], int], Lattice] = {}
        self._on: dict[Any, tuple[Any, ...]] = {}
        self._ways: dict[Any, tuple[Any, ...]] = {}  # of plans by one call, by the shape of their fixations
        if self.size is not None:
            self._solved()

    def bound(self, size: tuple[int, int], levels: int) -> Lattice:
        """Bind it to images of (H, W) and so many levels; itself, where it was made for them.

        Raises:
            ValueError: It was made for images of another size.
        """
        if self.size is not None:
            if self.size != tuple(size):
                raise ValueError(f"Lattice: made for size={self.size}, the pyramid's is {tuple(size)}")
            if self.levels <= levels:
                return self
        key = (tuple(size), levels)
        found = self._bound.get(key)  # type: ignore[arg-type]
        if found is None:
            found = Lattice(**{**self._settings(), "size": size, "levels": levels})
            self._bound[key] = found  # type: ignore[index]
        return found

    def _settings(self) -> dict[str, Any]:
        """Its own arguments."""
        settings = {name: getattr(self, name) for name in _SETTINGS}
        return {**settings, "unit": None if self.e0 is None and self.m0 is None else self.unit}

    @property
    def _key(self) -> Key:
        if self.size is None:
            raise ValueError("Lattice: plan() needs the images' size; pass Lattice(..., size=(H, W))")
        return tuple(getattr(self, name) for name in _SETTINGS)

    def _solved(self) -> Facts:
        if self._facts is None:
            self._facts = facts_of(self._key)
        return self._facts

    def __len__(self) -> int:
        """N, the patches of a plan."""
        return self._solved().patches

    @property
    def solved(self) -> tuple[float, float]:
        """(e0, m0) as solved, or as given."""
        facts = self._solved()
        return facts.e0, facts.m0

    def __repr__(self) -> str:
        if self.size is None:
            return f"Lattice('{self.kind}', for any size)"
        e0, m0 = self.solved
        return f"Lattice('{self.kind}', {len(self)} patches, size={self.size}, e0={e0:.4g}, m0={m0:.4g})"

    def __reduce__(self) -> Any:
        return _rebuilt, (self._settings(),)

    # ---- Plans -------------------------------------------------------------------------------------------------------

    def plan(self, fixation: Any, *, snap: bool | str | None = None, device: Any = None) -> PatchPlan:
        """Plan patches around fixations.

        Args:
            fixation: (u, v), or [.., 2]: a tensor on any device, a NumPy array; from 0 to 1. One that gets a gradient,
                or lies on a GPU, is clamped to that.
            snap: True, the default: patches lie on the texels that they read, and the fixation gets no gradient.
                False: they follow the fixation exactly, and give it its gradient. "straight_through": values of True;
                the gradient is theirs, passed on as if nothing were rounded, and so biased.
            device: Where a fixation that is no tensor is planned for: the plan is then of tensors.

        Returns:
            A plan [.., N] of the fixation's kind and place. Nothing waits for a GPU.

        Raises:
            ValueError: A fixation in the host's memory is not finite, or not from 0 to 1, as one in pixels. A fixation
                on a GPU is not looked at, and NaN is 0.5 there.

        Warns:
            UserWarning: The fixation requires a gradient, and snap was left out, which gives it none.

        Convention: uv = (x, y) in [0, 1], origin at the top left.
        """
        chosen = snap is not None
        if snap is None:
            snap = True
        if device is None and self._ways and (snap is True or snap is False):
            again = self._plan_again(fixation, snap, chosen)
            if again is not None:
                return again
        who = "Lattice.plan"
        if snap not in SNAPS or (isinstance(snap, int) and not isinstance(snap, bool)):
            raise ValueError(f"{who}: snap is {snap!r}; it must be True, False or 'straight_through'")
        if not _checks.is_tensor(fixation) and _checks.is_compiling():
            fixation = _checks.recording().tensor_of(fixation, None, device)
        if not _checks.is_tensor(fixation):
            return self._host_plan(fixation, bool(snap), device, who)
        _checks.require_coordinates(fixation, who, "fixation", 2)
        _recording = _checks.recording()
        learns = _recording.needs_gradient(fixation)
        differentiable = learns and snap is not True
        (_checks.require_finite if differentiable else _checks.require_uv)(fixation, who, "fixation")
        if learns and not chosen and not _recording._is_compiling():
            _checks.warn(f"{who}: {_NO_GRADIENT}")
        if device is not None:
            fixation = fixation.to(device)
        if (
            snap
            and not differentiable
            and fixation.device.type == "cpu"
            and _plain_f32(fixation)
            and not _recording.is_traced(fixation)
        ):
            geometry = native_of(*self._key).plan(fixation.detach().resolve_neg().reshape(-1, 2).numpy())
            return self._from_geometry(geometry, tuple(fixation.shape[:-1]), fixation)
        if (
            self.kind == "nested"
            and not differentiable
            and fixation.device.type in {"cpu", "cuda"}
            and not _recording.is_traced(fixation)
            and _recording.is_native(fixation)
        ):
            return self._native_plan(fixation, bool(snap))
        return self._torch_plan(fixation, snap)

    def _native_plan(self, fixation: Array, snap: bool) -> PatchPlan:
        """As _torch_plan() of a nested lattice, where nobody looks on: one call where the fixation lies."""
        facts = self._solved()
        assert self.size is not None
        _, _, at, lod = self._numbers(fixation.dtype, fixation.device)
        flat = fixation.detach().reshape(-1, 2).contiguous()
        shape = (*fixation.shape[:-1], facts.patches)
        centers = flat.new_empty((*shape, 2))
        _tensor_abi.plan_at(flat, at, self.size, facts.snap_px if snap else 0, centers)
        lod = lod.expand(shape)
        if fixation.is_contiguous() and len(self._ways) < _MOST_WAYS:
            self._ways[fixation.shape, fixation.dtype, fixation.device, snap] = (at, lod, facts.snap_px if snap else 0)
        return PatchPlan._with_kept(centers, lod, self._coverage, self.patch_size, self.size)

    def _plan_again(self, fixation: Any, snap: bool, chosen: bool) -> PatchPlan | None:
        """Plan by one call as for fixations of the same shape before; None: there were none."""
        recording = _checks.recording()
        if fixation.__class__ not in recording._PLAIN or recording.is_watched():
            return None
        way = self._ways.get((fixation.shape, fixation.dtype, fixation.device, snap))
        if (
            way is None
            or fixation.is_neg()
            or not fixation.is_contiguous()
            or (fixation.requires_grad and not (snap and chosen) and recording.is_grad_enabled())
        ):
            return None
        _checks.require_uv(fixation, "Lattice.plan", "fixation")
        at, lod, snap_px = way
        centers = at.new_empty((*lod.shape, 2))
        assert self.size is not None
        _tensor_abi.plan_at(fixation.view(-1, 2), at, self.size, snap_px, centers)
        return PatchPlan._with_kept(centers, lod, self._coverage, self.patch_size, self.size)

    def _host_plan(self, fixation: Any, snap: bool, device: Any, who: str) -> PatchPlan:
        try:
            array = np.asarray(fixation)
            if array.dtype.kind not in "biuf":
                raise TypeError
            if not isinstance(fixation, np.ndarray):
                array = array.astype(np.float32)
        except (TypeError, ValueError):
            raise TypeError(
                f"{who}: fixation takes (u, v), a tensor or an array, not {_checks.shown(fixation)}"
            ) from None
        _checks.require_coordinates(array, who, "fixation", 2)
        _checks.require_uv(array, who, "fixation")
        if device is not None or not snap:
            import torch

            tensor = torch.from_numpy(np.ascontiguousarray(readable(array)))
            plan = self.plan(tensor, snap=snap)
            return plan.to(device or "cpu") if device is not None else _as_numpy(plan)
        geometry = native_of(*self._key).plan(readable(array).reshape(-1, 2))
        return self._from_geometry(geometry, array.shape[:-1], None)

    def _from_geometry(self, geometry: np.ndarray[Any, Any], shape: tuple[int, ...], like: Array | None) -> PatchPlan:
        found: Any = geometry.reshape(*shape, *geometry.shape[1:])
        if like is not None:
            import torch

            found = torch.from_numpy(found)
        return PatchPlan._trusted(found[..., :2], found[..., 2], found[..., 3], self.patch_size, self.size)

    def _numbers(self, dtype: Any, device: Any) -> tuple[Any, ...]:
        """What plans on a device are made of: the size twice, offsets or centres in pixels [N, 2], lods [N]."""
        import torch

        compiling = torch.compiler.is_compiling()
        found = None if compiling else self._on.get((dtype, device))
        if found is None:
            assert self.size is not None
            facts = self._solved()
            size = [float(self.size[1]), float(self.size[0])]
            with _checks.recording().lasting():
                found = (
                    torch.tensor(size, dtype=dtype, device=device),
                    _exact(size, device),
                    torch.tensor(facts.at_px, dtype=dtype, device=device),
                    torch.tensor(facts.lod, dtype=dtype, device=device),
                )
            if not compiling:
                self._on[dtype, device] = found
        return found

    def _torch_plan(self, fixation: Array, snap: bool | str) -> PatchPlan:
        """As the library plans, by operators of torch: on any device, differentiable, without waiting."""
        import torch

        if snap is True:
            fixation = fixation.detach()
        facts = self._solved()
        size, exact, at, lod = self._numbers(fixation.dtype, fixation.device)
        inside = torch.nan_to_num(fixation, nan=0.5).clamp(0, 1)
        shape = (*fixation.shape[:-1], facts.patches)
        if self.kind == "nested":
            centre = free = inside * size
            if snap:
                centre = torch.floor(inside.detach() * exact / facts.snap_px + 0.5) * facts.snap_px
                centre = centre.to(size.dtype)
            if snap == "straight_through":
                centre = centre + (free - free.detach())  # adds 0, and the way back
            centers = (centre.unsqueeze(-2) + at) / size
            return PatchPlan._with_kept(centers, lod.expand(shape), self._coverage, self.patch_size, self.size)
        centers = (at / size).expand(*shape, 2)
        if self.kind == "uniform":
            return PatchPlan._with_kept(centers, lod.expand(shape), self._coverage, self.patch_size, self.size)
        delta = at - (inside * size).unsqueeze(-2)
        e = length(delta[..., 0] * facts.unit_per_px[0], delta[..., 1] * facts.unit_per_px[1])
        lods = level_of_detail(e, m0=facts.m0, e0=facts.e0, levels=self.levels)
        return PatchPlan._trusted(centers, lods, self._coverage, self.patch_size, self.size)

    def _coverage(self, plan: PatchPlan) -> Array:
        return coverage_of(plan)


# In the order of native_of().
_SETTINGS = ("kind", "patches", "patch_size", "size", "levels", "e0", "m0", "unit", "fov_deg", "sar", "rings")


def _rebuilt(settings: dict[str, Any]) -> Lattice:
    return Lattice(settings.pop("kind"), **settings)


def _exact(numbers: list[float], device: Any) -> Array:
    """Numbers in f64, or in f32 on a device without f64 (MPS)."""
    import torch

    try:
        return torch.tensor(numbers, dtype=torch.float64, device=device)
    except torch.cuda.OutOfMemoryError:
        raise
    except (TypeError, RuntimeError):
        return torch.tensor(numbers, dtype=torch.float32, device=device)


def _plain_f32(tensor: Array) -> bool:
    return _checks.dtype_name(tensor) == "float32"


def _as_numpy(plan: PatchPlan) -> PatchPlan:
    parts = (plan.centers.numpy(), plan.lod.numpy(), plan.coverage.numpy())
    return PatchPlan._trusted(*parts, plan.patch_size, plan.size)
