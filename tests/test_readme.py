"""The README's Python example runs as it stands, and shows what the text says."""

import re
from pathlib import Path

import numpy as np


def test_the_example_runs(capsys):
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, flags=re.S)
    names = {}
    exec(example, names)
    two_phase, linear = names["skin"].deform(names["world"]), names["skin"].deform(names["world"], method="linear")
    assert capsys.readouterr().out == f"{two_phase} {linear}\n"
    # the worked example of the method's definition: the vertex between the joints, and the tip
    np.testing.assert_allclose(two_phase[[2, 4]], [[0.1414, 2.2828, 0], [-1, 2.4, 0]], atol=1e-4)
    assert np.linalg.norm(linear[2] - two_phase[2]) > 0.01
