"""How much a fleet can serve of a workload, measured on the engines' own model."""

from collections.abc import Iterable, Sequence

from pointsman.engine.virtual import Sample, saturation_rps
from pointsman.sim.plain import PlainProfile, Profile
from pointsman.workload.blocks import session_blocks
from pointsman.workload.kinds import ClientKind, sessions_of_kinds
from pointsman.workload.presets import WORKLOADS
from pointsman.workload.sessions import Session

SAMPLE_REQUESTS = 369
"""Planned requests of the sample: enough for a saturation rate within a few per cent."""
NOMINAL_ANSWER_S = 4.0
"""Only orders the sample as a run would interleave it."""


def fleet_saturation(profiles: Iterable[Profile], samples: Sequence[Sample]) -> float:
    """Requests per second that the nodes finish under permanent backlog, each serving its own share.

    Each node is measured alone on the whole sample, so its prefix cache finds all the sharing there is: an upper bound,
    equal for every policy. Equal profiles are measured once. Raises ValueError for no samples at all.
    """
    rates: list[tuple[Profile, float]] = []
    total = 0.0
    for profile in profiles:
        rate = next((rate for known, rate in rates if known == profile), None)
        if rate is None:
            rate = _alone(profile, samples)
            rates.append((profile, rate))
        total += rate
    return total


def _alone(profile: Profile, samples: Sequence[Sample]) -> float:
    if isinstance(profile, PlainProfile):
        return profile.service.requests_per_second(profile.drift) / profile.slowdown
    return saturation_rps(profile, samples)


def session_samples(
    seed: int,
    block_tokens: int,
    kinds: Sequence[ClientKind] = WORKLOADS["assistant"],
    most_tokens: int | None = None,
) -> list[Sample]:
    """Requests of generated dialogues, in the order a run would send them; those above `most_tokens` are left out."""
    whole = sum(kind.share for kind in kinds)
    turns = sum(kind.share / whole * kind.turns_expected() for kind in kinds)
    drawn = sessions_of_kinds(kinds, seed=seed, requests_per_second=turns, seconds=SAMPLE_REQUESTS / turns)
    timed = [(at, session, turn) for _, session in drawn for turn, at in enumerate(_nominal(session))]
    timed.sort(key=lambda item: item[0])
    samples = [
        Sample(
            prompt_tokens=session.prompt_tokens(turn),
            output_tokens=session.turns[turn].output_tokens,
            hashes=session_blocks(session, session.prompt_tokens(turn), block_tokens),
        )
        for _, session, turn in timed
    ]
    return [one for one in samples if most_tokens is None or one.prompt_tokens + one.output_tokens <= most_tokens]


def _nominal(session: Session) -> list[float]:
    """When each turn would be asked if every answer took the nominal time."""
    moments, now = [], session.start_s
    for turn in session.turns:
        now += turn.think_s
        moments.append(now)
        now += NOMINAL_ANSWER_S
    return moments
