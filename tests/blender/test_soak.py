"""A short run of the soak; `make soak` is the long one."""

import soak

SEED = 20260


def test_two_hundred_random_edits():
    soak.run(200, SEED)
