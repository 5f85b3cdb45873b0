"""The method in float64 NumPy, written from its definition: clear rather than fast, and independent of the C core.

Column vectors, 4x4 affine matrices ``[A | t]``, joints in any order, ``parents[j]`` the parent or -1. The symbols are
those of the definition: B bind, L local bind, U user, W posed world, T skinning matrix; R, t, N the parts of a joint's
own transform; F, G frames without scale; M the intermediate pose; P, Q, E the non-rigid, rigid and inherited parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Joints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SINGULAR = 1e-9  # smallest singular value against the largest
EQUAL_TRACES = 1e-9
MIRRORS = (np.diag([-1.0, 1, 1]), np.diag([1.0, -1, 1]), np.diag([1.0, 1, -1]), -np.eye(3))


# ---------------------------------------------------------------- small pieces


def affine(linear: Array, origin: Array | None = None) -> Array:
    """[linear | origin] as 4x4."""
    matrix = np.eye(4)
    matrix[:3, :3] = linear
    if origin is not None:
        matrix[:3, 3] = origin
    return matrix


def lin(matrix: Array) -> Array:
    return matrix[..., :3, :3]


def org(matrix: Array) -> Array:
    return matrix[..., :3, 3]


def apply(matrix: Array, point: Array) -> Array:
    """The matrix's image of a point."""
    return lin(matrix) @ point + org(matrix)


def parents_first(parents: Joints) -> list[int]:
    """Joint numbers ordered so that each parent comes before its children."""
    order: list[int] = []
    placed: set[int] = set()
    for start in range(len(parents)):
        chain = []
        joint = start
        while joint >= 0 and joint not in placed:
            chain.append(joint)
            joint = int(parents[joint])
        for joint in reversed(chain):
            placed.add(joint)
            order.append(joint)
    return order


def is_singular(linear: Array) -> bool:
    values = np.linalg.svd(linear, compute_uv=False)
    return bool(values[2] <= SINGULAR * values[0])


def inverse_or_pseudo(linear: Array) -> Array:
    return np.linalg.pinv(linear, rcond=SINGULAR) if is_singular(linear) else np.linalg.inv(linear)


def best_rotation(a: Array, c: Array, near: Array) -> Array:
    """The proper rotation q that minimises |q a - c|; among several, the one nearest to `near`."""
    product = c @ a.T
    u, s, vt = np.linalg.svd(product)
    # A product that is zero but for rounding says nothing: 1e-15 is a few units of rounding of |a| |c|.
    if s[0] <= 1e-15 * np.linalg.norm(a) * np.linalg.norm(c):
        return near
    if s[1] <= SINGULAR * s[0] and (is_singular(a) or is_singular(c)):
        return nearest_that_maps(vt[0], u[:, 0], near)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    return u @ flip @ vt


def nearest_that_maps(source: Array, target: Array, near: Array) -> Array:
    """The rotation nearest to `near` that takes the unit vector `source` to the unit vector `target`.

    All of them are q0 turned about `target`, so what is left is one angle. |q - near| is least where
    trace(nearᵀ q) is greatest, which is the shortest arc from `near source` to `target` after `near`.
    """
    start = near @ source
    half_way = start + target
    length = np.linalg.norm(half_way)
    if length > 1e-12:  # two half turns, about the start and about the middle, make the arc between them
        half_way /= length
    else:  # opposite: all are equally near
        half_way = np.linalg.svd(start[None, :])[2][1]
    return half_turn(half_way) @ half_turn(start) @ near


def half_turn(axis: Array) -> Array:
    return 2 * np.outer(axis, axis) - np.eye(3)


def cross_matrix(v: Array) -> Array:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def polar_rotation(x: Array, near: Array | None = None) -> Array:
    return best_rotation(np.eye(3), x, np.eye(3) if near is None else near)


def polar(x: Array) -> tuple[Array, Array]:
    """Rotation R and non-rigid part N with x = R N: mirrored and singular transforms by the rules of 2a."""
    rotation = polar_rotation(x)
    if not is_singular(x) and np.linalg.det(x) < 0:
        best = -np.inf
        for mirror in MIRRORS:
            candidate = polar_rotation(x @ mirror)
            if np.trace(candidate) > best + EQUAL_TRACES:
                best, rotation = float(np.trace(candidate)), candidate
    return rotation, rotation.T @ x


