"""How long requests would take if they had the fleet's fastest node to themselves and nothing were cached.

What a request really took, over that, is its slowdown: it lets short and long requests be compared.
"""

from collections.abc import Callable, Iterable

import numpy as np

from pointsman.brain.costs.step_time import StepTime, prefill_seconds
from pointsman.observe.sampled import Numbers
from pointsman.sim.plain import PlainProfile, Profile

KNOTS = 200
"""Prompt lengths at which prefill is computed; in between, a line is within a thousandth of it."""

Alone = Callable[[Numbers, Numbers], Numbers]
"""Seconds of requests with so many tokens of prompt and of answer."""


def alone_on(profiles: Iterable[Profile]) -> Alone:
    """The least over all profiles, request by request."""
    distinct: list[Profile] = []
    for profile in profiles:
        if profile not in distinct:
            distinct.append(profile)

    def seconds(prompt_tokens: Numbers, output_tokens: Numbers) -> Numbers:
        each = np.array([_seconds(profile, prompt_tokens, output_tokens) for profile in distinct])
        least: Numbers = each.min(axis=0)
        return least

    return seconds


def _seconds(profile: Profile, prompt_tokens: Numbers, output_tokens: Numbers) -> Numbers:
    if isinstance(profile, PlainProfile):
        return np.full(len(prompt_tokens), profile.slowdown * profile.service.seconds(0.0))
    prefill = _prefill(profile.step_time, prompt_tokens, profile.limits.max_num_batched_tokens)
    steps = np.maximum(0.0, output_tokens - 1)
    model = profile.step_time
    decode = steps * (model.fixed(1, 0) + model.per_context_token * (prompt_tokens + (steps + 1) / 2))
    return profile.overhead_seconds + profile.slowdown * (prefill + decode)


def _prefill(model: StepTime, tokens: Numbers, budget: int) -> Numbers:
    if not tokens.size:
        return tokens
    knots = np.unique(np.geomspace(1, max(2.0, float(tokens.max())), KNOTS).astype(int))
    return np.interp(tokens, knots, [prefill_seconds(model, int(knot), 0, budget) for knot in knots])
