from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pointsman.observe import families
from pointsman.observe.exposition import page, registry
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.metrics import Metrics
from pointsman.observe.processes import Processes

FLEET = FleetReading(
    nodes=("a", "b"),
    states=("up", "draining"),
    columns={field.field: (1.0, 2.0) for field in families.PER_NODE},
    queues={"m": 3},
    panics={"m": True},
    index_entries=42,
)


def scrape(metrics: Metrics, fleet: FleetReading = FLEET) -> dict[str, float]:
    """Every sample by `name{label=value,...}`."""
    text = page(registry(metrics, lambda: fleet)).decode()
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return {f"{s.name}{{{','.join(f'{k}={v}' for k, v in sorted(s.labels.items()))}}}": s.value for s in samples}


@pytest.fixture
def metrics(life: Any) -> Metrics:
    counted, one = Metrics(), life(waited_s=0.02)
    for fact in (one.placed(), one.first_token(0.3), one.ended(14.0, tpot_s=0.04, prompt_tokens=100)):
        counted(fact)
    return counted


def test_counts_carry_their_labels(metrics: Metrics) -> None:
    samples = scrape(metrics)
    assert samples["pointsman_requests_total{model=m,node=a,outcome=ok}"] == 1
    assert samples["pointsman_prompt_tokens_total{model=m,node=a}"] == 100
    assert samples["pointsman_predicted_cached_tokens_total{model=m,node=a}"] == 40


def test_histograms_are_cumulative(metrics: Metrics) -> None:
    samples = scrape(metrics)
    assert samples["pointsman_ttft_seconds_bucket{le=0.25,model=m,node=a}"] == 0
    assert samples["pointsman_ttft_seconds_bucket{le=0.5,model=m,node=a}"] == 1
    assert samples["pointsman_ttft_seconds_count{model=m,node=a}"] == 1
    assert samples["pointsman_ttft_seconds_sum{model=m,node=a}"] == pytest.approx(0.3)


def test_gauges_are_read_from_the_fleet_at_each_scrape(metrics: Metrics) -> None:
    samples = scrape(metrics)
    assert samples["pointsman_node_load{node=b}"] == 2
    assert samples["pointsman_node_state{node=b,state=draining}"] == 1
    assert samples["pointsman_queue_length{model=m}"] == 3
    assert samples["pointsman_panic{model=m}"] == 1
    assert samples["pointsman_index_entries{}"] == 42


def test_a_reader_without_some_quantity_leaves_that_metric_empty() -> None:
    samples = scrape(Metrics(), FleetReading(nodes=("a",), states=("up",)))
    assert not [name for name in samples if name.startswith("pointsman_node_load")]


def test_every_declared_metric_is_on_the_page(metrics: Metrics) -> None:
    text = page(registry(metrics, lambda: FLEET, Processes([], 0))).decode()
    for family in families.FAMILIES:
        suffix = "_total" if family.kind == "counter" else ""
        assert f"# TYPE {family.name}{suffix} {family.kind}" in text, family.name
