"""The demonstration's own workload: an assistant product with documents.

A dozen assistants (system prompts of about 2,000 tokens, the most popular one in a third of all dialogues), an opening
message of about 2,500 tokens, short follow-ups, answers of about 110 tokens, two and a half turns on average, three
seconds of thought between them: prompts of 3,000 to 11,000 tokens, of which most of every follow-up was seen before.
"""

from pointsman.engine.virtual import Sample
from pointsman.workload.lengths import Lengths
from pointsman.workload.sessions import Session, SessionMix, draw_sessions
from pointsman.workload.text import block_text

from .demand import Demand, Dialogue, Line

MIX = SessionMix(turns_mean=2.5, think_mean_s=3.0, output=Lengths(median=100, sigma=0.5, least=16, most=400))
SAMPLE_SESSIONS = 150  # about 430 requests: enough for a saturation rate within a few per cent
NOMINAL_ANSWER_S = 4.0  # only orders the sample as a run would interleave it
_SYSTEM, _USER = 1, 2  # namespaces of text ids


def session_samples(seed: int, block_size: int) -> list[Sample]:
    """Requests of the workload in the order a run would send them."""
    sessions = draw_sessions(MIX, seed=seed, rate=1.0, seconds=SAMPLE_SESSIONS)
    timed = [(at, session, turn) for session in sessions for turn, at in enumerate(_nominal(session))]
    timed.sort(key=lambda item: item[0])
    return [
        Sample(
            prompt_tokens=session.prompt_tokens(turn),
            output_tokens=session.turns[turn].output_tokens,
            hashes=_hashes(session, session.prompt_tokens(turn), block_size),
        )
        for _, session, turn in timed
    ]


def session_demand(seed: int, requests_per_second: float, seconds: float) -> Demand:
    """Dialogues that begin over `seconds`, at the rate that gives that many requests per second once under way."""
    sessions = draw_sessions(MIX, seed=seed, rate=requests_per_second / MIX.turns_expected(), seconds=seconds)
    return Demand(
        dialogues=tuple(_dialogue(session) for session in sessions),
        description=f"{len(sessions)} dialogues over {MIX.system_prompts} shared system prompts, closed loop",
        notes=("Closed loop: nobody asks on before the answer is there, so slow answers lower the load they cause",),
    )


def _dialogue(session: Session) -> Dialogue:
    lines = tuple(
        Line(block_text(_id(_USER, session.number, turn), one.user_tokens), one.output_tokens, one.think_s)
        for turn, one in enumerate(session.turns)
    )
    return Dialogue(session.start_s, block_text(_id(_SYSTEM, session.system_prompt, 0), session.system_tokens), lines)


def _id(kind: int, number: int, turn: int) -> int:
    return kind << 56 | number << 16 | turn


def _nominal(session: Session) -> list[float]:
    """When each turn would be asked if every answer took the nominal time."""
    moments, now = [], session.start_s
    for turn in session.turns:
        now += turn.think_s
        moments.append(now)
        now += NOMINAL_ANSWER_S
    return moments


def _hashes(session: Session, tokens: int, block_size: int) -> tuple[int, ...]:
    """A dialogue only grows, so a block is known by its place in it, or in the system prompt it lies in wholly."""
    shared = session.system_tokens // block_size
    return tuple(
        _id(_SYSTEM, session.system_prompt, place) if place < shared else _id(_USER, session.number, place)
        for place in range(tokens // block_size)
    )
