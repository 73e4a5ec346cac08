"""Finds out whether a chat can be continued by text, for each model on each kind of engine.

Where an answer is to go on, its chat template must end the prompt inside the assistant's message, as the engine itself
would have. Some templates trim white space there, some drop what was thought. So it is tried: a short answer at
temperature 0 as a whole, and cut behind several of its tokens and continued. Only where all are equal is an answer of
that model continued. A numeric tie can make a faithful engine look like none, which costs a resumption and no more.
An engine that is lost meanwhile says nothing about its kind: the next one is asked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

import msgspec

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import Clock
from pointsman.gateway.fetch import FetchFailed, fetch
from pointsman.gateway.targets import Target, Targets
from pointsman.gateway.upstream import ConnectFailed
from pointsman.wire.decoding import decoder

CHAT = "/v1/chat/completions"
QUESTION = "Write the numbers from one to twelve as words, each on a line of its own."
WHOLE_TOKENS = 24
CUTS = (1, 4, 5, 6, 7, 15)
"""Tokens after which it is cut: words and ends of lines take turns, so that some cut lies behind white space."""
TIMEOUT_S = 30.0
"""For one of the answers; an engine may be busy."""
AGAIN_S = 60.0
"""Until an engine is asked again that gave no answer to compare."""
LOST_AGAIN_S = 5.0
"""Until engines are asked again of which none could be reached."""
VALID_S = 3600.0
"""How long a finding holds: an engine may come back with another template."""

_MEANS = {
    "faithful": "yes, they go on as they would have",
    "unfaithful": "no, they do not go on as they would have; one that is cut ends with an error",
    "failed": "not known, a chat asks again within a minute; until then one that is cut ends with an error",
}
"""What a finding means to whoever turned on `resume`."""

_log = logging.getLogger(__name__)


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Answer(msgspec.Struct):
    choices: list[_Choice]


_decode = decoder(_Answer)
_LOST = (ConnectFailed, FetchFailed, TimeoutError, OSError)


class _Finding(msgspec.Struct, frozen=True):
    faithful: bool
    until: float


class Continuing:
    """Asks in the background, once it is asked about a model. `tell(model, engine, result)` hears every finding.

    `serving` are the nodes that should serve a model, with whether each is in use now.
    """

    def __init__(
        self,
        serving: Callable[[str], Iterable[tuple[NodeSpec, bool]]],
        targets: Targets,
        clock: Clock,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._serving = serving
        self._targets = targets
        self._clock = clock
        self._loop = loop
        self._found: dict[tuple[str, str], _Finding] = {}
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self.tell: Callable[[str, str, str], object] = _nobody

    def trusts(self, model: str) -> bool:
        """Whether each kind of engine that serves `model` is known to continue its chats faithfully."""
        now = self._clock.now()
        kinds: dict[str, bool] = {}
        for node, in_use in self._serving(model):
            found = self._found.get((model, node.engine))
            kinds[node.engine] = found is not None and found.faithful
            if in_use and (found is None or found.until <= now):
                self._start(model, node.engine)
        return bool(kinds) and all(kinds.values())

    def stop(self) -> None:
        """Cancel what is under way."""
        for task in tuple(self._running.values()):
            task.cancel()

    def _start(self, model: str, engine: str) -> None:
        key = model, engine
        if key not in self._running:
            task = self._running[key] = self._loop.create_task(self._ask(model, engine))
            task.add_done_callback(lambda _: self._running.pop(key, None))

    async def _ask(self, model: str, engine: str) -> None:
        """Ask the nodes of that kind in turn, as far as they are in use, until one answers."""
        result, valid_s = "failed", LOST_AGAIN_S
        for node in [node for node, in_use in self._serving(model) if in_use and node.engine == engine]:
            result, valid_s = await self._ask_one(model, node)
            if result != "failed":
                break
        self._found[model, engine] = _Finding(result == "faithful", self._clock.now() + valid_s)
        self.tell(model, engine, result)
        _log.info("resume by text of chats of %s on engines of kind %s: %s", model, engine, _MEANS[result])

    async def _ask_one(self, model: str, node: NodeSpec) -> tuple[str, float]:
        """What was found, and for how long (seconds) that holds."""
        try:
            faithful = await _is_faithful(self._targets.of(node), model)
        except (*_LOST, ValueError) as error:
            _log.warning("asking node %s whether it continues chats of %s: %s", node.name, model, error)
            return "failed", LOST_AGAIN_S if isinstance(error, _LOST) else AGAIN_S
        return ("faithful" if faithful else "unfaithful"), VALID_S


async def _is_faithful(target: Target, model: str) -> bool:
    """Raises what `fetch` raises, and ValueError for an answer that is none, such as a refusal of the request."""
    whole = await _say(target, model, None, WHOLE_TOKENS)
    for cut in CUTS:
        begun = await _say(target, model, None, cut)
        if begun + await _say(target, model, begun, WHOLE_TOKENS - cut) != whole:
            return False
    return bool(whole)


async def _say(target: Target, model: str, begun: str | None, tokens: int) -> str:
    answer = await fetch(target, CHAT, TIMEOUT_S, question(model, begun, tokens))
    if answer.status != 200:
        raise ValueError(f"status {answer.status}")
    choices = _decode(answer.body).choices  # msgspec's errors are ValueErrors
    return (choices[0].message.content or "") if choices else ""


def question(model: str, begun: str | None, tokens: int) -> bytes:
    """The body that asks for `tokens` tokens, of an answer or of what follows on one that was `begun`."""
    messages = [{"role": "user", "content": QUESTION}]
    body = {"model": model, "temperature": 0, "max_tokens": tokens}
    if begun is None:
        return msgspec.json.encode(body | {"messages": messages})
    messages.append({"role": "assistant", "content": begun})
    flags = {"continue_final_message": True, "add_generation_prompt": False}
    return msgspec.json.encode(body | {"messages": messages} | flags)


def _nobody(_model: str, _engine: str, _result: str) -> None:
    """There is nobody to be told."""