# ---------------------------------------------------------------- 1. joint matrices


def bind_local(bind: Array, parents: Joints) -> Array:
    return np.array([bind[j] if p < 0 else np.linalg.inv(bind[p]) @ bind[j] for j, p in enumerate(parents)])


def bind_world(local: Array, parents: Joints) -> Array:
    return pose_world(local, np.broadcast_to(np.eye(4), local.shape), parents)


def pose_world(local: Array, user: Array, parents: Joints) -> Array:
    world = np.zeros_like(local)
    for j in parents_first(parents):
        base = local[j] if parents[j] < 0 else world[parents[j]] @ local[j]
        world[j] = base @ user[j]
    return world


def user_local(world: Array, local: Array, parents: Joints) -> Array:
    return np.array(
        [np.linalg.inv(local[j] if p < 0 else world[p] @ local[j]) @ world[j] for j, p in enumerate(parents)]
    )


def skinning_matrices(world: Array, bind: Array) -> Array:
    return world @ np.linalg.inv(bind)


def world_from_skinning(matrices: Array, bind: Array) -> Array:
    return matrices @ bind


def increment_local(user: Array, joint: int, increment: Array) -> Array:
    changed = user.copy()
    changed[joint] = increment @ user[joint]
    return changed


def increment_world(user: Array, joint: int, increment: Array, local: Array, parents: Joints) -> Array:
    world = pose_world(local, user, parents)
    base = local[joint] if parents[joint] < 0 else world[parents[joint]] @ local[joint]
    changed = user.copy()
    changed[joint] = np.linalg.inv(base) @ increment @ world[joint]
    return changed


# ---------------------------------------------------------------- 2. separation


def edges(parents: Joints, compensating: Flags | None, inherits: Flags | None) -> Flags:
    """inherits_j from either mask; without one, every joint inherits."""
    if inherits is not None:
        return np.asarray(inherits, bool)
    if compensating is None:
        return np.ones(len(parents), bool)
    return np.array([p < 0 or not compensating[p] for p in parents])


def carrying(parents: Joints, weighted: Flags) -> Flags:
    """Weighted joints and their ancestors."""
    carries = np.zeros(len(parents), bool)
    for start in np.flatnonzero(weighted):
        joint = int(start)
        while joint >= 0 and not carries[joint]:
            carries[joint] = True
            joint = int(parents[joint])
    return carries


def support_joints(parents: Joints, weighted: Flags) -> Flags:
    return carrying(parents, weighted) & ~np.asarray(weighted, bool)


def base_frame(j: int, parents: Joints, inherits: Flags, local: Array, world: Array, frame: Array) -> Array:
    p = parents[j]
    if p < 0:
        return local[j]
    if inherits[j]:
        return world[p] @ local[j]
    return affine(lin(frame[p]) @ lin(local[j]), org(world[p] @ local[j]))


@dataclass
class Parts:
    """2a, the user's transform: [R | t], N as [N | 0], F the frame without the joint's own scale, b the base frame."""

    rotation: Array
    translation: Array
    nonrigid: Array
    frame: Array
    base: Array


def user_parts(parents: Joints, inherits: Flags, local: Array, world: Array) -> Parts:
    count = len(parents)
    parts = Parts(np.zeros((count, 3, 3)), np.zeros((count, 3)), *(np.zeros((count, 4, 4)) for _ in range(3)))
    for j in parents_first(parents):
        base = base_frame(j, parents, inherits, local, world, parts.frame)
        inverse = inverse_or_pseudo(lin(base))
        x = inverse @ lin(world[j])
        rotation, nonrigid = polar(x)
        parts.base[j] = base
        parts.rotation[j] = rotation
        parts.translation[j] = inverse @ (org(world[j]) - org(base))
        parts.nonrigid[j] = affine(nonrigid)
        parts.frame[j] = base @ affine(rotation, parts.translation[j])
    return parts


@dataclass
class Separation:
    """B, M, N', P, Q, E, W' of every joint, and what the laws need beside them."""

    first: Array
    second: Array
    nonrigid_part: Array
    nonrigid: Array
    rigid: Array
    inherited: Array
    world: Array
    carries: Flags
    post: Flags
    frame: Array  # G
    user: Array  # u = [R' | t']
    space: Array = field(default_factory=lambda: np.zeros(0))  # S, in "after"


