"""What is told of sweeps."""

import io
import json

import msgspec
import pytest
from rich.console import Console
from tests.support.measured import measured

from pointsman.config.sweep import SweepConfig
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.sweep import Capacity, Point, Scene, Swept
from pointsman.simulate.tell_sweep import leaders, swept_json, tell_sweep

CONFIG = SweepConfig(policies=("weak", "strong"), loads=(0.5, 1.0), seeds=2)


def runs(name: str, in_slo: float) -> PolicyRuns:
    return PolicyRuns(name, tuple(measured(name, seed, in_slo=in_slo, ttft_p99_s=1.25) for seed in (1, 2)))


@pytest.fixture
def swept() -> Swept:
    tried = {
        "weak": {0.5: runs("weak", 0.95), 0.75: runs("weak", 0.7), 1.0: runs("weak", 0.5)},
        "strong": {0.5: runs("strong", 1.0), 1.0: runs("strong", 0.98)},
    }
    points = tuple(Point(load, 10 * load, (tried["weak"][load], tried["strong"][load])) for load in (0.5, 1.0))
    capacities = (
        Capacity("weak", 0.9, 5.6, 0.56, "", None),
        Capacity("weak", 0.99, 5.0, 0.5, "below", None),
        Capacity("strong", 0.9, 10.0, 1.0, "above", None),
        Capacity("strong", 0.99, 9.0, 0.9, "", None),
    )
    return Swept(Scene("", CONFIG, 10.0), points, tried, capacities)


def test_tables_tell_rates_and_two_figures_by_load(swept: Swept) -> None:
    out = Console(file=io.StringIO(), width=80)
    tell_sweep([swept], CONFIG, out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "weak 5.60 0.56 < 5.00 0.50" in rows
    assert "strong > 10.00 1.00 9.00 0.90" in rows
    assert "weak 95.0 50.0" in rows
    assert any(row.startswith("strong keeps 90% of requests inside the SLO up to more than 10.00") for row in rows)
    assert "weak 1.25 1.25" in rows
    assert "Load 1 is what least_requests serves under overload, 10.00 requests/s." in rows


def test_json_holds_every_load_tried(swept: Swept) -> None:
    document = json.loads(msgspec.json.encode(swept_json([swept], CONFIG)))
    (scene,) = document["scenes"]
    weak = scene["policies"][0]
    assert [(one["load"], one["rate_rps"], len(one["seeds"])) for one in weak["loads"]] == [
        (0.5, 5.0, 2),
        (0.75, 7.5, 2),
        (1.0, 10.0, 2),
    ]
    assert scene["highest_rates"][0]["rate_rps"] == 5.6


def test_leaders_are_those_within_the_tie_and_not_those_below_all() -> None:
    def one(name: str, rate: float, bound: str = "") -> Capacity:
        return Capacity(name, 0.9, rate, rate / 10, bound, None)  # type: ignore[arg-type]

    assert leaders([one("a", 10.0), one("b", 9.9), one("c", 9.0)]) == {"a", "b"}
    assert leaders([one("a", 3.0, "below"), one("b", 3.1)]) == {"b"}
    assert leaders([one("a", 3.0, "below"), one("b", 3.0, "below")]) == frozenset()
    assert leaders([one("a", 3.0), one("b", 3.0)]) == frozenset()
