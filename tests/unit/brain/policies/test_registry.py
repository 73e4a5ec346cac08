import dataclasses
import math

import pytest

from pointsman.brain.policies.jffc import Jffc
from pointsman.brain.policies.registry import POLICIES, UnknownPolicy, build
from pointsman.brain.policies.session import Session


def test_name_is_the_key() -> None:
    assert all(build(name).name == name for name in POLICIES)


def test_near_miss_is_suggested() -> None:
    with pytest.raises(UnknownPolicy, match="did you mean 'least_requests'"):
        build("least_request")


def test_unknown_parameter_names_the_known() -> None:
    with pytest.raises(UnknownPolicy, match=r"no parameter 'wload'; did you mean 'w_load'\? it has: "):
        build("jffc", {"wload": 1.0})


@pytest.mark.parametrize("attribute", ["name", "binds_late"])
def test_what_belongs_to_the_class_is_no_parameter(attribute: str) -> None:
    with pytest.raises(UnknownPolicy, match=f"no parameter '{attribute}'"):
        build("fastest_completion", {attribute: "x"})


def test_wrong_value_names_the_policy() -> None:
    with pytest.raises(UnknownPolicy, match="policy 'jffc'"):
        build("jffc", {"variant": "sead"})


def test_policy_within_a_policy_by_name_or_table() -> None:
    assert build("session", {"within": "jffc"}) == Session(within=Jffc())
    table = {"policy": "jffc", "w_load": 0.9}
    assert build("session", {"within": table, "epsilon": 0.5}) == Session(within=Jffc(w_load=0.9), epsilon=0.5)


@pytest.mark.parametrize("within", ["jfcc", 3, {"w_load": 1.0}, {"policy": "jffc", "wload": 1.0}])
def test_wrong_policy_within_is_explained(within: object) -> None:
    with pytest.raises(UnknownPolicy):
        build("session", {"within": within})


PARAMETERS = [
    (name, field.name)
    for name, kind in POLICIES.items()
    for field in dataclasses.fields(kind)  # type: ignore[arg-type]
    if isinstance(field.default, float | int) and not isinstance(field.default, bool)
]


@pytest.mark.parametrize("value", [-1, -0.001, math.nan, math.inf, -math.inf, "much", True])
@pytest.mark.parametrize(("policy", "parameter"), PARAMETERS)
def test_every_number_is_checked(policy: str, parameter: str, value: object) -> None:
    with pytest.raises(UnknownPolicy, match=f"policy '{policy}': `{parameter}`: expected `") as refused:
        build(policy, {parameter: value})
    assert "$" not in str(refused.value)


@pytest.mark.parametrize("parameter", ["forward_below", "forward_share"])
def test_what_may_be_left_open_is_checked_too(parameter: str) -> None:
    assert build("jffc", {parameter: None}) == Jffc()
    with pytest.raises(UnknownPolicy, match=parameter):
        build("jffc", {parameter: math.nan})


def test_the_bounds_of_a_hysteresis_do_not_cross() -> None:
    with pytest.raises(UnknownPolicy, match=r"policy 'hybrid': `calm_below` must not be above `recover_above` \(0.5\)"):
        build("hybrid", {"recover_above": 0.5})
