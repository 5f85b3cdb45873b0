"""Runs the tests of this folder in real Blender: each module in a process of its own, with a time limit.

The modules are not imported here, only read for the names of their tests, so that a crash of Blender is a failed test
and not the end of the run. `run_in_blender.py` is the other side.
"""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TIME_LIMIT = 300  # seconds a module


def pytest_pycollect_makemodule(module_path, parent):
    if module_path.parent == HERE:
        return BlenderModule.from_parent(parent, path=module_path)
    return None


class BlenderModule(pytest.File):
    """A module of tests; its process is started when the first of them runs."""

    def collect(self):
        for node in ast.parse(self.path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield BlenderTest.from_parent(self, name=node.name)

    def result(self, name):
        if not hasattr(self, "_results"):
            wanted = [item.name for item in self.session.items if item.parent is self]
            self._results = _run(self.path, wanted, self._shared_folder())
        return self._results[name]

    def _shared_folder(self):
        """A folder that all modules of this run share, for what is costly to make."""
        return self.config._tmp_path_factory.getbasetemp()


class BlenderTest(pytest.Item):
    def runtest(self):
        outcome, text = self.parent.result(self.name)
        if outcome != "passed":
            raise BlenderFailure(text)
        print(text, end="")

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value, BlenderFailure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, f"{self.path.name}::{self.name}"


class BlenderFailure(Exception):
    pass


def _run(path, names, shared):
    """Run the named tests in one Blender; for each name its outcome and what it printed or raised."""
    command = [sys.executable, str(HERE / "run_in_blender.py"), str(path), *names]
    environment = {**os.environ, "TWO_PHASE_TESTS": str(shared), "PYTHONFAULTHANDLER": "1"}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=TIME_LIMIT)
        end = f"Blender ended with exit code {process.returncode}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        end = f"Blender was stopped after {TIME_LIMIT} s"
    return _results(output.decode("utf-8", "replace"), names, end)


def _results(output, names, end):
    results, printed = {}, []
    for line in output.splitlines(keepends=True):
        if line.startswith("@@@ "):
            name, outcome, text = json.loads(line[4:])
            results[name] = outcome, "".join(printed) + text
            printed = []
        else:
            printed.append(line)
    rest = f"{''.join(printed)}\n{end} before this test was through"
    return {name: results.get(name, ("failed", rest)) for name in names}
