"""What the tests of packages share: the archives of this version and of an older one, built from the same sources."""

import pytest
import versions


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """For what all tests of a run share."""
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="session")
def archives():
    return versions.Archives()
