"""A bake that is killed, finds the disk full or may not write leaves the file that was there as it was."""

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
import scene

BEFORE = b"what was there before"
NOBODY = 65534

# A bake in a process of its own, which ends itself by force at the frame that is named.
KILLED = """
import os, signal, sys
import scene
import bpy

scene.empty()
tube, rig = scene.tube()
scene.add_skin(tube)
scene.animate(rig)

def end(current, _depsgraph):
    if current.frame_current == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

bpy.app.handlers.frame_change_post.append(end)
bpy.ops.object.two_phase_skin_bake(kind=sys.argv[3], frame_start=1, frame_end=20, filepath=sys.argv[1])
"""


def prepared(name, meshes=1):
    """Skinned tubes that move, selected; and a file that is there already."""
    tubes = []
    for _ in range(meshes):
        tube, rig = scene.tube(joints=3, rings=60, around=30)
        scene.add_skin(tube)
        scene.animate(rig)
        tubes.append(tube)
    scene.activate(*tubes)
    folder = Path(scene.temporary(name))
    folder.mkdir(parents=True)
    path = folder / "cache.mdd"
    path.write_bytes(BEFORE)
    return path


def baked(path, kind="MDD"):
    return bpy.ops.object.two_phase_skin_bake(kind=kind, frame_start=1, frame_end=20, filepath=str(path))


def assert_as_before(path):
    assert path.read_bytes() == BEFORE
    assert [each.name for each in path.parent.iterdir()] == [path.name], "something was left behind"
    assert all(modifier.type != "MESH_CACHE" for obj in bpy.data.objects for modifier in obj.modifiers)


def _killed(kind, frame, path):
    command = [sys.executable, "-P", "-c", KILLED, str(path), str(frame), kind]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    ended = subprocess.run(command, env=environment, capture_output=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def test_killed_in_the_middle():
    path = prepared("killed")
    for kind in ("MDD", "PC2"):
        for frame in (2, 20):
            _killed(kind, frame, path)
            assert path.read_bytes() == BEFORE
    assert baked(path) == {"FINISHED"}  # what was left of them is not in the way
    assert path.read_bytes() != BEFORE
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_the_disk_is_full():
    """No file may become larger than this: to who writes, the same as a full disk, at each place that it can come."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    for k, most in enumerate((0, 10, 4000, 100_000, 421_000)):
        path = prepared(f"full{k}")
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            with pytest.raises(RuntimeError, match=r"Nothing was baked: .*too large"):
                baked(path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert_as_before(path)
        scene.empty()


def test_one_of_several_that_cannot_be_written():
    """None of them takes the place of what was there."""
    path = prepared("several", meshes=2)
    path.unlink()
    first, second = (path.with_name(f"cache_{obj.name.replace('.', '_')}.mdd") for obj in bpy.context.selected_objects)
    for each in (first, second):
        each.write_bytes(BEFORE)
    blocked = sorted((first, second))[1].with_suffix(".mdd.part")
    blocked.mkdir()
    with pytest.raises(RuntimeError, match=r"Nothing was baked: .*directory"):
        baked(path)
    assert first.read_bytes() == second.read_bytes() == BEFORE
    blocked.rmdir()
    assert sorted(each.name for each in path.parent.iterdir()) == sorted([first.name, second.name])


def test_writing_is_not_permitted():
    path = prepared("forbidden")
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR | stat.S_IROTH | stat.S_IXOTH)
    for folder in Path(path).parents:
        if folder.owner() == "root" and folder != Path("/"):
            os.chmod(folder, folder.stat().st_mode | stat.S_IXOTH)
    is_root = os.geteuid() == 0
    if is_root:  # who may write anywhere
        os.seteuid(NOBODY)
    try:
        with pytest.raises(RuntimeError, match=r"Nothing was baked: .*[Pp]ermission"):
            baked(path)
    finally:
        if is_root:
            os.seteuid(0)
    assert_as_before(path)
