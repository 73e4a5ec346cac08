"""When a handler has something to send."""

import asyncio

import msgspec
import pytest

from pointsman.engine.api.bodies import DONE
from pointsman.engine.api.intake import Intake, decoder
from pointsman.engine.api.job import Job
from pointsman.engine.api.requests import CompletionRequest
from pointsman.engine.profile import profile_of
from pointsman.engine.settings import EngineConfig


def make_job(interval: int = 1, **body: object) -> Job:
    config = EngineConfig(stream_interval=interval)
    request = msgspec.json.encode({"prompt": "hi", "max_tokens": 7, "ignore_eos": True, **body})
    return Intake(config, profile_of(config)).completion(decoder(CompletionRequest)(request), "r")


def write(job: Job, index: int = 0) -> bool:
    choice = job.choices[index]
    choice.sequence.generated += 1
    choice.write()
    return job.wrote(choice)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (1, [True] * 7),
        (3, [True, False, False, True, False, False, True]),
        (4, [True, False, False, False, True, False, True]),
    ],
)
def test_the_first_the_interval_and_the_last_are_sent(interval: int, expected: list[bool]) -> None:
    job = make_job(interval, stream=True)
    assert [write(job) for _ in range(7)] == expected


def test_what_is_not_streamed_is_sent_once_all_is_written() -> None:
    job = make_job(n=2)
    assert [write(job, 0) for _ in range(7)] == [False] * 7
    assert [write(job, 1) for _ in range(7)] == [False] * 6 + [True]
    assert job.done


async def test_a_stream_ends_after_its_last_choice() -> None:
    job = make_job(n=2, stream=True, stream_options={"include_usage": True})
    for _ in range(7):
        write(job, 0)
    events = await job.wait()
    assert DONE not in events
    for _ in range(7):
        write(job, 1)
    events = await job.wait()
    assert events[-1] == DONE
    assert b'"completion_tokens":14' in events[-2]
    assert job.drained


async def test_a_waiting_handler_is_woken() -> None:
    job = make_job(stream=True)
    handler = asyncio.ensure_future(job.wait())
    await asyncio.sleep(0)
    write(job)
    job.wake()
    assert len(await handler) == 1
    job.wake()  # nobody waits any more
