"""Generated dialogues: turns with think time over system prompts that many dialogues share.

A session belongs to a tenant, a few of whom send most, and asks one model or adapter. It opens with one of a few system
prompts (drawn by Zipf's law: assistants are not equally popular) and the user's first message, often a document;
follow-ups are short. Every turn resends the whole dialogue, so turn n finds the prefix of turn n − 1 in the cache of
whichever node served it. Sessions run closed loop: a turn is asked its think time after the answer before it.
"""

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from .arrivals import retimed_arrivals
from .laws import Arrivals
from .lengths import Lengths
from .streams import stream

MOST = 4096
"""Tenants, adapters or system prompts: so that what is counted of them stays small."""

MOST_PROMPTS = 1_000_000
"""System prompts of all tenants for all adapters."""

Moments = NDArray[np.float64]


class Part(msgspec.Struct, frozen=True):
    """One kind of sessions beside others: `name` begins its streams', its numbers begin with `first`."""

    name: str = ""
    first: int = 0


WHOLE = Part()


class Turn(msgspec.Struct, frozen=True):
    """One question: tokens the user adds, tokens the answer has, seconds between the answer before and the asking."""

    user_tokens: int
    output_tokens: int
    think_s: float


class Session(msgspec.Struct, frozen=True):
    """One dialogue: begins at `start_s` with the text of a shared system prompt, then its turns.

    `number` and `system_prompt` are no other session's and no other prompt's; `tenant` and `adapter` count from 0.
    """

    number: int
    start_s: float
    system_prompt: int
    system_tokens: int
    turns: tuple[Turn, ...]
    tenant: int = 0
    adapter: int = 0

    def prompt_tokens(self, turn: int) -> int:
        """Tokens sent at `turn` (from 0): system prompt, all messages up to now, the answers between them."""
        asked = sum(one.user_tokens for one in self.turns[: turn + 1])
        return self.system_tokens + asked + sum(one.output_tokens for one in self.turns[:turn])


