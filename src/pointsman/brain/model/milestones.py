"""The facts that every request leads to: it is decided where it goes, it is placed, its answer begins, its lease ends.

Strategy: all of them are made on the data path, and read there by whoever counts and remembers. So they are plain
classes: compiled, one is made and read in a tenth of the time of a `msgspec.Struct`, which these need not be, for none
is written anywhere as it is. Nothing is to be changed in them.
"""

from mypy_extensions import mypyc_attr

from pointsman.brain.model.choice import Choice, Hold, Scores
from pointsman.brain.model.outcome import Outcome
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import View


@mypyc_attr(acyclic=True)
class Decided:
    """A policy gave its `answer`.

    `view` is alive only during the call: an observer that keeps the decision keeps `view.snapshot()`.
    """

    __slots__ = ("answer", "now", "policy", "request", "ticket", "view")

    def __init__(
        self, now: float, ticket: int, request: Request, policy: str, view: View, answer: Choice | Hold
    ) -> None:
        self.now = now
        self.ticket = ticket
        self.request = request
        self.policy = policy
        self.view = view
        self.answer = answer

    @property
    def chosen(self) -> int:
        """The index into `nodes`/`scores`, or -1 for a hold."""
        return self.answer.index if isinstance(self.answer, Choice) else -1

    @property
    def scores(self) -> Scores:
        """One for each candidate, lower is better."""
        return self.answer.scores

    @property
    def reason(self) -> str:
        """In a word."""
        return self.answer.reason


@mypyc_attr(acyclic=True)
class Placed:
    """A lease began: `waited_s` since the request was submitted, `overlap_tokens` predicted on the node."""

    __slots__ = (
        "attempt",
        "lease",
        "node",
        "now",
        "overlap_tokens",
        "prompt_tokens",
        "reason",
        "request",
        "ticket",
        "waited_s",
    )

    def __init__(
        self,
        now: float,
        ticket: int,
        lease: int,
        request: Request,
        node: str,
        attempt: int,
        waited_s: float,
        prompt_tokens: int,
        overlap_tokens: int,
        reason: str,
    ) -> None:
        self.now = now
        self.ticket = ticket
        self.lease = lease
        self.request = request
        self.node = node
        self.attempt = attempt
        self.waited_s = waited_s
        self.prompt_tokens = prompt_tokens
        self.overlap_tokens = overlap_tokens
        self.reason = reason


@mypyc_attr(acyclic=True)
class FirstToken:
    """`ttft_s` counts from submission, so waiting in the queue is part of it."""

    __slots__ = ("lease", "node", "now", "request", "ticket", "ttft_s")

    def __init__(self, now: float, ticket: int, lease: int, request: Request, node: str, ttft_s: float) -> None:
        self.now = now
        self.ticket = ticket
        self.lease = lease
        self.request = request
        self.node = node
        self.ttft_s = ttft_s


@mypyc_attr(acyclic=True)
class Ended:
    """A lease ended. `seconds` is its life; `tpot_s` the mean gap between tokens, or None where unknown.

    `whole_s` is the time since the request was submitted. `tokens` of the answer were seen to come, other tries'
    included: less exact than the outcome's, and always there.
    """

    __slots__ = (
        "final",
        "lease",
        "node",
        "now",
        "outcome",
        "overlap_tokens",
        "request",
        "seconds",
        "ticket",
        "tokens",
        "tpot_s",
        "whole_s",
    )

    def __init__(
        self,
        now: float,
        ticket: int,
        lease: int,
        request: Request,
        node: str,
        outcome: Outcome,
        seconds: float,
        whole_s: float,
        tpot_s: float | None,
        overlap_tokens: int,
        final: bool,
        tokens: int = 0,
    ) -> None:
        self.now = now
        self.ticket = ticket
        self.lease = lease
        self.request = request
        self.node = node
        self.outcome = outcome
        self.seconds = seconds
        self.whole_s = whole_s
        self.tpot_s = tpot_s
        self.overlap_tokens = overlap_tokens
        self.final = final
        self.tokens = tokens
