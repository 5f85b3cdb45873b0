"""Skeletons, and the separation of their poses into non-rigid and rigid parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from two_phase_skinning import _core
from two_phase_skinning._arrays import as_array

Inherited = Literal["after", "before"]


class Separation(NamedTuple):
    """A pose in parts: ``inherited @ rigid @ nonrigid`` is ``world @ inv(bind)``, and ``rigid`` is rigid.

    Every field is (J, 4, 4) float64, or (F, J, 4, 4) for a stack of frames. The letters are those of docs/method.md.

    - first, B: the bind pose.
    - second, M: the intermediate pose, the skeleton after the non-rigid transforms alone.
    - nonrigid_part, N': each joint's own scale and shear, without translation.
    - nonrigid, P: what phase 1 blends linearly.
    - rigid, Q: what phase 2 blends as dual quaternions.
    - inherited, E: scale inherited from parents, blended linearly after phase 2; the identity with
      ``inherited="before"``.
    - world, W': the pose that is shown: the given one, except for muted joints and their descendants.
    """

    first: NDArray[np.float64]
    second: NDArray[np.float64]
    nonrigid_part: NDArray[np.float64]
    nonrigid: NDArray[np.float64]
    rigid: NDArray[np.float64]
    inherited: NDArray[np.float64]
    world: NDArray[np.float64]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class Skeleton:
    """Joints: their hierarchy, bind pose, and how scale passes from parent to child.

    parents: (J,) int, -1 at roots, in any order. bind: (J, 4, 4), world bind matrices, invertible.
    How scale passes on is said in one of two ways; without either, every child inherits its parent's scale:
    compensating, bool (J,), true where a joint's scale stops at itself; or inherits, bool (J,), true where a joint
    inherits its parent's scale. names: J names, kept for you.

    Raises TypeError or ValueError naming the argument: wrong dtype or shape, a parent out of range, a cycle, a number
    that is not finite, a last row other than 0 0 0 1, a bind matrix that cannot be inverted.
    A skeleton does not change once made; threads may share it. It can be pickled.
    """

    def __init__(
        self,
        parents: ArrayLike,
        bind: ArrayLike,
        compensating: ArrayLike | None = None,
        inherits: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        parents = as_array(parents, "parents")
        if compensating is not None and inherits is not None:
            raise ValueError("inherits: given together with compensating; expected one of them")
        if inherits is None:
            inherits = self._inherits_from(compensating, parents)
        self._core = _core.skeleton(parents, bind, inherits)
        self._parents = _read_only(np.array(parents, dtype=np.int64))
        self._bind = _read_only(np.array(bind, dtype=np.float64))
        self._inherits = _read_only(np.array(inherits, dtype=bool) & (self._parents >= 0))
        self._names = self._check_names(names)

    @staticmethod
    def _inherits_from(compensating: ArrayLike | None, parents: NDArray[Any]) -> NDArray[np.bool_]:
        if compensating is None:
            return np.broadcast_to(np.True_, parents.shape)  # of a wrong shape it takes no memory
        mask = as_array(compensating, "compensating")
        if mask.dtype != bool:
            raise TypeError(f"compensating: dtype {mask.dtype}; expected bool")
        if mask.shape != parents.shape:
            raise ValueError(f"compensating: shape {mask.shape}; expected {parents.shape}")
        # A parent out of range is for the core to refuse, whatever its child says.
        known = (parents >= 0) & (parents < len(mask)) if parents.ndim == 1 and parents.dtype.kind in "iu" else None
        result = np.zeros(mask.shape, dtype=bool)
        if known is not None:
            result[known] = ~mask[parents[known]]
        return result

    def _check_names(self, names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
            raise TypeError(f"names: {type(names).__name__}; expected a sequence of str")
        if not all(isinstance(name, str) for name in names):
            raise TypeError("names: not all are str; expected a name for each joint")
        if len(names) != len(self._parents):
            raise ValueError(f"names: {len(names)} names; expected {len(self._parents)}")
        return tuple(names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Skeleton, (self._parents, self._bind, None, self._inherits, self._names)

    def __repr__(self) -> str:
        return f"<Skeleton of {len(self)} joints>"

    def __len__(self) -> int:
        return len(self._parents)

    @property
    def parents(self) -> NDArray[np.int64]:
        """(J,) int64, -1 at roots; read-only."""
        return self._parents

    @property
    def bind(self) -> NDArray[np.float64]:
        """B: (J, 4, 4) float64, world bind matrices; read-only."""
        return self._bind

    @property
    def inherits(self) -> NDArray[np.bool_]:
        """bool (J,): does the joint inherit its parent's scale? False at roots; read-only."""
        return self._inherits

    @property
    def names(self) -> tuple[str, ...] | None:
        """The joints' names, if they were given."""
        return self._names

    def pose(self, user: ArrayLike) -> NDArray[np.float64]:
        """Posed world matrices from the user's local transforms, with scale passed on as the skeleton says.

        user: (J, 4, 4), or (F, J, 4, 4) for many frames at once. Returns the same shape, float64.
        Where every joint inherits this is tps.pose_world; a joint that does not takes on its parent's rotation and the
        displaced position only: W_j = b_j U_j with the base frame b_j of docs/method.md, section 2.
        Raises TypeError or ValueError naming the argument.
        """
        return _core.pose(self._core, user)

    def support_joints(self, weighted: ArrayLike) -> NDArray[np.bool_]:
        """Which joints have no weight of their own but a weighted descendant, and so carry transforms to it.

        weighted: bool (J,), true where a vertex has weight on the joint. Returns bool (J,).
        Source: the support joints of docs/method.md, section 2. Raises TypeError or ValueError naming the argument.
        """
        return _core.support_joints(self._core, weighted)

    def separate(
        self,
        world: ArrayLike,
        inherited: Inherited = "after",
        weighted: ArrayLike | None = None,
        nonrigid: ArrayLike | None = None,
        rigid: ArrayLike | None = None,
    ) -> Separation:
        """Separates a pose into what phase 1 blends, what phase 2 blends, and inherited scale.

        world: (J, 4, 4) posed matrices, or (F, J, 4, 4) for many frames at once.
        inherited: "after", inherited scale acts after the rigid motion; "before", it shapes the mesh before it bends.
        weighted: bool (J,), which joints have weight; None: all. A joint that neither has weight nor a weighted
        descendant is left out: its whole pose is in ``nonrigid``, and nothing depends on it.
        nonrigid, rigid: bool (J,), the association flags of the two phases; None: on. Where one is off, the mesh is
        shown as if that joint did not scale (or move), and its descendants with it.

        Source: docs/method.md, section 2. Raises TypeError or ValueError naming the argument.
        """
        return Separation(*_core.separate(self._core, world, inherited, weighted, nonrigid, rigid))
