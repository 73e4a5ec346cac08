"""One decision, as it is told."""

import msgspec

from pointsman.observe.standing import PassedOver


class CandidateScore(msgspec.Struct, frozen=True):
    """One candidate as the policy saw it; lower scores are better. `overlap_tokens` of the prompt are cached there.

    `blocks_needed` are KV blocks to be newly allocated, `blocks_free` those not held by live requests, `fits` whether
    they suffice; null where unknown. `utility` (`greedy`): priority by memory and load, where the policy looked at it.
    """

    node: str
    score: float
    overlap_tokens: float
    blocks_needed: float | None = None
    blocks_free: float | None = None
    fits: bool | None = None
    utility: float | None = None


class Decision(msgspec.Struct, frozen=True):
    """One answer of a policy. `node` is None for a hold; `time` is Unix seconds.

    `times`: so often the request was held; this is the last time. `passed_over`: nodes that were no candidates.
    """

    request_id: str
    ticket: int
    model: str
    policy: str
    time: float
    reason: str
    node: str | None
    candidates: list[CandidateScore]
    passed_over: list[PassedOver] = []
    times: int = 1
