"""Our rules beside other routers', on runs made by hand: no router runs here."""

from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from fidelity.cases import cases
from fidelity.compare import Rule, compare
from fidelity.engine import small_ids
from fidelity.history import History
from fidelity.mirror import Mirror
from fidelity.told import Row, as_json, as_table
from fidelity.workload import Ask, asks
from rich.console import Console

PROMPT = "".join(f"{number:04d} " for number in range(400))


def ask(prompt: str = PROMPT, session: str = "s") -> Ask:
    return Ask(prompt, session, 10, 0.03)


def history(*nodes: int, sent: list[float] | None = None, ended: list[float] | None = None, **more: object) -> History:
    """One request a second, each of half a second, unless said otherwise."""
    begun = sent or [float(number) for number in range(len(nodes))]
    return History([ask(**more)] * len(nodes), begun, ended or [at + 0.5 for at in begun], list(nodes))  # type: ignore[arg-type]


def test_the_same_seed_asks_the_same_and_prefixes_are_shared() -> None:
    made = asks(60, 3)
    assert made == asks(60, 3) != asks(60, 4)
    begins = [each.prompt[:600] for each in made]
    assert len(set(begins)) < 0.8 * len(begins)


def test_an_answer_that_ends_beside_a_decision_leaves_it_in_doubt() -> None:
    run = history(0, 0, 0, sent=[0.0, 1.0, 2.0], ended=[1.005, 1.5, 2.5])
    assert [run.settled(number) for number in range(3)] == [True, False, True]
    assert compare(run, 2, Rule("prefix_affinity")).unsettled == 1


def test_the_mirror_counts_what_runs_what_was_sent_and_what_is_cached() -> None:
    mirror = Mirror(2, mean_prompt=100.0, exact=False)
    mirror.place(ask(), 1)
    mirror.place(ask(PROMPT[:300] + "x" * 700), 0)
    view = mirror.view(ask())
    assert view.outstanding.tolist() == [1.0, 1.0]
    assert view.sent_tokens.tolist() == [100.0, 100.0]
    assert view.overlap.tolist() == [256.0, 7 * 256.0]
    mirror.end(1)
    assert mirror.view(ask()).outstanding.tolist() == [1.0, 0.0]


def test_exact_prefixes_are_counted_in_bytes() -> None:
    mirror = Mirror(2, mean_prompt=0.0, exact=True)
    mirror.place(ask(PROMPT[:300] + "x" * 700), 0)
    assert mirror.view(ask()).overlap.tolist() == [300.0, 0.0]


def test_what_the_rule_would_have_done_counts_as_equal_ties_included() -> None:
    faithful = compare(history(1, 1, 1), 4, Rule("prefix_affinity"))
    assert (faithful.equal, faithful.decisions) == (3, 3)
    assert faithful.chance == pytest.approx(1.0 + 0.25 + 0.25)
    other = compare(history(1, 1, 3), 4, Rule("prefix_affinity"))
    assert (other.equal, other.missed["affinity"]) == (2, 1)
    assert other.differences[0] | {"scores": None} == {
        "request": 2, "chosen": 3, "ours": [1], "reason": "affinity", "scores": None,
        "outstanding": [0.0] * 4, "overlap": [0.0, 1792.0, 0.0, 0.0], "prompt": 2000.0,
    }  # fmt: skip


def test_a_turn_follows_whatever_order_the_router_keeps() -> None:
    assert compare(history(2, 0, 1, 2, 0, 1), 3, Rule("round_robin", allows="turn")).share() == 1.0
    assert compare(history(2, 0, 1, 2, 1, 0), 3, Rule("round_robin", allows="turn")).share() < 1.0


def test_of_two_choices_only_the_worst_of_all_is_never_taken() -> None:
    rule = Rule("two_choices", allows="two")
    long = {"sent": [0.0, 1.0, 2.0], "ended": [9.0, 9.0, 9.0]}
    assert compare(history(0, 1, 2, **long), 3, rule).share() == 1.0  # type: ignore[arg-type]
    assert compare(history(0, 0, 1, **long), 3, rule).equal == 2  # type: ignore[arg-type]


def test_a_session_goes_home_unless_home_is_beyond_its_bound() -> None:
    rule = Rule("session", {"epsilon": 1e9, "within": "random"}, "home")
    assert compare(history(2, 2, 2), 3, rule).share() == 1.0
    assert compare(history(2, 2, 1), 3, rule).equal == 2
    busy = history(2, 2, 1, sent=[0.0, 1.0, 2.0], ended=[9.0, 9.0, 9.0])
    assert compare(busy, 3, Rule("session", {"epsilon": 0.0, "within": "random"}, "home")).differences[0]["chosen"] == 2


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_every_case_listens_on_the_loopback_and_its_rules_can_be_asked(case: object) -> None:
    command = case.command(Path("/router"), 1, 2, ["http://127.0.0.1:3"])  # type: ignore[attr-defined]
    assert command[command.index("--host") + 1] == "127.0.0.1" == command[command.index("--prometheus-host") + 1]
    for rule in case.rules:  # type: ignore[attr-defined]
        assert compare(history(0, 1), 2, rule).decisions == 2


def test_names_of_cases_are_their_own() -> None:
    named = [case.name for case in cases()]
    assert len(set(named)) == len(named)


def test_token_ids_are_small_and_equal_for_equal_tokens() -> None:
    ids = small_ids(b" once upon once")
    assert ids[0] == ids[-1]
    assert len(set(ids)) == len(ids) - 1
    assert max(ids) < 2**31


def test_verdicts_are_told_with_what_chance_would_give() -> None:
    case = cases()[0]
    verdict = compare(history(0, 1, 0, 1), 2, case.rules[0])
    told = as_json([Row(case, [verdict]), Row(case, why="gone")], {"smg": "1"})
    assert told["cases"][1]["skipped"] == "gone"
    assert told["cases"][0]["rules"][0]["equal"] == 1.0
    assert told["cases"][0]["rules"][0]["by_chance"] == 0.5
    console = Console(width=110, record=True, file=StringIO())
    console.print(as_table([Row(case, [verdict])]))
    assert "100.0%" in console.export_text()
    assert np.isnan(compare(history(), 2, case.rules[0]).share())
