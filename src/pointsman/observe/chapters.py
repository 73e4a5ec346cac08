"""What can happen to a request, as values: the chapters of its story, in the order in which they happened.

`after_s` counts from its arrival. JSON names each by `event`.
"""

import msgspec

from pointsman.observe.decision import Decision
from pointsman.observe.standing import PassedOver


class Chapter(msgspec.Struct, frozen=True, gc=False, tag_field="event", omit_defaults=True):
    """Something that happened so many seconds after the request arrived."""

    after_s: float


class Held(Chapter, frozen=True, tag="held"):
    """Its policy held it, so many `times` in all; this is the last time."""

    decision: Decision


class Chosen(Chapter, frozen=True, tag="chosen"):
    """Its policy chose a node."""

    decision: Decision


class Waited(Chapter, frozen=True, tag="waited"):
    """It began to wait at `position` (1 = next), by `order`; `expected_s` more by the pace of late, if that is known.

    `passed_over` are the model's nodes, as they were, where no policy was asked.
    """

    position: int
    order: str
    expected_s: float | None = None
    passed_over: list[PassedOver] = []


class Sent(Chapter, frozen=True, tag="sent"):
    """It was sent to a node, of which `overlap_tokens` of the prompt were believed cached there."""

    node: str
    attempt: int
    prompt_tokens: float
    overlap_tokens: float
    forwarded: bool = False


class Began(Chapter, frozen=True, tag="first_token"):
    """The first token of its answer came."""

    node: str
    ttft_s: float


class Broken(Chapter, frozen=True, tag="interrupted"):
    """Its answer was interrupted, `tokens` of which the client has."""

    node: str
    cause: str
    tokens: int
    resumed: bool


class WentOn(Chapter, frozen=True, tag="resumed"):
    """The first token came of the rest, from another node, `gap_s` after it was interrupted, `tokens` in."""

    node: str
    tokens: int
    gap_s: float


class Finished(Chapter, frozen=True, tag="ended"):
    """A try ended, `final` if the request did. Tokens are the engine's count, 0 where it gave none."""

    node: str
    verdict: str
    reason: str
    status: int
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None
    tpot_s: float | None = None
    final: bool = True


class TurnedAway(Chapter, frozen=True, tag="refused"):
    """It ended without an answer from a node."""

    code: str
    status: int


AnyChapter = Held | Chosen | Waited | Sent | Began | Broken | WentOn | Finished | TurnedAway


class Story(msgspec.Struct, frozen=True):
    """The whole of one request, as far as it is remembered. `arrived` is Unix seconds.

    `state`: waiting, running, ended or refused.
    """

    request_id: str
    ticket: int
    model: str
    tenant: str
    priority: float
    arrived: float
    state: str
    chapters: list[AnyChapter]
