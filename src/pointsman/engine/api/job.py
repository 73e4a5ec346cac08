"""A request being answered: its sequences inside the engine and the events waiting to be sent."""

import asyncio
from typing import Any

from pointsman.engine.api.bodies import DONE, Bodies, usage
from pointsman.engine.api.choice import Choice


class Job:
    """Collects what the engine writes for one request until its handler takes it.

    The engine calls `wrote` after each token and `wake` once at the end of each step; the handler awaits `wait`.
    """

    def __init__(
        self, bodies: Bodies, choices: list[Choice], per_prompt: int, *, stream: bool, interval: int, with_usage: bool
    ) -> None:
        self.bodies = bodies
        self.choices = choices
        self.bytes_sent = 0
        self.stream = stream
        self.first_sent = False
        self._per_prompt = per_prompt
        self._interval = interval
        self._with_usage = with_usage
        self._unfinished = len(choices)
        self._events: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None

    @property
    def done(self) -> bool:
        return self._unfinished == 0

    @property
    def drained(self) -> bool:
        """Whether everything written has been taken."""
        return not self._events

    def wrote(self, choice: Choice) -> bool:
        """Take note of a new token; True if the handler has something to send."""
        if choice.finish_reason is not None:
            self._unfinished -= 1
        if not self.stream:
            return self.done
        generated = choice.sequence.generated
        if choice.finish_reason is None and choice.sent_tokens and generated - choice.sent_tokens < self._interval:
            return False
        if not choice.sent_tokens and (opening := self.bodies.role(choice)):
            self._events.append(opening)
        self._events.append(self.bodies.delta(choice, self._per_prompt))
        choice.sent_tokens = generated
        if self.done:
            if self._with_usage:
                self._events.append(self.bodies.final_usage(self.counts()))
            self._events.append(DONE)
        return True

    def wake(self) -> None:
        """Let the handler run."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self) -> list[bytes]:
        """The events to send next, at least one; of a request that is not streamed, none once it is done."""
        while not self._events and not self.done:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        events, self._events = self._events, []
        return events

    def whole(self) -> bytes:
        return self.bodies.whole(self.choices, self._per_prompt, self.counts())

    def counts(self) -> dict[str, Any]:
        """Usage: each prompt counted once, the tokens of all answers."""
        prompts = self.choices[:: self._per_prompt]
        return usage(
            sum(choice.sequence.prompt_tokens for choice in prompts),
            sum(choice.sequence.generated for choice in self.choices),
            sum(choice.sequence.cached_tokens for choice in prompts),
        )
