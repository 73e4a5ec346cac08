"""The demonstration's dialogues as texts; what they are like is told at `ASSISTANT`."""

from pointsman.workload.blocks import DIALOGUE, SYSTEM, block_id
from pointsman.workload.sessions import ASSISTANT, Session, SessionMix, draw_sessions
from pointsman.workload.text import block_text

from .demand import Demand, Dialogue, Line


def session_demand(
    seed: int,
    requests_per_second: float,
    seconds: float,
    mix: SessionMix = ASSISTANT,
    most_tokens: int | None = None,
) -> Demand:
    """Dialogues that begin over `seconds`, at the rate that gives that many requests per second once under way.

    A dialogue ends before the request that would exceed `most_tokens`, prompt and answer together.
    """
    sessions = draw_sessions(mix, seed=seed, rate=requests_per_second / mix.turns_expected(), seconds=seconds)
    return Demand(
        dialogues=tuple(_dialogue(session, most_tokens) for session in sessions),
        description=f"{len(sessions)} dialogues over {mix.system_prompts} shared system prompts, closed loop",
        notes=("Closed loop: nobody asks on before the answer is there, so slow answers lower the load they cause",),
    )


def _dialogue(session: Session, most_tokens: int | None) -> Dialogue:
    lines = tuple(
        Line(block_text(block_id(DIALOGUE, session.number, turn), one.user_tokens), one.output_tokens, one.think_s)
        for turn, one in enumerate(session.turns)
        if most_tokens is None or session.prompt_tokens(turn) + one.output_tokens <= most_tokens
    )
    return Dialogue(
        session.start_s, block_text(block_id(SYSTEM, session.system_prompt, 0), session.system_tokens), lines
    )
