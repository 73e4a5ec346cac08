"""The journal of a simulated run replays to the same choices: the dispatcher is driven as the gateway drives it."""

import pytest
from tests.support.simulated import calls, journaled, uneven

from pointsman.observe.calls import Finished, FirstToken, Report, Submit, Tokens
from pointsman.observe.replay import differences, replay
from pointsman.sim.delays import Delays
from pointsman.sim.habits import Habits


@pytest.mark.parametrize("policy", ["round_robin", "two_choices", "jffc", "fastest_completion"])
def test_a_journal_of_the_simulator_replays_to_the_same_choices(policy: str) -> None:
    run, lines = journaled(uneven(policy, habits=Habits(plain=0.2), delays=Delays(0.05, 0.2)))
    assert len(replay(lines)) == sum(record.tries for record in run.records)
    assert differences(lines) == []


def test_replayed_starts_are_where_the_simulator_sent_requests() -> None:
    run, lines = journaled(uneven("fastest_completion"))
    nodes = [record.node for record in sorted(run.records, key=lambda record: record.sent_s)]
    assert len(nodes) == len(replay(lines))
    assert sorted(nodes) == sorted(start.node for start in replay(lines))


def test_each_lease_is_told_as_the_gateway_would() -> None:
    """Streams: the first token, progress every sixteen, one end. Plain answers: the end. Nothing else but probes."""
    _, lines = journaled(uneven("fastest_completion", habits=Habits(plain=0.3)))
    made = calls(lines)
    told: dict[int, list[object]] = {}
    for call in made:
        if isinstance(call, FirstToken | Tokens | Finished):
            told.setdefault(call.lease, []).append(call)
    assert len(told) == sum(isinstance(call, Submit) for call in made)
    assert any(isinstance(call, Report) for call in made)
    streams = 0
    for heard in told.values():
        *before, end = heard
        assert isinstance(end, Finished)
        if before:
            streams += 1
            assert isinstance(before[0], FirstToken)
            assert all(isinstance(call, Tokens) and call.count == 16 for call in before[1:])
            assert len(before) - 1 == (end.outcome.completion_tokens - 1) // 16
    assert streams == sum(isinstance(call, Submit) and call.request.stream for call in made)
