"""Python's cyclic garbage collector while a simulation runs: seldom.

A run keeps a record of every request, none of them in a cycle, so by default the collector would look through a growing
heap again and again, and find nothing: a tenth of the time of a run.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG = 50_000
"""New objects, beyond those that are gone, between two collections: some megabytes."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Raise the collector's threshold for a while. What lives already is looked at as before."""
    before = gc.get_threshold()
    gc.set_threshold(YOUNG, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
