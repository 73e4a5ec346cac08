"""What figures are drawn from."""

import numpy as np

from pointsman.observe.comparison import Window
from pointsman.sim.record import Record
from pointsman.sim.shape import TIME_BINS, TTFT_EDGES, shape_of
from pointsman.sim.summary import Slo, Terms

TERMS = Terms(Window(10.0, 60.0), Slo(), ("a", "b"), (1.0, 1.0), lambda prompts, _outputs: prompts)


def record(sent: float, first: float | None, done: float, node: str = "a", *, streamed: bool = True) -> Record:
    return Record(sent, first, done, first is not None, node=node, streamed=streamed, placed_s=sent)


def test_streams_of_the_window_stand_in_the_class_of_their_first_token() -> None:
    records = [record(20.0, 20.5, 30.0), record(9.0, 9.5, 12.0), record(20.0, None, 30.0, streamed=False)]
    ttft = np.array(shape_of(records, TERMS, 60.0).ttft)
    (place,) = np.flatnonzero(ttft)
    assert ttft[place] == 1
    assert TTFT_EDGES[place] <= 0.5 < TTFT_EDGES[place + 1]


def test_what_is_outside_all_classes_is_in_the_outermost() -> None:
    ttft = shape_of([record(20.0, 20.0, 21.0), record(20.0, None, 1e6)], TERMS, 60.0).ttft
    assert (ttft[0], ttft[-1], sum(ttft)) == (1, 1, 2)


def test_load_is_of_the_whole_run() -> None:
    load = shape_of([record(0.0, 1.0, 30.0), record(30.0, 31.0, 90.0, node="b")], TERMS, 60.0).load
    assert [len(row) for row in load] == [TIME_BINS, TIME_BINS]
    assert (sum(load[0]), sum(load[1])) == (30.0, 30.0)
    assert load[0][0] == load[1][-1] == 1.0
