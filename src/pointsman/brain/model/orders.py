"""What the brain asks its driver to do. The driver obeys and reports back; it decides nothing."""

import msgspec

from pointsman.brain.model.commands import Command
from pointsman.brain.model.errors import PointsmanError
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.sharing import Share
from pointsman.brain.model.start import Start

__all__ = ["Abort", "Instruct", "Order", "Probe", "Refuse", "Start", "Tell", "Wait", "Warm"]


class Wait(msgspec.Struct, frozen=True, gc=False):
    """The ticket is queued at `position` (1 = next)."""

    ticket: int
    position: int


class Refuse(msgspec.Struct, frozen=True):
    """Tell the client `error`; the ticket is over."""

    ticket: int
    error: PointsmanError


class Abort(msgspec.Struct, frozen=True, gc=False):
    """Stop the work under `lease` and report how it ended: as the node's failure, or as an interruption of ours.

    With `spares` only if its client does not lose by it: what has begun and could not go on elsewhere is left alone.
    """

    lease: int
    why: str
    interrupts: bool = False
    spares: bool = False


class Probe(msgspec.Struct, frozen=True, gc=False):
    """Ask the node how it is, now."""

    node: NodeSpec


class Warm(msgspec.Struct, frozen=True, gc=False):
    """Send the first `links` links of the ticket's prompt, about `tokens` tokens, to `node` and ask for one token.

    However that ends, the brain is told (`warmed`), by the number `warm`. Ticket 0: the prompt of whoever asked for it.
    """

    warm: int
    ticket: int
    node: NodeSpec
    links: int
    tokens: int


class Instruct(msgspec.Struct, frozen=True, gc=False):
    """Have the engine at `node`, which obeys, carry `commands` out, in order.

    However that ends, the brain is told (`obeyed`), by `number`. Those of one node are to arrive in their order.
    """

    number: int
    node: NodeSpec
    commands: tuple[Command, ...]


class Tell(msgspec.Struct, frozen=True, gc=False):
    """Tell the other gateways before the same nodes."""

    share: Share


Order = Start | Wait | Refuse | Abort | Probe | Warm | Instruct | Tell
