"""Engines that are not quite what their profile says. Nobody tells the gateway.

The profiles of the simulator are near to real engines, not equal to them. A policy that wins only where they are exact
wins by the model, not by its rule: so a comparison is made again with all steps, prefill alone, or memory changed.
"""

import msgspec

from pointsman.brain.costs.step_time import StepTime
from pointsman.engine.profile import EngineProfile
from pointsman.sim.fleet import Node
from pointsman.sim.plain import PlainProfile


class Disturbance(msgspec.Struct, frozen=True):
    """By which factors things differ: the time of every step, the part of it that prefill adds, and KV blocks."""

    step: float = 1.0
    prefill: float = 1.0
    blocks: float = 1.0


class SlowPrefill:
    """Step time whose prefill takes `factor` times as long: whole steps without decodes, else what prefill adds."""

    def __init__(self, model: StepTime, factor: float) -> None:
        self._model = model
        self._factor = factor
        self.per_context_token = model.per_context_token
        self.per_attention_token = model.per_attention_token * factor

    def fixed(self, decodes: int, prefill_tokens: int) -> float:
        whole = self._model.fixed(decodes, prefill_tokens)
        if not prefill_tokens:
            return whole
        if not decodes:
            return self._factor * whole
        decoding = self._model.fixed(decodes, 0)
        return decoding + self._factor * (whole - decoding)


def disturbed(nodes: tuple[Node, ...], by: Disturbance) -> tuple[Node, ...]:
    """The nodes with engines that differ by these factors; what a gateway is told of them stays.

    An engine keeps the blocks that its longest request needs. Plain servers have steps only.
    """
    return tuple(msgspec.structs.replace(node, profile=_profile(node.profile, by)) for node in nodes)


def _profile(profile: EngineProfile | PlainProfile, by: Disturbance) -> EngineProfile | PlainProfile:
    slowdown = profile.slowdown * by.step
    if isinstance(profile, PlainProfile):
        return msgspec.structs.replace(profile, slowdown=slowdown)
    limits = profile.limits
    needed = -(-profile.max_model_len // limits.block_size)
    blocks = max(round(limits.blocks * by.blocks), needed)
    return msgspec.structs.replace(
        profile,
        slowdown=slowdown,
        limits=msgspec.structs.replace(limits, blocks=blocks),
        step_time=profile.step_time if by.prefill == 1.0 else SlowPrefill(profile.step_time, by.prefill),
    )
