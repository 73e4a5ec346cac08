"""Immutable events the brain emits for observers: metrics, recorders, pages. Decision code never logs.

Those that every request leads to are milestones, in a module of their own that is compiled.
"""

import msgspec

from pointsman.brain.model.commands import Carried, Command
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.milestones import Decided, Ended, FirstToken, Placed
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.request import Request

__all__ = [
    "CacheReported",
    "Decided",
    "Emptied",
    "Ended",
    "Fact",
    "FedBack",
    "FirstToken",
    "Instructed",
    "Interrupted",
    "LoadUnknown",
    "NodeChanged",
    "PanicChanged",
    "Placed",
    "PolicyChanged",
    "PolicyRaised",
    "ProbeFailed",
    "Queued",
    "Refused",
    "ResidencyChanged",
    "Resumed",
    "RoomMade",
    "Warmed",
]


class Queued(msgspec.Struct, frozen=True, gc=False):
    """A request waits at `position` (1 = next) of its queue; `expected_s` more, by the pace of late, if it is known."""

    now: float
    ticket: int
    request: Request
    position: int
    expected_s: float | None = None


class Interrupted(msgspec.Struct, frozen=True, gc=False):
    """A lease ended before its answer was complete, `tokens` of which the client has; `resumed` if it goes on."""

    now: float
    ticket: int
    lease: int
    request: Request
    node: str
    cause: str
    tokens: int
    resumed: bool


class Resumed(msgspec.Struct, frozen=True, gc=False):
    """The first token came of the rest of an answer, `gap_s` after it was interrupted, `tokens` in."""

    now: float
    ticket: int
    lease: int
    request: Request
    node: str
    tokens: int
    gap_s: float


class RoomMade(msgspec.Struct, frozen=True, gc=False):
    """`leases` are asked to leave `node`, where a waiting request gets their `blocks`; `seconds` are what that costs.

    `cause` is "preempted", where it is the more urgent one, or "defragmented", where all of them find room elsewhere.
    """

    now: float
    ticket: int
    request: Request
    node: str
    cause: str
    leases: tuple[int, ...]
    blocks: int
    seconds: float


class Emptied(msgspec.Struct, frozen=True, gc=False):
    """`leases` are asked to leave `node` at low load, that its memory be free in one piece for requests for `model`.

    They give up `blocks`, and take `seconds` to be computed again.
    """

    now: float
    model: str
    node: str
    leases: tuple[int, ...]
    blocks: int
    seconds: float


class Refused(msgspec.Struct, frozen=True, gc=False):
    """A request ended without an answer from a node: an error, or its client left while it waited."""

    now: float
    ticket: int
    request: Request
    code: str
    status: int


class Warmed(msgspec.Struct, frozen=True, gc=False):
    """A hot prefix of `tokens` was sent to `node`, and took `seconds`; not `ok` if the node did not compute it."""

    now: float
    node: str
    model: str
    tokens: int
    seconds: float
    ok: bool


class Instructed(msgspec.Struct, frozen=True, gc=False):
    """A node that obeys was told what to do with its cache; `lost` links had gone unasked before."""

    now: float
    node: str
    commands: tuple[Command, ...]
    done: tuple[Carried, ...]
    lost: int
    ok: bool


class ResidencyChanged(msgspec.Struct, frozen=True, gc=False):
    """It is known in another way from now on what a node has cached, or cannot be known as it is declared: why."""

    now: float
    node: str
    residency: str
    reason: str


class NodeChanged(msgspec.Struct, frozen=True, gc=False):
    """A node moved between states of its health table; `reason` is why its probe or request failed, if one did."""

    now: float
    node: str
    before: str
    after: str
    event: str
    reason: str = ""
    url: str = ""


class ProbeFailed(msgspec.Struct, frozen=True, gc=False):
    """A probe of a node that is `state` failed, or found no models; a change of the state is told after it."""

    now: float
    node: str
    state: str
    reason: str
    url: str = ""


class LoadUnknown(msgspec.Struct, frozen=True, gc=False):
    """A good probe of a node told nothing of its load: only our own account of it is known."""

    now: float
    node: str


class FedBack(msgspec.Struct, frozen=True, gc=False):
    """A client said of a request that ended how good its answer was; `counted` if that counts against `node`."""

    now: float
    node: str
    report: ClientReport
    counted: bool


class CacheReported(msgspec.Struct, frozen=True, gc=False):
    """A node told how its cache changed."""

    now: float
    change: CacheChange


class PanicChanged(msgspec.Struct, frozen=True, gc=False):
    """Too few of the nodes that should serve `model` are in use, so all that do not refuse are; or no longer so."""

    now: float
    model: str
    panic: bool
    in_use: int
    nodes: int


class PolicyRaised(msgspec.Struct, frozen=True):
    """A policy's `call` ("choose" or "pick") raised `error` over `request`."""

    now: float
    policy: str
    call: str
    request: Request
    error: Exception


class PolicyChanged(msgspec.Struct, frozen=True, gc=False):
    """`policy` decides for `scope` from now on; "" where the scope was dropped."""

    now: float
    scope: str
    policy: str


Fact = (
    Decided
    | Placed
    | Queued
    | FirstToken
    | Ended
    | Interrupted
    | Resumed
    | RoomMade
    | Emptied
    | Refused
    | Warmed
    | Instructed
    | ResidencyChanged
    | NodeChanged
    | ProbeFailed
    | LoadUnknown
    | FedBack
    | CacheReported
    | PanicChanged
    | PolicyChanged
    | PolicyRaised
)
