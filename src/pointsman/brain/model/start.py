"""The order that every request leads to; a plain class for the same reasons as the milestones."""

from mypy_extensions import mypyc_attr

from pointsman.brain.model.node import NodeSpec


@mypyc_attr(acyclic=True)
class Start:
    """Send the ticket's request to `node` under `lease`; `attempt` counts from 1.

    `first_token_s` is how long (seconds) the driver waits for the first token of a stream before it gives up.
    """

    __slots__ = ("attempt", "first_token_s", "lease", "node", "ticket")

    def __init__(self, ticket: int, lease: int, node: NodeSpec, attempt: int, first_token_s: float) -> None:
        self.ticket = ticket
        self.lease = lease
        self.node = node
        self.attempt = attempt
        self.first_token_s = first_token_s
