"""What nodes do, and what operators do with them."""

import contextlib
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import rule
from tests.support.driver import FAILED
from tests.support.lives.clients import Clients
from tests.support.lives.settings import HOLDING, LAYOUTS, POLICIES, changeable

from pointsman.brain.model.errors import Conflict, NotFound
from pointsman.brain.model.node import NodeSpec, NodeState
from pointsman.brain.model.request import Chain, Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.policies.registry import build

NAMES = st.sampled_from(("a", "b", "c"))


class Nodes(Clients):
    """Nodes come, fail, restart, change and leave; operators drain, weigh and configure."""

    @rule(
        name=NAMES,
        ok=st.booleans(),
        restart=st.sampled_from([None, 1.0, 2.0]),
        blocks=st.sampled_from([None, 0, 50, 200]),
        block_tokens=st.sampled_from([None, 16, 48]),
        models=st.sampled_from([None, ("m",), ("m", "n"), ()]),
    )
    def report(self, name: str, ok: bool, restart: float | None, blocks: int | None, **more: Any) -> None:
        self.driver.report(name, ok, started_at=restart, waiting=1, kv_blocks=blocks, slots=2, load=0.3, **more)

    @rule(name=NAMES, reason=st.sampled_from(["refused", "timeout", "status_500"]))
    def die(self, name: str, reason: str) -> None:
        """Every request on the node fails and so do its probes."""
        for lease in [lease for lease, node in self.driver.node_of.items() if node == name]:
            if lease in self.driver.running:
                self.driver.finish(lease, self.driver.lost(lease, "reset"))
        self.fail_probes(name, reason)

    @rule(name=NAMES, reason=st.sampled_from(["refused", "timeout"]))
    def stop(self, name: str, reason: str) -> None:
        """The node says nothing any more; nor does it end what it has."""
        self.fail_probes(name, reason)

    def fail_probes(self, name: str, reason: str) -> None:
        self.driver.tick(2.1)
        for _ in range(4):
            self.driver.report(name, ok=False, reason=reason)
        row = self.driver.dispatcher.fleet.row_of.get(name)
        if row is not None:
            assert self.driver.dispatcher.fleet.states[row] in (NodeState.DOWN, NodeState.DRAINING)

    @rule(name=NAMES, seconds=st.sampled_from([0.01, 1.5, 30.0]))
    def probe_late(self, name: str, seconds: float) -> None:
        self.driver.report(name, seconds=seconds)

    @rule(name=NAMES, times=st.integers(1, 5))
    def fail_requests(self, name: str, times: int) -> None:
        """Failing requests alone leave each model half of its nodes, and its last one."""
        fleet = self.driver.dispatcher.fleet
        row = fleet.row_of.get(name)
        if row is None:
            return
        before = fleet.states[row]
        for _ in range(times):
            self.driver.dispatcher.membership.ended(row, FAILED, self.driver.now)
        if before in (NodeState.UP, NodeState.SUSPECT) and fleet.states[row] is NodeState.DOWN:
            for model in fleet.models[row]:
                members = fleet.members(model)
                up = [member for member in members if fleet.states[member] is NodeState.UP]
                assert up, "the last node of a model was taken out"
                assert 2 * len(up) >= len(members), "more than half of a model's nodes are out"

    @rule(name=NAMES)
    def heal(self, name: str) -> None:
        self.driver.tick(11.0)
        self.driver.report(name)

    @rule(name=NAMES, models=st.sampled_from([("m", "n"), ()]))
    def join_or_leave(self, name: str, models: tuple[str, ...]) -> None:
        """One without models of its own serves what it reports."""
        dispatcher = self.driver.dispatcher
        row = dispatcher.fleet.row_of.get(name)
        if row is not None and row not in dispatcher.membership._leaving:
            self.driver.obey(dispatcher.remove_node(name, self.driver.now))
        else:
            spec = NodeSpec(
                url=f"http://{name}", id=name, models=models, slots=self.slots, kv_tokens=self.kv, kv_layout=self.layout
            )
            self.driver.obey(dispatcher.add_node(spec, self.driver.now))
            self.driver.report(name, models=("m",))

    @rule(
        name=NAMES,
        address=st.sampled_from("xy"),
        slots=st.integers(1, 4),
        kv=st.integers(1, 9),
        layout=st.sampled_from(LAYOUTS),
        models=st.sampled_from([("m", "n"), ("m",)]),
    )
    def declare_otherwise(self, name: str, address: str, kv: int, layout: Any, **more: Any) -> None:
        if name in self.driver.dispatcher.fleet.row_of:
            spec = NodeSpec(url=f"http://{address}", id=name, kv_tokens=1000 * kv, kv_layout=layout, **more)
            self.driver.obey(self.driver.dispatcher.declare_node(spec, self.driver.now))

    @rule(name=NAMES, obeys=st.booleans(), swap_blocks=st.sampled_from([0, 5, 500]))
    def command(self, name: str, obeys: bool, swap_blocks: int) -> None:
        """The node is one that is commanded, if it obeys, and has memory to copy to."""
        fleet, leaving = self.driver.dispatcher.fleet, self.driver.dispatcher.membership._leaving
        row = fleet.row_of.get(name)
        if row is not None and row not in leaving:
            spec = msgspec.structs.replace(fleet.spec(row), residency="commanded")
            self.driver.obey(self.driver.dispatcher.declare_node(spec, self.driver.now))
            self.driver.report(name, obeys=obeys, swap_blocks=swap_blocks, swap_block_s=1e-9)

    @rule(ok=st.booleans(), lost=st.integers(0, 3), data=st.data())
    def answer_orders(self, ok: bool, lost: int, data: Any) -> None:
        """One of the orders was carried out, or was not; and the node has lost something before."""
        if self.driver.instructed:
            order = self.driver.instructed.pop(data.draw(st.integers(0, len(self.driver.instructed) - 1)))
            held = self.driver.known_links(order.node.name)[:lost]
            self.driver.obeyed(order, ok=ok, lost=held)

    @rule(name=NAMES, keep=st.booleans(), depth=st.integers(1, 4))
    def pin(self, name: str, keep: bool, depth: int) -> None:
        """Somebody has the beginning of a prompt kept, or no longer."""
        links = self.driver.known_links(name)
        if links:
            dispatcher, chain = self.driver.dispatcher, Chain("trace", links[:depth], 16.0)
            request = Request(id="pin", model="m", prompt_tokens=16 * depth, chain=chain)
            with contextlib.suppress(NotFound, Conflict):
                self.driver.obey((dispatcher.pin if keep else dispatcher.unpin)(request, (name,), self.driver.now))

    @rule(name=NAMES, drain=st.booleans())
    def drain(self, name: str, drain: bool) -> None:
        dispatcher = self.driver.dispatcher
        if name in dispatcher.fleet.row_of:
            self.driver.obey((dispatcher.drain if drain else dispatcher.undrain)(name, self.driver.now))

    @rule(name=NAMES, limit=st.sampled_from([0.0, 0.5, 5.0]))
    def drain_within(self, name: str, limit: float) -> None:
        dispatcher = self.driver.dispatcher
        if name in dispatcher.fleet.row_of:
            self.driver.obey(dispatcher.drain_within(name, limit, self.driver.now))

    @rule(name=NAMES, weight=st.sampled_from([0.1, 0.5, 1.0]))
    def weigh(self, name: str, weight: float) -> None:
        dispatcher = self.driver.dispatcher
        if name in dispatcher.fleet.row_of:
            self.driver.obey(dispatcher.set_weight(name, weight, self.driver.now))

    @rule(settings=changeable())
    def configure(self, settings: dict[str, Any]) -> None:
        waiting = self.driver.dispatcher.waiting.lengths().values()  # is not turned away, and may be in one queue now
        self.longest_queue = max(settings["queue_limit"], self.longest_queue, *waiting)
        self.driver.obey(self.driver.dispatcher.configure(BrainSettings(ejection_s=2.0, **settings), self.driver.now))

    @rule(scope=st.sampled_from(["default", "model:m", "model:n"]), policy=st.sampled_from(POLICIES))
    def decide_otherwise(self, scope: str, policy: str) -> None:
        self.holds = self.holds or policy in HOLDING
        self.driver.obey(self.driver.dispatcher.set_policy(scope, build(policy), self.driver.now))
