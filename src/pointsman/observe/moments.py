"""What happened to a request, as it is kept until somebody asks: each moment can then tell its chapter.

Strategy: nearly all that is kept here is never read, and it is written on the data path. So a moment is one small
object of plain numbers and of names that are there already, and it knows the one before, so that none needs a list.
"""

from mypy_extensions import mypyc_attr

from pointsman.brain.fleet import Fleet
from pointsman.brain.model.facts import Ended, FirstToken, Interrupted, Placed, Queued, Refused, Resumed
from pointsman.observe.chapters import AnyChapter, Began, Broken, Finished, Sent, TurnedAway, Waited, WentOn
from pointsman.observe.standing import IN_TURN, Standing

FORWARD = "forward"
"""The reason of a choice that goes to where the cache is, against the best score."""


@mypyc_attr(acyclic=True)
class Moment:
    """Something happened at `now` (seconds on the dispatcher's clock), and that `before` it."""

    __slots__ = ("before", "now")

    def __init__(self, now: float, before: "Moment | None") -> None:
        self.now = now
        self.before = before

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:
        """As it is told of a request for `model` that `arrived` then, where it could go to a node of `fleet`."""
        raise NotImplementedError


@mypyc_attr(acyclic=True)
class Waiting(Moment):
    """It began to wait, by `order`, while the nodes stood like this."""

    __slots__ = ("expected_s", "order", "position", "standing")

    def __init__(self, fact: Queued, before: Moment | None, order: str, standing: Standing | None) -> None:
        super().__init__(fact.now, before)
        self.position = fact.position
        self.order = order
        self.expected_s = fact.expected_s
        self.standing = standing

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:
        left_out = self.standing.passed_over(fleet, model, (), (), IN_TURN) if self.standing is not None else []
        return Waited(self.now - arrived, self.position, self.order, self.expected_s, left_out)


@mypyc_attr(acyclic=True)
class Sending(Moment):
    """It was sent to a node."""

    __slots__ = ("attempt", "forwarded", "node", "overlap_tokens", "prompt_tokens")

    def __init__(self, fact: Placed, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.node = fact.node
        self.attempt = fact.attempt
        self.prompt_tokens = fact.prompt_tokens
        self.overlap_tokens = fact.overlap_tokens
        self.forwarded = fact.reason == FORWARD

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002 - as of all moments
        tokens = self.prompt_tokens, self.overlap_tokens
        return Sent(self.now - arrived, self.node, self.attempt, *tokens, self.forwarded)


@mypyc_attr(acyclic=True)
class Beginning(Moment):
    """The first token of its answer came."""

    __slots__ = ("node", "ttft_s")

    def __init__(self, fact: FirstToken, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.node = fact.node
        self.ttft_s = fact.ttft_s

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002
        return Began(self.now - arrived, self.node, self.ttft_s)


@mypyc_attr(acyclic=True)
class Breaking(Moment):
    """Its answer was interrupted."""

    __slots__ = ("cause", "node", "resumed", "tokens")

    def __init__(self, fact: Interrupted, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.node = fact.node
        self.cause = fact.cause
        self.tokens = fact.tokens
        self.resumed = fact.resumed

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002
        return Broken(self.now - arrived, self.node, self.cause, self.tokens, self.resumed)


@mypyc_attr(acyclic=True)
class GoingOn(Moment):
    """The first token came of the rest of its answer."""

    __slots__ = ("gap_s", "node", "tokens")

    def __init__(self, fact: Resumed, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.node = fact.node
        self.tokens = fact.tokens
        self.gap_s = fact.gap_s

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002
        return WentOn(self.now - arrived, self.node, self.tokens, self.gap_s)


@mypyc_attr(acyclic=True)
class Ending(Moment):
    """A try ended."""

    __slots__ = ("final", "node", "outcome", "seconds", "tpot_s")

    def __init__(self, fact: Ended, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.node = fact.node
        self.outcome = fact.outcome
        self.seconds = fact.seconds
        self.tpot_s = fact.tpot_s
        self.final = fact.final

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002
        outcome = self.outcome
        return Finished(
            self.now - arrived,
            self.node,
            str(outcome.verdict),
            outcome.reason,
            outcome.status,
            self.seconds,
            outcome.prompt_tokens,
            outcome.completion_tokens,
            outcome.cached_tokens,
            self.tpot_s,
            self.final,
        )


@mypyc_attr(acyclic=True)
class Turning(Moment):
    """It was turned away."""

    __slots__ = ("code", "status")

    def __init__(self, fact: Refused, before: Moment | None) -> None:
        super().__init__(fact.now, before)
        self.code = fact.code
        self.status = fact.status

    def chapter(self, arrived: float, fleet: Fleet, model: str) -> AnyChapter:  # noqa: ARG002
        return TurnedAway(self.now - arrived, self.code, self.status)
