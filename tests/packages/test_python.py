"""The Python package as an index gives it: the wheel with each NumPy, the source distribution without a network."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest
from versions import NEW, ROOT

WHEELS = ROOT / "build" / "wheels"
WHEEL = WHEELS / f"two_phase_skinning-{NEW}-cp311-abi3-manylinux_2_28_x86_64.whl"
SDIST = WHEELS / f"two_phase_skinning-{NEW}.tar.gz"
# Those that ask most of NumPy's C interface; the laws of the mathematics are tested with one NumPy.
TESTS = ("invalid_input", "weights", "deform", "pickle", "frames", "threads", "kernels", "worked_example", "separation")
NUMPYS = [
    line.split()
    for line in (ROOT / "requirements" / "numpys.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def environment(name, python, *packages):
    command = [ROOT / "tools" / "venv.sh", name, python, *packages]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("numpy", "python", "scipy"), NUMPYS, ids=[row[0] for row in NUMPYS])
def test_the_wheel_with_each_numpy(numpy, python, scipy, tmp_path):
    found = environment(f"numpy-{numpy}", python, f"numpy=={numpy}", scipy, "pytest==9.2.0", "hypothesis==6.170.17")
    run(found, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", tmp_path, WHEEL)
    tests = [ROOT / "tests" / "numeric" / f"test_{name}.py" for name in TESTS]
    paths = {**os.environ, "PYTHONPATH": str(tmp_path)}
    version = run(
        found, "-P", "-c", "import numpy, two_phase_skinning as t; print(numpy.__version__, t.__file__)", env=paths
    )
    assert version.split() == [numpy, str(tmp_path / "two_phase_skinning" / "__init__.py")]
    assert "passed" in run(found, "-P", "-m", "pytest", "-q", "-x", *tests, env=paths, cwd=tmp_path)


def test_the_source_distribution_builds_from_itself_without_a_network(tmp_path):
    found = environment("build", "3.13 3.11", "-r", str(ROOT / "requirements" / "build.txt"))
    offline = [found, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps"]
    run(*offline, "--target", tmp_path / "installed", SDIST, cwd=tmp_path)
    with tarfile.open(SDIST) as archive:
        archive.extractall(tmp_path, filter="data")
    paths = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    example = tmp_path / SDIST.name.removesuffix(".tar.gz") / "examples" / "first_steps.py"
    run(found, "-P", example, env=paths, cwd=tmp_path)
    code = "import two_phase_skinning as tps; print(tps.__version__)"
    assert run(found, "-P", "-c", code, env=paths, cwd=tmp_path).strip() == NEW


def test_the_source_distribution_is_the_same_to_the_last_byte():
    first = SDIST.read_bytes()
    run(sys.executable, ROOT / "tools" / "package" / "sdist.py")
    assert SDIST.read_bytes() == first


def test_what_the_wheel_says_of_itself():
    with zipfile.ZipFile(WHEEL) as archive:
        names = archive.namelist()
        metadata = archive.read(f"two_phase_skinning-{NEW}.dist-info/METADATA").decode()
    assert "two_phase_skinning/py.typed" in names and "two_phase_skinning/_core.pyi" in names
    for line in ("Requires-Python: >=3.11", "Requires-Dist: numpy>=1.23", "Classifier: Typing :: Typed"):
        assert line in metadata.splitlines(), line
