"""Tells the operator, a line each, how nodes and policies change and what fails.

Strategy: requests are not logged, metrics count them and `GET /decisions` shows them. What could repeat for ever is
told once: a node's failing probes until their reason or the node's state changes, a policy's exceptions once a minute.
"""

from logging import INFO, WARNING, Logger

from pointsman.brain.model.facts import (
    FedBack,
    LoadUnknown,
    NodeChanged,
    PanicChanged,
    PolicyChanged,
    PolicyRaised,
    ProbeFailed,
    ResidencyChanged,
)
from pointsman.brain.model.node import NodeState
from pointsman.observe.subscriber import Subscriber

AGAIN_SECONDS = 60.0
"""A policy that raises over every request is told this often."""
_GRAVE = (NodeState.SUSPECT, NodeState.DOWN)


class Log(Subscriber):
    """A subscriber to facts that writes to `log`; it remembers a word per node and a time per policy."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._trouble: dict[str, str] = {}
        self._silent: set[str] = set()
        self._raised: dict[tuple[str, str], float] = {}
        self.handlers = {
            NodeChanged: self._node_changed,
            ProbeFailed: self._probe_failed,
            LoadUnknown: self._load_unknown,
            FedBack: self._fed_back,
            ResidencyChanged: self._residency_changed,
            PanicChanged: self._panic_changed,
            PolicyChanged: self._policy_changed,
            PolicyRaised: self._policy_raised,
        }

    def _node_changed(self, fact: NodeChanged) -> None:
        if fact.after not in _GRAVE:
            self._trouble.pop(fact.node, None)
        if fact.after is NodeState.GONE:
            self._silent.discard(fact.node)
        why = fact.event.replace("_", " ") + (f": {fact.reason}" if fact.reason else "")
        level = WARNING if fact.after in _GRAVE else INFO
        self._log.log(level, "node %s: %s -> %s (%s)", _where(fact), str(fact.before), str(fact.after), why)

    def _probe_failed(self, fact: ProbeFailed) -> None:
        if self._trouble.get(fact.node) != fact.reason:
            self._trouble[fact.node] = fact.reason
            self._log.warning("node %s (%s): probe failed: %s", _where(fact), str(fact.state), fact.reason)

    def _load_unknown(self, fact: LoadUnknown) -> None:
        if fact.node not in self._silent:
            self._silent.add(fact.node)
            self._log.warning("node %s tells no load: it is judged by our own account of it alone", fact.node)

    def _fed_back(self, fact: FedBack) -> None:
        if fact.counted:
            text = "node %s: a client says that the answer to request %r was bad: %r"
            self._log.info(text, fact.node, fact.report.request, fact.report.reason)

    def _residency_changed(self, fact: ResidencyChanged) -> None:
        level = INFO if fact.residency == "commanded" else WARNING
        self._log.log(level, "node %s: what it has cached is %s: %s", fact.node, fact.residency, fact.reason)

    def _panic_changed(self, fact: PanicChanged) -> None:
        level, does = (WARNING, "goes to all nodes that do not refuse") if fact.panic else (INFO, "goes to them alone")
        self._log.log(level, "model %s: %d of %d nodes are in use; work %s", fact.model, fact.in_use, fact.nodes, does)

    def _policy_changed(self, fact: PolicyChanged) -> None:
        self._log.info("policy of %s: %s", fact.scope, fact.policy or "dropped, the default decides")

    def _policy_raised(self, fact: PolicyRaised) -> None:
        which = (fact.policy, fact.call)
        told = self._raised.get(which)
        if told is None or fact.now - told >= AGAIN_SECONDS:
            self._raised[which] = fact.now
            text = "policy %s: `%s` raised over request %s; told once a minute, counted in pointsman_policy_errors"
            self._log.error(text, *which, fact.request.id, exc_info=fact.error)


def _where(fact: NodeChanged | ProbeFailed) -> str:
    """The node's id and its address, which may be the same."""
    return f"{fact.node} at {fact.url}" if fact.url not in fact.node else fact.node
