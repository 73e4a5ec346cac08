"""Which interrupted requests go on: a bound for each request, and one for the nodes that it lost.

An answer that was begun goes on if its driver knows what the client has and can ask for the rest; one of which nothing
was delivered is simply sent again. Moving an answer costs a prefill of all there is of it, and its client a pause, so a
request that was interrupted often enough is left alone. That it gave way to others does not count when its node is
lost: who was moved three times goes on then, too.
"""

from typing import Final

from pointsman.brain.model.outcome import Outcome, Verdict

MOST_INTERRUPTIONS: Final = 3
PREEMPTED: Final = "preempted"
DEFRAGMENTED: Final = "defragmented"
EMPTIED: Final = "emptied"
_INTERRUPTED: Final = Verdict.INTERRUPTED  # Python looks up a member of an enumeration slowly


def interrupts(outcome: Outcome) -> bool:
    """Whether this ending is an interruption: of an answer that can go on, or on our own wish."""
    return outcome.resumable or outcome.verdict is _INTERRUPTED


def gave_way(outcome: Outcome) -> bool:
    """Whether it was interrupted for another's sake: the node has done nothing wrong, and may have it again."""
    return outcome.verdict is _INTERRUPTED and outcome.reason in (PREEMPTED, DEFRAGMENTED, EMPTIED)


def was_emptied(outcome: Outcome) -> bool:
    """Whether it was interrupted to have its node's memory free in one piece: it had better go on elsewhere."""
    return outcome.verdict is _INTERRUPTED and outcome.reason == EMPTIED


def goes_on(outcome: Outcome, interruptions: int) -> bool:
    """Whether a request that was interrupted by `outcome`, after `interruptions` before, may go on elsewhere."""
    return (outcome.resumable or not outcome.delivered) and may_interrupt(interruptions)


def may_interrupt(interruptions: int) -> bool:
    """Whether a request that was interrupted so often may be once more."""
    return interruptions < MOST_INTERRUPTIONS
