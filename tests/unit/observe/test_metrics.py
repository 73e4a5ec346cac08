from collections.abc import Callable
from typing import Any

from pointsman.brain.model.facts import (
    CacheReported,
    FedBack,
    Interrupted,
    LoadUnknown,
    NodeChanged,
    PanicChanged,
    Placed,
    PolicyChanged,
    PolicyRaised,
    ProbeFailed,
    Queued,
    Refused,
    Resumed,
)
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.outcome import Verdict
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.tenant import Tenant
from pointsman.observe.metrics import Metrics


def feed(*facts: Any) -> Metrics:
    metrics = Metrics()
    for fact in facts:
        metrics(fact)
    return metrics


def test_a_request_is_counted_under_its_model_and_node(life: Any) -> None:
    one = life(model="m", node="a", waited_s=0.5)
    usage = {"prompt_tokens": 100, "cached_tokens": 64, "completion_tokens": 7}
    metrics = feed(one.placed(), one.first_token(1.5), one.ended(14.0, tpot_s=0.04, **usage))
    lane = metrics.lanes["m", "a"]
    assert metrics.requests == {("m", "a", Verdict.OK): 1}
    assert (lane.prompt_tokens, lane.cached_tokens, lane.completion_tokens) == (100, 64, 7)
    assert lane.predicted_tokens == 40.0
    assert lane.ttft.total == 1.5
    assert lane.tpot.total == 0.04
    assert metrics.waits["m"].total == 0.5


def test_the_whole_duration_counts_from_submission(life: Any) -> None:
    one = life(waited_s=3.0)
    metrics = feed(one.placed(), one.ended(20.0))
    assert metrics.lanes["m", "a"].duration.total == 10.0


def test_a_retried_try_is_a_try_and_not_a_request(life: Any) -> None:
    first, second = life(lease=1, node="a"), life(lease=2, node="b", waited_s=1.0)
    failed = first.ended(11.0, final=False, verdict=Verdict.FAIL, reason="connect")
    metrics = feed(first.placed(), failed, second.placed(attempt=2), second.ended(12.0))
    assert metrics.requests == {("m", "b", Verdict.OK): 1}
    assert metrics.tries == {("m", "a", Verdict.FAIL, "connect"): 1, ("m", "b", Verdict.OK, "done"): 1}
    assert metrics.lanes["m", "b"].retries == 1
    assert sum(metrics.waits["m"].counts) == 1
    assert sum(metrics.lanes["m", "a"].duration.counts) == 0


def test_forwards_are_told_by_the_reason_of_the_placement(life: Any) -> None:
    metrics = feed(life(lease=1).placed(reason="forward"), life(lease=2).placed(reason="score"))
    assert metrics.lanes["m", "a"].forwards == 1


BAD = ClientReport(request="r", tenant="", good=False, reason="two\nlines")


def test_decisions_waits_refusals_and_changes_are_counted(decided: Callable[..., Any]) -> None:
    request = Request(id="r", model="m")
    metrics = feed(
        decided(),
        decided(hold=True, reason="full"),
        Queued(now=0.0, ticket=1, request=request, position=1),
        Refused(now=0.0, ticket=1, request=request, code="queue_full", status=503),
        NodeChanged(now=0.0, node="a", before="up", after="down", event="fail"),
        ProbeFailed(now=0.0, node="a", state="up", reason="refused"),
        LoadUnknown(now=0.0, node="a"),
        FedBack(now=0.0, node="a", report=BAD, counted=True),
        FedBack(now=0.0, node="a", report=BAD, counted=False),
        PanicChanged(now=0.0, model="m", panic=True, in_use=1, nodes=3),
        PanicChanged(now=1.0, model="m", panic=False, in_use=2, nodes=3),
        PolicyChanged(now=0.0, scope="default", policy="jffc"),
        PolicyRaised(now=0.0, policy="jffc", call="pick", request=request, error=ValueError()),
    )
    assert metrics.probe_failures == {("a",): 1}
    assert metrics.load_unknown == {("a",): 1}
    assert metrics.feedback == {("a", "bad"): 1, ("a", "late"): 1}
    assert metrics.panics == {("m",): 1}
    assert metrics.policy_errors == {("jffc", "pick"): 1}
    assert metrics.decisions == {("least_requests", "shortest"): 1, ("least_requests", "full"): 1}
    assert metrics.queued == {("m",): 1}
    assert metrics.refused == {("m", "queue_full"): 1}
    assert metrics.transitions == {("a", "up", "down"): 1}
    assert metrics.policy_changes == {("default", "jffc"): 1}


def test_a_node_that_is_gone_takes_its_series_along(life: Any) -> None:
    a, b = life(lease=1, node="a"), life(lease=2, node="b")
    gone = NodeChanged(now=20.0, node="a", before="draining", after="gone", event="removed")
    probed = ProbeFailed(now=11.0, node="a", state="up", reason="timeout")
    metrics = feed(a.placed(), a.ended(11.0), b.placed(), b.ended(12.0), probed, LoadUnknown(now=12.0, node="a"), gone)
    assert not metrics.probe_failures
    assert not metrics.load_unknown
    assert set(metrics.lanes) == {("m", "b")}
    assert set(metrics.requests) == {("m", "b", Verdict.OK)}
    assert set(metrics.tries) == {("m", "b", Verdict.OK, "done")}
    assert not metrics.transitions


