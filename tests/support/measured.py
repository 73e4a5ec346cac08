"""Results of runs that nobody ran, with the figures one wants."""

import msgspec
import numpy as np

from pointsman.observe.comparison import Window
from pointsman.sim.shape import TIME_BINS, TTFT_EDGES, Shape
from pointsman.sim.summary import NodeFigures, Slo, Summary, Terms, summarized
from pointsman.simulate.cases import Measured

NODES = ("a", "b")
DID = tuple(NodeFigures(name, 1, None, 10, 0, 0, 0.5, 10) for name in NODES)
TERMS = Terms(Window(0.0, 10.0), Slo(), NODES, (1.0, 1.0), lambda prompts, _outputs: np.ones_like(prompts))
BLANK = msgspec.structs.replace(summarized("", [], TERMS, DID), success=1.0)


def summary(name: str, **figures: float | None) -> Summary:
    """All answered; of what is not given, nothing is known."""
    return msgspec.structs.replace(BLANK, name=name, **figures)


def measured(name: str, seed: int = 1, *, shaped: bool = False, **figures: float | None) -> Measured:
    """A run of that policy; `shaped` for figures, with all first tokens in one class and one node always at work."""
    counts = [0] * (len(TTFT_EDGES) - 1)
    counts[200] = 50
    shape = Shape(tuple(counts), ((2.0,) * TIME_BINS, (0.0,) * TIME_BINS), 60.0)
    return Measured(seed, summary(name, **figures), DID, shape if shaped else None)
