import gc
from contextlib import suppress

from pointsman.sim.collector import YOUNG, seldom_collected


def test_the_threshold_is_raised_for_a_while_and_put_back_even_after_an_error() -> None:
    before, during = gc.get_threshold(), []
    with suppress(ZeroDivisionError), seldom_collected():
        during.append(gc.get_threshold())
        raise ZeroDivisionError
    assert during == [(YOUNG, *before[1:])]
    assert gc.get_threshold() == before
