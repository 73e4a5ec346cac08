"""What is asked: reproducible requests, each with the very text its answer must have.

An emulated engine writes words that follow from the prompt alone, so the client can tell a lost, repeated or reordered
token from a right one without asking anybody.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointsman.engine.text.template import Message, render
from pointsman.engine.text.tokens import split
from pointsman.engine.text.words import Writer
from pointsman.engine.virtual import Sample

MODEL = "m"
PATH = "/v1/chat/completions"
SYSTEM_PROMPTS = 16
_WORDS = ("signal", "points", "siding", "platform", "guard", "whistle", "coach", "tender", "semaphore", "junction")


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: `body` as sent, and the `text` of its right answer of `tokens` tokens."""

    id: str
    body: bytes
    stream: bool
    tokens: int
    text: str
    prompt_tokens: int

    def head(self, *lines: str) -> bytes:
        """Request line and headers; `lines` are further headers."""
        fields = [
            f"POST {PATH} HTTP/1.1",
            "host: scene",
            "content-type: application/json",
            f"x-request-id: {self.id}",
            f"content-length: {len(self.body)}",
            *lines,
        ]
        return "\r\n".join([*fields, "", ""]).encode()

    @property
    def sample(self) -> Sample:
        """Its size, as the engine's core counts it."""
        return Sample(self.prompt_tokens, self.tokens)


@dataclass(frozen=True, slots=True)
class Shape:
    """How requests are drawn: answer lengths and prompt sizes are uniform over (least, most)."""

    tokens: tuple[int, int]
    prompt_words: tuple[int, int] = (20, 200)
    plain_share: float = 0.0
    model: str = MODEL


class Asks:
    """Draws requests: equal seeds give equal requests. Their ids begin with `prefix`."""

    def __init__(self, shape: Shape, seed: int, prefix: str = "ask") -> None:
        self._shape = shape
        self._random = np.random.default_rng(seed)
        self._prefix = prefix
        self._number = 0

    def next(self, *, stream: bool | None = None, tokens: int | None = None, model: str | None = None) -> Ask:
        """The next request; what is given is not drawn."""
        shape, random = self._shape, self._random
        self._number += 1
        drawn_stream = bool(random.random() >= shape.plain_share)
        drawn_tokens = int(random.integers(shape.tokens[0], shape.tokens[1], endpoint=True))
        words = int(random.integers(*shape.prompt_words, endpoint=True))
        name = f"{self._prefix}-{self._number}"
        return make(
            name,
            [
                {"role": "system", "content": f"House rules {random.integers(SYSTEM_PROMPTS)}. " + _text(words // 2)},
                {"role": "user", "content": f"{name}: {_text(words - words // 2)}"},
            ],
            drawn_stream if stream is None else stream,
            tokens or drawn_tokens,
            model or shape.model,
        )

    def gap(self, rate: float) -> float:
        """Seconds to the next arrival of a Poisson process."""
        return float(self._random.exponential(1.0 / rate))


def make(name: str, messages: list[dict[str, str]], stream: bool, tokens: int, model: str = MODEL) -> Ask:
    """A request for exactly `tokens` tokens."""
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        "max_tokens": tokens,
        "emulator": {"output_tokens": tokens},
        "stream": stream,
    }
    prompt = render([Message(**message) for message in messages])
    writer = Writer(prompt, 1)
    text = b"".join(writer.next(False) for _ in range(tokens)).decode()
    return Ask(name, json.dumps(body).encode(), stream, tokens, text, len(split(prompt)))


def _text(words: int) -> str:
    return " ".join(_WORDS[i % len(_WORDS)] for i in range(words))
