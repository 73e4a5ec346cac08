"""Figures by name."""

import pytest

from pointsman.config.flags import ConfigError
from pointsman.sim.summary import Summary
from pointsman.simulate.experiments.figures import CAPACITY, FIGURES, best_of, figure


def test_every_figure_is_one_of_a_run_or_a_highest_rate() -> None:
    assert all(name in Summary.__struct_fields__ or name.startswith(CAPACITY) for name in FIGURES)


def test_values_are_written_in_their_unit() -> None:
    assert figure("tpot_mean_s").text(0.0123) == "12.3"
    assert figure("in_slo").text(None) == "–"


def test_a_figure_of_a_kind_of_clients_is_told_more_finely() -> None:
    one = figure("ttft_p99_s of short")
    assert (one.heading, one.text(1.234)) == ("TTFT P99, short", "1.23")
    with pytest.raises(ConfigError, match="no figure 'busy of short'; there are: success, in_slo"):
        figure("busy of short")


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(ConfigError, match="no figure 'speed'; there are: success"):
        figure("speed")


def test_the_best_and_what_ties_with_it() -> None:
    values = {"a": 1.0, "b": 1.01, "c": 2.0}
    assert best_of(values, "lower") == {"a", "b"}
    assert best_of(values, "higher") == {"c"}
    assert best_of(values, "") == best_of({"a": 1.0, "b": 1.0}, "lower") == best_of({}, "lower") == frozenset()
