"""What a comparison says, in a few sentences for whoever reads nothing else."""

from collections.abc import Iterable, Sequence

from pointsman.observe.columns import TIE, Column, cell
from pointsman.observe.pages import heading_of
from pointsman.simulate.standing import E2E_P99, IN_SLO, TPOT_P99, TTFT_MEAN, TTFT_P99, PolicyRuns, winners_of
from pointsman.simulate.sweep import TARGETS, Capacity, Swept

HEADLINE = (IN_SLO, TTFT_MEAN, TTFT_P99, TPOT_P99, E2E_P99)
"""The figures a verdict is made of."""
UNANSWERED = 0.999
"""Success below which a policy is said to have left requests unanswered."""


def verdict(results: Sequence[PolicyRuns]) -> list[str]:
    """Who is best in how much, by how far in the tail, and where others are better."""
    if len(results) < 2:
        return []
    winners = {column: winners_of(results, column) for column in HEADLINE}
    wins = {one.name: [column for column in HEADLINE if one.name in winners[column]] for one in results}
    most = max(len(columns) for columns in wins.values())
    if not most:
        return ["No policy can be told from the others in any headline figure."]
    leaders = [one for one in results if len(wins[one.name]) == most]
    return [
        f"{_listed([one.name for one in leaders])} {_is_are(leaders)} best, or tied with the best, in {most} of "
        f"{len(HEADLINE)} headline figures: {_listed([_words(column) for column in wins[leaders[0].name]])}."
        if len(leaders) == 1
        else f"{_listed([one.name for one in leaders])} are each best, or tied with the best, in {most} of "
        f"{len(HEADLINE)} headline figures.",
        *_tail(leaders[0], results),
        *(_better(column, leaders[0], winners[column], results) for column in _lost(leaders[0], winners)),
        *_unanswered(results),
        *(["One seed only: a difference may be chance. `--seeds 5` says how sure it is."] if _once(results) else []),
    ]


def swept_verdict(swept: Swept) -> list[str]:
    """Who keeps the objective longest, and how much longer than whom."""
    return [line for target in TARGETS for line in _longest([c for c in swept.capacities if c.target == target])]


def _longest(capacities: Sequence[Capacity]) -> Iterable[str]:
    kept = sorted((one for one in capacities if one.bound != "below"), key=lambda one: -one.rate_rps)
    if not kept:
        yield f"No policy keeps {capacities[0].target:.0%} of requests inside the SLO at any load tried."
        return
    first, *others = kept
    yield (
        f"{first.policy} keeps {first.target:.0%} of requests inside the SLO up to "
        f"{'more than ' if first.bound else ''}{first.rate_rps:.2f} requests/s{''.join(_beside(first, others))}."
    )


def _beside(first: Capacity, others: Sequence[Capacity]) -> Iterable[str]:
    """How the next and the last compare with the first; the others stand in falling order."""
    ties = [one.policy for one in others if one.rate_rps >= (1 - TIE) * first.rate_rps]
    if ties:
        yield f", and so {'does' if len(ties) == 1 else 'do'} {_listed(ties)}, within {TIE:.0%}"
    elif others:
        yield f"; next is {others[0].policy} with {others[0].rate_rps:.2f}"
    if others and others[-1].policy not in ties:
        last = others[-1]
        if len(others) > 1:
            yield f"; the last, {last.policy}, with {last.rate_rps:.2f}"
        yield f", {first.rate_rps / last.rate_rps:.2f} times less"


def _tail(leader: PolicyRuns, results: Sequence[PolicyRuns]) -> Iterable[str]:
    waits = {one.name: wait for one in results if (wait := one.mean().ttft_p99_s) is not None}
    if leader.name in waits and len(waits) > 1:
        slowest = max(waits, key=waits.__getitem__)
        if slowest != leader.name and waits[leader.name] > 0:
            yield (
                f"Under {leader.name} one request in a hundred waits longer than {waits[leader.name]:.2f} s for its "
                f"first token; under {slowest}, {waits[slowest] / waits[leader.name]:.1f} times as long."
            )


def _lost(leader: PolicyRuns, winners: dict[Column, frozenset[str]]) -> list[Column]:
    return [column for column, names in winners.items() if names and leader.name not in names]


def _better(column: Column, leader: PolicyRuns, names: frozenset[str], results: Sequence[PolicyRuns]) -> str:
    better = [one for one in results if one.name in names]
    theirs, own = (cell(one.mean(), column) for one in (better[0], leader))
    others = _listed([one.name for one in better])
    return f"Better in {_words(column)}: {others} ({theirs} {column.unit} against {own} {column.unit})."


def _unanswered(results: Sequence[PolicyRuns]) -> Iterable[str]:
    for one in results:
        success = one.mean().success
        if success is not None and success < UNANSWERED:
            yield f"{one.name} left {1 - success:.1%} of requests unanswered: its times are those of the rest."


def _once(results: Sequence[PolicyRuns]) -> bool:
    return len(results[0].runs) == 1


def _words(column: Column) -> str:
    return "requests inside the SLO" if column is IN_SLO else heading_of(column)[0]


def _is_are(some: Sequence[object]) -> str:
    return "is" if len(some) == 1 else "are"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
