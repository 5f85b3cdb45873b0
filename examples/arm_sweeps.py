"""An arm swept through bend, twist and scale: how its rings change by each method, and what the two phases do.

    python examples/arm_sweeps.py                  # the measures; NumPy alone
    python examples/arm_sweeps.py --plot arm.png   # and drawn; with Matplotlib

A ring is a loop of vertices around the arm. Where skinning pinches it gets shorter, where it bulges longer. (Classic
dual quaternions keep the rings here as well; they do not where children inherit a scale.) The cells of this script
(# %%) can be run one by one in editors that know them.
"""

# %% The arm: two bones up the y axis, a tube around them, weights that are smooth around the elbow
import argparse

import numpy as np
from numpy.typing import NDArray

import two_phase_skinning as tps

Array = NDArray[np.float64]
RINGS, AROUND = 41, 24
METHODS: tuple[tps.AnyMethod, ...] = ("two_phase", "linear", "dual_quaternion")

bind = np.tile(np.eye(4), (2, 1, 1))
bind[1, 1, 3] = 1.0
arm = tps.Skeleton([None, "upper"], bind, compensating=[True, True], names=["upper", "fore"])

height, angle = np.meshgrid(np.linspace(0, 2, RINGS), np.arange(AROUND) * 2 * np.pi / AROUND, indexing="ij")
points = np.array([0.2 * np.cos(angle), height, 0.2 * np.sin(angle)]).reshape(3, -1).T
step = np.clip((points[:, 1] - 0.6) / 0.8, 0, 1)
fore = step * step * (3 - 2 * step)
skin = tps.Skin(points, np.stack([1 - fore, fore], axis=1), arm)


# %% The sweeps: 25 frames each, of what the user does to the two joints
def turned(axis: int, degrees: float) -> Array:
    """(4, 4): a turn about an axis, x y z."""
    matrix = np.eye(4)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, k = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i], matrix[i, k], matrix[k, i], matrix[k, k] = c, -s, s, c
    return matrix


def flattened(amount: float) -> Array:
    """(4, 4): `amount` times as wide, and thinner and a little longer."""
    return np.diag([amount, amount**0.5, 1 / amount, 1])


amounts = np.linspace(0, 1, 25)
sweeps = {
    "bend, degrees": (120 * amounts, [[np.eye(4), turned(2, 120 * a)] for a in amounts]),
    "twist, degrees": (150 * amounts, [[np.eye(4), turned(1, 150 * a)] for a in amounts]),
    "width of a bent and twisted arm": (
        1 + amounts,
        [[flattened(1 + a), turned(2, 90) @ turned(1, 90)] for a in amounts],
    ),
}


# %% The measure: the lengths of the rings around the elbow, relative to what the scale alone makes of them
def ring_lengths(posed: NDArray[np.float32]) -> Array:
    """(F, V, 3) -> (F, RINGS), each relative to rest."""
    rings = posed.reshape(len(posed), RINGS, AROUND, 3).astype(float)
    lengths = np.linalg.norm(rings - np.roll(rings, 1, axis=2), axis=-1).sum(axis=2)
    return np.asarray(lengths / (2 * AROUND * 0.2 * np.sin(np.pi / AROUND)))


def elbow(user: list[list[Array]], method: tps.AnyMethod) -> Array:
    """(F,): of the rings around the elbow the one that changed most."""
    world = arm.pose(np.array(user))
    wanted = ring_lengths(skin.deform(world, phase=1))  # scaled, not yet bent
    ratios = (ring_lengths(skin.deform(world, method=method)) / wanted)[:, 12:29]
    return np.take_along_axis(ratios, np.abs(np.log(ratios)).argmax(axis=1)[:, None], axis=1)[:, 0]


measures = {name: {method: elbow(user, method) for method in METHODS} for name, (_, user) in sweeps.items()}
for name, by_method in measures.items():
    print(f"{name}: the ring that changed most, at the end")
    for method, lengths in by_method.items():
        print(f"    {method:16} {lengths[-1]:.3f}")


# %% The pictures: the measures, and one pose at rest, after phase 1 and after phase 2
def draw(path: str) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    above, below = figure.subplots(2, 3)
    for axes, (name, (x, _)) in zip(above, sweeps.items(), strict=True):
        for method in METHODS:
            axes.plot(x, measures[name][method], label=method)
        axes.set(xlabel=name, ylabel="the ring that changed most", ylim=(0, 1.6))
    above[0].legend()
    world = arm.pose(np.array([flattened(1.6), turned(2, 100)]))
    stages = {
        "at rest": skin.points,
        "after phase 1: scaled": skin.deform(world, phase=1),
        "after phase 2: bent": skin.deform(world, phase=2),
    }
    for axes, (title, shown) in zip(below, stages.items(), strict=True):
        rings = shown.reshape(RINGS, AROUND, 3)
        axes.plot(rings[:, :, 0], rings[:, :, 1], color="tab:blue", linewidth=0.4)
        axes.plot(rings[:, :, 0].T, rings[:, :, 1].T, color="tab:blue", linewidth=0.4)
        axes.set(title=title, aspect="equal", xlim=(-2, 1), ylim=(-0.3, 3.5))
    figure.savefig(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="An arm swept through bend, twist and scale")
    parser.add_argument("--plot", metavar="FILE", help="draw the measures and the phases, with Matplotlib")
    if path := parser.parse_args().plot:
        draw(path)
