from pointsman.brain.hub import UNHEARD_BYTES, Hub
from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.sharing import Booked, Known, Sent, Share


def of(*numbers: int) -> Hub:
    """A hub whose members have heard all there is."""
    hub = Hub()
    for number in numbers:
        hub.join(number)
    for number in numbers:
        assert hub.report(number)
    return hub


def test_each_hears_the_sum_of_the_others_and_its_own() -> None:
    hub = of(1, 2, 3)
    hub.tell(1, Share(number=1, booked={"a": Booked(1, 1, 10, 20, 2), "b": Booked(5)}))
    hub.tell(2, Share(number=1, booked={"a": Booked(2, 0, 30, 40, 3)}))
    one, three = hub.report(1), hub.report(3)
    assert one is not None
    assert three is not None
    assert one.nodes == {"a": Known(Booked(2, 0, 30, 40, 3), 1), "b": Known(Booked(), 5)}
    assert three.nodes == {"a": Known(Booked(3, 1, 40, 60, 5), 0), "b": Known(Booked(5), 0)}
    assert (one.gateways, one.counted, three.counted) == (3, 1, 0)


def test_only_changes_are_reported_and_only_once() -> None:
    hub = of(1, 2)
    hub.tell(1, Share(number=1, booked={"a": Booked(1), "b": Booked(1)}))
    assert hub.report(2)
    assert hub.report(2) is None
    hub.tell(1, Share(number=2, booked={"a": Booked(2)}))
    report = hub.report(2)
    assert report is not None
    assert list(report.nodes) == ["a"]


def test_who_tells_hears_that_it_is_counted_whatever_it_told() -> None:
    hub = of(1, 2)
    hub.tell(1, Share(number=1, sent=[Sent("a", b"", 16.0)]))
    report = hub.report(1)
    assert report is not None
    assert (report.counted, report.sent) == (1, [])


def test_a_member_that_leaves_takes_its_bookings_along() -> None:
    hub = of(1, 2)
    hub.tell(1, Share(number=1, booked={"a": Booked(3)}, waiting=("m",)))
    hub.report(2)
    hub.leave(1)
    hub.leave(1)
    hub.tell(1, Share(number=2, booked={"a": Booked(9)}))
    report = hub.report(2)
    assert report is not None
    assert report.nodes == {"a": Known(Booked(), 0)}
    assert (report.gateways, report.waiting) == (1, {})


def test_a_new_member_hears_everything() -> None:
    hub = of(1)
    hub.tell(1, Share(number=1, booked={"a": Booked(3)}, waiting=("m",)))
    hub.report(1)
    hub.join(2)
    two, one = hub.report(2), hub.report(1)
    assert two is not None
    assert one is not None
    assert (two.nodes, two.waiting) == ({"a": Known(Booked(3), 0)}, {"m": 1})
    assert (one.gateways, one.nodes) == (2, {})


def test_how_many_others_wait_is_told_when_it_changes() -> None:
    hub = of(1, 2, 3)
    hub.tell(1, Share(number=1, waiting=("m", "n")))
    hub.tell(2, Share(number=1, waiting=("m",)))
    three = hub.report(3)
    one = hub.report(1)
    assert three is not None
    assert one is not None
    assert (three.waiting, one.waiting) == ({"m": 2, "n": 1}, {"m": 1})
    hub.tell(1, Share(number=2, waiting=()))
    three = hub.report(3)
    assert three is not None
    assert three.waiting == {"m": 1}


def test_prompts_go_to_the_others_and_the_oldest_are_dropped_for_who_does_not_keep_up() -> None:
    hub = of(1, 2)
    size = UNHEARD_BYTES // 4
    for number in range(6):
        hub.tell(1, Share(number=number + 1, sent=[Sent(str(number), bytes(size), 16.0)]))
    report = hub.report(2)
    assert report is not None
    assert [sent.node for sent in report.sent] == ["2", "3", "4", "5"]


def test_a_new_member_is_told_what_the_others_have_long_known() -> None:
    hub = of(1)
    hub.join(2)
    hub.recall(2, [Sent("a", b"12345678", 16.0)])
    hub.recall(3, [Sent("a", b"12345678", 16.0)])
    report = hub.report(2)
    assert report is not None
    assert [sent.node for sent in report.sent] == ["a"]


def test_what_all_hold_is_known_by_node_and_forgotten_at_zero() -> None:
    hub = of(1, 2)
    hub.tell(1, Share(number=1, booked={"a": Booked(3), "b": Booked(1)}))
    hub.tell(2, Share(number=1, booked={"a": Booked(2)}))
    assert (hub.booked("a"), hub.booked("b"), hub.booked("c")) == (Booked(5), Booked(1), Booked())
    hub.tell(1, Share(number=2, booked={"a": Booked(), "b": Booked()}))
    hub.leave(2)
    assert not hub._sums


def test_feedback_is_passed_on_to_all_others_once() -> None:
    hub = of(1, 2, 3)
    word = ClientReport(request="r", tenant="t", good=False)
    hub.tell(1, Share(number=1, feedback=[word]))
    heard = {number: hub.report(number) for number in (1, 2, 3)}
    assert [report.feedback if report else None for report in heard.values()] == [[], [word], [word]]
    hub.tell(1, Share(number=2, booked={"a": Booked(1)}))
    again = hub.report(2)
    assert again is not None
    assert not again.feedback
