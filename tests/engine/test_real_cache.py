"""Follow-up turns of a conversation go where its KV cache is, by the engines' own count of cached tokens."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import openai
import pytest

from .live import Engine, Gateway

pytestmark = pytest.mark.engine

CACHE_AWARE = ["fastest_completion", "prefix_affinity", "jffc"]
# A first message of some hundred tokens: long enough that computing it twice is the greater cost.
BACKGROUND = "The points are set before the train arrives, and the signal shows it. " * 40


@dataclass(slots=True)
class Conversation:
    """One client's dialogue; every turn sends all that was said. `turns` notes (request id, usage) of each."""

    client: openai.OpenAI
    model: str
    messages: list[dict[str, str]]
    turns: list[tuple[str, openai.types.CompletionUsage]] = field(default_factory=list)

    def say(self, text: str) -> None:
        request_id = f"turn-{uuid.uuid4().hex}"
        self.messages.append({"role": "user", "content": text})
        answer = self.client.chat.completions.create(
            model=self.model,
            messages=self.messages,
            max_tokens=24,
            temperature=0,
            extra_headers={"X-Request-Id": request_id},
        )
        assert answer.usage is not None
        self.messages.append({"role": "assistant", "content": answer.choices[0].message.content or ""})
        self.turns.append((request_id, answer.usage))

    def cached_shares(self) -> list[float]:
        """The share of each turn's prompt whose KV the engine already had."""
        return [usage.prompt_tokens_details.cached_tokens / usage.prompt_tokens for _, usage in self.turns]


def converse(client: openai.OpenAI, model: str, count: int) -> list[Conversation]:
    """`count` conversations of three turns, taken in turn; the order changes, so no rotation can follow them."""
    system = [{"role": "system", "content": f"{uuid.uuid4().hex} {BACKGROUND}"} for _ in range(count)]
    talks = [Conversation(client, model, [message]) for message in system]
    for talk in talks:
        talk.say("What is shown by the signal?")
    for talk in reversed(talks):
        talk.say("And when are the points set?")
    for talk in talks[1:] + talks[:1]:
        talk.say("Thank you. What was my first question?")
    return talks


@pytest.mark.parametrize("policy", CACHE_AWARE)
def test_follow_ups_reach_the_cache(
    policy: str, start_gateway: Callable[[str], Gateway], connect: Callable[[Gateway], openai.OpenAI], model: str
) -> None:
    gateway = start_gateway(policy)
    for talk in converse(connect(gateway), model, 4):
        first, second, third = talk.cached_shares()
        assert first < 0.1
        assert second > 0.5
        assert third > 0.5
        assert len({gateway.node_of(request_id) for request_id, _ in talk.turns}) == 1


def test_rotation_loses_the_cache(
    start_gateway: Callable[[str], Gateway], connect: Callable[[Gateway], openai.OpenAI], model: str, fresh: str
) -> None:
    """The control: turn 2 goes to the other engine, which has nothing."""
    gateway = start_gateway("round_robin")
    talk = Conversation(connect(gateway), model, [{"role": "system", "content": f"{fresh} {BACKGROUND}"}])
    for text in ("One", "Two", "Three"):
        talk.say(text)
    assert [share > 0.5 for share in talk.cached_shares()] == [False, False, True]
    nodes = [gateway.node_of(request_id) for request_id, _ in talk.turns]
    assert nodes[0] == nodes[2] != nodes[1]


def test_the_decision_names_the_engine_that_served(
    gateway: Gateway, client: openai.OpenAI, model: str, engines: list[Engine], fresh: str
) -> None:
    before = {engine.url: engine.served() for engine in engines}
    talk = Conversation(client, model, [{"role": "system", "content": f"{fresh} {BACKGROUND}"}])
    for text in ("One", "Two"):
        talk.say(text)
    (request_id, _), (follow_up, usage) = talk.turns
    moved = [engine.url for engine in engines if engine.served() > before[engine.url]]
    assert moved == [gateway.node_of(request_id)]
    (decision,) = gateway.decisions(follow_up)
    chosen = {candidate["node"]: candidate for candidate in decision["candidates"]}[decision["node"]]
    known = usage.prompt_tokens_details.cached_tokens
    assert chosen["overlap_tokens"] == pytest.approx(known, rel=0.5), "the predicted overlap is near the real one"
