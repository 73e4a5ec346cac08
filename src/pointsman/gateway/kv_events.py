"""Listens to the KV events of nodes over ZMQ, and asks for those that were missed.

A subscription follows one node (`brain/cache/following.py`). ZMQ reconnects by itself; a monitor tells of it, and then
all is asked for anew, since the engine may be another. Everything happens on the loop, as the sockets become readable,
for a short time at a time: requests go on in between. What follows from them is told once for each time.

`@tcp://...` is bound, for engines that connect to who listens; all other addresses are connected to.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

from pointsman.brain.cache.following import Follower
from pointsman.brain.cache.reported import Naming
from pointsman.brain.model.kv_events import CacheChange, KvBatch, Stored
from pointsman.brain.model.node import NodeSpec
from pointsman.wire.kv_events import MOST_BYTES, Malformed, read_message, read_replayed, replay_request

TURN_S: Final = 0.002
"""How long messages are read at a time; then whatever else waits on the loop goes first."""
COMPLAIN_S: Final = 10.0
"""Between two lines in the log about messages of one node that cannot be read."""
REPLAY_S: Final = 10.0
"""How long the end of a replay is waited for."""
REPLAY_PAUSE_S: Final = 1.0
"""Between two replays of one node: who loses messages all the time would else do nothing but repeat itself."""
RECEIVE_LIMIT: Final = 10_000
"""Messages that ZMQ keeps for us; what is beyond is lost, and asked for again."""
MOST_ADAPTERS: Final = 10_000
"""Names of adapters that are kept: who tells of more makes them up."""

_log = logging.getLogger(__name__)

Tell = Callable[[CacheChange], object]


class Listening:
    """The subscriptions of one gateway. `tell` is called with what changes, `adapters` are the LoRA adapters seen."""

    def __init__(self, loop: asyncio.AbstractEventLoop, naming: Naming, tell: Tell) -> None:
        self.adapters: set[str] = set()
        self._loop = loop
        self._naming = naming
        self._tell = tell
        self._open: dict[str, Subscription] = {}
        self._failed: set[tuple[str, str]] = set()

    def heed(self, node: NodeSpec) -> None:
        """Listen to a node that reports, as it is declared now. Cheap where nothing has changed."""
        open_one = self._open.get(node.name)
        reports = node.residency == "reported" and bool(node.kv_events)
        if open_one is not None and not (reports and open_one.is_of(node)):
            self.forget(node.name)
            open_one = None
        if reports and open_one is None:
            self._listen(node)

    def forget(self, node: str) -> None:
        """Listen to a node no more."""
        subscription = self._open.pop(node, None)
        if subscription is not None:
            subscription.close()

    def probed(self, node: str, started_at: float | None) -> None:
        """A probe told when the node's process began."""
        if node in self._open:
            self._open[node].probed(started_at)

    def stop(self) -> None:
        """Close all."""
        for node in tuple(self._open):
            self.forget(node)

    def _listen(self, node: NodeSpec) -> None:
        """Begin, or tell once that it cannot be: it is tried again with every probe, as addresses come free."""
        which = node.name, node.kv_events
        try:
            self._open[node.name] = Subscription(node, self._loop, self._naming, self._tell, self.adapters)
        except (ImportError, OSError) as error:
            if which not in self._failed:
                self._failed.add(which)
                _log.error("node %s: its KV events cannot be heard: %s; its cache is believed", node.name, error)
        else:
            self._failed.discard(which)


