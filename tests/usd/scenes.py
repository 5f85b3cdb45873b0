"""Small scenes, one for each thing that UsdSkel binds, made with OpenUSD's own API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

JOINTS = ("hip", "hip/knee", "hip/knee/foot", "hip/tail")
OFFSETS = ((0, 0.5, 0), (0, 1, 0), (0, 1, 0.2), (-0.7, 0.1, 0.3))
FIRST, LAST = 1, 9


def new_stage() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    stage.SetStartTimeCode(FIRST)
    stage.SetEndTimeCode(LAST)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    return stage


def random(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def matrix_of(translation: tuple[float, float, float], angle: float = 0.0, scale: float = 1.0) -> Gf.Matrix4d:
    turn = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(1, 2, 3), angle))
    return Gf.Matrix4d().SetScale(scale) * turn * Gf.Matrix4d().SetTranslate(Gf.Vec3d(*translation))


def add_skeleton(stage: Usd.Stage, path: str) -> UsdSkel.Skeleton:
    """Four joints, a fork; the rest pose is not the bind pose."""
    skeleton = UsdSkel.Skeleton.Define(stage, path)
    bind = [matrix_of(OFFSETS[0], 10)]
    bind += [matrix_of(OFFSETS[1], 20) * bind[0]]
    bind += [matrix_of(OFFSETS[2], 5) * bind[1], matrix_of(OFFSETS[3], -30) * bind[0]]
    skeleton.CreateJointsAttr(JOINTS)
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(bind))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray([matrix_of(o, 15 * n) for n, o in enumerate(OFFSETS)]))
    return skeleton


def add_animation(
    stage: Usd.Stage, path: str, joints: tuple[str, ...] = JOINTS, scaled: bool = False, seed: int = 1
) -> UsdSkel.Animation:
    """Keys at the first frame, one in between and the last."""
    animation = UsdSkel.Animation.Define(stage, path)
    animation.CreateJointsAttr(joints)
    for time in (FIRST, 4.5, LAST):
        rng = random(seed * 100 + int(time))
        turns = [Gf.Rotation(Gf.Vec3d(*rng.normal(size=3)), rng.uniform(-70, 70)).GetQuat() for _ in joints]
        sizes = rng.uniform(0.5, 2, (len(joints), 3)) if scaled else np.ones((len(joints), 3))
        places = np.array([OFFSETS[JOINTS.index(joint)] for joint in joints]) + rng.uniform(-0.1, 0.1, (len(joints), 3))
        animation.CreateRotationsAttr().Set(Vt.QuatfArray([Gf.Quatf(turn) for turn in turns]), time)
        animation.CreateScalesAttr().Set(Vt.Vec3hArray([Gf.Vec3h(*map(float, size)) for size in sizes]), time)
        animation.CreateTranslationsAttr().Set(Vt.Vec3fArray.FromNumpy(places.astype(np.float32)), time)
    return animation


def bind(
    prim: Usd.Prim, points: int, joints: int = len(JOINTS), width: int = 3, constant: bool = False, seed: int = 2
) -> UsdSkel.BindingAPI:
    """Random influences that sum to 1; some weights are 0."""
    rng = random(seed)
    count = 1 if constant else points
    weights = rng.uniform(0.1, 1, (count, width)) * (rng.uniform(size=(count, width)) > 0.2)
    weights[:, 0] += 0.2
    weights /= weights.sum(axis=1, keepdims=True)
    indices = rng.integers(0, joints, (count, width))
    binding = UsdSkel.BindingAPI.Apply(prim)
    binding.CreateJointIndicesPrimvar(constant, width).Set(Vt.IntArray.FromNumpy(indices.astype(np.int32).ravel()))
    binding.CreateJointWeightsPrimvar(constant, width).Set(Vt.FloatArray.FromNumpy(weights.astype(np.float32).ravel()))
    return binding


def cloud(count: int, seed: int = 3) -> Vt.Vec3fArray:
    return Vt.Vec3fArray.FromNumpy(random(seed).uniform((-0.4, 0, -0.4), (0.4, 3, 0.4), (count, 3)).astype(np.float32))


def unit_normals(count: int, seed: int = 4) -> Vt.Vec3fArray:
    normals = random(seed).normal(size=(count, 3))
    return Vt.Vec3fArray.FromNumpy((normals / np.linalg.norm(normals, axis=1, keepdims=True)).astype(np.float32))


def add_mesh(stage: Usd.Stage, path: str, count: int = 40, normals: str = "vertex") -> UsdGeom.Mesh:
    """Quads over random points, with normals of an interpolation, "primvar" (indexed, by corner) or "none"."""
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(cloud(count))
    mesh.CreateFaceVertexCountsAttr([4] * (count // 4))
    corners = random(5).permutation(count).astype(np.int32)
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(corners))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if normals == "primvar":
        primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
            "normals", Sdf.ValueTypeNames.Normal3fArray, UsdGeom.Tokens.faceVarying
        )
        primvar.Set(unit_normals(7))
        primvar.SetIndices(Vt.IntArray([n % 7 for n in range(count)]))
    elif normals != "none":
        mesh.CreateNormalsAttr(unit_normals(count))
        mesh.SetNormalsInterpolation(normals)
    return mesh


def character(stage: Usd.Stage, path: str = "/Man", scaled: bool = False) -> UsdSkel.Root:
    """A SkelRoot whose skeleton is bound at the top, for all that is beneath it."""
    root = UsdSkel.Root.Define(stage, path)
    add_skeleton(stage, f"{path}/Bones")
    add_animation(stage, f"{path}/Moves", scaled=scaled)
    binding = UsdSkel.BindingAPI.Apply(root.GetPrim())
    binding.CreateSkeletonRel().SetTargets([f"{path}/Bones"])
    binding.CreateAnimationSourceRel().SetTargets([f"{path}/Moves"])
    return root


def varying(stage: Usd.Stage) -> None:
    """Influences by point; normals by point, by corner, and one of all."""
    character(stage)
    for normals in ("vertex", "faceVarying", "varying", "none"):
        bind(add_mesh(stage, f"/Man/{normals}", normals=normals).GetPrim(), 40)


def scaled(stage: Usd.Stage) -> None:
    character(stage, scaled=True)
    bind(add_mesh(stage, "/Man/Skin", normals="none").GetPrim(), 40)


def placed(stage: Usd.Stage) -> None:
    """A geomBindTransform with scale; prim and skeleton in different spaces that move, one not below its parent."""
    root = character(stage)
    UsdGeom.Xformable(root).AddTranslateOp().Set(Gf.Vec3d(3, 0, -1))
    turn = UsdGeom.Xformable(stage.GetPrimAtPath("/Man/Bones")).AddRotateYOp()
    turn.Set(0, FIRST)
    turn.Set(90, LAST)
    for name in ("Inside", "Reset"):
        mesh = add_mesh(stage, f"/Man/{name}")
        bind(mesh.GetPrim(), 40).CreateGeomBindTransformAttr(matrix_of((0.1, 0.2, 0.3), 40, 1.5))
        mesh.AddTransformOp().Set(matrix_of((1, 2, 3), 70, 0.5))
        mesh.SetResetXformStack(name == "Reset")


def ordered(stage: Usd.Stage) -> None:
    """Each prim numbers the joints in an order of its own, one of them not all; the animation has another still."""
    character(stage)
    stage.RemovePrim("/Man/Moves")
    add_animation(stage, "/Man/Moves", ("hip/tail", "hip", "hip/knee"))
    for name, joints in (("All", JOINTS[::-1]), ("Some", ("hip/tail", "hip/knee"))):
        bind(add_mesh(stage, f"/Man/{name}").GetPrim(), 40, len(joints)).CreateJointsAttr(joints)


def inherited(stage: Usd.Stage) -> None:
    """Influences, geomBindTransform and method said above, and said anew below."""
    character(stage)
    group = UsdGeom.Xform.Define(stage, "/Man/Group").GetPrim()
    above = bind(group, 1, constant=True)
    above.CreateGeomBindTransformAttr(matrix_of((0.5, 0, 0), 30))
    above.CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    UsdGeom.Sphere.Define(stage, "/Man/Group/Ball")
    UsdGeom.Cube.Define(stage, "/Man/Group/Box").AddTranslateOp().Set(Gf.Vec3d(5, 5, 5))
    bind(add_mesh(stage, "/Man/Group/Skin").GetPrim(), 40)


def quaternions(stage: Usd.Stage) -> None:
    root = character(stage)
    UsdSkel.BindingAPI(root).CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    for normals in ("vertex", "faceVarying"):
        bind(add_mesh(stage, f"/Man/{normals}", normals=normals).GetPrim(), 40)


def stretched(stage: Usd.Stage) -> None:
    """Scale with dual quaternions, whose stretch is about the origin of skel space."""
    root = character(stage, scaled=True)
    UsdSkel.BindingAPI(root).CreateSkinningMethodAttr(UsdSkel.Tokens.dualQuaternion)
    bind(add_mesh(stage, "/Man/Skin").GetPrim(), 40).CreateGeomBindTransformAttr(matrix_of((1, 0, 2), 40, 1.5))


def rigid(stage: Usd.Stage) -> None:
    """Constant influences, of one joint and of two, for what has points and what has none."""
    character(stage)
    for width in (1, 2):
        bind(UsdGeom.Sphere.Define(stage, f"/Man/Ball{width}").GetPrim(), 1, width=width, constant=True)
        bind(add_mesh(stage, f"/Man/Plate{width}").GetPrim(), 40, width=width, constant=True)
    bones = UsdGeom.Xformable(stage.GetPrimAtPath("/Man/Bones"))
    bones.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    group = UsdGeom.Xform.Define(stage, "/Man/Group")
    group.AddTransformOp().Set(matrix_of((1, 1, 1), 25, 2))
    bind(UsdGeom.Cone.Define(stage, "/Man/Group/Hat").GetPrim(), 1, width=1, constant=True)
    instancer = UsdGeom.PointInstancer.Define(stage, "/Man/Group/Studs")
    bind(instancer.GetPrim(), 1, width=2, constant=True)


def kinds(stage: Usd.Stage) -> None:
    """All kinds of prims that have points."""
    character(stage)
    curves = UsdGeom.BasisCurves.Define(stage, "/Man/Hair")
    curves.CreateCurveVertexCountsAttr([4] * 10)
    curves.CreateWidthsAttr([0.1, 0.3])
    nurbs = UsdGeom.NurbsCurves.Define(stage, "/Man/Nurbs")
    points = UsdGeom.Points.Define(stage, "/Man/Dust")
    points.CreateWidthsAttr(Vt.FloatArray([0.2] * 40))
    hermite = UsdGeom.HermiteCurves.Define(stage, "/Man/Hermite")
    patch = UsdGeom.NurbsPatch.Define(stage, "/Man/Patch")
    tets = UsdGeom.TetMesh.Define(stage, "/Man/Tets")
    for based in (curves, nurbs, points, hermite, patch, tets):
        based.CreatePointsAttr(cloud(40))
        bind(based.GetPrim(), 40)


def add_shapes(stage: Usd.Stage, prim: Usd.Prim, count: int) -> None:
    """A whole shape, one of some points with an in-between, and both with offsets of normals."""
    whole = UsdSkel.BlendShape.Define(stage, f"{prim.GetPath()}/whole")
    whole.CreateOffsetsAttr(cloud(count, 11))
    whole.CreateNormalOffsetsAttr(unit_normals(count, 12))
    some = UsdSkel.BlendShape.Define(stage, f"{prim.GetPath()}/some")
    some.CreatePointIndicesAttr([7, 3, 21])
    some.CreateOffsetsAttr(cloud(3, 13))
    some.CreateNormalOffsetsAttr(unit_normals(3, 14))
    between = some.CreateInbetween("half")
    between.SetWeight(0.4)
    between.SetOffsets(cloud(3, 15))
    between.SetNormalOffsets(unit_normals(3, 16))
    binding = UsdSkel.BindingAPI.Apply(prim)
    binding.CreateBlendShapesAttr(["some", "whole"])
    binding.CreateBlendShapeTargetsRel().SetTargets([some.GetPath(), whole.GetPath()])


def add_shape_weights(animation: UsdSkel.Animation) -> None:
    animation.CreateBlendShapesAttr(["other", "whole", "some"])
    for time, weights in ((FIRST, (1, 0, 0)), (4, (0, 0.5, 0.3)), (LAST, (0.1, -0.2, 1.2))):
        animation.CreateBlendShapeWeightsAttr().Set(Vt.FloatArray(weights), time)


def shapes(stage: Usd.Stage) -> None:
    """Blend shapes, skinned and alone, and of a prim with normals by corner."""
    character(stage)
    add_shape_weights(UsdSkel.Animation(stage.GetPrimAtPath("/Man/Moves")))
    for normals in ("vertex", "faceVarying"):
        mesh = add_mesh(stage, f"/Man/{normals}", normals=normals).GetPrim()
        bind(mesh, 40)
        add_shapes(stage, mesh, 40)
    add_shapes(stage, add_mesh(stage, "/Man/Alone").GetPrim(), 40)


def nested(stage: Usd.Stage) -> None:
    """A SkelRoot within a SkelRoot, with a skeleton of its own, and one that takes the outer's."""
    character(stage)
    bind(add_mesh(stage, "/Man/Skin").GetPrim(), 40)
    character(stage, "/Man/Parrot")
    UsdSkel.BindingAPI(stage.GetPrimAtPath("/Man/Parrot")).GetSkeletonRel().SetTargets(["/Man/Parrot/Bones"])
    bind(add_mesh(stage, "/Man/Parrot/Skin").GetPrim(), 40, seed=8)


