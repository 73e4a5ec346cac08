"""How many times slower than usual each node is of late, against its peers.

Strategy: a policy that predicts adapts to a node that has become slow; all others keep sending it as much as before. So
this keeps a yardstick that does not adapt. Every sample is divided by what the yardstick predicts for its size,

    slowness = EWMA of ln((measured + g) / (predicted + g)) − what is usual of it − median of the peers' same difference

for first tokens and for the tokens after them, g being a grace in seconds; the worse of the two counts. The yardstick
of nodes whose hardware and model are declared is the median of the rates learned for their kind, usual is 0, and the
peers are that kind. Of all others nobody knows how fast they should be: the yardstick is the node's own rates when
they were first learned, usual is a slow mean, and all such nodes are peers. So a fleet of mixed speeds is at 0, and
so is one that slows down as a whole.

Rates that were learned on small batches say little of large ones. What is larger than all that such a yardstick was
learned on may take as long as the rates say, or as little as the largest did: a time between the two is usual, else
healthy nodes would look slow beside one that does much more than was foretold. When many requests are much larger, and
the node is not slow, the yardstick is learned anew.
"""

from array import array
from collections.abc import Mapping
from math import exp, inf, log
from typing import Final

from pointsman.brain.load.median import median
from pointsman.brain.model.view import Cells

WEIGHT: Final = 0.2
"""Of the newest sample: half of a sudden change shows after 3, nine tenths after 10."""
LEAST_SAMPLES: Final = 8
"""A node of a declared kind with fewer is not judged, and no peer."""
LEARNED: Final = 32
"""Samples after which the rates of another are its yardstick; as many again tell what is usual by it."""
USUAL_SAMPLES: Final = 256
"""Samples in the mean that is usual, later: it follows what changes within some minutes, but not at once."""
USUAL: Final = log(1.4)
"""What is slower than this is not usual, however long it lasts."""
BEYOND: Final = 2.0
"""Requests so many times larger than all that the yardstick was learned on ask for another."""
STALE_SECONDS: Final = 10.0
"""Without samples a node is taken to become usual again with this time constant, so that it is tried again."""
FORGIVEN_SECONDS: Final = 30.0
"""And so are the rates that are learned of it, with this one: trying a slow node costs its request a delay."""
MOST: Final = log(20.0)
"""One sample counts for no more than this, so that one hiccup is no change."""

FIRST_GRACE_SECONDS: Final = 0.25
REST_GRACE_SECONDS: Final = 0.01
"""Added to what is measured and to what is predicted: a first token waits for the step under way, a later one for its
neighbours' prefills, and differences of that size are no slowness, however many times they are of very little."""

PROMPT: Final = (1000.0, 1000.0 * 500.0)
BATCH: Final = (8.0, 8000.0)
"""Features of a usual prompt and a usual batch, where rates are compared as a whole."""

Triple = tuple[float, float, float]
Rates = tuple["array[float]", "array[float]", "array[float]"]


