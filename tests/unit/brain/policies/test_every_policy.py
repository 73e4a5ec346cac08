"""What every registered policy keeps, whatever its rule."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.brain.model.choice import Choice, Hold
from pointsman.brain.model.draw import draw
from pointsman.brain.model.request import Request
from pointsman.brain.model.view import COLUMNS, Columns, View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import POLICIES, build

EVERY = sorted(POLICIES)
POSITIONAL = {"round_robin", "weighted_random", "random"}
"""Drawn by position, not by score: another order of the candidates is another draw."""
TWO = {"two_choices", "token_two_choices", "peak_ewma"}
"""Look at two random candidates only."""

REQUEST = Request(id="r", model="m", prompt_tokens=1000.0)
SESSION = Request(id="r", model="m", prompt_tokens=1000.0, session="alice")


def make(seed: int, candidates: int, *, memo: Any = None, first_row: int = 0) -> View:
    """A view of a fleet in a random, sensible state; `first_row` > 0 leaves earlier rows of the fleet out."""
    rng = np.random.default_rng(seed)
    rows = candidates + first_row
    columns = {name: rng.uniform(0.01, 2.0, rows) for name in COLUMNS}
    columns["outstanding"] = np.floor(rng.uniform(0.0, 20.0, rows))
    columns["running"] = np.floor(columns["outstanding"] * rng.uniform(0.0, 1.0, rows))
    columns["slots"] = np.floor(rng.uniform(1.0, 65.0, rows))
    columns["kv_capacity"] = np.where(rng.uniform(size=rows) < 0.2, np.inf, 500.0)
    columns["kv_reserved"] = rng.uniform(0.0, 500.0, rows)
    columns["kv_cached"] = rng.uniform(0.0, 500.0, rows)
    columns["block_tokens"] = np.full(rows, 16.0)
    columns["backlog_tokens"] = rng.uniform(0.0, 30_000.0, rows)
    columns["prefill_per_token"] = rng.uniform(1e-5, 1e-3, rows)
    columns["prefill_per_pair"] = rng.uniform(0.0, 1e-8, rows)
    columns["recovery_slope"] = rng.normal(size=rows)
    overlap = np.where(rng.uniform(size=candidates) < 0.5, 0.0, rng.uniform(0.0, 1000.0, candidates))
    overlap.flags.writeable = False
    return View(
        Columns(**columns).read_only(rows),
        np.arange(first_row, rows),
        overlap=overlap,
        prompt_tokens=1000.0,
        output_tokens=100.0,
        sequence=seed,
        draw=draw(seed, 7),
        memo=memo,
        whole=first_row == 0,
    )


def answer(policy: Policy, view: View, request: Request = REQUEST) -> tuple[int, str, Any]:
    choice = policy.choose(request, view)
    return (choice.index if isinstance(choice, Choice) else -1), choice.reason, choice.memo


@pytest.mark.parametrize("name", EVERY)
@given(seed=st.integers(0, 10_000), candidates=st.integers(1, 12), first_row=st.integers(0, 2))
def test_choice_is_valid_pure_and_replayable(name: str, seed: int, candidates: int, first_row: int) -> None:
    policy = build(name)
    view = make(seed, candidates, first_row=first_row)
    for request in (REQUEST, SESSION):
        choice = policy.choose(request, view)
        assert choice.scores.shape == (candidates,)
        assert np.isfinite(choice.scores).all()
        assert len(choice.reason.split()) == 1
        if isinstance(choice, Choice):
            assert 0 <= choice.index < candidates
        again = make(seed, candidates, first_row=first_row)
        assert answer(policy, again, request) == answer(policy, view, request)
        if not request.session:
            assert answer(policy, view.snapshot(), request) == answer(policy, view, request)


@pytest.mark.parametrize("name", EVERY)
@given(seed=st.integers(0, 10_000), tickets=st.integers(1, 6), candidates=st.integers(1, 5))
def test_one_of_the_waiting_tickets_is_picked(name: str, seed: int, tickets: int, candidates: int) -> None:
    policy = build(name)
    requests = [Request(id=f"r{n}", model="m", prompt_tokens=1000.0) for n in range(tickets)]
    overlaps = np.random.default_rng(seed).uniform(0.0, 1000.0, (tickets, candidates))
    views = [make(seed, candidates) for _ in requests]
    for view, overlap in zip(views, overlaps, strict=True):
        view.held = overlap
    picked = policy.pick(requests, views)
    assert 0 <= picked < tickets
    assert policy.pick(requests, [view.snapshot() for view in views]) == picked
    assert policy.binds_late or picked == 0


@pytest.mark.parametrize("name", sorted(set(EVERY) - POSITIONAL - TWO))
@given(seed=st.integers(0, 10_000), candidates=st.integers(2, 8))
def test_order_of_candidates_does_not_matter(name: str, seed: int, candidates: int) -> None:
    view = make(seed, candidates)
    order = np.random.default_rng(seed + 1).permutation(candidates)
    overlap = view.overlap[order]
    turned = View(
        view.columns.gather(order),
        np.arange(candidates),
        overlap=overlap,
        prompt_tokens=view.prompt_tokens,
        output_tokens=view.output_tokens,
        draw=view.draw,
        sequence=view.sequence,
        whole=True,
    )
    policy = build(name)
    scores = policy.score(REQUEST, view)
    np.testing.assert_allclose(policy.score(REQUEST, turned), scores[order], rtol=1e-9)
    if len(set(scores)) == candidates and not isinstance(policy.choose(REQUEST, view), Hold):
        chosen, turned_chosen = answer(policy, view)[0], answer(policy, turned)[0]
        assert order[turned_chosen] == chosen


@pytest.mark.parametrize("name", EVERY)
def test_equal_candidates_share_the_choices(name: str, make_view: Any) -> None:
    policy = build(name)
    views = [make_view(outstanding=[0.0] * 4, draw=draw(3, i), sequence=i) for i in range(400)]
    counts = np.bincount([answer(policy, view)[0] for view in views], minlength=4)
    assert counts.min() > 60


@pytest.mark.parametrize("name", EVERY)
def test_no_overlap_no_prompt_no_output_is_no_trouble(name: str, make_view: Any) -> None:
    view = make_view(outstanding=[1.0, 1.0], prompt_tokens=0.0, output_tokens=0.0)
    assert np.isfinite(build(name).choose(REQUEST, view).scores).all()
