"""How policies stand: means, intervals, and who ties with the best."""

import pytest
from tests.support.measured import measured

from pointsman.sim.statistics import Interval
from pointsman.simulate.standing import FEW, MANY, SUCCESS, TTFT_MEAN, PolicyRuns, by_policy, standing, winners_of


def runs(name: str, *ttft: float | None) -> PolicyRuns:
    return PolicyRuns(name, tuple(measured(name, seed, ttft_mean_s=value) for seed, value in enumerate(ttft, 1)))


def test_results_are_put_in_order_by_policy() -> None:
    found = [measured(name, seed) for seed in (1, 2) for name in ("x", "y")]
    results = by_policy(("x", "y"), found)
    assert [(one.name, [(run.seed, run.summary.name) for run in one.runs]) for one in results] == [
        ("x", [(1, "x"), (2, "x")]),
        ("y", [(1, "y"), (2, "y")]),
    ]


def test_an_interval_needs_every_seed_and_more_than_one() -> None:
    assert runs("x", 1.0).interval(TTFT_MEAN) is None
    assert runs("x", 1.0, None).interval(TTFT_MEAN) is None
    assert runs("x", 1.0, 1.0).interval(TTFT_MEAN) == Interval(1.0, 1.0)


def test_seeds_differ_more_than_policies_and_still_one_is_better() -> None:
    """Half a second slower on every seed: no tie, although the means' intervals overlap by far."""
    fast, slow = runs("fast", 1.0, 5.0, 9.0, 2.0, 7.0), runs("slow", 1.5, 5.5, 9.5, 2.5, 7.5)
    assert not slow.alike(fast, TTFT_MEAN)
    assert winners_of([fast, slow, runs("slowest", *[20.0] * 5)], TTFT_MEAN) == {"fast"}


def test_now_better_now_worse_is_a_tie() -> None:
    one, other = runs("one", 1.0, 5.0, 9.0, 2.0), runs("other", 2.0, 4.0, 10.0, 1.5)
    assert other.alike(one, TTFT_MEAN)
    assert winners_of([one, other, runs("slowest", *[20.0] * 4)], TTFT_MEAN) == {"one", "other"}


def test_cells_show_the_mean_and_half_the_interval_or_both_ends() -> None:
    results = [runs("x", 1.0, 2.0, 3.0), runs("y", 9.0, 9.0, 9.0)]
    first, second = (row.cells[0] for row in standing(results, [TTFT_MEAN]))
    assert (first.text, first.best, first.span[0]) == ("2.00", True, "±")
    assert (second.text, second.best, second.span) == ("9.00", False, "±0.00")
    assert standing(results, [TTFT_MEAN], ends=True)[1].cells[0].span == "9.00 – 9.00"
    assert standing([runs("x", 1.0)], [TTFT_MEAN])[0].cells[0].span == ""


@pytest.mark.parametrize("columns", [FEW, MANY])
def test_every_column_reads_its_figure(columns: tuple[object, ...]) -> None:
    results = [runs("x", None)]
    (row,) = standing(results, columns)  # type: ignore[arg-type]
    assert len(row.cells) == len(columns)
    assert row.cells[columns.index(SUCCESS)].text == "100.0"
