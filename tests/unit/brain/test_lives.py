"""How requests begin and end: placed, refused where a policy fails, aborted where nothing else would end them."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.support.driver import TestDriver

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.facts import Fact, PolicyRaised, Refused
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.orders import Abort, Refuse, Start
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.view import View
from pointsman.brain.policies.least_requests import LeastRequests
from pointsman.brain.policies.pickers import lowest
from pointsman.brain.policies.table import PolicyTable


def test_a_lease_that_nobody_ends_is_aborted() -> None:
    driver = TestDriver()
    driver.add("a")
    ticket = driver.submit()
    orders = driver.dispatcher.tick(7300.0)
    assert Abort(driver.lease_of(ticket), "lease_expired") in orders
    driver.obey(orders)
    driver.rest()


def test_how_long_a_lease_may_last_is_a_setting() -> None:
    driver = TestDriver(lease_s=100_000.0)
    driver.add("a")
    ticket = driver.submit()
    driver.tick(99_000.0)
    assert driver.node(ticket) == "a"
    driver.tick(1_100.0)
    assert ticket in driver.ended
    driver.rest()


def test_patience_for_a_first_token_follows_what_is_expected() -> None:
    """Four times the expected wait and prefill, within floor and ceiling: what is long is not cut for it."""
    driver = TestDriver("least_requests")
    driver.add("a", slots=1000, hardware="H100", profile="Llama-3-8B")

    def patience(tokens: int) -> float:
        request = Request(id="r", model="m", prompt_tokens=tokens, stream=True)
        start = driver.dispatcher.submit(request, 0.0)[0]
        assert isinstance(start, Start)
        return start.first_token_s

    assert patience(10) == 30.0
    ahead = [patience(100_000) for _ in range(100)]
    assert ahead == sorted(ahead)
    assert ahead[-1] == 600.0
    assert any(30.0 < seconds < 600.0 for seconds in ahead)


class Fragile(LeastRequests):
    """Raises for the tenant "odd", whether asked to choose or to pick."""

    name: ClassVar[str] = "fragile"
    binds_late = True

    def choose(self, request: Request, view: View) -> Choice:
        if request.tenant == "odd":
            raise ZeroDivisionError("odd")
        return LeastRequests.choose(self, request, view)

    def pick(self, requests: Sequence[Request], views: Sequence[View]) -> int:
        return [request.tenant for request in requests].index("odd") + 1 // 0


def test_a_policy_that_raises_costs_its_own_request_alone() -> None:
    facts: list[Fact] = []
    driver = TestDriver(observers=[facts.append])
    driver.add("a", slots=1)
    driver.obey(driver.dispatcher.set_policy("default", Fragile(), 0.0))
    assert driver.ended[driver.submit(tenant="odd")] == "policy_failed"
    running = driver.submit()
    odd, fine = driver.submit(tenant="odd"), driver.submit()
    driver.finish(driver.lease_of(running))
    assert driver.ended[odd] == "policy_failed"
    assert driver.node(fine) == "a"
    driver.rest()
    raised = [(fact.policy, fact.call, fact.request.tenant) for fact in facts if isinstance(fact, PolicyRaised)]
    assert raised == [("fragile", "choose", "odd"), ("fragile", "pick", "odd"), ("fragile", "choose", "odd")]


class Answering(LeastRequests):
    """Answers what it is told to, which may be nonsense; where it is compiled, some of that cannot even be made."""

    name: ClassVar[str] = "answering"
    answer: ClassVar[Callable[[], Any]] = staticmethod(lambda: None)

    def choose(self, request: Request, view: View) -> Any:
        return self.answer()


NONSENSE: list[Callable[[], Any]] = [
    lambda: None,
    lambda: 0,
    lambda: Choice(2, np.zeros(2), "far"),
    lambda: Choice(-1, np.zeros(2), "before"),
    lambda: Choice(2**70, np.zeros(2), "beyond"),
    lambda: Choice(0, np.zeros(3), "more"),
    lambda: Choice(0, np.zeros((2, 2)), "square"),
    lambda: Choice(0, [0.0], "fewer"),
    lambda: Choice(0, (0.0, 0.0), "tuple"),  # type: ignore[arg-type]
    lambda: Choice(0, None, "none"),  # type: ignore[arg-type]
    lambda: Choice(0, np.zeros(2), None),  # type: ignore[arg-type]
    lambda: Hold(np.zeros(2), b"word"),  # type: ignore[arg-type]
    lambda: Hold([], "none"),
]


@pytest.mark.parametrize("answer", NONSENSE)
def test_an_answer_that_is_none_is_the_policys_failure(
    answer: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answering, "answer", staticmethod(answer))
    facts: list[Fact] = []
    dispatcher = Dispatcher(BrainSettings(), PolicyTable(Answering()), [facts.append])
    for name in "ab":
        dispatcher.add_node(NodeSpec(url=f"http://{name}", models=("m",)), 0.0)
        dispatcher.report(NodeReport(node=f"http://{name}", ok=True), 0.0)
    facts.clear()
    (order,) = dispatcher.submit(Request(id="r", model="m"), 0.0)
    assert isinstance(order, Refuse)
    assert str(order.error) == "policy 'answering' failed; see the gateway's log"
    assert dispatcher.at_rest()
    assert [type(fact) for fact in facts] == [PolicyRaised, Refused]


class Hopeless(LeastRequests):
    """Divides nothing by nothing where a node has nothing to do."""

    name: ClassVar[str] = "hopeless"

    def score(self, request: Request, view: View) -> Any:
        return np.array([np.nan, 1.0])

    def choose(self, request: Request, view: View) -> Choice:
        scores = self.score(request, view)
        return Choice(lowest(scores, view.draw), scores, "hope")


def test_a_score_that_is_no_number_is_told_with_its_node() -> None:
    facts: list[Fact] = []
    dispatcher = Dispatcher(BrainSettings(), PolicyTable(Hopeless()), [facts.append])
    for name in "ab":
        dispatcher.add_node(NodeSpec(url=f"http://{name}", id=name, models=("m",)), 0.0)
        dispatcher.report(NodeReport(node=name, ok=True), 0.0)
    dispatcher.submit(Request(id="r", model="m"), 0.0)
    (raised,) = [fact for fact in facts if isinstance(fact, PolicyRaised)]
    assert (raised.policy, str(raised.error)) == ("hopeless", "its score of node a is not a number")
