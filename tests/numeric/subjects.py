"""What the laws are tested on: the reference by itself, and the product. Both do the same jobs for a Rig."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pytest
import reference as ref
import tolerance
from numpy.typing import NDArray
from rigs import Rig

import two_phase_skinning as tps

Array = NDArray[np.float64]
FIELDS = ("first", "second", "nonrigid_part", "nonrigid", "rigid", "inherited", "world")
METHODS: tuple[tps.AnyMethod, ...] = ("two_phase", "linear", "dual_quaternion")


def skeleton_of(rig: Any) -> tps.Skeleton:
    return tps.Skeleton(rig.parents, rig.bind, inherits=rig.inherits)


def skin_of(rig: Any, weights: Any = None, **options: Any) -> tps.Skin:
    return tps.Skin(rig.points, rig.weights if weights is None else weights, skeleton_of(rig), **options)


def skin_separation(rig: Rig, inherited: tps.AnyInherited = "after", **flags: Any) -> ref.Separation:
    """The reference's separation with the flags that the weights give, as a skin has them."""
    return rig.separate(inherited, weighted=rig.weighted, **flags)


class Subject(Protocol):
    def separate(self, rig: Any, inherited: tps.AnyInherited, **flags: Any) -> Any: ...

    def positions(
        self,
        rig: Rig,
        method: tps.AnyMethod = ...,
        inherited: tps.AnyInherited = ...,
        phase: int | None = ...,
        **flags: Any,
    ) -> Array: ...

    def bound(
        self,
        rig: Rig,
        method: tps.AnyMethod = ...,
        inherited: tps.AnyInherited = ...,
        phase: int | None = ...,
        **flags: Any,
    ) -> Array: ...


class Reference:
    """float64 throughout."""

    def separate(self, rig: Any, inherited: tps.AnyInherited, **flags: Any) -> ref.Separation:
        return ref.separate(rig.parents, rig.bind, rig.inherits, rig.world, inherited, **flags)

    def positions(
        self,
        rig: Rig,
        method: tps.AnyMethod = "two_phase",
        inherited: tps.AnyInherited = "after",
        phase: int | None = None,
        **flags: Any,
    ) -> Array:
        s = skin_separation(rig, inherited, **flags)
        return ref.deform(ref.vertex_matrices(s, rig.normalised, method, phase), rig.points)

    def bound(
        self,
        rig: Rig,
        method: tps.AnyMethod = "two_phase",
        inherited: tps.AnyInherited = "after",
        phase: int | None = None,
        **flags: Any,
    ) -> Array:
        # The same sums in float64, after a joint stage of a few hundred operations a joint.
        s = skin_separation(rig, inherited, **flags)
        return tolerance.bounds(rig, s, method, phase).position * (2.0**-53 / tolerance.U32) * 300


class Product:
    """float64 joints, float32 vertices."""

    def separate(self, rig: Any, inherited: tps.AnyInherited, **flags: Any) -> tps.Separation:
        return skeleton_of(rig).separate(rig.world, inherited=inherited, **flags)

    def positions(
        self,
        rig: Rig,
        method: tps.AnyMethod = "two_phase",
        inherited: tps.AnyInherited = "after",
        phase: int | None = None,
        **flags: Any,
    ) -> Array:
        skin = skin_of(rig)
        return skin.deform(rig.world, method=method, inherited=inherited, phase=phase, **flags).astype(np.float64)

    def bound(
        self,
        rig: Rig,
        method: tps.AnyMethod = "two_phase",
        inherited: tps.AnyInherited = "after",
        phase: int | None = None,
        **flags: Any,
    ) -> Array:
        return tolerance.bounds(rig, skin_separation(rig, inherited, **flags), method, phase).position


both = pytest.mark.parametrize("subject", [Reference(), Product()], ids=["reference", "product"])
each_inherited = pytest.mark.parametrize("inherited", ["before", "after"])
each_method = pytest.mark.parametrize("method", METHODS)
