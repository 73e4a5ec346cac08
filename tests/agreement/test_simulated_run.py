"""The journal of a simulated run replays to the same choices: the dispatcher is driven as the gateway drives it."""

import msgspec
import pytest
from tests.support.simulated import calls, experiment, journaled, quick_nodes, rows_demand, uneven

from pointsman.brain.model.cache_settings import CacheSettings
from pointsman.brain.model.settings import BrainSettings
from pointsman.observe.calls import Finished, FirstToken, Report, Submit, Tokens
from pointsman.observe.replay import differences, replay
from pointsman.sim.delays import Delays
from pointsman.sim.demand import Demand
from pointsman.sim.habits import Habits
from pointsman.sim.incidents import Drain, Failure, Incidents


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


def test_resumed_streams_replay_to_the_same_choices_and_lose_no_token() -> None:
    failures = (
        Failure(node="fast-1", begins_s=6.0, ends_s=9.0),
        Failure(node="slow-2", mode="stop", begins_s=8.0, ends_s=12.0),
    )
    drains = (Drain(node="fast-2", begins_s=12.0, ends_s=16.0, within_s=0.5),)
    what = uneven("fastest_completion", resume=True, incidents=Incidents((), failures, drains))
    run, lines = journaled(what)
    assert differences(lines) == []
    resumed = [record for record in run.records if record.interruptions]
    assert len(resumed) > 10
    assert all(record.ok for record in run.records)
    asked = {
        dialogue.asks[turn].output_tokens for dialogue in what.demand.dialogues for turn in range(len(dialogue.asks))
    }
    assert all(record.output_tokens in asked for record in resumed)


@pytest.mark.parametrize("victims", ["cheapest", "value"])
def test_streams_that_give_way_lose_nothing_and_replay_to_the_same_choices(victims: str) -> None:
    urgent = rows_demand(*((2.0 + 0.5 * n, 3000, 20) for n in range(12))).dialogues
    patient = rows_demand(*((0.1 * n, 500, 900) for n in range(30))).dialogues
    raised = [msgspec.structs.replace(one, priority=4.0) for one in urgent]
    demand = Demand(tuple(sorted([*patient, *raised], key=lambda one: one.start_s)), "two priorities")
    settings = BrainSettings(preemption="on", victims=victims, queue_timeout_s=300.0)  # type: ignore[arg-type]
    nodes = quick_nodes(2, declare=True, kv_blocks=600, max_model_len=8000)
    run, lines = journaled(experiment("greedy", demand, nodes, settings=settings, resume=True))
    assert differences(lines) == []
    assert all(record.ok for record in run.records)
    gave_way = [record for record in run.records if record.interruptions]
    assert gave_way
    assert {record.output_tokens for record in gave_way} == {900}, "the urgent ones never give way"
    causes = {call.outcome.reason for call in calls(lines) if isinstance(call, Finished)}
    assert causes == {"done", "preempted"}


def test_a_node_that_is_emptied_at_low_load_has_room_for_a_long_prompt_and_replays_to_the_same_choices() -> None:
    """Three nodes of 9,600 tokens, each with two or three streams of about 1,300: whoever needs 8,000 fits on none."""
    streams = rows_demand(*((0.2 * n, 500, 800) for n in range(8)), (8.0, 8000, 10))
    cache = CacheSettings(gather_load=0.6, gather_after_s=2.0, gather_above=0.1)
    settings = BrainSettings(cache=cache, queue_timeout_s=300.0)
    nodes = quick_nodes(3, declare=True, kv_blocks=600, max_model_len=9000)
    what = experiment("greedy", streams, nodes, settings=settings, resume=True)
    run, lines = journaled(what)
    assert differences(lines) == []
    assert all(record.ok for record in run.records)
    assert {call.outcome.reason for call in calls(lines) if isinstance(call, Finished)} == {"done", "emptied"}
    without, _ = journaled(msgspec.structs.replace(what, settings=BrainSettings(queue_timeout_s=300.0)))
    waited, waited_without = (max(record.ttft_s or 0.0 for record in one.records) for one in (run, without))
    assert waited < 1.0 < waited_without
