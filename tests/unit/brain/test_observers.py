from pointsman.brain.model.facts import Fact, PanicChanged, PolicyChanged
from pointsman.brain.observers import Observers

POLICY = PolicyChanged(1.0, "default", "jffc")
PANIC = PanicChanged(2.0, "m", True, 1, 4)


def test_a_callable_is_told_of_everything_and_handlers_of_their_kind() -> None:
    everything: list[Fact] = []
    policies: list[Fact] = []
    tell = Observers([everything.append])
    tell.add({PolicyChanged: policies.append})
    tell(POLICY)
    tell(PANIC)
    assert everything == [POLICY, PANIC]
    assert policies == [POLICY]


def test_who_comes_later_is_told_from_then_on() -> None:
    early: list[Fact] = []
    late: list[Fact] = []
    tell = Observers([early.append])
    tell(POLICY)
    tell.add({PolicyChanged: late.append})
    tell(POLICY)
    assert (len(early), len(late)) == (2, 1)


def test_observers_are_told_in_the_order_they_came() -> None:
    order: list[str] = []
    tell = Observers([lambda fact: order.append("first")])
    tell.add({PolicyChanged: lambda fact: order.append("second")})
    tell.add({PolicyChanged: lambda fact: order.append("third")})
    tell(POLICY)
    assert order == ["first", "second", "third"]


def test_facts_that_nobody_handles_need_not_be_made() -> None:
    tell = Observers()
    assert not tell.want(PolicyChanged)
    tell.add({PolicyChanged: lambda fact: None})
    assert tell.want(PolicyChanged)
    assert not tell.want(PanicChanged)
    assert Observers([lambda fact: None]).want(PanicChanged)
