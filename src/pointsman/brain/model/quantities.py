"""What follows from a node's columns and a request: formulas written once, for one candidate or for all.

Strategy: NumPy takes a third of a microsecond for any operation, be it on two nodes or on two hundred; Python takes a
thirtieth for one on two floats. So where there are few candidates a formula is asked for each with floats, and where
there are many once with arrays. Both do the same IEEE operations in the same order, so the results are equal to the
last bit. Nothing here mutates its operands.
"""

from math import ceil
from typing import Any, Protocol

import numpy as np

Quantity = Any
"""A float where one candidate is meant, an array with one row per candidate where all are."""

_ONE = np.array(1.0)  # NumPy converts a Python float anew in every call, at half the cost of the call itself

FEW = 6
"""Up to so many candidates a formula over some dozen columns is worked out sooner one by one than in arrays."""


class Measured(Protocol):
    """A candidate, or all of them (`View`): what formulas may ask. Units stand beside the names in `COLUMNS`."""

    @property
    def prompt_tokens(self) -> Quantity: ...
    @property
    def reserve_tokens(self) -> Quantity: ...
    @property
    def ttft_objective(self) -> Quantity: ...
    @property
    def backlog_seconds(self) -> Quantity: ...
    @property
    def overlap(self) -> Quantity: ...
    @property
    def miss(self) -> Quantity: ...
    @property
    def outstanding(self) -> Quantity: ...
    @property
    def running(self) -> Quantity: ...
    @property
    def slots(self) -> Quantity: ...
    @property
    def kv_capacity(self) -> Quantity: ...
    @property
    def kv_reserved(self) -> Quantity: ...
    @property
    def block_tokens(self) -> Quantity: ...
    @property
    def backlog_tokens(self) -> Quantity: ...
    @property
    def backlog_pairs(self) -> Quantity: ...
    @property
    def prefilled_seconds(self) -> Quantity: ...
    @property
    def reported_load(self) -> Quantity: ...
    @property
    def prefill_base(self) -> Quantity: ...
    @property
    def prefill_per_token(self) -> Quantity: ...
    @property
    def prefill_per_pair(self) -> Quantity: ...


def at_most_one(amount: Quantity) -> Quantity:
    """The amount, or 1 if it is more."""
    if type(amount) is float:
        return amount if amount < 1.0 else 1.0
    return np.minimum(amount, _ONE)


def at_least(amount: Quantity, limit: Quantity) -> Quantity:
    """The greater of the two."""
    if type(amount) is float:
        return amount if amount > limit else limit
    return np.maximum(amount, limit)


def rounded_up(amount: Quantity) -> Quantity:
    """The next whole number."""
    return float(ceil(amount)) if type(amount) is float else np.ceil(amount)


def backlog_seconds(of: Measured) -> Quantity:
    """Seconds of booked prefill ahead of this request: the time until the node would turn to it."""
    work = of.backlog_tokens * of.prefill_per_token + of.backlog_pairs * of.prefill_per_pair
    return work - of.prefilled_seconds


def prefill_seconds(of: Measured) -> Quantity:
    """Seconds to compute this request's uncached tokens, linear and attention part."""
    # The mean context of an uncached token is overlap + miss/2 = (overlap + prompt)/2.
    pairs = (of.overlap + of.prompt_tokens) * of.prefill_per_pair * 0.5
    return (pairs + of.prefill_per_token) * of.miss + of.prefill_base


def load(of: Measured) -> Quantity:
    """max(KV share, outstanding/slots, backlog seconds/TTFT objective, the server's own figure)."""
    filled, held = of.outstanding / of.slots, of.kv_reserved / of.kv_capacity
    waited = of.backlog_seconds * (1.0 / of.ttft_objective)
    if type(filled) is float:
        return max(filled, held, waited, of.reported_load)
    return np.maximum(np.maximum(filled, held), np.maximum(waited, of.reported_load))


def blocks_needed(of: Measured) -> Quantity:
    """Blocks to be newly allocated: prompt and reserved output less what is cached, rounded up."""
    return rounded_up((of.miss + of.reserve_tokens) / of.block_tokens)
