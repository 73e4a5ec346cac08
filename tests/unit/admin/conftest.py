"""The admin application over a real dispatcher, without a gateway."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from pointsman.admin.answers import Local
from pointsman.admin.application import application
from pointsman.admin.hosts import Hosts
from pointsman.admin.services import Services
from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable
from pointsman.clock import ManualClock
from pointsman.observe.decisions import Decisions
from pointsman.observe.metrics import Metrics
from pointsman.observe.stories import Stories


@dataclass
class Scene:
    """Two nodes that are up, `http://a` and `b`, and one request placed. `obeyed` are the orders of changes."""

    clock: ManualClock = field(default_factory=lambda: ManualClock(100.0))
    obeyed: list[Any] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        observers = [self.metrics, lambda fact: self.decisions(fact), lambda fact: self.stories(fact)]
        self.dispatcher = Dispatcher(BrainSettings(), PolicyTable(build("round_robin")), observers, 100.0)
        self.decisions = Decisions(self.dispatcher.fleet)
        self.stories = Stories(self.dispatcher.fleet, self.decisions, lambda: "fcfs")
        for spec in (NodeSpec(url="http://a", models=("m",), slots=4), NodeSpec(url="http://b", id="b", models=("m",))):
            self.dispatcher.add_node(spec, 100.0)
            self.dispatcher.report(NodeReport(node=spec.name, ok=True), 100.0)
        self.dispatcher.submit(Request(id="r1", model="m", prompt_tokens=10.0), 100.0)
        self.services = Services(
            self.dispatcher, self.obeyed.extend, self.clock, self.metrics, self.decisions, self.stories
        )


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
async def client(scene: Scene) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(application(Local(scene.services), Hosts("127.0.0.1")))) as client:
        yield client
