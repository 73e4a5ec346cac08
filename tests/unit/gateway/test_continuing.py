"""Only where a cut answer goes on as the whole one did is a chat continued by text."""

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from pointsman.brain.model.node import NodeSpec
from pointsman.clock import ManualClock
from pointsman.gateway import continuing
from pointsman.gateway.continuing import AGAIN_S, LOST_AGAIN_S, VALID_S, Continuing, question
from pointsman.gateway.fetch import Fetched, FetchFailed
from pointsman.gateway.targets import Targets

TOKENS = [piece for word in ("one", "two", "three", "four", "five", "six") for piece in (word, "\n", " ", "-")]
Say = Callable[[dict[str, Any]], str]


def faithful(body: dict[str, Any]) -> str:
    last = body["messages"][-1]
    begun = last["content"] if last["role"] == "assistant" else ""
    whole = "".join(TOKENS)
    at = len(TOKENS) if begun == whole else next(n for n in range(len(TOKENS)) if "".join(TOKENS[:n]) == begun)
    return "".join(TOKENS[at : at + body["max_tokens"]])


def trimming(body: dict[str, Any]) -> str:
    """Its template strips white space at the end of the message, so the model writes it once more."""
    last = body["messages"][-1]
    trimmed = last["content"].rstrip() if last["role"] == "assistant" else ""
    lost = last["content"][len(trimmed) :] if last["role"] == "assistant" else ""
    return lost + faithful(body)


class Scene:
    def __init__(self, patch: pytest.MonkeyPatch, say: Say, *nodes: tuple[NodeSpec, bool]) -> None:
        self.say = say
        self.told: list[tuple[str, str, str]] = []
        self.asked = 0
        self.clock = ManualClock(0.0)
        patch.setattr(continuing, "fetch", self.fetch)
        targets = cast(Targets, self)
        self.continuing = Continuing(lambda _: nodes, targets, self.clock, asyncio.get_running_loop())
        self.continuing.tell = lambda *finding: self.told.append(finding)

    def of(self, node: NodeSpec) -> NodeSpec:
        return node

    async def fetch(self, _target: object, path: str, _timeout_s: float, body: bytes) -> Fetched:
        assert path == "/v1/chat/completions"
        self.asked += 1
        content = self.say(json.loads(body))
        return Fetched(200, json.dumps({"choices": [{"message": {"content": content}}]}).encode())

    async def settle(self) -> bool:
        self.continuing.trusts("m")
        await asyncio.gather(*self.continuing._running.values())
        return self.continuing.trusts("m")


A = NodeSpec(url="http://a", engine="vllm"), True
B = NodeSpec(url="http://b", engine="vllm"), True
C = NodeSpec(url="http://e", engine="vllm"), True
AWAY_VLLM = NodeSpec(url="http://f", engine="vllm"), False
OTHER = NodeSpec(url="http://c", engine="sglang"), True
AWAY = NodeSpec(url="http://d", engine="sglang"), False


async def test_equal_answers_are_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, faithful, A, B)
    assert not scene.continuing.trusts("m")
    assert await scene.settle()
    assert scene.told == [("m", "vllm", "faithful")]


async def test_a_template_that_trims_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, trimming, A)
    assert not await scene.settle()
    assert scene.told == [("m", "vllm", "unfaithful")]


async def test_every_kind_of_engine_must_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await Scene(monkeypatch, faithful, A, OTHER).settle()
    assert not await Scene(monkeypatch, faithful, A, AWAY).settle()
    assert not await Scene(monkeypatch, faithful).settle()


async def test_a_finding_holds_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch, faithful, A)
    await scene.settle()
    asked = scene.asked
    assert await scene.settle()
    assert scene.asked == asked
    scene.clock.advance_to(VALID_S)
    assert await scene.settle(), "what was found holds while it is tried anew"
    assert scene.asked == 2 * asked


async def test_who_cannot_answer_is_asked_again_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: dict[str, Any]) -> str:
        raise FetchFailed("reset")

    scene = Scene(monkeypatch, fails, A)
    assert not await scene.settle()
    scene.say = faithful
    assert not await scene.settle()
    scene.clock.advance_to(LOST_AGAIN_S)
    assert await scene.settle()
    assert [result for _, _, result in scene.told] == ["failed", "faithful"]
    assert "asking node http://a whether it continues chats of m: reset" in caplog.text


async def test_a_node_that_dies_when_asked_leaves_the_answer_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [1, 2]

    def dies_once(body: dict[str, Any]) -> str:
        if left:
            left.pop()
            raise FetchFailed("reset")
        return faithful(body)

    scene = Scene(monkeypatch, dies_once, A, AWAY_VLLM, B, C)
    assert await scene.settle()
    assert scene.told == [("m", "vllm", "faithful")]


async def test_who_answers_what_is_no_answer_is_left_alone_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: dict[str, Any]) -> str:
        raise ValueError("status 400")

    scene = Scene(monkeypatch, refuses, A)
    assert not await scene.settle()
    asked = scene.asked
    scene.clock.advance_to(AGAIN_S - 1.0)
    assert not await scene.settle()
    assert scene.asked == asked
    scene.clock.advance_to(AGAIN_S)
    await scene.settle()
    assert scene.asked > asked


def test_the_question() -> None:
    body = json.loads(question("m", "one", 5))
    assert (body["continue_final_message"], body["add_generation_prompt"], body["max_tokens"]) == (True, False, 5)
    assert body["messages"][-1] == {"role": "assistant", "content": "one"}
    assert "continue_final_message" not in json.loads(question("m", None, 5))
