"""The journal of a run, replayed through a fresh dispatcher, leads to the same choices."""

from typing import Any

import pytest
from tests.support.driver import TestDriver
from tests.support.random_day import RandomDay

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.record import Journaled, begin
from pointsman.observe.replay import differences, replay

STEPS = 400


def journaled(policy: str, seed: int = 1) -> tuple[TestDriver, list[bytes]]:
    """A driver whose dispatcher is journaled, and the lines of its journal."""
    driver, lines = TestDriver(policy, seed=seed), []
    dispatcher = driver.dispatcher
    how = begin(dispatcher.settings, dispatcher.policies, 0.0)
    driver.dispatcher = Journaled(dispatcher, how, lines.append)  # type: ignore[assignment]
    return driver, lines


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_replayed_journal_leads_to_the_same_choices(policy: str) -> None:
    driver, lines = journaled(policy, seed=7)
    RandomDay(driver, seed=7).run(STEPS)
    assert len(replay(lines)) > STEPS / 4
    assert differences(lines) == []


def test_another_policy_is_noticed() -> None:
    driver, lines = journaled("round_robin")
    RandomDay(driver, seed=3).run(STEPS)

    def make(settings: BrainSettings, _: PolicyTable, now: float) -> Dispatcher:
        return Dispatcher(settings, PolicyTable(build("least_requests")), (), now)

    assert differences(lines, make)


def test_a_policy_changed_while_running_is_changed_in_the_replay() -> None:
    driver, lines = journaled("round_robin")
    day = RandomDay(driver, seed=5)
    day.run(STEPS // 2)
    driver.obey(driver.dispatcher.set_policy("model:m", build("session", {"epsilon": 0.5}), driver.now))
    for _ in range(50):
        day.submit()
    assert b'"call":"set_policy"' in b"".join(lines)
    assert differences(lines) == []


def test_observers_do_not_sway_the_choices() -> None:
    driver, lines = journaled("fastest_completion")
    RandomDay(driver, seed=11).run(STEPS)

    def make(settings: BrainSettings, policies: PolicyTable, now: float) -> Dispatcher:
        return Dispatcher(settings, policies, [lambda fact: None], now)

    assert differences(lines, make) == []


def test_the_journaled_dispatcher_answers_like_the_plain_one() -> None:
    ended: list[Any] = []
    for driver in (journaled("two_choices")[0], TestDriver("two_choices", seed=1)):
        RandomDay(driver, seed=1).run(STEPS)
        ended.append((driver.ended, driver.node_of, driver.waiting))
    assert ended[0] == ended[1]


def test_what_is_configured_while_running_is_configured_in_the_replay() -> None:
    driver, lines = journaled("fastest_completion")
    day = RandomDay(driver, seed=6)
    day.run(STEPS // 2)
    settings = BrainSettings(queue_timeout_s=3.0, window=2, tries=3, peak_decay_s=1.0, ttft_objective_s=0.5)
    driver.obey(driver.dispatcher.configure(settings, driver.now))
    changed = NodeSpec(url="http://a", id="a", models=("m",), slots=1, weight=0.5)
    driver.obey(driver.dispatcher.declare_node(changed, driver.now))
    driver.obey(driver.dispatcher.remove_node("b", driver.now))
    driver.obey(driver.dispatcher.add_node(NodeSpec(url="http://b2", id="b", models=("m",)), driver.now))
    driver.report("b")
    for _ in range(200):
        day.pass_time(0.05)
        day.submit()
        day.end()
    assert all(b'"call":"%b"' % call in b"".join(lines) for call in (b"configure", b"declare_node"))
    assert differences(lines) == []
