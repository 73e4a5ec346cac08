"""What is told of a comparison's robustness: a row a condition, and two sentences."""

from collections.abc import Sequence

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pointsman.observe.columns import TIE, Cell, Row
from pointsman.observe.pages import heading_of
from pointsman.observe.table import BEST
from pointsman.sim.ranking import LEAST_POLICIES
from pointsman.simulate.robustness import FIGURES, Agreement, Held


def tell_robust(held: Sequence[Held], out: Console) -> None:
    """Print the table and how to read it."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("condition", no_wrap=True)
    for heading in headings():
        table.add_column("\n".join(heading), justify="right")
    for row in rows_of(held):
        table.add_row(row.name, *(Text(cell.text, style=BEST if cell.best else "") for cell in row.cells))
    out.print("", Text("The same with engines or delays that differ", style="bold"), table, "", sep="\n")
    out.print(*robust_notes(held), sep="\n", style="dim", markup=False, highlight=False)


def headings() -> tuple[tuple[str, str], ...]:
    """Of two columns a figure."""
    return tuple(pair for column in FIGURES for pair in ((heading_of(column)[0], "τ"), ("top-1", "regret, %")))


def rows_of(held: Sequence[Held]) -> list[Row]:
    """A row a condition; marked where the policy trusted is still the best, or ties with it."""
    return [Row(one.condition.label, tuple(cell for each in one.agreements for cell in _cells(each))) for one in held]


def robust_notes(held: Sequence[Held]) -> list[str]:
    """What the rows say and how to read them, as finished sentences."""
    return [
        *(_stays(held, place) for place in range(len(FIGURES))),
        "τ: 1 where the order of the policies is that of the undisturbed case, 0 where it has nothing to do with it, "
        f"−1 where it is turned round; values within {TIE:.0%} are equal.{_few(len(held[0].results))}",
        "Top-1 regret: what the policy that was best there loses to the best here. The engines changed; the gateway "
        "was told nothing.",
    ]


def _few(policies: int) -> str:
    enough = policies >= LEAST_POLICIES
    return "" if enough else f" It needs {LEAST_POLICIES} policies at least; here there are {policies}."


def _stays(held: Sequence[Held], place: int) -> str:
    """Whether the policy that was best in that figure is still to be trusted."""
    name = held[0].agreements[place].figure
    lost = [one.condition.label for one in held if not one.agreements[place].kept]
    if not lost:
        return f"The policy best in {name} stays the best, or within {TIE:.0%} of it, under every condition."
    return f"The policy best in {name} is beaten by more than {TIE:.0%} with {', '.join(lost)}."


def robust_json(held: Sequence[Held]) -> list[dict[str, object]]:
    """Plain values, one object a condition."""
    return [
        {
            "condition": one.condition.label,
            "figures": msgspec.to_builtins(one.agreements),
            "policies": [msgspec.to_builtins(result.mean()) for result in one.results],
        }
        for one in held
    ]


def _cells(one: Agreement) -> tuple[Cell, Cell]:
    tau = Cell("–" if one.tau is None else f"{one.tau:.2f}")
    return tau, Cell("–" if one.regret is None else f"{100 * one.regret:.1f}", one.kept)
