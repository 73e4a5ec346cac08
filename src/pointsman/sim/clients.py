"""The clients of a run: they send the demand's requests and keep what each came to."""

from collections.abc import Callable, Sequence

import numpy as np

from pointsman.brain.model.request import Request
from pointsman.sim.demand import Ask, Dialogue
from pointsman.sim.exchange import Exchange, Record
from pointsman.sim.fleet import MODEL
from pointsman.sim.loop import Loop, Rank
from pointsman.workload.streams import stream


class Clients:
    """Sends each dialogue's requests by `submit`, the next one a pause after the answer; a failed one ends it.

    Nothing is sent at `seconds` or later. A share of `plain` requests ask for no stream: the same ones in every run of
    this seed, whatever happens in it. `records` grows as requests end.
    """

    def __init__(
        self,
        loop: Loop,
        dialogues: Sequence[Dialogue],
        seconds: float,
        plain: float,
        seed: int,
        submit: Callable[[Exchange], None],
    ) -> None:
        self.records: list[Record] = []
        self._loop = loop
        self._dialogues = dialogues
        self._seconds = seconds
        self._submit = submit
        firsts = np.cumsum([0, *(len(dialogue.asks) for dialogue in dialogues)])
        self._first = firsts.tolist()
        self._plain = (stream(seed, "plain").random(int(firsts[-1])) < plain).tolist()
        self.active = 0
        for number, dialogue in enumerate(dialogues):
            self._plan(number, 0, dialogue.start_s)

    def ended(self, exchange: Exchange, problem: str) -> None:
        """The answer is there, or an error: then `problem` is its code."""
        now = self._loop.now
        self.records.append(exchange.record(now, problem))
        self.active -= 1
        if not problem:
            asks = self._dialogues[exchange.dialogue].asks
            turn = exchange.turn + 1
            if turn < len(asks):
                self._plan(exchange.dialogue, turn, now + asks[turn].think_s)

    def _plan(self, number: int, turn: int, moment: float) -> None:
        dialogue = self._dialogues[number]
        if moment < self._seconds and turn < len(dialogue.asks):
            self.active += 1
            self._loop.at(moment, Rank.CLIENT, self._send, (number, turn))

    def _send(self, which: tuple[int, int]) -> None:
        number, turn = which
        dialogue = self._dialogues[number]
        request = self._request(number, turn, dialogue.asks[turn])
        self._submit(Exchange(number, turn, dialogue.asks[turn], request, self._loop.now))

    def _request(self, number: int, turn: int, ask: Ask) -> Request:
        return Request(
            id=f"{number}-{turn}",
            model=MODEL,
            prompt_tokens=float(ask.prompt_tokens),
            chain=ask.chain(),
            stream=not self._plain[self._first[number] + turn],
            session=self._dialogues[number].session,
        )
