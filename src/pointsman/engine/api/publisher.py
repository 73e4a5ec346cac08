"""Publishes KV events over ZMQ as vLLM does: every batch to whoever listens, and the last ones again when asked."""

import asyncio
from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import msgspec

from pointsman.clock import unix_seconds
from pointsman.engine.kv_events import BlockRemoved, BlockStored, KvEvent, KvEventBatch
from pointsman.engine.text.tokens import to_ids

KEPT_BATCHES: Final = 10_000
"""For replays; vLLM's default."""
END: Final = (-1).to_bytes(8, "big", signed=True)

Texts = Callable[[int], bytes]
"""The text of a block, by its hash."""


class Publisher:
    """Binds `events` and, unless empty, `replay`. Made on the running loop.

    Raises ImportError without pyzmq, OSError with the address as its `filename` if that cannot be had.
    """

    def __init__(self, events: str, replay: str) -> None:
        self._zmq: Any = import_module("zmq")
        self._loop = asyncio.get_running_loop()
        self._kept: deque[tuple[int, bytes]] = deque(maxlen=KEPT_BATCHES)
        self._published = self._bound(self._zmq.PUB, events)
        self._replays = self._bound(self._zmq.ROUTER, replay) if replay else None
        if self._replays is not None:
            self._loop.add_reader(self._replays.getsockopt(self._zmq.FD), self._answer)
            self._loop.call_soon(self._answer)

    @property
    def address(self) -> str:
        """Where events are published, also if the port was left to the system."""
        return self._address(self._published)

    @property
    def replay_address(self) -> str:
        """Where they can be asked for again; "" if nowhere."""
        return self._address(self._replays) if self._replays is not None else ""

    def publish(self, batch: KvEventBatch, texts: Texts) -> None:
        """Send a step's events; `texts` knows every block that was stored."""
        events = [_event(event, texts) for event in batch.events]
        payload = msgspec.msgpack.encode([unix_seconds(), events, 0])
        self._kept.append((batch.sequence, payload))
        self._published.send_multipart([b"", batch.sequence.to_bytes(8, "big"), payload])

    def close(self) -> None:
        """Stop; what was not sent yet is lost."""
        if self._replays is not None:
            self._loop.remove_reader(self._replays.getsockopt(self._zmq.FD))
            self._replays.close()
        self._published.close()

    def _bound(self, kind: int, address: str) -> Any:
        socket = self._zmq.Context.instance().socket(kind)
        socket.setsockopt(self._zmq.LINGER, 0)
        socket.setsockopt(self._zmq.SNDHWM, 2 * KEPT_BATCHES)
        try:
            socket.bind(address)
        except self._zmq.ZMQError as error:
            socket.close()
            raise OSError(error.errno, error.strerror, address) from None
        return socket

    def _address(self, socket: Any) -> str:
        address: bytes = socket.getsockopt(self._zmq.LAST_ENDPOINT)
        return address.rstrip(b"\0").decode()

    def _answer(self) -> None:
        """Send again what is asked for, each batch with its number, then the end."""
        while self._replays is not None and not self._replays.closed:
            try:
                frames = self._replays.recv_multipart(self._zmq.DONTWAIT)
            except self._zmq.Again:
                return
            if len(frames) != 3:
                continue
            client, start = frames[0], int.from_bytes(frames[2], "big")
            for sequence, payload in self._kept:
                if sequence >= start:
                    self._replays.send_multipart([client, b"", b"", sequence.to_bytes(8, "big"), payload])
            self._replays.send_multipart([client, b"", b"", END, b""])


def _event(event: KvEvent, texts: Texts) -> dict[str, Any]:
    if isinstance(event, BlockStored):
        return {
            "type": "BlockStored",
            "block_hashes": event.hashes,
            "parent_block_hash": event.parent,
            "token_ids": [token for block in event.hashes for token in to_ids(texts(block))],
            "block_size": event.block_size,
            "lora_id": None,
            "medium": "GPU",
            "lora_name": None,
            "extra_keys": [None] * len(event.hashes),
            "group_idx": 0,
            "kv_cache_spec_kind": "full_attention",
        }
    if isinstance(event, BlockRemoved):
        return {"type": "BlockRemoved", "block_hashes": event.hashes, "medium": "GPU", "group_idx": 0}
    return {"type": "AllBlocksCleared"}