class SessionMix(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The law sessions are drawn from. Lengths in tokens, think time in seconds (exponential)."""

    system_prompts: Annotated[int, Meta(ge=0, le=MOST, description="system prompts of one tenant for one adapter")] = 12
    zipf: Annotated[float, Meta(ge=0, description="how uneven these are: the k-th has a share of 1/k^zipf")] = 1.0
    system: Annotated[Lengths, Meta(description="tokens of a system prompt")] = Lengths(
        median=2000, sigma=0.4, least=512, most=4096
    )
    opening: Annotated[Lengths, Meta(description="tokens of a first message")] = Lengths(
        median=2500, sigma=0.6, tail_share=0.05, least=128, most=8000
    )
    follow_up: Annotated[Lengths, Meta(description="tokens of a later message")] = Lengths(
        median=400, sigma=0.8, tail_share=0.05, least=16, most=4000
    )
    output: Annotated[Lengths, Meta(description="tokens of an answer")] = Lengths(
        median=130, sigma=0.5, tail_share=0.05, least=16, most=600
    )
    turns_mean: Annotated[float, Meta(ge=1, description="turns of a dialogue (geometric)")] = 3.0
    turns_most: Annotated[int, Meta(ge=1, description="no dialogue has more")] = 8
    think_mean_s: Annotated[float, Meta(ge=0, description="pause between an answer and the next turn")] = 5.0
    arrivals: Annotated[Arrivals, Meta(description="how dialogues begin, for each tenant on its own")] = Arrivals()
    tenants: Annotated[int, Meta(ge=1, le=MOST, description="tenants")] = 1
    tenant_zipf: Annotated[float, Meta(ge=0, description="how uneven they are: the k-th sends 1/k^tenant_zipf")] = 1.2
    adapters: Annotated[
        int, Meta(ge=1, le=MOST, description="models that every node serves; prompts share by model")
    ] = 1
    adapter_zipf: Annotated[float, Meta(ge=0, description="how uneven they are")] = 1.0

    def __post_init__(self) -> None:
        if self.system_prompts * self.tenants * self.adapters > MOST_PROMPTS:
            raise ValueError(f"{self.tenants} tenants and {self.adapters} adapters have too many system prompts in all")

    def turns_expected(self) -> float:
        """Mean turns a session has: of a geometric law cut at `turns_most`."""
        stay = 1 - 1 / self.turns_mean
        return float(sum(stay**turn for turn in range(self.turns_most)))


ASSISTANT = SessionMix(turns_mean=2.5, think_mean_s=3.0, output=Lengths(median=100, sigma=0.5, least=16, most=400))
"""An assistant product with documents.

A dozen assistants (system prompts of about 2,000 tokens, the most popular one in a third of all dialogues), an opening
message of about 2,500 tokens, short follow-ups, answers of about 110 tokens, two and a half turns on average, three
seconds of thought between them: prompts of 3,000 to 11,000 tokens, of which most of every follow-up was seen before.
"""


def draw_sessions(
    mix: SessionMix, *, seed: int, rate: float, seconds: float, part: Part = WHOLE, moments: Moments | None = None
) -> tuple[Session, ...]:
    """Sessions beginning in [0, seconds) at a mean of `rate` sessions per second, in order of their beginning.

    Every part has its own stream: another rate or think time does not change the lengths drawn, and a longer run begins
    with the sessions of a shorter one. With `moments` (ascending seconds), sessions begin with their gaps.
    """
    starts, tenants = _starts(mix, seed, rate, seconds, part.name, moments)
    adapters = _chosen(mix.adapters, mix.adapter_zipf, len(starts), stream(seed, part.name + "adapters"))
    system = _SystemPrompts(mix, seed, part, len(starts))
    turns = _Turns(mix, seed, part.name)
    sessions = []
    for number, (start, tenant, adapter) in enumerate(zip(starts, tenants, adapters, strict=True)):
        which, tokens = system.of(number, int(tenant), int(adapter))
        sessions.append(
            Session(part.first + number, float(start), which, tokens, turns.next(), int(tenant), int(adapter))
        )
    return tuple(sessions)


def _starts(
    mix: SessionMix, seed: int, rate: float, seconds: float, name: str, moments: Moments | None
) -> tuple[Moments, NDArray[np.intp]]:
    """When sessions begin, ascending, and the tenant of each."""
    if moments is not None:
        starts = retimed_arrivals(stream(seed, name + "arrivals"), moments, rate, seconds)
        return starts, _chosen(mix.tenants, mix.tenant_zipf, len(starts), stream(seed, name + "tenants"))
    each = [
        mix.arrivals.draw(stream(seed, f"{name}arrivals{tenant or ''}"), rate * float(share), seconds)
        for tenant, share in enumerate(zipf(mix.tenants, mix.tenant_zipf))
    ]
    starts, tenants = np.concatenate(each), np.repeat(np.arange(mix.tenants), [len(one) for one in each])
    order = np.argsort(starts, kind="stable")
    return starts[order], tenants[order]


def zipf(count: int, exponent: float) -> NDArray[np.float64]:
    """The share of each of so many: 1/rank^exponent, summing to 1."""
    weight = 1 / np.arange(1, count + 1) ** exponent
    return np.asarray(weight / weight.sum())


def _chosen(count: int, exponent: float, size: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """`size` draws from so many by Zipf's law; nothing is drawn where there is no choice."""
    if count == 1:
        return np.zeros(size, dtype=np.intp)
    return np.asarray(rng.choice(count, size=size, p=zipf(count, exponent)), dtype=np.intp)


class _SystemPrompts:
    """Which system prompt each session has: one of those that its tenant has for its adapter."""

    def __init__(self, mix: SessionMix, seed: int, part: Part, sessions: int) -> None:
        self._mix = mix
        self._first = part.first
        count = mix.system_prompts * mix.tenants * mix.adapters
        self._tokens = mix.system.draw(stream(seed, part.name + "system lengths"), count)
        chosen = stream(seed, part.name + "system prompts")
        shares = zipf(mix.system_prompts, mix.zipf)
        self._chosen = chosen.choice(mix.system_prompts, size=sessions, p=shares) if mix.system_prompts else None

    def of(self, number: int, tenant: int, adapter: int) -> tuple[int, int]:
        """The prompt of session `number`, counted over all of this workload, and its tokens."""
        if self._chosen is None:
            return self._first, 0
        mix = self._mix
        place = (tenant * mix.adapters + adapter) * mix.system_prompts + int(self._chosen[number])
        return self._first + place, int(self._tokens[place])


class _Turns:
    """Draws one session's turns after the other, each part from its own stream."""

    def __init__(self, mix: SessionMix, seed: int, name: str) -> None:
        self._mix = mix
        self._count, self._opening, self._follow_up, self._output, self._think = (
            stream(seed, name + part) for part in ("turns", "opening", "follow-up", "output", "think")
        )

    def next(self) -> tuple[Turn, ...]:
        mix = self._mix
        turns = min(int(self._count.geometric(1 / mix.turns_mean)), mix.turns_most)
        opening = mix.opening.draw(self._opening, 1)
        follow_ups = mix.follow_up.draw(self._follow_up, turns - 1)
        outputs = mix.output.draw(self._output, turns)
        thinks = self._think.exponential(mix.think_mean_s, turns - 1)
        return tuple(
            Turn(int(user), int(output), float(think))
            for user, output, think in zip(
                np.concatenate([opening, follow_ups]), outputs, np.concatenate([[0.0], thinks]), strict=True
            )
        )
