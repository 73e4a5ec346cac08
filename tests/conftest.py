"""What all tests share: on a busy machine a property takes longer, which says nothing about the code."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "pointsman",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # there the same examples each time; new ones are found by people's runs
)
settings.load_profile("pointsman")
