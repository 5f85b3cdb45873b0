"""Ideas that were tried to look better, in NumPy: other ways to blend the separated matrices P, Q, E.

    python study/ideas.py [--poses 60] [--seed 2013]

For each class of poses: how far each idea's figures are from the ideal, as a median, next to Preserve Volume's; then a
summary over the classes. Takes two minutes.
docs/method.md says what came of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

import numpy as np
from limbs import RING, Limb
from measures import FIGURES, IDEAL, measure
from numpy.typing import NDArray
from quality import POSES, SEED, Posed, pose_chains, pose_rigify
from quaternions import CONJUGATE, blended_quaternions, product, quaternions, rotated, without_real_part
from scipy.linalg import sqrtm

import two_phase_skinning as tps

Array = NDArray[np.float64]
Centres = Callable[[Limb], Array]  # (V,3): the point about which phase 2 turns each vertex
Mean = Callable[[Array, Array], Array]  # (V,J) weights, (J,3,3) -> (V,3,3)


def blended_places(weights: Array, real: Array, targets: Array) -> Array:
    """Where dual quaternion blending takes a vertex's centre, if joint j alone would take it to targets[v, j]."""
    signed = blended_quaternions(weights, real)[1]
    length = np.linalg.norm(signed @ real, axis=1, keepdims=True)
    spread = product(without_real_part(targets), np.broadcast_to(real, (*targets.shape[:2], 4)))
    dual = np.einsum("vj,vjq->vq", signed, spread) / length
    return product(dual, signed @ real / length * CONJUGATE)[:, 1:]


def stiffened(weights: Array, real: Array, stretches: Array, power: float, least: float = 0.05) -> Array:
    """Weights for rotations: a joint resists turning about an axis by the area that it has across that axis.

    stretches: (J,3,3), all scale, seen from where the rotation starts. For each vertex and joint the axis is that of
    the joint's rotation against the blended one; where they are nearly the same rotation no axis counts (`least`).
    """
    blended, signed = blended_quaternions(weights, real)
    apart = product((blended * CONJUGATE)[:, None], np.sign(signed)[..., None] * real)[..., 1:]
    size = np.linalg.det(stretches)
    cofactors = size[:, None, None] * np.linalg.inv(stretches).transpose(0, 2, 1)
    area = (np.einsum("jab,vjb->vja", cofactors, apart) ** 2).sum(axis=2) + least**2 * np.abs(size) ** (4 / 3)
    result = weights * (area / ((apart**2).sum(axis=2) + least**2)) ** (power / 2)
    return result / result.sum(axis=1, keepdims=True)


# ---- centres about which phase 2 turns a vertex


def rings(limb: Limb) -> Array:
    """The middle of each vertex's ring: all vertices of a ring have the same weights."""
    return np.repeat(limb.points.reshape(-1, RING, 3).mean(axis=1), RING, axis=0)


def centres_of_rotation(limb: Limb, width: float = 0.1) -> Array:
    """From the weights alone (Le and Hodgins 2016): the mean of the mesh where its weights are similar."""
    w, middles, thickness = limb.weights[::RING], rings(limb)[::RING], np.gradient(limb.along)
    pairs = w[:, :, None] * w[:, None, :] * (1 - np.eye(w.shape[1]))
    unlike = np.einsum("aj,bk->abjk", w, w) - np.einsum("ak,bj->abjk", w, w)
    similar = np.einsum("ajk,bjk,abjk->ab", pairs, pairs, np.exp(-((unlike / width) ** 2))) * thickness
    total = similar.sum(axis=1, keepdims=True)
    alone = total < 1e-12  # wholly on one joint: any centre will do
    return np.repeat(np.where(alone, middles, similar @ middles / np.where(alone, 1, total)), RING, axis=0)


def vertices(limb: Limb) -> Array:
    """Each vertex itself, as Preserve Volume has it: breaks "vertices with equal weights move rigidly in phase 2"."""
    return limb.points


# ---- means of 3x3 matrices


def of_rings(mean: Mean) -> Mean:
    """Worked out once a ring: its vertices have the same weights."""
    return lambda weights, matrices: np.repeat(mean(weights[::RING], matrices), RING, axis=0)


def arithmetic(weights: Array, matrices: Array) -> Array:
    return np.einsum("vj,jab->vab", weights, matrices)


def square_root(weights: Array, matrices: Array) -> Array:
    """The power mean of exponent 1/2."""
    root = arithmetic(weights, np.array([np.real(sqrtm(m)) for m in matrices]))
    return root @ root


def fourth_root(weights: Array, matrices: Array) -> Array:
    """The power mean of exponent 1/4, between the arithmetic and the geometric mean."""
    root = arithmetic(weights, np.array([np.real(sqrtm(sqrtm(m))) for m in matrices]))
    return root @ root @ root @ root


# ---- the ideas


