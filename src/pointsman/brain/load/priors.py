"""What prefill and decoding are believed to take on a node that nothing is known of yet (`latency.py`)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrefillPrior:
    """Seconds; per uncached token; per (uncached token x context token).

    The default is 8,000 tokens/s: between the 14,000 of an 8B model on an A100 or a 70B one on four H100 and the 2,000
    to 5,000 of older cards; rather too slow, since a rate believed too fast overloads the node.
    """

    base: float = 0.02
    per_token: float = 1.0 / 8000.0
    per_pair: float = 0.0


@dataclass(frozen=True, slots=True)
class TpotPrior:
    """Seconds per output token; per sequence in the batch; per token of context in the batch.

    The default, 20 ms + 0.1 ms per sequence, is the middle of 8B to 72B models on current cards: 13–19 ms at batch 1,
    and about 10 ms more at 100 sequences of 1,000 tokens.
    """

    base: float = 0.02
    per_sequence: float = 1e-4
    per_context: float = 0.0
