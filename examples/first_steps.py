"""First steps: an arm of two bones, stretched and bent, deformed by two-phase skinning.

    python examples/first_steps.py

It needs NumPy and two_phase_skinning only, and type checkers accept it as strictly as they can be set.
"""

import numpy as np
from numpy.typing import NDArray

import two_phase_skinning as tps

Array = NDArray[np.float64]


def translation(x: float, y: float, z: float) -> Array:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def turn_about_z(degrees: float) -> Array:
    cos, sin = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = np.eye(4)
    matrix[:2, :2] = [[cos, -sin], [sin, cos]]
    return matrix


def tube(rings: int = 41, around: int = 16, radius: float = 0.2, length: float = 2.0) -> Array:
    """Points (rings * around, 3) up the y axis."""
    height, angle = np.meshgrid(np.linspace(0, length, rings), np.arange(around) * 2 * np.pi / around, indexing="ij")
    return np.array([radius * np.cos(angle), height, radius * np.sin(angle)]).reshape(3, -1).T


def smooth_step(x: Array) -> Array:
    inside = np.clip(x, 0, 1)
    return np.asarray(inside * inside * (3 - 2 * inside))


def main() -> None:
    # The skeleton: an upper arm from (0, 0, 0), a forearm from (0, 1, 0). The upper arm keeps its scale to itself.
    parents = [-1, 0]
    local = np.array([np.eye(4), translation(0, 1, 0)])
    bind = tps.bind_world(local, parents)
    skeleton = tps.Skeleton(parents, bind, compensating=[True, True], names=["upper arm", "forearm"])

    # The mesh and its weights: smooth around the elbow, at height 1.
    points = tube()
    forearm = smooth_step((points[:, 1] - 0.6) / 0.8)
    skin = tps.Skin(points, np.stack([1 - forearm, forearm], axis=1), skeleton)
    print(skin)

    # The pose: the upper arm half as long again and thinner, the elbow bent. The forearm's head moves up by the
    # stretch, but the forearm does not inherit it, so its matrix is written in world space.
    stretch = np.diag([0.8, 1.5, 0.8, 1.0])
    world = np.array([stretch, translation(0, 1.5, 0) @ turn_about_z(75)])

    separation = skeleton.separate(world)
    print("non-rigid part of the upper arm:\n", separation.nonrigid_part[0, :3, :3])
    print("rigid part of the forearm:\n", separation.rigid[1, :3].round(3))

    straight: NDArray[np.float32] = skin.deform(world, phase=1)  # stretched, not yet bent
    posed: NDArray[np.float32] = skin.deform(world)
    linear: NDArray[np.float32] = skin.deform(world, method="linear")
    print(f"tip: rest {points[-1].round(2)}, stretched {straight[-1].round(2)}, posed {posed[-1].round(2)}")
    print(f"two-phase and linear skinning differ by up to {np.abs(posed - linear).max():.3f}")

    # An edit of the posed mesh, carried back to rest.
    back = skin.inverse_matrices(world)
    rest = np.einsum("vab,vb->va", back[:, :, :3], posed) + back[:, :, 3]
    print(f"carried back to rest: off by {np.abs(rest - points).max():.1e}")

    # Many frames in one call: the elbow bends from 0 to 120 degrees.
    angles = np.linspace(0, 120, 48)
    frames = np.array([[stretch, translation(0, 1.5, 0) @ turn_about_z(angle)] for angle in angles])
    print("48 frames:", skin.deform(frames).shape)


if __name__ == "__main__":
    main()
