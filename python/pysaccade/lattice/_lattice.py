"""Where to look: lattices of patches around a fixation."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pysaccade._operators import _checks, _tensor_abi
from pysaccade._operators._gate import readable
from pysaccade.lattice._lattice_abi import KINDS, Facts, Fovea, Key, NativeLattice, facts_of, judge, native_of
from pysaccade.lattice._words import Kind, Preset, Snap, Unit
from pysaccade.lattice.acuity import UNITS, length, level_of_detail, presets
from pysaccade.lattice.plan import PatchPlan, coverage_of

Array = Any

SNAPS = (True, False, "straight_through")
_NO_GRADIENT = (
    "fixation requires a gradient and gets none; pass snap=False, which follows it exactly, or 'straight_through', or "
    "True where it needs none"
)


class Lattice:
    """How patches lie around a fixation: a recipe; plan() makes a plan of it for one size of image.

        >>> lattice = sc.Lattice(tokens=273, size=(1080, 1920))
        >>> plan = lattice.plan((0.3, 0.5))
        >>> plan.centers.shape == (len(lattice), 2)
        True

    Kinds:
        "nested": square rings without gap or overlap, whose samples are exact texels; from `tokens` and `fovea`, or
            from e0 and m0, or from `rings`.
        "grid": evenly spread centres; resolution by eccentricity.
        "uniform": evenly spread centres, one resolution.

    The rules, defaults and plans are those of the streams and dumps of this package, bit for bit.

    Convention: lod(e) = clamp(log2((e + e0) / m0), 0, levels - 1), with the eccentricity e in degrees (unit="deg": the
    image is `fov_deg` wide, pixels have the ratio `sar`) or in uv (unit="uv").
    """

    def __init__(
        self,
        kind: Kind = "nested",
        *,
        tokens: int | None = None,
        fovea: float | str | None = None,
        patch_size: int = 16,
        size: tuple[int, int] | None = None,
        levels: int = 7,
        e0: float | None = None,
        m0: float | None = None,
        unit: Unit | None = None,
        fov_deg: float = 40.0,
        sar: float = 1.0,
        preset: Preset | None = None,
        rings: Sequence[tuple[int, int]] | None = None,
        patches: int | None = None,
    ) -> None:
        """Describe a lattice.

        Args:
            kind: "nested", "grid" or "uniform".
            tokens: How many patches inside the image, at most; 273, unless e0 and m0, a preset or rings decide. Nested:
                N is the most that a fixation has; where one has fewer, the plan ends with patches of coverage 0.
            fovea: Nested: width of full resolution, 192 (pixels) or "6deg", rounded to four patches; by default as wide
                as three fifths of the tokens allow.
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
            patches: Deprecated. How many at most, those outside the image included; use `tokens`.

        Raises:
            TypeError, ValueError: There is no such lattice. Of a budget that is too small the text names the least one.
        """
        who = "Lattice"
        if patches is not None:
            _checks.deprecated(who, "patches", "tokens, which counts patches inside the image alone")
        its_unit: str | None = unit
        if preset is not None:
            if (e0, m0, unit) != (None, None, None):
                raise ValueError(f"{who}: preset sets e0, m0 and unit; leave them out, or the preset")
            e0, m0, its_unit = presets()[_checks.choice(preset, presets(), who, "preset")]
        if its_unit is not None and e0 is None and m0 is None:
            raise ValueError(f"{who}: unit is that of e0 and m0; pass one of them, or leave unit out")
        self._take(
            {
                **{"kind": kind, "tokens": tokens, "fovea": fovea, "patches": patches, "patch_size": patch_size},
                **{
                    "size": size,
                    "levels": levels,
                    "e0": e0,
                    "m0": m0,
                    "unit": its_unit,
                    "fov_deg": fov_deg,
                    "sar": sar,
                },
                "rings": rings,
            }
        )

    def _take(self, given: dict[str, Any]) -> None:
        """Check types, and take what is given; the library judges what goes together."""
        who = "Lattice"
        self.kind = _checks.choice(given["kind"], KINDS, who, "kind")
        self.unit = "deg" if given["unit"] is None else _checks.choice(given["unit"], UNITS, who, "unit")
        for name in ("e0", "m0", "fov_deg", "sar"):
            number = given[name]
            if number is not None and not (isinstance(number, (int, float)) and 0 < number < float("inf")):
                raise ValueError(f"{who}: {name} must be a number above 0, not {number!r}")
        self.tokens, self.patches = (
            None if given[name] is None else _checks.whole(given[name], who, name, 1, 1 << 20)
            for name in ("tokens", "patches")
        )
        self.fovea = None if given["fovea"] is None else _width(given["fovea"], who)
        self.fov_deg, self.sar = _checks.fixed_number(given["fov_deg"]), _checks.fixed_number(given["sar"])
        self.e0, self.m0 = (None if given[name] is None else _checks.fixed_number(given[name]) for name in ("e0", "m0"))
        self.patch_size = _checks.whole(given["patch_size"], who, "patch_size", 2, 256)
        self.levels = _checks.whole(given["levels"], who, "levels", 1, _checks.MOST_LEVELS)
        rings, size = given["rings"], given["size"]
        self.rings = None if rings is None else tuple((int(stride), int(side)) for stride, side in rings)
        self.size = None if size is None else _checks.fixed_size(size, who)
        self._facts: Facts | None = None
        self._bound: dict[tuple[tuple[int, int], int], Lattice] = {}
        self._on: dict[Any, tuple[Any, ...]] = {}
        if self.size is not None:
            self._solved()
        else:
            judge(self._settings_in_order())

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
            found = _rebuilt({**self._settings(), "size": size, "levels": levels})
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
        return self._settings_in_order()

    def _settings_in_order(self) -> Key:
        return tuple(getattr(self, name) for name in _SETTINGS)

    @cached_property
    def _native(self) -> NativeLattice:
        """The library's."""
        return native_of(*self._key)

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

    def plan(self, fixation: Any, *, snap: Snap | None = None, device: Any = None) -> PatchPlan:
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

                >>> lattice = sc.Lattice("uniform", tokens=12, size=(300, 400))
                >>> lattice.plan(torch.tensor([[0.3, 0.5], [0.7, 0.5]])).centers.shape
                torch.Size([2, 12, 2])

        Raises:
            ValueError: A fixation in the host's memory is not finite, or not from 0 to 1, as one in pixels. A fixation
                on a GPU is not looked at, and NaN is 0.5 there.

        Warns:
            UserWarning: The fixation requires a gradient, and snap was left out, which gives it none.

        Convention: uv = (x, y) in [0, 1], origin at the top left.
        """
        who, chosen = "Lattice.plan", snap is not None
        if snap is None:
            snap = True
        if snap not in SNAPS or (isinstance(snap, int) and not isinstance(snap, bool)):
            raise ValueError(f"{who}: snap is {snap!r}; it must be True, False or 'straight_through'")
        if not _checks.is_tensor(fixation) and _checks.is_compiling():
            fixation = _checks.recording().tensor_of(fixation, None, device)
        if not _checks.is_tensor(fixation):
            return self._host_plan(fixation, bool(snap), device, who)
        _checks.require_coordinates(fixation, who, "fixation", 2)
        recording = _checks.recording()
        learns = recording.needs_gradient(fixation)
        differentiable = learns and snap is not True
        (_checks.require_finite if differentiable else _checks.require_uv)(fixation, who, "fixation")
        if learns and not chosen and not recording._is_compiling():
            _checks.warn(f"{who}: {_NO_GRADIENT}")
        if device is not None:
            fixation = fixation.to(device)
        has_library = fixation.is_cpu or (fixation.is_cuda and recording.is_native(fixation))
        if differentiable or not has_library or recording.is_traced(fixation):
            return self._torch_plan(fixation, snap)
        if snap and fixation.is_cpu and fixation.dtype == sys.modules["torch"].float32:
            geometry = self._native.plan(fixation.detach().resolve_neg().reshape(-1, 2).numpy())
            return self._from_geometry(geometry, tuple(fixation.shape[:-1]), fixation)
        return self._native_plan(fixation, bool(snap)) if self._is_rigid() else self._torch_plan(fixation, snap)

    def _is_rigid(self) -> bool:
        """Whether a plan is the same patches around any fixation: a nested lattice that plans all of its pattern."""
        facts = self._solved()
        return self.kind == "nested" and facts.patches == len(facts.at_px)

    def _native_plan(self, fixation: Array, snap: bool) -> PatchPlan:
        """As _torch_plan() of a rigid lattice, without traces or gradients: one call where the fixation lies."""
        facts = self._solved()
        assert self.size is not None
        _, _, at, lod = self._numbers(fixation.dtype, fixation.device)
        flat = fixation.detach().reshape(-1, 2).contiguous()
        shape = (*fixation.shape[:-1], facts.patches)
        centers = flat.new_empty((*shape, 2))
        _tensor_abi.plan_at(flat, at, self.size, facts.snap_px if snap else 0, centers)
        return PatchPlan._with_kept(centers, lod.expand(shape), self._coverage, self.patch_size, self.size)

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
        geometry = self._native.plan(readable(array).reshape(-1, 2))
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
            with _checks.recording().normal_mode():
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
        if self.kind == "nested" and not self._is_rigid():
            return self._inside_plan(inside, size, exact, at, lod, snap)
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

    def _inside_plan(
        self, inside: Array, size: Array, exact: Array, at: Array, lod: Array, snap: bool | str
    ) -> PatchPlan:
        """Of the pattern around the rounded fixations [.., 2] the patches that meet the image, padded to N.

        Where they follow the fixation (snap), they are the same patches, moved by what the rounding took away.
        """
        import torch

        facts = self._solved()
        centre = (torch.floor(inside.detach() * exact / facts.snap_px + 0.5) * facts.snap_px).to(size.dtype)
        centers, lods, is_spare = self._inside(centre, size, at, lod)
        if snap is not True:
            free = inside * size
            moved = (free - (centre if snap is False else free.detach())).unsqueeze(-2)
            centers = centers + torch.where(is_spare.unsqueeze(-1), torch.zeros_like(moved), moved)
        return PatchPlan._trusted(centers / size, lods, self._coverage, self.patch_size, self.size)

    def _inside(self, centre: Array, size: Array, at: Array, lod: Array) -> tuple[Array, Array, Array]:
        """Centers in pixels, lods, and which are padding, of the patterns around centres [.., 2]."""
        import torch

        facts, recording = self._solved(), _checks.recording()
        half_px = self.patch_size / 2
        if centre.device.type == "cpu" and not recording.is_traced(centre):  # one call, of what is whole numbers
            fixations = ((centre + 0.25) / size).to(torch.float32).reshape(-1, 2)  # rounded, it is the centre again
            geometry = torch.from_numpy(self._native.plan(fixations.numpy(), in_pixels=True))
            geometry = geometry.reshape(*centre.shape[:-1], facts.patches, 4).to(size.dtype)
            centers, lods = geometry[..., :2], geometry[..., 2]
            return centers, lods, (lods == 0) & (centers[..., 0] == -half_px)
        places = centre.unsqueeze(-2) + at
        half = (torch.exp2(lod) * half_px).unsqueeze(-1)
        meets = ((places + half > 0) & (places - half < size)).all(-1)
        order = torch.argsort(meets.logical_not().to(torch.uint8), dim=-1, stable=True)[..., : facts.patches]
        centers = places.gather(-2, order.unsqueeze(-1).expand(*order.shape, 2))
        lods = lod.expand(meets.shape).gather(-1, order)
        spare = torch.arange(facts.patches, device=size.device) - meets.sum(-1, keepdim=True)  # from 0 on: padding
        is_spare = spare >= 0
        # As the library pads: above the left edge, one above the other.
        above = torch.stack([torch.full_like(spare, -1), -1 - 2 * spare], dim=-1).to(size.dtype) * half_px
        centers = torch.where(is_spare.unsqueeze(-1), above, centers)
        return centers, torch.where(is_spare, torch.zeros_like(lods), lods), is_spare

    def _coverage(self, plan: PatchPlan) -> Array:
        return coverage_of(plan)


# In the order of native_of().
_SETTINGS = (
    *("kind", "tokens", "fovea", "patches", "patch_size", "size", "levels"),
    *("e0", "m0", "unit", "fov_deg", "sar", "rings"),
)
_WIDTH = re.compile(r"([0-9.eE+-]+)(px|deg)?")


def _rebuilt(settings: dict[str, Any]) -> Lattice:
    made = Lattice.__new__(Lattice)
    made._take(settings)
    return made


def _width(fovea: Any, who: str) -> Fovea:
    """The width of a fovea and its unit: of 192, "192px" or "6deg", or as this function gave it."""
    number, unit = fovea, "px"
    try:
        if isinstance(fovea, tuple):
            number, unit = fovea
        elif isinstance(fovea, str):
            found = _WIDTH.fullmatch(fovea.strip())
            number, unit = (found[1], found[2] or "px") if found else ("", unit)
        if isinstance(fovea, bool) or not 0 < (width := float(number)) < float("inf"):
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{who}: fovea is a width as 192 (pixels) or '6deg', not {fovea!r}") from None
    return _checks.fixed_number(width), unit


def _exact(numbers: list[float], device: Any) -> Array:
    """Numbers in f64, or in f32 on a device without f64 (MPS)."""
    import torch

    try:
        return torch.tensor(numbers, dtype=torch.float64, device=device)
    except torch.cuda.OutOfMemoryError:
        raise
    except (TypeError, RuntimeError):
        return torch.tensor(numbers, dtype=torch.float32, device=device)


def _as_numpy(plan: PatchPlan) -> PatchPlan:
    parts = (plan.centers.numpy(), plan.lod.numpy(), plan.coverage.numpy())
    return PatchPlan._trusted(*parts, plan.patch_size, plan.size)
