"""An abnormal delay is one that stands out from the node's own past and from its peers."""

from pointsman.brain.life.probe_delay import ProbeDelays


def delays(**usual: float) -> ProbeDelays:
    result = ProbeDelays()
    for row, seconds in enumerate(usual.values()):
        for _ in range(5):
            assert not result.abnormal(row, seconds)
            result.observe(row, seconds)
    return result


def test_a_delay_far_outside_is_abnormal_as_often_as_it_comes() -> None:
    seen = delays(a=0.005, b=0.004, c=0.006)
    for _ in range(40):
        assert seen.abnormal(0, 1.5)
        seen.observe(0, 1.5)
    assert not seen.abnormal(0, 0.005)


def test_below_a_second_nothing_is_abnormal() -> None:
    assert not delays(a=0.001, b=0.001).abnormal(0, 0.9)


def test_a_node_that_always_was_slow_is_left_alone() -> None:
    seen = delays(a=0.5, b=0.001, c=0.001)
    assert not seen.abnormal(0, 3.0)
    assert seen.abnormal(0, 4.5)
    assert seen.abnormal(1, 3.0)


def test_a_fleet_that_is_slow_as_a_whole_is_left_alone() -> None:
    seen = delays(a=0.005, b=1.0, c=1.0, d=1.0)
    assert not seen.abnormal(0, 5.0)


def test_without_a_past_nothing_is_abnormal() -> None:
    seen = ProbeDelays()
    assert not seen.abnormal(0, 30.0)
    seen.observe(0, 30.0)
    assert not seen.abnormal(0, 30.0)


def test_the_next_tenant_of_a_row_has_its_own_past() -> None:
    seen = delays(a=0.001)
    seen.forget(0)
    assert not seen.abnormal(0, 20.0)
