"""A driver whose nodes obey: what each holds is kept beside the brain, which must know it exactly."""

from tests.support.driver import TestDriver

from pointsman.brain.cache.commanded import Commanded
from pointsman.brain.model.commands import Carried, Evict, Obeyed, SwapOut
from pointsman.brain.model.orders import Instruct, Order, Start

BLOCK = 16


class ObedientDriver(TestDriver):
    """`held` are the links of each node; `swapped` the requests whose blocks were to be copied. While `mute`,
    instructions are carried out and not answered."""

    __test__ = False

    def __init__(self, policy: str = "prefix_affinity", **settings: object) -> None:
        super().__init__(policy, **settings)
        self.held: dict[str, set[int]] = {}
        self.swapped: list[str] = []
        self.mute = False
        self.unanswered: list[Instruct] = []

    def add_obedient(self, name: str, blocks: int = 100, started_at: float | None = 1.0, **more: object) -> None:
        """A node that is commanded, of so many blocks of 16 tokens, and tells when its process began."""
        self.held[name] = set()
        self.add(name, residency="commanded", kv_tokens=blocks * BLOCK, block_tokens=BLOCK, **more)
        self.report(name, obeys=True, running=0, started_at=started_at)

    def commanded(self, name: str) -> Commanded:
        row = self.dispatcher.fleet.row_of[name]
        return self.dispatcher.placement.commanding._rows[row]

    def obey(self, orders: list[Order]) -> None:  # type: ignore[override]
        for order in orders:
            if isinstance(order, Start) and order.node.name in self.held:
                chain = self.dispatcher._tickets[order.ticket].request.chain
                self.held[order.node.name] |= set(chain.links if chain is not None else ())
        super().obey(orders)
        self.serve()

    def serve(self) -> None:
        """Carry out what nodes were told."""
        while self.instructed:
            order = self.instructed.pop(0)
            done = []
            for command in order.commands:
                links = set(command.links) if isinstance(command, Evict) else set()
                assert links <= self.held[order.node.name], "what is not held is to be evicted"
                self.held[order.node.name] -= links - self.in_use(order.node.name)
                if isinstance(command, SwapOut):
                    self.swapped.append(command.request)
                done.append(Carried(blocks=len(links) or 1))
            if self.mute:
                self.unanswered.append(order)
            else:
                self.obey(self.dispatcher.obeyed(Obeyed(number=order.number, ok=True, done=tuple(done)), self.now))
        self.known()

    def rest(self) -> None:
        """What was carried out silently is told in the end."""
        self.mute = False
        for order in self.unanswered:
            self.obeyed(order)
        super().rest()

    def in_use(self, node: str) -> set[int]:
        """Links of prompts that run there: a request may be faster than the order that gave up what it needs."""
        tickets = [
            self.dispatcher._tickets[ticket] for lease, ticket in self.running.items() if self.node_of[lease] == node
        ]
        return {link for ticket in tickets if ticket.request.chain is not None for link in ticket.request.chain.links}

    def known(self) -> None:
        """What the brain takes a node to hold is what it holds."""
        for name, links in self.held.items():
            row = self.dispatcher.fleet.row_of.get(name, -1)
            if self.dispatcher.placement.commanding.obeys(row):
                assert set(self.commanded(name).owner) == links, name
                assert set(self.commanded(name).tree._blocks) == links, name
