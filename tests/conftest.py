"""What all tests share: on a busy machine a property takes longer, which says nothing about the code."""

from hypothesis import HealthCheck, settings

settings.register_profile("pointsman", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pointsman")
