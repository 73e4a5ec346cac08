"""Timed actions."""

from pointsman.brain.agenda import Agenda


def test_actions_come_in_order_of_time_then_of_entry() -> None:
    agenda = Agenda()
    for name, due in (("late", 3.0), ("first", 1.0), ("second", 1.0)):
        agenda.add(due, lambda argument, now: None, name)
    assert agenda.next_due() == 1.0
    assert [argument for _, argument in agenda.due(2.0)] == ["first", "second"]
    assert agenda.next_due() == 3.0


def test_an_action_added_while_others_run_is_not_lost() -> None:
    agenda = Agenda()
    agenda.add(1.0, lambda argument, now: agenda.add(1.5, lambda a, n: None, "inner"), "outer")
    seen = []
    for action, argument in agenda.due(2.0):
        seen.append(argument)
        action(argument, 2.0)
    assert seen == ["outer", "inner"]
    assert agenda.next_due() is None
