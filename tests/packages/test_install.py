"""The extension, installed by Blender's own installer into each Blender, with a user folder that was empty before."""

import functools
from pathlib import Path

import blenders
import numpy as np
import pytest
from versions import NEW, OLD

METHODS = ("TWO_PHASE", "LINEAR", "DUAL_QUATERNION")
pytestmark = pytest.mark.parametrize("version", blenders.VERSIONS)


@functools.cache
def life(version: str, folder: Path, archives) -> dict:
    """All steps in one Blender, each in a process of its own: name -> what was found."""
    home, character = folder / version.split()[0], folder / "character.blend"
    files = {"character": character, "saved": home / "saved.blend"}
    saved = {"saved": files["saved"]}
    if not character.exists():  # by the oldest: newer ones open its files
        blenders.run(blenders.OLDEST, folder / "maker", "make_character", path=character)
    step = functools.partial(blenders.run, version, home)
    return {
        "install": step("install", archive=archives[OLD], **files),
        "update": step("update", archive=archives[NEW], **saved),
        "use": step("use", **files),
        "remove": step("remove", **saved),
        "left": sorted(path.name for path in (home / "user" / "extensions").rglob("*") if "two_phase" in path.name),
    }


@pytest.fixture
def lived(version, folder, archives):
    return life(version, folder, archives)


def test_installed_and_enabled_by_blender(lived):
    assert lived["install"]["install"] == ["FINISHED"]
    assert lived["install"]["loaded"]
    assert lived["install"]["version"] == OLD
    assert "site-packages/two_phase_skinning/_core" in lived["install"]["module"]


def test_the_body_moves(lived):
    points = np.load(lived["install"]["points"])
    assert points.shape[1] > 20000
    assert np.isfinite(points).all()
    assert np.linalg.norm(points[1] - points[0], axis=1).max() > 0.05 * size(points)


def test_an_update_over_a_running_version_asks_for_a_restart(lived):
    assert lived["update"]["before"] == OLD
    assert lived["update"]["problem_before"] == ""
    assert lived["update"]["install"] == ["FINISHED"]
    assert lived["update"]["loaded"]
    assert lived["update"]["after"] == NEW
    assert "restart Blender" in lived["update"]["problem_after"]


def test_after_the_restart_the_new_version_runs(lived):
    assert lived["use"]["version"] == NEW
    assert lived["use"]["problem"] == ""
    assert "site-packages/two_phase_skinning/_core" in lived["use"]["module"]


def test_the_file_of_the_older_version_looks_the_same(lived):
    np.testing.assert_array_equal(np.load(lived["use"]["points"]), np.load(lived["install"]["points"]))


def test_disabled_and_enabled_again(lived):
    assert not lived["use"]["loaded_when_disabled"]
    assert lived["use"]["stays_when_disabled"]
    again = np.load(lived["use"]["points_when_enabled_again"])
    np.testing.assert_array_equal(again, np.load(lived["use"]["points"]))


def test_removed_without_a_trace(lived):
    assert lived["remove"]["outcome"] == ["FINISHED"]
    assert not lived["remove"]["loaded"]
    assert not lived["remove"]["known"]
    assert lived["left"] == []


def test_the_native_part_gives_the_same_bits_in_every_blender(lived, folder, archives):
    assert lived["use"]["native"] == life(blenders.OLDEST, folder, archives)["use"]["native"]


@pytest.mark.parametrize("method", METHODS)
def test_the_same_body_in_every_blender_to_the_last_bit(lived, method, folder, archives):
    first = np.load(life(blenders.OLDEST, folder, archives)["use"]["fresh"][method])
    np.testing.assert_array_equal(np.load(lived["use"]["fresh"][method]), first)


def size(points) -> float:
    return float(np.linalg.norm(points.max((0, 1)) - points.min((0, 1))))
