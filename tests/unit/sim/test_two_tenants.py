"""How service was divided between two tenants."""

import pytest

from pointsman.observe.comparison import Window
from pointsman.sim.record import Record
from pointsman.sim.two_tenants import Division

WINDOW = Window(0.0, 10.0)


def record(tenant: str, sent: float, placed: float | None, first: float, done: float, **more: int) -> Record:
    tokens = {"prompt_tokens": 0, "output_tokens": 0} | more
    waited = None if placed is None else placed - sent
    begun = None if placed is None else first
    return Record(sent, begun, done, True, tenant=tenant, placed_s=placed, waited_s=waited, **tokens)  # type: ignore[arg-type]


def waiting(tenant: str, start: float, end: float) -> Record:
    """Waits all the time and is never placed."""
    return record(tenant, start, None, end, end)


def test_prompts_count_when_placed_and_answers_twice_as_they_come() -> None:
    both = [waiting("a", 0.0, 10.0), waiting("b", 0.0, 10.0), waiting("b", 0.0, 10.0)]
    prompt = record("a", 1.0, 2.0, 3.0, 5.0, prompt_tokens=120, cached_tokens=20)
    answer = record("b", 1.0, 3.0, 4.0, 8.0, output_tokens=40)
    division = Division([*both, prompt, answer], WINDOW)
    assert division.widest_gap() == pytest.approx(100.0)  # then 80 for b
    assert division.lesser_share() == pytest.approx(100 / 180)


def test_the_gap_is_of_any_time_whoever_leads_in_it() -> None:
    both = [waiting("a", 0.0, 10.0), waiting("b", 0.0, 10.0)]
    turns = [record(who, 0.0, at, at, at, prompt_tokens=50) for at, who in enumerate("abba", 1)]
    assert Division([*both, *turns], WINDOW).widest_gap() == pytest.approx(100.0)


def test_who_waits_for_nothing_has_no_claim() -> None:
    alone = record("a", 1.0, 2.0, 2.0, 2.0, prompt_tokens=1000)
    apart = [waiting("a", 0.0, 4.0), waiting("b", 4.0, 10.0), record("b", 4.5, 5.0, 5.0, 5.0, prompt_tokens=10)]
    division = Division([alone, *apart], WINDOW)
    assert division.widest_gap() is division.lesser_share() is None


def test_times_of_waiting_do_not_add_up() -> None:
    whiles = [waiting(who, start, start + 3.0) for who in "ab" for start in (0.0, 6.0)]
    served = [record("a", 0.5, at, at, at, prompt_tokens=70) for at in (2.0, 4.5, 7.0)]
    assert Division([*whiles, *served], WINDOW).widest_gap() == pytest.approx(70.0)


@pytest.mark.parametrize("tenants", ["a", "abc", ""])
def test_it_speaks_of_two_tenants_only(tenants: str) -> None:
    assert Division([waiting(who, 0.0, 10.0) for who in tenants], WINDOW).widest_gap() is None
