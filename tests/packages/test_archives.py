"""What is given away: the archives, the wheels in them, and that our own look into them finds what must not be."""

import shutil
import subprocess
import sys
import zipfile

import pytest
from versions import NEW, ROOT

sys.path.insert(0, str(ROOT / "tools" / "package"))
import archive as zips
import binaries
import check
from targets import TARGETS

OUT = ROOT / "build" / "extension"
WHEELS = ROOT / "build" / "wheels"
ALL = OUT / f"two_phase_skin-{NEW}.zip"
LINUX_WHEEL = f"two_phase_skinning-{NEW}-cp311-abi3-manylinux_2_28_x86_64.whl"


def test_one_archive_for_each_platform_and_one_for_all():
    each = {f"two_phase_skin-{NEW}-{platform.replace('-', '_')}.zip" for platform in TARGETS}
    assert {path.name for path in OUT.iterdir()} == {ALL.name, *each}
    for name in (ALL.name, *each):
        assert check.problems(OUT / name) == []


def contents():
    with zipfile.ZipFile(ALL) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def without_a_wheel(files):
    del files[f"wheels/{LINUX_WHEEL}"]


def wheel_not_listed(files):
    files["wheels/other-1.0-py3-none-any.whl"] = b""


def unknown_platform(files):
    edit(files, '"windows-x64"', '"windows-x86"')


def platform_without_a_wheel(files):
    edit(files, f'  "./wheels/{LINUX_WHEEL}",\n', "")
    del files[f"wheels/{LINUX_WHEEL}"]


def no_licence(files):
    del files["LICENSE"]


def other_version(files):
    edit(files, f'version = "{NEW}"', 'version = "9.9.9"')


def leftovers(files):
    files["__pycache__/live.cpython-313.pyc"] = b""


def foreign_binary(files):
    windows = f"wheels/two_phase_skinning-{NEW}-cp311-abi3-win_amd64.whl"
    files[f"wheels/{LINUX_WHEEL}"] = files[windows]


def edit(files, old, new):
    manifest = files["blender_manifest.toml"].decode()
    assert old in manifest
    files["blender_manifest.toml"] = manifest.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_a_wheel, "is not there, though the manifest lists it"),
        (wheel_not_listed, "is not listed in the manifest"),
        (unknown_platform, "windows-x86 is no platform of Blender"),
        (platform_without_a_wheel, "linux-x64 has 0 wheels"),
        (no_licence, "LICENSE is missing"),
        (other_version, "the extension 9.9.9"),
        (leftovers, "does not belong into the extension"),
        (foreign_binary, "not _core.abi3.so alone"),
    ],
)
def test_a_spoilt_archive_is_noticed(tmp_path, spoil, said):
    files = contents()
    spoil(files)
    zips.write(tmp_path / "spoilt.zip", files)
    found = check.problems(tmp_path / "spoilt.zip")
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize("platform", TARGETS)
def test_a_binary_for_another_system_is_noticed(platform, tmp_path):
    target = TARGETS[platform]
    other = TARGETS["macos-arm64" if platform == "macos-x64" else "macos-x64"]
    (wheel,) = WHEELS.glob(f"*-{other.wheel_tag}.whl")
    with zipfile.ZipFile(wheel) as archive:
        (tmp_path / target.module).write_bytes(archive.read(f"two_phase_skinning/{other.module}"))
    with pytest.raises(binaries.Unfit, match=r"is not for|is no binary for"):
        binaries.inspect(tmp_path / target.module, target)


def test_a_changed_byte_breaks_the_signature(tmp_path):
    target = TARGETS["macos-arm64"]
    (wheel,) = WHEELS.glob(f"*-{target.wheel_tag}.whl")
    with zipfile.ZipFile(wheel) as archive:
        data = bytearray(archive.read(f"two_phase_skinning/{target.module}"))
    data[0x5000] ^= 1
    (tmp_path / target.module).write_bytes(data)
    with pytest.raises(binaries.Unfit, match="signature"):
        binaries.inspect(tmp_path / target.module, target)


def test_a_library_of_the_builders_system_is_noticed(tmp_path):
    """What an ordinary build on a newer Linux looks like: it must not be given away."""
    source, built = tmp_path / "module.c", tmp_path / "_core.abi3.so"
    source.write_text("void PyInit__core(void) {}\n", encoding="utf-8")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-linux-gnu.2.34", "-shared", "-fPIC"]
    subprocess.run([*zig, source, "-Wl,-rpath,/opt/python/lib", "-o", built], check=True)
    with pytest.raises(binaries.Unfit, match="search path of its own"):
        binaries.inspect(built, TARGETS["linux-x64"])


def test_two_builds_are_the_same_to_the_last_byte(tmp_path):
    """In another folder, without anything that the first build left."""
    tree = tmp_path / "sources"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", "*.so"))
    build = [sys.executable, tree / "tools/package/produce.py", "--platform", "linux-x64", "--platform", "macos-arm64"]
    done = subprocess.run(build, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for wheel in (tree / "build" / "wheels").iterdir():
        assert wheel.read_bytes() == (WHEELS / wheel.name).read_bytes(), wheel.name
