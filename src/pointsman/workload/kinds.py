"""What a workload is made of: kinds of clients, each with dialogues of its own."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from .laws import Arrivals
from .sessions import Moments, Part, Session, SessionMix, draw_sessions

KIND_BITS = 32
"""Sessions and system prompts of one kind are numbered below 2^32, so that no two kinds share one."""


class ClientKind(SessionMix, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Clients that behave alike. `share` of the requests are theirs, beside those of the other kinds."""

    name: Annotated[str, Meta(min_length=1, description="name")]
    share: Annotated[float, Meta(gt=0, description="share of all requests, beside those of other kinds")] = 1.0
    priority: Annotated[float, Meta(gt=0, description="priority of their requests")] = 1.0
    engine_priority: Annotated[
        int, Meta(description="their `priority` for engines that schedule by it: lower goes first")
    ] = 0
    plain: Annotated[float, Meta(ge=0, le=1, description="share of them that ask for no stream")] = 0.0


def sessions_of_kinds(
    kinds: Sequence[ClientKind],
    *,
    seed: int,
    requests_per_second: float,
    seconds: float,
    arrivals: Arrivals | None = None,
    moments: Moments | None = None,
) -> list[tuple[ClientKind, Session]]:
    """The dialogues of all kinds that begin over `seconds`, in order of their beginning.

    They begin at the rate that gives so many requests once under way, by the kinds' own laws, by `arrivals` or with the
    gaps of `moments`. Each kind has its own streams: changing one does not shift another.
    """
    whole = sum(kind.share for kind in kinds)
    drawn: list[tuple[ClientKind, Session]] = []
    for number, kind in enumerate(kinds):
        rate = requests_per_second * kind.share / whole / kind.turns_expected()
        mix = kind if arrivals is None else msgspec.structs.replace(kind, arrivals=arrivals)
        part = Part(f"{kind.name} " if number else "", number << KIND_BITS)
        sessions = draw_sessions(mix, seed=seed, rate=rate, seconds=seconds, part=part, moments=moments)
        drawn += ((kind, session) for session in sessions)
    return sorted(drawn, key=lambda one: one[1].start_s)