def separate(
    parents: Joints,
    bind: Array,
    inherits: Flags,
    world: Array,
    inherited: str = "after",
    weighted: Flags | None = None,
    nonrigid: Flags | None = None,
    rigid: Flags | None = None,
) -> Separation:
    count = len(parents)
    everyone = np.ones(count, bool)
    carries = carrying(parents, everyone if weighted is None else weighted)
    keep_nonrigid = everyone if nonrigid is None else np.asarray(nonrigid, bool)
    keep_rigid = everyone if rigid is None else np.asarray(rigid, bool)
    order = [j for j in parents_first(parents) if carries[j]]
    local = bind_local(bind, parents)
    parts = user_parts(parents, inherits, local, world)

    # 2b: the effective pose.
    n = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    u = n.copy()
    pose = world.copy()
    frame = parts.frame.copy()  # F'
    muted = np.zeros(count, bool)  # the joint or an ancestor
    for j in order:
        p = parents[j]
        if keep_nonrigid[j]:
            n[j] = parts.nonrigid[j]
        if keep_rigid[j]:
            u[j] = affine(parts.rotation[j], parts.translation[j])
        muted[j] = not (keep_nonrigid[j] and keep_rigid[j]) or (p >= 0 and muted[p])
        if muted[j]:
            base = base_frame(j, parents, inherits, local, pose, frame)
            frame[j] = base @ u[j]
            pose[j] = frame[j] @ n[j]

    identity = np.broadcast_to(np.eye(4), (count, 4, 4))
    result = Separation(
        first=bind.copy(),
        second=bind.copy(),
        nonrigid_part=n,
        nonrigid=identity.copy(),
        rigid=identity.copy(),
        inherited=identity.copy(),
        world=pose,
        carries=carries,
        post=np.zeros(count, bool),
        frame=bind.copy(),
        user=u,
    )
    result.nonrigid[~carries] = skinning_matrices(world[~carries], bind[~carries])
    if inherited == "before":
        separate_before(result, order, parents, inherits, local, frame)
    elif inherited == "after":
        separate_after(result, order, parents, inherits, local)
    else:
        raise ValueError(inherited)
    return result


def rigid_between(a: Array, c: Array, source: Array, target: Array, near: Array) -> Array:
    """The rigid motion with the best rotation from a to c that maps `source` to `target`."""
    rotation = best_rotation(a, c, near)
    return affine(rotation, target - rotation @ source)


def separate_before(
    s: Separation, order: list[int], parents: Joints, inherits: Flags, local: Array, frame: Array
) -> None:
    """2d: G, M, Q, P. `frame` is F'."""
    for j in order:
        p = parents[j]
        bind, pose, n = s.first[j], s.world[j], s.nonrigid_part[j]
        if p < 0:
            s.frame[j] = local[j] @ s.user[j]
            s.second[j] = bind
        else:
            s.frame[j] = s.frame[p] @ local[j] @ s.user[j]
            origin = apply(s.nonrigid[p], org(bind))
            if inherits[j]:
                linear = lin(s.nonrigid[p] @ bind)
            else:
                linear = lin(np.linalg.inv(s.rigid[p]) @ frame[p]) @ lin(local[j])
            s.second[j] = affine(linear, origin)
        near = polar_rotation(lin(s.frame[j]) @ np.linalg.inv(lin(bind)))
        s.rigid[j] = rigid_between(lin(s.second[j] @ n), lin(pose), org(s.second[j]), org(pose), near)
        s.nonrigid[j] = np.linalg.inv(s.rigid[j]) @ pose @ np.linalg.inv(bind)


