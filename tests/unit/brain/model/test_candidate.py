"""A candidate shows one row of the fleet's cells, and derives from them what a view does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.small_views import FEW_NODES, views

from pointsman.brain.model.candidate import Candidate
from pointsman.brain.model.view import COLUMNS, Cells


def test_it_shows_its_row_and_the_request() -> None:
    cells = Cells(3)
    for number, name in enumerate(COLUMNS, 1):
        getattr(cells, name)[1] = number
    candidate = Candidate(cells, 1, 32.0, 100.0, 20.0, 5.0)
    shown = [name for name in COLUMNS if hasattr(candidate, name)]
    assert len(shown) == 20
    assert [getattr(candidate, name) for name in shown] == [getattr(cells, name)[1] for name in shown]
    request = (candidate.overlap, candidate.prompt_tokens, candidate.reserve_tokens, candidate.ttft_objective)
    assert request == (32.0, 100.0, 20.0, 5.0)


def test_what_is_derived_is_a_float() -> None:
    cells = Cells(1)
    cells.slots[0], cells.kv_capacity[0], cells.block_tokens[0], cells.outstanding[0] = 4.0, np.inf, 16.0, 2.0
    cells.prefill_per_token[0], cells.backlog_tokens[0] = 0.001, 500.0
    candidate = Candidate(cells, 0, 0.0, 100.0, 20.0, 5.0)
    derived = (candidate.load, candidate.blocks_needed, candidate.backlog_seconds, candidate.prefill_seconds)
    assert derived == pytest.approx((0.5, 8.0, 0.5, 0.1))
    assert all(type(amount) is float for amount in derived)


@given(FEW_NODES, st.floats(0.0, 1.0), st.integers(1, 10**6))
def test_what_is_derived_is_to_the_last_bit_what_a_view_derives(
    nodes: list[dict[str, float]], share: float, prompt: int
) -> None:
    view, _ = views(nodes, share, prompt)
    for name in ("miss", "room_tokens", "backlog_seconds", "prefill_seconds", "load", "blocks_needed"):
        assert [getattr(candidate, name) for candidate in view.candidates] == getattr(view, name).tolist()
