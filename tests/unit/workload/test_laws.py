"""Laws of arrivals as settings: the mean is what is asked for, and the rest what the law says."""

import numpy as np
import pytest

from pointsman.workload.arrivals import poisson_arrivals, retimed_arrivals
from pointsman.workload.laws import Arrivals
from pointsman.workload.streams import stream

LAWS = ("poisson", "gamma", "weibull", "modulated", "ramp")


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_the_mean_that_is_asked_for(law: str) -> None:
    moments = Arrivals(law=law, dwell_s=5.0).draw(stream(1, "a"), 20.0, 2000.0)  # type: ignore[arg-type]
    assert len(moments) == pytest.approx(40_000, rel=0.1)
    assert (np.diff(moments) >= 0).all()
    assert moments[-1] < 2000.0


def test_parameters_shape_the_gaps() -> None:
    def variation(arrivals: Arrivals) -> float:
        gaps = np.diff(arrivals.draw(stream(1, "a"), 10.0, 5000.0))
        return float(gaps.std() / gaps.mean())

    assert variation(Arrivals(law="gamma", cv=3.0)) == pytest.approx(3.0, rel=0.1)
    assert variation(Arrivals(law="weibull", shape=0.5)) == pytest.approx(5**0.5, rel=0.1)
    assert variation(Arrivals(law="modulated", dwell_s=10.0)) > 1.3


def test_a_ramp_goes_from_one_rate_to_the_other() -> None:
    moments = Arrivals(law="ramp", first=1.0, last=3.0).draw(stream(1, "a"), 20.0, 1000.0)
    assert (moments < 500.0).sum() / len(moments) == pytest.approx(0.375, abs=0.02)


def test_without_a_law_arrivals_are_poisson() -> None:
    drawn, expected = Arrivals().draw(stream(1, "a"), 2.0, 90.0), poisson_arrivals(stream(1, "a"), 2.0, 90.0)
    assert drawn.tolist() == expected.tolist()


def test_no_rate_at_all_is_refused() -> None:
    for wrong in ({"levels": (0.0, 0.0)}, {"first": 0.0, "last": 0.0}):
        with pytest.raises(ValueError, match="above 0"):
            Arrivals(**wrong)  # type: ignore[arg-type]


def test_gaps_of_a_trace_go_round_at_another_rate() -> None:
    moments = np.array([0.0, 1.0, 3.0, 6.0])
    drawn = retimed_arrivals(stream(1, "a"), moments, 4.0, 100.0)
    assert len(drawn) == pytest.approx(400, abs=3)
    assert sorted(set(np.round(np.diff(drawn), 9).tolist())) == [0.125, 0.25, 0.375]
    other = retimed_arrivals(stream(3, "a"), moments, 4.0, 100.0)
    assert {round(float(one[0]), 9) for one in (drawn, other)} <= {0.125, 0.25, 0.375}
    with pytest.raises(ValueError, match=r"1 moments over 0\.0 s make no arrivals"):
        retimed_arrivals(stream(1, "a"), np.array([3.0]), 4.0, 100.0)
