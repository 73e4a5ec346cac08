"""The verdicts as a table and as a JSON value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from .cases import Case
from .compare import Verdict


@dataclass(frozen=True, slots=True)
class Row:
    """A case and what each of its rules says of it; `why` it could not be run instead."""

    case: Case
    verdicts: Sequence[Verdict] = ()
    why: str = ""


def as_json(rows: Sequence[Row], versions: dict[str, str]) -> dict[str, Any]:
    return {"versions": versions, "cases": [_values(row) for row in rows]}


def _values(row: Row) -> dict[str, Any]:
    case = row.case
    named = {"router": case.router, "policy": case.policy, "setting": case.setting, "options": list(case.options)}
    return {**named, "skipped": row.why} if row.why else {**named, "rules": [_judged(each) for each in row.verdicts]}


def _judged(verdict: Verdict) -> dict[str, Any]:
    return {
        "policy": verdict.rule.policy,
        "parameters": verdict.rule.parameters,
        "note": verdict.rule.note,
        "exact_prefixes": verdict.rule.exact,
        "decisions": verdict.decisions,
        "unsettled": verdict.unsettled,
        "equal": round(verdict.share(), 4),
        "by_chance": round(verdict.chance_share(), 4),
        "reasons": dict(verdict.reasons),
        "reasons_where_unequal": dict(verdict.missed),
        "first_differences": verdict.differences,
    }


def as_table(rows: Sequence[Row]) -> Table:
    caption = "by chance: how often a choice at random would have been one that the rule allows"
    table = Table(title="Do our rules decide as the routers do?", caption=caption, caption_justify="left")
    for heading in ("router", "our rule"):
        table.add_column(heading, overflow="fold")
    for heading in ("decisions", "equal", "by chance"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        for number, verdict in enumerate(row.verdicts):
            rule = verdict.rule.name + (f" [{verdict.rule.note}]" if verdict.rule.note else "")
            shares = f"{verdict.share():.1%}", f"{verdict.chance_share():.1%}"
            table.add_row("" if number else row.case.name, rule.replace("[", "\\["), str(verdict.decisions), *shares)
        table.add_section()
    return table
