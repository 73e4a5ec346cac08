"""Whether a comparison still says the same when the engines, or what is known of them, are not quite as assumed.

Every policy runs again on the same requests, under each disturbance by itself. The gateway is told nothing of it. Then,
for some figures: Kendall's τ says how far the order of the policies is still the one of the undisturbed case, and top-1
regret what it would cost to have chosen the policy that was best there.
"""

from collections.abc import Callable, Sequence

import msgspec

from pointsman.config.sim import SimConfig
from pointsman.observe.columns import TIE, Column
from pointsman.observe.pages import heading_of
from pointsman.sim.disturbed import Disturbance
from pointsman.sim.ranking import LEAST_POLICIES, kendall_tau, top1_regret
from pointsman.simulate.cases import Case, Measured, cases_of
from pointsman.simulate.standing import GOODPUT, TTFT_MEAN, TTFT_P99, PolicyRuns, by_policy, winners_of

FIGURES = (GOODPUT, TTFT_MEAN, TTFT_P99)
"""What policies are ordered by."""


class Condition(msgspec.Struct, frozen=True):
    """What differs from the case as assumed: the engines, or how late the gateway hears (seconds)."""

    label: str
    engines: Disturbance = Disturbance()
    late_s: float = 0.0


CONDITIONS = (
    Condition("steps 20 % slower", Disturbance(step=1.2)),
    Condition("steps 20 % faster", Disturbance(step=0.8)),
    Condition("prefill 30 % slower", Disturbance(prefill=1.3)),
    Condition("prefill 30 % faster", Disturbance(prefill=0.7)),
    Condition("25 % fewer blocks", Disturbance(blocks=0.75)),
    Condition("25 % more blocks", Disturbance(blocks=1.25)),
    Condition("heard 0.1 s later", late_s=0.1),
    Condition("heard 1 s later", late_s=1.0),
)


class Agreement(msgspec.Struct, frozen=True):
    """One figure under one condition. `tau`: None where it means nothing. `best`: all that tie there."""

    figure: str
    tau: float | None
    regret: float | None
    best: tuple[str, ...]

    @property
    def kept(self) -> bool:
        """Whether the policy that was best without the condition is still the best, or within the tie of it."""
        return self.regret is not None and self.regret <= TIE


class Held(msgspec.Struct, frozen=True):
    """What came of one condition."""

    condition: Condition
    results: tuple[PolicyRuns, ...]
    agreements: tuple[Agreement, ...]


def conditioned(config: SimConfig, policies: tuple[str, ...]) -> list[list[Case]]:
    """The cases of every condition."""
    return [
        [
            msgspec.structs.replace(case, engines=one.engines)
            for case in cases_of(_later(config, one), policies, one.label)
        ]
        for one in CONDITIONS
    ]


def robustness(
    base: Sequence[PolicyRuns], config: SimConfig, measure: Callable[[Sequence[Case]], Sequence[Measured]]
) -> list[Held]:
    """Run all conditions in one go and compare each with `base`, whose settings `config` are, the rate settled."""
    names = tuple(result.name for result in base)
    batches = conditioned(config, names)
    found = iter(measure([case for batch in batches for case in batch]))
    held = []
    for condition, batch in zip(CONDITIONS, batches, strict=True):
        results = tuple(by_policy(names, [next(found) for _ in batch]))
        held.append(Held(condition, results, tuple(agreement(base, results, column) for column in FIGURES)))
    return held


def agreement(base: Sequence[PolicyRuns], results: Sequence[PolicyRuns], column: Column) -> Agreement:
    """How far the figure orders the policies as it did."""
    pairs = [(column.figure(one.mean()), column.figure(other.mean())) for one, other in zip(base, results, strict=True)]
    known = [(before, after) for before, after in pairs if before is not None and after is not None]
    name, best = heading_of(column)[0], tuple(sorted(winners_of(results, column)))
    if not known:
        return Agreement(name, None, None, best)
    before, after = [pair[0] for pair in known], [pair[1] for pair in known]
    tau = kendall_tau(before, after, TIE) if len(known) >= LEAST_POLICIES else None
    return Agreement(name, tau, top1_regret(before, after, higher=column.better == "higher"), best)


def _later(config: SimConfig, one: Condition) -> SimConfig:
    return msgspec.structs.replace(
        config,
        feedback_delay_s=config.feedback_delay_s + one.late_s,
        report_delay_s=config.report_delay_s + one.late_s,
    )
