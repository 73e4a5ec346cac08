"""Replaying a demand against one gateway: dialogues closed loop, each question at its moment, all moments kept.

A dialogue is one task: it sleeps until its start, asks, appends the answer, thinks, asks again, until it is over or the
time for new questions is. Then the run drains for a while, and what is still unanswered is cut and counted as failed.
"""

import asyncio
from collections.abc import Callable

import msgspec

from .client import Answer, ChatClient
from .demand import Demand, Dialogue
from .stopwatch import EngineTime


class Asked(msgspec.Struct, frozen=True):
    """One question as it happened: its request id, the answer, and how late (engine seconds) the client sent it."""

    request_id: str
    answer: Answer
    late_s: float


class Replay:
    """One run of a demand. `asked` grows as questions are sent."""

    def __init__(self, client: ChatClient, time: EngineTime, seconds: float, name: str) -> None:
        """`seconds`: engine seconds during which new questions are asked."""
        self._client = client
        self._time = time
        self._seconds = seconds
        self._name = name
        self.asked: list[Asked] = []

    async def run(self, demand: Demand, drain_s: float, tick: Callable[[float], None]) -> None:
        """Replay all; `tick` is told the engine second a few times per wall second. Raises what `tick` raises."""
        tasks = [asyncio.create_task(self._dialogue(one, number)) for number, one in enumerate(demand.dialogues)]
        try:
            await self._watch(tasks, self._seconds + drain_s, tick)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _watch(self, tasks: list[asyncio.Task[None]], until_s: float, tick: Callable[[float], None]) -> None:
        pending = set(tasks)
        while pending and self._time.now() < until_s:
            _, pending = await asyncio.wait(pending, timeout=0.1)
            tick(self._time.now())

    async def _dialogue(self, dialogue: Dialogue, number: int) -> None:
        messages = [{"role": "system", "content": dialogue.system}] if dialogue.system else []
        moment = dialogue.start_s
        for turn, line in enumerate(dialogue.lines):
            moment += line.think_s
            if moment >= self._seconds:
                return
            late = await self._time.until(moment)
            messages.append({"role": "user", "content": line.text})
            asked = Asked(f"{self._name}-{number}-{turn}", Answer(sent_s=moment), late)
            self.asked.append(asked)
            await self._client.ask(asked.answer, asked.request_id, messages, line.output_tokens)
            if not asked.answer.complete:
                return
            messages.append({"role": "assistant", "content": asked.answer.text})
            moment = asked.answer.done_s
