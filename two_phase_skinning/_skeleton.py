"""Skeletons, and the separation of their poses into non-rigid and rigid parts."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from two_phase_skinning import _core
from two_phase_skinning._arrays import BoolArray, Float64Array, IntArray, as_array
from two_phase_skinning._options import AnyInherited


class Separation(NamedTuple):
    """A pose in parts: ``inherited @ rigid @ nonrigid`` is ``world @ inv(bind)``, and ``rigid`` is rigid.

    Every field is (J, 4, 4) float64, or (F, J, 4, 4) for a stack of frames.

    - first, B: the bind pose.
    - second, M: the intermediate pose, the skeleton after the non-rigid transforms alone.
    - nonrigid_part, N': each joint's own scale and shear, without translation.
    - nonrigid, P: what phase 1 blends linearly.
    - rigid, Q: what phase 2 blends as dual quaternions.
    - inherited, E: scale inherited from parents, blended linearly after phase 2; the identity with
      ``inherited="before"``.
    - world, W': the pose that is shown: the given one, except for muted joints and their descendants.
    """

    first: Float64Array
    second: Float64Array
    nonrigid_part: Float64Array
    nonrigid: Float64Array
    rigid: Float64Array
    inherited: Float64Array
    world: Float64Array


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class Skeleton:
    """Joints: their hierarchy, bind pose, and how scale passes from parent to child.

    parents: (J,) int, -1 at roots, in any order; with names, a list of the parents' names too, None at roots.
    bind: (J, 4, 4), world bind matrices, invertible.
    How scale passes on is said in one of two ways; without either, every child inherits its parent's scale:
    compensating, bool (J,), true where a joint's scale stops at itself; or inherits, bool (J,), true where a joint
    inherits its parent's scale. names: J names, each given once; joints may then be named wherever one is wanted.

    Raises TypeError or ValueError naming the argument: wrong dtype or shape, a parent out of range, a cycle, a number
    that is not finite, a last row other than 0 0 0 1 (to 1e-5, which rounding in float32 leaves), a bind matrix that
    cannot be inverted.
    A skeleton does not change once made; threads may share it. It can be pickled, compared (equal: the same bits and
    names) and hashed.
    """

    def __init__(
        self,
        parents: ArrayLike | Sequence[str | None],
        bind: ArrayLike,
        compensating: ArrayLike | None = None,
        inherits: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._names = self._check_names(names)
        self._numbers = {name: joint for joint, name in enumerate(self._names or ())}
        parent_numbers = self._read_parents(parents)
        if compensating is not None and inherits is not None:
            raise ValueError("inherits: given together with compensating; expected one of them")
        if inherits is None:
            inherits = self._inherits_from(compensating, parent_numbers)
        bind = as_array(bind, "bind")
        self._core = _core.Skeleton(parent_numbers, bind, inherits)
        self._parents = _read_only(np.array(parent_numbers, dtype=np.int64))
        self._bind = np.array(bind, dtype=np.float64)
        self._bind[:, 3] = 0, 0, 0, 1
        _read_only(self._bind)
        self._inherits = _read_only(np.array(inherits, dtype=bool) & (self._parents >= 0))
        if self._names is not None and len(self._names) != len(self):
            raise ValueError(f"names: {len(self._names)} names; expected {len(self)}")

    @staticmethod
    def _check_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
        if names is None:
            return None
        if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray):
            raise TypeError(f"names: {type(names).__name__}; expected a sequence of str")
        if not all(isinstance(name, str) for name in names):
            raise TypeError("names: not all are str; expected a name for each joint")
        known: dict[str, int] = {}
        for joint, name in enumerate(names):
            if name in known:
                raise ValueError(f"names: {name!r} at joints {known[name]} and {joint}; expected each name once")
            known[name] = joint
        return tuple(names)

    def _read_parents(self, parents: Any) -> NDArray[Any]:
        if isinstance(parents, list | tuple) and any(isinstance(parent, str) for parent in parents):
            return np.array(
                [-1 if parent is None else self._number(parent, "parents") for parent in parents], dtype=np.int64
            )
        return as_array(parents, "parents")

    @staticmethod
    def _inherits_from(compensating: ArrayLike | None, parents: NDArray[Any]) -> BoolArray:
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

    def _number(self, joint: Any, name: str) -> int:
        """The number of a joint that is given by its number or its name; `name` is the argument's."""
        if isinstance(joint, str):
            if joint not in self._numbers:
                raise ValueError(f"{name}: no joint is named {joint!r}; expected one of the skeleton's names")
            return self._numbers[joint]
        if isinstance(joint, bool | np.bool_) or not hasattr(joint, "__index__"):
            raise TypeError(f"{name}: {type(joint).__name__}; expected an int or a joint's name")
        return index(joint)

    def __reduce__(self) -> tuple[Any, ...]:
        return Skeleton, (self._parents, self._bind, None, self._inherits, self._names)

    def __repr__(self) -> str:
        return f"<Skeleton of {len(self)} joints>"

    def __len__(self) -> int:
        return len(self._parents)

    def _key(self) -> tuple[Any, ...]:
        return self._parents.tobytes(), self._bind.tobytes(), self._inherits.tobytes(), self._names

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Skeleton) and self._key() == other._key())

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def parents(self) -> IntArray:
        """(J,) int64, -1 at roots; read-only."""
        return self._parents

    @property
    def bind(self) -> Float64Array:
        """B: (J, 4, 4) float64, world bind matrices; read-only."""
        return self._bind

    @property
    def inherits(self) -> BoolArray:
        """bool (J,): does the joint inherit its parent's scale? False at roots; read-only."""
        return self._inherits

    @property
    def names(self) -> tuple[str, ...] | None:
        """The joints' names, if they were given."""
        return self._names

    def index(self, joint: int | str) -> int:
        """The number of a joint: of its name, or of the number itself.

        Raises ValueError where the skeleton has no such joint, TypeError for what is neither.
        """
        number = self._number(joint, "joint")
        if not 0 <= number < len(self):
            expected = f"0..{len(self) - 1}" if len(self) else "none, since there are no joints"
            raise ValueError(f"joint: {joint}; expected {expected}")
        return number

    def increment_local(self, user: ArrayLike, joint: int | str, increment: ArrayLike) -> Float64Array:
        """tps.increment_local, of a joint by number or name: U'_j = increment U_j. Returns (J, 4, 4) float64."""
        return _core.increment_local(self._own_user(user), self.index(joint), increment)

    def increment_world(self, user: ArrayLike, joint: int | str, increment: ArrayLike) -> Float64Array:
        """tps.increment_world on this skeleton, of a joint by number or name: W'_j = increment W_j.

        user: (J, 4, 4). increment: (4, 4). Returns the new user transforms, (J, 4, 4) float64.
        """
        local = _core.bind_local(self._bind, self._parents)
        return _core.increment_world(self._own_user(user), self.index(joint), increment, local, self._parents)

    def _own_user(self, user: ArrayLike) -> NDArray[Any]:
        array = as_array(user, "user")
        if array.dtype.kind in "fiu" and array.shape != self._bind.shape:  # of other kinds the core says more
            raise ValueError(f"user: shape {array.shape}; expected {self._bind.shape}")
        return array

    def pose(self, user: ArrayLike) -> Float64Array:
        """Posed world matrices from the user's local transforms, with scale passed on as the skeleton says.

        user: (J, 4, 4), or (F, J, 4, 4) for many frames at once. Returns the same shape, float64.
        Where every joint inherits this is tps.pose_world; a joint that does not takes on its parent's rotation and the
        displaced position only: W_j = b_j U_j, where b_j is W_p L_j with the linear part of the parent's frame without
        its own scale. Raises TypeError or ValueError naming the argument.
        """
        return self._core.pose(user)

    def support_joints(self, weighted: ArrayLike) -> BoolArray:
        """Which joints have no weight of their own but a weighted descendant, and so carry transforms to it.

        weighted: bool (J,), true where a vertex has weight on the joint. Returns bool (J,).
        Raises TypeError or ValueError naming the argument.
        """
        return self._core.support_joints(weighted)

    def separate(
        self,
        world: ArrayLike,
        inherited: AnyInherited = "after",
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

        Formula: each joint's own transform, in its parent's frame without scale, is decomposed into a rotation and a
        stretch (polar decomposition); the rigid parts of all joints follow from the chain of these. The whole product
        is kept exactly. Raises TypeError or ValueError naming the argument.
        """
        return Separation(*self._core.separate(world, inherited, weighted, nonrigid, rigid))
