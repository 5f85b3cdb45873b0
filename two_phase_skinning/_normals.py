"""Normals by UsdSkel's rule: a blend of the joints' inverse transposes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from two_phase_skinning import _core
from two_phase_skinning._arrays import Float32Array, Float64Array, as_array
from two_phase_skinning._options import Method, NormalRule

FREE = ("out", "threads")  # options that the rule of joints leaves open


def check_rule(rule: Any, method: Any, options: Mapping[str, Any]) -> NormalRule:
    """The rule, if it can be had with this method and these options."""
    if not isinstance(rule, str) or rule not in tuple(NormalRule):
        kind = ValueError if isinstance(rule, str) else TypeError
        raise kind(f'rule: {rule!r}; expected "surface" or "joints"')
    if rule == NormalRule.JOINTS:
        if method == Method.TWO_PHASE:
            raise ValueError('rule: "joints" with method "two_phase"; expected "surface"')
        for name, value in options.items():
            if name not in FREE and value is not None:
                raise ValueError(f'{name}: given together with rule "joints"; expected None')
    return NormalRule(rule)


def _inverse_transposes(matrices: Float64Array) -> Float64Array:
    """Of the linear parts, without a translation. Of a singular one the cofactors, which have its directions."""
    columns = np.moveaxis(matrices[..., :3, :3], -1, 0)
    cofactors = np.stack([np.cross(columns[(k + 1) % 3], columns[(k + 2) % 3]) for k in range(3)], axis=-1)
    determinants = (columns[0] * cofactors[..., 0]).sum(axis=-1)[..., None, None]
    result = np.zeros_like(matrices)
    result[..., :3, :3] = cofactors / np.where(determinants == 0, 1, determinants)
    result[..., 3, 3] = 1
    return result


def blend_of_joints(normals: _core.Skin, world: ArrayLike, bind: Float64Array, job: Mapping[str, Any]) -> Float32Array:
    """Unit normals: normals is a skin that has them for points.

    Of T = R S the inverse transpose is R S^-1, so both methods deform the normals as if they were points and the
    joints' transforms these.
    """
    turned = _inverse_transposes(_core.skinning_matrices(world, bind))
    result: Float32Array = normals.deform("points", _core.world_from_skinning(turned, bind), job)
    vectors, rest = as_array(result, "out"), normals.points()  # out may be another library's
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    vectors[...] = np.where(length > 0, vectors / np.where(length > 0, length, 1), rest)
    return result