class Subscription:
    """One node's events. Raises ImportError without pyzmq, OSError for an address that cannot be had."""

    def __init__(
        self, node: NodeSpec, loop: asyncio.AbstractEventLoop, naming: Naming, tell: Tell, adapters: set[str]
    ) -> None:
        self._zmq: Any = import_module("zmq")
        self._parse_monitored: Any = import_module("zmq.utils.monitor").parse_monitor_message
        self._node = node
        self._loop = loop
        self._tell = tell
        self._adapters = adapters
        self._link_tokens = naming.chunk_tokens
        self._follower = Follower(node.name, naming, replays=bool(node.kv_replay))
        self._replay: Any = None
        self._replay_ends: asyncio.TimerHandle | None = None
        self._replayed_at = -REPLAY_PAUSE_S
        self._again: asyncio.Handle | None = None
        self._unread = 0
        self._complained_at = -COMPLAIN_S
        self._closed = False
        self._events = self._socket(self._zmq.SUB, self._on_events)
        self._monitor = self._monitored()  # before there is anything to be told of
        try:
            self._attach(self._events, node.kv_events)
        except OSError:
            self.close()
            raise

    def is_of(self, node: NodeSpec) -> bool:
        """Whether it listens where `node` is declared to publish."""
        mine = self._node
        return (mine.kv_events, mine.kv_replay, mine.rank) == (node.kv_events, node.kv_replay, node.rank)

    def probed(self, started_at: float | None) -> None:
        """A probe told when the node's process began."""
        self._ask(self._follower.process(started_at))

    def close(self) -> None:
        """Listen no more. May be repeated."""
        if self._closed:
            return
        self._closed = True
        self._end_replay()
        if self._again is not None:
            self._again.cancel()
        self._events.disable_monitor()
        for socket in (self._events, self._monitor):
            self._drop(socket)

    # Sockets

    def _socket(self, kind: int, readable: Callable[[], None]) -> Any:
        """A socket of the loop. Raises OSError."""
        zmq = self._zmq
        try:
            socket = zmq.Context.instance().socket(kind)
        except zmq.ZMQError as error:
            raise OSError(f"no socket can be had: {error.strerror}") from None
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MOST_BYTES)
        socket.setsockopt(zmq.IPV6, 1)
        socket.setsockopt(zmq.RCVHWM, RECEIVE_LIMIT)
        if kind == zmq.SUB:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        self._loop.add_reader(socket.getsockopt(zmq.FD), readable)
        return socket

    def _attach(self, socket: Any, address: str) -> None:
        """Bind or connect. Raises OSError."""
        try:
            if address.startswith("@"):
                socket.bind(address[1:])
            else:
                socket.connect(address)
        except self._zmq.ZMQError as error:
            raise OSError(f"{address}: {error.strerror}") from None

    def _monitored(self) -> Any:
        monitor = self._events.get_monitor_socket(self._zmq.EVENT_HANDSHAKE_SUCCEEDED)
        self._loop.add_reader(monitor.getsockopt(self._zmq.FD), self._on_monitor)
        self._loop.call_soon(self._on_monitor)
        return monitor

    def _drop(self, socket: Any) -> None:
        self._loop.remove_reader(socket.getsockopt(self._zmq.FD))
        socket.close()

    def _received(self, socket: Any) -> list[bytes] | None:
        """The next message, or None; the descriptor tells of new ones only after that."""
        try:
            frames: list[bytes] = socket.recv_multipart(self._zmq.DONTWAIT)
        except self._zmq.Again:
            return None
        return frames

    # What is heard

    def _on_monitor(self) -> None:
        if self._closed:
            return
        while (frames := self._received(self._monitor)) is not None:
            if self._parse_monitored(frames)["event"] == self._zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._end_replay()
                self._ask(self._follower.begin())

    def _on_events(self) -> None:
        self._again = None
        if self._closed:
            return
        start: int | None = None
        over = self._loop.time() + TURN_S
        while (frames := self._received(self._events)) is not None:
            asked = self._hear(frames)
            start = start if asked is None else asked
            if self._loop.time() >= over:
                self._again = self._loop.call_soon(self._on_events)
                break
        self._ask(start)

    def _hear(self, frames: list[bytes]) -> int | None:
        batch = read_message(frames, self._node.rank)
        if isinstance(batch, Malformed):
            self._misread(batch, replayed=False)
            return None
        self._note_adapters(batch)
        return self._follower.hear(batch)

    def _note_adapters(self, batch: KvBatch) -> None:
        for event in batch.events:
            if isinstance(event, Stored) and event.adapter and len(self._adapters) < MOST_ADAPTERS:
                self._adapters.add(event.adapter)

    def _misread(self, what: Malformed, *, replayed: bool) -> None:
        self._complain(what.reason)
        if what.sequence is not None:
            self._follower.misread(what.sequence, replayed=replayed)

    def _complain(self, reason: str) -> None:
        """Say so, or count what is not said as long as it was said of late."""
        now = self._loop.time()
        if now < self._complained_at + COMPLAIN_S:
            self._unread += 1
            return
        others = f" (and {self._unread:,} more since this was said last)" if self._unread else ""
        _log.warning("node %s: KV events that cannot be read: %s%s", self._node.name, reason, others)
        self._complained_at, self._unread = now, 0

    def _pass_on(self) -> None:
        change = self._follower.change()
        if change is not None:
            self._tell(change)

    # Replays

    def _ask(self, start: int | None) -> None:
        """Tell what is known, and ask for the batches from `start` on if that is a number."""
        self._pass_on()
        if start is None:
            return
        now = self._loop.time()
        if now < self._replayed_at + REPLAY_PAUSE_S:
            self._follower.replay_ended(answered=False)
            self._pass_on()
            return
        self._replayed_at = now
        try:
            self._replay = self._socket(self._zmq.DEALER, self._on_replay)
            self._attach(self._replay, self._node.kv_replay)
            self._replay.send_multipart(replay_request(start), self._zmq.DONTWAIT)
        except (OSError, self._zmq.ZMQError) as error:
            _log.warning("node %s: its KV events cannot be asked for again: %s", self._node.name, error)
            self._end_replay()
            return
        self._replay_ends = self._loop.call_later(REPLAY_S, self._end_replay)
        self._loop.call_soon(self._on_replay)

    def _on_replay(self) -> None:
        if self._replay is None:
            return
        over = self._loop.time() + TURN_S
        while (frames := self._received(self._replay)) is not None:
            batch = read_replayed(frames, self._node.rank)
            if batch is None:
                self._end_replay(answered=True)
                return
            if isinstance(batch, Malformed):
                self._misread(batch, replayed=True)
            else:
                self._note_adapters(batch)
                self._follower.replayed(batch)
            if self._loop.time() >= over:
                self._loop.call_soon(self._on_replay)
                break
        self._pass_on()

    def _end_replay(self, *, answered: bool = False) -> None:
        if self._replay_ends is not None:
            self._replay_ends.cancel()
            self._replay_ends = None
        if self._replay is not None:
            self._drop(self._replay)
            self._replay = None
        self._follower.replay_ended(answered=answered)
        if not self._closed:
            self._pass_on()
