"""What gateways before the same nodes tell each other."""

import msgspec

from pointsman.brain.model.reports import ClientReport


class Booked(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What leases hold on a node. The fields are those columns of the fleet, in whole numbers."""

    outstanding: int = 0
    running: int = 0
    backlog_tokens: int = 0
    context_tokens: int = 0
    kv_reserved: int = 0


SHARED = Booked.__struct_fields__


class Sent(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A prompt was sent to `node`: the links of its chain, 8 bytes each in native order, and the tokens of a link."""

    node: str
    links: bytes
    tokens_per_link: float


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one gateway tells.

    Shares are numbered from 1. `booked` has its own bookings on the nodes where they changed since it last told,
    `sent` the prompts since, `waiting` the models for whose nodes it has requests waiting, sorted. `feedback` is what
    clients said here of requests that another gateway must have served.
    """

    number: int
    booked: dict[str, Booked] = {}
    sent: list[Sent] = []
    waiting: tuple[str, ...] = ()
    feedback: list[ClientReport] = []


class Known(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A node's bookings in one round: those of all `others`, and how many outstanding requests it counts as `ours`."""

    others: Booked
    ours: int = 0


class PeerReport(msgspec.Struct, frozen=True, kw_only=True):
    """What one gateway hears of the others in one round.

    `gateways` counts it too; `counted` is its own last share that is in the sums (0: none); `nodes` has those where
    anything changed since it last heard; `waiting` says how many of the others have requests waiting for a model.
    """

    gateways: int
    counted: int = 0
    nodes: dict[str, Known] = {}
    sent: list[Sent] = []
    waiting: dict[str, int] = {}
    feedback: list[ClientReport] = []
