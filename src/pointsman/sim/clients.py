"""The clients of a run: they send the demand's requests and keep what each came to."""

from collections.abc import Callable, Sequence
from math import inf

import numpy as np

from pointsman.brain.model.request import Request
from pointsman.sim.demand import Ask, Demand, Dialogue, token_chain
from pointsman.sim.exchange import Exchange
from pointsman.sim.habits import Habits
from pointsman.sim.loop import Loop, Rank
from pointsman.sim.record import Record
from pointsman.workload.streams import stream


class Clients:
    """Sends each dialogue's requests by `submit`, the next one a pause after the answer; a failed one ends it.

    Nothing is sent at `seconds` or later. Who asks for no stream and who leaves when is the same in every run of this
    seed, whatever happens in it; who leaves is told by `cancel`. `records` grows as requests end. `resumable`: whether
    streams may go on elsewhere. `block_tokens`: of the nodes that report their caches by blocks of so many tokens, if
    any do; prompts are then known by their tokens, too.
    """

    def __init__(
        self,
        loop: Loop,
        dialogues: Sequence[Dialogue],
        seconds: float,
        habits: Habits,
        seed: int,
        submit: Callable[[Exchange], None],
        cancel: Callable[[Exchange], None],
        *,
        resumable: bool = False,
        block_tokens: int = 0,
    ) -> None:
        self.records: list[Record] = []
        self._loop = loop
        self._dialogues = dialogues
        self._seconds = seconds
        self._submit = submit
        self._cancel = cancel
        self._resumable = resumable
        self._block_tokens = block_tokens
        lengths = [len(dialogue.asks) for dialogue in dialogues]
        self._first = np.cumsum([0, *lengths]).tolist()
        self._plain = _plain(dialogues, lengths, habits.plain, seed)
        self._patience = _patience(sum(lengths), habits, seed)
        begin = [number for number, one in enumerate(dialogues) if one.asks and one.start_s < seconds]
        self.active = len(begin)
        self._begin = iter(sorted(begin, key=lambda number: dialogues[number].start_s))
        self._plan_dialogue()

    def ended(self, exchange: Exchange, problem: str) -> None:
        """The answer is there, or an error: then `problem` is its code."""
        now = self._loop.now
        exchange.over = True
        self.records.append(exchange.record(now, problem))
        self.active -= 1
        if not problem:
            asks = self._dialogues[exchange.dialogue].asks
            turn = exchange.turn + 1
            if turn < len(asks):
                self._plan(exchange.dialogue, turn, now + asks[turn].think_s)

    def _plan(self, number: int, turn: int, moment: float) -> None:
        if moment < self._seconds:
            self.active += 1
            self._loop.at(moment, Rank.CLIENT, self._send, (number, turn))

    def _plan_dialogue(self) -> None:
        """Only the next: with all of a long run at once, the loop would have that many events to keep in order."""
        number = next(self._begin, None)
        if number is not None:
            self._loop.at(self._dialogues[number].start_s, Rank.CLIENT, self._begin_dialogue, number)

    def _begin_dialogue(self, number: int) -> None:
        self._plan_dialogue()
        self._send((number, 0))

    def _send(self, which: tuple[int, int]) -> None:
        number, turn = which
        ask = self._dialogues[number].asks[turn]
        exchange = Exchange(number, turn, ask, self._request(number, turn, ask), self._loop.now)
        exchange.engine_priority = self._dialogues[number].engine_priority
        self._submit(exchange)
        if self._patience:
            patience = self._patience[self._first[number] + turn]
            if patience < inf:
                self._loop.at(self._loop.now + patience, Rank.CLIENT, self._leave, exchange)

    def _leave(self, exchange: Exchange) -> None:
        if not exchange.over:
            self._cancel(exchange)

    def _request(self, number: int, turn: int, ask: Ask) -> Request:
        dialogue = self._dialogues[number]
        stream = not self._plain[self._first[number] + turn]
        return Request(
            id=f"{number}-{turn}",
            model=dialogue.model,
            prompt_tokens=float(ask.prompt_tokens),
            chain=ask.chain(),
            token_chain=token_chain(ask, self._block_tokens) if self._block_tokens else None,
            stream=stream,
            resumable=stream and self._resumable,
            priority=dialogue.priority,
            tenant=dialogue.tenant,
            session=dialogue.session,
        )


def plain_share(demand: Demand, usual: float) -> float:
    """The share of all requests that ask for no stream, where `usual` is that of those that say nothing of it."""
    asked = sum(len(dialogue.asks) for dialogue in demand.dialogues)
    return sum(len(one.asks) * max(usual, one.plain) for one in demand.dialogues) / max(1, asked)


def _plain(dialogues: Sequence[Dialogue], lengths: Sequence[int], usual: float, seed: int) -> list[bool]:
    """Which requests ask for no stream, dialogue by dialogue."""
    shares = np.repeat([max(usual, dialogue.plain) for dialogue in dialogues], lengths)
    drawn: list[bool] = (stream(seed, "plain").random(sum(lengths)) < shares).tolist()
    return drawn


def _patience(requests: int, habits: Habits, seed: int) -> list[float]:
    """Seconds after which each request's client leaves, infinite for one that stays; empty if all stay."""
    if not habits.leaving:
        return []
    leaves = stream(seed, "leaving").random(requests) < habits.leaving
    after = stream(seed, "patience").exponential(habits.leaving_after_s, requests)
    drawn: list[float] = np.where(leaves, after, inf).tolist()
    return drawn
