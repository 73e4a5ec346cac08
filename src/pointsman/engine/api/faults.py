"""Faults on demand: what engines and networks do to a gateway, switched on over the admin API."""

import os
import socket
import struct
from typing import Annotated, Literal

import msgspec
from aiohttp import web
from msgspec import Meta
from xxhash import xxh3_64_intdigest

from pointsman.engine.api.errors import ApiError

Kind = Literal[
    "refuse",
    "hang_before_headers",
    "slow",
    "die_after_events",
    "reset_after_events",
    "inband_error",
    "status",
    "garbage",
]
GARBAGE = b"\x00\xff\x13garbage, not HTTP\r\n\r\n"
INBAND_ERROR = (
    b'data: {"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError",'
    b'"param":null,"code":500}}\n\n'
    b"data: [DONE]\n\n"
)
_EXIT_STATUS = 137  # what a process killed by the kernel for its memory leaves


class Fault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One fault. `count` requests meet it (null: until cleared), or the given `fraction` of requests.

    `n` is the number of events a stream sends before it breaks; `seconds` (wall time) ends `refuse`,
    `hang_before_headers` and `slow` by itself.
    """

    kind: Kind
    n: Annotated[int, Meta(ge=0)] = 0
    factor: Annotated[float, Meta(gt=0)] = 1.0
    status: Annotated[int, Meta(ge=200, le=599)] = 500
    count: Annotated[int, Meta(ge=1)] | None = None
    fraction: Annotated[float, Meta(gt=0, le=1)] = 1.0
    seconds: Annotated[float, Meta(gt=0)] | None = None


class FaultBoard:
    """The faults in force. `draw` is asked once for every inference request."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._requests = 0

    def add(self, fault: Fault) -> None:
        self._faults.append(fault)

    def clear(self) -> None:
        self._faults.clear()

    def active(self) -> list[Fault]:
        return list(self._faults)

    def draw(self) -> Fault | None:
        """The fault this request meets. Which of the requests a `fraction` meets is fixed by their number."""
        self._requests += 1
        for fault in self._faults:
            if self._share() < fault.fraction:
                if fault.count is not None:
                    fault.count -= 1
                    if fault.count <= 0:
                        self._faults.remove(fault)
                return fault
        return None

    def _share(self) -> float:
        return xxh3_64_intdigest(self._requests.to_bytes(8, "big")) / 2**64


def break_connection(request: web.Request, fault: Fault) -> None:
    """End the connection, or the process, as the fault says."""
    if fault.kind == "die_after_events":
        os._exit(_EXIT_STATUS)
    transport = request.transport
    if transport is None:
        return
    if fault.kind == "garbage":
        transport.write(GARBAGE)
        transport.close()
        return
    peer = transport.get_extra_info("socket")
    if peer is not None:  # a zero linger time makes closing send a reset
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def refused(fault: Fault) -> ApiError:
    """The error for a fault of kind `status`."""
    names = {429: "RateLimitError", 503: "ServiceUnavailableError"}
    return ApiError(
        "The emulated engine was told to fail.", fault.status, names.get(fault.status, "InternalServerError")
    )
