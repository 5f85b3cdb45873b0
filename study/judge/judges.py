"""The judges: one for all poses, and others that differ from it in one thing each."""

from __future__ import annotations

from judge.poses import Wanted
from judge.tube_mesh import Fineness
from judge.tubes import Judge

MAIN = Judge()
OTHERS = {
    "bones reach to 0.4 R": Judge(margin=0.4),
    "bones reach to 1.2 R": Judge(margin=1.2),
    "Poisson's ratio 0.3": Judge(nu=0.3),
    "core 0.45 R": Judge(core=0.45),
}
FINE = Judge(fineness=Fineness(around=24, layers=4, near=0.14, far=0.3))


def for_others(poses: list[Wanted]) -> list[Wanted]:
    """A held pose of each class, of a straight limb."""
    return [pose for pose in poses if pose.number == 2]


def for_fine(poses: list[Wanted]) -> list[Wanted]:
    """A held pose of each class without scale."""
    return [pose for pose in poses if pose.number == 2 and pose.edges == "none"]
