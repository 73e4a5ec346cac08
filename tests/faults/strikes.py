"""What each fault does to a connection, at whatever moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from pointsman.wire.sse import EVENT_LIMIT

from .cells import Fault, Phase
from .peer import Peer

if TYPE_CHECKING:
    from .node import Node, Plan
    from .relay import Relay

LATE_S = 0.25
PACE_S = 0.06
NOT_HTTP = b"\x00\xff\x13garbage, not HTTP\r\n\r\n"
IN_BAND_BODY = b'{"error":{"message":"out of memory","type":"InternalServerError","param":null,"code":500}}'
IN_BAND_EVENTS = (b"data: %b\n\n" % IN_BAND_BODY, b"data: [DONE]\n\n")
_CHUNK_HEAD = b"HTTP/1.1 200 OK\r\nx-filler: "
_SLICES = {Fault.SLICED: (89, 0.0), Fault.TRICKLE: (233, 0.015)}  # bytes, and seconds after each
_TORN = b"data: {"
_PIECE = 1024 * 1024
_HEAD_BYTES = 128 * 1024


def status_body(status: int) -> bytes:
    return b'{"error":{"message":"told to fail","type":"server_error","param":null,"code":%d}}' % status


def status_answer(status: int, extra: bytes = b"") -> bytes:
    body = status_body(status)
    head = b"HTTP/1.1 %d Told\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n"
    return head % (status, len(body), extra) + body


class Answered(Exception):
    """The fault was a whole answer, in place of the engine's."""


async def strike(relay: Relay, plan: Plan, phase: Phase) -> None:
    """Let the fault befall the request. Returns if the answer goes on; else raises Answered, or holds it for ever."""
    await _FAULTS[plan.fault](relay, plan, phase)


async def strike_connection(node: Node, peer: Peer, plan: Plan) -> None:
    """Let the fault befall a connection that was just accepted, before anything is read from it."""
    if plan.fault is Fault.RESET:
        peer.reset()
    elif plan.fault is Fault.FIN:
        peer.finish_sending()
    elif plan.fault is Fault.STOPPED:
        node.engine.stop()
    elif plan.fault is Fault.GARBAGE:
        peer.write(NOT_HTTP)
    elif plan.fault.isdigit():
        peer.write(status_answer(int(plan.fault), b"connection: close\r\n"))
        peer.finish()
    await _hold(node, peer, plan)


def stray(fault: Fault) -> bytes:
    """What the fault leaves on an idle connection."""
    if fault.isdigit():
        return status_answer(int(fault))
    if fault is Fault.IN_BAND:
        return b"".join(IN_BAND_EVENTS)
    if fault is Fault.CUT_CHUNK:
        return b"40\r\n" + _TORN
    return _CHUNK_HEAD + b"x" * _HEAD_BYTES if fault is Fault.OVERSIZE else NOT_HTTP


async def _hold(node: Node, peer: Peer, plan: Plan) -> None:
    """Say nothing more; when the fault is over, the connection is too."""
    plan.struck.set()
    await node.well.wait()
    peer.reset()


async def _silence(relay: Relay, plan: Plan, phase: Phase) -> None:
    await _hold(relay.node, relay.peer, plan)
    raise Answered


async def _stop(relay: Relay, plan: Plan, phase: Phase) -> None:
    relay.node.engine.stop()
    await _silence(relay, plan, phase)


async def _vanish(relay: Relay, plan: Plan, phase: Phase) -> None:
    await relay.node.vanish()
    await _silence(relay, plan, phase)


async def _late(relay: Relay, plan: Plan, phase: Phase) -> None:
    plan.struck.set()
    await asyncio.sleep(LATE_S)


async def _slowly(relay: Relay, plan: Plan, phase: Phase) -> None:
    plan.struck.set()
    relay.pace = PACE_S


async def _in_slices(relay: Relay, plan: Plan, phase: Phase) -> None:
    plan.struck.set()
    relay.slices = _SLICES[plan.fault]


async def _close_late(relay: Relay, plan: Plan, phase: Phase) -> None:
    plan.struck.set()
    relay.framing = "close"


async def _reset(relay: Relay, plan: Plan, phase: Phase) -> None:
    relay.peer.reset()
    await _silence(relay, plan, phase)


async def _fin(relay: Relay, plan: Plan, phase: Phase) -> None:
    relay.peer.finish()
    await _silence(relay, plan, phase)


async def _cut(relay: Relay, plan: Plan, phase: Phase) -> None:
    if phase is Phase.AFTER_DONE:
        relay.peer.write(b"0\r")
    elif phase is Phase.AFTER_HEADERS:
        relay.peer.write(b"40")  # inside its size, before any byte of it
    else:
        relay.peer.write(b"40\r\n" + _TORN)
        relay.forwarded += _TORN
    await _fin(relay, plan, phase)


async def _in_band(relay: Relay, plan: Plan, phase: Phase) -> None:
    for piece in IN_BAND_EVENTS if relay.stream else (IN_BAND_BODY,):
        await relay.send(piece)
    relay.peer.write(b"0\r\n\r\n")
    plan.struck.set()
    raise Answered


async def _status(relay: Relay, plan: Plan, phase: Phase) -> None:
    relay.peer.write(status_answer(int(plan.fault)))
    plan.struck.set()
    raise Answered


async def _garbage(relay: Relay, plan: Plan, phase: Phase) -> None:
    relay.peer.write(NOT_HTTP)
    await _silence(relay, plan, phase)


async def _oversize(relay: Relay, plan: Plan, phase: Phase) -> None:
    plan.struck.set()  # now: the gateway may end the connection before all is said
    if phase is Phase.BEFORE_HEADERS:
        relay.peer.write(_CHUNK_HEAD + b"x" * _HEAD_BYTES)
    elif relay.stream and phase is not Phase.AFTER_DONE:
        await _endless_event(relay.peer)
    else:
        relay.peer.write(b"F" * 40 + b"\r\n")
    await _silence(relay, plan, phase)


async def _endless_event(peer: Peer) -> None:
    peer.write(b"%x\r\ndata: " % (EVENT_LIMIT + _PIECE))
    for _ in range(EVENT_LIMIT // _PIECE):
        peer.write(b"x" * _PIECE)
        await asyncio.sleep(0)


_FAULTS: dict[Fault, Callable[[Relay, Plan, Phase], Awaitable[None]]] = {
    Fault.SILENCE: _silence,
    Fault.STOPPED: _stop,
    Fault.BLACK_HOLE: _vanish,
    Fault.SLOW_HEADERS: _late,
    Fault.SLOW_TOKENS: _slowly,
    Fault.SLICED: _in_slices,
    Fault.TRICKLE: _in_slices,
    Fault.SLOW_CLOSE: _close_late,
    Fault.RESET: _reset,
    Fault.FIN: _fin,
    Fault.CUT_CHUNK: _cut,
    Fault.IN_BAND: _in_band,
    Fault.STATUS_429: _status,
    Fault.STATUS_503: _status,
    Fault.STATUS_500: _status,
    Fault.GARBAGE: _garbage,
    Fault.OVERSIZE: _oversize,
}
