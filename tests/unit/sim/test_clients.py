"""Clients: closed loop, stopping in time, plain ones the same whatever happens."""

import pytest
from tests.support.simulated import uneven

from pointsman.sim.clients import Clients, plain_share
from pointsman.sim.exchange import Exchange
from pointsman.sim.generated import session_demand
from pointsman.sim.habits import Habits
from pointsman.sim.loop import Loop, Rank
from pointsman.workload.presets import WORKLOADS

DIALOGUES = session_demand(1, 4.0, 30.0, 32_768).dialogues


USUAL = Habits()


class Answering:
    """Answers every request after a while, every `failing`-th one with an error."""

    def __init__(self, seconds: float = 100.0, habits: Habits = USUAL, answer_s: float = 1.0, failing: int = 0) -> None:
        self.loop = Loop(0.0)
        self.sent: list[Exchange] = []
        self.left: list[Exchange] = []
        self.answer_s, self.failing = answer_s, failing
        self.clients = Clients(self.loop, DIALOGUES, seconds, habits, 1, self.submit, self.left.append)
        self.loop.run()

    def submit(self, exchange: Exchange) -> None:
        self.sent.append(exchange)
        fails = self.failing and len(self.sent) % self.failing == 0
        self.loop.at(
            self.loop.now + self.answer_s, Rank.HEARD, lambda _: self.clients.ended(exchange, "bad" if fails else "")
        )


def test_the_next_turn_is_asked_a_pause_after_the_answer() -> None:
    by_id = {exchange.request.id: exchange for exchange in Answering().sent}
    assert len(by_id) == sum(len(dialogue.asks) for dialogue in DIALOGUES)
    for number, dialogue in enumerate(DIALOGUES):
        assert by_id[f"{number}-0"].sent_s == dialogue.start_s
        for turn, ask in enumerate(dialogue.asks[1:], start=1):
            waited = by_id[f"{number}-{turn}"].sent_s - by_id[f"{number}-{turn - 1}"].sent_s
            assert waited == pytest.approx(1.0 + ask.think_s)


def test_nothing_is_sent_at_the_end_or_after() -> None:
    answering = Answering(seconds=20.0)
    assert max(exchange.sent_s for exchange in answering.sent) < 20.0
    assert answering.clients.active == 0


def test_a_dialogue_ends_with_its_first_error() -> None:
    answering = Answering(failing=2)
    failed = {record.id.split("-")[0] for record in answering.clients.records if not record.ok}
    assert failed
    for number in failed:
        records = [record for record in answering.clients.records if record.id.split("-")[0] == number]
        assert [record.ok for record in records] == [True] * (len(records) - 1) + [False]


def test_the_same_requests_are_plain_however_the_run_goes() -> None:
    def plain(answer_s: float) -> dict[str, bool]:
        return {
            one.request.id: one.request.stream for one in Answering(habits=Habits(plain=0.3), answer_s=answer_s).sent
        }

    quick, slow = plain(0.5), plain(3.0)
    assert quick == slow
    assert 0.15 < sum(not stream for stream in quick.values()) / len(quick) < 0.45


def test_requests_carry_their_dialogue() -> None:
    first = Answering().sent[0].request
    assert first.session == DIALOGUES[0].session
    assert first.max_tokens is None, "nobody knows how long an answer will be"
    assert uneven("round_robin").demand.dialogues


def test_who_leaves_is_drawn_once_and_leaves_only_an_unanswered_request() -> None:
    def left(answer_s: float) -> set[str]:
        return {
            one.request.id for one in Answering(habits=Habits(leaving=0.5, leaving_after_s=2.0), answer_s=answer_s).left
        }

    patient, hasty = left(0.5), left(5.0)
    assert patient
    assert patient < hasty
    assert not left(0.0)


def test_the_share_of_plain_requests_counts_those_of_every_kind() -> None:
    demand = session_demand(1, 40.0, 400.0, 32_768, WORKLOADS["batch_and_chat"])
    assert plain_share(demand, 0.0) == pytest.approx(0.5, abs=0.1)
    assert plain_share(demand, 1.0) == 1.0
