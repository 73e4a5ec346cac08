"""What supervisor and workers say to each other, as values and as bytes.

Every message is a length (4 bytes, big-endian) and a msgpack value that names its kind. Both ends are one program,
started by the same supervisor, so there is nothing to negotiate.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from pointsman.brain.model.sharing import PeerReport, Sent, Share
from pointsman.config.serve import ServeConfig
from pointsman.observe.fleet_reading import FleetReading
from pointsman.observe.tally import Tally

_LENGTH = 4


class _Message(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Encoded as an array that begins with the kind's name."""


class Question(_Message, frozen=True):
    """A call of the admin API: a route's method and path, and what it was asked with, as msgpack where it is a value.

    `id` finds the question that an answer belongs to.
    """

    id: int
    method: str
    path: str
    which: str = ""
    query: bytes = b""
    body: bytes = b""


class Answer(_Message, frozen=True):
    """The answer to one question: a value as msgpack, or an error's status, code and text."""

    id: int
    value: bytes = b""
    status: int = 200
    code: str = ""
    text: str = ""


class Welcome(_Message, frozen=True):
    """The first message to a worker: which one it is, the file number of its listening socket, what all have in common.

    `changes` are the changes made by the admin API so far, to be made again.
    """

    number: int
    listener: int
    chain_secret: bytes
    config: ServeConfig
    changes: list[Question]


class Ready(_Message, frozen=True):
    """A worker serves."""


class Told(_Message, frozen=True):
    """A worker tells the others."""

    share: Share


class Heard(_Message, frozen=True):
    """A worker hears of the others."""

    report: PeerReport


class Count(_Message, frozen=True):
    """A worker is asked what it has counted, and how it sees the fleet."""

    id: int


class Counted(_Message, frozen=True):
    """What a worker has counted, as the answer to `id`; 0 on leaving, unasked."""

    id: int
    tally: Tally
    reading: FleetReading


class Recall(_Message, frozen=True):
    """A worker is asked what it believes that the nodes have cached."""

    id: int


class Recalled(_Message, frozen=True):
    """What it believes: the prompts that lead to it."""

    id: int
    sent: list[Sent]


class Retire(_Message, frozen=True):
    """Another worker serves the same socket: leave, without refusing anybody."""


class Stop(_Message, frozen=True):
    """Stop gently; told again: at once."""


class Configure(_Message, frozen=True):
    """Go by these settings from now on."""

    config: ServeConfig


ToWorker = Welcome | Heard | Question | Count | Recall | Retire | Stop | Configure
ToSupervisor = Ready | Told | Answer | Counted | Recalled

_encode = msgspec.msgpack.Encoder().encode


def packed(message: ToWorker | ToSupervisor) -> bytes:
    """The message as it travels."""
    body = _encode(message)
    return len(body).to_bytes(_LENGTH, "big") + body


class Unpacker:
    """Bytes in whatever pieces, to messages of one direction."""

    def __init__(self, kind: Any) -> None:
        self._decode = msgspec.msgpack.Decoder(kind).decode
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """The messages that `data` completes. Raises msgspec.DecodeError for what is none."""
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _LENGTH:
            end = start + _LENGTH + int.from_bytes(buffer[start : start + _LENGTH], "big")
            if len(buffer) < end:
                break
            yield self._decode(memoryview(buffer)[start + _LENGTH : end].tobytes())
            start = end
        del buffer[:start]
