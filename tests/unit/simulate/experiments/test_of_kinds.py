"""Figures of each kind of clients."""

import msgspec
import pytest
from tests.support.measured import measured

from pointsman.sim.by_clients import ClientFigures
from pointsman.simulate.experiments.of_kinds import intervals_of_kinds, means_of_kinds
from pointsman.simulate.standing import PolicyRuns


def result(*p99: float | None) -> PolicyRuns:
    kinds = [(ClientFigures("short", 10, 1.0, 1.0, 0.2, each, 1.0, 2.0),) for each in p99]
    return PolicyRuns("p", tuple(msgspec.structs.replace(measured("p"), clients=each) for each in kinds))


def test_means_go_by_figure_and_kind() -> None:
    found = means_of_kinds(result(1.0, 2.0))
    assert found["ttft_p99_s of short"] == pytest.approx(1.5)
    assert found["success of short"] == 1.0


def test_intervals_are_of_figures_that_all_seeds_have() -> None:
    assert intervals_of_kinds(result(1.0, 2.0))["ttft_p99_s of short"] == [1.0, 2.0]
    assert "ttft_p99_s of short" not in intervals_of_kinds(result(1.0, None))


def test_without_kinds_there_are_none() -> None:
    bare = PolicyRuns("p", (measured("p"),))
    assert means_of_kinds(bare) == intervals_of_kinds(bare) == {}
