"""Questions to all workers and changes one after the other, with workers that answer as a test says."""

import asyncio
from typing import Any, cast

import msgspec
import pytest

from pointsman.admin.answers import Failed
from pointsman.admin.routes import ROUTES, Call, NotReady, Route
from pointsman.admin.values import DefragmentQuery, Gathering, Health, PolicyChange, PolicyInUse
from pointsman.brain.hub import Hub
from pointsman.workers.changes import Changes
from pointsman.workers.everyone import Everyone
from pointsman.workers.messages import Answer, Question
from pointsman.workers.process import NoAnswer

IN_USE = [PolicyInUse("default", "jffc", {})]
REFUSED = Answer(0, status=404, code="not_found", text="no node")


class FakeWorker:
    """`answers` come one after the other, the last for ever; None is no answer."""

    def __init__(self, number: int, *answers: Any, serves: bool = True) -> None:
        self.number = number
        self.serves = serves
        self.asked: list[Question] = []
        self._answers = list(answers)

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is None:
            raise NoAnswer
        return answer if isinstance(answer, Answer) else Answer(0, msgspec.msgpack.encode(answer))


class FakeTeam:
    def __init__(self, *workers: FakeWorker) -> None:
        self.workers = {worker.number: worker for worker in workers}
        self.changes = Changes()
        self.hub = Hub()
        self.replaced: list[int] = []

    @property
    def serving(self) -> list[FakeWorker]:
        return [worker for worker in self.workers.values() if worker.serves]

    async def renew(self, worker: FakeWorker) -> None:
        self.replaced.append(worker.number)


def route(method: str, path: str) -> Route:
    return next(each for each in ROUTES if (each.method, each.path) == (method, path))


async def change(team: FakeTeam) -> Any:
    kept: list[Any] = []
    everyone = Everyone(cast(Any, team), lambda work: kept.append(asyncio.ensure_future(work)))
    answer = await everyone.answer(route("PUT", "/policy"), Call(body=PolicyChange("jffc")))
    await asyncio.gather(*kept)
    await asyncio.gather(*kept)  # what those asked to be kept, too
    return answer


async def ask(*workers: FakeWorker) -> Any:
    return await Everyone(cast(Any, FakeTeam(*workers)), print).answer(route("GET", "/readyz"), Call())


async def test_one_good_answer_is_enough() -> None:
    assert await ask(FakeWorker(1, REFUSED), FakeWorker(2, None), FakeWorker(3, Health("ok"))) == Health("ok")


async def test_when_all_refuse_so_does_the_answer() -> None:
    with pytest.raises(Failed, match="no node") as failed:
        await ask(FakeWorker(1, REFUSED), FakeWorker(2, REFUSED))
    assert (failed.value.status, failed.value.code) == (404, "not_found")


@pytest.mark.parametrize("workers", [(), (FakeWorker(1, None),), (FakeWorker(1, Health("ok"), serves=False),)])
async def test_when_nobody_answers_it_is_not_ready(workers: tuple[FakeWorker, ...]) -> None:
    with pytest.raises(NotReady):
        await ask(*workers)


async def test_a_change_reaches_all_those_that_start_too_and_is_noted() -> None:
    team = FakeTeam(FakeWorker(1, IN_USE), FakeWorker(2, IN_USE), FakeWorker(3, IN_USE, serves=False))
    assert await change(team) == IN_USE
    assert [len(worker.asked) for worker in team.workers.values()] == [1, 1, 1]
    assert [question.path for question in team.changes.made()] == ["/policy"]
    assert not team.replaced


async def test_a_change_that_the_first_refuses_reaches_nobody() -> None:
    team = FakeTeam(FakeWorker(1, REFUSED), FakeWorker(2, IN_USE))
    with pytest.raises(Failed):
        await change(team)
    assert not team.workers[2].asked
    assert not team.changes.made()


async def test_the_first_is_the_first_that_answers() -> None:
    team = FakeTeam(FakeWorker(1, None, IN_USE), FakeWorker(2, IN_USE))
    assert await change(team) == IN_USE
    assert [len(worker.asked) for worker in team.workers.values()] == [2, 1]  # the other one follows


async def test_a_worker_that_cannot_follow_is_replaced() -> None:
    team = FakeTeam(FakeWorker(1, IN_USE), FakeWorker(2, REFUSED), FakeWorker(3, None))
    assert await change(team) == IN_USE
    assert team.replaced == [2]


async def test_a_node_that_has_left_a_worker_already_is_no_reason_to_replace_it() -> None:
    team = FakeTeam(FakeWorker(1, IN_USE), FakeWorker(2, REFUSED))
    kept: list[Any] = []
    everyone = Everyone(cast(Any, team), lambda work: kept.append(asyncio.ensure_future(work)))
    await everyone.answer(route("DELETE", "/nodes/{id}"), Call("a"))
    await asyncio.gather(*kept)
    assert not team.replaced


async def test_numbers_that_no_message_holds_are_refused() -> None:
    everyone = Everyone(cast(Any, FakeTeam(FakeWorker(1, IN_USE))), print)
    with pytest.raises(Failed, match="64 bits") as error:
        await everyone.answer(route("PUT", "/policy"), Call(body=PolicyChange("jffc", parameters={"w_load": 10**30})))
    assert error.value.status == 400


async def test_without_a_worker_nothing_is_changed() -> None:
    team = FakeTeam(FakeWorker(1, None))
    with pytest.raises(NotReady):
        await change(team)
    assert not team.changes.made()


async def test_what_each_does_for_its_own_requests_is_asked_of_those_that_serve_and_not_done_again_later() -> None:
    moved = [Gathering("r", "a", ["s"], 3, 0.1)]
    team = FakeTeam(FakeWorker(1, moved), FakeWorker(2, []), FakeWorker(3, moved), FakeWorker(4, moved, serves=False))
    everyone = Everyone(cast(Any, team), print)
    answer = await everyone.answer(route("POST", "/cache/defragment"), Call(query=DefragmentQuery()))
    assert answer == [*moved, *moved]
    assert [len(worker.asked) for worker in team.workers.values()] == [1, 1, 1, 0]
    assert not team.changes.made()
