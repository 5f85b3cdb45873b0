"""Settings for the numeric tests: the same examples in every run, so that a red run is never luck."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fixed",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
# TPS_HYPOTHESIS=search looks for new counterexamples, many more of them, differently in every run.
settings.register_profile("search", parent=settings.get_profile("fixed"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("TPS_HYPOTHESIS", "fixed"))
