"""The demand that is generated: dialogues of one or several kinds of clients, closed loop."""

from collections.abc import Sequence

from pointsman.sim.demand import Ask, Demand, Dialogue, TurnAsk
from pointsman.sim.fleet import MODEL
from pointsman.workload.kinds import ClientKind, sessions_of_kinds
from pointsman.workload.laws import Arrivals
from pointsman.workload.presets import WORKLOADS
from pointsman.workload.sessions import Moments, Session


def session_demand(
    seed: int,
    requests_per_second: float,
    seconds: float,
    most_tokens: int,
    kinds: Sequence[ClientKind] = WORKLOADS["assistant"],
    arrivals: Arrivals | None = None,
    moments: Moments | None = None,
) -> Demand:
    """Dialogues of these kinds that begin over `seconds`, at the rate that gives so many requests once under way.

    `arrivals` and `moments` replace the kinds' own laws. A dialogue ends before the turn that would exceed
    `most_tokens`, prompt and answer.
    """
    drawn = sessions_of_kinds(
        kinds,
        seed=seed,
        requests_per_second=requests_per_second,
        seconds=seconds,
        arrivals=arrivals,
        moments=moments,
    )
    dialogues = tuple(_dialogue(kind, session, most_tokens) for kind, session in drawn)
    ended = sum(len(one.asks) < len(session.turns) for one, (_, session) in zip(dialogues, drawn, strict=True))
    return Demand(
        dialogues,
        f"dialogues of {' and '.join(kind.name for kind in kinds)}, closed loop, "
        f"planned for {requests_per_second:.2f} requests/s",
        (f"{ended} dialogues end early, at the engines' limit of {most_tokens} tokens",) if ended else (),
    )


def model_of(kind: ClientKind, adapter: int) -> str:
    """What a dialogue asks for: the one model, or one of the kind's adapters."""
    return MODEL if kind.adapters == 1 else f"{kind.name}-{adapter}"


def models_of(kinds: Sequence[ClientKind]) -> tuple[str, ...]:
    """All that dialogues of these kinds ask for."""
    return tuple(dict.fromkeys(model_of(kind, number) for kind in kinds for number in range(kind.adapters)))


def _dialogue(kind: ClientKind, session: Session, most_tokens: int) -> Dialogue:
    asks: list[Ask] = []
    for turn in range(len(session.turns)):
        ask = TurnAsk(session, turn)
        if ask.prompt_tokens + ask.output_tokens > most_tokens:
            break
        asks.append(ask)
    return Dialogue(
        session.start_s,
        str(session.number),
        tuple(asks),
        tenant="" if kind.tenants == 1 else f"{kind.name}-{session.tenant}",
        model=model_of(kind, session.adapter),
        priority=kind.priority,
        plain=kind.plain,
        kind=kind.name,
        engine_priority=kind.engine_priority,
    )
