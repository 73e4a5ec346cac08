"""Columns say what the samples they were made of say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointsman.observe.comparison import Sample, Window
from pointsman.observe.sampled import NOWHERE, Sampled, mean, quantile

NODES = ("a", "b")
SAMPLES = st.builds(
    lambda sent, first, rest, **more: Sample(sent, None if first is None else sent + first, sent + rest, **more),
    st.floats(0, 30),
    st.none() | st.floats(0, 5),
    st.floats(5, 30),
    ok=st.booleans(),
    prompt_tokens=st.integers(1, 1000),
    cached_tokens=st.just(0),
    output_tokens=st.integers(0, 3),
    node=st.sampled_from((*NODES, "", "elsewhere")),
    streamed=st.booleans(),
)


@given(st.lists(SAMPLES, max_size=30))
def test_every_row_is_its_sample(samples: list[Sample]) -> None:
    columns = Sampled.of(samples, NODES)
    for row, one in enumerate(samples):
        assert columns.ttft_s[row] == one.ttft_s
        assert columns.work_tokens[row] == one.work_tokens
        tpot = columns.tpot_s[row]
        assert (None if np.isnan(tpot) else tpot) == one.tpot_s
        assert columns.node[row] == (NODES.index(one.node) if one.node in NODES else NOWHERE)


@given(st.lists(SAMPLES, max_size=30))
def test_the_window_holds_its_beginning_and_not_its_end(samples: list[Sample]) -> None:
    window = Window(10.0, 20.0)
    columns = Sampled.of(samples, NODES)
    sent = columns.only(columns.sent_in(window))
    assert list(sent.sent_s) == [one.sent_s for one in samples if window.holds(one.sent_s)]
    assert len(sent) == len(sent.node)


def test_what_is_unknown_is_left_out() -> None:
    values = np.array([1.0, np.nan, 3.0])
    assert (mean(values), quantile(values, 1.0)) == (2.0, 3.0)
    assert (mean(values[1:2]), quantile(values[:0], 0.5)) == (None, None)
