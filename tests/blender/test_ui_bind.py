"""Reading weights step by step, what was found, and what the overlay draws of a skeleton."""

import bpy
import numpy as np
import scene

inputs = scene.extension("inputs")
upkeep = scene.extension("live.upkeep")
weight_reading = scene.extension("live.weight_reading")
weights = scene.extension("read.vertex_weights")
overlay = scene.extension("ui.overlay")


def large():
    """A tube of more vertices than are read at once, with a few that have no weights."""
    tube, rig = scene.tube(rings=3, around=8)
    tube.vertex_groups["bone1"].remove([9, 10])
    tube.vertex_groups["bone2"].remove([9, 10])
    tube.vertex_groups["bone0"].remove([9, 10])
    tube.vertex_groups["bone3"].remove([9, 10])
    return tube, rig


def test_step_by_step_is_the_same():
    tube, _rig = scene.tube(rings=101)
    was, weight_reading.STEP = weight_reading.STEP, 300
    try:
        steps = list(weight_reading.reading([tube]))
    finally:
        weight_reading.STEP = was
    assert [name for name, _fraction in steps] == ["Tube"] * 6
    assert [round(fraction * 1616) for _name, fraction in steps] == list(range(0, 1616, 300))
    assert upkeep.registry.caches.meshes.weights.get(tube.data, tube.data.session_uid).same_as(weights.read(tube.data))


def test_what_was_read_step_by_step_is_not_read_again():
    tube, rig = scene.tube()
    scene.bend(rig)
    bpy.context.view_layer.update()
    for _ in weight_reading.reading([tube]):
        pass
    assert not upkeep.must_read(tube.data, 1)
    read, weights.read = weights.read, None  # which would fail
    try:
        skin = scene.add_skin(tube)
    finally:
        weights.read = read
        upkeep.weights_are_old()
    assert inputs.read(skin, "Message") == ""
    scene.assert_differ(scene.points(tube), scene.rest(tube), tube)


def test_a_reading_that_is_stopped_keeps_nothing():
    tube, _rig = scene.tube()
    was, weight_reading.STEP = weight_reading.STEP, 100
    try:
        reading = weight_reading.reading([tube])
        next(reading), next(reading)
        reading.close()
    finally:
        weight_reading.STEP = was
    assert upkeep.must_read(tube.data, 1)


def test_what_was_found():
    tube, rig = large()
    tube.vertex_groups.remove(tube.vertex_groups["bone1"])
    scene.bend(rig)
    skin = scene.add_skin(tube)
    vertices, bones, support, unweighted = upkeep.found(skin)
    per_vertex = [sum(entry.weight for entry in vertex.groups) for vertex in tube.data.vertices]
    assert (vertices, bones) == (24, 3 if any(per_vertex) else 0)
    assert support == 1 and unweighted == sum(total == 0 for total in per_vertex) > 0


def views(tube):
    bpy.context.view_layer.update()
    return upkeep.skeletons(bpy.context)


def ends(lines):
    """The bones' own lines; the others are the crosses at their heads."""
    return lines[: len(lines) // 4]


def test_the_overlay_draws_support_joints_and_compensating_bones():
    tube, rig = scene.tube()
    rig.location, rig.scale = (1, 2, 3), (2, 2, 2)
    tube.vertex_groups.remove(tube.vertex_groups["bone1"])
    rig.data.bones["bone3"].inherit_scale = "NONE"
    scene.add_skin(tube)
    scene.bend(rig)
    (view,) = views(tube)

    def bone(name):
        return [rig.matrix_world @ end for end in (rig.pose.bones[name].head, rig.pose.bones[name].tail)]

    settings = bpy.context.window_manager.two_phase_skin_overlay
    assert overlay.segments([view], settings) == []  # off by default
    settings.support = settings.compensating = True
    (_blue, compensating), (_magenta, support) = overlay.segments([view], settings)
    scale = np.linalg.norm(rig.pose.bones["bone1"].matrix.col[1].xyz)
    direction = np.array(bone("bone1")[1]) - np.array(bone("bone1")[0])
    np.testing.assert_allclose(ends(support)[0][0], bone("bone1")[0], atol=1e-5)
    np.testing.assert_allclose(ends(support)[0][1] - ends(support)[0][0], direction, atol=1e-4 * scale)
    np.testing.assert_allclose(ends(compensating)[0], bone("bone2"), atol=1e-4)
    assert len(ends(support)) == len(ends(compensating)) == 1


def test_the_overlay_draws_the_intermediate_skeleton():
    tube, rig = scene.tube()
    scene.add_skin(tube)
    scene.bend(rig, scale=False)
    (view,) = views(tube)
    lines = ends(view.intermediate())
    for bone, line in zip(rig.data.bones, lines, strict=True):  # without scale it is the rest pose
        np.testing.assert_allclose(line, [bone.head_local, bone.tail_local], atol=1e-4)
    tube.hide_set(True)
    assert views(tube) == []
