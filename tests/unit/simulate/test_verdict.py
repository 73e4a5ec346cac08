"""What a comparison says in words."""

from tests.support.measured import measured

from pointsman.config.sweep import SweepConfig
from pointsman.simulate.crossing import Bound
from pointsman.simulate.standing import PolicyRuns
from pointsman.simulate.sweep import Capacity, Scene, Swept
from pointsman.simulate.verdict import swept_verdict, verdict


def runs(name: str, seeds: int = 2, **figures: float) -> PolicyRuns:
    usual = {"in_slo": 0.9, "ttft_mean_s": 1.0, "ttft_p99_s": 4.0, "tpot_p99_s": 0.05, "e2e_p99_s": 20.0}
    return PolicyRuns(name, tuple(measured(name, seed, **usual | figures) for seed in range(1, seeds + 1)))


def test_the_leader_its_lead_and_where_others_are_better() -> None:
    good = runs("good", in_slo=0.99, ttft_p99_s=1.0, tpot_p99_s=0.06)
    assert verdict([good, runs("fair"), runs("bad", ttft_mean_s=2.0, ttft_p99_s=6.0, e2e_p99_s=30.0)]) == [
        "good is best, or tied with the best, in 4 of 5 headline figures: requests inside the SLO, TTFT mean, TTFT P99 "
        "and E2E P99.",
        "Under good one request in a hundred waits longer than 1.00 s for its first token; under bad, 6.0 times as "
        "long.",
        "Better in TPOT P99: fair and bad (50 ms against 60 ms).",
    ]


def test_equal_leaders_are_named_together() -> None:
    said = verdict([runs("one", in_slo=0.99), runs("other", ttft_p99_s=1.0), runs("bad", e2e_p99_s=30.0)])
    assert said[0] == "one and other are each best, or tied with the best, in 2 of 5 headline figures."


def test_where_all_are_alike_it_is_said() -> None:
    assert verdict([runs("one"), runs("other")]) == ["No policy can be told from the others in any headline figure."]
    assert verdict([runs("one")]) == []


def test_doubts_are_part_of_it() -> None:
    said = verdict([runs("one", 1, ttft_p99_s=1.0), runs("other", 1, success=0.9)])
    assert "other left 10.0% of requests unanswered: its times are those of the rest." in said
    assert said[-1].startswith("One seed only: a difference may be chance.")


def swept(*capacities: tuple[str, float, Bound]) -> list[str]:
    found = tuple(Capacity(name, 0.9, rate, rate, bound, None) for name, rate, bound in capacities)
    none = tuple(Capacity(name, 0.99, 1.0, 1.0, "below", None) for name, _, _ in capacities)
    return swept_verdict(Swept(Scene("", SweepConfig(), 1.0), (), {}, found + none))


def test_a_sweep_says_who_keeps_the_objective_longest() -> None:
    first, second = swept(("slow", 5.0, ""), ("fast", 10.0, ""), ("fair", 8.0, ""), ("worst", 1.0, "below"))
    assert first == (
        "fast keeps 90% of requests inside the SLO up to 10.00 requests/s; next is fair with 8.00; the last, slow, "
        "with 5.00, 2.00 times less."
    )
    assert swept(("slow", 5.0, ""), ("fast", 10.0, ""))[0].endswith("; next is slow with 5.00, 2.00 times less.")
    assert second == "No policy keeps 99% of requests inside the SLO at any load tried."


def test_ties_and_bounds_are_said() -> None:
    assert swept(("a", 10.0, "above"), ("b", 9.9, ""))[0] == (
        "a keeps 90% of requests inside the SLO up to more than 10.00 requests/s, and so does b, within 2%."
    )
