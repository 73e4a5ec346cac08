from typing import Any

import numpy as np

from pointsman.brain.policies.gate import all_shut, open_nodes

WAIT = np.array([1.0, 3.0, 5.0])
BUSY = {"outstanding": [4.0, 1.0, 0.0]}


def test_open_while_the_wait_is_within_the_bound_and_the_count_below_the_cap(make_view: Any) -> None:
    view = make_view(**BUSY)
    assert open_nodes(view, WAIT, 3.0, 0).tolist() == [True, True, False]
    assert open_nodes(view, WAIT, 3.0, 4).tolist() == [False, True, False]


def test_shut_when_no_node_is_open(make_view: Any) -> None:
    view = make_view(**BUSY)
    assert not all_shut(view, WAIT, 1.0, 0)
    assert all_shut(view, WAIT, 0.9, 0)
    assert not all_shut(view, WAIT, 3.0, 4)
    assert all_shut(view, WAIT, 1.0, 4)  # the one with a short wait is at the cap


def test_several_gateways_share_the_bound(make_view: Any) -> None:
    assert open_nodes(make_view(**BUSY, gateways=3), WAIT, 3.0, 0).tolist() == [True, False, False]
    assert all_shut(make_view(**BUSY, gateways=4), WAIT, 3.0, 0)


def test_a_stacked_view_has_a_row_for_each_ticket(make_view: Any) -> None:
    waits = np.stack([WAIT, WAIT - 1.0])
    assert open_nodes(make_view(**BUSY), waits, 2.0, 4).tolist() == [[False, False, False], [False, True, False]]