def separate_after(s: Separation, order: list[int], parents: Joints, inherits: Flags, local: Array) -> None:
    """2e: post, l (here `step`), G, S, M, Q, P, E."""
    count = len(parents)
    s.space = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    for j in order:
        if parents[j] >= 0 and inherits[j]:
            s.post[parents[j]] = True
    for j in order:
        p = parents[j]
        bind, n = s.first[j], s.nonrigid_part[j]
        if p < 0:
            step, parent_frame = local[j], np.eye(4)
        elif s.post[p]:
            step, parent_frame = local[j], s.frame[p]
            if inherits[j]:
                s.space[j] = s.space[p] @ s.frame[p] @ s.nonrigid_part[p] @ np.linalg.inv(s.frame[p])
            else:
                shift = lin(s.frame[p]) @ (lin(s.nonrigid_part[p]) - np.eye(3)) @ org(local[j])
                s.space[j] = s.space[p] @ affine(np.eye(3), shift)
        else:
            step, parent_frame = affine(lin(local[j]), lin(s.nonrigid_part[p]) @ org(local[j])), s.frame[p]
            s.space[j] = s.space[p]
        s.post[j] |= is_singular(lin(s.space[j]))
        s.frame[j] = parent_frame @ step @ s.user[j]
        if p >= 0:
            linear = lin(np.linalg.inv(s.rigid[p]) @ s.frame[p]) @ lin(local[j])
            s.second[j] = affine(linear, apply(s.nonrigid[p], org(bind)))
        n, target = (np.eye(4), s.frame[j]) if s.post[j] else (n, s.frame[j] @ n)
        near = polar_rotation(lin(s.frame[j]) @ np.linalg.inv(lin(bind)))
        s.rigid[j] = rigid_between(lin(s.second[j] @ n), lin(target), org(s.second[j]), org(target), near)
        s.nonrigid[j] = np.linalg.inv(s.rigid[j]) @ target @ np.linalg.inv(bind)
        if s.post[j]:
            s.inherited[j] = s.world[j] @ np.linalg.inv(bind) @ np.linalg.inv(s.rigid[j] @ s.nonrigid[j])
        else:
            s.inherited[j] = s.space[j]


# ---------------------------------------------------------------- 3. deforming


def normalised(weights: Array) -> Array:
    """Rows that sum to 1; rows without weights stay 0."""
    weights = np.asarray(weights, np.float64)
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def quaternion(rotation: Array) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation: the eigenvector of the greatest eigenvalue (Bar-Itzhack)."""
    r = rotation
    symmetric = np.array(
        [
            [r[0, 0] + r[1, 1] + r[2, 2], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], r[0, 0] - r[1, 1] - r[2, 2], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0]],
            [r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], r[1, 1] - r[0, 0] - r[2, 2], r[1, 2] + r[2, 1]],
            [r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], r[2, 2] - r[0, 0] - r[1, 1]],
        ]
    )
    return np.linalg.eigh(symmetric)[1][:, 3]


def product(a: Array, b: Array) -> Array:
    """Hamilton product of quaternions (..., 4)."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def rotation_of(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@dataclass
class RigidBlend:
    """The blended motion of every vertex, with what says how well it is defined."""

    matrices: Array  # (V,4,4)
    length: Array  # (V,) of the blended real part before it is normalised
    nearest_dot: Array  # (V,) least |dot| of a weighted joint's rotation with the heaviest joint's


def blend_rigid(weights: Array, motions: Array) -> RigidBlend:
    """Dual quaternion blending of rigid motions, signs aligned to each vertex's heaviest joint."""
    real = np.array([quaternion(lin(m)) for m in motions])
    translation = np.concatenate([np.zeros((len(motions), 1)), org(motions)], axis=1)
    dual = 0.5 * product(translation, real)
    heaviest = np.argmax(weights, axis=1)  # the lowest index of equals
    dots = real[heaviest] @ real.T  # (V,J)
    signed = weights * np.where(dots < 0, -1.0, 1.0)
    blended_real, blended_dual = signed @ real, signed @ dual
    length = np.linalg.norm(blended_real, axis=1)
    empty = length == 0  # only vertices without weights: the heaviest keeps the sum away from zero
    blended_real[empty] = [1, 0, 0, 0]
    scale = np.where(empty, 1, length)[:, None]
    blended_real, blended_dual = blended_real / scale, blended_dual / scale
    conjugate = blended_real * [1, -1, -1, -1]
    matrices = np.broadcast_to(np.eye(4), (len(weights), 4, 4)).copy()
    matrices[:, :3, :3] = rotation_of(blended_real)
    matrices[:, :3, 3] = 2 * product(blended_dual, conjugate)[:, 1:]
    nearest = np.where(weights > 0, np.abs(dots), 1).min(axis=1)
    return RigidBlend(matrices, np.where(empty, 1, length), nearest)


