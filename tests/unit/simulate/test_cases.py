"""Single runs of a comparison."""

import msgspec

from pointsman.config.sim import SimConfig
from pointsman.simulate.cases import cases_of, measure
from pointsman.simulate.plan import planned

CONFIG = SimConfig(seconds=10.0, rate=6.0, seeds=2, warm_up=0.0, parameters={"jffc": {"variant": "seed"}})
POLICIES = ("round_robin", "jffc")


def test_the_policies_of_a_seed_stand_together() -> None:
    names = [case.name for case in cases_of(CONFIG, POLICIES, "0.7 of saturation")]
    assert names == [f"{policy}, 0.7 of saturation, seed {seed}" for seed in (1, 2) for policy in POLICIES]


def test_a_seed_alone_has_the_demand_it_has_among_others() -> None:
    alone = [planned(case.config).demands for case in cases_of(CONFIG, ("jffc",))]
    assert [one for (one,) in alone] == list(planned(CONFIG).demands)


def test_figures_are_drawn_from_what_was_asked_for_only() -> None:
    plain, shaped = (measure(cases_of(CONFIG, POLICIES, shaped=want)[1], lambda _: None) for want in (False, True))
    assert plain.shape is None
    assert shaped.shape is not None
    assert sum(shaped.shape.ttft) == shaped.summary.requests
    assert msgspec.structs.replace(shaped, shape=None) == plain
    assert (plain.summary.name, plain.seed) == ("jffc", 1)


def test_the_seconds_told_rise() -> None:
    seconds: list[float] = []
    measure(cases_of(CONFIG, POLICIES)[0], seconds.append)
    assert seconds == sorted(seconds)
    assert len(seconds) > 90


def test_a_policy_is_compared_with_itself_under_another_name() -> None:
    tuned = {"tuned": {"policy": "jffc", "variant": "seed"}}
    config = msgspec.structs.replace(CONFIG, seeds=1, parameters=tuned)
    usual, other = (measure(case, lambda _: None) for case in cases_of(config, ("jffc", "tuned")))
    assert (usual.summary.name, other.summary.name) == ("jffc", "tuned")
    as_seed = msgspec.structs.replace(CONFIG, seeds=1)  # whose jffc has that variant
    (same,) = (measure(case, lambda _: None) for case in cases_of(as_seed, ("jffc",)))
    assert msgspec.structs.replace(other.summary, name="jffc") == same.summary
