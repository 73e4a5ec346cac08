"""How long prefill and decoding take on each node, learned from what every request shows.

    seconds to the first token = base + per_token·tokens + per_pair·pairs
    seconds per output token = base + per_sequence·running + per_context·total context

Tokens are those to be computed until then, of the prompt (its miss) and of what is left of those before it; pairs are
of one of these and one that it attends to, miss·(overlap + miss/2) of a prompt. The base is what comes beside that
work: the step under way, the network, news that come late. The forms are those of a step of an engine
(`costs/step_time.py`); the coefficients become the fleet's columns.
"""

from typing import Final

from pointsman.brain.load.priors import PrefillPrior, TpotPrior
from pointsman.brain.load.rates import Rates
from pointsman.brain.model.view import Cells

NO_FEEDBACK: Final = 2.0
"""Prediction error of a node that has shown nothing yet: doubted until a few good samples bring it down."""

ERROR_WEIGHT: Final = 0.2
MOST_ERROR: Final = 4.0
"""A sample's error counts at most this much, so that one hiccup is forgotten after some ten samples."""

LATE_SECONDS: Final = 0.2
"""How late a first token may well be heard, beside the work: the scale of `base`, whatever its prior."""

EVEN_CONTEXT: Final = 20_000.0
"""Tokens of context at which attention costs about as much as all else: the scale of `per_pair` without knowledge."""

EVEN_BATCH_CONTEXT: Final = 200_000.0
"""Tokens of context in a batch whose reading costs about as much as reading the weights: the scale of `per_context`."""

EVEN_BATCH: Final = 100.0
"""Sequences whose own cost is about that of the weights: the scale of `per_sequence`."""


class LatencyModel:
    """Writes the columns prefill_*, tpot_* and prediction_error of `cells`, row by row. Raises KeyError for a row
    without `prior`."""

    def __init__(self, cells: Cells) -> None:
        self._prefill = Rates((cells.prefill_base, cells.prefill_per_token, cells.prefill_per_pair))
        self._tpot = Rates((cells.tpot_base, cells.tpot_per_sequence, cells.tpot_per_context))
        self._error = cells.prediction_error

    def prior(self, row: int, prefill: PrefillPrior, tpot: TpotPrior, kind: str = "") -> None:
        """A node takes the row; nodes of one `kind` (model on hardware; "" = all unknown) share what they learn."""
        pair_scale = max(prefill.per_pair, prefill.per_token / EVEN_CONTEXT)
        self._prefill.start(
            row,
            kind,
            (prefill.base, prefill.per_token, prefill.per_pair),
            (max(prefill.base, LATE_SECONDS), prefill.per_token, pair_scale),
        )
        self._tpot.start(
            row,
            kind,
            (tpot.base, tpot.per_sequence, tpot.per_context),
            (
                tpot.base,
                max(tpot.per_sequence, tpot.base / EVEN_BATCH),
                max(tpot.per_context, tpot.base / EVEN_BATCH_CONTEXT),
            ),
        )
        self._error[row] = NO_FEEDBACK

    def forget(self, row: int) -> None:
        """The node has left."""
        self._prefill.forget(row)
        self._tpot.forget(row)

    def rescale(self, row: int, prefill: float, tpot: float) -> None:
        """Believe prefill and later tokens on the row to take so many times what they are believed to take."""
        self._prefill.rescale(row, prefill)
        self._tpot.rescale(row, tpot)

    def observe_prefill(self, row: int, tokens: float, pairs: float, seconds: float) -> None:
        """A first token came after `seconds`, with `tokens` and `pairs` to compute till then. Ignores seconds <= 0."""
        if not seconds > 0.0:
            return
        ratio = self._prefill.observe(row, (1.0, tokens, pairs), seconds)
        error = min(abs(ratio - 1.0), MOST_ERROR)
        self._error[row] += ERROR_WEIGHT * (error - self._error[row])

    def observe_tpot(self, row: int, running: float, context: float, seconds: float) -> None:
        """A token took `seconds` on average beside `running` sequences (itself one) of `context` tokens in total."""
        if seconds > 0.0:
            self._tpot.observe(row, (1.0, running, context), seconds)