class _Channel:
    """First tokens, or later ones, of one node: a base, and the rates of two features."""

    __slots__ = ("_beyond", "_declared", "_grace", "_lately", "_most_x", "_most_y", "_usual", "samples", "yardstick")

    def __init__(self, declared: bool, yardstick: Triple, grace: float) -> None:
        self._declared = declared
        self._grace = grace
        self.yardstick = yardstick
        self._start_over()

    def _start_over(self) -> None:
        self.samples = self._beyond = 0
        self._most_x = self._most_y = inf if self._declared else 0.0
        self._usual = self._lately = 0.0

    @property
    def known(self) -> bool:
        """Whether enough was seen to tell how slow it is."""
        return self.samples >= (LEAST_SAMPLES if self._declared else 2 * LEARNED)

    @property
    def deviation(self) -> float:
        """Logarithm of how many times slower than usual it is of late."""
        return self._lately - self._usual

    def observe(self, x: float, y: float, seconds: float, learned: Triple) -> None:
        """The features took so long. `learned` are the rates as they are believed now."""
        if self.samples < LEARNED:
            self._most_x, self._most_y = max(x, self._most_x), max(y, self._most_y)
        least = _seconds(self.yardstick, min(x, self._most_x), min(y, self._most_y))
        if seconds <= 0.0 or least <= 0.0:
            return
        sample = self._sample(seconds, least, _seconds(self.yardstick, x, y))
        self.samples += 1
        self._beyond += x > BEYOND * self._most_x or y > BEYOND * self._most_y
        if self._declared or self.samples > 2 * LEARNED:
            self._lately += WEIGHT * (sample - self._lately)
            if not self._declared and self._lately - self._usual < USUAL:
                self._usual += (sample - self._usual) / USUAL_SAMPLES
        elif self.samples <= LEARNED:
            self.yardstick = learned
        else:
            self._usual += (sample - self._usual) / (self.samples - LEARNED)
            self._lately = self._usual
        if self._beyond >= LEARNED and self._lately - self._usual < USUAL:
            self._start_over()

    def _sample(self, seconds: float, least: float, most: float) -> float:
        """Logarithm of measured/predicted: of what the predictions from `least` to `most` make it, the most usual."""
        measured = seconds + self._grace
        sample = log(measured / (most + self._grace))
        if most > least:
            sample = max(sample, min(self._usual, log(measured / (least + self._grace))))
        return max(-MOST, min(MOST, sample))

    def relax(self, kept: float) -> None:
        """Nothing was heard for a while."""
        self._lately = self._usual + (self._lately - self._usual) * kept

    def too_slow(self, learned: Triple, features: tuple[float, float]) -> float:
        """Logarithm of how many times slower than usual the `learned` rates are; 0 if they are not, or if unknown."""
        x, y = features
        now, usual = _seconds(learned, x, y), _seconds(self.yardstick, x, y)
        if not self.known or now <= 0.0 or usual <= 0.0:
            return 0.0
        return max(0.0, log(now / usual) - self._usual)


class _Node:
    __slots__ = ("first", "kind", "rest", "sampled_at")

    def __init__(self, kind: str, first: Triple, rest: Triple) -> None:
        self.kind = kind
        self.first = _Channel(bool(kind), first, FIRST_GRACE_SECONDS)
        self.rest = _Channel(bool(kind), rest, REST_GRACE_SECONDS)
        self.sampled_at = -inf


