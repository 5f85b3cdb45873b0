"""The shape of the mannequin: tubes around the deform bones of the Rigify human, as plain NumPy arrays.

Nothing in here is Blender's: `mannequin` takes the ends of the bones and returns the vertices and faces of
overlapping closed tubes, which `rig_scene.make_body` lets Blender fuse into one skin. Sizes are in metres; the rig is
2 m tall, looks along -y, and its left is +x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bones = Mapping[str, tuple[Array, Array]]  # name -> (head, tail)

RING = 48  # vertices around a tube
STATIONS = 64  # rings along a tube
CAP = 5  # rings of a rounded end
HAND_ZOOM = (
    2.6  # the hands are that much larger while the parts are fused: a voxel is wider than the gaps of the fingers
)


def tube(
    centres: Sequence[Array], radii: Sequence[tuple[float, float]], side: Sequence[float], bulge: float = 1.0
) -> Array:
    """A closed tube of elliptic rings, (rings, RING, 3): radii along `side` and across it, ends rounded by `bulge`."""
    c = np.array(centres, dtype=float)
    r = np.array(radii, dtype=float)
    tangent = np.gradient(c, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    u = np.asarray(side, dtype=float) - (tangent @ np.asarray(side, dtype=float))[:, None] * tangent
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(tangent, u)
    angle = np.linspace(0, 2 * np.pi, RING, endpoint=False)[:, None]
    rings = [c[i] + r[i, 0] * np.cos(angle) * u[i] + r[i, 1] * np.sin(angle) * v[i] for i in range(len(c))]
    for end, sign in ((0, -1), (-1, 1)):
        reach = sign * bulge * min(r[end]) * tangent[end]
        lean = [np.pi / 2 * (k + 1) / CAP for k in range(CAP)]
        cap = [c[end] + (rings[end] - c[end]) * max(np.cos(a), 1e-3) + reach * np.sin(a) for a in lean]
        rings = cap[::-1] + rings if end == 0 else rings + cap
    return np.array(rings)


def faces_of(rings: int) -> list[tuple[int, ...]]:
    """The faces of a tube of that many rings, its two ends closed."""
    quads: list[tuple[int, ...]] = []
    for i in range(rings - 1):
        for j in range(RING):
            k = (j + 1) % RING
            quads.append((i * RING + j, i * RING + k, (i + 1) * RING + k, (i + 1) * RING + j))
    last = (rings - 1) * RING
    return [*quads, tuple(range(RING))[::-1], tuple(range(last, last + RING))]


def _moved(point: Array, x: float, y: float, z: float) -> Array:
    return point + np.array([x, y, z])


def _along(chain: Sequence[Array], profile: Sequence[tuple[float, float, float]]) -> tuple[list[Array], list]:
    """Points along a chain of joints and radii there; profile rows: (place in joints, radius, radius across)."""
    joints = np.array(chain)
    rows = np.array(profile, dtype=float)
    place = np.linspace(rows[0, 0], rows[-1, 0], STATIONS)
    index = np.arange(len(joints))
    centres = np.stack([_smooth_interp(place, index, joints[:, k]) for k in range(3)], axis=1)
    radii = np.stack([_smooth_interp(place, rows[:, 0], rows[:, k]) for k in (1, 2)], axis=1)
    return list(centres), [tuple(r) for r in radii]


def _smooth_interp(x: Array, xp: Array, fp: Array) -> Array:
    """Cubic Hermite through the points, never over the top of them; straight on beyond the ends."""
    xp, fp = np.asarray(xp, float), np.asarray(fp, float)
    step = np.diff(fp) / np.diff(xp)
    inner = np.where(step[:-1] * step[1:] > 0, 2 * step[:-1] * step[1:] / (step[:-1] + step[1:] + 1e-300), 0.0)
    slope = np.concatenate([step[:1], inner, step[-1:]])
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(step) - 1)
    h = xp[i + 1] - xp[i]
    t = np.clip((x - xp[i]) / h, 0, 1)
    inside = (
        (1 + 2 * t) * (1 - t) ** 2 * fp[i]
        + t * (1 - t) ** 2 * h * slope[i]
        + t**2 * (3 - 2 * t) * fp[i + 1]
        + t**2 * (t - 1) * h * slope[i + 1]
    )
    beyond = np.where(x < xp[0], (x - xp[0]) * slope[0], np.where(x > xp[-1], (x - xp[-1]) * slope[-1], 0.0))
    return inside + beyond


def _trunk(bones: Bones) -> list[Array]:
    """Pelvis to neck, and the head: stacks of ellipses, (height, forward, half width, half depth)."""
    torso = [
        (0.975, 0.030, 0.118, 0.085),
        (1.020, 0.032, 0.158, 0.108),
        (1.080, 0.026, 0.166, 0.112),
        (1.160, 0.012, 0.146, 0.098),
        (1.240, 0.000, 0.127, 0.086),
        (1.330, -0.004, 0.140, 0.098),
        (1.430, -0.006, 0.164, 0.116),
        (1.510, 0.004, 0.176, 0.108),
        (1.560, 0.012, 0.168, 0.090),
        (1.600, 0.014, 0.120, 0.068),
        (1.630, 0.014, 0.080, 0.060),
    ]
    neck = [
        (1.58, 0.016, 0.064, 0.062),
        (1.64, 0.010, 0.056, 0.057),
        (1.70, -0.006, 0.054, 0.058),
        (1.76, -0.02, 0.054, 0.06),
    ]
    head = [
        (1.735, -0.096, 0.042, 0.056),
        (1.765, -0.080, 0.066, 0.084),
        (1.810, -0.056, 0.084, 0.108),
        (1.860, -0.040, 0.096, 0.122),
        (1.910, -0.034, 0.100, 0.126),
        (1.950, -0.031, 0.096, 0.118),
        (1.980, -0.029, 0.080, 0.098),
        (2.000, -0.028, 0.054, 0.066),
    ]
    parts = []
    for stack in (torso, neck, head):
        centres = [np.array([0, y, z]) for z, y, _, _ in stack]
        profile = [(i, width, depth) for i, (_, _, width, depth) in enumerate(stack)]
        parts.append(tube(*_along(centres, profile), (1, 0, 0), bulge=0.3))
    nose_root, nose_tip = bones["DEF-nose"]
    nose = [_moved(nose_root, 0, 0.02, 0.01), _moved(nose_tip, 0, 0.012, -0.004)]
    parts.append(tube(nose, [(0.009, 0.012), (0.014, 0.016)], (1, 0, 0)))
    return parts


def _arm(bones: Bones) -> list[Array]:
    shoulder, elbow, wrist = bones["DEF-upper_arm.L"][0], bones["DEF-forearm.L"][0], bones["DEF-hand.L"][0]
    chain = [bones["DEF-upper_arm.L"][0], bones["DEF-upper_arm.L.001"][0], elbow, bones["DEF-forearm.L.001"][0], wrist]
    profile = [
        (0.00, 0.050, 0.052),
        (0.25, 0.060, 0.062),
        (0.60, 0.054, 0.058),
        (1.00, 0.047, 0.051),
        (1.60, 0.044, 0.047),
        (2.00, 0.043, 0.045),
        (2.45, 0.052, 0.050),
        (3.10, 0.046, 0.044),
        (3.80, 0.032, 0.034),
        (4.05, 0.029, 0.033),
    ]
    centres, radii = _along(chain, profile)
    collar = [
        np.array([0.03, 0.014, 1.595]),
        _moved(shoulder * 0.5, 0.05, 0.008, 0.790),
        _moved(shoulder, -0.01, 0, -0.012),
    ]
    return [
        tube(centres, radii, (0, 1, 0)),
        tube(collar, [(0.056, 0.056), (0.058, 0.050), (0.058, 0.052)], (0, 1, 0)),
    ]


def _hand(bones: Bones) -> list[Array]:
    wrist, palm_end = bones["DEF-hand.L"]
    palm = [wrist, wrist * 0.5 + palm_end * 0.5, palm_end, palm_end + 0.25 * (palm_end - wrist)]
    profile = [(0, 0.030, 0.022), (1, 0.042, 0.021), (2, 0.047, 0.019), (3, 0.044, 0.015)]
    parts = [tube(*_along(palm, profile), (0, 1, 0))]
    fingers = {"f_index": 0.0105, "f_middle": 0.0110, "f_ring": 0.0105, "f_pinky": 0.0095, "thumb": 0.0125}
    for name, radius in fingers.items():
        joints = [bones[f"DEF-{name}.{k:02}.L"][0] for k in (1, 2, 3)] + [bones[f"DEF-{name}.03.L"][1]]
        if name == "thumb":
            joints.insert(0, joints[0] * 0.6 + wrist * 0.4)
        sizes = [radius * s for s in (1.15, 1.05, 1.0, 0.95, 0.82)[-len(joints) :]]
        parts.append(tube(joints, [(s, s) for s in sizes], (0, 1, 0)))
    return parts


def _leg(bones: Bones) -> list[Array]:
    thigh, knee, ankle = bones["DEF-thigh.L"][0], bones["DEF-shin.L"][0], bones["DEF-foot.L"][0]
    toe_root, toe_tip = bones["DEF-toe.L"]
    outward = np.array([0.006, 0.0, 0.0])
    chain = [
        thigh,
        bones["DEF-thigh.L.001"][0],
        knee,
        _moved(bones["DEF-shin.L.001"][0], 0, 0.012, 0),
        _moved(ankle, 0, 0.006, 0),
    ]
    profile = [
        (-0.15, 0.050, 0.070),
        (0.15, 0.076, 0.094),
        (0.45, 0.083, 0.096),
        (0.90, 0.077, 0.086),
        (1.50, 0.063, 0.068),
        (2.00, 0.055, 0.058),
        (2.45, 0.058, 0.062),
        (3.00, 0.050, 0.054),
        (3.60, 0.036, 0.039),
        (4.00, 0.035, 0.040),
    ]
    centres, radii = _along([c + outward * w for c, w in zip(chain, (1, 0.5, 0, 0, 0), strict=True)], profile)
    heel = np.array([ankle[0], ankle[1] + 0.030, 0.040])
    foot = [
        heel,
        np.array([ankle[0], -0.03, 0.046]),
        np.array([toe_root[0], toe_root[1], 0.032]),
        _moved(toe_tip, 0, 0.0, 0.006),
    ]
    return [
        tube(centres, radii, (1, 0, 0)),
        tube(*_along(foot, [(0, 0.036, 0.040), (1, 0.044, 0.045), (2, 0.052, 0.032), (3, 0.048, 0.023)]), (1, 0, 0)),
        tube(
            [_moved(ankle, 0, 0, 0.02), _moved(ankle, 0, -0.045, -0.032)], [(0.034, 0.038), (0.036, 0.034)], (1, 0, 0)
        ),
    ]


def mannequin(bones: Bones) -> tuple[Array, list[tuple[int, ...]]]:
    """Vertices and faces of all parts, the hands enlarged (`magnify_hands`)."""
    parts = _trunk(bones)
    for left in [*_arm(bones), *_hand(bones), *_leg(bones)]:
        parts += [left, left[:, ::-1] * (-1, 1, 1)]
    vertices: list[Array] = []
    faces: list[tuple[int, ...]] = []
    for part in parts:
        offset = sum(map(len, vertices))
        vertices.append(part.reshape(-1, 3))
        faces += [tuple(offset + i for i in face) for face in faces_of(len(part))]
    return magnify_hands(np.concatenate(vertices), bones), faces


def magnify_hands(points: Array, bones: Bones, undo: bool = False) -> Array:
    """Enlarge both hands by HAND_ZOOM, growing smoothly along the wrist; `undo` maps back.

    Along the forearm's axis the map stretches lengths by a factor that grows from 1 to HAND_ZOOM around the wrist, and
    across the axis by the same factor, so that a uniform voxel grid sees the hands in finer detail than the rest.
    """
    result = points.copy()
    elbow, wrist = bones["DEF-forearm.L"][0], bones["DEF-hand.L"][0]
    axis = (wrist - elbow) / np.linalg.norm(wrist - elbow)
    along = np.linspace(-0.3, 0.4, 4000)
    rise = np.clip((along + 0.11) / 0.16, 0, 1)
    factor = 1 + (HAND_ZOOM - 1) * rise * rise * (3 - 2 * rise)
    stretched = along[0] + np.concatenate([[0], np.cumsum((factor[1:] + factor[:-1]) / 2 * np.diff(along))])
    for sign in (1, -1):
        flip = np.array([sign, 1, 1])
        local = result * flip - wrist
        t = local @ axis
        hand = (t > -0.11) & (np.linalg.norm(local, axis=1) < 1.2) & (result[:, 0] * sign > 0.35)
        across = local[hand] - t[hand, None] * axis
        if undo:
            there = np.interp(t[hand], stretched, along)
            scale = 1 / np.interp(there, along, factor)
        else:
            there = np.interp(t[hand], along, stretched)
            scale = np.interp(t[hand], along, factor)
        result[hand] = (wrist + there[:, None] * axis + across * scale[:, None]) * flip
    return result
