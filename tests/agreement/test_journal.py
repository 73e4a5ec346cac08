"""The journal of a run, replayed through a fresh dispatcher, leads to the same choices."""

from collections.abc import Callable
from typing import Any

import pytest

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.model.orders import Start
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import POLICIES, build
from pointsman.brain.policies.table import PolicyTable
from pointsman.observe.record import Journaled, header
from pointsman.observe.replay import differences, replay

STEPS = 600


def journal_of(random_day: Callable[..., Any], policy: str, seed: int) -> list[bytes]:
    """The lines of a random day under `policy`."""
    settings, table, lines = BrainSettings(seed=seed), PolicyTable(build(policy)), []
    journaled = Journaled(Dispatcher(settings, table), header(settings, table, 0.0), lines.append)
    random_day(journaled, seed).run(STEPS)
    return lines


@pytest.mark.parametrize("policy", sorted(POLICIES))
def test_a_replayed_journal_leads_to_the_same_choices(random_day: Callable[..., Any], policy: str) -> None:
    lines = journal_of(random_day, policy, seed=7)
    assert len(replay(lines)) > STEPS / 4
    assert differences(lines) == []


def test_another_policy_is_noticed(random_day: Callable[..., Any]) -> None:
    lines = journal_of(random_day, "round_robin", seed=3)

    def make(settings: BrainSettings, _: PolicyTable, now: float) -> Dispatcher:
        return Dispatcher(settings, PolicyTable(build("least_requests")), (), now)

    assert differences(lines, make)


def test_a_policy_changed_while_running_is_changed_in_the_replay(random_day: Callable[..., Any]) -> None:
    settings, table, lines = BrainSettings(), PolicyTable(build("round_robin")), []
    journaled = Journaled(Dispatcher(settings, table), header(settings, table, 0.0), lines.append)
    day = random_day(journaled, 5)
    day.run(200)
    day.obey(journaled.set_policy("model:m", build("session", {"epsilon": 0.5}), day.now))
    for _ in range(50):
        day.submit()
    assert differences(lines) == []


def test_observers_do_not_sway_the_choices(random_day: Callable[..., Any]) -> None:
    lines = journal_of(random_day, "fastest_completion", seed=11)

    def make(settings: BrainSettings, policies: PolicyTable, now: float) -> Dispatcher:
        return Dispatcher(settings, policies, [lambda fact: None], now)

    assert differences(lines, make) == []


def test_the_journaled_dispatcher_answers_like_the_plain_one(random_day: Callable[..., Any]) -> None:
    started: list[list[tuple[int, str]]] = []
    for wrap in (False, True):
        settings, table = BrainSettings(seed=1), PolicyTable(build("two_choices"))
        dispatcher: Any = Dispatcher(settings, table)
        if wrap:
            dispatcher = Journaled(dispatcher, header(settings, table, 0.0), lambda line: None)
        day, mine = random_day(dispatcher, 1), []
        obey = day.obey
        day.obey = lambda orders, obey=obey, mine=mine: (
            mine.extend((o.ticket, o.node.name) for o in orders if isinstance(o, Start)),
            obey(orders),
        )
        day.run(200)
        started.append(mine)
    assert started[0] == started[1]
    assert started[0]