def centred(limb: Limb, s: tps.Separation, centres: Centres, mean: Mean = arithmetic, stiff: float = 0) -> Array:
    """p = E-blend of R A (p - c) + t. A: the mean of lin P_j; t: where the blended motions take c; R: their rotation.

    Motion j turns by Q_j and takes c to Q_j P_j c. Exact for a vertex on one joint, affine, the same for vertices of
    equal weights and centre, and dual quaternion skinning where nothing scales.
    """
    w, c, turn = limb.weights, centres(limb), s.rigid[:, :3, :3]
    whole = s.rigid @ s.nonrigid
    real = quaternions(turn)
    places = blended_places(w, real, np.einsum("jab,vb->vja", whole[:, :3, :3], c) + whole[:, :3, 3])
    stretches = turn.transpose(0, 2, 1) @ s.inherited[:, :3, :3] @ whole[:, :3, :3]
    rotation, _ = blended_quaternions(stiffened(w, real, stretches, stiff), real)
    shape = of_rings(mean)(w, s.nonrigid[:, :3, :3])
    bent = rotated(rotation, np.einsum("vab,vb->va", shape, limb.points - c)) + places
    inherited = arithmetic(w, s.inherited[:, :3])
    return np.einsum("vab,vb->va", inherited[:, :, :3], bent) + inherited[:, :, 3]


IDEAS: dict[str, tuple[Centres, Mean, float]] = {
    "vertex": (vertices, arithmetic, 0),
    "ring": (rings, arithmetic, 0),
    "ring, stiff": (rings, arithmetic, 0.5),
    "ring, square root, stiff": (rings, square_root, 0.5),
    "ring, fourth root": (rings, fourth_root, 0),
    "ring, fourth root, stiff": (rings, fourth_root, 0.5),
    "c. of r., square root, stiff": (centres_of_rotation, square_root, 0.5),
}
READINGS = {"inherited": ("after", "before"), "compensated": ("after",)}  # the two agree where nothing is inherited


def figures(posed: Posed) -> dict[str, Array]:
    """How far from the ideal: Preserve Volume, the method itself, and each idea in each reading of inherited scale."""
    inherits = np.full(len(posed.world), posed.edges == "inherited")
    skeleton = tps.Skeleton(posed.limb.parents, posed.limb.bind, inherits=inherits)
    shapes = {"Preserve Volume": posed.shapes[1]}
    for reading in READINGS[posed.edges]:
        s = skeleton.separate(posed.world, inherited=reading)
        shapes[f"two-phase {reading}"] = posed.shapes[3 if reading == "after" else 4]
        for name, idea in IDEAS.items():
            shapes[f"  {reading}: {name}"] = centred(posed.limb, s, *idea)
    ideal = np.array([IDEAL[figure] for figure in FIGURES])
    return {name: np.abs(measure(posed.limb, posed.world, shape) - ideal) for name, shape in shapes.items()}


def show_class(names: tuple[str, str, str], poses: list[dict[str, Array]]) -> dict[str, Array]:
    """Prints the medians of one class, and returns them."""
    print(f"\n{', '.join(names):40}" + "".join(f"{figure:>16}" for figure in FIGURES))
    medians = {name: np.median([pose[name] for pose in poses], axis=0) for name in poses[0]}
    base = medians["Preserve Volume"]
    for name, median in medians.items():
        marks = np.where(median < base - 5e-5, "+", np.where(median > base + 5e-5, "-", " "))
        print(f"{name:40}" + "".join(f"{m:15.4f}{mark}" for m, mark in zip(median, marks, strict=True)))
    return medians


def show_summary(edges: str, classes: list[dict[str, Array]]) -> None:
    """Geometric means over the classes of how far from the ideal, Preserve Volume being 1; without the gap, often 0."""
    print(f"\n{edges + ', against Preserve Volume':40}" + "".join(f"{figure:>16}" for figure in FIGURES[:-1]))
    for name in classes[0]:
        ratios = np.array([medians[name][:-1] / medians["Preserve Volume"][:-1] for medians in classes])
        print(f"{name:40}" + "".join(f"{value:15.3f} " for value in np.exp(np.log(ratios).mean(axis=0))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--poses", type=int, default=POSES, help=f"of each class on the chains; default {POSES}")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    print(f"seed {options.seed}; medians of how far from the ideal; + better, - worse than Preserve Volume")
    found: dict[tuple[str, str, str], list[dict[str, Array]]] = {}
    for what, source in (("chains", pose_chains), ("Rigify limbs", pose_rigify)):
        for posed in source(options.poses, np.random.default_rng(options.seed)):
            found.setdefault((what, posed.edges, posed.kind), []).append(figures(posed))
    medians = {names: show_class(names, poses) for names, poses in found.items()}
    for edges in READINGS:
        show_summary(edges, [medians[names] for names in medians if names[1] == edges])


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # Blender as a module may hang while the interpreter shuts down
