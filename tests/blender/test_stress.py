"""A few rounds of the stress on many threads; `python tests/blender/stress.py ROUNDS` runs more."""

import stress

SEED = 3


def test_a_few_rounds():
    code, printed = stress.start(8, SEED)
    print(printed[-4000:])
    assert code == 0, printed[-4000:]
    assert f"8 rounds of seed {SEED} are right" in printed and "Traceback" not in printed
