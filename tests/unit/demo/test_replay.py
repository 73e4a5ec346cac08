"""Replay: closed loop, moments kept, nothing asked after the end, the unanswered cut."""

import asyncio

import pytest

from pointsman.clock import WallClock
from pointsman.demo.demand import Demand, Dialogue, Line
from pointsman.demo.replay import Replay
from pointsman.demo.stopwatch import EngineTime

SCALE = 100.0  # a hundredth of a second of wall time is one second here


class Script:
    """Answers every question after `answer_s` engine seconds; never, if that is None."""

    def __init__(self, time, answer_s=1.0, complete=True):
        self.time, self.answer_s, self.complete = time, answer_s, complete
        self.seen = []

    async def ask(self, answer, request_id, messages, output_tokens):
        self.seen.append((request_id, [dict(message) for message in messages], output_tokens))
        try:
            await (asyncio.Event().wait() if self.answer_s is None else asyncio.sleep(self.answer_s / SCALE))
            answer.text, answer.complete = " yes", self.complete
        finally:
            answer.done_s = self.time.now()


async def replayed(dialogues, seconds=20.0, drain=5.0, **script):
    time = EngineTime(WallClock(), SCALE)
    client = Script(time, **script)
    replay = Replay(client, time, seconds, "p")
    await replay.run(Demand(tuple(dialogues), "test"), drain, lambda _: None)
    return replay.asked, client


async def test_a_turn_resends_the_dialogue_and_waits_for_answer_and_thought():
    dialogue = Dialogue(2.0, " sys", (Line(" one", 3), Line(" two", 4, think_s=3.0)))
    asked, client = await replayed([dialogue], seconds=1000.0)
    assert [one.request_id for one in asked] == ["p-0-0", "p-0-1"]
    assert asked[0].answer.sent_s == 2.0
    assert asked[1].answer.sent_s == pytest.approx(asked[0].answer.done_s + 3.0)
    assert [message["role"] for message in client.seen[1][1]] == ["system", "user", "assistant", "user"]
    assert client.seen[1][1][2]["content"] == " yes"
    assert client.seen[1][2] == 4


async def test_no_question_after_the_end():
    asked, _ = await replayed([Dialogue(0.0, "", (Line(" a", 1), Line(" b", 1, think_s=50.0)))])
    assert len(asked) == 1


async def test_a_failed_turn_ends_its_dialogue():
    asked, _ = await replayed([Dialogue(0.0, "", (Line(" a", 1), Line(" b", 1)))], complete=False)
    assert len(asked) == 1


async def test_the_unanswered_are_cut_after_the_drain():
    asked, _ = await replayed([Dialogue(1.0, "", (Line(" a", 1),))], seconds=3.0, drain=2.0, answer_s=None)
    assert not asked[0].answer.complete
    assert asked[0].answer.done_s >= 5.0


async def test_what_the_watcher_raises_ends_the_run():
    def watcher(_):
        raise RuntimeError("a child died")

    time = EngineTime(WallClock(), SCALE)
    replay = Replay(Script(time, answer_s=None), time, 1000.0, "p")
    with pytest.raises(RuntimeError, match="a child died"):
        await replay.run(Demand((Dialogue(0.0, "", (Line(" a", 1),)),), "test"), 5.0, watcher)
