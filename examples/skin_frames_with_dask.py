"""Spread the frames of an animation over processes, or machines, with dask.distributed.

    python examples/skin_frames_with_dask.py [--out frames.npy] [--scheduler tcp://host:8786]

Without --scheduler it starts a local cluster of two processes. Skeletons and skins are pickled on the way: the skin
goes to each worker once, then only posed matrices go out and points come back. The frames are the same to the last bit
wherever they are computed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

import two_phase_skinning as tps

FRAMES, FRAMES_PER_TASK = 240, 20
JOINTS, RINGS, AROUND = 12, 240, 24


def tentacle() -> tps.Skin:
    """A tapering tube of 5760 vertices along 12 joints, each of which inherits its parent's scale."""
    parents = np.arange(-1, JOINTS - 1)
    bind = np.broadcast_to(np.eye(4), (JOINTS, 4, 4)).copy()
    bind[:, 1, 3] = np.arange(JOINTS)
    skeleton = tps.Skeleton(parents, bind)

    along, angle = np.meshgrid(np.linspace(0, JOINTS, RINGS), np.arange(AROUND) * 2 * np.pi / AROUND, indexing="ij")
    radius = 0.5 - 0.035 * along
    points = np.stack([radius * np.cos(angle), along, radius * np.sin(angle)], axis=-1).reshape(-1, 3)
    near = np.exp(-4 * (points[:, 1, None] - np.arange(JOINTS) - 0.5) ** 2)
    near[near < 1e-3] = 0
    return tps.Skin(points, near, skeleton)


def animation(skeleton: tps.Skeleton, frames: int = FRAMES) -> NDArray[np.float64]:
    """A wave that runs along the joints: each bends, twists, stretches and squashes. (F,J,4,4)"""
    local = tps.bind_local(skeleton.bind, skeleton.parents)
    user = np.zeros((frames, JOINTS, 4, 4))
    phase = 2 * np.pi * (2 * np.arange(frames)[:, None] / frames - np.arange(JOINTS) / JOINTS)
    bend, twist, stretch = 0.35 * np.sin(phase), 0.25 * np.cos(phase), np.exp(0.15 * np.sin(2 * phase))
    cb, sb, ct, st = np.cos(bend), np.sin(bend), np.cos(twist), np.sin(twist)
    zero, one = np.zeros_like(bend), np.ones_like(bend)
    bends = np.stack([cb, -sb, zero, sb, cb, zero, zero, zero, one], axis=-1).reshape(frames, JOINTS, 3, 3)
    twists = np.stack([ct, zero, st, zero, one, zero, -st, zero, ct], axis=-1).reshape(frames, JOINTS, 3, 3)
    sizes = np.stack([stretch**-0.5, stretch, stretch**-0.5], axis=-1)
    user[:, :, :3, :3] = bends @ twists * sizes[:, :, None, :]
    user[:, :, 3, 3] = 1
    return np.array([tps.pose_world(local, frame, skeleton.parents) for frame in user])


def deform(world: NDArray[np.float64], skin: tps.Skin) -> NDArray[np.float32]:
    """What a worker does: a run of frames, on one thread, since there is a worker for each processor."""
    return skin.deform(world, threads=1)


def skin_frames(client: Client, skin: tps.Skin, world: NDArray[np.float64]) -> NDArray[np.float32]:
    """All frames, (F,V,3), computed by the client's workers."""
    there = client.scatter(skin, broadcast=True)
    runs = [world[start : start + FRAMES_PER_TASK] for start in range(0, len(world), FRAMES_PER_TASK)]
    return np.concatenate(client.gather(client.map(deform, runs, skin=there)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="where to write the frames, as a .npy file of shape (240, 5760, 3)")
    parser.add_argument("--scheduler", help="the address of a running cluster")
    options = parser.parse_args()
    skin = tentacle()
    world = animation(skin.skeleton)
    if options.scheduler:
        with Client(options.scheduler) as client:
            frames = skin_frames(client, skin, world)
    else:
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            frames = skin_frames(client, skin, world)
    print(f"{len(frames)} frames of {frames.shape[1]} vertices")
    if options.out:
        np.save(options.out, frames)


if __name__ == "__main__":
    main()
