"""Kinds of clients: shares, streams of their own, and nothing in common by accident."""

import msgspec
import pytest

from pointsman.workload.kinds import ClientKind, sessions_of_kinds
from pointsman.workload.laws import Arrivals
from pointsman.workload.sessions import Session

ONE, OTHER = ClientKind(name="one", share=3.0), ClientKind(name="other", turns_mean=1.0)


def drawn(*kinds: ClientKind, rate: float = 20.0, **more: object) -> dict[str, list[Session]]:
    found: dict[str, list[Session]] = {kind.name: [] for kind in kinds}
    for kind, session in sessions_of_kinds(kinds, seed=1, requests_per_second=rate, seconds=200.0, **more):  # type: ignore[arg-type]
        found[kind.name].append(session)
    return found


def test_requests_are_shared_out_as_told() -> None:
    found = drawn(ONE, OTHER)
    asked = {name: sum(len(session.turns) for session in sessions) for name, sessions in found.items()}
    assert asked["one"] + asked["other"] == pytest.approx(4000, rel=0.1)
    assert asked["one"] / asked["other"] == pytest.approx(3.0, rel=0.15)


def test_kinds_have_no_session_or_system_prompt_in_common() -> None:
    found = drawn(ONE, OTHER)
    one, other = ({(session.number, session.system_prompt) for session in sessions} for sessions in found.values())
    assert not {number for number, _ in one} & {number for number, _ in other}
    assert not {prompt for _, prompt in one} & {prompt for _, prompt in other}


def test_changing_one_kind_does_not_shift_another() -> None:
    before = drawn(ONE, OTHER)["other"]
    after = drawn(msgspec.structs.replace(ONE, turns_mean=6.0, think_mean_s=50.0), OTHER)["other"]
    assert before == after


def test_arrivals_can_be_replaced_for_all() -> None:
    ramp = Arrivals(law="ramp", first=0.0, last=2.0)
    for sessions in drawn(ONE, OTHER, arrivals=ramp).values():
        assert sum(session.start_s < 100.0 for session in sessions) / len(sessions) == pytest.approx(0.25, abs=0.05)


def test_dialogues_come_in_order() -> None:
    drawn_all = sessions_of_kinds((ONE, OTHER), seed=1, requests_per_second=9.0, seconds=60.0)
    assert [session.start_s for _, session in drawn_all] == sorted(session.start_s for _, session in drawn_all)