def test_what_is_counted_apart_joins_its_family_once(life: Any, decided: Callable[..., Any]) -> None:
    metrics = feed(decided(), decided(), life().ended(11.0))
    for _ in range(2):
        assert metrics.decisions == {("least_requests", "shortest"): 2}
        assert (metrics.requests, metrics.tries) == ({("m", "a", "ok"): 1}, {("m", "a", "ok", "done"): 1})
    metrics(decided(reason="first"))
    metrics(life().ended(12.0))
    assert metrics.decisions == {("least_requests", "shortest"): 2, ("least_requests", "first"): 1}
    assert metrics.tries == {("m", "a", "ok", "done"): 2}


def test_what_trials_of_continuing_found() -> None:
    metrics = Metrics()
    metrics.continuation_probed("m", "vllm", "faithful")
    assert metrics.continuation_probes == {("m", "vllm", "faithful"): 1}


def test_interruptions_and_what_became_of_them() -> None:
    request = Request(id="r", model="m")
    metrics = feed(
        Interrupted(1.0, 1, 1, request, "a", "reset", 7, resumed=True),
        Resumed(1.5, 1, 2, request, "b", 7, 0.5),
        Interrupted(2.0, 1, 2, request, "b", "reset", 9, resumed=False),
    )
    assert metrics.interruptions == {("m", "a", "reset", "yes"): 1, ("m", "b", "reset", "no"): 1}
    assert metrics.lanes["m", "b"].resume_gap.total == 0.5


def test_requests_are_counted_by_tenant_where_tenants_are_configured(life: Any) -> None:
    metrics = Metrics(lambda: configured)
    configured = (Tenant(name="acme"),)
    for tenant in ("acme", "somebody"):
        request = Request(id="r", model="m", tenant=tenant)
        one = life()
        one.common["request"] = request
        usage = {"prompt_tokens": 100, "cached_tokens": 64, "completion_tokens": 7}
        for fact in (Queued(0.0, 1, request, 1), one.placed(), one.ended(14.0, final=False), one.ended(14.0, **usage)):
            metrics(fact)
        metrics(Refused(1.0, 2, request, "queue_full", 503))
    both = [("acme",), ("other",)]
    assert metrics.tenant_requests == {(who, how): 1 for (who,) in both for how in ("ok", "refused")}
    assert metrics.tenant_waits == dict.fromkeys(both, 1)
    assert metrics.tenant_prompt == dict.fromkeys(both, 100)
    assert metrics.tenant_cached == dict.fromkeys(both, 64)
    assert metrics.tenant_completion == dict.fromkeys(both, 7)


def test_what_no_engine_counted_is_counted_by_what_came_and_a_failed_try_not_at_all(life: Any) -> None:
    metrics = Metrics(lambda: configured)
    configured = (Tenant(name="acme"),)
    one = life()
    metrics(one.ended(1.0, verdict=Verdict.CANCELLED, tokens=5))
    metrics(one.ended(1.0, verdict=Verdict.FAIL, delivered=False, tokens=5))
    assert metrics.tenant_completion == {("other",): 5}
    assert metrics.tenant_requests == {("other", "cancelled"): 1}


def test_without_configured_tenants_none_is_counted(life: Any) -> None:
    assert feed(life().placed(), life().ended(2.0)).tenant_requests == {}


def test_what_was_expected_is_held_against_what_came() -> None:
    request = Request(id="r", model="m")

    def placed(ticket: int, now: float) -> Placed:
        return Placed(now, ticket, ticket, request, "a", 1, now, 10, 0, "score")

    metrics = feed(
        Queued(0.0, 1, request, 1),
        Queued(0.0, 2, request, 2, 4.0),
        Queued(0.0, 3, request, 3, 6.0),
        placed(1, 1.0),
        placed(2, 3.0),
        Refused(5.0, 3, request, "queue_timeout", 503),
    )
    assert (metrics.expected["m"].total, sum(metrics.expected["m"].counts)) == (10.0, 2)
    assert (metrics.expected_errors["m"].total, sum(metrics.expected_errors["m"].counts)) == (1.0, 1)
    assert not metrics._due


def test_kv_events_are_counted_by_node_until_it_is_gone() -> None:
    metrics = Metrics()
    metrics(CacheReported(1.0, CacheChange(node="n", came=[1], batches=3, gaps=1, lost=2, cleared=True)))
    metrics(CacheReported(2.0, CacheChange(node="n", batches=1)))
    counts = (metrics.kv_batches, metrics.kv_gaps, metrics.kv_lost, metrics.kv_resets)
    assert [dict(each) for each in counts] == [{("n",): 4}, {("n",): 1}, {("n",): 2}, {("n",): 1}]
    metrics(NodeChanged(now=3.0, node="n", before="draining", after="gone", event="removed"))
    assert not any(counts)
