from typing import Any

from numpy import bool_, float32, float64, int64
from numpy.typing import ArrayLike, NDArray

compiler: str
version: str

def bind_local(bind: ArrayLike, parents: ArrayLike) -> NDArray[float64]: ...
def bind_world(local: ArrayLike, parents: ArrayLike) -> NDArray[float64]: ...
def pose_world(local: ArrayLike, user: ArrayLike, parents: ArrayLike) -> NDArray[float64]: ...
def user_local(world: ArrayLike, local: ArrayLike, parents: ArrayLike) -> NDArray[float64]: ...
def skinning_matrices(world: ArrayLike, bind: ArrayLike) -> NDArray[float64]: ...
def world_from_skinning(matrices: ArrayLike, bind: ArrayLike) -> NDArray[float64]: ...
def increment_local(user: ArrayLike, joint: int, increment: ArrayLike) -> NDArray[float64]: ...
def increment_world(
    user: ArrayLike, joint: int, increment: ArrayLike, local: ArrayLike, parents: ArrayLike
) -> NDArray[float64]: ...

# The rest serves Skeleton and Skin. A skeleton or skin is held in a capsule, which has no type of its own.
def skeleton(parents: ArrayLike, bind: ArrayLike, inherits: ArrayLike) -> Any: ...
def pose(skeleton: Any, user: ArrayLike) -> NDArray[float64]: ...
def support_joints(skeleton: Any, weighted: ArrayLike) -> NDArray[bool_]: ...
def separate(
    skeleton: Any,
    world: ArrayLike,
    inherited: str,
    weighted: ArrayLike | None,
    nonrigid: ArrayLike | None,
    rigid: ArrayLike | None,
) -> tuple[NDArray[float64], ...]: ...
def skin(
    points: ArrayLike,
    normals: ArrayLike | None,
    row_start: ArrayLike,
    joints: ArrayLike,
    weights: ArrayLike,
    joint_count: int,
    normalised: bool,
    kernel: int = 0,
) -> Any: ...
def kernels() -> list[str]: ...
def skin_weighted(skin: Any) -> NDArray[bool_]: ...
def skin_arrays(
    skin: Any,
) -> tuple[NDArray[float32], NDArray[float32] | None, NDArray[int64], NDArray[int64], NDArray[float64]]: ...
def deform(
    skin: Any,
    skeleton: Any,
    result: str,
    world: ArrayLike,
    method: str,
    inherited: str,
    points: ArrayLike | None,
    blend: ArrayLike | None,
    phase: int | None,
    nonrigid: ArrayLike | None,
    rigid: ArrayLike | None,
    space: ArrayLike | None,
    out: NDArray[float32] | None,
    normals_out: NDArray[float32] | None,
    threads: int,
    offsets: bool,
) -> Any: ...
def deform_many(
    skins: tuple[Any, ...],
    skeletons: tuple[Any, ...],
    worlds: tuple[ArrayLike, ...],
    method: str,
    inherited: str,
    outs: tuple[NDArray[float32] | None, ...],
    threads: int,
) -> list[NDArray[float32]]: ...