def blend_linear(weights: Array, matrices: Array) -> Array:
    blended = np.einsum("vj,jab->vab", weights, matrices)
    blended[weights.sum(axis=1) == 0] = np.eye(4)
    return blended


@dataclass
class Phase:
    """One phase for every vertex: its 4x4 matrix, and whether it is a blend of matrices or a rigid motion."""

    matrices: Array
    is_rigid: bool
    blend: RigidBlend | None = None


def dual_quaternion_parts(s: Separation) -> tuple[Array, Array]:
    """Stretch [S | 0] and motion [R | org T'] of every joint's T' = W' B^-1."""
    stretch, motion = np.zeros_like(s.world), np.zeros_like(s.world)
    for j, t in enumerate(skinning_matrices(s.world, s.first)):
        rotation, symmetric = polar(lin(t))
        stretch[j], motion[j] = affine(symmetric), affine(rotation, org(t))
    return stretch, motion


def phases(s: Separation, weights: Array, method: str = "two_phase", phase: int | None = None) -> list[Phase]:
    """The phases of a method, in the order in which they act."""
    if method == "linear":
        return [Phase(blend_linear(weights, skinning_matrices(s.world, s.first)), False)]
    if method == "dual_quaternion":
        stretch, motion = dual_quaternion_parts(s)
        last = []
    elif method == "two_phase":
        stretch, motion = s.nonrigid, s.rigid
        last = [Phase(blend_linear(weights, s.inherited), False)]
    else:
        raise ValueError(method)
    rigid = blend_rigid(weights, motion)
    steps = [Phase(blend_linear(weights, stretch), False), Phase(rigid.matrices, True, rigid), *last]
    return steps if phase is None else steps[:phase]


def total(steps: list[Phase]) -> Array:
    """(V,4,4): all phases together."""
    matrices = steps[0].matrices
    for step in steps[1:]:
        matrices = step.matrices @ matrices
    return matrices


def vertex_matrices(
    s: Separation,
    weights: Array,
    method: str = "two_phase",
    phase: int | None = None,
    blend: Array | float | None = None,
    space: Array | None = None,
) -> Array:
    """(V,4,4): each vertex's whole deformation."""
    matrices = total(phases(s, weights, method, phase))
    if blend is not None:
        amount = np.broadcast_to(np.asarray(blend, np.float64), len(weights))[:, None, None]
        matrices = (1 - amount) * total(phases(s, weights, "linear")) + amount * matrices
    if space is not None:
        matrices = np.linalg.inv(space) @ matrices @ space
    matrices[weights.sum(axis=1) == 0] = np.eye(4)
    return matrices


def deform(matrices: Array, points: Array) -> Array:
    return np.einsum("vab,vb->va", matrices[:, :3, :3], points) + matrices[:, :3, 3]


def cofactor(linear: Array) -> Array:
    """det(A) A^-T without the division: defined for singular A too."""
    a, b, c = np.moveaxis(linear, -1, 0)
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=-1)


def signed_cofactor(linear: Array) -> Array:
    return np.where(np.linalg.det(linear) < 0, -1.0, 1.0)[:, None, None] * cofactor(linear)


def normal_matrices(
    s: Separation,
    weights: Array,
    method: str = "two_phase",
    phase: int | None = None,
    blend: Array | float | None = None,
    space: Array | None = None,
) -> Array:
    """(V,3,3): what each vertex's normal is multiplied by, before it is normalised."""
    if blend is not None:
        result = signed_cofactor(lin(vertex_matrices(s, weights, method, phase, blend)))
    else:
        result = np.broadcast_to(np.eye(3), (len(weights), 3, 3))
        for step in phases(s, weights, method, phase):
            result = (lin(step.matrices) if step.is_rigid else signed_cofactor(lin(step.matrices))) @ result
    if space is not None:
        # The cofactors of S, then of S^-1; their determinants' signs cancel.
        to = cofactor(lin(space)[None])[0]
        result = np.linalg.inv(to) @ result @ to
    result = result.copy()
    result[weights.sum(axis=1) == 0] = np.eye(3)
    return result


def deform_normals(matrices: Array, normals: Array) -> Array:
    """Unit normals; one that is sent to zero keeps its rest direction."""
    moved = np.einsum("vab,vb->va", matrices, normals)
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    moved = np.where(length > 0, moved, normals)
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)
