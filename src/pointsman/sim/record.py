"""What a simulated request came to."""

from pointsman.observe.comparison import Sample


class Record(Sample, frozen=True, gc=False):
    """One request as its client saw it. `tries`: nodes it was sent to; `problem`: the code of its error, if any.
    `interruptions`: how often it was taken off a node, or lost it, and was asked of another one.

    `waited_s`: seconds until it was sent to a node first, `placed_s`: when it was sent to its last; None for never.
    `gap_s`: longest time between two tokens of a stream as its engines made them, None unless there are two.
    """

    id: str = ""
    tries: int = 0
    problem: str = ""
    dialogue: int = 0
    waited_s: float | None = None
    placed_s: float | None = None
    gap_s: float | None = None
    tenant: str = ""
    interruptions: int = 0
