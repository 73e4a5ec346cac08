"""Policies by name: one row each."""

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any

import msgspec

from pointsman.brain.policies.aibrix_prefix_cache import AibrixPrefixCache
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.dynamo_cost import DynamoCost
from pointsman.brain.policies.fastest_completion import FastestCompletion
from pointsman.brain.policies.fastest_free import FastestFree
from pointsman.brain.policies.fastest_free_batched import FastestFreeBatched
from pointsman.brain.policies.fastest_recovery import FastestRecovery
from pointsman.brain.policies.gated import Gated
from pointsman.brain.policies.greedy import Greedy
from pointsman.brain.policies.hot_cold import HotCold
from pointsman.brain.policies.hybrid import Hybrid
from pointsman.brain.policies.jffc import Jffc
from pointsman.brain.policies.jiq import JoinIdleQueue
from pointsman.brain.policies.least_requests import LeastRequests
from pointsman.brain.policies.least_response_time import LeastResponseTime
from pointsman.brain.policies.llmd_default import LlmdDefault
from pointsman.brain.policies.lmetric import LMetric
from pointsman.brain.policies.mooncake_conductor import MooncakeConductor
from pointsman.brain.policies.peak_ewma import PeakEwma
from pointsman.brain.policies.preble_e2 import PrebleE2
from pointsman.brain.policies.prefix_affinity import PrefixAffinity
from pointsman.brain.policies.round_robin import RoundRobin
from pointsman.brain.policies.sa_jsq import SpeedAwareJsq
from pointsman.brain.policies.sed import ShortestExpectedDelay
from pointsman.brain.policies.session import Session
from pointsman.brain.policies.sglang_cache_aware import SglangCacheAware
from pointsman.brain.policies.smg_cache_aware import SmgCacheAware
from pointsman.brain.policies.smg_least_load import SmgLeastLoad
from pointsman.brain.policies.token_two_choices import TokenTwoChoices
from pointsman.brain.policies.two_choices import TwoChoices
from pointsman.brain.policies.uniform_random import UniformRandom
from pointsman.brain.policies.vllm_kv_aware import VllmKvAware
from pointsman.brain.policies.weighted_random import WeightedRandom

POLICIES: dict[str, type[Policy]] = {
    policy.name: policy
    for policy in (
        AibrixPrefixCache,
        DynamoCost,
        FastestCompletion,
        FastestFree,
        FastestFreeBatched,
        FastestRecovery,
        Gated,
        Greedy,
        HotCold,
        Hybrid,
        Jffc,
        JoinIdleQueue,
        LMetric,
        LeastRequests,
        LeastResponseTime,
        LlmdDefault,
        MooncakeConductor,
        PeakEwma,
        PrebleE2,
        PrefixAffinity,
        RoundRobin,
        Session,
        SglangCacheAware,
        ShortestExpectedDelay,
        SmgCacheAware,
        SmgLeastLoad,
        SpeedAwareJsq,
        TokenTwoChoices,
        TwoChoices,
        UniformRandom,
        VllmKvAware,
        WeightedRandom,
    )
}


class UnknownPolicy(ValueError):
    """No policy of that name, no such parameter, or not with that value. The text says what is allowed."""


def build(name: str, parameters: dict[str, Any] | None = None) -> Policy:
    """The policy `name` with `parameters` over its defaults. Raises UnknownPolicy."""
    kind = POLICIES.get(name)
    if kind is None:
        raise UnknownPolicy(
            f"no policy named {name!r}; {_hint(name, POLICIES)}there are: {', '.join(sorted(POLICIES))}"
        )
    return _with_parameters(kind, parameters or {})


def _with_parameters(kind: type[Policy], parameters: dict[str, Any]) -> Policy:
    allowed = sorted(field.name for field in dataclasses.fields(kind))  # type: ignore[arg-type]
    for key in parameters:
        if key not in allowed:
            has = f"{_hint(key, allowed)}it has: {', '.join(allowed) or 'none'}"
            raise UnknownPolicy(f"policy {kind.name!r} has no parameter {key!r}; {has}")
    try:
        return msgspec.convert(parameters, kind, dec_hook=_wrapped)
    except msgspec.ValidationError as error:
        raise UnknownPolicy(f"policy {kind.name!r}: {_explained(str(error))}") from None


def _explained(message: str) -> str:
    """msgspec's message, the parameter in front: "`w_load`: expected `float` >= 0.0"."""
    text, _, path = message.partition(" - at `$.")
    return f"`{path.removesuffix('`')}`: {text[:1].lower()}{text[1:]}" if path else text


def _hint(given: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(given, list(known), n=1)
    return f"did you mean {near[0]!r}? " if near else ""


def _wrapped(kind: type, given: Any) -> Policy:
    """A parameter that is a policy itself: its name, or a table of `policy = NAME` and parameters."""
    if kind is not Policy:
        raise NotImplementedError(f"no parameter of a policy is a {kind}")
    if isinstance(given, str):
        return build(given)
    if not isinstance(given, dict) or "policy" not in given:
        raise ValueError("expected the name of a policy, or a table with `policy`")
    return build(given["policy"], {key: value for key, value in given.items() if key != "policy"})