def resting(stage: Usd.Stage) -> None:
    """No animation: the rest pose; and no rest pose either: nothing is skinned."""
    for name in ("Rest", "Bind"):
        character(stage, f"/{name}")
        stage.RemovePrim(f"/{name}/Moves")
        stage.GetPrimAtPath(f"/{name}").RemoveProperty("skel:animationSource")
        bind(add_mesh(stage, f"/{name}/Skin").GetPrim(), 40)
    stage.GetPrimAtPath("/Bind/Bones").RemoveProperty("restTransforms")


def changing(stage: Usd.Stage) -> None:
    """Points, normals, influences and geomBindTransform that vary over time."""
    character(stage)
    mesh = add_mesh(stage, "/Man/Skin")
    binding = bind(mesh.GetPrim(), 40)
    for time in (FIRST, 6, LAST):
        mesh.GetPointsAttr().Set(cloud(40, 20 + int(time)), time)
        mesh.GetNormalsAttr().Set(unit_normals(40, 20 + int(time)), time)
        binding.CreateGeomBindTransformAttr().Set(matrix_of((0, 0, 0.1 * time), 5 * time), time)
        weights = random(int(time)).dirichlet((1, 1, 1), 40).astype(np.float32)
        binding.GetJointWeightsPrimvar().Set(Vt.FloatArray.FromNumpy(weights.ravel()), time)


