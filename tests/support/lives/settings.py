"""What a life may begin with, and be changed to."""

from typing import Any

from hypothesis import strategies as st

from pointsman.brain.model.cache_settings import CacheSettings, MemoryClass
from pointsman.brain.model.tenant import Tenant

POLICIES = (
    "least_requests",
    "round_robin",
    "two_choices",
    "least_response_time",
    "fastest_recovery",
    "hybrid",
    "jffc",
    "fastest_free",
    "fastest_completion",
    "greedy",
    "session",
)
HOLDING = ("fastest_free", "fastest_completion", "greedy")
ORDERS = ("fcfs", "priority", "edf", "utility", "fair")
LAYOUTS = ("paged", "size_class", "buddy")
LONGEST_WAIT_S = 9.0

TENANTS = (
    (),
    (Tenant(name="t", concurrent=4, requests_per_minute=90.0, weight=2.0),),
    (Tenant(name="*", concurrent=3), Tenant(name="t", tokens_per_minute=3000.0, weight=0.5)),
)
APART: tuple[dict[str, Any], ...] = (
    {},
    {"long_context_tokens": 300, "long_context_per_node": 1},
    {"long_context_tokens": 200, "long_context_nodes": ("b",), "short_on_long_nodes": "idle"},
    {"long_context_tokens": 400, "long_context_nodes": ("a", "c"), "long_context_requests": 2},
)
"""How long prompts are kept apart."""
READY = (
    CacheSettings(),
    CacheSettings(
        prealloc=(MemoryClass(model="m", up_to_tokens=300, requests=1), MemoryClass(model="n", up_to_tokens=600)),
        starve_s=3.0,
    ),
    CacheSettings(demand_classes=2, demand_memory_s=5.0, unused_s=3.0),
    CacheSettings(gather_load=1.0, gather_after_s=0.1, gather_above=0.0),
    CacheSettings(demand_classes=1, warm_nodes=2, warm_hits=0.2, warm_tokens=1, warm_load=1.0, warm_share=1.0),
)
"""What is done ahead of requests."""


def changeable() -> st.SearchStrategy[dict[str, Any]]:
    """Settings of the brain that may be others at any time."""
    one = st.fixed_dictionaries(
        {
            "queue_limit": st.integers(0, 5),
            "queue_timeout_s": st.floats(0.1, LONGEST_WAIT_S),
            "slow_start_s": st.sampled_from([0.0, 3.0]),
            "tries": st.integers(1, 3),
            "order": st.sampled_from(ORDERS),
            "reserve": st.sampled_from(("answer", "peak")),
            "overtake_limit": st.sampled_from([0, 1, 50]),
            "overtake_service": st.sampled_from([0.0, 4.0]),
            "fair_locality_tokens": st.sampled_from([0.0, 500.0]),
            "window": st.sampled_from([1, 3, 64]),
            "tenants": st.sampled_from(TENANTS),
            "preemption": st.sampled_from(["off", "on"]),
            "victims": st.sampled_from(["cheapest", "value"]),
            "cache": st.sampled_from(READY),
        }
    )
    return st.builds(lambda settings, apart: settings | apart, one, st.sampled_from(APART))
