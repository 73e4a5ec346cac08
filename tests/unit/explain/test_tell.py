"""Stories on the terminal."""

from rich.console import Console

from pointsman.explain.tell import SHOWN, tell
from pointsman.observe.chapters import Chosen, Story, Waited
from pointsman.observe.decision import CandidateScore, Decision
from pointsman.observe.standing import PassedOver


def shown(*chapters: Chosen | Waited, arrived: float = 1.7e9, width: int = 100) -> list[str]:
    out = Console(width=width, record=True, file=None, quiet=False)
    with out.capture() as seen:
        tell([Story("r", 1, "m", "acme", 2.0, arrived, "running", list(chapters))], out)
    return seen.get().splitlines()


def chosen(count: int, **more: float) -> Chosen:
    candidates = [CandidateScore(f"n{i}", float(i), 0.0, 5.0, None, True, **more) for i in range(count)]
    return Chosen(after_s=1.25, decision=Decision("r", 1, "m", "p", 0.0, "cost", "n1", candidates))


def test_the_chosen_node_stands_first_then_the_best() -> None:
    head, what, headings, _, *rows = shown(chosen(3))
    assert head.startswith("r of tenant acme: model m, priority 2, arrived 2023-11-1")
    assert what == "   +1.250s  p chose n1 (cost)"
    assert headings.split() == ["node", "score", "↓", "overlap", "needs", "free", "fits"]
    assert [row.split() for row in rows[:2]] == [
        ["n1", "1", "0", "5", "–", "yes"],
        ["n0", "0", "0", "5", "–", "yes"],
    ]


def test_utility_is_shown_where_the_policy_looked_at_it() -> None:
    _, _, headings, _, row = shown(chosen(1, utility=0.0125))
    assert headings.split()[-1] == "utility"
    assert row.split()[-1] == "0.0125"


def test_figures_are_whole_on_a_narrow_terminal() -> None:
    assert [row.split() for row in shown(chosen(1), width=30)[-1:]] == [["n0", "0", "0", "5", "–", "yes"]]


def test_of_many_candidates_the_best_are_shown_and_the_others_counted() -> None:
    assert shown(chosen(SHOWN + 3))[-1].strip() == "and 3 more, all with higher scores"


def test_who_was_not_asked_is_told_with_the_reason() -> None:
    left_out = [PassedOver("a", "down"), PassedOver("b", "full: 1 of 1 requests")]
    lines = shown(Waited(after_s=0.0, position=1, order="fcfs", passed_over=left_out))
    assert lines[-1].strip() == "not asked: a (down); b (full: 1 of 1 requests)"


def test_a_journal_has_a_clock_of_its_own() -> None:
    assert shown(arrived=12.5)[0].endswith("arrived at 12.500 s of its gateway's clock")
