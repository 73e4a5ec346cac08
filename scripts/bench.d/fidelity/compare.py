"""Decision by decision: is the node that the router chose one that our rule might have chosen?

Where a rule has equals or draws, any of what it may draw counts as equal. `chance` says how often a choice at random
would have counted, so that a rule which allows nearly everything is not taken for a faithful one.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.brain.model.choice import Choice
from pointsman.brain.model.view import Floats, View
from pointsman.brain.policies.base import Policy
from pointsman.brain.policies.registry import build

from .history import History
from .mirror import Mirror, request
from .workload import Ask

KEPT = 5
"""Differences that are told one by one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One of our policies. `allows`: "lowest" score, all but the worst of "two" random ones, whose "turn" it is, or a
    session's "home". `mean_prompt` is what each request sent counts for, `exact` measures prefixes in bytes."""

    policy: str
    parameters: dict[str, Any] = field(default_factory=dict)
    allows: str = "lowest"
    mean_prompt: float = 1024.0
    exact: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """The policy and its parameters; of one that is a policy itself, the name."""
        named = {key: value["policy"] if isinstance(value, dict) else value for key, value in self.parameters.items()}
        told = ", ".join(f"{key}={value}" for key, value in named.items())
        return f"{self.policy}({told})" if told else self.policy


@dataclass(slots=True)
class Verdict:
    """How often the rule allowed what the router did, among decisions on a state beyond doubt."""

    rule: Rule
    decisions: int = 0
    equal: int = 0
    chance: float = 0.0
    unsettled: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    """Our reasons, over all decisions."""
    missed: Counter[str] = field(default_factory=Counter)
    """Our reasons, where the router chose otherwise."""
    differences: list[dict[str, Any]] = field(default_factory=list)

    def share(self) -> float:
        return self.equal / self.decisions if self.decisions else float("nan")

    def chance_share(self) -> float:
        return self.chance / self.decisions if self.decisions else float("nan")


def compare(history: History, nodes: int, rule: Rule) -> Verdict:
    """Follow `history` and ask the rule at every decision."""
    verdict, mirror = Verdict(rule), Mirror(nodes, rule.mean_prompt, rule.exact)
    judge = _Judge(rule, history, nodes)
    for number, begin in history.moments():
        row = judge.row(history.node[number])
        if not begin:
            mirror.end(row)
            continue
        ask = history.asks[number]
        if history.settled(number):
            _judged(verdict, judge, number, ask, mirror.view(ask), row)
        else:
            verdict.unsettled += 1
        mirror.place(ask, row)
        judge.placed(ask, row)
    return verdict


class _Judge:
    """What a rule allows for a view. Remembers what a rule's own state would be: whose turn, and sessions' homes."""

    def __init__(self, rule: Rule, history: History, nodes: int) -> None:
        self.rule = rule
        self.policy: Policy = build(rule.policy, rule.parameters)
        self.homes: dict[str, int] = {}
        seen = list(dict.fromkeys(history.node)) if rule.allows == "turn" else []
        order = [*seen, *(node for node in range(nodes) if node not in seen)]
        self.row_of = {node: row for row, node in enumerate(order)}

    def row(self, node: int) -> int:
        """The routers keep nodes in an order of their own, which for turns is that of their first use."""
        return self.row_of[node]

    def placed(self, ask: Ask, row: int) -> None:
        self.homes.setdefault(ask.session, row)

    def allowed(self, ask: Ask, view: View) -> tuple[Floats, str, Floats]:
        """Flags of the nodes that may be chosen, why, and the scores."""
        choice = self.policy.choose(request(ask), view)
        assert isinstance(choice, Choice), "no rule compared holds"
        scores = choice.scores
        if self.rule.allows == "home":
            return self._home(ask, view), "home", scores
        if self.rule.allows == "two" and (scores == scores.max()).sum() == 1:
            return scores < scores.max(), choice.reason, scores
        return (
            (np.ones(len(view), bool) if self.rule.allows == "two" else scores == scores.min()),
            choice.reason,
            scores,
        )

    def _home(self, ask: Ask, view: View) -> Floats:
        """The hash is each router's own: where a session was first sent is taken for its home."""
        home = self.homes.get(ask.session)
        if home is None:
            return np.ones(len(view), bool)
        at_home = np.arange(len(view)) == home
        return at_home if self.policy.within_limits(view)[home] else ~at_home


def _judged(verdict: Verdict, judge: _Judge, number: int, ask: Ask, view: View, row: int) -> None:
    allowed, reason, scores = judge.allowed(ask, view)
    verdict.decisions += 1
    verdict.chance += float(allowed.mean())
    verdict.reasons[reason] += 1
    if allowed[row]:
        verdict.equal += 1
        return
    verdict.missed[reason] += 1
    if len(verdict.differences) < KEPT:
        verdict.differences.append(
            {
                "request": number,
                "chosen": row,
                "ours": np.flatnonzero(allowed).tolist(),
                "reason": reason,
                "scores": np.round(scores, 3).tolist(),
                "outstanding": view.outstanding.tolist(),
                "overlap": view.overlap.tolist(),
                "prompt": view.prompt_tokens,
            }
        )
