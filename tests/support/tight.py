"""A fleet whose memory one can count: nodes of 100 blocks of 16 tokens, requests that take a given number of them."""

from tests.support.driver import TestDriver

from pointsman.brain.model.orders import Abort, Order
from pointsman.brain.model.outcome import Outcome, Verdict

BLOCKS = 100
BLOCK = 16
OUTPUT = 16


class TightDriver(TestDriver):
    """As a gateway with streams that can be resumed: who is asked to leave has got `cut_after` tokens by then.

    With `deaf`, who is asked does not leave; `asked` are their leases in order.
    """

    __test__ = False

    def __init__(self, *nodes: str, cut_after: int = 0, **settings: object) -> None:
        super().__init__("greedy", **{"preemption": "on"} | settings)
        self.cut_after = cut_after
        self.deaf = False
        self.asked: list[int] = []
        for node in nodes:
            self.add(node, slots=64, kv_tokens=BLOCKS * BLOCK, block_tokens=BLOCK)

    def ask(self, blocks: int, priority: float = 1.0, **more: object) -> int:
        """The ticket of a request that takes `blocks` with its answer."""
        settings: dict[str, object] = {"max_tokens": OUTPUT, "resumable": True}
        return self.submit(tokens=blocks * BLOCK - OUTPUT, priority=priority, **settings | more)

    def obey(self, orders: list[Order]) -> None:  # type: ignore[override]
        for order in orders:
            if not (isinstance(order, Abort) and order.spares):
                super().obey([order])
                continue
            self.asked.append(order.lease)
            if not self.deaf:
                self.give_way(order.lease, order.why)

    def give_way(self, lease: int, why: str) -> None:
        """The stream is cut behind what was delivered."""
        begun = self.cut_after > 0
        outcome = Outcome(
            verdict=Verdict.INTERRUPTED, reason=why, delivered=begun, resumable=begun, new_tokens=self.cut_after
        )
        self.finish(lease, outcome)

    def free(self, node: str) -> float:
        """Blocks that nobody has or was promised."""
        return self.dispatcher.placement.pool.room(self.dispatcher.fleet.row_of[node])
