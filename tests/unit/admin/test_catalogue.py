from pointsman.admin.catalogue import policies
from pointsman.brain.policies.registry import POLICIES


def test_every_policy_is_told_with_a_summary_and_defaults() -> None:
    told = {policy.name: policy for policy in policies()}
    assert set(told) == set(POLICIES)
    assert all(policy.summary for policy in told.values())
    assert told["jffc"].parameters["w_load"] == 0.5
    assert told["session"].parameters["within"]["policy"] == "least_response_time"


def test_a_summary_is_one_line() -> None:
    assert not [policy.name for policy in policies() if "\n" in policy.summary]
