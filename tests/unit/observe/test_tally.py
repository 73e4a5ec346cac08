from typing import Any

import msgspec

from pointsman.brain.model.facts import Queued
from pointsman.observe.exposition import page, registry
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.metrics import Metrics
from pointsman.observe.tally import Tally, add, taken


def counted(life: Any, *seconds: float) -> Metrics:
    metrics, one = Metrics(), life(waited_s=0.02)
    for each in seconds:
        for fact in (
            Queued(9.0, 1, one.common["request"], 1, 2.5),
            one.placed(),
            one.first_token(each),
            one.ended(14.0, tpot_s=0.04, prompt_tokens=7),
        ):
            metrics(fact)
    return metrics


def own(metrics: Metrics) -> list[str]:
    text = page(registry(metrics, FleetReading)).decode()
    return [line for line in text.splitlines() if line.startswith("pointsman_")]


def test_two_processes_add_up_to_one_that_did_it_all(life: Any) -> None:
    total = Metrics()
    for metrics in (counted(life, 0.1, 3.0), counted(life, 0.2)):
        sent = msgspec.msgpack.encode(taken(metrics))
        add(total, msgspec.msgpack.decode(sent, type=Tally))
    assert own(total) == own(counted(life, 0.1, 3.0, 0.2))


def test_nodes_that_are_gone_are_left_out(life: Any) -> None:
    total = Metrics()
    tally = taken(counted(life, 0.1))
    add(total, tally, nodes={"other"})
    assert not total.lanes
    assert not total.requests
    assert total.queued
    add(total, tally, nodes={"a", "other"})
    assert total.lanes


def test_a_tally_is_a_copy(life: Any) -> None:
    metrics = counted(life, 0.1)
    tally = taken(metrics)
    for series in tally.buckets.values():
        for counts, _ in series.values():
            counts.clear()
    assert own(metrics) == own(counted(life, 0.1))


def test_the_one_that_lags_behind_in_its_configuration_is_seen() -> None:
    total = Metrics()
    for moment in (7.0, 5.0, 6.0):
        metrics = Metrics()
        metrics.reloaded(True, moment)
        metrics.reloaded(False, moment + 1.0)
        add(total, taken(metrics))
    assert total.configured_at == 5.0
    assert dict(total.config_reloads) == {("ok",): 3, ("failed",): 3}
