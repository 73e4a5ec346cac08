"""Tables and sentences."""

import io
import re
from typing import Any

from rich.console import Console

from pointsman.chains.bounds import Bounds
from pointsman.chains.model import Server, Service
from pointsman.chains.planner import plan
from pointsman.chains.study import AtLoad, Mean
from pointsman.config.plan import ChainsConfig, ServerKind
from pointsman.plan.tell import tell

KIND = ServerKind(name="s", count=3, memory_gb=10.0)
SERVERS = [Server(f"s-{n}", 10.0, 1.0, 0.5) for n in (1, 2, 3)]


def told(service: Service, *studied: AtLoad, reserved: int | None = 2, **settings: Any) -> str:
    config = ChainsConfig(server=(KIND,), rate=0.1, **settings)
    found = plan(SERVERS, service, rate=0.1, target_load=0.7, reserved=reserved)
    out = Console(file=io.StringIO(), width=200)
    tell(config, found, studied, out)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_stages_chains_and_what_they_promise() -> None:
    text = told(Service(10, 1.0, 0.25))
    assert "s-1        1–6" in text
    assert "s-1 (6) → s-2 (4)" in text
    assert "2 of 3 servers hold blocks, with cache for 2 jobs beside each block." in text
    assert "All chains serve 2 jobs at once and 0.2857 a second: 0.1 a second load them to 35%." in text
    assert "splitting the model gains nothing" not in text
    assert "were tried" not in text


def test_whole_models_are_said_to_be() -> None:
    text = told(Service(4, 1.0, 0.25), reserved=None)
    assert "splitting the model gains nothing" in text
    assert "36 numbers of jobs were tried" not in text
    assert "numbers of jobs were tried; this one has the least lower bound" in text


def test_means_stand_with_their_interval_above_the_bounds() -> None:
    means = (Mean("fastest_free", 7.25, 0.126), Mean("jiq", 12.0, None))
    text = told(Service(10, 1.0, 0.25), AtLoad(0.35, 0.1, Bounds(7.0, 8.5), means))
    assert "at 35%" in text
    assert "7.25±0.13" in text
    assert re.search(r"^jiq +12.00$", text, re.MULTILINE)
    assert text.index("bound: at least") < text.index("bound: at most")
    assert "the bounds do not hold" not in text


def test_no_bounds_where_jobs_slow_each_other() -> None:
    text = told(Service(10, 1.0, 0.25), AtLoad(0.35, 0.1, None, (Mean("sed", 7.0, 0.1),)), slowdown=0.2)
    assert "bound: at least" not in text
    assert "A job takes 20% longer for each job beside it; the bounds do not hold then." in text


def test_means_above_saturation_are_said_to_mean_little() -> None:
    assert "queues grow without end" in told(Service(10, 1.0, 0.25), AtLoad(1.2, 0.1, None, (Mean("sed", 7.0, 0.1),)))
    assert "queues grow without end" not in told(Service(10, 1.0, 0.25))
