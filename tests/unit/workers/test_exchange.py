from pointsman.brain.model.reports import ClientReport
from pointsman.brain.model.sharing import Booked, Known, Sent, Share
from pointsman.workers.exchange import UNHEARD_BYTES, Exchange


def of(*numbers: int) -> Exchange:
    """An exchange whose members have heard all there is."""
    exchange = Exchange()
    for number in numbers:
        exchange.join(number)
    for number in numbers:
        assert exchange.report(number)
    return exchange


def test_each_hears_the_sum_of_the_others_and_its_own() -> None:
    exchange = of(1, 2, 3)
    exchange.tell(1, Share(number=1, booked={"a": Booked(1, 1, 10, 20, 2), "b": Booked(5)}))
    exchange.tell(2, Share(number=1, booked={"a": Booked(2, 0, 30, 40, 3)}))
    one, three = exchange.report(1), exchange.report(3)
    assert one is not None
    assert three is not None
    assert one.nodes == {"a": Known(Booked(2, 0, 30, 40, 3), 1), "b": Known(Booked(), 5)}
    assert three.nodes == {"a": Known(Booked(3, 1, 40, 60, 5), 0), "b": Known(Booked(5), 0)}
    assert (one.gateways, one.counted, three.counted) == (3, 1, 0)


def test_only_changes_are_reported_and_only_once() -> None:
    exchange = of(1, 2)
    exchange.tell(1, Share(number=1, booked={"a": Booked(1), "b": Booked(1)}))
    assert exchange.report(2)
    assert exchange.report(2) is None
    exchange.tell(1, Share(number=2, booked={"a": Booked(2)}))
    report = exchange.report(2)
    assert report is not None
    assert list(report.nodes) == ["a"]


def test_who_tells_hears_that_it_is_counted_whatever_it_told() -> None:
    exchange = of(1, 2)
    exchange.tell(1, Share(number=1, sent=[Sent("a", b"", 16.0)]))
    report = exchange.report(1)
    assert report is not None
    assert (report.counted, report.sent) == (1, [])


def test_a_member_that_leaves_takes_its_bookings_along() -> None:
    exchange = of(1, 2)
    exchange.tell(1, Share(number=1, booked={"a": Booked(3)}, waiting=("m",)))
    exchange.report(2)
    exchange.leave(1)
    exchange.leave(1)
    exchange.tell(1, Share(number=2, booked={"a": Booked(9)}))
    report = exchange.report(2)
    assert report is not None
    assert report.nodes == {"a": Known(Booked(), 0)}
    assert (report.gateways, report.waiting) == (1, {})


def test_a_new_member_hears_everything() -> None:
    exchange = of(1)
    exchange.tell(1, Share(number=1, booked={"a": Booked(3)}, waiting=("m",)))
    exchange.report(1)
    exchange.join(2)
    two, one = exchange.report(2), exchange.report(1)
    assert two is not None
    assert one is not None
    assert (two.nodes, two.waiting) == ({"a": Known(Booked(3), 0)}, {"m": 1})
    assert (one.gateways, one.nodes) == (2, {})


def test_how_many_others_wait_is_told_when_it_changes() -> None:
    exchange = of(1, 2, 3)
    exchange.tell(1, Share(number=1, waiting=("m", "n")))
    exchange.tell(2, Share(number=1, waiting=("m",)))
    three = exchange.report(3)
    one = exchange.report(1)
    assert three is not None
    assert one is not None
    assert (three.waiting, one.waiting) == ({"m": 2, "n": 1}, {"m": 1})
    exchange.tell(1, Share(number=2, waiting=()))
    three = exchange.report(3)
    assert three is not None
    assert three.waiting == {"m": 1}


def test_prompts_go_to_the_others_and_the_oldest_are_dropped_for_who_does_not_keep_up() -> None:
    exchange = of(1, 2)
    size = UNHEARD_BYTES // 4
    for number in range(6):
        exchange.tell(1, Share(number=number + 1, sent=[Sent(str(number), bytes(size), 16.0)]))
    report = exchange.report(2)
    assert report is not None
    assert [sent.node for sent in report.sent] == ["2", "3", "4", "5"]


def test_a_new_member_is_told_what_the_others_have_long_known() -> None:
    exchange = of(1)
    exchange.join(2)
    exchange.recall(2, [Sent("a", b"12345678", 16.0)])
    exchange.recall(3, [Sent("a", b"12345678", 16.0)])
    report = exchange.report(2)
    assert report is not None
    assert [sent.node for sent in report.sent] == ["a"]


def test_what_all_hold_is_known_by_node_and_forgotten_at_zero() -> None:
    exchange = of(1, 2)
    exchange.tell(1, Share(number=1, booked={"a": Booked(3), "b": Booked(1)}))
    exchange.tell(2, Share(number=1, booked={"a": Booked(2)}))
    assert (exchange.booked("a"), exchange.booked("b"), exchange.booked("c")) == (Booked(5), Booked(1), Booked())
    exchange.tell(1, Share(number=2, booked={"a": Booked(), "b": Booked()}))
    exchange.leave(2)
    assert not exchange._sums


def test_feedback_is_passed_on_to_all_others_once() -> None:
    exchange = of(1, 2, 3)
    word = ClientReport(request="r", tenant="t", good=False)
    exchange.tell(1, Share(number=1, feedback=[word]))
    heard = {number: exchange.report(number) for number in (1, 2, 3)}
    assert [report.feedback if report else None for report in heard.values()] == [[], [word], [word]]
    exchange.tell(1, Share(number=2, booked={"a": Booked(1)}))
    again = exchange.report(2)
    assert again is not None
    assert not again.feedback
