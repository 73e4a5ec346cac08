"""A driver for tests: obeys the dispatcher's orders and checks, at every call, what must always hold."""

import contextlib
from collections.abc import Sequence

import numpy as np

from pointsman.brain.dispatcher import Dispatcher
from pointsman.brain.lease import Lease
from pointsman.brain.life.resume import MOST_INTERRUPTIONS
from pointsman.brain.model.commands import Carried, Obeyed
from pointsman.brain.model.errors import Conflict
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.orders import Abort, Instruct, Order, Probe, Refuse, Start, Tell, Wait, Warm
from pointsman.brain.model.outcome import Outcome, Verdict
from pointsman.brain.model.reports import NodeReport
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import SHARED, Booked, PeerReport, Share
from pointsman.brain.outsiders import FIRST_NUMBER
from pointsman.brain.policies.registry import build
from pointsman.brain.policies.table import PolicyTable

DONE = Outcome(verdict=Verdict.OK, prompt_tokens=100, completion_tokens=20)
FAILED = Outcome(verdict=Verdict.FAIL, reason="reset", delivered=False)


class TestDriver:
    """Holds what a gateway would: the tickets that wait, the leases that run, and how each ticket ended.

    `others` is what it heard that other gateways book, by node; `told` what it told them. `delivered` are the tokens
    each client has of an answer that has begun. While `slow`, aborts wait in `late` until they are carried out. Without
    `resumes` nothing that has begun goes on elsewhere.
    """

    __test__ = False

    def __init__(self, policy: str = "least_requests", observers: Sequence[object] = (), **settings: object) -> None:
        brain = BrainSettings(**settings)  # type: ignore[arg-type]
        self.dispatcher = Dispatcher(brain, PolicyTable(build(policy)), observers)  # type: ignore[arg-type]
        self.now = 0.0
        self.waiting: set[int] = set()
        self.running: dict[int, int] = {}
        self.node_of: dict[int, str] = {}
        self.ended: dict[int, str] = {}
        self.probes: list[str] = []
        self.submitted = 0
        self.others: dict[str, Booked] = {}
        self.told: list[Share] = []
        self.waits_since: dict[int, float] = {}
        self.delivered: dict[int, int] = {}
        self.new_tokens: dict[int, int] = {}
        self.slow = False
        self.late: list[Abort] = []
        self.resumes = True
        self.warm_ups: dict[int, Warm] = {}
        self.instructed: list[Instruct] = []

    def add(self, name: str, *models: str, up: bool = True, **more: object) -> None:
        spec = NodeSpec(url=f"http://{name}", id=name, models=models or ("m",), **more)  # type: ignore[arg-type]
        self.obey(self.dispatcher.add_node(spec, self.now))
        if up:
            self.report(name, running=0)

    def report(self, name: str, ok: bool = True, **more: object) -> None:
        self.obey(self.dispatcher.report(NodeReport(node=name, ok=ok, **more), self.now))  # type: ignore[arg-type]

    def submit(self, model: str = "m", tokens: int = 100, **more: object) -> int:
        """The new ticket."""
        self.submitted += 1
        more.setdefault("stream", True)
        request = Request(id=f"r{self.submitted}", model=model, prompt_tokens=tokens, **more)  # type: ignore[arg-type]
        orders = self.dispatcher.submit(request, self.now)
        first = orders[0]
        assert isinstance(first, Start | Wait | Refuse), "the first order must answer the request"
        self.obey(orders)
        return first.ticket

    def first_token(self, lease: int) -> None:
        if lease in self.running:
            self.delivered.setdefault(self.running[lease], 0)
            self.new_tokens.setdefault(lease, 1)
        self.obey(self.dispatcher.first_token(lease, self.now))

    def tokens(self, lease: int, count: int) -> None:
        if lease in self.running:
            self.new_tokens[lease] = self.new_tokens.get(lease, 0) + count
        self.obey(self.dispatcher.tokens(lease, count, self.now))

    def lost(self, lease: int, reason: str, verdict: Verdict = Verdict.FAIL) -> Outcome:
        """How a try ends whose node is lost, or taken away."""
        begun = self.running[lease] in self.delivered
        new_tokens = self.new_tokens.get(lease, 0)
        return Outcome(
            verdict=verdict, reason=reason, delivered=begun, resumable=begun and self.resumes, new_tokens=new_tokens
        )

    def finish(self, lease: int, outcome: Outcome = DONE) -> None:
        ticket = self._over(lease)
        orders = self.dispatcher.finished(lease, outcome, self.now)
        again = any(isinstance(order, Start | Wait | Refuse) and order.ticket == ticket for order in orders)
        if not again:
            self._end(ticket, outcome.verdict)
        elif outcome.new_tokens and ticket not in self.ended:
            self.delivered[ticket] = self.delivered.get(ticket, 0) + outcome.new_tokens
        self.obey(orders)

    def cancel(self, ticket: int) -> None:
        self.waiting.discard(ticket)
        for lease in [lease for lease, of in self.running.items() if of == ticket]:
            self._over(lease)
        self._end(ticket, "cancelled")
        self.obey(self.dispatcher.cancel(ticket, self.now))

    def warmed(self, warm: int, ok: bool = True) -> None:
        del self.warm_ups[warm]
        self.obey(self.dispatcher.warmed(warm, ok, self.now))

    def obeyed(self, order: Instruct, *, ok: bool = True, lost: Sequence[int] = ()) -> None:
        """What was ordered was carried out, or was not."""
        done = tuple(Carried(blocks=1) for _ in order.commands) if ok else ()
        report = Obeyed(number=order.number, ok=ok, reason="" if ok else "timeout", done=done, lost=tuple(lost))
        self.obey(self.dispatcher.obeyed(report, self.now))

    def known_links(self, name: str) -> list[int]:
        """What a node that is commanded is known to hold, newest chain first, from its beginning."""
        row = self.dispatcher.fleet.row_of.get(name, -1)
        held = self.dispatcher.placement.commanding._rows.get(row)
        return [link for chain in reversed(held.tree.chains()) for link in chain] if held is not None else []

    def tick(self, seconds: float = 0.0) -> None:
        self.now += seconds
        self.obey(self.dispatcher.tick(self.now))

    def share(self) -> None:
        self.obey(self.dispatcher.share(self.now))

    def hear(self, report: PeerReport) -> None:
        self.others |= {node: known.others for node, known in report.nodes.items()}
        self.obey(self.dispatcher.hear(report, self.now))

    def lease_of(self, ticket: int) -> int:
        return next(lease for lease, of in self.running.items() if of == ticket)

    def node(self, ticket: int) -> str:
        return self.node_of[self.lease_of(ticket)]

    def obey(self, orders: Sequence[Order]) -> None:
        for order in orders:
            match order:
                case Start():
                    self._start(order)
                case Wait():
                    self.waiting.add(order.ticket)
                    self.waits_since[order.ticket] = self.now
                case Refuse():
                    cause = order.error.__cause__
                    assert cause is None or isinstance(cause, ZeroDivisionError), f"a policy raised: {cause!r}"
                    self.waiting.discard(order.ticket)
                    self._end(order.ticket, order.error.code)
                case Probe():
                    self.probes.append(order.node.name)
                case Warm():
                    self.warm_ups[order.warm] = order
                case Instruct():
                    self.instructed.append(order)
                case Tell():
                    self.told.append(order.share)
                case Abort():
                    self.late.append(order)
        if not self.slow:
            self.carry_out()
        self.check()

    def carry_out(self) -> None:
        """Stop what was to be stopped, as far as it has not ended meanwhile."""
        late, self.late = self.late, []
        for order in late:
            if order.lease in self.running and not (order.spares and self._stuck(order.lease)):
                verdict = Verdict.INTERRUPTED if order.interrupts else Verdict.FAIL
                self.finish(order.lease, self.lost(order.lease, order.why, verdict))

    def rest(self) -> None:
        """End everything and require that nothing is left."""
        while self.running or self.waiting or self.warm_ups or self.instructed:
            while self.instructed:
                self.obeyed(self.instructed.pop(0))
            for warm in list(self.warm_ups):
                self.warmed(warm)
            while self.running:
                self.finish(min(self.running))
            while self.waiting:
                self.cancel(min(self.waiting))
        for lease in [each.id for each in self.dispatcher.outsiders.leases()]:
            with contextlib.suppress(Conflict):  # it ended with its node
                self.obey(self.dispatcher.release(lease, self.now))
        assert self.dispatcher.at_rest()
        assert not self.dispatcher.maker.claims, "room is kept for nobody"
        assert self.dispatcher.accounts.at_rest(), "a tenant's account is not zero at rest"
        assert self.dispatcher.placement.isolation.at_rest(), "a long prompt is still counted"
        placement = self.dispatcher.placement
        assert not placement.commanding._open, "an order is still open"
        assert not placement.commanding._holds, "a prompt that has ended is still held"
        assert not placement.swapping._leaving, "somebody is still to leave"
        assert not placement.swapping.swapped, "a copy is still kept for nobody"
        assert not self.dispatcher._retries.in_flight, "a retry is still counted"
        for name in SHARED:
            column = getattr(self.dispatcher.fleet.columns, name).copy()
            if name == "kv_reserved":
                column[: len(self.dispatcher.fleet)] -= self._kept()
            assert not column.any(), f"{name} is not zero at rest: {column[column != 0]}"

    def check_memory(self) -> None:
        """Every block of every node is reserved, kept ready, cached or free; pieces belong to leases that run."""
        dispatcher = self.dispatcher
        pool = dispatcher.placement.pool
        for row in dispatcher.fleet.rows():
            account = pool.account(row)
            parts = account.reserved, account.preallocated, account.pinned, account.cached, account.free
            assert sum(parts) == account.capacity, f"row {row}: {account}"
            assert min(*parts, account.queued) >= 0.0, f"row {row}: {account}"
            assert account.largest <= account.free + account.cached, f"row {row}: {account}"
            arena = pool.arenas.get(row)
            held = {lease.id for lease in dispatcher._leases.values() if lease.row == row}
            held |= {-FIRST_NUMBER - one.number for one in dispatcher.outsiders.leases() if one.row == row}
            held |= {-number for number, one in dispatcher.manager.warming.open.items() if one.booking.row == row}
            held |= {dispatcher.maker.claims.holder(ticket) for ticket in dispatcher.maker.claims}
            assert arena is None or arena.leases() <= held, f"row {row}: a lease that has ended holds memory"

    def check_commanded(self) -> None:
        """The account of a node that obeys is one; what live requests and pins need is held, and counted once."""
        placement = self.dispatcher.placement
        for row, held in placement.commanding._rows.items():
            assert set(held.owner) == set(held.tree._blocks), f"row {row}: two accounts of what it holds"
            holds = [blocks for of, _, blocks in placement.commanding._holds.values() if of == row]
            covered = sum(holds) + placement.pool.pinned(row)
            assert abs(placement.commanding._covered[row] - covered) < 1e-6, f"row {row}: links are counted wrongly"
            ends = [link for of, link, _ in placement.commanding._holds.values() if of == row]
            ends += list(placement.pinning._pins.get(row, {}))
            assert set(ends) <= set(held.owner), f"row {row}: what is needed was given up"

    def check(self) -> None:
        """The invariants: accounts equal the sums of their leases; every ticket is in one place."""
        dispatcher = self.dispatcher
        leases: list[Lease] = list(dispatcher._leases.values())
        rows = len(dispatcher.fleet)
        sums = {name: np.zeros(rows) for name in SHARED}
        for node, booked in self.others.items():
            if node in dispatcher.fleet.row_of:
                for name in SHARED:
                    sums[name][dispatcher.fleet.row_of[node]] = getattr(booked, name)
        for lease in leases:
            sums["outstanding"][lease.row] += 1
            sums["running"][lease.row] += lease.booking.running
            sums["backlog_tokens"][lease.row] += lease.booking.backlog_tokens
            sums["context_tokens"][lease.row] += lease.booking.context_tokens
            sums["kv_reserved"][lease.row] += lease.blocks
        for warm_up in dispatcher.manager.warming.open.values():
            booking = warm_up.booking
            sums["outstanding"][booking.row] += 1
            sums["backlog_tokens"][booking.row] += booking.backlog_tokens
            sums["context_tokens"][booking.row] += booking.context_tokens
            sums["kv_reserved"][booking.row] += warm_up.blocks
        for outsider in dispatcher.outsiders.leases():
            if dispatcher.fleet.generation[outsider.row] == outsider.generation and outsider.row < rows:
                sums["kv_reserved"][outsider.row] += outsider.blocks
        sums["kv_reserved"] += self._kept()
        for name, expected in sums.items():
            actual = getattr(dispatcher.fleet.table, name)
            assert actual.tolist() == expected.tolist(), f"{name}: {actual} but leases and others say {expected}"
        self.check_memory()
        self.check_commanded()
        open_tickets = {lease.ticket.id for lease in leases}
        assert len(open_tickets) == len(leases), "a ticket has two leases"

    def _kept(self) -> np.ndarray:
        """Blocks of each row that are kept ready, or for somebody who waits."""
        pool, claims = self.dispatcher.placement.pool, self.dispatcher.maker.claims
        return np.array(
            [float(pool.aside(row) + pool.pinned(row) + claims.held(row)) for row in range(len(self.dispatcher.fleet))]
        )

    def settled(self) -> None:
        """Between calls: the driver's and the brain's books agree."""
        waiting = {ticket for queue in self.dispatcher.waiting.queues.values() for ticket in queue.tickets()}
        assert waiting <= self.waiting
        assert set(self.dispatcher._leases) == set(self.running)
        assert set(self.dispatcher._tickets) == self.waiting | set(self.running.values())
        assert not self.waiting & set(self.ended)
        for ticket in self.dispatcher.tickets():
            assert ticket.delivered_tokens == self.delivered.get(ticket.id, 0), "another rest is asked for"
            assert ticket.losses <= MOST_INTERRUPTIONS, "lost too often"
            assert ticket.interruptions - ticket.losses <= MOST_INTERRUPTIONS, "moved too often"

    def _start(self, order: Start) -> None:
        self.waiting.discard(order.ticket)
        self._may_work(order)
        assert order.ticket not in self.ended, "an ended ticket starts again"
        self.running[order.lease] = order.ticket
        self.node_of[order.lease] = order.node.name

    def _may_work(self, order: Start) -> None:
        """Work goes to nodes in use; in panic to whoever was admitted, is not drained and does not refuse."""
        fleet = self.dispatcher.fleet
        row, model = fleet.row_of[order.node.name], self.dispatcher._tickets[order.ticket].request.model
        state = fleet.states[row]
        assert fleet.admitted[row], "work for a node that was never admitted"
        if fleet.panics(model):
            assert state in (NodeState.UP, NodeState.JOINING, NodeState.SUSPECT, NodeState.DOWN), f"{state} in panic"
            assert not fleet.refusing[row], "work for a node that refuses"
        else:
            assert state in (NodeState.UP, NodeState.JOINING), f"work for a node that is {state}"
        assert fleet.table.outstanding[row] <= max(1.0, fleet.table.slots[row]), "more than the node has room for"

    def _stuck(self, lease: int) -> bool:
        return self.running[lease] in self.delivered and not self.resumes

    def _over(self, lease: int) -> int:
        """Forget the lease; its ticket."""
        self.node_of.pop(lease)
        self.new_tokens.pop(lease, None)
        return self.running.pop(lease)

    def _end(self, ticket: int, how: str) -> None:
        assert ticket not in self.ended, f"ticket {ticket} ended twice: {self.ended[ticket]}, {how}"
        self.ended[ticket] = how


def chain(*steps: int, tokens_per_link: float = 16.0) -> Chain:
    """A chain in which equal leading steps give equal leading links."""
    links, number = [], 7
    for step in steps:
        number = (number * 1_000_003 + step + 1) % (1 << 61)
        links.append(number)
    return Chain("trace", links, tokens_per_link)