class Slowness:
    """Nodes by fleet row. Reads the learned rates in `cells`; seconds, tokens. A sample costs about a microsecond."""

    def __init__(self, cells: Cells) -> None:
        self._first = cells.prefill_base, cells.prefill_per_token, cells.prefill_per_pair
        self._rest = cells.tpot_base, cells.tpot_per_sequence, cells.tpot_per_context
        self._nodes: dict[int, _Node] = {}
        self._kinds: dict[str, list[int]] = {}

    def start(self, row: int, kind: str) -> None:
        """A node of `kind` (model on hardware; "" = unknown) takes the row."""
        self._nodes[row] = _Node(kind, _of(self._first, row), _of(self._rest, row))
        self._kinds = self._by_kind()

    def forget(self, row: int) -> None:
        """The node has left."""
        self._nodes.pop(row, None)
        self._kinds = self._by_kind()

    def first_token(self, row: int, tokens: float, pairs: float, seconds: float, now: float) -> None:
        """A first token came after `seconds`, in which `tokens` and `pairs` of them were to be computed."""
        node = self._nodes[row]
        node.sampled_at = now
        node.first.observe(tokens, pairs, seconds, _of(self._first, row))

    def tokens(self, row: int, running: float, context: float, seconds: float, now: float) -> None:
        """A later token took `seconds` on average beside `running` sequences of `context` tokens in total."""
        node = self._nodes[row]
        node.sampled_at = now
        node.rest.observe(running, context, seconds, _of(self._rest, row))

    def refresh(self, now: float, elapsed: float) -> None:
        """Renew what changes with time alone; `elapsed` seconds since the last time. Costs some time per node."""
        kept = exp(-elapsed / STALE_SECONDS)
        for row in self._unheard(now):
            self._nodes[row].first.relax(kept)
            self._nodes[row].rest.relax(kept)
        for kind, rows in self._kinds.items():
            if kind:
                first, rest = _medians(self._first, rows), _medians(self._rest, rows)
                for row in rows:
                    self._nodes[row].first.yardstick = first
                    self._nodes[row].rest.yardstick = rest

    def forgiven(self, now: float, elapsed: float) -> list[tuple[int, float, float]]:
        """Rows nothing was heard of that are believed slow, and factors for their rates of first and later tokens.

        A policy that predicts would never send anything there again, and so never learn that it is well.
        """
        step = 1.0 - exp(-elapsed / FORGIVEN_SECONDS)
        found: list[tuple[int, float, float]] = []
        for row in self._unheard(now):
            node = self._nodes[row]
            first = node.first.too_slow(_of(self._first, row), PROMPT)
            rest = node.rest.too_slow(_of(self._rest, row), BATCH)
            if first or rest:
                found.append((row, exp(-first * step), exp(-rest * step)))
        return found

    def slowness(self) -> dict[int, float]:
        """Natural logarithm of how many times slower than its peers each row is, where that is known."""
        result: dict[int, float] = {}
        for rows in self._kinds.values():
            _enter_worse(result, rows, [self._nodes[row].first for row in rows])
            _enter_worse(result, rows, [self._nodes[row].rest for row in rows])
        return result

    def _unheard(self, now: float) -> list[int]:
        return [row for row, node in self._nodes.items() if now - node.sampled_at >= STALE_SECONDS]

    def _by_kind(self) -> dict[str, list[int]]:
        kinds: dict[str, list[int]] = {}
        for row, node in self._nodes.items():
            kinds.setdefault(node.kind, []).append(row)
        return kinds


def _seconds(rates: Triple, x: float, y: float) -> float:
    base, per_x, per_y = rates
    return base + per_x * x + per_y * y


def _of(rates: Rates, row: int) -> Triple:
    first, second, third = rates
    return first[row], second[row], third[row]


def _medians(rates: Rates, rows: list[int]) -> Triple:
    first, second, third = rates
    return (
        median([first[row] for row in rows]),
        median([second[row] for row in rows]),
        median([third[row] for row in rows]),
    )


def _enter_worse(worst: dict[int, float], rows: list[int], channels: list[_Channel]) -> None:
    """Let `worst` have for each row what it is above the median of the others, where that is more; nothing for one."""
    known = [place for place, channel in enumerate(channels) if channel.known]
    if len(known) < 2:
        return
    slower = _above_others([channels[place].deviation for place in known])
    for place, above in zip(known, slower):  # noqa: B905 - compiled code does without an iterator only so
        row = rows[place]
        if above > worst.get(row, -inf):
            worst[row] = above


def above_others(values: Mapping[int, float]) -> dict[int, float]:
    """For each of at least two values, how much it is above the median of all the others."""
    return dict(zip(values, _above_others(list(values.values())), strict=True))


def _above_others(values: list[float]) -> list[float]:
    """The same, in order.

    Leaving out one value moves the middle of the ordered others in one of three ways, by which side of it the value is.
    """
    ordered = sorted(values)
    low, high = (len(ordered) - 2) // 2, (len(ordered) - 1) // 2
    lower, upper = ordered[low], ordered[high]
    without_lower = 0.5 * (ordered[low + 1] + ordered[high + 1])
    without_middle = 0.5 * (lower + ordered[high + 1])
    without_upper = 0.5 * (lower + upper)
    result: list[float] = []
    for value in values:
        others = without_lower if value <= lower else without_middle if value <= upper else without_upper
        result.append(value - others)
    return result