def crowd(stage: Usd.Stage, instanced: bool = True) -> None:
    """Three of one character, by reference, each with its own animation and place."""
    UsdGeom.Scope.Define(stage, "/Cast").GetPrim().SetSpecifier(Sdf.SpecifierClass)
    character(stage, "/Cast/Man")
    stage.GetPrimAtPath("/Cast/Man").RemoveProperty("skel:animationSource")
    stage.RemovePrim("/Cast/Man/Moves")
    bind(add_mesh(stage, "/Cast/Man/Skin").GetPrim(), 40)
    bind(UsdGeom.Sphere.Define(stage, "/Cast/Man/Ball").GetPrim(), 1, width=1, constant=True)
    for number in range(3):
        man = stage.DefinePrim(f"/Crowd/Man{number}")
        man.GetReferences().AddInternalReference("/Cast/Man")
        man.SetInstanceable(instanced)
        UsdGeom.Xformable(man).AddTranslateOp().Set(Gf.Vec3d(2 * number, 0, 0))
        add_animation(stage, f"/Crowd/Moves{number}", seed=10 + number)
        UsdSkel.BindingAPI(man).CreateAnimationSourceRel().SetTargets([f"/Crowd/Moves{number}"])


def copies(stage: Usd.Stage) -> None:
    """The same, not instanced."""
    crowd(stage, instanced=False)


SCENES: dict[str, Callable[[Usd.Stage], None]] = {
    made.__name__: made
    for made in (
        varying,
        scaled,
        placed,
        ordered,
        inherited,
        quaternions,
        stretched,
        rigid,
        kinds,
        shapes,
        nested,
        resting,
        changing,
    )
}


def make(folder: Path, scene: Callable[[Usd.Stage], None], suffix: str = ".usda") -> Path:
    """The file of a scene."""
    path = folder / f"{scene.__name__}{suffix}"
    stage = new_stage()
    scene(stage)
    stage.GetRootLayer().Export(str(path))
    return path
