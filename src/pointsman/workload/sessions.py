"""Generated dialogues: turns with think time over system prompts that many dialogues share.

A session opens with one of a few system prompts (drawn by Zipf's law: assistants are not equally popular) and the
user's first message, often a document; follow-ups are short. Every turn resends the whole dialogue, so turn n finds the
prefix of turn n − 1 in the cache of whichever node served it. Sessions run closed loop: a turn is asked its think time
after the answer before it.
"""

from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from .arrivals import gamma_arrivals
from .lengths import Lengths
from .streams import stream


class Turn(msgspec.Struct, frozen=True):
    """One question: tokens the user adds, tokens the answer has, seconds between the answer before and the asking."""

    user_tokens: int
    output_tokens: int
    think_s: float


class Session(msgspec.Struct, frozen=True):
    """One dialogue: begins at `start_s` with the text of a shared system prompt, then its turns."""

    number: int
    start_s: float
    system_prompt: int
    system_tokens: int
    turns: tuple[Turn, ...]

    def prompt_tokens(self, turn: int) -> int:
        """Tokens sent at `turn` (from 0): system prompt, all messages up to now, the answers between them."""
        asked = sum(one.user_tokens for one in self.turns[: turn + 1])
        return self.system_tokens + asked + sum(one.output_tokens for one in self.turns[:turn])


class SessionMix(msgspec.Struct, frozen=True, kw_only=True):
    """The law sessions are drawn from. Lengths in tokens, think time in seconds (exponential)."""

    system_prompts: Annotated[int, msgspec.Meta(ge=1)] = 12
    zipf: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    system: Lengths = Lengths(median=2000, sigma=0.4, least=512, most=4096)
    opening: Lengths = Lengths(median=2500, sigma=0.6, tail_share=0.05, least=128, most=8000)
    follow_up: Lengths = Lengths(median=400, sigma=0.8, tail_share=0.05, least=16, most=4000)
    output: Lengths = Lengths(median=130, sigma=0.5, tail_share=0.05, least=16, most=600)
    turns_mean: Annotated[float, msgspec.Meta(ge=1)] = 3.0
    turns_most: Annotated[int, msgspec.Meta(ge=1)] = 8
    think_mean_s: Annotated[float, msgspec.Meta(ge=0)] = 5.0
    arrival_cv: Annotated[float, msgspec.Meta(gt=0)] = 1.0

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


def draw_sessions(mix: SessionMix, *, seed: int, rate: float, seconds: float) -> tuple[Session, ...]:
    """Sessions beginning in [0, seconds) at a mean of `rate` sessions per second, in order of their beginning.

    Every part has its own stream: another rate or think time does not change the lengths drawn, and a longer run begins
    with the sessions of a shorter one.
    """
    starts = gamma_arrivals(stream(seed, "arrivals"), rate, seconds, cv=mix.arrival_cv)
    prompts = mix.system.draw(stream(seed, "system lengths"), mix.system_prompts)
    chosen = stream(seed, "system prompts").choice(mix.system_prompts, size=len(starts), p=_zipf(mix))
    turns = _Turns(mix, seed)
    return tuple(
        Session(number, float(start), int(which), int(prompts[which]), turns.next())
        for number, (start, which) in enumerate(zip(starts, chosen, strict=True))
    )


def _zipf(mix: SessionMix) -> NDArray[np.float64]:
    """Popularity of each system prompt: 1/rank^zipf, summing to 1."""
    weight = 1 / np.arange(1, mix.system_prompts + 1) ** mix.zipf
    return np.asarray(weight / weight.sum())


class _Turns:
    """Draws one session's turns after the other, each part from its own stream."""

    def __init__(self, mix: SessionMix, seed: int) -> None:
        self._mix = mix
        self._count, self._opening, self._follow_up, self._output, self._think = (
            stream(seed, part) for part in ("turns", "opening", "follow-up", "output", "think")
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
