"""Every call that can change a dispatcher, as a value: what a journal consists of.

A class here is tagged with the method and holds its arguments in order, `now` last. No prompt is in it: a request
carries its sizes and the hashes of its chain.
"""

import dataclasses
from typing import Any

import msgspec

from pointsman.brain.model import commands
from pointsman.brain.model.kv_events import CacheChange
from pointsman.brain.model.node import NodeSpec
from pointsman.brain.model.outcome import Outcome
from pointsman.brain.model.outside import MemoryWish
from pointsman.brain.model.reports import ClientReport, NodeReport
from pointsman.brain.model.request import Request
from pointsman.brain.model.settings import BrainSettings
from pointsman.brain.model.sharing import PeerReport
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import build


class PolicySpec(msgspec.Struct, frozen=True):
    """A policy by name and parameters."""

    name: str
    parameters: dict[str, Any] = {}

    @classmethod
    def of(cls, policy: Policy) -> "PolicySpec":
        """The name and all parameters of `policy`."""
        return cls(policy.name, _parameters(policy))

    def build(self) -> Policy:
        """The policy. Raises UnknownPolicy."""
        return build(self.name, self.parameters)


def _parameters(policy: Policy) -> dict[str, Any]:
    """The fields of `policy`; a policy among them becomes a table with its name under `policy`."""
    values = {field.name: getattr(policy, field.name) for field in dataclasses.fields(policy)}  # type: ignore[arg-type]
    return {
        key: {"policy": value.name, **_parameters(value)} if isinstance(value, Policy) else value
        for key, value in values.items()
    }


class _Call(msgspec.Struct, frozen=True, gc=False, tag_field="call"):
    """The tag is the method's name."""


class Begin(_Call, frozen=True, tag="begin"):
    """A dispatcher was made: every run begins with this, and a journal may hold several runs.

    `policies` are by scope, "default" among them.
    """

    version: str
    settings: BrainSettings
    policies: dict[str, PolicySpec]
    now: float


class AddNode(_Call, frozen=True, tag="add_node"):
    spec: NodeSpec
    now: float


class DeclareNode(_Call, frozen=True, tag="declare_node"):
    spec: NodeSpec
    now: float


class RemoveNode(_Call, frozen=True, tag="remove_node"):
    node: str
    now: float


class Drain(_Call, frozen=True, tag="drain"):
    node: str
    now: float


class DrainWithin(_Call, frozen=True, tag="drain_within"):
    node: str
    limit_s: float
    now: float


class Interrupt(_Call, frozen=True, tag="interrupt"):
    lease: int
    why: str
    now: float


class Defragment(_Call, frozen=True, tag="defragment"):
    now: float


class Undrain(_Call, frozen=True, tag="undrain"):
    node: str
    now: float


class SetWeight(_Call, frozen=True, tag="set_weight"):
    node: str
    weight: float
    now: float


class SetPolicy(_Call, frozen=True, tag="set_policy"):
    scope: str
    policy: PolicySpec | None
    now: float


class Configure(_Call, frozen=True, tag="configure"):
    settings: BrainSettings
    now: float


class Submit(_Call, frozen=True, tag="submit"):
    request: Request
    now: float


class Cancel(_Call, frozen=True, tag="cancel"):
    ticket: int
    now: float


class FirstToken(_Call, frozen=True, tag="first_token"):
    lease: int
    now: float


class Tokens(_Call, frozen=True, tag="tokens"):
    lease: int
    count: int
    now: float


class Finished(_Call, frozen=True, tag="finished"):
    lease: int
    outcome: Outcome
    now: float


class Report(_Call, frozen=True, tag="report"):
    report: NodeReport
    now: float


class KvEvent(_Call, frozen=True, tag="kv_event"):
    change: CacheChange
    now: float


class Feedback(_Call, frozen=True, tag="feedback"):
    report: ClientReport
    now: float


class Warm(_Call, frozen=True, tag="warm"):
    request: Request
    nodes: tuple[str, ...]
    now: float


class Warmed(_Call, frozen=True, tag="warmed"):
    warm: int
    ok: bool
    now: float


class Pin(_Call, frozen=True, tag="pin"):
    request: Request
    nodes: tuple[str, ...]
    now: float


class Unpin(_Call, frozen=True, tag="unpin"):
    request: Request
    nodes: tuple[str, ...]
    now: float


class Obeyed(_Call, frozen=True, tag="obeyed"):
    report: commands.Obeyed
    now: float


class Allocate(_Call, frozen=True, tag="allocate"):
    wish: MemoryWish
    now: float


class Renew(_Call, frozen=True, tag="renew"):
    lease: str
    ttl_s: float
    now: float


class Release(_Call, frozen=True, tag="release"):
    lease: str
    now: float


class Share(_Call, frozen=True, tag="share"):
    now: float


class Hear(_Call, frozen=True, tag="hear"):
    report: PeerReport
    now: float


class Tick(_Call, frozen=True, tag="tick"):
    now: float


Call = (
    Begin
    | AddNode
    | DeclareNode
    | RemoveNode
    | Drain
    | DrainWithin
    | Interrupt
    | Defragment
    | Undrain
    | SetWeight
    | SetPolicy
    | Configure
    | Submit
    | Cancel
    | FirstToken
    | Tokens
    | Finished
    | Report
    | KvEvent
    | Feedback
    | Warm
    | Warmed
    | Pin
    | Unpin
    | Obeyed
    | Allocate
    | Renew
    | Release
    | Share
    | Hear
    | Tick
)


class Started(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A ticket's request was started on `node` under `lease`."""

    ticket: int
    lease: int
    node: str


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One line of a journal: the call, and what it started."""

    call: Call
    started: list[Started] = []
